#include "solver/qp_contacts.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "solver/friction.h"
#include "solver/friction_cone.h"
#include "solver/qp_sparse.h"
#include "solver/qp_vector.h"

enum { SWEEPS_MAX = 8000, PASSES_MAX = 24 };

#define RESIDUAL_WANTED 1e-9
#define RESIDUAL_GOOD   1e-5 /* what is called optimal */

/* Largest number of contact components for which W is formed. */
enum { COMPONENTS_MAX = 9000 };

typedef struct form {
    const qp_problem *p;
    qp_contact_options options;
    int64_t deadline_ns;
    int components; /* d contacts */
    int unknowns;
    qp *q;
    double *b;    /* unknowns */
    double *w;    /* components^2, with friction or for local problems */
    double *free; /* components: u without impulses */
    /* G by rows */
    qp_sparse g;
    const double *offset;
    /* envelope of M and its order */
    int *order, *place, *first;
    double *envelope;
    double *scratch;
} form;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clean(form *f)
{
    qp_destroy(f->q);
    qp_sparse_free(&f->g);
    free(f->b);
    free(f->w);
    free(f->free);
    free(f->order);
    free(f->first);
    free(f->envelope);
    free(f->scratch);
}

/* The component with the largest part left of its own diagonal; -1 where only rounding is left. */
static int find_pivot(const double *left, const double *own, int count)
{
    int p = -1;
    double most = 1e-14;
    for (int i = 0; i < count; i++) {
        if (own[i] > 0 && left[i] / own[i] > most) {
            most = left[i] / own[i];
            p = i;
        }
    }
    return p;
}

/* W = Y Y' of the chosen components (its symmetric part) by Cholesky with diagonal pivoting. Y:
 * rows of `count` values. Returns the rank. */
static int factor_pivoted(const double *w, int size, const int *chosen, int count, double *y)
{
    double *left = calloc((size_t)count + 1, 2 * sizeof *left);
    if (!left)
        return -1;
    double *own = left + count;
    for (int i = 0; i < count; i++)
        left[i] = own[i] = w[(long)chosen[i] * size + chosen[i]];
    int rank = 0;
    for (int p; (p = find_pivot(left, own, count)) >= 0; rank++) {
        double root = sqrt(left[p]);
        const double *yp = y + (long)p * count;
        for (int i = 0; i < count; i++) {
            double *yi = y + (long)i * count;
            double both = 0.5 * (w[(long)chosen[i] * size + chosen[p]] +
                                 w[(long)chosen[p] * size + chosen[i]]);
            yi[rank] = left[i] == 0.0 ? 0.0 : (both - qp_dot(yi, yp, rank)) / root;
            left[i] = i == p ? 0.0 : left[i] - yi[rank] * yi[rank];
        }
        y[(long)p * count + rank] = root;
    }
    free(left);
    return rank;
}

static double *dense_matrix(const qp_triplets *t)
{
    double *w = calloc((size_t)t->rows * (size_t)t->cols + 1, sizeof *w);
    for (int k = 0; w && k < t->count; k++)
        w[(long)t->i[k] * t->cols + t->j[k]] = t->v[k];
    return w;
}

