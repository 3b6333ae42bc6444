/* Two oriented boxes, one of which moves: are they apart during a whole time interval? */
#ifndef COLLIDE_MOVING_BOXES_H
#define COLLIDE_MOVING_BOXES_H

#include "collide/obb_tree.h"
#include "geometry/taylor.h"

/* Proven: box b, moving by a_from_b, stays farther than `separation` from box a throughout. Tries
 * *axis first (a direction of frame a, zero for none), then the best of the fifteen axes at the
 * middle of the interval; leaves the direction that worked in *axis. A constant direction over the
 * interval keeps the bound tight. */
HR_RT bool moving_boxes_are_apart(const obb *a, const obb *b, const taylor *a_from_b,
                                  double separation, vec3 *axis);

/* Bound of how far a point of the box moves during the interval, m. */
HR_RT double moving_box_travel(const obb *b, const taylor *a_from_b);

#endif
