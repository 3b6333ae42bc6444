/* Inside collide/ only: one follower per kind of shape, called by shape_follow. Each makes one
 * step of the tracker and writes at most `room` contacts; the point is finite and in the shape's
 * frame. */
#ifndef COLLIDE_SHAPE_KINDS_H
#define COLLIDE_SHAPE_KINDS_H

#include "collide/shape.h"

/* A smooth convex shape has one nearest point. */
HR_RT void shape_follow_ellipsoid(vec3 semi_axes, shape_tracker *tracker, vec3 point,
                                  shape_contact *out);
HR_RT void shape_follow_capsule(double radius, double half_length, shape_tracker *tracker,
                                vec3 point, shape_contact *out);

/* Faces, edges and vertices are numbered (sx + 1) + 3 (sy + 1) + 9 (sz + 1), each s the side of
 * its axis (-1, 0 between, 1). A point that went in through a face stays with that face. */
HR_RT void shape_follow_box(vec3 half_size, shape_tracker *tracker, vec3 point, shape_contact *out);

/* A unit vector as two numbers without poles: the octahedron's unfolded faces. */
HR_RT void direction_to_chart(vec3 unit, double *u, double *v);
HR_RT vec3 direction_from_chart(double u, double v);

#endif
