/* Any body file: told apart by content. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "geometry/body_draft.h"

enum { FILE_SIZE_MAX = 256 << 20 };

/* The whole file with a zero byte behind it; *out is allocated. */
static hr_status read_file(const char *path, char **out, hr_error *error)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
        if (file)
            fclose(file);
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a body file, found none to read",
                         path);
    }
    if (info.st_size > FILE_SIZE_MAX) {
        fclose(file);
        return error_set(error, HR_ERR_CAPACITY, "%s: expected at most 256 MB, found %lld", path,
                         (long long)info.st_size);
    }
    size_t size = (size_t)info.st_size;
    char *text = malloc(size + 1);
    bool is_read = text && fread(text, 1, size, file) == size;
    fclose(file);
    if (!is_read) {
        free(text);
        return error_set(error, HR_ERR_IO, "%s: expected %zu bytes, could not read them", path,
                         size);
    }
    text[size] = '\0';
    if (strlen(text) != size) {
        free(text);
        return error_set(error, HR_ERR_FORMAT, "%s: expected text, found a zero byte", path);
    }
    *out = text;
    return HR_OK;
}

static bool is_json(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '{';
}

bool parametric_body_is_file(const char *path)
{
    char *text = NULL;
    if (read_file(path, &text, NULL) != HR_OK || !text)
        return false;
    bool is_body = is_json(text) || body_is_freeform_obj(text);
    free(text);
    return is_body;
}

hr_status parametric_body_load(const char *path, parametric_body *out, hr_error *error)
{
    char *text = NULL;
    hr_status status = read_file(path, &text, error);
    if (status != HR_OK || !text)
        return status;
    status = is_json(text) || !body_is_freeform_obj(text) ? body_parse_json(text, path, out, error)
                                                          : body_parse_obj(text, path, out, error);
    free(text);
    return status;
}
