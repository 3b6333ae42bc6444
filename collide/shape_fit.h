/* A simple shape around a cloud of points: how a link of a robot is felt without its mesh. */
#ifndef COLLIDE_SHAPE_FIT_H
#define COLLIDE_SHAPE_FIT_H

#include "collide/shape.h"

/* A sphere, capsule or box with the points inside or on it (a capsule or sphere may leave corners
 * of boxy clouds outside by a little), in a frame along the cloud's principal axes. count >= 1. */
void shape_fit(const vec3 *points, int count, shape *out, pose *points_from_shape);

#endif
