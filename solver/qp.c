/* Set-up: memory, the matrix, the rows. */
#include "solver/qp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "solver/qp_internal.h"
#include "solver/qp_vector.h"

enum { ENTRIES_PER_ROW = 12 };
#define SLOT_MEMORY (64L << 20) /* values: 512 MB of L^-1 J' is where keeping all of it stops */

qp_settings qp_settings_default(void)
{
    return (qp_settings){.feasibility = 1e-11, .dependence = 1e-12};
}

void qp_configure(qp *q, qp_settings settings)
{
    q->settings = settings;
    q->is_structure_new = true;
}

static qp_limits complete(qp_limits l)
{
    if (l.entries <= 0)
        l.entries = (long)ENTRIES_PER_ROW * l.rows;
    if (l.envelope <= 0)
        l.envelope = (long)l.variables * (l.variables + 1) / 2;
    if (l.kept_rows <= 0) {
        long kept = SLOT_MEMORY / l.variables;
        l.kept_rows = kept < l.rows ? (int)kept : l.rows;
    }
    return l;
}

static bool allocate_matrix(qp *q)
{
    size_t n = (size_t)q->limits.variables, size = (size_t)q->limits.envelope;
    q->k = (qp_envelope){0, calloc(n, sizeof(int)), calloc(n + 1, sizeof(long)),
                         calloc(size, sizeof(double)), NULL};
    q->l = (qp_envelope){0, calloc(n, sizeof(int)), calloc(n + 1, sizeof(long)),
                         calloc(size, sizeof(double)), calloc(n, sizeof(double))};
    q->b = calloc(n, sizeof(double));
    q->x = calloc(n, sizeof(double));
    q->free_x = calloc(n, sizeof(double));
    q->direction = calloc(n, sizeof(double));
    q->rhs = calloc(n, sizeof(double));
    q->group = calloc(n, sizeof(int));
    q->group_blend = calloc(n, sizeof(double));
    q->mark = calloc(n, sizeof(int));
    q->inverse_diagonal = calloc(n, sizeof(double));
    return q->k.first && q->k.start && q->k.value && q->l.first && q->l.start && q->l.value &&
           q->l.inverse && q->b && q->x && q->free_x && q->direction && q->rhs && q->group &&
           q->group_blend && q->mark && q->inverse_diagonal;
}

/* A dense triangle whose size grows and shrinks with the active rows. */
static bool allocate_factor(qp_envelope *r, size_t room)
{
    *r = (qp_envelope){(int)room, calloc(room, sizeof(int)), calloc(room + 1, sizeof(long)),
                       calloc(room * (room + 1) / 2, sizeof(double)), calloc(room, sizeof(double))};
    if (!r->first || !r->start || !r->value || !r->inverse)
        return false;
    qp_envelope_layout(r);
    r->size = 0;
    return true;
}

static bool allocate_rows(qp *q)
{
    size_t m = (size_t)q->limits.rows + 1, entries = (size_t)q->limits.entries + 1;
    size_t room = (size_t)q->active_room + 1;
    int kept = q->limits.kept_rows;
    q->slot_room = kept > q->active_room ? kept : q->active_room + 1;
    q->warm_table_size = 4;
    while (q->warm_table_size < 2 * q->active_room)
        q->warm_table_size *= 2;
    q->rows = calloc(m, sizeof *q->rows);
    q->index = calloc(entries, sizeof(int));
    q->value = calloc(entries, sizeof(double));
    q->slot_row = calloc((size_t)q->slot_room, sizeof(int));
    q->unit = malloc((size_t)q->slot_room * (size_t)q->limits.variables * sizeof(double));
    q->active = calloc(room, sizeof *q->active);
    q->warm = calloc(room, sizeof *q->warm);
    q->warm_table = calloc((size_t)q->warm_table_size, sizeof(int));
    q->warm_order = calloc(room, sizeof(int));
    q->gram = calloc(room, sizeof(double));
    q->w = calloc(room, sizeof(double));
    q->comb = calloc(room, sizeof(double));
    return q->rows && q->index && q->value && q->slot_row && q->unit && q->active &&
           allocate_factor(&q->r, room) && q->warm && q->warm_table && q->warm_order && q->gram &&
           q->w && q->comb;
}

