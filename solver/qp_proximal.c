#include "solver/qp_proximal.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "solver/qp_vector.h"

enum { ROUNDS_MAX = 400 };

#define GOOD_ENOUGH 1e-11 /* quality at which the loop ends */
#define NEGATIVE    1e-6  /* what makes a semidefinite P definite, whatever its rounding */
#define ACCEPTABLE  1e-7  /* what is still called optimal */

typedef struct proximal {
    const qp_scaled *s;
    qp *q;
    int *order, *place; /* order[new] = old, place[old] = new */
    int *first;
    double *values; /* envelope of P in the new order */
    long size;
    double *centre, *b, *scratch;
    int *row_index;
    double eps;
    int iterations_left;
    int64_t deadline_ns;
    qp_point *out;
    const qp_point *guess;
    /* the best round so far, of all weights */
    double best;
    double *best_x, *best_y;
    qp_quality best_quality;
    int *rows, *signs;
} proximal;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool qp_point_allocate(qp_point *p, int n, int m)
{
    double none = (double)INFINITY;
    *p = (qp_point){.status = QP_REFUSED, .method = "none", .quality = {none, none, none}};
    p->x = calloc((size_t)n + 1, sizeof *p->x);
    p->y = calloc((size_t)m + 1, sizeof *p->y);
    return p->x && p->y;
}

bool qp_point_copy(qp_point *to, const qp_point *from, int n, int m)
{
    if (!qp_point_allocate(to, n, m))
        return false;
    memcpy(to->x, from->x, (size_t)n * sizeof *to->x);
    memcpy(to->y, from->y, (size_t)m * sizeof *to->y);
    return true;
}

void qp_point_free(qp_point *p)
{
    free(p->x);
    free(p->y);
    p->x = NULL;
    p->y = NULL;
}

static void clean(proximal *p)
{
    qp_destroy(p->q);
    free(p->order);
    free(p->first);
    free(p->values);
    free(p->centre);
    free(p->row_index);
    free(p->rows);
}

/* Order and envelope of P. */
static bool arrange(proximal *p)
{
    const qp_sparse *s = &p->s->p;
    int n = p->s->n;
    p->order = malloc(5 * (size_t)n * sizeof(int));
    p->first = malloc((size_t)n * sizeof(int));
    if (!p->order || !p->first)
        return false;
    p->place = p->order + n;
    qp_sparse_order(s, p->order, p->order + 2L * n);
    for (int i = 0; i < n; i++)
        p->place[p->order[i]] = i;
    p->size = 0;
    for (int i = 0; i < n; i++) {
        p->first[i] = i;
        for (long e = s->start[p->order[i]]; e < s->start[p->order[i] + 1]; e++) {
            int at = p->place[s->index[e]];
            p->first[i] = at < p->first[i] ? at : p->first[i];
        }
        p->size += i - p->first[i] + 1;
    }
    p->values = malloc(((size_t)p->size + 1) * sizeof *p->values);
    return p->values != NULL;
}

static bool allocate(proximal *p)
{
    size_t n = (size_t)p->s->n, m = (size_t)p->s->m, most = 1;
    for (int i = 0; i < p->s->m; i++) {
        size_t count = (size_t)(p->s->a.start[i + 1] - p->s->a.start[i]);
        most = count > most ? count : most;
    }
    p->centre = calloc(4 * n + 2 * m + 1, sizeof *p->centre);
    p->rows = calloc(2 * m + 1, sizeof *p->rows);
    p->row_index = malloc(most * sizeof *p->row_index);
    p->q = qp_create((qp_limits){.variables = p->s->n,
                                 .rows = p->s->m,
                                 .entries = p->s->a.start[p->s->m] + 1,
                                 .envelope = p->size});
    if (!p->centre || !p->row_index || !p->q || !p->rows)
        return false;
    qp_settings settings = qp_settings_default();
    settings.feasibility = 1e-11;
    settings.dependence = 1e-14;
    qp_configure(p->q, settings);
    p->b = p->centre + n;
    p->scratch = p->b + n;
    p->best_x = p->scratch + n + m;
    p->best_y = p->best_x + n;
    p->signs = p->rows + m;
    p->best = (double)INFINITY;
    return true;
}

/* K = P + eps in the envelope. HR_ERR_SINGULAR where that is not positive definite. */
static hr_status set_matrix(proximal *p)
{
    const qp_sparse *s = &p->s->p;
    for (long e = 0; e < p->size; e++)
        p->values[e] = 0.0;
    double *row = p->values;
    for (int i = 0; i < p->s->n; i++) {
        int old = p->order[i];
        for (long e = s->start[old]; e < s->start[old + 1]; e++) {
            int at = p->place[s->index[e]];
            if (at <= i)
                row[at - p->first[i]] = s->value[e];
        }
        row[i - p->first[i]] += p->eps;
        row += i - p->first[i] + 1;
    }
    return qp_set_envelope(p->q, p->s->n, p->first, p->values);
}

