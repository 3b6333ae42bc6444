/* A triangle mesh made ready to be touched: who is next to whom, a tree of boxes, and normals at
 * the corners that make a smooth surface of it. Built once, at load; both threads read it.
 *
 * The touched surface is not the flat triangles but a curved one through the same vertices: at the
 * barycentric place b of a triangle with corners v_i and corner normals n_i
 *
 *     c = sum b_i v_i,   surface = c + 1/2 sum b_i ((v_i - c) . n_i) n_i,   normal ~ sum b_i n_i,
 *
 * which is exact to second order (a ball of 2000 facets is round to a micrometre) and continuous
 * over edges. Across edges sharper than the crease angle normals are not shared: flat faces stay
 * flat and edges sharp. */
#ifndef COLLIDE_TOUCH_MESH_H
#define COLLIDE_TOUCH_MESH_H

#include <stdint.h>

#include "geometry/mesh.h"

typedef struct touch_node {
    double low[3], high[3]; /* m */
    vec3 facing;            /* unit: mean of the triangles' normals */
    double same_sheet;      /* a direction with at least this cosine to `facing` is within
                               TOUCH_MESH_SHEET_RAD of every triangle; 2: none is */
    int32_t left;           /* the children are left and left + 1; -1: a leaf */
    int32_t first, count;   /* triangles of a leaf */
    int32_t reserved;
} touch_node;

typedef struct touch_triangle {
    vec3 corners[3];   /* m */
    vec3 normals[3];   /* unit, at the corners */
    vec3 normal;       /* unit, of the flat triangle */
    int32_t vertex[3]; /* place in the mesh */
    int32_t next[3];   /* the triangle across the edge from corner i to i + 1; -1: none */
    bool is_sharp[3];  /* that edge is a crease or a border */
} touch_triangle;

typedef struct touch_mesh {
    int triangle_count, node_count, vertex_count;
    touch_triangle *triangles; /* in the order of the leaves */
    touch_node *nodes;         /* nodes[0] is the root */
    int32_t *fan_first; /* by vertex: where its triangles begin in fans; one more at the end */
    int32_t *fans;
    double radius;  /* m, the farthest vertex from the origin */
    bool is_closed; /* every edge lies between two triangles */
} touch_mesh;

/* Edges sharper than crease_rad keep their edge; 0 makes every edge sharp. The mesh is copied.
 * *out is owned by the caller; release with touch_mesh_destroy. */
HR_MUST_USE hr_status touch_mesh_create(const mesh *m, double crease_rad, touch_mesh **out);
void touch_mesh_destroy(touch_mesh *m); /* accepts NULL */

/* 40 degrees: what modellers call smooth stays below, corners of boxes and tools stay above. */
#define TOUCH_MESH_CREASE_RAD 0.7

/* Triangles turned less than this from each other are taken for one sheet: 30 degrees. */
#define TOUCH_MESH_SHEET_RAD 0.5236

#endif