qp *qp_create(qp_limits limits)
{
    if (limits.variables <= 0 || limits.rows < 0 || limits.soft_rows < 0)
        return NULL;
    qp *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->limits = complete(limits);
    q->settings = qp_settings_default();
    long room = (long)limits.variables + limits.soft_rows;
    q->active_room = room < limits.rows ? (int)room : limits.rows;
    if (!allocate_matrix(q) || !allocate_rows(q)) {
        qp_destroy(q);
        return NULL;
    }
    return q;
}

void qp_destroy(qp *q)
{
    if (!q)
        return;
    void *memory[] = {q->k.first,    q->k.start,     q->k.value,   q->l.first,
                      q->l.start,    q->l.value,     q->b,         q->x,
                      q->free_x,     q->direction,   q->rhs,       q->group,
                      q->rows,       q->group_blend, q->mark,      q->index,
                      q->value,      q->unit,        q->slot_row,  q->active,
                      q->warm,       q->gram,        q->w,         q->warm_table,
                      q->warm_order, q->comb,        q->r.first,   q->r.start,
                      q->r.value,    q->r.inverse,   q->l.inverse, q->inverse_diagonal};
    for (int i = 0; i < HR_COUNT(memory); i++)
        free(memory[i]);
    free(q);
}

/* What holds now is what the next rows are compared with. */
HR_RT static void remember(qp *q)
{
    if (q->m == 0 && q->na == 0)
        return;
    q->warm_count = 0;
    for (int i = 0; i < q->na; i++) {
        uint64_t key = q->rows[q->active[i].row].key;
        if (key)
            q->warm[q->warm_count++] = (qp_warm){key, q->active[i].sign};
    }
    q->na = 0;
}

HR_RT static hr_status start_matrix(qp *q, int n)
{
    q->has_matrix = false;
    if (n <= 0)
        return HR_ERR_ARGUMENT;
    if (n > q->limits.variables)
        return HR_ERR_CAPACITY;
    if (n != q->n) {
        remember(q);
        q->has_b = false;
        q->m = 0;
        q->entries = 0;
    }
    q->n = n;
    q->k.size = n;
    return HR_OK;
}

/* first is filled in: lays out, and says whether it fits. */
HR_RT static hr_status layout(qp *q)
{
    return qp_envelope_layout(&q->k) > q->limits.envelope ? HR_ERR_CAPACITY : HR_OK;
}

HR_RT static hr_status finish_matrix(qp *q)
{
    /* What is not finite reaches a pivot, so only a failure has to look for it. */
    hr_status status = qp_envelope_factor(&q->k, &q->l, 1e-14);
    for (long i = 0; i < q->k.start[q->n] && status != HR_OK; i++)
        if (!isfinite(q->k.value[i]))
            return HR_ERR_NOT_FINITE;
    if (status != HR_OK)
        return status;
    for (int i = 0; i < q->n; i++)
        q->inverse_diagonal[i] = 1.0 / q->k.value[q->k.start[i + 1] - 1];
    q->has_matrix = true;
    q->is_guess_old = q->m > 0;
    q->is_structure_new = true;
    q->is_base_new = true;
    return HR_OK;
}

HR_RT hr_status qp_set_dense(qp *q, int n, const double *k)
{
    hr_status status = start_matrix(q, n);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < n; i++)
        q->k.first[i] = 0;
    if ((status = layout(q)) != HR_OK)
        return status;
    for (int i = 0; i < n; i++)
        memcpy(q->k.value + q->k.start[i], k + (long)i * n, (size_t)(i + 1) * sizeof *k);
    return finish_matrix(q);
}

HR_RT hr_status qp_set_banded(qp *q, int n, int half_bandwidth, const double *band)
{
    hr_status status = start_matrix(q, n);
    if (status != HR_OK)
        return status;
    if (half_bandwidth < 0)
        return HR_ERR_ARGUMENT;
    for (int i = 0; i < n; i++)
        q->k.first[i] = i > half_bandwidth ? i - half_bandwidth : 0;
    if ((status = layout(q)) != HR_OK)
        return status;
    for (int i = 0; i < n; i++) {
        int count = i - q->k.first[i] + 1;
        const double *row = band + (long)i * (half_bandwidth + 1) + (half_bandwidth + 1 - count);
        memcpy(q->k.value + q->k.start[i], row, (size_t)count * sizeof *row);
    }
    return finish_matrix(q);
}

