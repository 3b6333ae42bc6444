/* What curves and surfaces share: checked knot vectors, their cutting into Bezier pieces, and
 * Bernstein polynomials with two derivatives.
 *
 * A spline is evaluated from its Bezier pieces: they are made once at load by blossoming, which
 * takes any knots (clamped or not, any multiplicity up to the degree), and a piece needs no knot
 * arithmetic afterwards. */
#ifndef GEOMETRY_NURBS_BASIS_H
#define GEOMETRY_NURBS_BASIS_H

#include "geometry/error.h"

enum { NURBS_DEGREE_MAX = 7, NURBS_ORDER_MAX = NURBS_DEGREE_MAX + 1, NURBS_POINTS_MAX = 4096 };

/* Degree, count of control points, count + degree + 1 knots that never fall, a domain that is not
 * empty, no inner knot more often than the degree (that would tear the spline apart). `name` is
 * what the message calls the direction ("u"). */
HR_MUST_USE hr_status nurbs_knots_check(const char *name, int degree, int count,
                                        const double *knots, int knot_count, hr_error *error);

/* Distinct knots of the domain: breaks[0] .. breaks[spans]; spans of them at most count - degree.
 * first[i] is the knot index k with knots[k] = breaks[i] < knots[k + 1]. Returns spans. */
int nurbs_breaks(int degree, int count, const double *knots, double *breaks, int *first);

/* Bezier control points of one span from the degree + 1 spline control points that shape it;
 * both are arrays of homogeneous points, `stride` doubles apart. span is the k of nurbs_breaks. */
void nurbs_span_to_bezier(int degree, const double *knots, int span, const double *in,
                          int in_stride, double *out, int out_stride);

/* The homogeneous point of a spline at x in its domain, by de Boor's triangle; for construction,
 * the pieces are faster. */
void nurbs_evaluate_homogeneous(int degree, int count, const double *knots, const double *points,
                                double x, double out[4]);

/* Where a parameter lies: the piece used last is tried first. {0} is a valid start. */
typedef struct nurbs_span {
    int u, v; /* piece index in each direction */
} nurbs_span;

/* The piece among low .. high (inclusive) that holds x, starting from the piece `last`; x outside
 * goes to the nearest. Where x is a break, both neighbours hold it and the last one wins. */
HR_RT static inline int nurbs_find_span(const double *breaks, int low, int high, int last, double x)
{
    int i = last < low ? low : last > high ? high : last;
    if (x >= breaks[i] && x <= breaks[i + 1])
        return i;
    if (i < high && x > breaks[i + 1] && x <= breaks[i + 2])
        return i + 1;
    if (i > low && x < breaks[i] && x >= breaks[i - 1])
        return i - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (x >= breaks[middle])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Bernstein polynomials of one degree at t in [0, 1]. */
HR_RT static inline void bernstein_values(int degree, double t, double *out)
{
    double s = 1.0 - t;
    out[0] = 1.0;
    for (int d = 1; d <= degree; d++) {
        double carried = 0.0;
        for (int i = 0; i < d; i++) {
            double here = out[i];
            out[i] = carried + s * here;
            carried = t * here;
        }
        out[d] = carried;
    }
}

/* Bernstein polynomials of one degree and their first two derivatives at t in [0, 1]. */
typedef struct bernstein {
    double b[3][NURBS_ORDER_MAX]; /* [derivative][i] */
} bernstein;

HR_RT __attribute__((always_inline)) static inline void
bernstein_raise(int degree, double t, const double *in, double *out)
{
    double s = 1.0 - t;
    out[0] = s * in[0];
    for (int i = 1; i < degree; i++)
        out[i] = t * in[i - 1] + s * in[i];
    out[degree] = t * in[degree - 1];
}

/* scale = dt/dx, x the parameter of the spline: derivatives come out by x. */
HR_RT __attribute__((always_inline)) static inline void
bernstein_evaluate(int degree, double t, double scale, bernstein *out)
{
    double low[NURBS_ORDER_MAX], middle[NURBS_ORDER_MAX];
    low[0] = 1.0;
    if (degree == 1) {
        out->b[0][0] = 1.0 - t;
        out->b[0][1] = t;
        out->b[1][0] = -scale;
        out->b[1][1] = scale;
        out->b[2][0] = out->b[2][1] = 0.0;
        return;
    }
    for (int d = 1; d <= degree - 2; d++) {
        bernstein_raise(d, t, low, middle);
        for (int i = 0; i <= d; i++)
            low[i] = middle[i];
    }
    bernstein_raise(degree - 1, t, low, middle);
    bernstein_raise(degree, t, middle, out->b[0]);
    double first = degree * scale, second = degree * (degree - 1) * scale * scale;
    out->b[1][0] = -first * middle[0];
    for (int i = 1; i < degree; i++)
        out->b[1][i] = first * (middle[i - 1] - middle[i]);
    out->b[1][degree] = first * middle[degree - 1];
    for (int i = 0; i <= degree; i++) {
        double left = i >= 2 ? low[i - 2] : 0.0;
        double here = i >= 1 && i < degree ? low[i - 1] : 0.0;
        double right = i <= degree - 2 ? low[i] : 0.0;
        out->b[2][i] = second * (left - 2.0 * here + right);
    }
}

#endif
