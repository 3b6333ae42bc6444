/* A convex parametric body as the tool of a device that does not turn: the witness pair of tool and
 * shape says how far the tool may still come, which for translations is one half space. */
#ifndef COLLIDE_TOOL_SHAPE_H
#define COLLIDE_TOOL_SHAPE_H

#include "collide/shape.h"

/* True for the shapes that a tool body can touch: convex parametric bodies, spheres, ellipsoids. */
bool tool_shape_can_touch(const shape *s);

/* As shape_follow for the tool s->tool with its origin at `point` and turned by shape_from_tool.
 * The contact's gap is the signed distance between tool and shape, and its point is placed so that
 * normal . (x - point) is that distance for the tool's origin at x. The tracker holds the witness
 * on the shape and the witness on the tool; any other tracker starts from the samples. */
HR_RT int tool_shape_follow(const shape *s, shape_tracker *tracker, vec3 point,
                            quat shape_from_tool, double reach, shape_contact *out, int room);

#endif
