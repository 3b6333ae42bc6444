/* Featherstone's articulated-body algorithm on the bodies of a model. */
#include "solver/articulated_body.h"

#include <stdlib.h>

typedef struct sweep {
    rigid parent_from_child;
    vec6 subspace[JOINT_V_MAX];
    int freedom;                                /* degrees of freedom in use; 0 when locked */
    vec6 velocity;                              /* body frame */
    vec6 coriolis;                              /* v x S qd */
    mat6 inertia;                               /* articulated */
    vec6 bias;                                  /* articulated bias force */
    vec6 u[JOINT_V_MAX];                        /* inertia S */
    double d_inverse[JOINT_V_MAX][JOINT_V_MAX]; /* (S^T inertia S)^-1 */
    double rest[JOINT_V_MAX];                   /* tau - S^T bias */
    vec6 acceleration;
} sweep;

struct articulated_body {
    const model *model;
    sweep *bodies;
};

articulated_body *articulated_body_create(const model *m)
{
    articulated_body *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->model = m;
    a->bodies = calloc((size_t)m->body_count, sizeof *a->bodies);
    if (!a->bodies) {
        free(a);
        return NULL;
    }
    return a;
}

void articulated_body_destroy(articulated_body *a)
{
    if (!a)
        return;
    free(a->bodies);
    free(a);
}

/* Row i -= factor * row k, in both matrices. */
static void subtract_row(double d[JOINT_V_MAX][JOINT_V_MAX], double out[JOINT_V_MAX][JOINT_V_MAX],
                         int n, int i, int k)
{
    double factor = d[i][k];
    for (int j = 0; j < n; j++) {
        d[i][j] -= factor * d[k][j];
        out[i][j] -= factor * out[k][j];
    }
}

/* Inverse of a symmetric positive definite n x n matrix by Gauss-Jordan on its own pivots; false
 * when a pivot has lost all its digits. Destroys d. */
static bool invert_small(double d[JOINT_V_MAX][JOINT_V_MAX], int n,
                         double out[JOINT_V_MAX][JOINT_V_MAX])
{
    double scale[JOINT_V_MAX];
    for (int i = 0; i < n; i++) {
        scale[i] = d[i][i];
        for (int j = 0; j < n; j++)
            out[i][j] = i == j;
    }
    for (int k = 0; k < n; k++) {
        double pivot = d[k][k];
        if (!(pivot > 1e-14 * scale[k]) || !(pivot > 1e-300))
            return false;
        for (int j = 0; j < n; j++) {
            d[k][j] /= pivot;
            out[k][j] /= pivot;
        }
        for (int i = 0; i < n; i++)
            if (i != k)
                subtract_row(d, out, n, i, k);
    }
    return true;
}

/* Outward: poses, velocities, rigid-body inertias and biases. */
static void start_body(articulated_body *a, int b, const articulated_body_input *in, bool stated)
{
    const model *m = a->model;
    const model_joint *joint = &m->joints[m->bodies[b].link];
    sweep *s = &a->bodies[b];
    s->parent_from_child = rigid_from_pose(model_body_joint_pose(m, b, in->q));
    s->freedom = in->locked && in->locked[b] ? 0 : joint_v_count(joint->type);
    joint_subspace(joint, s->subspace);
    vec6 own = {{0}};
    for (int k = 0; k < s->freedom; k++)
        own = vec6_add(own, vec6_scale(in->qd[joint->v + k], s->subspace[k]));
    vec6 carried =
        rigid_motion_to_b(&s->parent_from_child, a->bodies[m->bodies[b].parent].velocity);
    s->velocity = vec6_add(carried, own);
    s->coriolis = vec6_cross_motion(s->velocity, own);
    s->inertia = stated ? m->bodies[b].stated_inertia : m->bodies[b].inertia;
    s->bias = vec6_cross_force(s->velocity, mat6_apply(&s->inertia, s->velocity));
    if (in->external)
        s->bias = vec6_sub(s->bias, in->external[b]);
}

