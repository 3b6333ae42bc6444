/* A dual-feasible state to start from, whatever was remembered. */
#include <math.h>

#include "solver/qp_internal.h"
#include "solver/qp_vector.h"

/* A multiplier this far on the wrong side of zero (relative to the largest) is zero. */
#define WRONG_SIGN 1e-12

HR_RT static uint32_t hash(uint64_t key)
{
    key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(key >> 32);
}

/* The remembered entry with this key, or -1. */
HR_RT static int find_warm(const qp *q, uint64_t key)
{
    int mask = q->warm_table_size - 1;
    for (int at = (int)(hash(key) & (uint32_t)mask);; at = (at + 1) & mask) {
        int entry = q->warm_table[at] - 1;
        if (entry < 0 || q->warm[entry].key == key)
            return entry;
    }
}

/* Rows of this step for the remembered keys; -1 where one is gone. */
HR_RT static void map_keys(qp *q)
{
    int mask = q->warm_table_size - 1;
    memset(q->warm_table, 0, (size_t)q->warm_table_size * sizeof(int));
    for (int i = 0; i < q->warm_count; i++) {
        int at = (int)(hash(q->warm[i].key) & (uint32_t)mask);
        while (q->warm_table[at])
            at = (at + 1) & mask;
        q->warm_table[at] = i + 1;
        q->warm_order[i] = -1;
    }
    for (int k = 0; k < q->m && q->warm_count > 0; k++) {
        int entry = q->rows[k].key ? find_warm(q, q->rows[k].key) : -1;
        if (entry >= 0 && q->warm_order[entry] < 0)
            q->warm_order[entry] = k;
    }
}

/* Where only K changed the rows that held are known by their index. */
HR_RT static void keep_rows(qp *q)
{
    q->warm_count = q->na;
    for (int i = 0; i < q->na; i++) {
        q->warm_order[i] = q->active[i].row;
        q->warm[i] = (qp_warm){q->rows[q->active[i].row].key, q->active[i].sign};
    }
}

/* From the diagonal of K, until L^-1 J' is known. */
HR_RT static void guess_norm(const qp *q, qp_stored_row *row)
{
    double squares = 0;
    for (long e = row->start; e < row->start + row->count; e++)
        squares += q->value[e] * q->value[e] * q->inverse_diagonal[q->index[e]];
    row->norm = squares > 0 ? sqrt(squares) : 1.0;
    row->scale = 1.0 / row->norm;
}

HR_RT static void forget_units(qp *q)
{
    q->slots_used = 0;
    q->slot_next = 0;
    for (int k = 0; k < q->m; k++) {
        qp_stored_row *row = &q->rows[k];
        if (q->is_guess_old || row->slot >= 0)
            guess_norm(q, row);
        row->slot = -1;
        row->place = -1;
    }
    q->is_guess_old = false;
}

HR_RT static void append_if_independent(qp *q, int k, int sign)
{
    qp_stored_row *row = &q->rows[k];
    if (row->place >= 0 || row->count == 0 || q->na >= q->active_room)
        return;
    if (!row->is_equality && !isfinite(sign > 0 ? row->high : row->low))
        return;
    qp_slot(q, k);
    double rho2 = qp_project_to_append(q, k);
    if (rho2 > q->settings.dependence)
        qp_append(q, k, sign, 0.0, rho2);
}

/* Looks at the clock now and then; the set may be any part of what was asked for. */
HR_RT static bool is_late(const qp *q)
{
    return q->na % 16 == 15 && qp_is_late(q);
}

HR_RT static void build_set(qp *q)
{
    if (q->na > 0)
        keep_rows(q);
    else
        map_keys(q);
    q->na = 0;
    forget_units(q);
    for (int k = 0; k < q->m; k++)
        if (q->rows[k].is_equality && !is_late(q))
            append_if_independent(q, k, 1);
    for (int i = 0; i < q->warm_count; i++)
        if (q->warm_order[i] >= 0 && !is_late(q))
            append_if_independent(q, q->warm_order[i], q->warm[i].sign);
    q->updates = 0;
    if (q->settings.is_eager)
        for (int k = 0; k < q->m && k < q->slot_room; k++)
            qp_slot(q, k);
}

