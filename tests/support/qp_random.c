#include "tests/support/qp_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static double normal(test_random *r)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += test_random_between(r, -1, 1);
    return sum / sqrt(2.0);
}

/* K = Q D Q' with a spread of eigenvalues: products of Householder reflections of a diagonal. */
void qp_random(void *random, int n, int m, double condition, qp_dense *out)
{
    test_random *r = random;
    memset(out, 0, sizeof *out);
    out->n = n;
    out->m = m;
    for (int i = 0; i < n; i++)
        out->k[i * n + i] = pow(condition, n > 1 ? -(double)i / (n - 1) : 0.0);
    for (int reflection = 0; reflection < 3; reflection++) {
        double v[QP_RANDOM_N], kv[QP_RANDOM_N], length = 0, vkv = 0;
        for (int i = 0; i < n; i++) {
            v[i] = normal(r);
            length += v[i] * v[i];
        }
        for (int i = 0; i < n; i++)
            v[i] *= sqrt(2 / length);
        for (int i = 0; i < n; i++) {
            kv[i] = 0;
            for (int j = 0; j < n; j++)
                kv[i] += out->k[i * n + j] * v[j];
            vkv += v[i] * kv[i];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                out->k[i * n + j] += -v[i] * kv[j] - kv[i] * v[j] + vkv * v[i] * v[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            out->k[i * n + j] = out->k[j * n + i];
    double inside[QP_RANDOM_N];
    for (int i = 0; i < n; i++) {
        out->b[i] = normal(r);
        inside[i] = normal(r);
    }
    for (int k = 0; k < m; k++) {
        double at = 0;
        for (int i = 0; i < n; i++) {
            out->j[k * n + i] = normal(r);
            at += out->j[k * n + i] * inside[i];
        }
        out->low[k] = -(double)INFINITY;
        out->high[k] = at + test_random_between(r, 0, 1);
    }
}

void qp_random_degenerate(void *random, qp_dense *p)
{
    test_random *r = random;
    int n = p->n;
    for (int k = 1; k < p->m; k++) {
        int a = test_random_index(r, k), b = test_random_index(r, k);
        double t = test_random_between(r, 0, 1), *row = p->j + (long)k * n;
        switch (test_random_index(r, 7)) {
        case 0: /* the same again */
            memcpy(row, p->j + (long)a * n, (size_t)n * sizeof *row);
            p->high[k] = p->high[a];
            p->low[k] = p->low[a];
            break;
        case 1: /* between two others */
            for (int i = 0; i < n; i++)
                row[i] = (1 - t) * p->j[a * n + i] + t * p->j[b * n + i];
            p->high[k] = (1 - t) * p->high[a] + t * p->high[b];
            p->low[k] = -(double)INFINITY;
            break;
        case 2: /* the other side, without any room between, or contradictory */
            for (int i = 0; i < n; i++)
                row[i] = -p->j[a * n + i];
            p->high[k] = test_random_index(r, 8) ? -p->high[a] : -p->high[a] - 1.0;
            p->low[k] = -(double)INFINITY;
            break;
        case 3: /* nothing */
            memset(row, 0, (size_t)n * sizeof *row);
            p->high[k] = test_random_index(r, 4) ? 0.5 : 0.0;
            p->low[k] = -(double)INFINITY;
            break;
        case 4: /* an equality */
            p->low[k] = p->high[k];
            break;
        default: /* both sides */
            p->low[k] = p->high[k] - test_random_between(r, 0, 2);
        }
    }
}

hr_status qp_dense_set_rows(const qp_dense *p, qp *q)
{
    int index[QP_RANDOM_N];
    for (int i = 0; i < p->n; i++)
        index[i] = i;
    qp_rows_begin(q);
    for (int k = 0; k < p->m; k++) {
        hr_status status = qp_row_add(q, &(qp_row){.key = (uint64_t)k + 1,
                                                   .count = p->n,
                                                   .index = index,
                                                   .value = p->j + (long)k * p->n,
                                                   .low = p->low[k],
                                                   .high = p->high[k],
                                                   .softness = p->soft[k]});
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

hr_status qp_dense_set(const qp_dense *p, qp *q)
{
    hr_status status = qp_set_dense(q, p->n, p->k);
    if (status == HR_OK)
        status = qp_set_b(q, p->b);
    return status == HR_OK ? qp_dense_set_rows(p, q) : status;
}

double qp_dense_objective(const qp_dense *p, const double *x)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++) {
        double kx = 0;
        for (int j = 0; j < p->n; j++)
            kx += p->k[i * p->n + j] * x[j];
        sum += x[i] * (0.5 * kx - p->b[i]);
    }
    return sum;
}

double qp_dense_violation(const qp_dense *p, const double *x)
{
    double worst = 0;
    for (int k = 0; k < p->m; k++) {
        double at = 0;
        for (int i = 0; i < p->n; i++)
            at += p->j[k * p->n + i] * x[i];
        worst = fmax(worst, fmax(at - p->high[k], p->low[k] - at));
    }
    return worst;
}

/* Gauss elimination with full row pivoting; false where a pivot is rounding. */
static bool solve_linear(double *a, int size, double *x)
{
    int width = size + 1;
    for (int c = 0; c < size; c++) {
        int best = c;
        for (int r = c + 1; r < size; r++)
            best = fabs(a[r * width + c]) > fabs(a[best * width + c]) ? r : best;
        if (fabs(a[best * width + c]) < 1e-11)
            return false;
        for (int j = 0; j < width; j++) {
            double swap = a[c * width + j];
            a[c * width + j] = a[best * width + j];
            a[best * width + j] = swap;
        }
        for (int r = 0; r < size; r++) {
            double factor = r == c ? 0.0 : a[r * width + c] / a[c * width + c];
            for (int j = c; j < width; j++)
                a[r * width + j] -= factor * a[c * width + j];
        }
    }
    for (int c = 0; c < size; c++)
        x[c] = a[c * width + size] / a[c * width + c];
    return true;
}

/* The saddle system of the chosen rows and sides; true where its solution is the optimum. */
static bool try_set(const qp_dense *p, const int *side, double *x)
{
    double a[32 * 33] = {0}, z[32];
    int n = p->n, rows[16], count = 0;
    for (int k = 0; k < p->m; k++)
        if (side[k])
            rows[count++] = k;
    int size = n + count, width = size + 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i * width + j] = p->k[i * n + j];
        a[i * width + size] = p->b[i];
        for (int c = 0; c < count; c++)
            a[i * width + n + c] = a[(n + c) * width + i] = p->j[rows[c] * n + i];
    }
    for (int c = 0; c < count; c++)
        a[(n + c) * width + size] = side[rows[c]] > 0 ? p->high[rows[c]] : p->low[rows[c]];
    if (!solve_linear(a, size, z))
        return false;
    for (int c = 0; c < count; c++)
        if (p->low[rows[c]] != p->high[rows[c]] && side[rows[c]] * z[n + c] < -1e-10)
            return false;
    memcpy(x, z, (size_t)n * sizeof *x);
    return qp_dense_violation(p, x) <= 1e-9;
}

bool qp_dense_enumerate(const qp_dense *p, double *x)
{
    long sets = 1;
    for (int k = 0; k < p->m; k++)
        sets *= 3;
    for (long set = 0; set < sets; set++) {
        int side[16], held = 0;
        long rest = set;
        bool is_possible = true;
        for (int k = 0; k < p->m; k++, rest /= 3) {
            side[k] = rest % 3 == 2 ? -1 : (int)(rest % 3);
            held += side[k] != 0;
            double bound = side[k] > 0 ? p->high[k] : p->low[k];
            if (side[k] && !isfinite(bound))
                is_possible = false;
            if (side[k] < 0 && p->low[k] == p->high[k])
                is_possible = false;
        }
        if (is_possible && held <= p->n && try_set(p, side, x))
            return true;
    }
    return false;
}
