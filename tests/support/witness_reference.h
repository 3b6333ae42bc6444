/* Answers by brute force, independent of the tracker: support functions and nearest points of
 * parametric bodies by sampling and refining every piece. For tests and figures; slow. */
#ifndef TESTS_SUPPORT_WITNESS_REFERENCE_H
#define TESTS_SUPPORT_WITNESS_REFERENCE_H

#include "geometry/parametric_body.h"

/* max over the body of direction . p */
double reference_support(const parametric_body *b, vec3 direction);

/* Nearest point of the skin to `point` (body frame); the distance is not signed. */
double reference_nearest(const parametric_body *b, vec3 point, vec3 *out);

/* Certificate for a disjoint convex pair: how far |on_b - on_a| is above the distance between the
 * two supporting planes at right angles to it. Zero only at the true nearest pair. */
double reference_gap(const parametric_body *a, const parametric_body *b, mat3 rotation, vec3 origin,
                     vec3 on_a, vec3 on_b);

#endif