HR_RT hr_status qp_set_blocks(qp *q, int count, const int *sizes, const double *blocks)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (sizes[i] <= 0 || sizes[i] > q->limits.variables - n) {
            q->has_matrix = false;
            return sizes[i] <= 0 ? HR_ERR_ARGUMENT : HR_ERR_CAPACITY;
        }
        n += sizes[i];
    }
    hr_status status = start_matrix(q, n);
    if (status != HR_OK)
        return status;
    for (int block = 0, at = 0; block < count; at += sizes[block], block++)
        for (int i = 0; i < sizes[block]; i++)
            q->k.first[at + i] = at;
    if ((status = layout(q)) != HR_OK)
        return status;
    for (int block = 0, at = 0; block < count; at += sizes[block], block++) {
        int size = sizes[block];
        for (int i = 0; i < size; i++)
            memcpy(q->k.value + q->k.start[at + i], blocks + (long)i * size,
                   (size_t)(i + 1) * sizeof *blocks);
        blocks += (long)size * size;
    }
    return finish_matrix(q);
}

HR_RT hr_status qp_set_envelope(qp *q, int n, const int *first, const double *values)
{
    hr_status status = start_matrix(q, n);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < n; i++) {
        if (first[i] < 0 || first[i] > i)
            return HR_ERR_ARGUMENT;
        q->k.first[i] = first[i];
    }
    if ((status = layout(q)) != HR_OK)
        return status;
    memcpy(q->k.value, values, (size_t)q->k.start[n] * sizeof *values);
    return finish_matrix(q);
}

HR_RT hr_status qp_set_b(qp *q, const double *b)
{
    q->has_b = false;
    for (int i = 0; i < q->n; i++)
        if (!isfinite(b[i]))
            return HR_ERR_NOT_FINITE;
    memcpy(q->b, b, (size_t)q->n * sizeof *b);
    q->has_b = true;
    q->is_base_new = true;
    return HR_OK;
}

HR_RT void qp_rows_begin(qp *q)
{
    remember(q);
    q->m = 0;
    q->entries = 0;
    q->is_refused = false;
    q->is_guess_old = !q->has_matrix;
    q->is_structure_new = true;
}

HR_RT static hr_status check_bounds(const qp *q, const qp_row *row)
{
    if (q->m >= q->limits.rows || row->count < 0 || q->entries + row->count > q->limits.entries)
        return HR_ERR_CAPACITY;
    if (!(row->low <= row->high) || row->low == (double)INFINITY || row->high == -(double)INFINITY)
        return isnan(row->low) || isnan(row->high) ? HR_ERR_NOT_FINITE : HR_ERR_ARGUMENT;
    if (!isfinite(row->softness))
        return HR_ERR_NOT_FINITE;
    return row->softness < 0 ? HR_ERR_ARGUMENT : HR_OK;
}

/* A mark that no variable has. */
HR_RT static int next_stamp(qp *q)
{
    if (q->mark_stamp == INT_MAX) {
        memset(q->mark, 0, (size_t)q->limits.variables * sizeof *q->mark);
        q->mark_stamp = 0;
    }
    return ++q->mark_stamp;
}

/* Copies the entries that are not zero; refuses places out of range or named twice. Its norm is
 * guessed from the diagonal of K. */
