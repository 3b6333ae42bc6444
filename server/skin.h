/* What a shape looks like: its surface cut into small flat pieces, for pictures. */
#ifndef SERVER_SKIN_H
#define SERVER_SKIN_H

#include "collide/shape.h"
#include "geometry/error.h"

typedef struct skin_piece {
    int count;       /* of corners: 3 or 4 */
    vec3 corners[4]; /* m, shape frame, counter-clockwise seen from outside */
    vec3 normal;     /* unit, out of the solid; zero: seen from both sides */
} skin_piece;

typedef struct skin {
    int count, room;
    skin_piece *pieces;
} skin;

/* Pieces of about `size` metres. A plane has no end: it is cut to a square of `reach` around
 * `middle` (shape frame). A mesh that is finer than `size` is thinned out. *out is owned by the
 * caller; release with skin_free. */
HR_MUST_USE hr_status skin_make(const shape *s, double size, vec3 middle, double reach, skin *out);
void skin_free(skin *s); /* accepts an empty one */

#endif
