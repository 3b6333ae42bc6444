/* The Falcon's firmware file: where it is, whether it is one, which one. The images belong to
 * Novint and may not be passed on, so none is shipped; the user says where it is. */
#ifndef DEVICES_FALCON_FIRMWARE_H
#define DEVICES_FALCON_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

#include "geometry/error.h"

enum { FALCON_FIRMWARE_MAX = 65536 };

typedef struct falcon_firmware {
    uint8_t bytes[FALCON_FIRMWARE_MAX];
    size_t size;
    uint32_t entry;    /* address at which the DSP starts */
    int blocks;        /* of the boot table */
    char sha256[65];   /* hexadecimal */
    const char *known; /* name of a known image, or NULL */
    char path[512];
} falcon_firmware;

/* Checks a TI boot table: 16-bit little-endian words, key 0x08AA, eight reserved words, entry
 * address (high word first), blocks {count, address, data}, ended by a zero count exactly at the
 * end of the file. A file that breaks this would hang the DSP. */
HR_MUST_USE hr_status falcon_firmware_check(const uint8_t *bytes, size_t size, const char *name,
                                            falcon_firmware *out, hr_error *error);
HR_MUST_USE hr_status falcon_firmware_load(const char *path, falcon_firmware *out, hr_error *error);

/* The first of these that exists: `wanted` (where not NULL or empty), $HAPTICD_FALCON_FIRMWARE,
 * $XDG_DATA_HOME/hapticd/falcon.bin (~/.local/share), /usr/local/share/hapticd/falcon.bin,
 * /usr/share/hapticd/falcon.bin, /var/lib/hapticd/falcon.bin. HR_ERR_NOT_FOUND lists them. */
HR_MUST_USE hr_status falcon_firmware_find(const char *wanted, char *path, size_t size,
                                           hr_error *error);

/* SHA-256 (FIPS 180-4) of bytes, as 64 hexadecimal digits. */
void falcon_sha256(const uint8_t *bytes, size_t size, char out[65]);

#endif
