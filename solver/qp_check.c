/* The self-check, refinement, and what to do with a solve that was not finished. */
#include <math.h>

#include "solver/qp_internal.h"
#include "solver/qp_vector.h"

/* rhs = b - K x - J_A' lambda */
HR_RT static void stationarity_residual(qp *q)
{
    qp_envelope_multiply(&q->k, q->x, q->rhs);
    for (int i = 0; i < q->n; i++)
        q->rhs[i] = q->b[i] - q->rhs[i];
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        qp_row_scatter(q, row, -q->active[i].mu * row->scale, q->rhs);
    }
}

HR_RT static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]); /* keeps NaN */
    return most;
}

HR_RT static void check_row(const qp *q, int k, qp_info *info)
{
    const qp_stored_row *row = &q->rows[k];
    bool is_known = q->is_priced && row->place < 0 && !row->is_ignored;
    double value = is_known ? row->at : qp_row_dot(q, row, q->x), slack = 0;
    if (row->place >= 0) {
        const qp_active *a = &q->active[row->place];
        slack = row->softness * a->mu * row->scale;
        double off = fabs(value - qp_bound(q, k, a->sign) - slack);
        info->complementarity =
            qp_max(info->complementarity, fabs(a->mu * row->scale) * off / (1.0 + fabs(q->dual)));
        if (!row->is_equality)
            info->wrong_sign = qp_max(info->wrong_sign, -a->sign * a->mu);
        info->soft_held += row->softness > 0;
    }
    double over = qp_max(value - slack - row->high, row->low - (value - slack)) * row->scale;
    info->violation = qp_max(info->violation, over);
}

HR_RT void qp_self_check(qp *q, qp_info *info)
{
    stationarity_residual(q);
    info->stationarity = largest(q->rhs, q->n) / (1.0 + largest(q->b, q->n));
    info->violation = 0;
    info->wrong_sign = 0;
    info->complementarity = 0;
    info->soft_held = 0;
    double scale = 1.0;
    for (int i = 0; i < q->na; i++)
        scale = qp_max(scale, fabs(q->active[i].mu));
    for (int k = 0; k < q->m; k++)
        if (q->rows[k].count > 0)
            check_row(q, k, info);
    info->wrong_sign /= scale;
}

/* One round on the saddle system: with r1 = b - Kx - J'lambda and r2 = bound - Jx on the active
 * rows, (W + softness) dl = J K^-1 r1 - r2 and dx = K^-1 (r1 - J' dl). */
HR_RT void qp_refine(qp *q)
{
    stationarity_residual(q);
    double *step = q->direction;
    memcpy(step, q->rhs, (size_t)q->n * sizeof *step);
    qp_envelope_forward(&q->l, step, 0);
    qp_envelope_backward(&q->l, step);
    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        const qp_stored_row *row = &q->rows[a->row];
        double value = qp_row_dot(q, row, q->x) - row->softness * a->mu * row->scale;
        q->gram[i] =
            (qp_row_dot(q, row, step) - (qp_bound(q, a->row, a->sign) - value)) * row->scale;
    }
    qp_solve_factor(q, q->gram);
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        q->active[i].mu += q->gram[i];
        qp_row_scatter(q, row, -q->gram[i] * row->scale, q->rhs);
    }
    qp_envelope_forward(&q->l, q->rhs, 0);
    qp_envelope_backward(&q->l, q->rhs);
    qp_add_scaled(q->x, 1.0, q->rhs, q->n);
    q->is_priced = false;

    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        if (!q->rows[a->row].is_equality && a->sign * a->mu < -1e-9) {
            qp_drop_wrong_signs(q);
            qp_update_x(q);
            return;
        }
    }
}

HR_RT static int find_group(int *group, int i)
{
    while (group[i] != i) {
        group[i] = group[group[i]];
        i = group[i];
    }
    return i;
}

HR_RT static void join(int *group, int a, int b)
{
    a = find_group(group, a);
    b = find_group(group, b);
    if (a < b)
        group[b] = a;
    else
        group[a] = b;
}

/* Variables that K or a row ties together. */
HR_RT static void make_groups(qp *q)
{
    for (int i = 0; i < q->n; i++)
        q->group[i] = i;
    for (int i = 0; i < q->n; i++)
        if (q->k.first[i] < i)
            join(q->group, q->k.first[i], i);
    for (int k = 0; k < q->m; k++)
        for (int e = 1; e < q->rows[k].count; e++)
            join(q->group, q->index[q->rows[k].start], q->index[q->rows[k].start + e]);
}

/* How far from stop to x this row lets its group go; negative where stop breaks it already. */
HR_RT static double blend_of(double at_stop, double at_x, double low, double high)
{
    if (at_stop > high || at_stop < low)
        return -1.0;
    double change = at_x - at_stop;
    if (at_x > high)
        return (high - at_stop) / change;
    return at_x < low ? (low - at_stop) / change : 1.0;
}

HR_RT double qp_make_safe(qp *q, const double *stop, double reserve)
{
    q->is_current = false;
    make_groups(q);
    for (int i = 0; i < q->n; i++)
        q->group_blend[i] = 1.0;
    for (int k = 0; k < q->m; k++) {
        const qp_stored_row *row = &q->rows[k];
        if (row->count == 0 || row->softness > 0)
            continue;
        double blend = blend_of(qp_row_dot(q, row, stop), qp_row_dot(q, row, q->x),
                                row->low - reserve, row->high + reserve);
        int root = find_group(q->group, q->index[row->start]);
        q->group_blend[root] = qp_min(q->group_blend[root], blend);
    }
    double smallest = 1.0;
    for (int i = 0; i < q->n; i++) {
        double blend = q->group_blend[find_group(q->group, i)];
        smallest = qp_min(smallest, blend);
        /* a little less than to the bound: x itself is rounded */
        double a = blend >= 1.0 ? 1.0 : qp_max(0.0, blend * (1.0 - 1e-12));
        if (a < 1.0)
            q->x[i] = stop[i] + a * (q->x[i] - stop[i]);
    }
    q->info.blend = smallest;
    return smallest;
}
