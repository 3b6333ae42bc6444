#include "collide/witness_glide.h"

/* As in witness_point.c: the last step is made by Taylor's formula if it is below this share of a
 * Bezier piece. */
static const double taylor_share = 0.02;
/* Nearer to a side than this share of the range the automaton decides. */
static const double border_share = 1e-3;
/* Share of the first fundamental form's determinant that must be left of H. */
static const double least_share = 0.05;

/* True if x + dx is a small step in the piece and well inside the face. */
HR_RT static bool is_usual(const body_face *f, int i, const double *breaks, int piece, double x,
                           double dx)
{
    double width = breaks[piece + 1] - breaks[piece];
    double border = f->is_periodic[i] ? 0.0 : border_share * (f->high[i] - f->low[i]);
    double to = x + dx;
    return fabs(dx) < taylor_share * width && to > f->low[i] + border && to < f->high[i] - border;
}

/* a b^T + c d^T */
HR_RT static mat3 two_outer(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return (mat3){{{a.x * b.x + c.x * d.x, a.x * b.y + c.x * d.y, a.x * b.z + c.x * d.z},
                   {a.y * b.x + c.y * d.x, a.y * b.y + c.y * d.y, a.y * b.z + c.y * d.z},
                   {a.z * b.x + c.z * d.x, a.z * b.y + c.z * d.y, a.z * b.z + c.z * d.z}}};
}

HR_RT static vec3 combine(double s, vec3 a, double t, vec3 b)
{
    return vec3_add_scaled(vec3_scale(s, a), t, b);
}

HR_RT bool witness_glide(const parametric_body *b, int face, const double x[2], vec3 point,
                         witness_foot *out)
{
    const body_face *f = &b->faces[face];
    const nurbs_surface *surface = &b->surfaces[f->surface];
    double u = body_face_wrap(f, 0, x[0]), v = body_face_wrap(f, 1, x[1]);
    int piece_u = nurbs_find_span(surface->breaks[0], f->first.u, f->last.u, f->first.u, u);
    int piece_v = nurbs_find_span(surface->breaks[1], f->first.v, f->last.v, f->first.v, v);
    jet j;
    nurbs_surface_piece_jet(surface, (nurbs_span){piece_u, piece_v}, u, v, &j);

    /* H dx = g, with H = J^T J - (point - p) . J2 */
    vec3 fu = j.d1[0], fv = j.d1[1], apart = vec3_sub(point, j.p);
    double e = vec3_dot(fu, fu), m = vec3_dot(fu, fv), g = vec3_dot(fv, fv);
    double h00 = e - vec3_dot(apart, j.d2[JET_UU]);
    double h01 = m - vec3_dot(apart, j.d2[JET_UV]);
    double h11 = g - vec3_dot(apart, j.d2[JET_VV]);
    double first = e * g - m * m, det = h00 * h11 - h01 * h01;
    if (!(first > 1e-6 * e * g) || !(det > least_share * first) || !(h00 > least_share * e))
        return false;
    double share = 1.0 / det;
    vec3 lead_u = combine(share * h11, fu, -share * h01, fv);
    vec3 lead_v = combine(share * h00, fv, -share * h01, fu);
    double du = vec3_dot(lead_u, apart), dv = vec3_dot(lead_v, apart);
    if (!is_usual(f, 0, surface->breaks[0], piece_u, u, du) ||
        !is_usual(f, 1, surface->breaks[1], piece_v, v, dv))
        return false;

    vec3 turn_u = combine(du, j.d2[JET_UU], dv, j.d2[JET_UV]);
    vec3 turn_v = combine(du, j.d2[JET_UV], dv, j.d2[JET_VV]);
    vec3 way = combine(du, vec3_add_scaled(fu, 0.5, turn_u), dv, vec3_add_scaled(fv, 0.5, turn_v));
    vec3 cross = vec3_cross(vec3_add(fu, turn_u), vec3_add(fv, turn_v));
    vec3 n = vec3_scale(f->outward / vec3_length(cross), cross);
    apart = vec3_sub(apart, way);
    double gap = vec3_dot(n, apart);

    double l00 = -vec3_dot(n, j.d2[JET_UU]), l01 = -vec3_dot(n, j.d2[JET_UV]),
           l11 = -vec3_dot(n, j.d2[JET_VV]);
    double raise = 1.0 / first;
    vec3 rise_u = combine(raise * g, fu, -raise * m, fv);
    vec3 rise_v = combine(raise * e, fv, -raise * m, fu);
    out->x[0] = u + du;
    out->x[1] = v + dv;
    out->p = vec3_add(j.p, way);
    out->touch = (witness_touch){
        .normal = n, .gap = gap, .slope = vec3_length(vec3_add_scaled(apart, -gap, n))};
    out->bend.normal = two_outer(lead_u, combine(l00, rise_u, l01, rise_v), lead_v,
                                 combine(l01, rise_u, l11, rise_v));
    out->bend.lead[0] = lead_u;
    out->bend.lead[1] = lead_v;
    return true;
}
