/* A body against a point that is given anew each tick: one corrector of the law, the automaton, and
 * what a proxy needs to know. The small sibling of witness_pair, with nothing kept but the place.
 */
#ifndef COLLIDE_WITNESS_POINT_H
#define COLLIDE_WITNESS_POINT_H

#include "collide/witness_automaton.h"

typedef struct witness_touch {
    vec3
        normal; /* unit, out of the body: of the face, or toward the point from an edge or vertex */
    double gap; /* m, signed distance of the point along it */
    double slope;   /* m, how far the point is beside the normal: first-order error of the foot */
    uint32_t flags; /* of witness_solve */
    bool is_cycling;
} witness_touch;

/* Steps p toward the foot of `point` (body frame). A small step moves p->at by Taylor's formula:
 * evaluate the place before the next step. */
HR_RT witness_touch witness_point_step(const witness_body *b, witness_place *p, vec3 point);

/* The globally nearest foot, by every face's best sample and as many steps as it takes (bounded):
 * for seeding, not for the servo. */
void witness_point_seek(const witness_body *b, vec3 point, witness_place *out);

#endif
