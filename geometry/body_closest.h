/* The globally nearest point of a body, proven: no point of the body is nearer by more than 1e-10
 * of its size. For seeding, for `haptic closest` and as the reference of trackers; not for the
 * servo.
 *
 * Method: branch and bound over Bezier pieces. With A = w S the homogeneous piece, relative to the
 * asked point, |A|^2 and w^2 are polynomials; the ratio of their Bernstein coefficients bounds the
 * squared distance from below, with an error that falls with the square of the piece's size, so
 * that only a handful of pieces per level survive (and a whole family of equally near points, as
 * seen from the centre of a sphere, is closed at once). Newton's method gives the upper bound. */
#ifndef GEOMETRY_BODY_CLOSEST_H
#define GEOMETRY_BODY_CLOSEST_H

#include "geometry/parametric_body.h"

typedef struct body_nearest {
    int face;        /* or edge, in a planar body */
    int patch;       /* surface of the face (curve of a planar body): its number in the file */
    double u, v;     /* the surface's parameters (a curve's and 0 in a planar body) */
    vec3 p;          /* the nearest point */
    vec3 normal;     /* out of the body: at an edge or vertex the mean of what meets there */
    double distance; /* m; negative inside a closed body */
    int nodes;       /* pieces that were looked at */
} body_nearest;

/* Room for queries; one per thread. NULL when out of memory. The body must outlive it. */
typedef struct body_finder body_finder;
body_finder *body_finder_create(const parametric_body *b);
void body_finder_destroy(body_finder *f);

/* HR_ERR_NOT_FINITE for a point that is not; HR_ERR_MEMORY. Otherwise *out is the proven nearest
 * point (where several are equally near, one of them); with HR_ERR_MAX_ITER the nearest found, but
 * rounding (control points far beyond the rest) kept the search from proving it. */
HR_MUST_USE hr_status body_find_nearest(body_finder *f, vec3 point, body_nearest *out);

/* The local minimum of the distance that is reached from (face, u, v) downhill, across edges and
 * vertices: what a tracker that started there would follow. HR_ERR_NOT_FINITE as above. */
HR_MUST_USE hr_status body_descend(const parametric_body *b, int face, double u, double v,
                                   vec3 point, body_nearest *out);

/* --- shared by the two ------------------------------------------------------------------------ */

/* Newton with descent on one face (edge of a planar body) from (u, v), clamped to its rectangle. */
void body_polish(const parametric_body *b, int face, vec3 point, double uv[2], vec3 *foot);

/* Fills p, normal, patch and the signed distance of face, u, v. */
void body_nearest_finish(const parametric_body *b, vec3 point, body_nearest *n);

#endif
