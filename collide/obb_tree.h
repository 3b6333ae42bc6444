/* Oriented bounding boxes over a triangle mesh, and which triangle answers for which vertex and
 * edge. Built once, at load. */
#ifndef COLLIDE_OBB_TREE_H
#define COLLIDE_OBB_TREE_H

#include <stdint.h>

#include "geometry/mesh.h"

typedef struct obb {
    vec3 centre;     /* m, mesh frame */
    vec3 half;       /* m, along the axes; ascending */
    vec3 axes[3];    /* unit vectors in the mesh frame, right-handed */
    double radius;   /* m, of the sphere around the box; rounded up */
    double distance; /* m, of the centre from the origin of the frame */
} obb;

typedef struct obb_node {
    obb box;
    int32_t left;  /* the children are left and left + 1; -1 for a leaf */
    int32_t first; /* the triangles of a leaf, in tree->triangles */
    int32_t count;
    int32_t depth;
} obb_node;

/* Bits of obb_triangle.owns: what is tested only when this triangle is in a pair. */
enum { OBB_OWNS_VERTEX = 1, OBB_OWNS_EDGE = 8 }; /* shifted by the corner 0..2; edge i: i, i + 1 */

typedef struct obb_triangle {
    vec3 corners[3]; /* m, mesh frame */
    int32_t vertices[3];
    int32_t owns;
    int32_t index; /* in the mesh */
} obb_triangle;

typedef struct obb_tree {
    int node_count;
    obb_node *nodes; /* nodes[0] is the root */
    int triangle_count;
    obb_triangle *triangles; /* in the order of the leaves */
    vec3 low, high;          /* m, axis-aligned box of all vertices */
    double reach;            /* m, the farthest vertex from the origin of the frame */
} obb_tree;

/* The meshes are put into one frame: vertex -> frame_from_mesh[i] vertex; a tree with no triangle
 * is good (node_count 0). Coordinates must be finite. On failure *out is untouched. */
HR_MUST_USE hr_status obb_tree_build(const mesh *const *meshes, const pose *frame_from_mesh,
                                     int mesh_count, obb_tree *out);
void obb_tree_free(obb_tree *tree); /* accepts an empty tree */

#endif
