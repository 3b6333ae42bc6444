/* The join of two sub-assemblies by a joint: the code behind articulated_join.h, which is compiled
 * once for every processor and once for those with AVX. JOIN gives the functions their names. */
#ifndef SOLVER_ARTICULATED_JOIN_CODE_H
#define SOLVER_ARTICULATED_JOIN_CODE_H

#include "solver/articulated_join.h"

/* The inverse of a symmetric positive definite n x n matrix (n <= 6); symmetric to the bit. */
HR_RT static void small_inverse(double d[6][6], int n, double out[6][6])
{
    double low[6][6], inverse[6][6] = {{0}};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = d[i][j];
            for (int k = 0; k < j; k++)
                sum -= low[i][k] * low[j][k];
            low[i][j] = i == j ? sqrt(sum) : sum / low[j][j];
        }
    for (int j = 0; j < n; j++) {
        inverse[j][j] = 1 / low[j][j];
        for (int i = j + 1; i < n; i++) {
            double sum = 0;
            for (int k = j; k < i; k++)
                sum -= low[i][k] * inverse[k][j];
            inverse[i][j] = sum / low[i][i];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = i; k < n; k++)
                sum += inverse[k][i] * inverse[k][j];
            out[i][j] = out[j][i] = sum;
        }
}

/* One degree of freedom: V S is a column of V (or a mix of two for a screw). */
HR_RT static void project_one(const join_joint *j, const mat6 *v, join_data *c)
{
    vec6 vs;
    double d;
    if (j->kind == JOIN_REVOLUTE) {
        row6_store(row6_load(v->m[2]), vs.v);
        d = vs.v[2];
    } else if (j->kind == JOIN_PRISMATIC) {
        row6_store(row6_load(v->m[5]), vs.v);
        d = vs.v[5];
    } else {
        row6_store(row6_add(row6_load(v->m[2]), row6_scale(j->pitch, row6_load(v->m[5]))), vs.v);
        d = vs.v[2] + j->pitch * vs.v[5];
    }
    double inverse = 1 / (d + j->k[0]);
    row6 column = row6_load(vs.v), scaled = row6_scale(inverse, column);
    c->d_inverse[0][0] = inverse;
    row6_store(scaled, c->u[0].v);
    for (int i = 0; i < 6; i++) /* symmetric: (vs_i vs_j) / d */
        row6_store(row6_sub(row6_load(v->m[i]), row6_scale(inverse, row6_scale(vs.v[i], column))),
                   c->w.m[i]);
}

/* Three or six degrees of freedom along the first axes of B's frame. */
HR_RT static void project_many(const join_joint *j, const mat6 *v, join_data *c)
{
    int n = j->freedom;
    double d[6][6];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            d[i][k] = v->m[i][k] + (i == k ? j->k[i] : 0);
    small_inverse(d, n, c->d_inverse);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int e = 0; e < n; e++)
                sum += v->m[i][e] * c->d_inverse[e][k];
            c->u[k].v[i] = sum;
        }
    for (int i = 0; i < 6; i++)
        for (int e = 0; e <= i; e++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += c->u[k].v[i] * v->m[k][e];
            c->w.m[i][e] = c->w.m[e][i] = v->m[i][e] - sum;
        }
}

HR_RT static bool is_zero(const double *k, int n)
{
    for (int i = 0; i < n; i++)
        if (k[i] != 0)
            return false;
    return true;
}

/* A free joint carries no force: W = 0 exactly, U = 1, D^-1 = Y. */
HR_RT static void project_free(const mat6 *y, join_data *c)
{
    c->w = (mat6){{{0}}};
    for (int i = 0; i < 6; i++) {
        c->u[i] = (vec6){{0}};
        c->u[i].v[i] = 1;
        for (int k = 0; k < 6; k++)
            c->d_inverse[i][k] = i < k ? y->m[i][k] : y->m[k][i];
    }
}

HR_RT static void project(const join_joint *j, const mat6 *y, join_data *c)
{
    bool is_rigid = j->is_locked || j->freedom == 0;
    if (!is_rigid && j->kind == JOIN_FLOATING && is_zero(j->k, 6)) {
        project_free(y, c);
        return;
    }
    if (is_rigid) {
        fast_inverse(y, &c->w);
        return;
    }
    mat6 v;
    fast_inverse(y, &v);
    if (j->freedom == 1)
        project_one(j, &v, c);
    else
        project_many(j, &v, c);
}

/* L = U^T G (or its negative), one row per degree of freedom. */
HR_RT static inline void response_rows(const join_joint *j, const vec6 u[6], const mat6 *g,
                                       bool is_negative, vec6 out[6])
{
    int n = j->is_locked ? 0 : j->freedom;
    for (int i = 0; i < n; i++) {
        const double *x = u[i].v;
        row6 sum = row6_combine(x[0], x[1], x[2], x[3], x[4], x[5], g);
        row6_store(is_negative ? row6_negate(sum) : sum, out[i].v);
    }
}

