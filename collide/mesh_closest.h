/* The globally nearest point of a triangle mesh, through a tree of boxes. World thread and tools.
 */
#ifndef COLLIDE_MESH_CLOSEST_H
#define COLLIDE_MESH_CLOSEST_H

#include "geometry/mesh.h"

typedef struct mesh_nearest {
    int triangle;
    double u, v;     /* barycentric weights of the triangle's second and third vertex */
    vec3 p;          /* the nearest point */
    vec3 normal;     /* out of the mesh: at an edge or vertex the mean of what meets there */
    double distance; /* m; negative inside a closed mesh */
} mesh_nearest;

/* Borrows the mesh, which must outlive it. NULL when out of memory. */
typedef struct mesh_finder mesh_finder;
mesh_finder *mesh_finder_create(const mesh *m);
void mesh_finder_destroy(mesh_finder *f);

/* Every edge lies between exactly two triangles that run along it in opposite directions. */
bool mesh_finder_is_closed(const mesh_finder *f);

HR_MUST_USE hr_status mesh_find_nearest(const mesh_finder *f, vec3 point, mesh_nearest *out);

#endif
