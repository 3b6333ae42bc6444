/* The metric of the fully articulated body: M = f^T Psi f + 2 p^T f + eta for the joints inside a
 * node, in the forces f on its handles. Passive nodes keep it as a quadratic form in the products
 * of their angular velocity, so that nothing below the front is touched when the body moves. */
#include <string.h>

#include "solver/articulated_full.h"

/* Products of angular velocity: which w_i w_j each channel stands for. */
static const int FIRST[6] = {0, 1, 2, 0, 0, 1}, SECOND[6] = {0, 1, 2, 1, 2, 2};

HR_RT static void products(vec3 w, double mu[CHANNELS])
{
    double v[3] = {w.x, w.y, w.z};
    for (int k = 0; k < 6; k++)
        mu[k] = v[FIRST[k]] * v[SECOND[k]];
    mu[CONSTANT] = 1;
}

/* Q with products(R^T w) = Q products(w). */
HR_RT static void turn_products(const mat3 *r, double q[6][6])
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            int a = FIRST[i], b = SECOND[i], c = FIRST[k], d = SECOND[k];
            double both = r->m[c][a] * r->m[d][b];
            q[i][k] = c == d ? both : both + r->m[d][a] * r->m[c][b];
        }
}

/* Column k of the map from the products of w to w x (w x p) = w (w . p) - p (w . w). */
HR_RT static vec3 centripetal(vec3 p, int k)
{
    double v[3] = {p.x, p.y, p.z}, out[3] = {0, 0, 0};
    int i = FIRST[k], j = SECOND[k];
    if (i == j) {
        for (int c = 0; c < 3; c++)
            out[c] = c == i ? 0 : -v[c];
    } else {
        out[i] = v[j];
        out[j] = v[i];
    }
    return (vec3){out[0], out[1], out[2]};
}

/* [0; R^T x] added to (or taken from) the linear part. */
HR_RT static vec6 minus_linear(vec6 b, const mat3 *r, vec3 x)
{
    vec3 y = mat3_apply_transposed(*r, x);
    b.v[3] -= y.x;
    b.v[4] -= y.y;
    b.v[5] -= y.z;
    return b;
}

void full_look(articulated *a, int n, vec6 velocity)
{
    art_full *f = &a->full[n];
    vec3 w = vec6_angular(velocity), u = vec6_linear(velocity);
    double mu[CHANNELS];
    products(w, mu);
    f->velocity = velocity;
    f->eta = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (int k = 0; k < CHANNELS; k++)
            f->eta += mu[i] * f->n[i][k] * mu[k];
    vec3 drift = vec3_cross(w, u);
    for (int h = 0; h < 2; h++) {
        row6 b = {{{0}}}, p = {{{0}}};
        if (!art_has_handle(&a->tree.nodes[n], h))
            continue;
        for (int k = 0; k < CHANNELS; k++) {
            b = row6_add(b, row6_scale(mu[k], row6_load(f->channel[k].b[h].v)));
            p = row6_add(p, row6_scale(mu[k], row6_load(f->channel[k].p[h].v)));
        }
        row6_store(b, f->join.b[h].v);
        row6_store(p, f->p[h].v);
        mat3 one = mat3_identity();
        const mat3 *r = h ? &a->nodes[n].top_from_1.rotation : &one;
        if (!a->nodes[n].has_world)
            f->join.b[h] = minus_linear(f->join.b[h], r, drift);
    }
}

/* base + (s1^2 + s2^2) sum_i q_i l_i^T m_i, the part of the own joint. */
HR_RT static void add_rows(const articulated *a, int n, const vec6 *l, const vec6 *m, mat6 *out)
{
    const join_joint *j = &a->nodes[n].join;
    int freedom = j->is_locked ? 0 : j->freedom, v = a->parts[a->tree.nodes[n].joint].v;
    double s = a->metric.s1 * a->metric.s1 + a->metric.s2 * a->metric.s2;
    for (int i = 0; i < freedom; i++)
        for (int r = 0; r < 6; r++) {
            double x = s * a->weight[v + i] * l[i].v[r];
            row6_store(row6_add(row6_load(out->m[r]), row6_scale(x, row6_load(m[i].v))), out->m[r]);
        }
}