/* G = Y for the components that matter: normals alone without friction. */
static hr_status make_local_rows(form *f)
{
    int d = f->p->dimension, count = f->options.has_friction ? f->components : f->p->contacts;
    int stride = f->options.has_friction ? 1 : d;
    int *chosen = malloc(((size_t)count + 1) * sizeof *chosen);
    double *y = calloc((size_t)count * (size_t)count + 1, sizeof *y);
    hr_status status = HR_ERR_MEMORY;
    for (int i = 0; chosen && i < count; i++)
        chosen[i] = i * stride;
    int rank = chosen && y ? factor_pivoted(f->w, f->components, chosen, count, y) : -1;
    qp_triplets t = {.rows = f->components, .cols = rank > 0 ? rank : 1};
    size_t entries = rank > 0 ? (size_t)count * (size_t)rank : 0;
    t.i = calloc(entries + 1, sizeof *t.i);
    t.j = calloc(entries + 1, sizeof *t.j);
    t.v = calloc(entries + 1, sizeof *t.v);
    if (rank >= 0 && t.i && t.j && t.v) {
        for (int i = 0; i < count; i++)
            for (int k = 0; k < rank; k++) {
                if (y[(long)i * count + k] == 0.0)
                    continue;
                t.i[t.count] = chosen[i];
                t.j[t.count] = k;
                t.v[t.count++] = y[(long)i * count + k];
            }
        if (qp_sparse_from_triplets(&t, false, &f->g))
            status = HR_OK;
    }
    f->unknowns = t.cols;
    free(t.i);
    free(t.j);
    free(t.v);
    free(chosen);
    free(y);
    return status;
}

static hr_status prepare_local(form *f)
{
    if (f->components > COMPONENTS_MAX)
        return HR_ERR_CAPACITY;
    f->w = dense_matrix(&f->p->p);
    f->offset = f->p->q;
    if (!f->w)
        return HR_ERR_MEMORY;
    double least = 0, most = 0;
    for (int i = 0; i < f->components; i++) {
        double own = f->w[(long)i * f->components + i];
        least = qp_min(least, own);
        most = qp_max(most, fabs(own));
    }
    return least < -1e-9 * most ? HR_ERR_ARGUMENT : make_local_rows(f);
}

/* Narrow envelope of M, and H' with its columns in that order. */
static hr_status prepare_global(form *f, long *size)
{
    const qp_problem *p = f->p;
    int n = p->n;
    qp_sparse m = {0};
    f->order = malloc(5 * (size_t)n * sizeof(int));
    f->first = malloc((size_t)n * sizeof(int));
    bool ok = f->order && f->first && qp_sparse_symmetric(&p->p, &m) &&
              qp_sparse_from_triplets(&p->a, true, &f->g);
    if (ok) {
        f->place = f->order + n;
        qp_sparse_order(&m, f->order, f->order + 2L * n);
        for (int i = 0; i < n; i++)
            f->place[f->order[i]] = i;
        *size = 0;
        for (int i = 0; i < n; i++) {
            f->first[i] = i;
            for (long e = m.start[f->order[i]]; e < m.start[f->order[i] + 1]; e++)
                if (f->place[m.index[e]] < f->first[i])
                    f->first[i] = f->place[m.index[e]];
            *size += i - f->first[i] + 1;
        }
        f->envelope = calloc((size_t)*size + 1, sizeof(double));
        ok = f->envelope != NULL;
    }
    double *row = f->envelope;
    for (int i = 0; ok && i < n; row += i - f->first[i] + 1, i++)
        for (long e = m.start[f->order[i]]; e < m.start[f->order[i] + 1]; e++)
            if (f->place[m.index[e]] <= i)
                row[f->place[m.index[e]] - f->first[i]] = m.value[e];
    for (long e = 0; ok && e < f->g.start[f->g.rows]; e++)
        f->g.index[e] = f->place[f->g.index[e]];
    qp_sparse_free(&m);
    f->unknowns = n;
    f->offset = p->w;
    return ok ? HR_OK : HR_ERR_MEMORY;
}

