#include "geometry/error.h"

#include <stdarg.h>
#include <stdio.h>

hr_status error_set(hr_error *error, hr_status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list values;
    va_start(values, format);
    vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return status;
}
