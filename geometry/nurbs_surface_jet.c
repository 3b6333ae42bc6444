/* Evaluation of a surface: the inner loop of witness tracking. */
#include "geometry/nurbs_surface.h"

#include <stddef.h>

/* w x, w y, w z, w at once. */
typedef double homogeneous __attribute__((vector_size(32), aligned(8), may_alias));

#define HR_FLAT __attribute__((always_inline)) inline

/* A direction's parameter within its piece, and what derivatives by the surface's parameter cost.
 */
typedef struct place {
    int degree;
    double t;                      /* 0 to 1 */
    double first, second;          /* factors of the derivatives */
    double basis[NURBS_ORDER_MAX]; /* Bernstein polynomials, two degrees lower */
} place;

HR_RT static HR_FLAT void take_place(const nurbs_surface *s, int direction, int piece, double x,
                                     place *out)
{
    double start = s->breaks[direction][piece];
    double scale = 1.0 / (s->breaks[direction][piece + 1] - start);
    int degree = s->degree[direction];
    int curved = degree < 2 ? 2 : degree; /* a line counts as the parabola that it is */
    out->degree = degree;
    out->t = (x - start) * scale;
    out->first = curved * scale;
    out->second = curved * (curved - 1) * scale * scale;
    bernstein_values(curved - 2, out->t, out->basis);
}

/* All but the last two rounds of de Casteljau's triangle at once: the parabola that touches the
 * curve at the parameter in place, first and second derivative. */
HR_RT static HR_FLAT void to_parabola(const double *points, int stride, const place *at,
                                      homogeneous out[3])
{
    const homogeneous *p = (const homogeneous *)points;
    homogeneous a = p[0], b = p[stride];
    if (at->degree == 1) {
        out[0] = a;
        out[1] = 0.5 * (a + b);
        out[2] = b;
        return;
    }
    homogeneous r0 = {0, 0, 0, 0}, r1 = r0, r2 = r0;
    p += 2L * stride;
    for (int i = 0; i <= at->degree - 2; i++, p += stride) {
        homogeneous c = *p;
        r0 += at->basis[i] * a;
        r1 += at->basis[i] * b;
        r2 += at->basis[i] * c;
        a = b;
        b = c;
    }
    out[0] = r0;
    out[1] = r1;
    out[2] = r2;
}

/* The parabola's value and derivatives. (By pointers: vectors of this size are no arguments that
 * all processors agree on.) */
HR_RT static HR_FLAT void from_parabola(const homogeneous *p0, const homogeneous *p1,
                                        const homogeneous *p2, const place *at, homogeneous out[3])
{
    homogeneous a = *p0, low = *p1 - a, bend = *p2 - *p1 - low;
    homogeneous slope = low + at->t * bend;
    out[0] = a + at->t * (low + slope);
    out[1] = at->first * slope;
    out[2] = at->second * bend;
}

HR_RT static HR_FLAT vec3 part(const homogeneous *a)
{
    return (vec3){(*a)[0], (*a)[1], (*a)[2]};
}

/* A = w S: S_u = (A_u - w_u S) / w, S_uv = (A_uv - w_u S_v - w_v S_u - w_uv S) / w, and so on. */
HR_RT static HR_FLAT void divide(const homogeneous a[6], jet *out)
{
    double w = 1.0 / a[0][3], wu = a[1][3], wv = a[2][3];
    vec3 s = vec3_scale(w, part(&a[0]));
    vec3 su = vec3_scale(w, vec3_add_scaled(part(&a[1]), -wu, s));
    vec3 sv = vec3_scale(w, vec3_add_scaled(part(&a[2]), -wv, s));
    double wuu = a[3][3]; /* NOLINT(clang-analyzer-*): it does not see stores to vectors */
    vec3 suu = vec3_add_scaled(vec3_add_scaled(part(&a[3]), -2.0 * wu, su), -wuu, s);
    vec3 svv = vec3_add_scaled(vec3_add_scaled(part(&a[5]), -2.0 * wv, sv), -a[5][3], s);
    vec3 suv = vec3_add_scaled(vec3_add_scaled(part(&a[4]), -wu, sv), -wv, su);
    out->p = s;
    out->d1[0] = su;
    out->d1[1] = sv;
    out->d2[JET_UU] = vec3_scale(w, suu);
    out->d2[JET_UV] = vec3_scale(w, vec3_add_scaled(suv, -a[4][3], s));
    out->d2[JET_VV] = vec3_scale(w, svv);
}

HR_RT static HR_FLAT void evaluate(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   jet *out)
{
    place at_u, at_v;
    take_place(s, 0, span.u, u, &at_u);
    take_place(s, 1, span.v, v, &at_v);
    homogeneous rows[NURBS_ORDER_MAX][3], columns[3][3], by_v[3][3];
    const double *p = nurbs_surface_piece(s, span);
    for (int i = 0; i <= at_u.degree; i++, p += 4L * (at_v.degree + 1))
        to_parabola(p, 1, &at_v, rows[i]);
    for (int k = 0; k < 3; k++) {
        homogeneous net[3];
        to_parabola((const double *)&rows[0][k], 3, &at_u, net);
        from_parabola(&net[0], &net[1], &net[2], &at_u, columns[k]);
    }
    /* by_v[k] holds the k-th derivative by u, and its derivatives by v */
    for (int k = 0; k < 3; k++)
        from_parabola(&columns[0][k], &columns[1][k], &columns[2][k], &at_v, by_v[k]);
    const homogeneous a[6] = {by_v[0][0], by_v[1][0], by_v[0][1],
                              by_v[2][0], by_v[1][1], by_v[0][2]};
    divide(a, out);
}

/* The same for processors that add and multiply four numbers at once. Both round alike, so that a
 * recording replays on either. */
#ifdef __x86_64__
HR_RT __attribute__((target("avx"))) static void
evaluate_wide(const nurbs_surface *s, nurbs_span span, double u, double v, jet *out)
{
    evaluate(s, span, u, v, out);
}
#else
#define evaluate_wide evaluate
#endif

HR_RT void nurbs_surface_piece_jet(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   jet *out)
{
    if (s->is_wide)
        evaluate_wide(s, span, u, v, out);
    else
        evaluate(s, span, u, v, out);
}

HR_RT void nurbs_surface_jet(const nurbs_surface *s, double u, double v, nurbs_span *span, jet *out)
{
    nurbs_span here = span ? *span : (nurbs_span){0, 0};
    double low_u = nurbs_surface_low(s, 0), high_u = nurbs_surface_high(s, 0);
    double low_v = nurbs_surface_low(s, 1), high_v = nurbs_surface_high(s, 1);
    u = u < low_u ? low_u : u > high_u ? high_u : u;
    v = v < low_v ? low_v : v > high_v ? high_v : v;
    here.u = nurbs_find_span(s->breaks[0], 0, s->span_count[0] - 1, here.u, u);
    here.v = nurbs_find_span(s->breaks[1], 0, s->span_count[1] - 1, here.v, v);
    if (span)
        *span = here;
    nurbs_surface_piece_jet(s, here, u, v, out);
}

HR_RT vec3 nurbs_surface_point(const nurbs_surface *s, double u, double v)
{
    jet j;
    nurbs_surface_jet(s, u, v, NULL, &j);
    return j.p;
}
