/* The dual active-set loop: the row of largest violation enters, the rows whose multipliers reach
 * zero on the way leave, one at a time. */
#include <math.h>
#include <time.h>

#include "solver/qp_internal.h"
#include "solver/qp_vector.h"

enum {
    CLOCK_EVERY = 8,    /* iterations between looks at the clock */
    ENTERED_OFTEN = 10, /* times a row may enter before the tolerance is raised */
    ROUNDS_MAX = 8      /* of refinement and another look */
};

/* Self-check above which a result is refined, and above which it is reported as degraded. */
#define GOOD     1.0 /* times the feasibility asked for */
#define DEGRADED 1e-7

typedef struct search {
    int row, sign;
    double excess; /* of the unit row */
    int iterations_left;
    int stalled; /* steps in sequence that gained nothing */
} search;

HR_RT static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

HR_RT bool qp_is_late(const qp *q)
{
    return q->deadline_ns && now_ns() >= q->deadline_ns;
}

/* Rounding of J x: what no tolerance may ask for. */
HR_RT static double rounding(const qp *q)
{
    double largest = 0;
    for (int i = 0; i < q->n; i++)
        largest = qp_max(largest, fabs(q->x[i]));
    return 4e-16 * largest;
}

/* J x of a row. The eager path prices by the unit vectors instead: x = K^-1 b + L^-T u. */
HR_RT static inline double row_value(const qp *q, const qp_stored_row *row, const double *u)
{
    if (u && row->slot >= 0)
        return row->norm * qp_dot(qp_unit(q, row->slot), u, q->n);
    return qp_gather_dot(q->value + row->start, q->index + row->start, row->count, q->x);
}

/* L' x: what the eager path prices with. */
HR_RT static const double *eager_vector(qp *q)
{
    if (!q->settings.is_eager)
        return NULL;
    double *u = q->rhs;
    for (int i = 0; i < q->n; i++)
        u[i] = 0.0;
    for (int i = 0; i < q->n; i++) {
        int first = q->l.first[i];
        qp_add_scaled(u + first, q->x[i], q->l.value + q->l.start[i], i - first + 1);
    }
    return u;
}

/* The row of largest violation, the lowest index among equals. */
HR_RT static bool most_violated(qp *q, search *s)
{
    double noise = rounding(q), most = 0;
    const double *u = eager_vector(q);
    s->row = -1;
    for (int k = 0; k < q->m; k++) {
        qp_stored_row *row = &q->rows[k];
        if (row->place >= 0 || row->is_ignored)
            continue;
        double value = row_value(q, row, u);
        double above = value - row->high, below = row->low - value;
        double excess = (above > below ? above : below) * row->scale;
        row->at = value;
        if (excess <= most)
            continue;
        if (q->relax > 0)
            excess -= q->relax * (1 + k % 17);
        if (excess <= most || excess <= q->tolerance + noise * sqrt(row->squares) * row->scale)
            continue;
        most = excess;
        s->row = k;
        s->sign = above > below ? 1 : -1;
    }
    s->excess = most;
    q->is_priced = !u;
    return s->row >= 0;
}

/* The first active multiplier that reaches zero when row p's grows by t; its place, or -1. */
HR_RT static int first_to_leave(const qp *q, int sign, double *t)
{
    int leaving = -1;
    double pull = 0;
    *t = (double)INFINITY;
    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        double rate = sign * a->sign * q->comb[i];
        if (q->rows[a->row].is_equality || rate <= 1e-13)
            continue;
        double when = qp_max(0.0, a->sign * a->mu) / rate;
        if (when < *t || (when == *t && rate > pull)) {
            *t = when;
            pull = rate;
            leaving = i;
        }
    }
    return leaving;
}

HR_RT static void take_step(qp *q, const search *s, double t, bool moves)
{
    for (int i = 0; i < q->na; i++)
        q->active[i].mu -= s->sign * t * q->comb[i];
    if (!moves || t == 0.0)
        return;
    q->is_priced = false;
    qp_envelope_backward(&q->l, q->direction);
    qp_add_scaled(q->x, -s->sign * t, q->direction, q->n);
}

HR_RT static void remove_place(qp *q, int place)
{
    for (int i = place; i + 1 < q->na; i++)
        q->gram[i] = q->gram[i + 1];
    qp_delete(q, place);
}

HR_RT static bool is_out_of_budget(qp *q, const search *s, qp_status *status)
{
    if (q->info.iterations >= s->iterations_left) {
        *status = QP_ITERATIONS;
        return true;
    }
    if (q->info.iterations % CLOCK_EVERY == 0 && qp_is_late(q)) {
        *status = QP_DEADLINE;
        return true;
    }
    return false;
}

/* Degenerate sets can make long rows of steps without gain; unequal small slacks end them. */
HR_RT static void guard_against_cycles(qp *q, search *s, double gain)
{
    s->stalled = gain > 1e-14 * (1e-300 + q->dual) ? 0 : s->stalled + 1;
    if (s->stalled <= 4 * (q->na + 16) || q->relax > 0)
        return;
    q->relax = 1e-10;
    q->info.was_perturbed = true;
    s->stalled = 0;
}

