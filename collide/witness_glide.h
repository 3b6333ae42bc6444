/* The usual tick in one piece: the foot of a point stays well inside a face. Evaluation, corrector
 * of the law, distance and its second derivative share their numbers, so a cold processor fetches a
 * fourth of the code that the general step needs. Everything else (borders, poles, focal points,
 * long steps) is left to witness_point_step. */
#ifndef COLLIDE_WITNESS_GLIDE_H
#define COLLIDE_WITNESS_GLIDE_H

#include "collide/witness_bend.h"

typedef struct witness_foot {
    double x[2]; /* parameters */
    vec3 p;      /* m, body frame */
    witness_touch touch;
    witness_bend bend;
} witness_foot;

/* From the parameters x of a face to the foot of `point`. False, with *out untouched, where this is
 * not the usual tick. */
HR_RT bool witness_glide(const parametric_body *b, int face, const double x[2], vec3 point,
                         witness_foot *out);

#endif