static hr_status set_rows(proximal *p)
{
    const qp_sparse *a = &p->s->a;
    qp_rows_begin(p->q);
    for (int i = 0; i < p->s->m; i++) {
        int count = (int)(a->start[i + 1] - a->start[i]);
        for (int e = 0; e < count; e++)
            p->row_index[e] = p->place[a->index[a->start[i] + e]];
        qp_row row = {.key = (uint64_t)i + 1,
                      .count = count,
                      .index = p->row_index,
                      .value = a->value + a->start[i],
                      .low = p->s->low[i],
                      .high = p->s->high[i]};
        hr_status status = qp_row_add(p->q, &row);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

static qp_status solve_once(proximal *p, qp_info *info)
{
    for (int i = 0; i < p->s->n; i++) {
        int old = p->order[i];
        p->b[i] = p->eps * p->centre[old] - p->s->q[old];
    }
    qp_budget budget = {.iterations = p->iterations_left};
    if (p->deadline_ns) {
        budget.time_ns = p->deadline_ns - now_ns();
        if (budget.time_ns <= 0)
            return QP_DEADLINE;
    }
    if (qp_set_b(p->q, p->b) != HR_OK)
        return QP_DEGRADED;
    qp_status status = qp_solve(p->q, budget, info);
    p->iterations_left -= info->iterations;
    p->out->iterations += info->iterations;
    return status;
}

static void collect(proximal *p)
{
    const double *x = qp_x(p->q);
    for (int i = 0; i < p->s->n; i++)
        p->out->x[p->order[i]] = x[i];
    for (int i = 0; i < p->s->m; i++)
        p->out->y[i] = qp_lambda(p->q, i);
    p->out->quality = qp_scaled_quality(p->s, p->out->x, p->out->y, p->scratch);
    double worst = qp_quality_worst(p->out->quality);
    if (!(worst < p->best))
        return;
    p->best = worst;
    p->best_quality = p->out->quality;
    memcpy(p->best_x, p->out->x, (size_t)p->s->n * sizeof *p->best_x);
    memcpy(p->best_y, p->out->y, (size_t)p->s->m * sizeof *p->best_y);
}

/* z with z'A = 0 and a negative bound, as multipliers. Verified here: one that rounding could have
 * made, or that a point at a distance of 1e9 could escape, is none. */
static bool is_certified(proximal *p)
{
    int n = p->s->n, m = p->s->m;
    int *rows = malloc(((size_t)m + 1) * sizeof *rows);
    double *factors = malloc(((size_t)m + 1) * sizeof *factors), *y = p->out->y;
    bool ok = rows && factors;
    int count = ok ? qp_certificate(p->q, rows, factors, m + 1) : 0;
    double bound = 0, parts = 0, rest = 0;
    for (int i = 0; i < m; i++)
        y[i] = 0.0;
    for (int k = 0; k < count && k <= m; k++)
        y[rows[k]] += factors[k];
    for (int j = 0; j < n; j++)
        p->scratch[j] = 0.0;
    qp_sparse_add_transposed(&p->s->a, y, p->scratch);
    for (int j = 0; j < n; j++)
        rest = qp_max(rest, fabs(p->scratch[j]));
    for (int i = 0; i < m; i++) {
        if (y[i] == 0.0)
            continue;
        double part = y[i] * (y[i] > 0 ? p->s->high[i] : p->s->low[i]);
        bound += part;
        parts += fabs(part);
    }
    free(rows);
    free(factors);
    return ok && bound < -1e-7 * parts && rest <= 1e-9 * -bound;
}

/* The centres run away along a direction without curvature that no row stops. */
static bool is_ray(proximal *p)
{
    double size = 0, fall = 0, curvature = 0, blocked = 0;
    double *ray = p->b;
    for (int j = 0; j < p->s->n; j++) {
        ray[j] = p->out->x[j] - p->centre[j];
        size = qp_max(size, fabs(ray[j]));
    }
    if (!(size > 1e4))
        return false;
    for (int j = 0; j < p->s->n; j++) {
        ray[j] /= size;
        fall += ray[j] * p->s->q[j];
    }
    for (int j = 0; j < p->s->n; j++)
        curvature = qp_max(curvature, fabs(qp_sparse_row_dot(&p->s->p, j, ray)));
    for (int i = 0; i < p->s->m; i++) {
        double rate = qp_sparse_row_dot(&p->s->a, i, ray);
        if (isfinite(p->s->high[i]))
            blocked = qp_max(blocked, rate);
        if (isfinite(p->s->low[i]))
            blocked = qp_max(blocked, -rate);
    }
    return fall < -1e-9 && curvature < 1e-9 && blocked < 1e-9;
}

/* One outer loop for the present eps; true when there is nothing more to do. */
static bool run_rounds(proximal *p)
{
    double best = (double)INFINITY;
    int worse = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        qp_info info;
        qp_status status = solve_once(p, &info);
        p->out->status = status;
        p->out->rounds++;
        if (status == QP_INFEASIBLE) {
            p->out->is_doubtful = !is_certified(p);
            return !p->out->is_doubtful;
        }
        if (status != QP_OPTIMAL && status != QP_DEGRADED) {
            collect(p);
            return true;
        }
        collect(p);
        double worst = qp_quality_worst(p->out->quality);
        if (worst <= GOOD_ENOUGH || p->eps == 0.0)
            return worst <= 1e-9;
        if (is_ray(p)) {
            p->out->status = QP_INFEASIBLE;
            p->out->is_unbounded = true;
            return true;
        }
        worse = worst < 0.9 * best ? 0 : worse + 1;
        best = qp_min(best, worst);
        if (worse > 20)
            return worst <= 1e-9;
        memcpy(p->centre, p->out->x, (size_t)p->s->n * sizeof *p->centre);
    }
    return false;
}

/* Starts from the guess: its point, and the rows whose multipliers are not small. */
static void take_guess(proximal *p)
{
    double most = 0;
    int count = 0;
    if (!p->guess)
        return;
    memcpy(p->centre, p->guess->x, (size_t)p->s->n * sizeof *p->centre);
    for (int i = 0; i < p->s->m; i++)
        most = qp_max(most, fabs(p->guess->y[i]));
    for (int i = 0; i < p->s->m; i++) {
        if (fabs(p->guess->y[i]) <= 1e-9 * most)
            continue;
        p->rows[count] = i;
        p->signs[count++] = p->guess->y[i] > 0 ? 1 : -1;
    }
    qp_warm_rows(p->q, p->rows, p->signs, count);
}

static void give_best(proximal *p)
{
    qp_point *out = p->out;
    bool is_stopped = out->status == QP_DEADLINE || out->status == QP_ITERATIONS;
    if (isfinite(p->best)) {
        out->quality = p->best_quality;
        memcpy(out->x, p->best_x, (size_t)p->s->n * sizeof *out->x);
        memcpy(out->y, p->best_y, (size_t)p->s->m * sizeof *out->y);
    }
    if (p->best <= ACCEPTABLE)
        out->status = QP_OPTIMAL;
    else if (!is_stopped)
        out->status = QP_DEGRADED;
}

static hr_status run(proximal *p)
{
    static const double terms[] = {0.0, 1e-6, 1e-8, 1e-10, 1e-4};
    for (int i = 0; i < HR_COUNT(terms); i++) {
        p->eps = terms[i];
        p->out->method = i == 0 ? "active set" : "proximal";
        hr_status status = set_matrix(p);
        if (status == HR_ERR_SINGULAR && p->eps >= NEGATIVE)
            return HR_ERR_ARGUMENT;
        if (status == HR_ERR_SINGULAR)
            continue;
        if (status == HR_OK)
            status = set_rows(p);
        if (status != HR_OK)
            return status;
        take_guess(p);
        if (run_rounds(p)) {
            if (p->out->status == QP_INFEASIBLE)
                return HR_OK;
            break;
        }
        p->guess = NULL;
    }
    give_best(p);
    return HR_OK;
}

/* The factor of the rows that hold costs their square times n, at some 1e9 operations a second. */
static bool is_affordable(const qp_scaled *s, const qp_point *guess, int64_t deadline_ns)
{
    double rows = 0;
    for (int i = 0; i < s->m; i++)
        rows += s->low[i] == s->high[i] || (guess && guess->y[i] != 0.0);
    rows = qp_min(rows, s->n);
    double seconds = 1e-9 * rows * rows * (0.5 * s->n + rows / 3);
    return deadline_ns == 0 || seconds <= 1e-9 * (double)(deadline_ns - now_ns());
}

hr_status qp_proximal_solve(const qp_scaled *s, const qp_point *guess, int iterations,
                            int64_t deadline_ns, qp_point *out)
{
    proximal p = {.s = s,
                  .guess = guess,
                  .iterations_left = iterations,
                  .deadline_ns = deadline_ns,
                  .out = out};
    hr_status status = HR_ERR_MEMORY;
    bool has_point = qp_point_allocate(out, s->n, s->m);
    if (has_point && !is_affordable(s, guess, deadline_ns)) {
        out->status = QP_DEADLINE;
        status = HR_OK;
    } else if (has_point && arrange(&p) && allocate(&p)) {
        status = run(&p);
    }
    clean(&p);
    return status;
}