HR_RT static double violation_now(qp *q, const search *s, double mu)
{
    const qp_stored_row *row = &q->rows[s->row];
    double over = s->sign * (qp_row_dot(q, row, q->x) - qp_bound(q, s->row, s->sign)) * row->scale;
    return over - qp_soft_of(row) * mu;
}

/* The row is a combination of rows that cannot leave: a contradiction, or rounding of one row. */
HR_RT static qp_status give_up(qp *q, const search *s, double excess)
{
    if (excess <= 100 * q->tolerance) {
        q->rows[s->row].is_ignored = true;
        return QP_OPTIMAL;
    }
    q->certificate_row = s->row;
    q->certificate_sign = s->sign;
    return QP_INFEASIBLE;
}

/* Brings the row s->row in. QP_OPTIMAL: go on. */
HR_RT static qp_status enter(qp *q, search *s)
{
    int p = s->row;
    bool has_gram = false;
    double mu = 0;
    qp_slot(q, p);
    for (;;) {
        qp_status stop;
        if (is_out_of_budget(q, s, &stop))
            return stop;
        q->info.iterations++;
        double rho2 = qp_project(q, p, has_gram), excess = violation_now(q, s, mu), leave;
        has_gram = true;
        int leaving = first_to_leave(q, s->sign, &leave);
        bool moves = rho2 > q->settings.dependence && q->na < q->active_room;
        double close = moves ? qp_max(0.0, excess) / rho2 : (double)INFINITY;
        if (!moves && leaving < 0)
            return give_up(q, s, excess);
        double t = qp_min(close, leave), gain = t * excess - (moves ? 0.5 * t * t * rho2 : 0.0);
        mu += t;
        q->dual += qp_max(0.0, gain);
        guard_against_cycles(q, s, gain);
        take_step(q, s, t, moves);
        if (close <= leave) {
            qp_append(q, p, s->sign, s->sign * mu, rho2);
            return QP_OPTIMAL;
        }
        remove_place(q, leaving);
    }
}

HR_RT static double worst_of(const qp_info *info)
{
    return qp_max(qp_max(info->stationarity, info->violation),
                  qp_max(info->wrong_sign, info->complementarity));
}

/* No row is violated: is it the solution? Otherwise makes it better and asks for another look. */
HR_RT static bool is_solved(qp *q, bool *has_changed)
{
    *has_changed = false;
    qp_self_check(q, &q->info);
    double worst = worst_of(&q->info);
    if (worst <= GOOD * q->settings.feasibility || q->info.refinements >= ROUNDS_MAX)
        return true;
    q->info.refinements++;
    *has_changed = true;
    if (q->updates > 50 && worst > DEGRADED)
        qp_rebuild(q);
    qp_refine(q);
    qp_self_check(q, &q->info);
    return worst_of(&q->info) > 0.5 * worst && q->info.refinements > 2;
}

HR_RT static qp_status run(qp *q, search *s)
{
    for (;;) {
        if (!most_violated(q, s)) {
            bool has_changed;
            if (is_solved(q, &has_changed) && (!has_changed || !most_violated(q, s)))
                return worst_of(&q->info) > DEGRADED ? QP_DEGRADED : QP_OPTIMAL;
            if (q->info.refinements >= ROUNDS_MAX)
                return worst_of(&q->info) > DEGRADED ? QP_DEGRADED : QP_OPTIMAL;
            continue;
        }
        if (++q->rows[s->row].entered % ENTERED_OFTEN == 0) {
            q->tolerance *= 10;
            q->info.was_perturbed = true;
        }
        qp_status status = enter(q, s);
        if (status != QP_OPTIMAL)
            return status;
    }
}

HR_RT static int default_iterations(const qp *q)
{
    int shares = 1 + q->m / 1024, iterations = 4 * (q->n + 8) * shares;
    return iterations > 64 ? iterations : 64;
}

/* A row without entries holds or not whatever x is: no business of the loop. */
HR_RT static bool has_impossible_row(qp *q)
{
    for (int k = 0; k < q->m; k++) {
        qp_stored_row *row = &q->rows[k];
        if (row->count > 0)
            continue;
        row->is_ignored = true;
        if (row->softness == 0.0 && (row->low > q->tolerance || row->high < -q->tolerance)) {
            q->certificate_row = k;
            q->certificate_sign = row->high < 0 ? 1 : -1;
            row->norm = 0.0;
            return true;
        }
    }
    return false;
}

HR_RT qp_status qp_solve(qp *q, qp_budget budget, qp_info *info)
{
    q->info = (qp_info){.status = QP_REFUSED, .blend = 1.0};
    if (q->has_matrix && q->has_b && !q->is_refused) {
        q->tolerance = q->settings.feasibility;
        q->relax = 0.0;
        search s = {.iterations_left =
                        budget.iterations < 0 ? default_iterations(q) : budget.iterations};
        q->deadline_ns = budget.time_ns > 0 ? now_ns() + budget.time_ns : 0;
        qp_start(q);
        q->info.status = has_impossible_row(q) ? QP_INFEASIBLE : run(q, &s);
        q->is_current = q->info.status == QP_OPTIMAL && !q->info.was_perturbed;
        q->info.dual_objective = q->dual;
        q->info.active = q->na;
    }
    if (info)
        *info = q->info;
    return q->info.status;
}
