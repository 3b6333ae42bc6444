/* Rational B-spline surfaces: any degrees up to 7, any knots, with two derivatives. */
#ifndef GEOMETRY_NURBS_SURFACE_H
#define GEOMETRY_NURBS_SURFACE_H

#include "geometry/jet.h"
#include "geometry/nurbs_basis.h"
#include "geometry/nurbs_curve.h"

/* Index 0 is u, 1 is v throughout. */
typedef struct nurbs_surface {
    int degree[2];
    int count[2];      /* control points */
    double *knots[2];  /* count + degree + 1 */
    double *points;    /* [u][v] homogeneous: w x, w y, w z, w */
    int span_count[2]; /* Bezier pieces each way */
    double *breaks[2]; /* span_count + 1: where they meet; the domain is the first to the last */
    double *pieces;    /* [span u][span v][i][j] homogeneous Bezier points */
    bool is_rational;  /* some weight differs */
    bool is_wide;      /* this processor adds and multiplies four numbers at once */
} nurbs_surface;

/* Copies what it is given. `points` [u][v] are homogeneous: w x, w y, w z, w with w > 0. On failure
 * *out is untouched and the message says what was expected of which number. */
HR_MUST_USE hr_status nurbs_surface_make(const int degree[2], const int count[2],
                                         const double *knots_u, int knot_count_u,
                                         const double *knots_v, int knot_count_v,
                                         const double *points, nurbs_surface *out, hr_error *error);

/* Accepts an empty surface and leaves one. */
void nurbs_surface_free(nurbs_surface *s);

HR_RT static inline double nurbs_surface_low(const nurbs_surface *s, int direction)
{
    return s->breaks[direction][0];
}

HR_RT static inline double nurbs_surface_high(const nurbs_surface *s, int direction)
{
    return s->breaks[direction][s->span_count[direction]];
}

/* Position and all first and second derivatives. Parameters outside the domain are clamped to it.
 * span: the pieces used last, updated; may be NULL. */
HR_RT void nurbs_surface_jet(const nurbs_surface *s, double u, double v, nurbs_span *span,
                             jet *out);

/* The same from one known piece, also where (u, v) is on its border: the one-sided derivatives. */
HR_RT void nurbs_surface_piece_jet(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   jet *out);

HR_RT vec3 nurbs_surface_point(const nurbs_surface *s, double u, double v);

/* Bezier points of one piece, [i][j] homogeneous. */
HR_RT static inline const double *nurbs_surface_piece(const nurbs_surface *s, nurbs_span span)
{
    int order_u = s->degree[0] + 1, order_v = s->degree[1] + 1;
    return s->pieces + 4L * order_u * order_v * ((long)span.u * s->span_count[1] + span.v);
}

/* The curve on which parameter `direction` has the value x; its parameter is the other one. */
HR_MUST_USE hr_status nurbs_surface_iso_curve(const nurbs_surface *s, int direction, double x,
                                              nurbs_curve *out, hr_error *error);

#endif
