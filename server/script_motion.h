/* Where a scripted body is at a time, with its exact velocity and acceleration. */
#ifndef SERVER_SCRIPT_MOTION_H
#define SERVER_SCRIPT_MOTION_H

#include "config/scene.h"

typedef struct motion_state {
    pose world_from_body;
    twist velocity, acceleration; /* of the body's origin, world axes */
} motion_state;

/* time: s since the world's start. Fixed, oscillating and keyframed bodies.
 *
 * Oscillating: origin + amplitude sin(2 pi f t), and a turn of turn_rad sin(2 pi f t) before the
 * body's own rotation (world axes).
 *
 * Keyframes: a loop over the time from the first key to the last, whose pose should be the first
 * one's. Between two keys the origin and the rotation vector of the turn move by the blend
 * 10 s^3 - 15 s^4 + 6 s^5, which starts and ends at rest without a jump of acceleration. Before the
 * first key the body waits there. */
motion_state script_motion_at(const scene_body *body, double time);

#endif
