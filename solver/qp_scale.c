#include "solver/qp_scale.h"

#include <math.h>
#include <stdlib.h>

#include "solver/qp_vector.h"

enum { SCALE_ROUNDS = 15 };

static bool copy_sparse(const qp_sparse *from, qp_sparse *to)
{
    size_t count = (size_t)from->start[from->rows];
    *to = (qp_sparse){.rows = from->rows, .cols = from->cols};
    to->start = malloc(((size_t)from->rows + 1) * sizeof *to->start);
    to->index = malloc((count + 1) * sizeof *to->index);
    to->value = malloc((count + 1) * sizeof *to->value);
    if (!to->start || !to->index || !to->value)
        return false;
    memcpy(to->start, from->start, ((size_t)from->rows + 1) * sizeof *to->start);
    memcpy(to->index, from->index, count * sizeof *to->index);
    memcpy(to->value, from->value, count * sizeof *to->value);
    return true;
}

static void scale_sparse(qp_sparse *s, const double *rows, const double *cols)
{
    for (int i = 0; i < s->rows; i++)
        for (long e = s->start[i]; e < s->start[i + 1]; e++)
            s->value[e] *= rows[i] * cols[s->index[e]];
}

static double factor_of(double largest)
{
    return largest > 1e-300 ? 1.0 / sqrt(largest) : 1.0;
}

/* One round: the largest entry of every row and column of the saddle matrix nearer to one. */
static void balance(qp_scaled *s, double *column, double *row)
{
    memset(column, 0, (size_t)s->n * sizeof *column);
    for (int i = 0; i < s->n; i++)
        for (long e = s->p.start[i]; e < s->p.start[i + 1]; e++)
            column[i] = qp_max(column[i], fabs(s->p.value[e]));
    for (int i = 0; i < s->m; i++) {
        row[i] = 0;
        for (long e = s->a.start[i]; e < s->a.start[i + 1]; e++) {
            double size = fabs(s->a.value[e]);
            row[i] = qp_max(row[i], size);
            column[s->a.index[e]] = qp_max(column[s->a.index[e]], size);
        }
        row[i] = factor_of(row[i]);
        s->e[i] *= row[i];
    }
    for (int j = 0; j < s->n; j++) {
        column[j] = factor_of(column[j]);
        s->d[j] *= column[j];
    }
    scale_sparse(&s->p, column, column);
    scale_sparse(&s->a, row, column);
}

static double size_of_costs(const qp_scaled *s, const double *q)
{
    double sum = 0, most = 0;
    for (int i = 0; i < s->n; i++) {
        double largest = 0;
        for (long e = s->p.start[i]; e < s->p.start[i + 1]; e++)
            largest = qp_max(largest, fabs(s->p.value[e]));
        sum += largest;
        most = qp_max(most, fabs(s->d[i] * q[i]));
    }
    return qp_max(sum / s->n, most);
}

/* Collections write 1e20 where they mean that there is no bound. */
static double bound_of(double value)
{
    return fabs(value) >= 1e20 ? copysign((double)INFINITY, value) : value;
}

bool qp_scale(const qp_program *p, qp_scaled *out)
{
    size_t n = (size_t)p->n, m = (size_t)p->m;
    *out = (qp_scaled){.n = p->n, .m = p->m, .cost = 1.0};
    double *scratch = malloc((n + m + 1) * sizeof *scratch);
    double *memory = malloc((2 * n + 3 * m + 1) * sizeof *memory);
    bool ok = scratch && memory && copy_sparse(&p->p, &out->p) && copy_sparse(&p->a, &out->a);
    out->q = memory;
    if (ok) {
        out->d = memory + n;
        out->low = out->d + n;
        out->high = out->low + m;
        out->e = out->high + m;
        for (size_t j = 0; j < n; j++)
            out->d[j] = 1.0;
        for (size_t i = 0; i < m; i++)
            out->e[i] = 1.0;
        for (int round = 0; round < SCALE_ROUNDS; round++)
            balance(out, scratch, scratch + n);
        double costs = size_of_costs(out, p->q);
        out->cost = costs > 1e-300 ? 1.0 / costs : 1.0;
        for (long e = 0; e < out->p.start[p->n]; e++)
            out->p.value[e] *= out->cost;
        for (size_t j = 0; j < n; j++)
            out->q[j] = out->cost * out->d[j] * p->q[j];
        for (size_t i = 0; i < m; i++) {
            /* equal but for rounding is equal */
            out->low[i] = out->e[i] * bound_of(p->low[i]);
            out->high[i] = out->e[i] * bound_of(qp_max(p->low[i], p->high[i]));
        }
    }
    free(scratch);
    if (!ok)
        qp_scaled_free(out);
    return ok;
}

void qp_scaled_free(qp_scaled *s)
{
    qp_sparse_free(&s->p);
    qp_sparse_free(&s->a);
    free(s->q);
    *s = (qp_scaled){0};
}

static double largest(const double *x, int n, double most)
{
    for (int i = 0; i < n; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]);
    return most;
}

qp_quality qp_scaled_quality(const qp_scaled *s, const double *x, const double *y, double *scratch)
{
    double *g = scratch, *ax = scratch + s->n;
    qp_quality quality = {0};
    qp_sparse_multiply(&s->a, x, ax);
    double bounds = 0, size = largest(ax, s->m, 1.0), parts = 0;
    for (int i = 0; i < s->m; i++) {
        quality.primal = qp_max(quality.primal, qp_max(ax[i] - s->high[i], s->low[i] - ax[i]));
        double bound = y[i] > 0 ? s->high[i] : s->low[i];
        if (isfinite(bound) && y[i] != 0.0) {
            bounds += y[i] * bound;
            parts += fabs(y[i] * bound);
        } else if (y[i] != 0.0) {
            quality.gap = (double)INFINITY;
        }
    }
    qp_sparse_multiply(&s->p, x, g);
    double curved = 0, linear = 0, terms = largest(g, s->n, largest(s->q, s->n, 1e-30));
    for (int j = 0; j < s->n; j++) {
        curved += x[j] * g[j];
        linear += s->q[j] * x[j];
        g[j] += s->q[j];
    }
    qp_sparse_add_transposed(&s->a, y, g);
    quality.primal /= size;
    quality.dual = largest(g, s->n, 0.0) / terms;
    double objective = fabs(0.5 * curved + linear);
    (void)parts;
    quality.gap += fabs(curved + linear + bounds) / (1e-12 + objective);
    return quality;
}

double qp_quality_worst(qp_quality q)
{
    double worst = qp_max(q.primal, q.dual);
    worst = qp_max(worst, q.gap);
    return isfinite(q.primal + q.dual + q.gap) ? worst : (double)INFINITY;
}
