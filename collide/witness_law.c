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

/* sign D . d2 of one side's n parameters. */
HR_RT static inline void take_curvature(const jet *at, int n, double sign, vec3 difference,
                                        double out[3])
{
    out[0] = n > 0 ? sign * vec3_dot(difference, at->d2[JET_UU]) : 0.0;
    out[1] = n > 1 ? sign * vec3_dot(difference, at->d2[JET_UV]) : 0.0;
    out[2] = n > 1 ? sign * vec3_dot(difference, at->d2[JET_VV]) : 0.0;
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

/* H, g and b of one unknown's row up to the diagonal, without the curvature. */
HR_RT static inline void fill_row(witness_system *s, int i, vec3 velocity)
{
    vec3 t = s->tangent[i];
    s->g[i] = vec3_dot(t, s->difference);
    s->b[i] = -vec3_dot(t, velocity);
    s->m[i][i] = vec3_length_squared(t);
    s->scale[i] = sqrt(s->m[i][i]);
}

HR_RT static inline void couple(witness_system *s, int i, int j)
{
    s->m[i][j] = s->m[j][i] = vec3_dot(s->tangent[i], s->tangent[j]);
}

HR_RT void witness_law(const jet *f, int na, const jet *h, int nb, const witness_motion *motion,
                       witness_system *out)
{
    vec3 on_b = vec3_add(mat3_apply(motion->rotation, h->p), motion->origin);
    vec3 difference = vec3_sub(f->p, on_b);
    int n = na + nb;
    out->n = n;
    out->na = na;
    out->form = WITNESS_GRADIENT;
    out->difference = difference;
    for (int i = 0; i < na; i++)
        out->tangent[i] = f->d1[i];
    for (int i = 0; i < nb; i++)
        out->tangent[na + i] = vec3_negate(mat3_apply(motion->rotation, h->d1[i]));
    take_curvature(f, na, 1.0, difference, out->curvature[0]);
    /* D turned into B's frame: cheaper than three second derivatives into A's */
    vec3 turned = nb > 0 ? mat3_apply_transposed(motion->rotation, difference) : difference;
    take_curvature(h, nb, -1.0, turned, out->curvature[1]);

    /* Each side sees the other witness as a material point of the other body. */
    vec3 v_h = witness_velocity_at(motion, on_b);
    vec3 v_f = witness_velocity_at(motion, f->p);
    for (int i = 0; i < na; i++)
        fill_row(out, i, v_h);
    for (int i = na; i < n; i++)
        fill_row(out, i, v_f);
    /* Written out: the six products of the largest pair are half of this function's time. */
    if (n > 1)
        couple(out, 0, 1);
    if (n > 2) {
        couple(out, 0, 2);
        couple(out, 1, 2);
    }
    if (n > 3) {
        couple(out, 0, 3);
        couple(out, 1, 3);
        couple(out, 2, 3);
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
    jet seen = jet_transformed(motion->rotation, motion->origin, h);
    const jet *other = on_a ? &seen : f;
    moving_normal n = differentiate_normal(on_a ? f : &seen, outward);
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
