#include "collide/witness_law.h"

HR_RT witness_motion witness_motion_between(pose world_from_a, twist velocity_a, pose world_from_b,
                                            twist velocity_b)
{
    quat back = quat_conjugate(world_from_a.rotation);
    vec3 apart = vec3_sub(world_from_b.origin, world_from_a.origin);
    vec3 slip = vec3_sub(vec3_sub(velocity_b.linear, velocity_a.linear),
                         vec3_cross(velocity_a.angular, apart));
    witness_motion m = {
        .rotation = quat_to_mat3(quat_multiply(back, world_from_b.rotation)),
        .origin = quat_rotate(back, apart),
        .rate = {.linear = quat_rotate(back, slip),
                 .angular = quat_rotate(back, vec3_sub(velocity_b.angular, velocity_a.angular))}};
    return m;
}

/* One side's tangents of D and D . d2D; sign = +1 for A, -1 for B. */
HR_RT static inline void take_side(const jet *at, int n, double sign, vec3 difference,
                                   vec3 *tangent, double curvature[3])
{
    for (int i = 0; i < n; i++)
        tangent[i] = vec3_scale(sign, at->d1[i]);
    curvature[0] = n > 0 ? sign * vec3_dot(difference, at->d2[JET_UU]) : 0.0;
    curvature[1] = n > 1 ? sign * vec3_dot(difference, at->d2[JET_UV]) : 0.0;
    curvature[2] = n > 1 ? sign * vec3_dot(difference, at->d2[JET_VV]) : 0.0;
}

/* Adds the second-derivative block of one side to H. */
HR_RT static inline void add_curvature(witness_system *s, int side, int first, int n)
{
    const double *c = s->curvature[side];
    if (n > 0)
        s->m[first][first] += c[0];
    if (n > 1) {
        s->m[first][first + 1] += c[1];
        s->m[first + 1][first] += c[1];
        s->m[first + 1][first + 1] += c[2];
    }
}

HR_RT void witness_law(const jet *f, int na, const jet *h, int nb, const witness_motion *motion,
                       witness_system *out)
{
    out->n = na + nb;
    out->na = na;
    out->form = WITNESS_GRADIENT;
    out->difference = vec3_sub(f->p, h->p);
    take_side(f, na, 1.0, out->difference, out->tangent, out->curvature[0]);
    take_side(h, nb, -1.0, out->difference, out->tangent + na, out->curvature[1]);

    /* Each side sees the other witness as a material point of the other body. */
    vec3 v_h = witness_velocity_at(motion, h->p);
    vec3 v_f = witness_velocity_at(motion, f->p);
    for (int i = 0; i < out->n; i++) {
        vec3 t = out->tangent[i];
        for (int j = 0; j <= i; j++)
            out->m[i][j] = out->m[j][i] = vec3_dot(t, out->tangent[j]);
        out->scale[i] = sqrt(out->m[i][i]);
        out->g[i] = vec3_dot(t, out->difference);
        out->b[i] = -vec3_dot(t, i < na ? v_h : v_f);
    }
    add_curvature(out, 0, 0, na);
    add_curvature(out, 1, na, nb);
}

HR_RT vec3 witness_normal(const jet *at, double outward)
{
    vec3 n = vec3_cross(at->d1[0], at->d1[1]);
    double length = vec3_length(n);
    return length > 0.0 ? vec3_scale(outward / length, n) : (vec3){0, 0, 0};
}

/* The base side's unit normal and its derivatives by that side's parameters. */
typedef struct moving_normal {
    vec3 n, by[2];
} moving_normal;

HR_RT static moving_normal differentiate_normal(const jet *at, double outward)
{
    vec3 cross = vec3_cross(at->d1[0], at->d1[1]);
    vec3 by_u =
        vec3_add(vec3_cross(at->d2[JET_UU], at->d1[1]), vec3_cross(at->d1[0], at->d2[JET_UV]));
    vec3 by_v =
        vec3_add(vec3_cross(at->d2[JET_UV], at->d1[1]), vec3_cross(at->d1[0], at->d2[JET_VV]));
    double length = vec3_length(cross);
    double s = length > 0.0 ? outward / length : 0.0;
    moving_normal r = {.n = vec3_scale(s, cross)};
    r.by[0] = vec3_reject(vec3_scale(s, by_u), r.n);
    r.by[1] = vec3_reject(vec3_scale(s, by_v), r.n);
    return r;
}

HR_RT void witness_law_contact(const jet *f, const jet *h, witness_form form, double outward,
                               const witness_motion *motion, witness_system *out)
{
    int na = out->na;
    int nb = out->n - na;
    bool on_a = form == WITNESS_CONTACT_A;
    const jet *other = on_a ? h : f;
    moving_normal n = differentiate_normal(on_a ? f : h, outward);
    int base_first = on_a ? 0 : na;
    int base_count = on_a ? na : nb;
    int first = on_a ? na : 0;
    int count = on_a ? nb : na;
    /* A's normal rests; B's turns with it, and so do B's tangents: one sign each. */
    vec3 turn =
        on_a ? vec3_cross(n.n, motion->rate.angular) : vec3_cross(motion->rate.angular, n.n);

    out->form = form;
    for (int i = 0; i < count; i++) {
        out->g[first + i] = vec3_dot(other->d1[i], n.n);
        out->b[first + i] = vec3_dot(other->d1[i], turn);
        for (int j = 0; j < base_count; j++)
            out->m[first + i][base_first + j] = vec3_dot(other->d1[i], n.by[j]);
        for (int j = 0; j < count; j++)
            out->m[first + i][first + j] = vec3_dot(n.n, other->d2[i + j]);
    }
}
