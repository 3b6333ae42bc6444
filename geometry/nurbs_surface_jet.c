/* Evaluation of a surface: the inner loop of witness tracking. */
#include "geometry/nurbs_surface.h"

#include <stddef.h>

typedef struct homogeneous {
    double c[4];
} homogeneous;

/* Sums over the rows (u) of the sums over the columns (v): six homogeneous derivatives, in the
 * order value, u, v, uu, uv, vv. Inlined with constant degrees for the usual ones. */
HR_RT static inline void accumulate(const double *restrict p, int degree_u, int degree_v,
                                    const bernstein *bu, const bernstein *bv,
                                    homogeneous a[restrict 6])
{
    for (int m = 0; m < 6; m++)
        for (int k = 0; k < 4; k++)
            a[m].c[k] = 0.0;
    for (int i = 0; i <= degree_u; i++) {
        double r0[4] = {0}, r1[4] = {0}, r2[4] = {0};
        for (int j = 0; j <= degree_v; j++, p += 4)
            for (int k = 0; k < 4; k++) {
                r0[k] += bv->b[0][j] * p[k];
                r1[k] += bv->b[1][j] * p[k];
                r2[k] += bv->b[2][j] * p[k];
            }
        double u0 = bu->b[0][i], u1 = bu->b[1][i], u2 = bu->b[2][i];
        for (int k = 0; k < 4; k++) {
            a[0].c[k] += u0 * r0[k];
            a[1].c[k] += u1 * r0[k];
            a[2].c[k] += u0 * r1[k];
            a[3].c[k] += u2 * r0[k];
            a[4].c[k] += u1 * r1[k];
            a[5].c[k] += u0 * r2[k];
        }
    }
}

HR_RT static inline vec3 part(const homogeneous *a)
{
    return (vec3){a->c[0], a->c[1], a->c[2]};
}

/* A = w S: S_u = (A_u - w_u S) / w, S_uv = (A_uv - w_u S_v - w_v S_u - w_uv S) / w, and so on. */
HR_RT static inline void divide(const homogeneous a[6], jet *out)
{
    double w = 1.0 / a[0].c[3], wu = a[1].c[3], wv = a[2].c[3];
    vec3 s = vec3_scale(w, part(&a[0]));
    vec3 su = vec3_scale(w, vec3_add_scaled(part(&a[1]), -wu, s));
    vec3 sv = vec3_scale(w, vec3_add_scaled(part(&a[2]), -wv, s));
    vec3 suu = vec3_add_scaled(vec3_add_scaled(part(&a[3]), -2.0 * wu, su), -a[3].c[3], s);
    vec3 svv = vec3_add_scaled(vec3_add_scaled(part(&a[5]), -2.0 * wv, sv), -a[5].c[3], s);
    vec3 suv = vec3_add_scaled(vec3_add_scaled(part(&a[4]), -wu, sv), -wv, su);
    out->p = s;
    out->d1[0] = su;
    out->d1[1] = sv;
    out->d2[JET_UU] = vec3_scale(w, suu);
    out->d2[JET_UV] = vec3_scale(w, vec3_add_scaled(suv, -a[4].c[3], s));
    out->d2[JET_VV] = vec3_scale(w, svv);
}

HR_RT void nurbs_surface_piece_jet(const nurbs_surface *s, nurbs_span span, double u, double v,
                                   jet *out)
{
    double u0 = s->breaks[0][span.u], v0 = s->breaks[1][span.v];
    double scale_u = 1.0 / (s->breaks[0][span.u + 1] - u0);
    double scale_v = 1.0 / (s->breaks[1][span.v + 1] - v0);
    double tu = (u - u0) * scale_u, tv = (v - v0) * scale_v;
    const double *p = nurbs_surface_piece(s, span);
    bernstein bu, bv;
    homogeneous a[6];
    if (s->degree[0] == 3 && s->degree[1] == 3) {
        bernstein_evaluate(3, tu, scale_u, &bu);
        bernstein_evaluate(3, tv, scale_v, &bv);
        accumulate(p, 3, 3, &bu, &bv, a);
    } else if (s->degree[0] == 2 && s->degree[1] == 2) {
        bernstein_evaluate(2, tu, scale_u, &bu);
        bernstein_evaluate(2, tv, scale_v, &bv);
        accumulate(p, 2, 2, &bu, &bv, a);
    } else {
        bernstein_evaluate(s->degree[0], tu, scale_u, &bu);
        bernstein_evaluate(s->degree[1], tv, scale_v, &bv);
        accumulate(p, s->degree[0], s->degree[1], &bu, &bv, a);
    }
    divide(a, out);
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
