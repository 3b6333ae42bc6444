#include "geometry/base.h"

const char *status_text(hr_status status)
{
    switch (status) {
    case HR_OK:
        return "good";
    case HR_ERR_ARGUMENT:
        return "a value is outside what is allowed";
    case HR_ERR_MEMORY:
        return "out of memory";
    case HR_ERR_CAPACITY:
        return "more than the stated limit";
    case HR_ERR_NOT_FOUND:
        return "not found";
    case HR_ERR_BUSY:
        return "in use by another program";
    case HR_ERR_IO:
        return "input or output failed";
    case HR_ERR_PROTOCOL:
        return "unexpected bytes from the other side";
    case HR_ERR_FORMAT:
        return "the file breaks its format";
    case HR_ERR_NOT_FINITE:
        return "a number is not finite";
    case HR_ERR_MAX_ITER:
        return "stopped by the iteration limit";
    case HR_ERR_DEADLINE:
        return "stopped by the time limit";
    case HR_ERR_INFEASIBLE:
        return "no point satisfies all constraints";
    case HR_ERR_SINGULAR:
        return "the matrix is singular";
    case HR_ERR_DISABLED:
        return "forces are disabled";
    case HR_ERR_LOST:
        return "the device went away";
    }
    return "unknown status";
}
