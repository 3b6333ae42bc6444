/* What a person sees of a running server: one line that is kept up to date, and a table at the end.
 * Text only; main decides where it goes. */
#ifndef SERVER_STATUS_LINE_H
#define SERVER_STATUS_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

/* Everything the line shows, gathered by status_figures_of. */
typedef struct status_figures {
    double time_s;  /* since the first tick */
    double run_s;   /* wanted; 0: no end */
    double rate_hz; /* achieved: ticks per second */
    int64_t lateness_p99_ns, lateness_max_ns;
    int64_t compute_p99_ns;
    uint64_t ticks, missed_periods;
    bool is_lockstep, is_degraded;
    bool is_recording, recording_has_failed;
    uint64_t recorded_bytes, dropped;
    int hand_count;
    struct {
        double force;  /* N, length */
        double energy; /* J */
        double gap;    /* m */
        uint32_t contacts, state, reasons;
    } hands[HANDS_MAX];
} status_figures;

/* newest may be NULL. */
status_figures status_figures_of(const server *s, const servo_report *newest);

/* One line without a newline, at most `width` columns. Returns its length. */
int status_line_print(const status_figures *f, int width, char *out, size_t size);

/* The table of the run: several lines. Returns its length. */
int status_table_print(const server *s, const status_figures *f, char *out, size_t size);

#endif
