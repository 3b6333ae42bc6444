#include "solver/qp_envelope.h"

#include <math.h>
#include <stdbool.h>

#include "solver/qp_vector.h"

HR_RT long qp_envelope_layout(qp_envelope *e)
{
    e->start[0] = 0;
    for (int i = 0; i < e->size; i++)
        e->start[i + 1] = e->start[i] + (i - e->first[i] + 1);
    return e->start[e->size];
}

HR_RT static int first_of(const qp_envelope *e, int i, int from)
{
    return e->first[i] > from ? e->first[i] : from;
}

/* Four rows that start in the same column, which is left of them all. */
HR_RT static bool are_alike(const qp_envelope *e, int i, int from)
{
    int first = first_of(e, i, from);
    return first_of(e, i + 1, from) == first && first_of(e, i + 2, from) == first &&
           first_of(e, i + 3, from) == first;
}

HR_RT static void four_rows(const qp_envelope *e, int i, int first, const double *rows[4])
{
    for (int k = 0; k < 4; k++)
        rows[k] = e->value + e->start[i + k] + (first - e->first[i + k]);
}

HR_RT static void forward_four(const qp_envelope *l, double *y, int i, int first)
{
    const double *rows[4], *inverse = l->inverse + i;
    double sum[4], *at = y + i;
    int length = i - first;
    four_rows(l, i, first, rows);
    qp_dot_four(y + first, rows, length, sum);
    at[0] = (at[0] - sum[0]) * inverse[0];
    at[1] = (at[1] - (sum[1] + rows[1][length] * at[0])) * inverse[1];
    at[2] =
        (at[2] - ((sum[2] + rows[2][length] * at[0]) + rows[2][length + 1] * at[1])) * inverse[2];
    at[3] = (at[3] - (((sum[3] + rows[3][length] * at[0]) + rows[3][length + 1] * at[1]) +
                      rows[3][length + 2] * at[2])) *
            inverse[3];
}

/* y[from .. to) = L^-1 y there; zero stretches are passed over. */
HR_RT static void forward_range(const qp_envelope *l, double *y, int from, int to)
{
    int last = from - 1; /* newest row that is not zero */
    for (int i = from; i < to;) {
        int first = first_of(l, i, from);
        if (first > last && y[i] == 0.0) {
            i++;
            continue;
        }
        if (i + 4 <= to && are_alike(l, i, from)) {
            forward_four(l, y, i, first);
            i += 4;
        } else {
            const double *row = l->value + l->start[i] + (first - l->first[i]);
            y[i] = (y[i] - qp_dot(row, y + first, i - first)) * l->inverse[i];
            i++;
        }
        last = i - 1;
    }
}

HR_RT hr_status qp_envelope_factor(const qp_envelope *k, qp_envelope *l, double least)
{
    l->size = k->size;
    memcpy(l->first, k->first, (size_t)k->size * sizeof *l->first);
    memcpy(l->start, k->start, ((size_t)k->size + 1) * sizeof *l->start);
    memcpy(l->value, k->value, (size_t)k->start[k->size] * sizeof *l->value);

    /* Row i of L left of the diagonal is L^-1 times that row of K. */
    for (int i = 0; i < k->size; i++) {
        int before = i - k->first[i];
        double *row = l->value + l->start[i], diagonal = row[before];
        forward_range(l, row - k->first[i], k->first[i], i);
        double pivot = diagonal - qp_dot(row, row, before);
        if (!(diagonal > 0) || !(pivot > least * diagonal) || !isfinite(pivot))
            return HR_ERR_SINGULAR;
        row[before] = sqrt(pivot);
        l->inverse[i] = 1.0 / row[before];
    }
    return HR_OK;
}

HR_RT hr_status qp_envelope_factor_signed(qp_envelope *l, const signed char *sign)
{
    for (int i = 0; i < l->size; i++) {
        int first = l->first[i], before = i - first;
        double *row = l->value + l->start[i], pivot = sign[i] * row[before];
        forward_range(l, row - first, first, i);
        for (int j = 0; j < before; j++) {
            double square = row[j] * row[j];
            pivot -= sign[i] == sign[first + j] ? square : -square;
            row[j] = sign[first + j] > 0 ? row[j] : -row[j];
        }
        if (!(pivot > 0) || !isfinite(pivot))
            return HR_ERR_SINGULAR;
        row[before] = sqrt(pivot);
        l->inverse[i] = 1.0 / row[before];
    }
    return HR_OK;
}

HR_RT void qp_envelope_forward(const qp_envelope *l, double *y, int from)
{
    forward_range(l, y, from, l->size);
}

HR_RT static void backward_four(const qp_envelope *l, double *y, int i)
{
    const double *rows[4], *inverse = l->inverse + i;
    double *at = y + i, factor[4];
    int first = l->first[i], length = i - first;
    four_rows(l, i, first, rows);
    at[3] *= inverse[3];
    at[2] = (at[2] - rows[3][length + 2] * at[3]) * inverse[2];
    at[1] = ((at[1] - rows[3][length + 1] * at[3]) - rows[2][length + 1] * at[2]) * inverse[1];
    at[0] =
        (((at[0] - rows[3][length] * at[3]) - rows[2][length] * at[2]) - rows[1][length] * at[1]) *
        inverse[0];
    for (int k = 0; k < 4; k++)
        factor[k] = -at[k];
    qp_add_four(y + first, factor, rows, length);
}

HR_RT void qp_envelope_backward(const qp_envelope *l, double *y)
{
    for (int i = l->size; i > 0;) {
        if (i >= 4 && are_alike(l, i - 4, 0)) {
            backward_four(l, y, i - 4);
            i -= 4;
            continue;
        }
        i--;
        if (y[i] == 0.0)
            continue;
        int first = l->first[i];
        y[i] *= l->inverse[i];
        qp_add_scaled(y + first, -y[i], l->value + l->start[i], i - first);
    }
}

/* Rows i .. i + 3 of the lower triangle and the same columns of the upper one. */
HR_RT static void multiply_four(const qp_envelope *k, const double *x, int i, double *out)
{
    const double *rows[4];
    double sum[4];
    int first = k->first[i], length = i - first;
    four_rows(k, i, first, rows);
    qp_dot_four(x + first, rows, length, sum);
    qp_add_four(out + first, x + i, rows, length);
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < r; c++) {
            sum[r] += rows[r][length + c] * x[i + c];
            sum[c] += rows[r][length + c] * x[i + r];
        }
        sum[r] += rows[r][length + r] * x[i + r];
    }
    for (int r = 0; r < 4; r++)
        out[i + r] += sum[r];
}

HR_RT void qp_envelope_multiply(const qp_envelope *k, const double *x, double *out)
{
    for (int i = 0; i < k->size; i++)
        out[i] = 0.0;
    for (int i = 0; i < k->size;) {
        if (i + 4 <= k->size && are_alike(k, i, 0)) {
            multiply_four(k, x, i, out);
            i += 4;
            continue;
        }
        int first = k->first[i];
        const double *row = k->value + k->start[i];
        out[i] += qp_dot(row, x + first, i - first + 1);
        qp_add_scaled(out + first, x[i], row, i - first);
        i++;
    }
}
