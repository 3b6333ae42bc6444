/* What a recording holds, from one pass over it: counts, times, forces, reasons, timing. */
#ifndef SERVER_TRACE_SUMMARY_H
#define SERVER_TRACE_SUMMARY_H

#include "server/trace_read.h"

enum { TRACE_MARKS_MAX = 64, TRACE_REASONS = 18 };

typedef struct trace_hand_summary {
    uint64_t ticks, frames;
    uint64_t lost; /* tick records missing between the first and the last */
    uint64_t contact_ticks;
    uint64_t reason_ticks[TRACE_REASONS]; /* by bit */
    uint64_t read_failures;
    double force_max, wanted_max; /* N */
    double depth_max;             /* m, deepest penetration; 0 without */
    double speed_max;             /* m/s */
    vec3 low, high;               /* m, base frame: where the handle went */
} trace_hand_summary;

typedef struct trace_mark {
    int64_t time_ns;
    char text[96];
} trace_mark;

typedef struct trace_summary {
    uint64_t ticks;        /* servo cycles: those of the hand that has most */
    uint64_t tick_records; /* over all hands */
    uint64_t commands, events, messages;
    uint64_t missed_periods;
    uint64_t dropped; /* as the writer said */
    int64_t first_ns, last_ns;
    double duration_s; /* from the start of the first tick to the end of the last */
    int hand_count;    /* that have ticks or are described */
    trace_hand_summary hands[HANDS_MAX];
    histogram lateness, compute, device_time;
    trace_mark marks[TRACE_MARKS_MAX];
    int mark_count;
    bool is_complete;
    uint64_t problem_count;
} trace_summary;

/* Reads the recording to its end. NULL when out of memory; freed by the caller. */
trace_summary *trace_summarize(trace_reader *r);

/* "Novint Falcon, Novint Falcon": model of every hand, for people. */
void trace_device_names(const trace_reader *r, int hand_count, char *out, size_t size);

#endif
