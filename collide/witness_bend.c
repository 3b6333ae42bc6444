#include "collide/witness_bend.h"

/* Share of the first fundamental form that must be left of H: nearer to a focal point the linear
 * forecast is worth nothing. */
static const double least_share = 0.05;

/* Adds factor a b^T. */
HR_RT static void add_outer(mat3 *m, double factor, vec3 a, vec3 b)
{
    const double x[3] = {a.x, a.y, a.z};
    const double y[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m->m[i][j] += factor * x[i] * y[j];
}

/* With the forms I = J^T J, II = -n . J2 and H = I + gap II: parameters follow a step of the point
 * by H^-1 J^T, and the normal by J H^-1 II I^-1 J^T, which is the shape operator of the parallel
 * surface through the point. */
HR_RT static witness_bend bend_at_face(const jet *at, vec3 n, double gap)
{
    witness_bend r = {0};
    vec3 fu = at->d1[0];
    vec3 fv = at->d1[1];
    double e = vec3_dot(fu, fu);
    double f = vec3_dot(fu, fv);
    double g = vec3_dot(fv, fv);
    double l = -vec3_dot(n, at->d2[JET_UU]);
    double m = -vec3_dot(n, at->d2[JET_UV]);
    double k = -vec3_dot(n, at->d2[JET_VV]);
    double h00 = e + gap * l;
    double h01 = f + gap * m;
    double h11 = g + gap * k;
    double first = e * g - f * f;
    double det = h00 * h11 - h01 * h01;
    if (!(first > 1e-12 * e * g) || !(det > least_share * first) || !(h00 > least_share * e))
        return r;
    vec3 rise_u = vec3_scale(1.0 / first, vec3_sub(vec3_scale(g, fu), vec3_scale(f, fv)));
    vec3 rise_v = vec3_scale(1.0 / first, vec3_sub(vec3_scale(e, fv), vec3_scale(f, fu)));
    r.lead[0] = vec3_scale(1.0 / det, vec3_sub(vec3_scale(h11, fu), vec3_scale(h01, fv)));
    r.lead[1] = vec3_scale(1.0 / det, vec3_sub(vec3_scale(h00, fv), vec3_scale(h01, fu)));
    add_outer(&r.normal, 1.0, r.lead[0], vec3_add(vec3_scale(l, rise_u), vec3_scale(m, rise_v)));
    add_outer(&r.normal, 1.0, r.lead[1], vec3_add(vec3_scale(m, rise_u), vec3_scale(k, rise_v)));
    return r;
}

/* n = (point - foot) / gap, and the foot follows the point by c' c'^T / H along an edge, not at all
 * at a vertex. */
HR_RT static witness_bend bend_at_corner(const witness_place *p, vec3 n, double gap)
{
    witness_bend r = {0};
    double inverse = 1.0 / gap;
    for (int i = 0; i < 3; i++)
        r.normal.m[i][i] = inverse;
    add_outer(&r.normal, -inverse, n, n);
    if (p->feature == WITNESS_VERTEX)
        return r;
    vec3 c = p->at.d1[0];
    double square = vec3_dot(c, c);
    double h = square - gap * vec3_dot(n, p->at.d2[0]);
    if (!(h > least_share * square))
        return (witness_bend){0};
    add_outer(&r.normal, -inverse / h, c, c);
    r.lead[0] = vec3_scale(1.0 / h, c);
    return r;
}

HR_RT witness_bend witness_bend_at(const witness_body *b, const witness_place *p,
                                   const witness_touch *t)
{
    if (b->kind != WITNESS_BODY || b->body->is_planar)
        return (witness_bend){0};
    if (p->feature == WITNESS_FACE)
        return bend_at_face(&p->at, t->normal, t->gap);
    if (fabs(t->gap) > 1e-9 * b->size)
        return bend_at_corner(p, t->normal, t->gap);
    return (witness_bend){0};
}
