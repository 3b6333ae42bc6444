/* Rational B-spline curves in space: any degree up to 7, any knots, with two derivatives. */
#ifndef GEOMETRY_NURBS_CURVE_H
#define GEOMETRY_NURBS_CURVE_H

#include "geometry/jet.h"
#include "geometry/nurbs_basis.h"

typedef struct nurbs_curve {
    int degree;
    int count;        /* control points */
    double *knots;    /* count + degree + 1 */
    double *points;   /* homogeneous w x, w y, w z, w */
    int span_count;   /* Bezier pieces */
    double *breaks;   /* span_count + 1: where they meet; the domain is the first to the last */
    double *pieces;   /* (degree + 1) homogeneous points per piece */
    bool is_rational; /* some weight differs */
} nurbs_curve;

/* Copies what it is given. `points` are homogeneous: w x, w y, w z, w with w > 0. On failure *out
 * is untouched and the message says what was expected of which number. */
HR_MUST_USE hr_status nurbs_curve_make(int degree, int count, const double *knots, int knot_count,
                                       const double *points, nurbs_curve *out, hr_error *error);

/* Accepts an empty curve and leaves one. */
void nurbs_curve_free(nurbs_curve *c);

HR_RT static inline double nurbs_curve_low(const nurbs_curve *c)
{
    return c->breaks[0];
}

HR_RT static inline double nurbs_curve_high(const nurbs_curve *c)
{
    return c->breaks[c->span_count];
}

/* Position, first and second derivative (d1[0], d2[0]; the rest of *out is left alone). t outside
 * the domain is clamped to it. span: see nurbs_span, field u; may be NULL. */
HR_RT void nurbs_curve_jet(const nurbs_curve *c, double t, nurbs_span *span, jet *out);

HR_RT vec3 nurbs_curve_point(const nurbs_curve *c, double t);

#endif
