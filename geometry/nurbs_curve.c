#include "geometry/nurbs_curve.h"

#include <stdlib.h>
#include <string.h>

static hr_status check_points(const nurbs_curve *c, hr_error *error)
{
    for (int i = 0; i < c->count; i++) {
        const double *p = c->points + 4L * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]) || !isfinite(p[3]))
            return error_set(error, HR_ERR_NOT_FINITE,
                             "expected finite numbers for point %d, found %g %g %g weight %g", i,
                             p[0], p[1], p[2], p[3]);
        if (!(p[3] > 0))
            return error_set(error, HR_ERR_FORMAT,
                             "expected a positive weight for point %d, found %g", i, p[3]);
    }
    return HR_OK;
}

static hr_status allocate(nurbs_curve *c)
{
    size_t count = (size_t)c->count, order = (size_t)c->degree + 1;
    c->knots = malloc((count + order) * sizeof(double));
    c->points = malloc(count * 4 * sizeof(double));
    c->breaks = malloc((count + 1) * sizeof(double));
    c->pieces = malloc(count * order * 4 * sizeof(double));
    return c->knots && c->points && c->breaks && c->pieces ? HR_OK : HR_ERR_MEMORY;
}

static hr_status cut(nurbs_curve *c)
{
    int *first = malloc((size_t)c->count * sizeof *first);
    if (!first)
        return HR_ERR_MEMORY;
    c->span_count = nurbs_breaks(c->degree, c->count, c->knots, c->breaks, first);
    for (int i = 0; i < c->span_count; i++)
        nurbs_span_to_bezier(c->degree, c->knots, first[i], c->points + 4L * (first[i] - c->degree),
                             4, c->pieces + 4L * (c->degree + 1) * i, 4);
    free(first);
    for (int i = 1; i < c->count; i++)
        c->is_rational |= c->points[4L * i + 3] != c->points[3];
    return HR_OK;
}

hr_status nurbs_curve_make(int degree, int count, const double *knots, int knot_count,
                           const double *points, nurbs_curve *out, hr_error *error)
{
    hr_status status = nurbs_knots_check("t", degree, count, knots, knot_count, error);
    if (status != HR_OK)
        return status;
    nurbs_curve c = {.degree = degree, .count = count};
    status = allocate(&c);
    if (status != HR_OK) {
        error_set(error, status, "expected memory for %d control points", count);
        goto fail;
    }
    memcpy(c.knots, knots, (size_t)knot_count * sizeof(double));
    memcpy(c.points, points, (size_t)count * 4 * sizeof(double));
    status = check_points(&c, error);
    if (status != HR_OK)
        goto fail;
    status = cut(&c);
    if (status != HR_OK)
        goto fail;
    *out = c;
    return HR_OK;
fail:
    nurbs_curve_free(&c);
    return status;
}

void nurbs_curve_free(nurbs_curve *c)
{
    free(c->knots);
    free(c->points);
    free(c->breaks);
    free(c->pieces);
    memset(c, 0, sizeof *c);
}

HR_RT void nurbs_curve_jet(const nurbs_curve *c, double t, nurbs_span *span, jet *out)
{
    nurbs_span fresh = {0, 0};
    nurbs_span *s = span ? span : &fresh;
    double low = nurbs_curve_low(c), high = nurbs_curve_high(c);
    t = t < low ? low : t > high ? high : t;
    s->u = nurbs_find_span(c->breaks, 0, c->span_count - 1, s->u, t);
    double start = c->breaks[s->u], scale = 1.0 / (c->breaks[s->u + 1] - start);
    bernstein b;
    bernstein_evaluate(c->degree, (t - start) * scale, scale, &b);

    const double *p = c->pieces + 4L * (c->degree + 1) * s->u;
    double a[3][4] = {{0}};
    for (int i = 0; i <= c->degree; i++, p += 4)
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 4; k++)
                a[d][k] += b.b[d][i] * p[k];

    /* A = w S: S' = (A' - w' S) / w, S'' = (A'' - 2 w' S' - w'' S) / w */
    double w = 1.0 / a[0][3];
    vec3 point = vec3_scale(w, (vec3){a[0][0], a[0][1], a[0][2]});
    vec3 first = {a[1][0], a[1][1], a[1][2]}, second = {a[2][0], a[2][1], a[2][2]};
    first = vec3_scale(w, vec3_add_scaled(first, -a[1][3], point));
    second = vec3_add_scaled(second, -2.0 * a[1][3], first);
    out->p = point;
    out->d1[0] = first;
    out->d2[0] = vec3_scale(w, vec3_add_scaled(second, -a[2][3], point));
}

HR_RT vec3 nurbs_curve_point(const nurbs_curve *c, double t)
{
    jet j;
    nurbs_curve_jet(c, t, NULL, &j);
    return j.p;
}