/* K and b. Local: K = 1, b = 0. */
static hr_status set_dynamics(form *f, long envelope)
{
    int n = f->unknowns;
    bool is_local = f->p->kind == QP_PROBLEM_LOCAL;
    f->b = calloc((size_t)n, sizeof *f->b);
    f->scratch = calloc((size_t)n + (size_t)f->components + 1, sizeof *f->scratch);
    int per_contact = f->options.has_friction ? friction_rows_per_contact(f->p->dimension) : 1;
    long entries = f->g.start[f->g.rows] * per_contact + per_contact;
    f->q = qp_create((qp_limits){.variables = n,
                                 .rows = per_contact * f->p->contacts + 1,
                                 .entries = entries,
                                 .envelope = is_local ? n : envelope});
    if (!f->b || !f->scratch || !f->q)
        return HR_ERR_MEMORY;
    qp_settings settings = qp_settings_default();
    settings.feasibility = 1e-12;
    qp_configure(f->q, settings);
    hr_status status;
    if (is_local) {
        for (int i = 0; i < n; i++)
            f->scratch[i] = 1.0;
        status = qp_set_banded(f->q, n, 0, f->scratch);
    } else {
        for (int i = 0; i < n; i++)
            f->b[i] = f->p->q[f->order[i]];
        status = qp_set_envelope(f->q, n, f->first, f->envelope);
    }
    return status == HR_OK ? qp_set_b(f->q, f->b) : status;
}

static qp_budget budget_of(const form *f, int used)
{
    int most = f->options.iterations;
    if (most <= 0)
        most = 20 * (f->unknowns + f->components) + 1000;
    qp_budget budget = {.iterations = most > used ? most - used : 0};
    if (f->deadline_ns) {
        int64_t left = f->deadline_ns - now_ns();
        budget.time_ns = left > 0 ? left : 1;
    }
    return budget;
}

/* -u_n <= 0 */
static hr_status solve_frictionless(form *f, qp_contact_answer *a)
{
    int d = f->p->dimension;
    qp_rows_begin(f->q);
    for (int i = 0; i < f->p->contacts; i++) {
        int row = i * d, count = (int)(f->g.start[row + 1] - f->g.start[row]);
        double *value = f->g.value + f->g.start[row];
        for (int e = 0; e < count; e++)
            value[e] = -value[e];
        hr_status status = qp_row_add(f->q, &(qp_row){.key = (uint64_t)i + 1,
                                                      .count = count,
                                                      .index = f->g.index + f->g.start[row],
                                                      .value = value,
                                                      .low = -(double)INFINITY,
                                                      .high = f->offset[row]});
        for (int e = 0; e < count; e++)
            value[e] = -value[e];
        if (status != HR_OK)
            return status;
    }
    qp_info info;
    a->status = qp_solve(f->q, budget_of(f, 0), &info);
    a->iterations = info.iterations;
    a->passes = 1;
    for (int i = 0; i < f->p->contacts; i++)
        a->r[(long)i * d] = qp_lambda(f->q, i);
    return HR_OK;
}

/* W = G K^-1 G' and free = G K^-1 b + g, where the file does not say. */
static hr_status form_delassus(form *f)
{
    int size = f->components;
    f->free = calloc((size_t)size + 1, sizeof *f->free);
    if (!f->free)
        return HR_ERR_MEMORY;
    if (f->p->kind == QP_PROBLEM_LOCAL) {
        memcpy(f->free, f->offset, (size_t)size * sizeof *f->free);
        return HR_OK;
    }
    if (size > COMPONENTS_MAX)
        return HR_ERR_CAPACITY;
    f->w = calloc((size_t)size * (size_t)size + 1, sizeof *f->w);
    if (!f->w)
        return HR_ERR_MEMORY;
    qp_rows_begin(f->q);
    for (int j = -1; j < size; j++) {
        for (int i = 0; i < f->unknowns; i++)
            f->scratch[i] = j < 0 ? f->b[i] : 0.0;
        for (long e = j < 0 ? 0 : f->g.start[j]; j >= 0 && e < f->g.start[j + 1]; e++)
            f->scratch[f->g.index[e]] += f->g.value[e];
        qp_info info;
        if (qp_set_b(f->q, f->scratch) != HR_OK ||
            qp_solve(f->q, (qp_budget){.iterations = -1}, &info) == QP_REFUSED)
            return HR_ERR_SINGULAR;
        for (int i = 0; i < size; i++) {
            double value = qp_sparse_row_dot(&f->g, i, qp_x(f->q));
            if (j < 0)
                f->free[i] = value + f->offset[i];
            else
                f->w[(long)i * size + j] = value;
        }
    }
    return qp_set_b(f->q, f->b);
}

