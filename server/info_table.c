#include "server/info.h"

const info_probe info_table[] = {
    {"recording", info_trace_accepts, info_trace_print},
    {NULL, NULL, NULL},
};
