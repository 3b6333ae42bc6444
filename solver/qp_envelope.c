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

/* Row by row: entry j of row i is a difference of two products of stored rows, both contiguous. */
HR_RT hr_status qp_envelope_factor(const qp_envelope *k, qp_envelope *l, double least)
{
    l->size = k->size;
    for (int i = 0; i < k->size; i++) {
        l->first[i] = k->first[i];
        l->start[i] = k->start[i];
    }
    l->start[k->size] = k->start[k->size];

    for (int i = 0; i < k->size; i++) {
        int fi = k->first[i];
        const double *source = k->value + k->start[i];
        double *row = l->value + l->start[i];
        for (int j = fi; j < i; j++) {
            int fj = l->first[j], from = fi > fj ? fi : fj;
            const double *other = l->value + l->start[j];
            double sum = qp_dot(row + (from - fi), other + (from - fj), j - from);
            row[j - fi] = (source[j - fi] - sum) * l->inverse[j];
        }
        double diagonal = source[i - fi];
        double pivot = diagonal - qp_dot(row, row, i - fi);
        if (!(diagonal > 0) || !(pivot > least * diagonal) || !isfinite(pivot))
            return HR_ERR_SINGULAR;
        row[i - fi] = sqrt(pivot);
        l->inverse[i] = 1.0 / row[i - fi];
    }
    return HR_OK;
}

HR_RT void qp_envelope_forward(const qp_envelope *l, double *y, int from)
{
    int last = from - 1; /* newest row that is not zero */
    for (int i = from; i < l->size; i++) {
        int first = l->first[i] > from ? l->first[i] : from;
        if (first > last && y[i] == 0.0)
            continue;
        const double *row = l->value + l->start[i] - l->first[i];
        y[i] = (y[i] - qp_dot(row + first, y + first, i - first)) * l->inverse[i];
        last = i;
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
