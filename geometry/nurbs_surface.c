#include "geometry/nurbs_surface.h"

#include <stdlib.h>
#include <string.h>

static hr_status check_points(const nurbs_surface *s, hr_error *error)
{
    for (int i = 0; i < s->count[0]; i++)
        for (int j = 0; j < s->count[1]; j++) {
            const double *p = s->points + 4L * ((long)i * s->count[1] + j);
            if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]) || !isfinite(p[3]))
                return error_set(error, HR_ERR_NOT_FINITE,
                                 "expected finite numbers for point [%d][%d], found %g %g %g "
                                 "weight %g",
                                 i, j, p[0], p[1], p[2], p[3]);
            if (!(p[3] > 0))
                return error_set(error, HR_ERR_FORMAT,
                                 "expected a positive weight for point [%d][%d], found %g", i, j,
                                 p[3]);
        }
    return HR_OK;
}

static hr_status allocate(nurbs_surface *s)
{
    size_t points = (size_t)s->count[0] * (size_t)s->count[1];
    bool is_whole = true;
    for (int d = 0; d < 2; d++) {
        size_t count = (size_t)s->count[d];
        s->knots[d] = malloc((count + (size_t)s->degree[d] + 1) * sizeof(double));
        s->breaks[d] = malloc((count + 1) * sizeof(double));
        is_whole = is_whole && s->knots[d] && s->breaks[d];
    }
    s->points = malloc(points * 4 * sizeof(double));
    return is_whole && s->points ? HR_OK : HR_ERR_MEMORY;
}

/* Bezier points of span row su in u, for every control column, then of every span in v. `strip`
 * holds (degree u + 1) x count v homogeneous points. */
static void cut_strip(nurbs_surface *s, int su, int first_u, const int *first_v, double *strip)
{
    int nv = s->count[1], order_u = s->degree[0] + 1;
    for (int j = 0; j < nv; j++)
        nurbs_span_to_bezier(s->degree[0], s->knots[0], first_u,
                             s->points + 4L * ((long)(first_u - s->degree[0]) * nv + j), 4 * nv,
                             strip + 4L * j, 4 * nv);
    for (int sv = 0; sv < s->span_count[1]; sv++) {
        double *piece =
            s->pieces + 4L * order_u * (s->degree[1] + 1) * ((long)su * s->span_count[1] + sv);
        for (int i = 0; i < order_u; i++)
            nurbs_span_to_bezier(s->degree[1], s->knots[1], first_v[sv],
                                 strip + 4L * ((long)i * nv + first_v[sv] - s->degree[1]), 4,
                                 piece + 4L * i * (s->degree[1] + 1), 4);
    }
}

static hr_status cut(nurbs_surface *s)
{
    hr_status status = HR_ERR_MEMORY;
    int *first_u = malloc((size_t)s->count[0] * sizeof *first_u);
    int *first_v = malloc((size_t)s->count[1] * sizeof *first_v);
    double *strip = malloc((size_t)(s->degree[0] + 1) * (size_t)s->count[1] * 4 * sizeof(double));
    if (!first_u || !first_v || !strip)
        goto done;
    s->span_count[0] = nurbs_breaks(s->degree[0], s->count[0], s->knots[0], s->breaks[0], first_u);
    s->span_count[1] = nurbs_breaks(s->degree[1], s->count[1], s->knots[1], s->breaks[1], first_v);
    size_t pieces = (size_t)s->span_count[0] * (size_t)s->span_count[1];
    size_t order = (size_t)(s->degree[0] + 1) * (size_t)(s->degree[1] + 1);
    s->pieces = malloc(pieces * order * 4 * sizeof(double));
    if (!s->pieces)
        goto done;
    for (int su = 0; su < s->span_count[0]; su++)
        cut_strip(s, su, first_u[su], first_v, strip);
    for (long i = 1; i < (long)s->count[0] * s->count[1]; i++)
        s->is_rational |= s->points[4 * i + 3] != s->points[3];
    status = HR_OK;
done:
    free(first_u);
    free(first_v);
    free(strip);
    return status;
}

hr_status nurbs_surface_make(const int degree[2], const int count[2], const double *knots_u,
                             int knot_count_u, const double *knots_v, int knot_count_v,
                             const double *points, nurbs_surface *out, hr_error *error)
{
    hr_status status = nurbs_knots_check("u", degree[0], count[0], knots_u, knot_count_u, error);
    if (status == HR_OK)
        status = nurbs_knots_check("v", degree[1], count[1], knots_v, knot_count_v, error);
    if (status != HR_OK)
        return status;
    if ((long)count[0] * count[1] > (1L << 20))
        return error_set(error, HR_ERR_CAPACITY,
                         "expected at most %ld control points, found %d x %d", 1L << 20, count[0],
                         count[1]);
    nurbs_surface s = {.degree = {degree[0], degree[1]}, .count = {count[0], count[1]}};
#ifdef __x86_64__
    s.is_wide = __builtin_cpu_supports("avx");
#endif
    status = allocate(&s);
    if (status == HR_OK) {
        memcpy(s.knots[0], knots_u, (size_t)knot_count_u * sizeof(double));
        memcpy(s.knots[1], knots_v, (size_t)knot_count_v * sizeof(double));
        memcpy(s.points, points, (size_t)count[0] * (size_t)count[1] * 4 * sizeof(double));
        status = check_points(&s, error);
        if (status == HR_OK)
            status = cut(&s);
    }
    if (status == HR_ERR_MEMORY)
        error_set(error, status, "expected memory for %d x %d control points", count[0], count[1]);
    if (status != HR_OK) {
        nurbs_surface_free(&s);
        return status;
    }
    *out = s;
    return HR_OK;
}

void nurbs_surface_free(nurbs_surface *s)
{
    for (int d = 0; d < 2; d++) {
        free(s->knots[d]);
        free(s->breaks[d]);
    }
    free(s->points);
    free(s->pieces);
    memset(s, 0, sizeof *s);
}

hr_status nurbs_surface_iso_curve(const nurbs_surface *s, int direction, double x, nurbs_curve *out,
                                  hr_error *error)
{
    int other = 1 - direction, count = s->count[other];
    double *row = malloc((size_t)count * 4 * sizeof(double));
    if (!row)
        return error_set(error, HR_ERR_MEMORY, "expected memory for %d control points", count);
    /* The homogeneous control points of the curve are splines in the fixed parameter. */
    int step = direction == 0 ? s->count[1] : 1, stride = direction == 0 ? 1 : s->count[1];
    double *line = malloc((size_t)s->count[direction] * 4 * sizeof(double));
    hr_status status = line ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; status == HR_OK && i < count; i++) {
        for (int k = 0; k < s->count[direction]; k++)
            memcpy(line + 4L * k, s->points + 4L * ((long)i * stride + (long)k * step),
                   4 * sizeof(double));
        nurbs_evaluate_homogeneous(s->degree[direction], s->count[direction], s->knots[direction],
                                   line, x, row + 4L * i);
    }
    if (status == HR_OK)
        status = nurbs_curve_make(s->degree[other], count, s->knots[other],
                                  count + s->degree[other] + 1, row, out, error);
    free(line);
    free(row);
    return status;
}
