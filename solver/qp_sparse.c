#include "solver/qp_sparse.h"

#include <stdlib.h>

static bool allocate(qp_sparse *s, int rows, int cols, long count)
{
    s->rows = rows;
    s->cols = cols;
    s->start = calloc((size_t)rows + 2, sizeof *s->start);
    s->index = calloc((size_t)count + 1, sizeof *s->index);
    s->value = calloc((size_t)count + 1, sizeof *s->value);
    if (s->start && s->index && s->value)
        return true;
    qp_sparse_free(s);
    return false;
}

void qp_sparse_free(qp_sparse *s)
{
    free(s->start);
    free(s->index);
    free(s->value);
    *s = (qp_sparse){0};
}

/* Transposing twice sorts the columns of every row. */
static bool transpose(const qp_sparse *s, qp_sparse *out)
{
    if (!allocate(out, s->cols, s->rows, s->start[s->rows]))
        return false;
    for (long e = 0; e < s->start[s->rows]; e++)
        out->start[s->index[e] + 2]++;
    for (int i = 2; i <= out->rows; i++)
        out->start[i] += out->start[i - 1];
    for (int i = 0; i < s->rows; i++)
        for (long e = s->start[i]; e < s->start[i + 1]; e++) {
            long at = out->start[s->index[e] + 1]++;
            out->index[at] = i;
            out->value[at] = s->value[e];
        }
    return true;
}

static bool from_triplets(const qp_triplets *t, const int *row, const int *col, int rows, int cols,
                          qp_sparse *out)
{
    if (!allocate(out, rows, cols, t->count))
        return false;
    for (int k = 0; k < t->count; k++)
        out->start[row[k] + 2]++;
    for (int i = 2; i <= rows; i++)
        out->start[i] += out->start[i - 1];
    for (int k = 0; k < t->count; k++) {
        long at = out->start[row[k] + 1]++;
        out->index[at] = col[k];
        out->value[at] = t->v[k];
    }
    return true;
}

bool qp_sparse_from_triplets(const qp_triplets *t, bool is_transposed, qp_sparse *out)
{
    qp_sparse unsorted = {0};
    bool ok = is_transposed ? from_triplets(t, t->i, t->j, t->rows, t->cols, &unsorted)
                            : from_triplets(t, t->j, t->i, t->cols, t->rows, &unsorted);
    ok = ok && transpose(&unsorted, out);
    qp_sparse_free(&unsorted);
    return ok;
}

/* Merges row i of a and of its transpose; returns how many entries that are. */
static long merge(const qp_sparse *a, const qp_sparse *b, int i, int *index, double *value)
{
    long x = a->start[i], y = b->start[i], count = 0;
    while (x < a->start[i + 1] || y < b->start[i + 1]) {
        int cx = x < a->start[i + 1] ? a->index[x] : a->cols;
        int cy = y < b->start[i + 1] ? b->index[y] : b->cols;
        int column = cx < cy ? cx : cy;
        double sum = 0;
        if (cx == column)
            sum += 0.5 * a->value[x++];
        if (cy == column)
            sum += 0.5 * b->value[y++];
        if (index) {
            index[count] = column;
            value[count] = sum;
        }
        count++;
    }
    return count;
}

bool qp_sparse_symmetric(const qp_triplets *t, qp_sparse *out)
{
    qp_sparse a = {0}, b = {0};
    *out = (qp_sparse){0};
    bool ok = qp_sparse_from_triplets(t, false, &a) && qp_sparse_from_triplets(t, true, &b);
    long count = 0;
    for (int i = 0; ok && i < a.rows; i++)
        count += merge(&a, &b, i, NULL, NULL);
    ok = ok && allocate(out, a.rows, a.cols, count);
    for (int i = 0; ok && i < a.rows; i++)
        out->start[i + 1] = out->start[i] + merge(&a, &b, i, out->index + out->start[i],
                                                  out->value + out->start[i]);
    qp_sparse_free(&a);
    qp_sparse_free(&b);
    return ok;
}

double qp_sparse_row_dot(const qp_sparse *s, int row, const double *x)
{
    double sum = 0;
    for (long e = s->start[row]; e < s->start[row + 1]; e++)
        sum += s->value[e] * x[s->index[e]];
    return sum;
}

void qp_sparse_multiply(const qp_sparse *s, const double *x, double *out)
{
    for (int i = 0; i < s->rows; i++)
        out[i] = qp_sparse_row_dot(s, i, x);
}

void qp_sparse_add_transposed(const qp_sparse *s, const double *y, double *x)
{
    for (int i = 0; i < s->rows; i++)
        for (long e = s->start[i]; y[i] != 0.0 && e < s->start[i + 1]; e++)
            x[s->index[e]] += s->value[e] * y[i];
}

static int degree(const qp_sparse *s, int i)
{
    return (int)(s->start[i + 1] - s->start[i]);
}

/* Appends the unseen neighbours of a node by rising degree. */
static int append_neighbours(const qp_sparse *s, int node, int *queue, int tail, int *seen)
{
    int begin = tail;
    for (long e = s->start[node]; e < s->start[node + 1]; e++) {
        int next = s->index[e];
        if (seen[next])
            continue;
        seen[next] = 1;
        int at = tail++;
        for (; at > begin && degree(s, queue[at - 1]) > degree(s, next); at--)
            queue[at] = queue[at - 1];
        queue[at] = next;
    }
    return tail;
}

void qp_sparse_order(const qp_sparse *s, int *order, int *scratch)
{
    int n = s->rows, *seen = scratch, *queue = scratch + n, *by_degree = queue + n;
    int tail = 0, most = 0, placed = 0;
    for (int i = 0; i < n; i++) {
        seen[i] = 0;
        most = degree(s, i) > most ? degree(s, i) : most;
    }
    for (int d = 0; d <= most && placed < n; d++)
        for (int i = 0; i < n; i++)
            if (degree(s, i) == d)
                by_degree[placed++] = i;
    for (int start = 0, head = 0; start < n; start++) {
        if (seen[by_degree[start]])
            continue;
        seen[by_degree[start]] = 1;
        queue[tail++] = by_degree[start];
        for (; head < tail; head++)
            tail = append_neighbours(s, queue[head], queue, tail, seen);
    }
    for (int i = 0; i < n; i++)
        order[i] = queue[n - 1 - i];
}
