/* SHA-256 as lower-case hexadecimal text: names configurations, scenes and programs beyond doubt.
 */
#ifndef SERVER_TRACE_HASH_H
#define SERVER_TRACE_HASH_H

#include <stddef.h>

#include "geometry/error.h"

typedef struct trace_hash {
    char text[65]; /* empty: could not be computed */
} trace_hash;

trace_hash trace_hash_bytes(const void *data, size_t size);
trace_hash trace_hash_file(const char *path);

/* The whole file, NUL-terminated; *out is freed by the caller. More than `limit` bytes is
 * HR_ERR_CAPACITY. */
HR_MUST_USE hr_status trace_read_file(const char *path, size_t limit, char **out, size_t *size,
                                      hr_error *error);

#endif
