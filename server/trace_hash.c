#include "server/trace_hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static trace_hash to_text(const unsigned char *digest, unsigned size)
{
    trace_hash h = {""};
    for (size_t i = 0; i < size && 2 * i + 2 < sizeof h.text; i++)
        snprintf(h.text + 2 * i, 3, "%02x", digest[i]);
    return h;
}

trace_hash trace_hash_bytes(const void *data, size_t size)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL) != 1)
        return (trace_hash){""};
    return to_text(digest, length);
}

trace_hash trace_hash_file(const char *path)
{
    trace_hash h = {""};
    FILE *f = fopen(path, "rbe");
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (f && context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1) {
        unsigned char block[16384];
        size_t n;
        int good = 1;
        while (good == 1 && (n = fread(block, 1, sizeof block, f)) > 0)
            good = EVP_DigestUpdate(context, block, n);
        unsigned length = 0;
        if (good == 1 && !ferror(f) && EVP_DigestFinal_ex(context, block, &length) == 1)
            h = to_text(block, length);
    }
    EVP_MD_CTX_free(context);
    if (f)
        fclose(f);
    return h;
}

hr_status trace_read_file(const char *path, size_t limit, char **out, size_t *size, hr_error *error)
{
    FILE *f = fopen(path, "rbe");
    if (!f)
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a file that can be read: %s", path,
                         strerror(errno));
    size_t room = 4096, used = 0;
    char *data = malloc(room + 1);
    while (data) {
        used += fread(data + used, 1, room - used, f);
        if (used < room || used > limit)
            break;
        char *more = realloc(data, 2 * room + 1);
        if (!more)
            free(data);
        data = more;
        room *= 2;
    }
    hr_status status = HR_OK;
    if (!data)
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory to read it", path);
    else if (ferror(f))
        status = error_set(error, HR_ERR_IO, "%s: could not be read to its end", path);
    else if (used > limit)
        status = error_set(error, HR_ERR_CAPACITY, "%s: expected at most %zu bytes, found more",
                           path, limit);
    fclose(f);
    if (status != HR_OK || !data) {
        free(data);
        return status;
    }
    data[used] = '\0';
    *out = data;
    *size = used;
    return HR_OK;
}
