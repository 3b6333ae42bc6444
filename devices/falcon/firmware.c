#include "devices/falcon/firmware.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices/text_file.h"

/* The public images, by the first 16 digits of their hash. */
static const struct {
    const char *hash, *name;
    size_t size;
} images[] = {
    {"1119e39c39fab1f3", "nvent_firmware.bin", 8492},
    {"b2700d5cd5ca217e", "test_firmware.bin", 7324},
    {"ae838730af34b582", "novint_T0.bin", 7914},
    {"e0ae3598670fa1c8", "novint_T2.bin", 7914},
};

static unsigned word_at(const uint8_t *bytes, size_t word)
{
    return bytes[2 * word] | (unsigned)bytes[2 * word + 1] << 8;
}

static hr_status refuse(hr_error *error, const char *name, size_t word, const char *expected,
                        unsigned found)
{
    return error_set(error, HR_ERR_FORMAT, "%s: byte %zu: expected %s, found 0x%04x", name,
                     2 * word, expected, found);
}

/* Walks the blocks from word 11; sets their number. */
static hr_status check_blocks(const uint8_t *bytes, size_t words, const char *name, int *blocks,
                              hr_error *error)
{
    size_t at = 11;
    *blocks = 0;
    while (at < words) {
        unsigned count = word_at(bytes, at);
        if (count == 0) {
            if (at + 1 == words && *blocks > 0)
                return HR_OK;
            return refuse(error, name, at, "the end of the table at the end of the file", count);
        }
        if (at + 3 + count > words)
            return refuse(error, name, at, "a block that ends inside the file", count);
        at += 3 + count;
        ++*blocks;
    }
    return error_set(error, HR_ERR_FORMAT,
                     "%s: byte %zu: expected the zero that ends a boot table, found the end of the "
                     "file",
                     name, 2 * words);
}

hr_status falcon_firmware_check(const uint8_t *bytes, size_t size, const char *name,
                                falcon_firmware *out, hr_error *error)
{
    if (size < 24 || size % 2 || size > FALCON_FIRMWARE_MAX)
        return error_set(error, HR_ERR_FORMAT,
                         "%s: expected an even number of bytes from 24 to %d, found %zu", name,
                         FALCON_FIRMWARE_MAX, size);
    size_t words = size / 2;
    if (word_at(bytes, 0) != 0x08aa)
        return refuse(error, name, 0, "the boot key 0x08aa", word_at(bytes, 0));
    for (size_t i = 1; i <= 8; i++)
        if (word_at(bytes, i) != 0)
            return refuse(error, name, i, "a reserved word 0x0000", word_at(bytes, i));
    int blocks = 0;
    hr_status status = check_blocks(bytes, words, name, &blocks, error);
    if (status != HR_OK)
        return status;
    memcpy(out->bytes, bytes, size);
    out->size = size;
    out->entry = word_at(bytes, 9) << 16 | word_at(bytes, 10);
    out->blocks = blocks;
    falcon_sha256(bytes, size, out->sha256);
    out->known = NULL;
    for (int i = 0; i < HR_COUNT(images); i++)
        if (size == images[i].size && strncmp(out->sha256, images[i].hash, 16) == 0)
            out->known = images[i].name;
    snprintf(out->path, sizeof out->path, "%s", name);
    return HR_OK;
}

hr_status falcon_firmware_load(const char *path, falcon_firmware *out, hr_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    hr_status status = text_file_read(path, &bytes, &size, error);
    if (status == HR_OK)
        status = falcon_firmware_check((const uint8_t *)bytes, size, path, out, error);
    free(bytes);
    return status;
}

hr_status falcon_firmware_find(const char *wanted, char *path, size_t size, hr_error *error)
{
    const char *variable = getenv("HAPTICD_FALCON_FIRMWARE");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char user[400] = "";
    if (data && *data)
        snprintf(user, sizeof user, "%s/hapticd/falcon.bin", data);
    else if (home && *home)
        snprintf(user, sizeof user, "%s/.local/share/hapticd/falcon.bin", home);
    const char *const places[] = {user, "/usr/local/share/hapticd/falcon.bin",
                                  "/usr/share/hapticd/falcon.bin", "/var/lib/hapticd/falcon.bin"};
    const char *asked = wanted && *wanted ? wanted : variable && *variable ? variable : NULL;
    if (asked) {
        snprintf(path, size, "%s", asked);
        return HR_OK; /* loading it says what is wrong with it */
    }
    for (int i = 0; i < HR_COUNT(places); i++)
        if (places[i][0] && access(places[i], R_OK) == 0) {
            snprintf(path, size, "%s", places[i]);
            return HR_OK;
        }
    return error_set(error, HR_ERR_NOT_FOUND,
                     "falcon firmware: expected %s, %s, %s or %s, or a path in the setting "
                     "firmware or in $HAPTICD_FALCON_FIRMWARE, found none",
                     user[0] ? user : "$HOME/.local/share/hapticd/falcon.bin", places[1], places[2],
                     places[3]);
}

void falcon_sha256(const uint8_t *bytes, size_t size, char out[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    unsigned length = 0;
    (void)EVP_Digest(bytes, size, digest, &length, EVP_sha256(), NULL);
    for (size_t i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
