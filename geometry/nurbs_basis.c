#include "geometry/nurbs_basis.h"

#include <math.h>
#include <stddef.h>

hr_status nurbs_knots_check(const char *name, int degree, int count, const double *knots,
                            int knot_count, hr_error *error)
{
    if (degree < 1 || degree > NURBS_DEGREE_MAX)
        return error_set(error, HR_ERR_FORMAT, "expected a degree from 1 to %d in %s, found %d",
                         NURBS_DEGREE_MAX, name, degree);
    if (count < degree + 1 || count > NURBS_POINTS_MAX)
        return error_set(error, HR_ERR_FORMAT,
                         "expected %d to %d control points in %s for degree %d, found %d",
                         degree + 1, NURBS_POINTS_MAX, name, degree, count);
    if (knot_count != count + degree + 1)
        return error_set(error, HR_ERR_FORMAT,
                         "expected %d knots in %s (%d points, degree %d), found %d",
                         count + degree + 1, name, count, degree, knot_count);
    for (int i = 0; i < knot_count; i++)
        if (!isfinite(knots[i]) || fabs(knots[i]) > 1e100)
            return error_set(error, HR_ERR_NOT_FINITE,
                             "expected a finite number for knot %d in %s, found %g", i, name,
                             knots[i]);
    double range = knots[count] - knots[degree];
    for (int i = 1; i < knot_count; i++)
        if (knots[i] < knots[i - 1])
            return error_set(error, HR_ERR_FORMAT,
                             "expected knots in %s that never fall, found %.9g after %.9g (knot "
                             "%d)",
                             name, knots[i], knots[i - 1], i);
    if (!(range > 0))
        return error_set(error, HR_ERR_FORMAT,
                         "expected knots in %s with a range, found %.9g to %.9g", name,
                         knots[degree], knots[count]);
    for (int i = degree; i < count; i++) {
        double width = knots[i + 1] - knots[i];
        if (width > 0 && width < 1e-10 * range)
            return error_set(error, HR_ERR_FORMAT,
                             "expected knots in %s equal or at least 1e-10 of the range apart, "
                             "found %.17g and %.17g (knot %d)",
                             name, knots[i], knots[i + 1], i);
    }
    for (int i = 1; i + degree < knot_count - 1; i++)
        if (knots[i] == knots[i + degree] && knots[i] > knots[degree] && knots[i] < knots[count])
            return error_set(error, HR_ERR_FORMAT,
                             "expected inner knots in %s at most %d times, found %.9g more often",
                             name, degree, knots[i]);
    return HR_OK;
}

int nurbs_breaks(int degree, int count, const double *knots, double *breaks, int *first)
{
    int spans = 0;
    for (int k = degree; k < count; k++) {
        if (knots[k] == knots[k + 1])
            continue;
        first[spans] = k;
        breaks[spans++] = knots[k];
    }
    breaks[spans] = knots[count];
    return spans;
}

/* De Boor's triangle with a different argument in every round is the blossom; the Bezier points of
 * [a, b] are its values at (a, .., a, b, .., b) (Ramshaw 1989). All weights are in [0, 1]. */
static void blossom(int degree, const double *knots, int span, const double *in, int in_stride,
                    int at_end, double *out)
{
    double d[NURBS_ORDER_MAX][4];
    for (int j = 0; j <= degree; j++)
        for (int c = 0; c < 4; c++)
            d[j][c] = in[j * in_stride + c];
    for (int r = 1; r <= degree; r++) {
        double x = r <= at_end ? knots[span + 1] : knots[span];
        for (int j = degree; j >= r; j--) {
            double low = knots[span - degree + j], high = knots[span + 1 + j - r];
            double s = (x - low) / (high - low);
            for (int c = 0; c < 4; c++)
                d[j][c] = (1.0 - s) * d[j - 1][c] + s * d[j][c];
        }
    }
    for (int c = 0; c < 4; c++)
        out[c] = d[degree][c];
}

void nurbs_span_to_bezier(int degree, const double *knots, int span, const double *in,
                          int in_stride, double *out, int out_stride)
{
    for (int i = 0; i <= degree; i++)
        blossom(degree, knots, span, in, in_stride, i, out + (ptrdiff_t)i * out_stride);
}

void nurbs_evaluate_homogeneous(int degree, int count, const double *knots, const double *points,
                                double x, double out[4])
{
    int span = degree;
    while (span < count - 1 && (knots[span + 1] <= x || knots[span] == knots[span + 1]))
        span++;
    while (span > degree && knots[span] == knots[span + 1])
        span--;
    double d[NURBS_ORDER_MAX][4];
    for (int j = 0; j <= degree; j++)
        for (int c = 0; c < 4; c++)
            d[j][c] = points[4L * (span - degree + j) + c];
    for (int r = 1; r <= degree; r++)
        for (int j = degree; j >= r; j--) {
            double low = knots[span - degree + j], high = knots[span + 1 + j - r];
            double s = (x - low) / (high - low);
            for (int c = 0; c < 4; c++)
                d[j][c] = (1.0 - s) * d[j - 1][c] + s * d[j][c];
        }
    for (int c = 0; c < 4; c++)
        out[c] = d[degree][c];
}
