#include "tests/support/dense_dynamics.h"

#include <stdlib.h>
#include <string.h>

dense_dynamics dense_create(const model *m)
{
    size_t n = (size_t)m->v_count, bodies = (size_t)m->body_count;
    return (dense_dynamics){.n = m->v_count,
                            .jacobian = calloc(bodies * 6 * n + 1, sizeof(double)),
                            .mass = calloc(n * n + 1, sizeof(double)),
                            .bias = calloc(n + 1, sizeof(double)),
                            .velocity = calloc(bodies, sizeof(vec6)),
                            .model = m};
}

void dense_free(dense_dynamics *d)
{
    free(d->jacobian);
    free(d->mass);
    free(d->bias);
    free(d->velocity);
}

static double *rows(const dense_dynamics *d, int body)
{
    return d->jacobian + (size_t)body * 6 * (size_t)d->n;
}

/* J_b = X J_parent + S, column by column; the velocity likewise. */
static vec6 carry_jacobian(dense_dynamics *d, int b, const rigid *place, const double *qd)
{
    const model *m = d->model;
    const model_joint *joint = &m->joints[m->bodies[b].link];
    const double *up = rows(d, m->bodies[b].parent);
    double *own = rows(d, b);
    for (int c = 0; c < d->n; c++) {
        vec6 column;
        for (int r = 0; r < 6; r++)
            column.v[r] = up[r * d->n + c];
        column = rigid_motion_to_b(place, column);
        for (int r = 0; r < 6; r++)
            own[r * d->n + c] = column.v[r];
    }
    vec6 s[JOINT_V_MAX], relative = {{0}};
    joint_subspace(joint, s);
    for (int k = 0; k < joint_v_count(joint->type); k++) {
        for (int r = 0; r < 6; r++)
            own[r * d->n + joint->v + k] = s[k].v[r];
        relative = vec6_add(relative, vec6_scale(qd[joint->v + k], s[k]));
    }
    return relative;
}

static void add_body(dense_dynamics *d, int b, const mat6 *inertia, vec6 force)
{
    const double *j = rows(d, b);
    int n = d->n;
    for (int c = 0; c < n; c++) {
        vec6 column;
        for (int r = 0; r < 6; r++)
            column.v[r] = j[r * n + c];
        d->bias[c] += vec6_dot(column, force);
        vec6 momentum = mat6_apply(inertia, column);
        for (int e = 0; e < n; e++)
            for (int r = 0; r < 6; r++)
                d->mass[e * n + c] += j[r * n + e] * momentum.v[r];
    }
}

void dense_update(dense_dynamics *d, const double *q, const double *qd, const vec6 *external,
                  vec3 gravity)
{
    const model *m = d->model;
    size_t n = (size_t)d->n;
    memset(d->jacobian, 0, 6 * n * sizeof(double));
    memset(d->mass, 0, n * n * sizeof(double));
    memset(d->bias, 0, n * sizeof(double));
    vec6 *drift = calloc((size_t)m->body_count, sizeof *drift); /* acceleration at qdd = 0 */
    drift[0] = vec6_make((vec3){0, 0, 0}, vec3_negate(gravity));
    d->velocity[0] = (vec6){{0}};
    for (int b = 1; b < m->body_count; b++) {
        int parent = m->bodies[b].parent;
        rigid place = rigid_from_pose(model_body_joint_pose(m, b, q));
        vec6 relative = carry_jacobian(d, b, &place, qd);
        vec6 v = vec6_add(rigid_motion_to_b(&place, d->velocity[parent]), relative);
        d->velocity[b] = v;
        drift[b] =
            vec6_add(rigid_motion_to_b(&place, drift[parent]), vec6_cross_motion(v, relative));
        const mat6 *inertia = &m->bodies[b].inertia;
        vec6 force =
            vec6_add(mat6_apply(inertia, drift[b]), vec6_cross_force(v, mat6_apply(inertia, v)));
        add_body(d, b, inertia, external ? vec6_sub(force, external[b]) : force);
    }
    free(drift);
}

void dense_solve(const dense_dynamics *d, const double *k, const bool *active, const double *r,
                 double *x)
{
    int count = 0, n = d->n;
    int *index = calloc((size_t)n + 1, sizeof *index);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        if (!active || active[i])
            index[count++] = i;
    }
    double *l = calloc((size_t)count * (size_t)count + 1, sizeof *l);
    double *y = calloc((size_t)count + 1, sizeof *y);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = d->mass[index[i] * n + index[j]] + (i == j && k ? k[index[i]] : 0);
            for (int e = 0; e < j; e++)
                sum -= l[i * count + e] * l[j * count + e];
            l[i * count + j] = i == j ? sqrt(sum) : sum / l[j * count + j];
        }
        double sum = r[index[i]];
        for (int e = 0; e < i; e++)
            sum -= l[i * count + e] * y[e];
        y[i] = sum / l[i * count + i];
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int e = i + 1; e < count; e++)
            y[i] -= l[e * count + i] * y[e];
        y[i] /= l[i * count + i];
        x[index[i]] = y[i];
    }
    free(index);
    free(l);
    free(y);
}

void dense_accelerations(const dense_dynamics *d, const double *k, const bool *active,
                         const double *tau, double *qdd)
{
    double *r = calloc((size_t)d->n + 1, sizeof *r);
    for (int i = 0; i < d->n; i++)
        r[i] = (tau ? tau[i] : 0) - d->bias[i];
    dense_solve(d, k, active, r, qdd);
    free(r);
}

double dense_kinetic_energy(const dense_dynamics *d, const double *x)
{
    double sum = 0;
    for (int i = 0; i < d->n; i++)
        for (int j = 0; j < d->n; j++)
            sum += 0.5 * x[i] * d->mass[i * d->n + j] * x[j];
    return sum;
}