void JOIN(join_factor)(const join_joint *j, const join_data *a, const join_data *b, join_data *c)
{
    /* G_0 = X Phi^A(al, 0) and Y = Phi^B(be, be) + X Phi^A(al, al) X^T */
    mat6 g_0, y;
    if (j->a_slot == 0) {
        fast_motion_both(&j->a_from_b, &a->phi_00, &g_0, &y);
    } else {
        mat6 unused, flipped;
        fast_motion_both(&j->a_from_b, &a->phi_11, &unused, &y);
        if (j->has_0) {
            fast_transpose(&a->phi_01, &flipped);
            fast_motion_left(&j->a_from_b, &flipped, &g_0);
        }
    }
    for (int i = 0; i < 6; i++)
        row6_store(row6_add(row6_load(y.m[i]), row6_load(b->phi_00.m[i])), y.m[i]);
    project(j, &y, c);

    if (j->has_0) {
        fast_multiply(&c->w, &g_0, &c->p_0);
        fast_add_symmetric(&a->phi_00, -1, &g_0, &c->p_0, &c->phi_00);
        response_rows(j, c->u, &g_0, false, c->l_0);
    }
    if (!j->has_1)
        return;
    /* G_1 = -Phi^B(be, 1) */
    const mat6 *g_1 = j->b_slot ? &b->phi_01 : &b->phi_00;
    fast_multiply_negated(&c->w, g_1, &c->p_1);
    if (j->has_0)
        fast_multiply_transposed_negated(&g_0, &c->p_1, &c->phi_01);
    fast_add_symmetric(j->b_slot ? &b->phi_11 : &b->phi_00, 1, g_1, &c->p_1, &c->phi_11);
    response_rows(j, c->u, g_1, true, c->l_1);
}

/* b - P^T d0 - L^T tau */
HR_RT static inline void carry_bias(const vec6 *b, const mat6 *p, const vec6 *d0, const vec6 l[6],
                                    const double *tau, int n, vec6 *out)
{
    const double *d = d0->v;
    row6 sum = row6_sub(row6_load(b->v), row6_combine(d[0], d[1], d[2], d[3], d[4], d[5], p));
    for (int i = 0; i < n; i++)
        sum = row6_sub(sum, row6_scale(tau[i], row6_load(l[i].v)));
    row6_store(sum, out->v);
}

void JOIN(join_bias)(const join_joint *j, const join_data *a, const join_data *b,
                     const vec6 *coriolis, const double *tau, join_data *c)
{
    int n = j->is_locked ? 0 : j->freedom;
    vec6 d0 = fast_motion_to_b(&j->a_from_b, &a->b[j->a_slot]);
    row6 d = row6_sub(row6_load(d0.v), row6_load(b->b[0].v));
    d = row6_add(d, row6_load(coriolis->v));
    row6_store(d, d0.v);
    row6 f0 = row6_combine(d0.v[0], d0.v[1], d0.v[2], d0.v[3], d0.v[4], d0.v[5], &c->w);
    for (int i = 0; i < n; i++) {
        row6 u = row6_load(c->u[i].v);
        double r = -row6_dot(u, d);
        for (int k = 0; k < n; k++)
            r += c->d_inverse[i][k] * tau[k];
        c->r0[i] = r;
        f0 = row6_add(f0, row6_scale(tau[i], u));
    }
    row6_store(f0, c->f0.v);
    if (j->has_0)
        carry_bias(&a->b[0], &c->p_0, &d0, c->l_0, tau, n, &c->b[0]);
    if (j->has_1)
        carry_bias(&b->b[j->b_slot], &c->p_1, &d0, c->l_1, tau, n, &c->b[1]);
}

vec6 JOIN(join_solve)(const join_joint *j, const join_data *c, double *qdd, vec6 a_forces[2],
                      vec6 b_forces[2])
{
    int n = j->is_locked ? 0 : j->freedom;
    row6 none = {{{0}}}, f = row6_load(c->f0.v), f_0 = none, f_1 = none;
    if (j->has_0) {
        f_0 = row6_load(c->f[0].v);
        f = row6_add(f, row6_times(&c->p_0, f_0));
    }
    if (j->has_1) {
        f_1 = row6_load(c->f[1].v);
        f = row6_add(f, row6_times(&c->p_1, f_1));
    }
    for (int i = 0; i < j->freedom; i++) {
        double sum = i < n ? c->r0[i] : 0;
        if (i < n && j->has_0)
            sum -= row6_dot(row6_load(c->l_0[i].v), f_0);
        if (i < n && j->has_1)
            sum -= row6_dot(row6_load(c->l_1[i].v), f_1);
        qdd[i] = sum;
    }
    vec6 force;
    row6_store(f, force.v);
    vec6 back = fast_force_to_a(&j->a_from_b, &force);
    row6 on_a = row6_sub(j->a_slot == 0 ? f_0 : none, row6_load(back.v));
    row6_store(on_a, a_forces[j->a_slot].v);
    if (j->a_slot == 1)
        row6_store(f_0, a_forces[0].v);
    row6_store(j->b_slot == 0 ? row6_add(f, f_1) : f, b_forces[0].v);
    if (j->b_slot == 1)
        row6_store(f_1, b_forces[1].v);
    return force;
}

#endif
