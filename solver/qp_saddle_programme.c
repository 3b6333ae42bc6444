/* Active sets around the iterative saddle solver. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solver/qp_saddle.h"

typedef struct search {
    const qp_saddle *s;
    qp_sparse chosen; /* rows of the present set */
    double *bound, *softness, *multiplier;
    int *which; /* row of each chosen one */
    uint64_t *seen;
    int seen_count;
} search;

static bool allocate(search *h, int exchanges)
{
    size_t m = (size_t)h->s->rows->rows, entries = (size_t)h->s->rows->start[m];
    h->chosen.start = calloc(m + 1, sizeof *h->chosen.start);
    h->chosen.index = calloc(entries + 1, sizeof *h->chosen.index);
    h->chosen.value = calloc(entries + 1, sizeof *h->chosen.value);
    h->bound = calloc(3 * m + 1, sizeof *h->bound);
    h->which = calloc(m + 1, sizeof *h->which);
    h->seen = calloc((size_t)exchanges + 1, sizeof *h->seen);
    h->softness = h->bound ? h->bound + m : NULL;
    h->multiplier = h->bound ? h->softness + m : NULL;
    return h->chosen.start && h->chosen.index && h->chosen.value && h->bound && h->which && h->seen;
}

static void clean(search *h)
{
    qp_sparse_free(&h->chosen);
    free(h->bound);
    free(h->which);
    free(h->seen);
}

static void choose_rows(search *h, const bool *active, const double *lambda)
{
    const qp_sparse *rows = h->s->rows;
    int count = 0;
    long at = 0;
    for (int i = 0; i < rows->rows; i++) {
        if (!active[i])
            continue;
        for (long e = rows->start[i]; e < rows->start[i + 1]; e++, at++) {
            h->chosen.index[at] = rows->index[e];
            h->chosen.value[at] = rows->value[e];
        }
        h->bound[count] = h->s->bound[i];
        h->softness[count] = h->s->softness ? h->s->softness[i] : 0.0;
        h->multiplier[count] = lambda[i];
        h->which[count++] = i;
        h->chosen.start[count] = at;
    }
    h->chosen.rows = count;
    h->chosen.cols = rows->cols;
}

/* FNV-1a over the set; true where it was there before. */
static bool was_seen(search *h, const bool *active)
{
    uint64_t hash = 1469598103934665603ULL;
    for (int i = 0; i < h->s->rows->rows; i++)
        hash = (hash ^ (uint64_t)(active[i] + 1)) * 1099511628211ULL;
    for (int i = 0; i < h->seen_count; i++)
        if (h->seen[i] == hash)
            return true;
    h->seen[h->seen_count++] = hash;
    return false;
}

/* Flips the rows that are wrong: all of them, or the one with the lowest index. Returns how many
 * were wrong. */
static int exchange(const search *h, double tolerance, bool is_single, bool *active,
                    const double *x, const double *lambda)
{
    const qp_sparse *rows = h->s->rows;
    int wrong = 0;
    for (int i = 0; i < rows->rows; i++) {
        double slack = h->s->softness ? h->s->softness[i] * lambda[i] : 0.0;
        double over = qp_sparse_row_dot(rows, i, x) - h->s->bound[i] - slack;
        bool is_wrong = active[i] ? lambda[i] < -tolerance : over > tolerance;
        if (!is_wrong)
            continue;
        if (wrong++ == 0 || !is_single)
            active[i] = !active[i];
    }
    return wrong;
}

static hr_status run(search *h, double tolerance, int exchanges, bool *active, double *x,
                     double *lambda, qp_saddle_result *out)
{
    bool is_single = false;
    for (int i = 0; i < exchanges; i++) {
        choose_rows(h, active, lambda);
        qp_saddle now = *h->s;
        now.rows = &h->chosen;
        now.bound = h->bound;
        now.softness = h->softness;
        qp_saddle_result one;
        hr_status status =
            qp_saddle_minres(&now, 1e-2 * tolerance, 20 * (now.n + 100), x, h->multiplier, &one);
        if (status != HR_OK)
            return status;
        out->iterations++;
        out->inner += one.inner;
        out->residual = one.residual;
        memset(lambda, 0, (size_t)h->s->rows->rows * sizeof *lambda);
        for (int k = 0; k < h->chosen.rows; k++)
            lambda[h->which[k]] = h->multiplier[k];
        is_single = is_single || was_seen(h, active);
        if (exchange(h, tolerance, is_single, active, x, lambda) == 0) {
            out->is_solved = one.residual <= tolerance;
            return out->is_solved ? HR_OK : HR_ERR_MAX_ITER;
        }
    }
    return HR_ERR_MAX_ITER;
}

hr_status qp_saddle_programme(const qp_saddle *s, double tolerance, int exchanges, bool *active,
                              double *x, double *lambda, qp_saddle_result *out)
{
    search h = {.s = s};
    *out = (qp_saddle_result){0};
    hr_status status = HR_ERR_MEMORY;
    if (allocate(&h, exchanges))
        status = run(&h, tolerance, exchanges, active, x, lambda, out);
    clean(&h);
    return status;
}
