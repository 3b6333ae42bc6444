/* Where two resting meshes are near each other: the feature pairs (a vertex over a face, two edges
 * that cross) at which their distance has a local minimum. Only those may become rows of a contact
 * programme: the others would stop bodies at walls that are not there, such as the seams of a
 * tessellated plane. */
#ifndef COLLIDE_NEAR_FEATURES_H
#define COLLIDE_NEAR_FEATURES_H

#include "collide/obb_tree.h"
#include "collide/triangle_ccd.h"
#include "geometry/spatial.h"

/* A mesh with what lies around its vertices and edges. */
typedef struct near_surface {
    const obb_tree *tree; /* borrowed */
    double radius;        /* m, around every triangle */
    int *across;     /* by triangle of the tree and edge: vertex of the triangle beyond it, or -1 */
    int *ring_start; /* by vertex, one more than there are: its neighbours in ring */
    int *ring;
    vec3 *places; /* by vertex */
    int vertex_count;
} near_surface;

/* On failure *out is untouched. The tree must outlive it. */
HR_MUST_USE hr_status near_surface_make(const obb_tree *tree, double radius, near_surface *out);
void near_surface_free(near_surface *s); /* accepts an empty one */

typedef struct near_feature {
    triangle_feature kind;
    uint32_t id[4]; /* vertex and face, or two edges by their vertices: the same as long as they
                       live */
    vec3 point[2];  /* m, world, on the surfaces (radius included) */
    vec3 normal;    /* unit, from b to a */
    double gap;     /* m, > 0 */
} near_feature;

enum { NEAR_FEATURES_MAX = 128 };

/* All with a gap below `reach` and not more than `band` above the smallest gap, at most
 * NEAR_FEATURES_MAX; returns how many. `work` is spent: one for each pair of boxes; when it is gone
 * the search ends. */
int near_features_find(const near_surface *a, const rigid *world_from_a, const near_surface *b,
                       const rigid *world_from_b, double reach, double band, int64_t *work,
                       near_feature *out);

/* Keeps of each group with about the same normal the `share` (<= 8) that span it best, the smallest
 * gap always among them. Returns how many are left. */
int near_features_thin(near_feature *list, int count, int share);

#endif
