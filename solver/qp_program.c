#include "solver/qp_program.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "solver/qp_interior.h"
#include "solver/qp_proximal.h"
#include "solver/qp_vector.h"

#define FINE       1e-9 /* quality that needs no second method */
#define ACCEPTABLE 1e-7 /* what is still called optimal */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void qp_program_measure(const qp_program *p, qp_answer *a)
{
    a->primal_residual = 0;
    a->complementarity = 0;
    a->dual_residual = 0;
    a->objective = 0;
    double *g = malloc(((size_t)p->n + 1) * sizeof *g);
    if (!g)
        return;
    for (int i = 0; i < p->m; i++) {
        double value = qp_sparse_row_dot(&p->a, i, a->x), y = a->y[i];
        double over = qp_max(value - p->high[i], p->low[i] - value);
        double bound = y > 0 ? p->high[i] : p->low[i];
        a->primal_residual = qp_max(a->primal_residual, over);
        if (y != 0.0 && isfinite(bound))
            a->complementarity = qp_max(a->complementarity, fabs(y * (value - bound)));
    }
    qp_sparse_multiply(&p->p, a->x, g);
    for (int j = 0; j < p->n; j++) {
        a->objective += a->x[j] * (0.5 * g[j] + p->q[j]);
        g[j] += p->q[j];
    }
    qp_sparse_add_transposed(&p->a, a->y, g);
    for (int j = 0; j < p->n; j++)
        a->dual_residual = qp_max(a->dual_residual, fabs(g[j]));
    free(g);
}

/* By more than rounding. */
static bool is_crossed(double low, double high)
{
    return low - high > 1e-12 * (1.0 + fabs(low));
}

/* Bounds that cross leave nothing to search: the row itself is the certificate. */
static bool has_crossed_bounds(const qp_program *p, qp_answer *answer)
{
    for (int i = 0; i < p->m; i++) {
        if (!is_crossed(p->low[i], p->high[i]))
            continue;
        answer->y[i] = 1.0;
        answer->status = QP_INFEASIBLE;
        answer->method = "bounds";
        return true;
    }
    return false;
}

static void unscale(const qp_scaled *s, const qp_point *point, qp_answer *answer)
{
    answer->status = point->status;
    answer->is_unbounded = point->is_unbounded;
    answer->method = point->method;
    answer->iterations = point->iterations;
    answer->rounds = point->rounds;
    for (int j = 0; j < s->n; j++)
        answer->x[j] = s->d[j] * point->x[j];
    for (int i = 0; i < s->m; i++)
        answer->y[i] = s->e[i] * point->y[i] / s->cost;
}

/* Whichever is better stays in *best. */
static void choose(qp_point *best, qp_point *other)
{
    int iterations = best->iterations + other->iterations;
    bool is_better = qp_quality_worst(other->quality) < qp_quality_worst(best->quality);
    if (is_better && other->status != QP_INFEASIBLE) {
        qp_point swap = *best;
        *best = *other;
        *other = swap;
    }
    best->iterations = iterations;
    qp_point_free(other);
}

/* The active set first, for its exactness; where that is not enough the interior point method, and
 * the active set again from where that ends. */
static hr_status solve_scaled(const qp_scaled *s, int iterations, int64_t deadline, qp_point *best)
{
    int64_t now = now_ns(), share = deadline ? now + (deadline - now) / 6 : 0;
    hr_status status = qp_proximal_solve(s, NULL, iterations, share, best);
    bool is_infeasible = best->status == QP_INFEASIBLE, is_doubtful = best->is_doubtful;
    if (status != HR_OK || is_infeasible || best->status == QP_ITERATIONS ||
        (best->status == QP_OPTIMAL && qp_quality_worst(best->quality) <= FINE))
        return status;

    qp_point other = {0};
    if (qp_interior_solve(s, deadline, &other) == HR_OK)
        choose(best, &other);
    else
        qp_point_free(&other); /* too large: what there is goes on */
    if (qp_quality_worst(best->quality) > FINE && !(deadline && now_ns() >= deadline)) {
        qp_point guess = {0};
        if (qp_point_copy(&guess, best, s->n, s->m) &&
            qp_proximal_solve(s, &guess, iterations, deadline, &other) == HR_OK)
            choose(best, &other);
        qp_point_free(&guess);
    }
    if (qp_quality_worst(best->quality) <= ACCEPTABLE)
        best->status = QP_OPTIMAL;
    else if (deadline && now_ns() >= deadline)
        best->status = QP_DEADLINE;
    else if (is_doubtful && best->quality.primal > 1e-2)
        best->status = QP_INFEASIBLE; /* and no other method found a point either */
    return HR_OK;
}

hr_status qp_program_solve(const qp_program *p, qp_program_limits limits, qp_answer *answer)
{
    *answer = (qp_answer){.status = QP_REFUSED, .method = "none"};
    answer->x = calloc((size_t)p->n + 1, sizeof *answer->x);
    answer->y = calloc((size_t)p->m + 1, sizeof *answer->y);
    if (!answer->x || !answer->y)
        return HR_ERR_MEMORY;
    if (has_crossed_bounds(p, answer))
        return HR_OK;
    qp_scaled scaled;
    if (!qp_scale(p, &scaled))
        return HR_ERR_MEMORY;
    if (limits.iterations <= 0)
        limits.iterations = 20 * (p->n + p->m) + 1000;
    qp_point point = {0};
    int64_t deadline = limits.time_ns > 0 ? now_ns() + limits.time_ns : 0;
    hr_status status = solve_scaled(&scaled, limits.iterations, deadline, &point);
    if (status == HR_OK) {
        unscale(&scaled, &point, answer);
        qp_program_measure(p, answer);
    }
    qp_point_free(&point);
    qp_scaled_free(&scaled);
    return status;
}

void qp_answer_free(qp_answer *answer)
{
    free(answer->x);
    free(answer->y);
    *answer = (qp_answer){0};
}
