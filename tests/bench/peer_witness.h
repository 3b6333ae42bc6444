/* The peers of the witness tracker: OpenCASCADE's extrema and FCL's GJK behind plain functions. */
#ifndef TESTS_BENCH_PEER_WITNESS_H
#define TESTS_BENCH_PEER_WITNESS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_surface peer_surface;

/* points [u][v] homogeneous, knots flat: as in our nurbs_surface. */
peer_surface *peer_surface_make(const int degree[2], const int count[2], const double *knots_u,
                                const double *knots_v, const double *points);
void peer_surface_free(peer_surface *s);

/* Local projection from the last foot (u, v), which it moves; returns the distance, or -1. */
double peer_project(peer_surface *s, const double point[3], double uv[2]);

/* Puts the surface at a rigid pose, three rows of rotation and origin; not part of what is timed.
 */
void peer_surface_place(peer_surface *s, const double pose[12]);

/* Smallest of all extrema of the face pair at their poses, or -1. */
double peer_extrema(peer_surface *a, peer_surface *b);

typedef struct peer_ellipsoids peer_ellipsoids;

/* is_libccd: FCL's GJK from libccd, else its own. */
peer_ellipsoids *peer_ellipsoids_make(const double a[3], const double b[3], int is_libccd,
                                      double tolerance);
void peer_ellipsoids_free(peer_ellipsoids *e);
void peer_ellipsoids_place(peer_ellipsoids *e, const double pose[12]);
double peer_ellipsoids_distance(peer_ellipsoids *e);

#ifdef __cplusplus
}
#endif

#endif