HR_RT static hr_status copy_entries(qp *q, const qp_row *row, qp_stored_row *to)
{
    int stamp = next_stamp(q), count = 0, from = q->n, n = q->n, entries = row->count;
    int *index = q->index + q->entries, *mark = q->mark;
    double *value = q->value + q->entries, squares = 0, guess = 0;
    const double *inverse_diagonal = q->inverse_diagonal;
    for (int i = 0; i < entries; i++) {
        int at = row->index[i];
        double v = row->value[i];
        if ((unsigned)at >= (unsigned)n || mark[at] == stamp)
            return HR_ERR_ARGUMENT;
        mark[at] = stamp;
        if (v == 0.0)
            continue;
        index[count] = at;
        value[count++] = v;
        squares += v * v;
        guess += v * v * inverse_diagonal[at];
        from = at < from ? at : from;
    }
    to->count = count;
    to->from = from;
    to->squares = squares;
    to->norm = guess > 0 ? sqrt(guess) : 1.0;
    to->scale = 1.0 / to->norm;
    if (isfinite(squares))
        return HR_OK;
    for (int i = 0; i < row->count; i++)
        if (!isfinite(row->value[i]))
            return HR_ERR_NOT_FINITE;
    return HR_ERR_ARGUMENT; /* so large that its length overflows */
}

HR_RT hr_status qp_row_add(qp *q, const qp_row *row)
{
    qp_stored_row *to = &q->rows[q->m];
    hr_status status = check_bounds(q, row);
    if (status == HR_OK) {
        to->key = row->key;
        to->start = q->entries;
        to->low = row->low;
        to->high = row->high;
        to->softness = row->softness;
        to->slot = -1;
        to->place = -1;
        to->is_equality = row->low == row->high;
        status = copy_entries(q, row, to);
    }
    if (status != HR_OK) {
        q->is_refused = true;
        return status;
    }
    q->entries += to->count;
    q->m++;
    return HR_OK;
}

HR_RT hr_status qp_row_bounds(qp *q, int row, double low, double high)
{
    if (row < 0 || row >= q->m)
        return HR_ERR_ARGUMENT;
    if (isnan(low) || isnan(high))
        return HR_ERR_NOT_FINITE;
    if (!(low <= high) || (low == high) != q->rows[row].is_equality)
        return HR_ERR_ARGUMENT;
    q->rows[row].low = low;
    q->rows[row].high = high;
    q->is_current = false;
    return HR_OK;
}

HR_RT void qp_apply_inverse(const qp *q, double *x)
{
    qp_envelope_forward(&q->l, x, 0);
    qp_envelope_backward(&q->l, x);
}

HR_RT int qp_row_count(const qp *q)
{
    return q->m;
}

HR_RT int qp_variables(const qp *q)
{
    return q->n;
}

HR_RT const double *qp_x(const qp *q)
{
    return q->x;
}

HR_RT double qp_lambda(const qp *q, int row)
{
    const qp_stored_row *r = &q->rows[row];
    return r->place < 0 ? 0.0 : q->active[r->place].mu * r->scale;
}

HR_RT double qp_lambda_of_key(const qp *q, uint64_t key)
{
    for (int i = 0; i < q->na; i++)
        if (q->rows[q->active[i].row].key == key)
            return qp_lambda(q, q->active[i].row);
    return 0.0;
}

HR_RT int qp_side(const qp *q, int row)
{
    const qp_stored_row *r = &q->rows[row];
    return r->place < 0 ? 0 : q->active[r->place].sign;
}

HR_RT void qp_force(const qp *q, double *out)
{
    for (int i = 0; i < q->n; i++)
        out[i] = 0.0;
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        qp_row_scatter(q, row, q->active[i].mu * row->scale, out);
    }
}

/* z = e_p - sum comb_j e_j, in units of the rows as given. */
HR_RT int qp_certificate(const qp *q, int *rows, double *factors, int room)
{
    if (q->info.status != QP_INFEASIBLE)
        return 0;
    int count = 0;
    const qp_stored_row *p = &q->rows[q->certificate_row];
    if (count < room) {
        rows[count] = q->certificate_row;
        factors[count] = q->certificate_sign / (p->norm > 0 ? p->norm : 1.0);
    }
    count++;
    for (int i = 0; i < q->na && p->norm > 0; i++) {
        if (fabs(q->comb[i]) < 1e-12) /* rounding, perhaps of the wrong sign */
            continue;
        if (count < room) {
            rows[count] = q->active[i].row;
            factors[count] = -q->certificate_sign * q->comb[i] / q->rows[q->active[i].row].norm;
        }
        count++;
    }
    return count;
}
