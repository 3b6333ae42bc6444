/* A triangle mesh as plain arrays: what loaders produce and collision detection consumes. */
#ifndef GEOMETRY_MESH_H
#define GEOMETRY_MESH_H

#include "geometry/error.h"
#include "geometry/vec3.h"

typedef struct mesh {
    int vertex_count;
    vec3 *vertices; /* m, in the mesh's own frame */
    int triangle_count;
    int (*triangles)[3]; /* vertex indices, counter-clockwise seen from outside */
} mesh;

/* Room for so many vertices and triangles, counts set, contents zero. *out is owned by the caller;
 * release with mesh_free. Both counts must be positive. */
HR_MUST_USE hr_status mesh_allocate(int vertex_count, int triangle_count, mesh *out);

/* Accepts an empty mesh and leaves an empty mesh. */
void mesh_free(mesh *m);

/* Reads STL, OBJ, DAE or PLY (told apart by content and suffix), every part of the file in one
 * mesh, in the file's own unit. Vertices at the same place are merged, triangles without area are
 * dropped; a file with a coordinate that is not finite, or with no triangle left, is refused. */
HR_MUST_USE hr_status mesh_load(const char *path, mesh *out, hr_error *error);

/* Merges vertices at exactly the same place, drops triangles that touch a vertex twice or have no
 * area, drops vertices that no triangle uses. Keeps the order of what stays. */
HR_MUST_USE hr_status mesh_weld(mesh *m);

/* Binary STL, for files that other programs read. */
HR_MUST_USE hr_status mesh_save_stl(const mesh *m, const char *path, hr_error *error);

/* Closed surfaces around the origin, the z axis is the axis of the round ones. */
HR_MUST_USE hr_status mesh_make_box(vec3 size, mesh *out);
HR_MUST_USE hr_status mesh_make_cylinder(double radius, double length, int segments, mesh *out);

/* `rings` circles of `segments` vertices between two poles: 2 rings segments triangles. */
HR_MUST_USE hr_status mesh_make_sphere(double radius, int rings, int segments, mesh *out);

/* A cylinder of `length` between two half spheres; `rings` must be even. */
HR_MUST_USE hr_status mesh_make_capsule(double radius, double length, int rings, int segments,
                                        mesh *out);

/* An icosahedron whose edges are divided into `frequency` parts: 20 frequency^2 triangles, each
 * vertex in its direction u (unit) at the distance that the function gives. */
enum { MESH_FREQUENCY_MAX = 200 };
typedef double (*mesh_radius)(vec3 u, const void *context);
HR_MUST_USE hr_status mesh_make_geodesic(int frequency, mesh_radius radius, const void *context,
                                         mesh *out);

/* Geodesic meshes by name: "ball-N" of radius 1, "blob-N", which is smooth and has hollows; N is
 * the frequency: "blob-100" has 200 000 triangles. HR_ERR_NOT_FOUND for other names,
 * HR_ERR_ARGUMENT for an N out of range. */
HR_MUST_USE hr_status mesh_make(const char *name, mesh *out);

/* The blob's radius in direction u: 1 + 0.12 sin 5x cos(4y + 1) sin(6z + 0.5). */
double mesh_blob_radius(vec3 u);

#endif
