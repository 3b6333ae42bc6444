#include "solver/qp_envelope.h"

#include <math.h>

#include "solver/qp_vector.h"

HR_RT long qp_envelope_layout(qp_envelope *e)
{
    e->start[0] = 0;
    for (int i = 0; i < e->size; i++)
        e->start[i + 1] = e->start[i] + (i - e->first[i] + 1);
    return e->start[e->size];
}

/* Entries of row i of L left of the diagonal, two at a time where two rows start alike. */
HR_RT static void factor_row(const qp_envelope *k, qp_envelope *l, int i)
{
    int fi = k->first[i];
    const double *source = k->value + k->start[i] - fi;
    double *row = l->value + l->start[i] - fi;
    for (int j = fi; j < i;) {
        int fj = l->first[j], from = fi > fj ? fi : fj;
        const double *other = l->value + l->start[j] - fj;
        if (j + 1 < i && l->first[j + 1] == fj) {
            const double *next = l->value + l->start[j + 1] - fj;
            double one, two;
            qp_dot_pair(row + from, other + from, next + from, j - from, &one, &two);
            row[j] = (source[j] - one) * l->inverse[j];
            two += row[j] * next[j];
            row[j + 1] = (source[j + 1] - two) * l->inverse[j + 1];
            j += 2;
        } else {
            row[j] = (source[j] - qp_dot(row + from, other + from, j - from)) * l->inverse[j];
            j++;
        }
    }
}

HR_RT hr_status qp_envelope_factor(const qp_envelope *k, qp_envelope *l, double least)
{
    l->size = k->size;
    for (int i = 0; i < k->size; i++) {
        l->first[i] = k->first[i];
        l->start[i] = k->start[i];
    }
    l->start[k->size] = k->start[k->size];

    for (int i = 0; i < k->size; i++) {
        int before = i - k->first[i];
        double *row = l->value + l->start[i];
        factor_row(k, l, i);
        double diagonal = k->value[k->start[i] + before];
        double pivot = diagonal - qp_dot(row, row, before);
        if (!(diagonal > 0) || !(pivot > least * diagonal) || !isfinite(pivot))
            return HR_ERR_SINGULAR;
        row[before] = sqrt(pivot);
        l->inverse[i] = 1.0 / row[before];
    }
    return HR_OK;
}

/* Two rows at a time where both start left of what is known; zero stretches are passed over. */
HR_RT void qp_envelope_forward(const qp_envelope *l, double *y, int from)
{
    int last = from - 1; /* newest row that is not zero */
    for (int i = from; i < l->size;) {
        int first = l->first[i] > from ? l->first[i] : from;
        if (first > last && y[i] == 0.0) {
            i++;
            continue;
        }
        const double *row = l->value + l->start[i] - l->first[i];
        if (i + 1 < l->size && l->first[i + 1] == l->first[i]) {
            const double *next = l->value + l->start[i + 1] - l->first[i];
            double one, two;
            qp_dot_pair(y + first, row + first, next + first, i - first, &one, &two);
            y[i] = (y[i] - one) * l->inverse[i];
            y[i + 1] = (y[i + 1] - (two + next[i] * y[i])) * l->inverse[i + 1];
            i += 2;
        } else {
            y[i] = (y[i] - qp_dot(row + first, y + first, i - first)) * l->inverse[i];
            i++;
        }
        last = i - 1;
    }
}

HR_RT void qp_envelope_backward(const qp_envelope *l, double *y)
{
    for (int i = l->size - 1; i >= 0; i--) {
        if (y[i] == 0.0)
            continue;
        int first = l->first[i];
        const double *row = l->value + l->start[i];
        y[i] *= l->inverse[i];
        qp_add_scaled(y + first, -y[i], row, i - first);
    }
}

HR_RT void qp_envelope_multiply(const qp_envelope *k, const double *x, double *out)
{
    for (int i = 0; i < k->size; i++)
        out[i] = 0.0;
    for (int i = 0; i < k->size; i++) {
        int first = k->first[i];
        const double *row = k->value + k->start[i];
        out[i] += qp_dot(row, x + first, i - first + 1);
        qp_add_scaled(out + first, x[i], row, i - first);
    }
}
