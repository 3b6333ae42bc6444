/* A rigid transform over a time interval that is either constant, and then cheap and exact, or a
 * Taylor model. Most of an adaptive body is constant. */
#ifndef COLLIDE_MOTION_H
#define COLLIDE_MOTION_H

#include "geometry/taylor.h"

typedef struct motion {
    bool is_constant;
    rigid constant; /* a_from_b while is_constant */
    taylor varying; /* a_from_b otherwise */
} motion;

HR_RT void motion_set_constant(const rigid *a_from_b, motion *out);

/* a_from_b b_from_c = a_from_c. out must not be an input. */
HR_RT void motion_compose(const motion *a_from_b, const motion *b_from_c, motion *out);
HR_RT void motion_compose_rigid(const motion *a_from_b, const rigid *b_from_c, motion *out);

/* inverse(w_from_a) w_from_b = a_from_b. out must not be an input. */
HR_RT void motion_relative(const motion *w_from_a, const motion *w_from_b, motion *out);

/* The same as a Taylor model on an interval of half-width half, also where it is constant. */
HR_RT void motion_to_taylor(const motion *a_from_b, double half, taylor *out);

/* Axis-aligned box; empty while low.x > high.x. */
typedef struct motion_box {
    vec3 low, high;
} motion_box;

HR_RT motion_box motion_box_empty(void);
HR_RT bool motion_box_is_empty(const motion_box *box);
HR_RT motion_box motion_box_hull(const motion_box *a, const motion_box *b);

/* True unless the boxes are certainly farther apart than `separation` in some coordinate. */
HR_RT bool motion_box_near(const motion_box *a, const motion_box *b, double separation);

/* A box in frame a that holds the box of frame b during the whole interval. */
HR_RT motion_box motion_sweep(const motion *a_from_b, const motion_box *box_b);

#endif
