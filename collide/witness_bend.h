/* How the distance to a body changes around a point: its second derivative (the gradient of the
 * normal) and the rate of the nearest point's parameters. With them the next nearest point is
 * predicted, and a proxy goes along the surface instead of its tangent plane. */
#ifndef COLLIDE_WITNESS_BEND_H
#define COLLIDE_WITNESS_BEND_H

#include "collide/witness_point.h"

typedef struct witness_bend {
    mat3 normal;  /* 1/m, symmetric: the normal's change per step of the point */
    vec3 lead[2]; /* 1/m: change of u and v per step of the point */
} witness_bend;

/* At a place that witness_point_step has brought to the point's foot. All zero where the distance
 * has no second derivative: at a focal point, a pole, or on an edge or vertex itself. */
HR_RT witness_bend witness_bend_at(const witness_body *b, const witness_place *p,
                                   const witness_touch *t);

#endif
