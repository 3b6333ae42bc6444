/* What the benchmark asks of the peer: mesh b, placed by a rotation (row-major) and an origin in
 * the frame of mesh a; the distance is zero or below where they overlap. */
#ifndef TESTS_BENCH_PEER_CCD_BODIES_H
#define TESTS_BENCH_PEER_CCD_BODIES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_mesh peer_mesh;

peer_mesh *peer_mesh_create(const double *vertices, int vertex_count, const int *triangles,
                            int triangle_count);
void peer_mesh_destroy(peer_mesh *m);
double peer_mesh_distance(const peer_mesh *a, const peer_mesh *b, const double rotation[9],
                          const double origin[3]);

#ifdef __cplusplus
}
#endif

#endif
