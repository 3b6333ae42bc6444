/* Joints at their limits: a row  qd+ >= (lower - q) / dt  (or <= for the upper) per joint in
 * trouble, solved exactly with the responses to joint impulses. */
#include "solver/articulated_internal.h"

enum { LIMITS_MAX = 24, LIMIT_ROUNDS = 8 };

/* A joint that starts beyond its limit comes back at this pace instead of within one step. */
static const double RETURN_RATE = 20.0; /* 1/s */

/* x >= 0, A x - b >= 0, x . (A x - b) = 0 for a small positive definite A. */
typedef struct limit_problem {
    int count;
    double a[LIMITS_MAX][LIMITS_MAX], b[LIMITS_MAX], x[LIMITS_MAX];
    bool is_held[LIMITS_MAX]; /* rows whose x is not zero */
} limit_problem;

typedef struct limit_row {
    int body;
    double sign; /* +1: lower limit, -1: upper limit */
    double need; /* sign * qd must reach this */
    double impulse, applied;
} limit_row;

HR_RT static bool has_row(const limit_row *rows, int count, int body)
{
    for (int i = 0; i < count; i++)
        if (rows[i].body == body)
            return true;
    return false;
}

/* Joints that would pass a limit within dt and have no row yet; the new number of rows. */
HR_RT static int find_limits(const articulated *a, double dt, limit_row *rows, int count)
{
    for (int i = 0; i < a->joint_count && count < LIMITS_MAX; i++) {
        const art_part *part = &a->parts[a->joints[i].part];
        const join_joint *j = &a->nodes[a->joints[i].node].join;
        const model_joint *joint = &a->model->joints[a->model->bodies[part->body].link];
        if (!joint->has_limits || j->freedom != 1 || j->is_locked)
            continue;
        double q = a->q[part->q], next = q + dt * a->qd[part->v];
        bool is_low = next < joint->lower;
        if ((!is_low && next <= joint->upper) || has_row(rows, count, part->body))
            continue;
        double gap = is_low ? joint->lower - q : q - joint->upper;
        double need = gap > 0 ? fmin(gap / dt, RETURN_RATE * gap) : gap / dt;
        rows[count++] = (limit_row){.body = part->body, .sign = is_low ? 1 : -1, .need = need};
    }
    return count;
}

/* A z = b over the held rows by Cholesky; z = 0 elsewhere. */
HR_RT static void solve_held(const limit_problem *p, double *z)
{
    double low[LIMITS_MAX][LIMITS_MAX], y[LIMITS_MAX];
    int index[LIMITS_MAX], n = 0;
    for (int i = 0; i < p->count; i++) {
        z[i] = 0;
        if (p->is_held[i])
            index[n++] = i;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = p->a[index[i]][index[j]];
            for (int k = 0; k < j; k++)
                sum -= low[i][k] * low[j][k];
            low[i][j] = i == j ? sqrt(sum > 1e-300 ? sum : 1e-300) : sum / low[j][j];
        }
        y[i] = p->b[index[i]];
        for (int k = 0; k < i; k++)
            y[i] -= low[i][k] * y[k];
        y[i] /= low[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            y[i] -= low[k][i] * y[k];
        y[i] /= low[i][i];
        z[index[i]] = y[i];
    }
}

/* Steps from x toward z as far as no held row becomes negative; lets go of those that hit zero.
 * True when z was reached. */
HR_RT static bool step_toward(limit_problem *p, const double *z)
{
    double share = 1;
    for (int i = 0; i < p->count; i++)
        if (p->is_held[i] && z[i] <= 0)
            share = fmin(share, p->x[i] / (p->x[i] - z[i]));
    bool is_there = true;
    for (int i = 0; i < p->count; i++) {
        p->x[i] += share * (z[i] - p->x[i]);
        if (!p->is_held[i] || z[i] > 0)
            continue;
        is_there = false;
        if (p->x[i] <= 1e-15 * fabs(z[i])) {
            p->x[i] = 0;
            p->is_held[i] = false;
        }
    }
    return is_there;
}

/* The row that pulls hardest, or -1 when every row that is not held is content. */
HR_RT static int worst_row(const limit_problem *p)
{
    int worst = -1;
    double most = 0;
    for (int i = 0; i < p->count; i++) {
        double rest = p->b[i];
        for (int k = 0; k < p->count; k++)
            rest -= p->a[i][k] * p->x[k];
        if (!p->is_held[i] && rest > most + 1e-12 * fabs(p->b[i])) {
            most = rest;
            worst = i;
        }
    }
    return worst;
}

/* Active set after Lawson and Hanson: every inner turn holds or frees one row. */
HR_RT static void solve_problem(limit_problem *p)
{
    for (int turn = 0; turn < 4 * LIMITS_MAX; turn++) {
        int row = worst_row(p);
        if (row < 0)
            return;
        p->is_held[row] = true;
        for (int inner = 0; inner < LIMITS_MAX; inner++) {
            double z[LIMITS_MAX];
            solve_held(p, z);
            if (step_toward(p, z))
                break;
        }
    }
}

/* The total impulses of all rows; the responses come from the joints' own factors. */
HR_RT static void solve_limits(articulated *a, limit_row *rows, int count)
{
    limit_problem p = {.count = count};
    for (int k = 0; k < count; k++)
        for (int i = 0; i < count; i++) {
            double out = 0;
            articulated_joint_response(a, rows[k].body, &rows[k].sign, rows[i].body, &out);
            p.a[i][k] = rows[i].sign * out;
        }
    for (int i = 0; i < count; i++) {
        const art_part *part = &a->parts[a->tree.body_part[rows[i].body]];
        p.b[i] = rows[i].need - rows[i].sign * a->qd[part->v];
        for (int k = 0; k < count; k++)
            p.b[i] += p.a[i][k] * rows[k].applied;
    }
    solve_problem(&p);
    for (int i = 0; i < count; i++)
        rows[i].impulse = p.x[i];
}

/* An impulse at one limit may drive another joint onto its own: rows are added until none is
 * new. */
void art_stop_at_limits(articulated *a, double dt)
{
    limit_row rows[LIMITS_MAX];
    int count = 0;
    for (int round = 0; round < LIMIT_ROUNDS; round++) {
        int more = find_limits(a, dt, rows, count);
        if (more == count)
            return;
        count = more;
        solve_limits(a, rows, count);
        art_clear_impulses(a);
        for (int i = 0; i < count; i++) {
            int v = a->parts[a->tree.body_part[rows[i].body]].v;
            a->work[v] = rows[i].sign * (rows[i].impulse - rows[i].applied);
            rows[i].applied = rows[i].impulse;
        }
        art_spread_impulses(a, a->work);
    }
}