/* out = x + y */
HR_RT static void add_to(const mat6 *x, mat6 *out)
{
    for (int i = 0; i < 6; i++)
        row6_store(row6_add(row6_load(out->m[i]), row6_load(x->m[i])), out->m[i]);
}

/* Psi of an inner node; join_factor was done. */
HR_RT static void make_psi(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    const art_full *left = &a->full[from->child[0]], *right = &a->full[from->child[1]];
    const join_joint *j = &a->nodes[n].join;
    art_full *f = &a->full[n];
    const join_data *d = &f->join;
    mat6 flipped, unused, t, s;
    if (j->a_slot == 0) {
        fast_motion_both(&j->a_from_b, &left->psi_00, &f->zt, &f->hm);
    } else {
        fast_motion_both(&j->a_from_b, &left->psi_11, &unused, &f->hm);
        fast_transpose(&left->psi_01, &flipped);
        fast_motion_left(&j->a_from_b, &flipped, &f->zt);
    }
    add_to(&right->psi_00, &f->hm);
    const mat6 *psi_b = j->b_slot ? &right->psi_01 : &right->psi_00;
    if (j->has_0) { /* Psi^A + P0^T Hm P0 - S - S^T with S = Zt^T P0 */
        fast_multiply(&f->hm, &d->p_0, &t);
        fast_multiply_transposed(&f->zt, &d->p_0, &s);
        fast_add_symmetric(&left->psi_00, 1, &d->p_0, &t, &f->psi_00);
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++)
                f->psi_00.m[i][k] -= s.m[i][k] + s.m[k][i];
        add_rows(a, n, d->l_0, d->l_0, &f->psi_00);
    }
    if (!j->has_1)
        return;
    fast_multiply(&f->hm, &d->p_1, &t);
    add_to(psi_b, &t); /* Hm P1 + Psi^B(be, 1) */
    if (j->has_0) {
        fast_multiply_transposed(&d->p_0, &t, &f->psi_01);
        fast_multiply_transposed(&f->zt, &d->p_1, &s);
        for (int i = 0; i < 6; i++)
            row6_store(row6_sub(row6_load(f->psi_01.m[i]), row6_load(s.m[i])), f->psi_01.m[i]);
        add_rows(a, n, d->l_0, d->l_1, &f->psi_01);
    }
    fast_multiply_transposed(&d->p_1, &t, &f->psi_11);
    fast_multiply_transposed(psi_b, &d->p_1, &s);
    add_to(&s, &f->psi_11);
    add_to(j->b_slot ? &right->psi_11 : &right->psi_00, &f->psi_11);
    add_rows(a, n, d->l_1, d->l_1, &f->psi_11);
}

/* The averages of what rounding made differ. */
HR_RT static void make_symmetric(mat6 *m)
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            m->m[i][k] = m->m[k][i] = 0.5 * (m->m[i][k] + m->m[k][i]);
}

void full_factor(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_full *f = &a->full[n];
    join_factor(&a->nodes[n].join, &a->full[from->child[0]].join, &a->full[from->child[1]].join,
                &f->join);
    make_psi(a, n);
    make_symmetric(&f->psi_00);
    make_symmetric(&f->psi_11);
}

