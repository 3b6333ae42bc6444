/* Proves a recording: every CRC, every index entry, every count, every hash, and that no record is
 * missing in between. */
#ifndef SERVER_TRACE_CHECK_H
#define SERVER_TRACE_CHECK_H

#include "server/trace_read.h"

enum { TRACE_FINDINGS_MAX = 256 };

typedef struct trace_finding {
    uint64_t offset; /* in the file, bytes */
    char text[224];  /* what was expected, what was found */
} trace_finding;

typedef struct trace_report {
    uint64_t chunks, messages, ticks, frames, commands, events;
    uint64_t lost;     /* records that the numbers say are missing */
    uint64_t findings; /* all, also those that are not kept */
    trace_finding kept[TRACE_FINDINGS_MAX];
    int kept_count;
    bool is_complete;
} trace_report;

/* HR_OK also for a damaged recording: the report says so. Errors are files that cannot be read or
 * are no recording. The report is freed by the caller. */
HR_MUST_USE hr_status trace_check(const char *path, trace_report **out, hr_error *error);

#endif
