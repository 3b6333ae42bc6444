/* Where the grip is and how fast it moves, from arm angles as they come. Callable from the servo
 * thread. */
#ifndef DEVICES_FALCON_TRACKER_H
#define DEVICES_FALCON_TRACKER_H

#include <stdbool.h>

#include "devices/falcon/kinematics.h"
#include "devices/velocity.h"

typedef struct falcon_tracker {
    falcon_geometry geometry;
    vec3 position, velocity;      /* m, m/s, device frame */
    mat3 jacobian;                /* rows: d angle / d position, at position */
    velocity_window arm_speed[3]; /* counts */
    int64_t time_ns;              /* of the last angles */
    bool is_known;                /* a position was found since the last reset */
} falcon_tracker;

/* noise: largest error of an arm's angle, in counts. */
void falcon_tracker_init(falcon_tracker *t, double noise);

/* The counts start anew, or nobody knows what happened meanwhile. The next search begins in the
 * middle of the workspace. */
HR_RT void falcon_tracker_reset(falcon_tracker *t);

/* Only the speed: the position goes on. */
HR_RT void falcon_tracker_forget_speed(falcon_tracker *t);

/* Takes the angles of time_ns. *has_moved_too_far: the step from the last position is longer than a
 * hand can make; the velocity then starts from zero. HR_ERR_PROTOCOL, and nothing is changed, where
 * no position fits the angles. */
HR_RT HR_MUST_USE hr_status falcon_tracker_add(falcon_tracker *t, int64_t time_ns,
                                               const falcon_angles *angles,
                                               bool *has_moved_too_far);

#endif
