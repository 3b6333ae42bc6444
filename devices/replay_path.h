/* A recorded track as a path that a hand can follow safely.
 *
 * - Time starts at the first sample. A sample that repeats the one before exactly, within 30 ms,
 * was held by the recorder and is left out.
 * - Between samples: cubic Hermite with slopes by Fritsch and Butland (harmonic mean of the
 *   neighbouring slopes, zero where they differ in sign), each axis by itself: it never overshoots.
 * - A break is a gap longer than gap_s or a step of more than 1 mm faster than jump_speed. The path
 *   stays at the last place during a break and then glides from there back onto the track, with a
 *   minimum-jerk offset no faster than glide_speed. From the start of a break to the end of the
 * glide `is_broken` is set: nobody may push with full force then.
 * - After the end it stays, or with is_looped glides back to the start and begins again. */
#ifndef DEVICES_REPLAY_PATH_H
#define DEVICES_REPLAY_PATH_H

#include "devices/replay_track.h"

typedef struct replay_shape {
    int axis[3];       /* base axis i is axis[i] of the file, times sign[i] */
    double sign[3];    /* +1 or -1 */
    bool is_centred;   /* the middle of the track's bounding box goes to the origin */
    vec3 origin;       /* m, file axes: what goes to the origin where is_centred is false */
    double scale;      /* 0: shrink so that the track fits into fit_radius, never enlarge */
    double fit_radius; /* m */
    double gap_s;      /* 0: ten times the median spacing, at least 0.1 s */
    double jump_speed; /* m/s, after scaling */
    double glide_speed;
    bool is_looped;
} replay_shape;

replay_shape replay_shape_default(void);

typedef struct replay_break {
    int after;         /* index of the last point before it */
    double start, end; /* s */
    double glide;      /* s, after end */
    vec3 hold, offset; /* m: where the path waits; that place minus the track's at `end` */
} replay_break;

typedef struct replay_path {
    replay_point *points; /* base frame, time from 0 */
    vec3 *slopes;         /* m/s, at each point */
    int count;
    replay_break *breaks;
    int break_count;
    double length; /* s */
    double rewind; /* s, of the glide from the end to the start; 0 unless looped */
    double scale;  /* that was used */
    vec3 centre;   /* m, of the file, that is now the origin */
    int held;      /* repeated samples left out */
    bool is_looped;
} replay_path;

typedef struct replay_place {
    vec3 position; /* m, base frame */
    vec3 velocity; /* m/s */
    uint32_t buttons;
    bool is_broken;
} replay_place;

/* NULL pointers in *out on HR_ERR_MEMORY. */
HR_MUST_USE hr_status replay_path_build(const replay_track *track, const replay_shape *shape,
                                        replay_path *out);
void replay_path_free(replay_path *path);

/* Where the path is, `time` seconds after its start. */
HR_RT void replay_path_at(const replay_path *path, double time, replay_place *out);

#endif
