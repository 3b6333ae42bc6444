/* A recording thinned out to what a picture can show: time cut into equal columns, each with the
 * least and the greatest value of every quantity, so that no peak is lost. Memory does not grow
 * with the recording. */
#ifndef SERVER_TRACE_PLOT_DATA_H
#define SERVER_TRACE_PLOT_DATA_H

#include "server/trace_summary.h"

enum { PLOT_COLUMNS = 1200 };

typedef enum plot_series {
    PLOT_X, /* mm, base frame */
    PLOT_Y,
    PLOT_Z,
    PLOT_WANTED, /* N, length */
    PLOT_FORCE,
    PLOT_GAP,      /* mm */
    PLOT_LATENESS, /* us */
    PLOT_COMPUTE,
    PLOT_ENERGY, /* mJ */
    PLOT_AGE,    /* ms, of the contact frame */
    PLOT_SERIES
} plot_series;

typedef struct plot_column {
    int count; /* ticks in it */
    double low[PLOT_SERIES], high[PLOT_SERIES];
    bool low_is_first[PLOT_SERIES]; /* which of the two came first */
    uint32_t reasons;               /* any tick's */
    bool is_touching;               /* any tick did */
    vec3 tool, force;               /* of its last tick: m in the world frame; N, base frame */
} plot_column;

typedef struct plot_hand {
    plot_column columns[PLOT_COLUMNS];
    histogram lateness;
    uint64_t ticks;
} plot_hand;

typedef struct plot_data {
    double from, until; /* s since the first tick */
    int column_count;
    int hand_count;
    plot_hand hands[HANDS_MAX];
} plot_data;

/* Middle of a column, s. */
double plot_time(const plot_data *d, int column);

/* A second pass over the file at path. NULL and a message on failure; freed by the caller. */
plot_data *plot_gather(const char *path, const trace_summary *s, double from, double until,
                       hr_error *error);

#endif
