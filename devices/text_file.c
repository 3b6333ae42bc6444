#include "devices/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t size_max = (size_t)256 << 20;

hr_status text_file_read(const char *path, char **text, size_t *size, hr_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(error, errno == ENOENT ? HR_ERR_NOT_FOUND : HR_ERR_IO,
                         "%s: expected a readable file, found: %s", path, strerror(errno));
    size_t length = 0;
    size_t capacity = 1 << 16;
    char *data = malloc(capacity);
    while (data) {
        length += fread(data + length, 1, capacity - length - 1, file);
        if (length + 1 < capacity || capacity >= size_max)
            break;
        char *larger = realloc(data, capacity *= 2);
        if (!larger)
            free(data);
        data = larger;
    }
    hr_status status = HR_OK;
    if (!data)
        status = error_set(error, HR_ERR_MEMORY, "%s: out of memory", path);
    else if (ferror(file))
        status = error_set(error, HR_ERR_IO, "%s: expected a readable file, found: %s", path,
                           strerror(errno));
    else if (!feof(file))
        status = error_set(error, HR_ERR_CAPACITY, "%s: expected at most 256 MB, found more", path);
    fclose(file);
    if (!data || status != HR_OK) {
        free(data);
        return status;
    }
    data[length] = '\0';
    *text = data;
    *size = length;
    return HR_OK;
}
