/* What went wrong, in words for a person: "file:line: what was expected, what was found". */
#ifndef GEOMETRY_ERROR_H
#define GEOMETRY_ERROR_H

#include "geometry/base.h"

typedef struct hr_error {
    char text[512]; /* empty while nothing is wrong; cut off, never overrun */
} hr_error;

/* Writes the message (unless error is NULL) and returns status, so that a loader can say
 * `return error_set(error, HR_ERR_FORMAT, "%s:%d: expected ...", file, line);` */
hr_status error_set(hr_error *error, hr_status status, const char *format, ...) HR_PRINTF(3, 4);

#endif