void full_join_channel(const articulated *a, int n, const art_channel *left,
                       const art_channel *right, const full_source *source, art_channel *out,
                       art_answer *answer)
{
    const assembly_node *from = &a->tree.nodes[n];
    const join_joint *j = &a->nodes[n].join;
    const art_full *f = &a->full[n], *b_side = &a->full[from->child[1]];
    const join_data *d = &f->join;
    int freedom = j->is_locked ? 0 : j->freedom, v = a->parts[from->joint].v;
    double s0 = a->metric.s0, s1 = a->metric.s1, spread = a->metric.s2 * a->metric.s2;

    vec6 d0 = vec6_sub(rigid_motion_to_b(&j->a_from_b, left->b[j->a_slot]), right->b[0]);
    d0 = vec6_add(d0, source->coriolis);
    answer->f0 = fast_apply_transposed(&d->w, &d0);
    for (int i = 0; i < freedom; i++) {
        double r = -vec6_dot(d->u[i], d0);
        for (int k = 0; k < freedom; k++)
            r += d->d_inverse[i][k] * source->tau[k];
        answer->r0[i] = r;
        answer->l[i] = s0 * source->speed[i] + s1 * r;
        answer->f0 = vec6_add(answer->f0, vec6_scale(source->tau[i], d->u[i]));
    }
    answer->d = vec6_sub(right->p[0], rigid_motion_to_b(&j->a_from_b, left->p[j->a_slot]));
    answer->e = vec6_add(fast_apply(&f->hm, &answer->f0), answer->d);
    if (j->has_0) {
        out->b[0] = vec6_sub(left->b[0], fast_apply_transposed(&d->p_0, &d0));
        vec6 p = vec6_sub(left->p[0], fast_apply_transposed(&f->zt, &answer->f0));
        out->p[0] = vec6_add(p, fast_apply_transposed(&d->p_0, &answer->e));
    }
    if (j->has_1) {
        out->b[1] = vec6_sub(right->b[j->b_slot], fast_apply_transposed(&d->p_1, &d0));
        const mat6 *psi_b = j->b_slot ? &b_side->psi_01 : &b_side->psi_00;
        vec6 p = vec6_add(right->p[j->b_slot], fast_apply_transposed(psi_b, &answer->f0));
        out->p[1] = vec6_add(p, fast_apply_transposed(&d->p_1, &answer->e));
    }
    for (int i = 0; i < freedom; i++) {
        double weighted = -a->weight[v + i] * (s1 * answer->l[i] + spread * answer->r0[i]);
        out->b[0] = vec6_sub(out->b[0], vec6_scale(j->has_0 * source->tau[i], d->l_0[i]));
        out->b[1] = vec6_sub(out->b[1], vec6_scale(j->has_1 * source->tau[i], d->l_1[i]));
        out->p[0] = vec6_add(out->p[0], vec6_scale(j->has_0 * weighted, d->l_0[i]));
        out->p[1] = vec6_add(out->p[1], vec6_scale(j->has_1 * weighted, d->l_1[i]));
    }
}

double full_eta_pair(const articulated *a, int n, const art_answer *x, const art_answer *y)
{
    const join_joint *j = &a->nodes[n].join;
    int freedom = j->is_locked ? 0 : j->freedom, v = a->parts[a->tree.nodes[n].joint].v;
    double spread = a->metric.s2 * a->metric.s2;
    double sum = vec6_dot(x->f0, y->e) + vec6_dot(y->f0, x->d);
    for (int i = 0; i < freedom; i++)
        sum += a->weight[v + i] * (x->l[i] * y->l[i] + spread * x->r0[i] * y->r0[i]);
    return sum;
}

/* Column k of the channels of one handle of B in the products of the whole node. */
HR_RT static void turn_channel(const art_full *b, double q[6][6], int k, int h, art_channel *out)
{
    row6 sum_b = {{{0}}}, sum_p = {{{0}}};
    for (int i = 0; i < 6; i++) {
        sum_b = row6_add(sum_b, row6_scale(q[i][k], row6_load(b->channel[i].b[h].v)));
        sum_p = row6_add(sum_p, row6_scale(q[i][k], row6_load(b->channel[i].p[h].v)));
    }
    row6_store(sum_b, out->b[h].v);
    row6_store(sum_p, out->p[h].v);
}

/* The channels of B in the products of the whole node's angular velocity. */
HR_RT static void turn_channels(const articulated *a, int n, double q[6][6],
                                art_channel out[CHANNELS])
{
    int b_node = a->tree.nodes[n].child[1];
    const art_full *b = &a->full[b_node];
    const rigid *place = &a->nodes[n].top_from_b;
    memset(out, 0, CHANNELS * sizeof *out);
    for (int h = 0; h < 2; h++) {
        if (!art_has_handle(&a->tree.nodes[b_node], h))
            continue;
        mat3 turned = h ? mat3_multiply(place->rotation, a->nodes[b_node].top_from_1.rotation)
                        : place->rotation;
        for (int k = 0; k < 6; k++) {
            turn_channel(b, q, k, h, &out[k]);
            out[k].b[h] = minus_linear(out[k].b[h], &turned, centripetal(place->origin, k));
        }
        out[CONSTANT].b[h] = b->channel[CONSTANT].b[h];
        out[CONSTANT].p[h] = b->channel[CONSTANT].p[h];
    }
}

