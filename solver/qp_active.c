/* The active rows as unit vectors of the least-distance form and the triangle R of their products.
 * Near-dependent rows are projected twice (corrected semi-normal equations), which keeps the
 * accuracy of an orthogonal factorisation without storing one. */
#include <math.h>

#include "solver/qp_internal.h"
#include "solver/qp_vector.h"

/* Squared sine below which the projection is repeated. */
#define PROJECT_AGAIN 1e-2

HR_RT double qp_row_dot(const qp *q, const qp_stored_row *row, const double *x)
{
    double sum = 0;
    const int *index = q->index + row->start;
    const double *value = q->value + row->start;
    for (int i = 0; i < row->count; i++)
        sum += value[i] * x[index[i]];
    return sum;
}

HR_RT void qp_row_scatter(const qp *q, const qp_stored_row *row, double factor, double *x)
{
    const int *index = q->index + row->start;
    const double *value = q->value + row->start;
    for (int i = 0; i < row->count; i++)
        x[index[i]] += factor * value[i];
}

/* Added to a unit row's squared length. */
HR_RT double qp_soft_of(const qp_stored_row *row)
{
    return row->softness > 0 ? row->softness / (row->norm * row->norm) : 0.0;
}

/* Free slots first, then whatever does not hold a row of the active set. */
HR_RT static int take_slot(qp *q)
{
    if (q->slots_used < q->slot_room)
        return q->slots_used++;
    for (;;) {
        q->slot_next = (q->slot_next + 1) % q->slot_room;
        int row = q->slot_row[q->slot_next];
        if (q->rows[row].place >= 0)
            continue;
        q->rows[row].slot = -1;
        return q->slot_next;
    }
}

HR_RT int qp_slot(qp *q, int p)
{
    qp_stored_row *row = &q->rows[p];
    if (row->slot >= 0)
        return row->slot;
    int slot = take_slot(q);
    double *unit = qp_unit(q, slot);
    for (int i = 0; i < q->n; i++)
        unit[i] = 0.0;
    qp_row_scatter(q, row, 1.0, unit);
    qp_envelope_forward(&q->l, unit, row->from < q->n ? row->from : 0);
    double norm = sqrt(qp_dot(unit, unit, q->n));
    double inverse = norm > 0 ? 1.0 / norm : 0.0;
    for (int i = row->from; i < q->n; i++)
        unit[i] *= inverse;
    row->norm = norm > 0 ? norm : 1.0;
    row->slot = slot;
    q->slot_row[slot] = p;
    return slot;
}

HR_RT static void forward_factor(qp *q, const double *in, double *out)
{
    for (int i = 0; i < q->na; i++) {
        const double *row = qp_r_row(q, i);
        out[i] = (in[i] - qp_dot(row, out, i)) / row[i];
    }
}

HR_RT static void backward_factor(qp *q, double *x)
{
    for (int i = q->na - 1; i >= 0; i--) {
        const double *row = qp_r_row(q, i);
        x[i] /= row[i];
        qp_add_scaled(x, -x[i], row, i);
    }
}

HR_RT void qp_solve_factor(qp *q, double *x)
{
    forward_factor(q, x, x);
    backward_factor(q, x);
}

/* Takes comb times the active rows from direction. */
HR_RT static void subtract(qp *q, const double *comb)
{
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        if (comb[i] != 0.0)
            qp_add_scaled(q->direction + row->from, -comb[i], qp_unit(q, row->slot) + row->from,
                          q->n - row->from);
    }
}

/* What the active rows still see of the direction, less their softness. */
HR_RT static void residual(qp *q, double *out)
{
    for (int i = 0; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        out[i] =
            qp_dot(qp_unit(q, row->slot) + row->from, q->direction + row->from, q->n - row->from) -
            qp_soft_of(row) * q->comb[i];
    }
}