/* Contact i with the columns of its rows of G. */
static hr_status add_one(const form *f, friction *contacts, int i)
{
    int d = f->p->dimension;
    hr_status status = friction_open(contacts, (uint64_t)i + 1);
    for (int k = 0; k < d; k++)
        for (long e = f->g.start[i * d + k]; e < f->g.start[i * d + k + 1]; e++) {
            double components[3] = {0, 0, 0};
            components[k] = f->g.value[e];
            if (status == HR_OK)
                status = friction_column(contacts, f->g.index[e], components);
        }
    if (status != HR_OK)
        return status;
    return friction_close(contacts, f->p->mu[i], f->offset + (long)i * d, 0.0, (vec3){0, 0, 0});
}

static friction *add_contacts(const form *f)
{
    friction *contacts =
        friction_create(f->p->dimension, f->p->contacts, f->unknowns, f->g.start[f->g.rows] + 1);
    for (int i = 0; contacts && i < f->p->contacts; i++) {
        if (add_one(f, contacts, i) != HR_OK) {
            friction_destroy(contacts);
            return NULL;
        }
    }
    return contacts;
}

/* One programme with friction from the rows and speeds of the last. */
static qp_status solve_pass(form *f, friction *contacts, int *rows, int used, double *r,
                            qp_info *info)
{
    int room = f->unknowns, *signs = rows + room;
    qp_rows_begin(f->q);
    int held = friction_emit(contacts, f->q, 0, f->p->contacts, rows, room);
    if (held < 0)
        return QP_REFUSED;
    for (int i = 0; i < held; i++)
        signs[i] = 1;
    qp_warm_rows(f->q, rows, signs, held);
    qp_status status = friction_solve_pass(contacts, f->q, budget_of(f, used), info);
    if (status == QP_OPTIMAL || status == QP_DEGRADED)
        friction_update(contacts, f->q, r);
    return status;
}

/* Passes of the programme, keeping the best impulses. The passes asked for are all that is done;
 * left free, Gauss-Seidel sweeps finish what the cuts have begun. */
static hr_status solve_friction(form *f, qp_contact_answer *a)
{
    hr_status status = form_delassus(f);
    friction *contacts = status == HR_OK ? add_contacts(f) : NULL;
    double *r = calloc((size_t)f->components + 1, sizeof *r);
    int *rows = calloc((size_t)f->unknowns + 1, 2 * sizeof *rows);
    if (!contacts || !r || !rows) {
        friction_destroy(contacts);
        free(r);
        free(rows);
        return status == HR_OK ? HR_ERR_MEMORY : status;
    }
    friction_cone cone = {f->p->dimension, f->p->contacts, f->w, f->free, f->p->mu};
    int passes = f->options.passes > 0 ? f->options.passes : PASSES_MAX;
    a->residual = friction_cone_residual(&cone, a->r);
    for (a->passes = 0; a->passes < passes; a->passes++) {
        qp_info info = {0};
        a->status = solve_pass(f, contacts, rows, a->iterations, r, &info);
        a->iterations += info.iterations;
        if (a->status != QP_OPTIMAL && a->status != QP_DEGRADED)
            break;
        double residual = friction_cone_residual(&cone, r);
        if (residual < a->residual || a->passes == 0) {
            a->residual = residual;
            memcpy(a->r, r, (size_t)f->components * sizeof *r);
        }
        if (a->residual <= RESIDUAL_WANTED)
            break;
    }
    if (f->options.passes <= 0 && a->status == QP_OPTIMAL)
        a->residual =
            friction_cone_sweep(&cone, a->r, r, SWEEPS_MAX, RESIDUAL_WANTED, f->deadline_ns);
    if (f->options.passes <= 0 && a->status == QP_OPTIMAL && !(a->residual <= RESIDUAL_GOOD))
        a->status = f->deadline_ns && now_ns() >= f->deadline_ns ? QP_DEADLINE : QP_ITERATIONS;
    friction_destroy(contacts);
    free(r);
    free(rows);
    return HR_OK;
}