/* parent += X^T inertia X and the bias that goes with it. */
static void hand_down(sweep *parent, const sweep *s, const mat6 *inertia, vec6 bias)
{
    mat6 x, xt, ix;
    rigid_motion_matrix(&s->parent_from_child, &x);
    mat6_transpose(&x, &xt);
    mat6_multiply(inertia, &x, &ix);
    mat6_multiply(&xt, &ix, &ix);
    mat6_add(&parent->inertia, &ix, &parent->inertia);
    parent->bias = vec6_add(parent->bias, rigid_force_to_a(&s->parent_from_child, bias));
}

/* Inward: projects the joint's freedom out of the articulated inertia. */
static bool finish_body(articulated_body *a, int b, const articulated_body_input *in)
{
    const model *m = a->model;
    const model_joint *joint = &m->joints[m->bodies[b].link];
    sweep *s = &a->bodies[b];
    double d[JOINT_V_MAX][JOINT_V_MAX] = {{0}};
    for (int k = 0; k < s->freedom; k++) {
        s->u[k] = mat6_apply(&s->inertia, s->subspace[k]);
        double tau = in->tau ? in->tau[joint->v + k] : 0;
        s->rest[k] = tau - vec6_dot(s->subspace[k], s->bias);
    }
    for (int i = 0; i < s->freedom; i++)
        for (int k = 0; k < s->freedom; k++)
            d[i][k] = vec6_dot(s->subspace[i], s->u[k]);
    if (!invert_small(d, s->freedom, s->d_inverse))
        return false;

    mat6 inertia = s->inertia;
    vec6 bias = s->bias;
    for (int i = 0; i < s->freedom; i++)
        for (int k = 0; k < s->freedom; k++) {
            double w = s->d_inverse[i][k];
            for (int r = 0; r < 6; r++)
                for (int c = 0; c < 6; c++)
                    inertia.m[r][c] -= w * s->u[i].v[r] * s->u[k].v[c];
            bias = vec6_add(bias, vec6_scale(w * s->rest[k], s->u[i]));
        }
    bias = vec6_add(bias, mat6_apply(&inertia, s->coriolis));
    hand_down(&a->bodies[m->bodies[b].parent], s, &inertia, bias);
    return true;
}

/* Outward again: accelerations. */
static bool accelerate_body(articulated_body *a, int b, double *qdd)
{
    const model *m = a->model;
    const model_joint *joint = &m->joints[m->bodies[b].link];
    sweep *s = &a->bodies[b];
    vec6 carried =
        rigid_motion_to_b(&s->parent_from_child, a->bodies[m->bodies[b].parent].acceleration);
    s->acceleration = vec6_add(carried, s->coriolis);
    double rest[JOINT_V_MAX] = {0}, out[JOINT_V_MAX] = {0};
    for (int k = 0; k < s->freedom; k++)
        rest[k] = s->rest[k] - vec6_dot(s->u[k], s->acceleration);
    bool is_finite = true;
    for (int i = 0; i < joint_v_count(joint->type); i++) {
        out[i] = 0;
        for (int k = 0; i < s->freedom && k < s->freedom; k++)
            out[i] += s->d_inverse[i][k] * rest[k];
        is_finite = is_finite && isfinite(out[i]);
        qdd[joint->v + i] = out[i];
    }
    for (int k = 0; k < s->freedom; k++)
        s->acceleration = vec6_add(s->acceleration, vec6_scale(out[k], s->subspace[k]));
    return is_finite;
}

static hr_status solve(articulated_body *a, const articulated_body_input *in, bool stated,
                       double *qdd)
{
    const model *m = a->model;
    /* gravity as an upward acceleration of the base */
    a->bodies[0] = (sweep){.acceleration = vec6_make((vec3){0, 0, 0}, vec3_negate(in->gravity))};
    for (int b = 1; b < m->body_count; b++)
        start_body(a, b, in, stated);
    for (int b = m->body_count - 1; b > 0; b--)
        if (!finish_body(a, b, in))
            return HR_ERR_SINGULAR;
    for (int b = 1; b < m->body_count; b++)
        if (!accelerate_body(a, b, qdd))
            return HR_ERR_NOT_FINITE;
    return HR_OK;
}

hr_status articulated_body_accelerations(articulated_body *a, const articulated_body_input *in,
                                         double *qdd)
{
    hr_status status = solve(a, in, true, qdd);
    return status == HR_ERR_SINGULAR ? solve(a, in, false, qdd) : status;
}
