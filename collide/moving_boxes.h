/* Two oriented boxes, one of which moves: are they apart during a whole time interval? */
#ifndef COLLIDE_MOVING_BOXES_H
#define COLLIDE_MOVING_BOXES_H

#include "collide/obb_tree.h"
#include "geometry/taylor.h"

/* A motion over an interval with the bounds that every box test needs, made once per pair of links
 * and interval. */
typedef struct moving_frame {
    taylor a_from_b;
    double spin, spin_rate;         /* norms of the rotation parts of C1 and C2 */
    double turn_radius, way_radius; /* of an entry of the rotation, of the origin */
} moving_frame;

/* Fills the bounds for out->a_from_b. */
HR_RT void moving_frame_bound(moving_frame *out);

/* Bound of how far any point of box b is from where it is at the middle of the interval, m. */
HR_RT double moving_box_travel(const moving_frame *frame, const obb *b);

/* Proven: box b stays farther than `separation` from box a throughout. `travel` is its
 * moving_box_travel. A gap at the middle that is wider than the travel proves it at once; else the
 * best of the fifteen axes at the middle is followed through the interval. A direction that is
 * constant over the interval keeps the bound tight. */
HR_RT bool moving_boxes_are_apart(const obb *a, const obb *b, const moving_frame *frame,
                                  double travel, double separation);

#endif