/* Squared length of the rest, softness included. */
HR_RT static double rest(const qp *q, int p)
{
    double sum = qp_dot(q->direction, q->direction, q->n) + qp_soft_of(&q->rows[p]);
    for (int i = 0; i < q->na; i++)
        sum += qp_soft_of(&q->rows[q->active[i].row]) * q->comb[i] * q->comb[i];
    return sum;
}

/* Splits the unit row p into a combination of the active rows (comb) and the rest (direction);
 * returns the squared length of the rest, and leaves in w the row to append to R. With has_gram the
 * products with the active rows are those of the last call, less deleted ones. */
HR_RT double qp_project(qp *q, int p, bool has_gram)
{
    const qp_stored_row *row = &q->rows[p];
    const double *unit = qp_unit(q, row->slot);
    for (int i = 0; i < q->na && !has_gram; i++) {
        const qp_stored_row *other = &q->rows[q->active[i].row];
        int from = row->from > other->from ? row->from : other->from;
        q->gram[i] = qp_dot(qp_unit(q, other->slot) + from, unit + from, q->n - from);
    }
    memcpy(q->direction, unit, (size_t)q->n * sizeof *unit);
    if (q->na == 0)
        return 1.0 + qp_soft_of(row);
    forward_factor(q, q->gram, q->w);
    memcpy(q->comb, q->w, (size_t)q->na * sizeof *q->w);
    backward_factor(q, q->comb);
    subtract(q, q->comb);
    double rho2 = rest(q, p);
    for (int round = 0; round < 2 && rho2 < PROJECT_AGAIN; round++) {
        double *more = q->w;
        residual(q, more);
        qp_solve_factor(q, more);
        subtract(q, more);
        for (int i = 0; i < q->na; i++)
            q->comb[i] += more[i];
        double before = rho2;
        rho2 = rest(q, p);
        forward_factor(q, q->gram, q->w);
        if (rho2 > 0.25 * before)
            break;
    }
    return rho2;
}

HR_RT void qp_append(qp *q, int p, int sign, double mu, double rho2)
{
    double *row = qp_r_row(q, q->na);
    memcpy(row, q->w, (size_t)q->na * sizeof *row);
    row[q->na] = sqrt(rho2);
    q->active[q->na] = (qp_active){p, sign, mu};
    q->rows[p].place = q->na;
    q->na++;
    q->updates++;
}

/* Moves the rows after `place` up by one; each then has one entry too many, which a rotation of
 * neighbouring columns takes away. Row by row: every earlier rotation, then its own. */
HR_RT void qp_delete(qp *q, int place)
{
    q->rows[q->active[place].row].place = -1;
    double *cosine = q->w, *sine = q->comb;
    for (int i = place; i + 1 < q->na; i++) {
        const double *from = qp_r_row(q, i + 1);
        double *to = qp_r_row(q, i);
        double last = from[i + 1];
        memmove(to, from, (size_t)(i + 1) * sizeof *to);
        for (int c = place; c < i; c++) {
            double a = to[c], b = to[c + 1];
            to[c] = cosine[c] * a + sine[c] * b;
            to[c + 1] = cosine[c] * b - sine[c] * a;
        }
        double length = sqrt(to[i] * to[i] + last * last);
        cosine[i] = to[i] / length;
        sine[i] = last / length;
        to[i] = length;
        q->active[i] = q->active[i + 1];
        q->rows[q->active[i].row].place = i;
    }
    q->na--;
    q->updates++;
}

/* From scratch, row after row; a row that turns out dependent leaves the set. */
HR_RT void qp_rebuild(qp *q)
{
    int count = q->na;
    q->na = 0;
    for (int i = 0; i < count; i++)
        q->rows[q->active[i].row].place = -1;
    for (int i = 0; i < count; i++) {
        qp_active a = q->active[i];
        double rho2 = qp_project(q, a.row, false);
        if (rho2 > q->settings.dependence)
            qp_append(q, a.row, a.sign, a.mu, rho2);
    }
    q->updates = 0;
}
