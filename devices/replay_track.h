/* Recorded positions of a hand, from anybody's CSV.
 *
 * The first line names the columns: time_s, x_m, y_m, z_m in any order, optionally buttons; others
 * are ignored. A column whose name ends in position_x_m (and so on) serves as x_m. Without a header
 * the first four columns are meant. Empty lines and lines that start with '#' are skipped; CRLF and
 * a byte order mark are accepted. A row whose position is empty or "nan" is a missing sample. Rows
 * whose time does not come after the row before are left out and counted. */
#ifndef DEVICES_REPLAY_TRACK_H
#define DEVICES_REPLAY_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "geometry/error.h"
#include "geometry/vec3.h"

typedef struct replay_point {
    double time;      /* s, rising */
    vec3 position;    /* m, any frame */
    uint32_t buttons; /* bit mask */
    uint32_t reserved;
    double spacing; /* s since the row before, held ones included; the path fills it in */
} replay_point;

typedef struct replay_track {
    replay_point *points; /* at least one */
    int count;
    int capacity;
    int missing;        /* rows without a position */
    int out_of_order;   /* rows left out because of their time */
    bool is_base_frame; /* positions are already those of our base frame */
} replay_track;

/* {0} is an empty track. HR_ERR_MEMORY leaves it as it was. */
HR_MUST_USE hr_status replay_track_add(replay_track *t, replay_point point);
void replay_track_free(replay_track *t);

/* Messages read "NAME:line:column: ...", column being that of the CSV. *out is untouched on
 * failure. */
HR_MUST_USE hr_status replay_track_parse(const char *text, size_t size, const char *name,
                                         replay_track *out, hr_error *error);

#endif
