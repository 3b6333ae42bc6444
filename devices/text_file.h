/* A whole small file in memory. */
#ifndef DEVICES_TEXT_FILE_H
#define DEVICES_TEXT_FILE_H

#include <stddef.h>

#include "geometry/error.h"

/* *text is ended by a NUL (not counted in *size) and belongs to the caller: free it. Files above
 * 256 MB are refused. */
HR_MUST_USE hr_status text_file_read(const char *path, char **text, size_t *size, hr_error *error);

#endif
