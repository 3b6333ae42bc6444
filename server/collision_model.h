/* The triangles by which a shape collides, as a model of one link: resting on its base, or hung on
 * it by a floating joint whose coordinates are the pose in the world.
 *
 * Balls and capsules are exact: a point and a segment with a radius. Boxes and meshes are what they
 * are. A plane is the top of a box of 8 m by 8 m by 1 m; ellipsoids lie within 0.9 % of their
 * largest semi-axis, parametric faces are cut into 48 by 48 cells. */
#ifndef SERVER_COLLISION_MODEL_H
#define SERVER_COLLISION_MODEL_H

#include "collide/shape.h"
#include "geometry/model.h"

typedef struct collision_model {
    model model;
    double radius; /* m, around every triangle */
} collision_model;

/* On failure *out is untouched. */
HR_MUST_USE hr_status collision_model_make(const shape *s, bool is_moving, collision_model *out);
void collision_model_free(collision_model *c); /* accepts an empty one */

/* Coordinates of the floating joint from a pose, and back. */
void collision_model_coordinates(pose world_from_body, double q[7]);
pose collision_model_pose(const double q[7]);

#endif
