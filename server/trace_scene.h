/* A recording as pictures of space: the bodies of its scene at chosen times, the ways of tool and
 * proxy, contact normals and forces. */
#ifndef SERVER_TRACE_SCENE_H
#define SERVER_TRACE_SCENE_H

#include <stdbool.h>

#include "geometry/error.h"

enum { TRACE_SCENE_TIMES_MAX = 9 };

typedef struct trace_scene_options {
    double from, until; /* s since the first tick; until <= from: to the end */
    int time_count;     /* 0: the strongest moments of the beginning, middle and end */
    double times[TRACE_SCENE_TIMES_MAX]; /* s since the first tick */
    bool has_view;                       /* else one from which the contacts are seen */
    double azimuth, elevation;           /* degrees, as in svg_space.h */
} trace_scene_options;

/* "front", "side", "top", "iso" or "AZIMUTH,ELEVATION". False where it is none of them. */
bool trace_scene_view(const char *text, trace_scene_options *out);

/* Runs the recording again, with its world, for the poses of all bodies. *off (m; may be NULL): how
 * far the world that was run again was from the recorded frames, 0 for a run in lockstep. */
HR_MUST_USE hr_status trace_scene_plot(const char *path, const trace_scene_options *o,
                                       const char *output, double *off, hr_error *error);

#endif
