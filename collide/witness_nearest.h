/* The nearest point of a convex body to a point that may be inside: the paper's interior rule. One
 * tracker per face (per curve of a planar body) runs all the time; inside, the one with the
 * smallest distance is active. The zero set of the difference of two distances is the medial axis,
 * so no medial axis is computed. The witness jumps there: right for distance queries, wrong for
 * forces, which use a witness_pair alone (it stays on the sheet that it entered). */
#ifndef COLLIDE_WITNESS_NEAREST_H
#define COLLIDE_WITNESS_NEAREST_H

#include "collide/witness_pair.h"

typedef struct witness_nearest {
    int count;
    int active; /* index of the feature whose tracker wins inside */
    bool is_inside;
    witness_pair main;    /* the answer: follows the automaton outside, copies the winner inside */
    witness_pair pairs[]; /* one per feature, never leaving it */
} witness_nearest;

/* Seeds every tracker. NULL when out of memory. Release with witness_nearest_destroy. */
witness_nearest *witness_nearest_create(const parametric_body *body, vec3 point,
                                        witness_settings settings);
void witness_nearest_destroy(witness_nearest *n); /* accepts NULL */

/* Puts every tracker at one parameter pair of its feature and makes `active` the winner. */
void witness_nearest_place(witness_nearest *n, int active, double u, double v);

/* One tick; the motion is that of the point's frame, as in witness_pair_step. True when the active
 * feature changed. n->main.last holds the result. */
HR_RT bool witness_nearest_step(witness_nearest *n, const witness_motion *begin,
                                const witness_motion *middle, const witness_motion *end);

#endif