/* y = K^-1 (b + G' r): what the impulses do; then how well it fits. */
static hr_status measure(form *f, qp_contact_answer *a)
{
    int n = f->unknowns, d = f->p->dimension;
    double *rhs = f->scratch;
    memcpy(rhs, f->b, (size_t)n * sizeof *rhs);
    qp_sparse_add_transposed(&f->g, a->r, rhs);
    if (f->options.has_friction) {
        qp_rows_begin(f->q);
        qp_info info;
        if (qp_set_b(f->q, rhs) != HR_OK ||
            qp_solve(f->q, (qp_budget){.iterations = -1}, &info) == QP_REFUSED)
            return HR_ERR_SINGULAR;
    }
    const double *y = qp_x(f->q);
    double *left = calloc((size_t)n + 1, sizeof *left);
    if (!left)
        return HR_ERR_MEMORY;
    /* K y, row by row of the envelope; K = 1 for local problems */
    const double *row = f->envelope;
    for (int i = 0; i < n && f->envelope; row += i - f->first[i] + 1, i++) {
        left[i] += qp_dot(row, y + f->first[i], i - f->first[i] + 1);
        qp_add_scaled(left + f->first[i], y[i], row, i - f->first[i]);
    }
    for (int i = 0; i < n; i++) {
        left[i] = f->envelope ? left[i] : y[i];
        a->objective += y[i] * (0.5 * left[i] - f->b[i]);
        a->dual_residual = qp_max(a->dual_residual, fabs(left[i] - rhs[i]));
    }
    for (int i = 0; i < f->p->contacts; i++) {
        double un = qp_sparse_row_dot(&f->g, i * d, y) + f->offset[(long)i * d];
        a->primal_residual = qp_max(a->primal_residual, -un);
        a->complementarity = qp_max(a->complementarity, fabs(un * a->r[(long)i * d]));
    }
    if (f->p->kind == QP_PROBLEM_GLOBAL)
        for (int i = 0; i < n; i++)
            a->x[f->order[i]] = y[i];
    else
        memcpy(a->x, a->r, (size_t)f->components * sizeof *a->x);
    free(left);
    return HR_OK;
}

hr_status qp_contacts_solve(const qp_problem *p, qp_contact_options options,
                            qp_contact_answer *answer)
{
    *answer = (qp_contact_answer){.status = QP_REFUSED};
    form f = {.p = p, .options = options, .components = p->dimension * p->contacts};
    f.deadline_ns = options.time_ns > 0 ? now_ns() + options.time_ns : 0;
    answer->x_count = p->kind == QP_PROBLEM_GLOBAL ? p->n : f.components;
    answer->x = calloc((size_t)answer->x_count + 1, sizeof *answer->x);
    answer->r = calloc((size_t)f.components + 1, sizeof *answer->r);
    if (!answer->x || !answer->r)
        return HR_ERR_MEMORY;
    long envelope = 0;
    hr_status status =
        p->kind == QP_PROBLEM_LOCAL ? prepare_local(&f) : prepare_global(&f, &envelope);
    if (status == HR_OK)
        status = set_dynamics(&f, envelope);
    if (status == HR_OK)
        status = options.has_friction ? solve_friction(&f, answer) : solve_frictionless(&f, answer);
    if (status == HR_OK)
        status = measure(&f, answer);
    clean(&f);
    return status;
}

void qp_contact_answer_free(qp_contact_answer *answer)
{
    free(answer->x);
    free(answer->r);
    *answer = (qp_contact_answer){0};
}
