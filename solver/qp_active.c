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
    return qp_gather_dot(q->value + row->start, q->index + row->start, row->count, x);
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
    return row->softness > 0 ? row->softness * (row->scale * row->scale) : 0.0;
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
    memset(unit, 0, (size_t)q->n * sizeof *unit);
    qp_row_scatter(q, row, 1.0, unit);
    qp_envelope_forward(&q->l, unit, row->from < q->n ? row->from : 0);
    double norm = sqrt(qp_dot(unit, unit, q->n));
    row->norm = norm > 0 ? norm : 1.0;
    row->scale = 1.0 / row->norm;
    row->until = row->from;
    for (int i = row->from; i < q->n; i++) {
        unit[i] *= row->scale;
        row->until = unit[i] != 0.0 ? i + 1 : row->until;
    }
    row->slot = slot;
    q->slot_row[slot] = p;
    return slot;
}

HR_RT static void forward_factor(qp *q, double *x)
{
    q->r.size = q->na;
    qp_envelope_forward(&q->r, x, 0);
}

HR_RT static void backward_factor(qp *q, double *x)
{
    q->r.size = q->na;
    qp_envelope_backward(&q->r, x);
}

HR_RT void qp_solve_factor(qp *q, double *x)
{
    forward_factor(q, x);
    backward_factor(q, x);
}

/* Where unit vectors are not zero. */
typedef struct span {
    int from, until;
} span;

/* Unit vectors of four active rows in sequence from where the first of them begins. */
HR_RT static span four_units(const qp *q, int place, const double *units[4])
{
    span all = {q->n, 0};
    for (int k = 0; k < 4; k++) {
        const qp_stored_row *row = &q->rows[q->active[place + k].row];
        units[k] = qp_unit(q, row->slot);
        all.from = row->from < all.from ? row->from : all.from;
        all.until = row->until > all.until ? row->until : all.until;
    }
    for (int k = 0; k < 4; k++)
        units[k] += all.from;
    return all;
}

/* out = Y_A' x, where x is zero outside the span */
HR_RT static void dot_active(const qp *q, const double *x, span of_x, double *out)
{
    int i = 0;
    for (; i + 4 <= q->na; i += 4) {
        const double *units[4];
        span s = four_units(q, i, units);
        int skip = of_x.from > s.from ? of_x.from - s.from : 0;
        int until = s.until < of_x.until ? s.until : of_x.until;
        for (int k = 0; k < 4; k++)
            units[k] += skip;
        s.from += skip;
        qp_dot_four(x + s.from, units, until - s.from, out + i);
    }
    for (; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        int from = row->from > of_x.from ? row->from : of_x.from;
        int until = row->until < of_x.until ? row->until : of_x.until;
        out[i] = qp_dot(x + from, qp_unit(q, row->slot) + from, until - from);
    }
}

/* Takes comb times the active rows from direction. */
HR_RT static void subtract(qp *q, const double *comb)
{
    int i = 0;
    for (; i + 4 <= q->na; i += 4) {
        const double *units[4], factor[4] = {-comb[i], -comb[i + 1], -comb[i + 2], -comb[i + 3]};
        if (factor[0] == 0.0 && factor[1] == 0.0 && factor[2] == 0.0 && factor[3] == 0.0)
            continue;
        span s = four_units(q, i, units);
        qp_add_four(q->direction + s.from, factor, units, s.until - s.from);
    }
    for (; i < q->na; i++) {
        const qp_stored_row *row = &q->rows[q->active[i].row];
        qp_add_scaled(q->direction + row->from, -comb[i], qp_unit(q, row->slot) + row->from,
                      row->until - row->from);
    }
}

/* What the active rows still see of the direction, less their softness. */
HR_RT static void residual(qp *q, double *out)
{
    dot_active(q, q->direction, (span){0, q->n}, out);
    for (int i = 0; i < q->na; i++)
        out[i] -= qp_soft_of(&q->rows[q->active[i].row]) * q->comb[i];
}

/* Squared length of the rest, softness included. */
HR_RT static double rest(const qp *q, int p)
{
    double sum = qp_dot(q->direction, q->direction, q->n) + qp_soft_of(&q->rows[p]);
    for (int i = 0; i < q->na; i++)
        sum += qp_soft_of(&q->rows[q->active[i].row]) * q->comb[i] * q->comb[i];
    return sum;
}

/* w = R^-1 Y_A' Y_p, the row to append to R. */
HR_RT static void row_to_append(qp *q)
{
    memcpy(q->w, q->gram, (size_t)q->na * sizeof *q->w);
    forward_factor(q, q->w);
}

/* Splits the unit row p into a combination of the active rows (comb) and the rest (direction);
 * returns the squared length of the rest, and leaves in w the row to append to R. With has_gram the
 * products with the active rows are those of the last call, less deleted ones. */
HR_RT double qp_project(qp *q, int p, bool has_gram)
{
    const qp_stored_row *row = &q->rows[p];
    const double *unit = qp_unit(q, row->slot);
    if (!has_gram)
        dot_active(q, unit, (span){row->from, row->until}, q->gram);
    memcpy(q->direction, unit, (size_t)q->n * sizeof *unit);
    if (q->na == 0)
        return 1.0 + qp_soft_of(row);
    row_to_append(q);
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
        row_to_append(q);
        if (rho2 > 0.25 * before)
            break;
    }
    return rho2;
}

/* The same for a row that is only to be appended: where it is far from the others the products
 * alone tell how far. */
HR_RT double qp_project_to_append(qp *q, int p)
{
    const qp_stored_row *row = &q->rows[p];
    dot_active(q, qp_unit(q, row->slot), (span){row->from, row->until}, q->gram);
    row_to_append(q);
    double rho2 = 1.0 + qp_soft_of(row) - qp_dot(q->w, q->w, q->na);
    return rho2 < PROJECT_AGAIN ? qp_project(q, p, true) : rho2;
}

HR_RT void qp_append(qp *q, int p, int sign, double mu, double rho2)
{
    double *row = qp_r_row(q, q->na);
    memcpy(row, q->w, (size_t)q->na * sizeof *row);
    row[q->na] = sqrt(rho2);
    q->r.inverse[q->na] = 1.0 / row[q->na];
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
        q->r.inverse[i] = 1.0 / length;
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
        double rho2 = qp_project_to_append(q, a.row);
        if (rho2 > q->settings.dependence)
            qp_append(q, a.row, a.sign, a.mu, rho2);
    }
    q->updates = 0;
}
