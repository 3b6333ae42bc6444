/* The switching automaton of one body: from face to edge to vertex and back, by the side of the
 * Voronoi boundaries on which the opposing witness lies. It looks only at this body's own features
 * and at that one point, so two bodies run two automata side by side; pairs are never enumerated.
 * Every transition keeps the witness point (leaving a pole moves it by 2e-4 of the parameter). */
#ifndef COLLIDE_WITNESS_AUTOMATON_H
#define COLLIDE_WITNESS_AUTOMATON_H

#include "collide/witness_place.h"

/* At most one transition of b's witness, given the opposing witness in b's frame. True when one
 * fired; the place is then evaluated on its new feature. */
HR_RT bool witness_transit(const witness_body *b, witness_place *p, vec3 opposite);

/* Unit vector in the tangent plane of a face, at right angles to one of its sides, out of the face;
 * zero where the face has no plane there. */
HR_RT vec3 witness_conormal(const jet *at, int side);

/* The direction into the face, among those in which a collapsed side leaves its vertex, that makes
 * the largest cosine with e. Writes the parameter along the side; returns the cosine. Where no
 * cosine of the fan can reach `least` it stops at the nearest stored direction. */
HR_RT double witness_fan(const parametric_body *b, const vertex_collapse *c, vec3 e, double least,
                         double *best);

#endif
