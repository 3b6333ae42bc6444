/* How far a point is outside a resting shape, found without the trackers that the servo uses: by
 * formula for solids, by the proven global search for parametric bodies, through all triangles'
 * tree for meshes. The second opinion of tests that watch a proxy. */
#ifndef TESTS_SUPPORT_OUTSIDE_H
#define TESTS_SUPPORT_OUTSIDE_H

#include "collide/shape.h"

typedef struct outside outside;

/* Borrows the shape. NULL when out of memory. */
outside *outside_create(const shape *s);
void outside_destroy(outside *o); /* accepts NULL */

/* Has it an inside? An open sheet has not. */
bool outside_is_solid(const outside *o);

/* Signed distance (m) of a point in the shape's frame; negative inside. Of a sheet: negative behind
 * it; 1 where its border is nearest, because there it has no sides. */
double outside_distance(outside *o, vec3 point);

/* The same for a solid; the plain distance from a sheet, whichever side. */
double outside_gap(outside *o, vec3 point);

#endif