/* Q^T n Q with Q extended by 1 for the constant channel. */
HR_RT static void turn_form(double n[CHANNELS][CHANNELS], double q[6][6],
                            double out[CHANNELS][CHANNELS])
{
    double t[CHANNELS][CHANNELS];
    for (int i = 0; i < CHANNELS; i++)
        for (int k = 0; k < CHANNELS; k++) {
            t[i][k] = k == CONSTANT ? n[i][k] : 0;
            for (int e = 0; k < CONSTANT && e < 6; e++)
                t[i][k] += n[i][e] * q[e][k];
        }
    for (int i = 0; i < CHANNELS; i++)
        for (int k = 0; k < CHANNELS; k++) {
            out[i][k] = i == CONSTANT ? t[i][k] : 0;
            for (int e = 0; i < CONSTANT && e < 6; e++)
                out[i][k] += q[e][i] * t[e][k];
        }
}

/* What acts on the joint of a passive node: constant forces, in the constant channel only. */
HR_RT static full_source rest_source(const articulated *a, int n, bool is_constant)
{
    full_source s = {.coriolis = {{0}}};
    const join_joint *j = &a->nodes[n].join;
    if (is_constant && j->freedom > 0)
        art_joint_tau(a, a->tree.nodes[n].joint, s.tau);
    return s;
}

/* eta of channel pairs (i, CONSTANT) or of all. */
HR_RT static void make_form(articulated *a, int n, double q[6][6], bool only_constant)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_full *f = &a->full[n];
    double turned[CHANNELS][CHANNELS];
    turn_form(a->full[from->child[1]].n, q, turned);
    double(*left)[CHANNELS] = a->full[from->child[0]].n;
    for (int i = 0; i < CHANNELS; i++)
        for (int k = only_constant ? CONSTANT : i; k < CHANNELS; k++) {
            double own = full_eta_pair(a, n, &f->answer[i], &f->answer[k]);
            f->n[i][k] = f->n[k][i] = left[i][k] + turned[i][k] + own;
        }
}

void full_freeze_channels(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_full *f = &a->full[n];
    art_channel right[CHANNELS];
    double q[6][6];
    turn_products(&a->nodes[n].top_from_b.rotation, q);
    turn_channels(a, n, q, right);
    for (int k = 0; k < CHANNELS; k++) {
        full_source source = rest_source(a, n, k == CONSTANT);
        full_join_channel(a, n, &a->full[from->child[0]].channel[k], &right[k], &source,
                          &f->channel[k], &f->answer[k]);
    }
    make_form(a, n, q, false);
}

void full_freeze_constant(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_full *f = &a->full[n];
    double q[6][6];
    turn_products(&a->nodes[n].top_from_b.rotation, q);
    full_source source = rest_source(a, n, true);
    full_join_channel(a, n, &a->full[from->child[0]].channel[CONSTANT],
                      &a->full[from->child[1]].channel[CONSTANT], &source, &f->channel[CONSTANT],
                      &f->answer[CONSTANT]);
    make_form(a, n, q, true);
}

void full_leaf_constant(articulated *a, int n)
{
    int part = a->tree.nodes[n].top;
    vec6 *b = &a->full[n].channel[CONSTANT].b[0];
    if (a->nodes[n].has_world)
        *b = vec6_make((vec3){0, 0, 0}, vec3_negate(a->options.gravity));
    else
        *b = fast_apply(&a->nodes[n].inverse, &a->baked_wrench[part]);
}

/* A leaf at angular velocity w: b = -I^-1 (w x* I w), one column per product. */
void full_leaf(articulated *a, int n)
{
    art_full *f = &a->full[n];
    const art_node *node = &a->nodes[n];
    memset((void *)f, 0, sizeof *f);
    f->join.phi_00 = node->inverse;
    for (int k = 0; k < 6 && !node->has_world; k++) {
        vec6 force = {{0}};
        for (int swap = 0; swap <= (FIRST[k] != SECOND[k]); swap++) {
            vec6 x = {{0}}, y = {{0}};
            x.v[swap ? SECOND[k] : FIRST[k]] = 1;
            y.v[swap ? FIRST[k] : SECOND[k]] = 1;
            force = vec6_sub(force, vec6_cross_force(x, fast_apply(&node->inertia, &y)));
        }
        f->channel[k].b[0] = fast_apply(&node->inverse, &force);
    }
    full_leaf_constant(a, n);
}
