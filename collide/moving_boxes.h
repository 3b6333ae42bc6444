/* Two oriented boxes, one of which moves: are they apart during a whole time interval? */
#ifndef COLLIDE_MOVING_BOXES_H
#define COLLIDE_MOVING_BOXES_H

#include "collide/obb_tree.h"
#include "geometry/taylor.h"

/* A motion over an interval with the bounds that every box needs, made once per pair of links and
 * interval. */
typedef struct moving_frame {
    taylor a_from_b;
    double spin, spin_rate; /* norms of the rotation parts of C1 and C2 */
    double turn, way;       /* norms of the radius of the rotation, and of the origin, m */
} moving_frame;

/* Fills the bounds for out->a_from_b. */
HR_RT void moving_frame_bound(moving_frame *out);

/* A box of frame b as seen from frame a over the interval, made once for all the boxes that it is
 * compared with. */
typedef struct moving_box {
    vec3 centre;         /* m, at the middle of the interval */
    vec3 velocity, bend; /* of the centre: coefficients of s and s^2 */
    vec3 axes[3];        /* at the middle */
    vec3 half;           /* m */
    double radius, time; /* m, of the sphere around it; half-width of the interval */
    double slack;  /* m: any point strays by at most this from a box that only its centre moves */
    double travel; /* m: any point is at most this far from where it is at the middle */
    double skew;   /* m: what an edge direction loses because the axes are not orthonormal */
    double size;   /* m, of the coordinates that were rounded */
} moving_box;

HR_RT void moving_box_place(const moving_frame *frame, const obb *b, moving_box *out);

/* Proven: box b stays farther than `separation` from box a throughout. Along each of the fifteen
 * directions of the boxes at the middle, the gap there is held against what the motion along that
 * direction can take from it: a direction that is constant over the interval keeps the bound
 * tight. */
HR_RT bool moving_box_is_apart(const obb *a, const moving_box *b, double separation);

#endif