HR_RT void qp_update_x(qp *q)
{
    q->is_priced = false;
    memcpy(q->x, q->b, (size_t)q->n * sizeof *q->x);
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        qp_row_scatter(q, row, -q->active[i].mu * row->scale, q->x);
    }
    qp_envelope_forward(&q->l, q->x, 0);
    qp_envelope_backward(&q->l, q->x);
}

/* R R' mu = Y_A' u_0 - d: every active row exactly on its bound. */
HR_RT static double solve_multipliers(qp *q)
{
    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        const qp_stored_row *row = &q->rows[a->row];
        q->gram[i] = (qp_row_dot(q, row, q->free_x) - qp_bound(q, a->row, a->sign)) * row->scale;
    }
    qp_solve_factor(q, q->gram);
    double largest = 0;
    for (int i = 0; i < q->na; i++) {
        q->active[i].mu = q->gram[i];
        largest = qp_max(largest, fabs(q->gram[i]));
    }
    return largest;
}

HR_RT static int most_wrong(const qp *q, double most)
{
    int worst = -1;
    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        if (!q->rows[a->row].is_equality && a->sign * a->mu < most) {
            most = a->sign * a->mu;
            worst = i;
        }
    }
    return worst;
}

HR_RT void qp_drop_wrong_signs(qp *q)
{
    for (;;) {
        double largest = solve_multipliers(q);
        int worst = most_wrong(q, -WRONG_SIGN * qp_max(1.0, largest));
        if (worst < 0)
            return;
        qp_delete(q, worst);
    }
}

/* Multipliers that hold the active rows on their bounds, and the x and the value that go with them:
 * 1/2 u'u + 1/2 softness = 1/2 mu' (R R') mu. */
HR_RT static void find_state(qp *q)
{
    qp_drop_wrong_signs(q);
    if (q->na == 0)
        memcpy(q->x, q->free_x, (size_t)q->n * sizeof *q->x);
    else
        qp_update_x(q);
    q->is_priced = false;
    q->dual = 0;
    for (int i = 0; i < q->na; i++) {
        const qp_active *a = &q->active[i];
        const qp_stored_row *row = &q->rows[a->row];
        double target = (qp_row_dot(q, row, q->free_x) - qp_bound(q, a->row, a->sign)) * row->scale;
        q->dual += 0.5 * a->mu * target;
    }
}

HR_RT void qp_start(qp *q)
{
    bool is_current = q->is_current && !q->is_base_new && !q->is_structure_new;
    if (q->is_base_new) {
        memcpy(q->free_x, q->b, (size_t)q->n * sizeof *q->b);
        qp_envelope_forward(&q->l, q->free_x, 0);
        qp_envelope_backward(&q->l, q->free_x);
    }
    if (q->is_structure_new)
        build_set(q);
    q->is_structure_new = false;
    q->is_base_new = false;
    for (int k = 0; k < q->m; k++) {
        q->rows[k].entered = 0;
        q->rows[k].is_ignored = false;
    }
    if (!is_current)
        find_state(q);
    q->is_current = false;
}

HR_RT void qp_warm_rows(qp *q, const int *rows, const int *signs, int count)
{
    for (int i = 0; i < q->na; i++)
        q->rows[q->active[i].row].place = -1;
    q->na = 0;
    for (int i = 0; i < count && q->na < q->active_room; i++)
        if (rows[i] >= 0 && rows[i] < q->m)
            q->active[q->na++] = (qp_active){rows[i], signs[i] < 0 ? -1 : 1, 0.0};
    q->warm_count = 0;
    q->is_structure_new = true;
}

HR_RT void qp_warm_keys(qp *q, const uint64_t *keys, const int *signs, int count)
{
    qp_warm_rows(q, NULL, NULL, 0);
    for (int i = 0; i < count && q->warm_count < q->active_room; i++)
        if (keys[i])
            q->warm[q->warm_count++] = (qp_warm){keys[i], signs[i] < 0 ? -1 : 1};
}

HR_RT int qp_held(const qp *q, uint64_t *keys, int *signs, int room)
{
    int count = 0;
    for (int i = 0; i < q->na && count < room; i++) {
        uint64_t key = q->rows[q->active[i].row].key;
        if (!key)
            continue;
        keys[count] = key;
        signs[count++] = q->active[i].sign;
    }
    return count;
}

HR_RT void qp_forget(qp *q)
{
    qp_warm_rows(q, NULL, NULL, 0);
}
