/* Rescues a recording that was cut off or damaged: everything that is whole goes into a new file.
 * Messages carry a CRC of their own, so good ones are told from bad ones even inside a chunk whose
 * CRC is wrong or that ends with the file. */
#ifndef SERVER_TRACE_RECOVER_H
#define SERVER_TRACE_RECOVER_H

#include "server/trace_read.h"

typedef struct trace_rescue {
    uint64_t messages; /* in the new file */
    uint64_t ticks;    /* tick records among them */
    uint64_t salvaged; /* messages picked out of damaged ranges */
    uint64_t damages;  /* ranges that were damaged */
    uint64_t damaged_bytes;
} trace_rescue;

HR_MUST_USE hr_status trace_recover(const char *from, const char *to, trace_rescue *out,
                                    hr_error *error);

#endif
