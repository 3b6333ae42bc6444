/* The join of two sub-assemblies by a joint. */
#include "solver/articulated_join.h"

void join_small_inverse(double d[6][6], int n, double out[6][6])
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
    join_small_inverse(d, n, c->d_inverse);
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

/* L = U^T G, one row per degree of freedom. */
HR_RT static void response_rows(const join_joint *j, const vec6 u[6], const mat6 *g, vec6 out[6])
{
    int n = j->is_locked ? 0 : j->freedom;
    for (int i = 0; i < n; i++)
        out[i] = fast_apply_transposed(g, &u[i]);
}

void join_factor(const join_joint *j, const join_data *a, const join_data *b, join_data *c)
{
    /* G_0 = X Phi^A(al, 0) and Y = Phi^B(be, be) + X Phi^A(al, al) X^T */
    mat6 g_0, y, turned;
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
        response_rows(j, c->u, &g_0, c->l_0);
    }
    if (!j->has_1)
        return;
    /* G_1 = -Phi^B(be, 1) */
    const mat6 *g_1 = j->b_slot ? &b->phi_01 : &b->phi_00;
    fast_multiply(&c->w, g_1, &turned); /* -P_1 */
    for (int i = 0; i < 6; i++)
        row6_store(row6_scale(-1, row6_load(turned.m[i])), c->p_1.m[i]);
    if (j->has_0)
        fast_multiply_transposed(&g_0, &turned, &c->phi_01);
    fast_add_symmetric(j->b_slot ? &b->phi_11 : &b->phi_00, 1, g_1, &c->p_1, &c->phi_11);
    response_rows(j, c->u, g_1, c->l_1);
    int n = j->is_locked ? 0 : j->freedom;
    for (int i = 0; i < n; i++)
        row6_store(row6_scale(-1, row6_load(c->l_1[i].v)), c->l_1[i].v);
}

/* b - P^T d0 - L^T tau */
HR_RT static vec6 carried_bias(const vec6 *b, const mat6 *p, const vec6 *d0, const vec6 l[6],
                               const double *tau, int n)
{
    vec6 part = fast_apply_transposed(p, d0);
    row6 sum = row6_sub(row6_load(b->v), row6_load(part.v));
    for (int i = 0; i < n; i++)
        sum = row6_sub(sum, row6_scale(tau[i], row6_load(l[i].v)));
    vec6 out;
    row6_store(sum, out.v);
    return out;
}

void join_bias(const join_joint *j, const join_data *a, const join_data *b, const vec6 *coriolis,
               const double *tau, join_data *c)
{
    int n = j->is_locked ? 0 : j->freedom;
    vec6 d0 = rigid_motion_to_b(&j->a_from_b, a->b[j->a_slot]);
    d0 = vec6_add(vec6_sub(d0, b->b[0]), *coriolis);
    vec6 f0 = fast_apply_transposed(&c->w, &d0);
    for (int i = 0; i < n; i++) {
        double r = -vec6_dot(c->u[i], d0);
        for (int k = 0; k < n; k++)
            r += c->d_inverse[i][k] * tau[k];
        c->r0[i] = r;
        f0 = vec6_add(f0, vec6_scale(tau[i], c->u[i]));
    }
    c->f0 = f0;
    if (j->has_0)
        c->b[0] = carried_bias(&a->b[0], &c->p_0, &d0, c->l_0, tau, n);
    if (j->has_1)
        c->b[1] = carried_bias(&b->b[j->b_slot], &c->p_1, &d0, c->l_1, tau, n);
}

vec6 join_solve(const join_joint *j, const join_data *c, double *qdd, vec6 a_forces[2],
                vec6 b_forces[2])
{
    int n = j->is_locked ? 0 : j->freedom;
    vec6 f = c->f0;
    for (int i = 0; i < j->freedom; i++)
        qdd[i] = i < n ? c->r0[i] : 0;
    if (j->has_0) {
        f = vec6_add(f, fast_apply(&c->p_0, &c->f[0]));
        for (int i = 0; i < n; i++)
            qdd[i] -= vec6_dot(c->l_0[i], c->f[0]);
    }
    if (j->has_1) {
        f = vec6_add(f, fast_apply(&c->p_1, &c->f[1]));
        for (int i = 0; i < n; i++)
            qdd[i] -= vec6_dot(c->l_1[i], c->f[1]);
    }
    vec6 back = rigid_force_to_a(&j->a_from_b, f);
    vec6 none = {{0}};
    a_forces[0] = j->has_0 ? c->f[0] : none;
    if (j->a_slot == 0)
        a_forces[0] = vec6_sub(a_forces[0], back);
    else
        a_forces[1] = vec6_scale(-1, back);
    b_forces[0] = f;
    if (j->has_1 && j->b_slot == 0)
        b_forces[0] = vec6_add(f, c->f[1]);
    else if (j->b_slot == 1)
        b_forces[1] = j->has_1 ? c->f[1] : none;
    return f;
}
