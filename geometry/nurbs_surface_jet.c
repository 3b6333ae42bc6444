/* Evaluation of a surface: the inner loop of witness tracking. */
#include "geometry/nurbs_surface.h"

#include <stddef.h>

/* Two coordinates at once: what every 64-bit PC adds and multiplies in one go. */
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

typedef struct homogeneous {
    two xy, zw;
} homogeneous;

#define HR_FLAT __attribute__((always_inline)) inline

HR_RT static HR_FLAT void add_scaled(homogeneous *sum, double factor, const homogeneous *p)
{
    two both = {factor, factor};
    sum->xy += both * p->xy;
    sum->zw += both * p->zw;
}

/* Sums over the rows (u) of the sums over the columns (v): six homogeneous derivatives, in the
 * order value, u, v, uu, uv, vv. Inlined with constant degrees for the usual ones. */
HR_RT static HR_FLAT void accumulate(const double *restrict p, int degree_u, int degree_v,
                                     const bernstein *bu, const bernstein *bv,
                                     homogeneous a[restrict 6])
{
    for (int m = 0; m < 6; m++)
        a[m] = (homogeneous){{0, 0}, {0, 0}};
    for (int i = 0; i <= degree_u; i++) {
        homogeneous r0 = {{0, 0}, {0, 0}}, r1 = r0, r2 = r0;
        for (int j = 0; j <= degree_v; j++, p += 4) {
            homogeneous q = {*(const two *)p, *(const two *)(p + 2)};
            add_scaled(&r0, bv->b[0][j], &q);
            add_scaled(&r1, bv->b[1][j], &q);
            add_scaled(&r2, bv->b[2][j], &q);
        }
        add_scaled(&a[0], bu->b[0][i], &r0);
        add_scaled(&a[1], bu->b[1][i], &r0);
        add_scaled(&a[2], bu->b[0][i], &r1);
        add_scaled(&a[3], bu->b[2][i], &r0);
        add_scaled(&a[4], bu->b[1][i], &r1);
        add_scaled(&a[5], bu->b[0][i], &r2);
    }
}

HR_RT static inline vec3 part(const homogeneous *a)
{
    return (vec3){a->xy[0], a->xy[1], a->zw[0]};
}

/* A = w S: S_u = (A_u - w_u S) / w, S_uv = (A_uv - w_u S_v - w_v S_u - w_uv S) / w, and so on. */
HR_RT static inline void divide(const homogeneous a[6], jet *out)
{
    double w = 1.0 / a[0].zw[1], wu = a[1].zw[1], wv = a[2].zw[1];
    vec3 s = vec3_scale(w, part(&a[0]));
    vec3 su = vec3_scale(w, vec3_add_scaled(part(&a[1]), -wu, s));
    vec3 sv = vec3_scale(w, vec3_add_scaled(part(&a[2]), -wv, s));
    vec3 suu = vec3_add_scaled(vec3_add_scaled(part(&a[3]), -2.0 * wu, su), -a[3].zw[1], s);
    vec3 svv = vec3_add_scaled(vec3_add_scaled(part(&a[5]), -2.0 * wv, sv), -a[5].zw[1], s);
    vec3 suv = vec3_add_scaled(vec3_add_scaled(part(&a[4]), -wu, sv), -wv, su);
    out->p = s;
    out->d1[0] = su;
    out->d1[1] = sv;
    out->d2[JET_UU] = vec3_scale(w, suu);
    out->d2[JET_UV] = vec3_scale(w, vec3_add_scaled(suv, -a[4].zw[1], s));
    out->d2[JET_VV] = vec3_scale(w, svv);
}

/* One piece; the degrees are constants wherever this is called with constants. */
HR_RT static HR_FLAT void evaluate(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   int degree_u, int degree_v, jet *out)
{
    double u0 = s->breaks[0][span.u], v0 = s->breaks[1][span.v];
    double scale_u = 1.0 / (s->breaks[0][span.u + 1] - u0);
    double scale_v = 1.0 / (s->breaks[1][span.v + 1] - v0);
    bernstein bu, bv;
    homogeneous a[6];
    bernstein_evaluate(degree_u, (u - u0) * scale_u, scale_u, &bu);
    bernstein_evaluate(degree_v, (v - v0) * scale_v, scale_v, &bv);
    accumulate(nurbs_surface_piece(s, span), degree_u, degree_v, &bu, &bv, a);
    divide(a, out);
}

HR_RT void nurbs_surface_piece_jet(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   jet *out)
{
    int degree = s->degree[0] == s->degree[1] ? s->degree[0] : 0;
    if (degree == 3)
        evaluate(s, span, u, v, 3, 3, out);
    else if (degree == 2)
        evaluate(s, span, u, v, 2, 2, out);
    else if (degree == 4)
        evaluate(s, span, u, v, 4, 4, out);
    else if (degree == 5)
        evaluate(s, span, u, v, 5, 5, out);
    else
        evaluate(s, span, u, v, s->degree[0], s->degree[1], out);
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
