/* OpenCASCADE's global projection onto one surface. */
#ifndef TESTS_BENCH_PEER_CLOSEST_H
#define TESTS_BENCH_PEER_CLOSEST_H

#ifdef __cplusplus
extern "C" {
#endif

/* points [u][v] homogeneous, as in a nurbs_surface. */
void *peer_surface_create(const int degree[2], const int count[2], const double *knots_u,
                          const double *knots_v, const double *points);
void peer_surface_destroy(void *surface);

/* Distance of the nearest of all extrema; a negative number if there is none. */
double peer_surface_distance(void *surface, double x, double y, double z);

#ifdef __cplusplus
}
#endif

#endif
