/* The point proxy ("god-object") among planes: the displacement nearest to the one the hand wants
 * that stays outside every plane. The quadratic programme with K = I and three unknowns, solved in
 * closed form so that the servo thread can run it. */
#ifndef SOLVER_GOD_OBJECT_H
#define SOLVER_GOD_OBJECT_H

#include "geometry/vec3.h"

/* Planes at once; more is HR_ERR_CAPACITY. */
#define GOD_OBJECT_PLANES_MAX 16

/* A displacement dx is allowed where normal . dx + clearance >= 0. */
typedef struct half_space {
    vec3 normal;      /* unit length, away from the solid */
    double clearance; /* m, distance of the proxy above the plane; negative inside */
} half_space;

/* Writes the allowed displacement nearest to `wanted` and the indices (ascending) of the planes
 * that hold it; returns how many those are, 0 to 3. A negative hr_status leaves the proxy where it
 * is (*moved = 0): HR_ERR_INFEASIBLE where no displacement is allowed, HR_ERR_NOT_FINITE,
 * HR_ERR_ARGUMENT for a normal that is not of unit length, HR_ERR_CAPACITY. */
HR_RT int god_object_move(vec3 wanted, const half_space *planes, int count, vec3 *moved,
                          int active[3]);

#endif
