#include "solver/qp_interior.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "solver/qp_envelope.h"
#include "solver/qp_vector.h"

enum { ITERATIONS_MAX = 150, PATIENCE = 25 };

#define GOOD       1e-11 /* quality at which it ends */
#define ACCEPTABLE 1e-8

/* One bound of one row: side * (A x) + s = side * bound, s, z > 0. */
typedef struct side {
    int row;
    int sign; /* +1: high, -1: low */
    double bound, s, z, ds, dz, target, scaled;
} side;

typedef struct interior {
    const qp_scaled *p;
    int n, m, sides;
    side *side;
    int *order, *place;
    qp_envelope k, l;
    double *x, *y, *dx, *dy; /* y: multipliers of the equality rows */
    double *weight;          /* of a_k a_k', m */
    double *ax, *adx, *dual, *rhs, *work, *scratch;
    double mu, regular, least_regular;
    double primal_share; /* of the weight, on the primal side */
    double *memory;
    int64_t deadline_ns;
} interior;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_equality(const interior *f, int row)
{
    return f->p->low[row] == f->p->high[row];
}

/* The saddle matrix as a graph: ordering that keeps rows of A near their columns near. */
static bool order_variables(interior *f)
{
    const qp_scaled *p = f->p;
    int size = f->n + f->m;
    qp_triplets t = {.rows = size, .cols = size};
    long count = p->p.start[f->n] + p->a.start[f->m];
    t.i = calloc((size_t)count + 1, sizeof(int));
    t.j = calloc((size_t)count + 1, sizeof(int));
    t.v = calloc((size_t)count + 1, sizeof(double));
    int *all = calloc(4 * (size_t)size + 1, sizeof(int));
    qp_sparse graph = {0};
    bool ok = t.i && t.j && t.v && all;
    for (int i = 0; ok && i < f->n; i++)
        for (long e = p->p.start[i]; e < p->p.start[i + 1]; e++) {
            t.i[t.count] = i;
            t.j[t.count++] = p->p.index[e];
        }
    for (int i = 0; ok && i < f->m; i++)
        for (long e = p->a.start[i]; e < p->a.start[i + 1]; e++) {
            t.i[t.count] = f->n + i;
            t.j[t.count++] = p->a.index[e];
        }
    ok = ok && qp_sparse_symmetric(&t, &graph);
    if (ok) {
        qp_sparse_order(&graph, all, all + size);
        int at = 0;
        for (int k = 0; k < size; k++)
            if (all[k] < f->n)
                f->order[at++] = all[k];
        for (int k = 0; k < f->n; k++)
            f->place[f->order[k]] = k;
    }
    qp_sparse_free(&graph);
    free(t.i);
    free(t.j);
    free(t.v);
    free(all);
    return ok;
}

static void lower_first(interior *f, const qp_sparse *s, int row, int own)
{
    int least = own;
    for (long e = s->start[row]; e < s->start[row + 1]; e++)
        least = f->place[s->index[e]] < least ? f->place[s->index[e]] : least;
    for (long e = s->start[row]; e < s->start[row + 1]; e++) {
        int at = f->place[s->index[e]];
        f->k.first[at] = own == f->n && least < f->k.first[at] ? least : f->k.first[at];
    }
    if (own < f->n)
        f->k.first[own] = least < f->k.first[own] ? least : f->k.first[own];
}

/* Some twenty factorisations at 1e9 multiplications a second, within the time there is. */
static bool is_affordable(const interior *f)
{
    double cost = 0, seconds = 600;
    for (int i = 0; i < f->n; i++)
        cost += 0.5 * (double)(i - f->k.first[i]) * (i - f->k.first[i]);
    if (f->deadline_ns)
        seconds = 1e-9 * (double)(f->deadline_ns - now_ns());
    return 20e-9 * cost <= seconds;
}

static bool allocate(interior *f)
{
    size_t n = (size_t)f->n, m = (size_t)f->m;
    f->order = calloc(2 * n, sizeof(int));
    f->side = calloc(2 * m + 1, sizeof *f->side);
    f->k.first = calloc(n, sizeof(int));
    f->l.first = calloc(n, sizeof(int));
    f->k.start = calloc(n + 1, sizeof(long));
    f->l.start = calloc(n + 1, sizeof(long));
    f->l.inverse = calloc(n, sizeof(double));
    f->memory = calloc(7 * n + 6 * m + 2, sizeof(double));
    if (!f->order || !f->side || !f->k.first || !f->l.first || !f->k.start || !f->l.start ||
        !f->l.inverse || !f->memory)
        return false;
    f->place = f->order + n;
    f->x = f->memory;
    f->dx = f->x + n;
    f->dual = f->dx + n;
    f->rhs = f->dual + n;
    f->work = f->rhs + n;
    f->scratch = f->work + n; /* n + m, for the quality; first n also for products */
    f->y = f->scratch + n + m;
    f->dy = f->y + m;
    f->weight = f->dy + m;
    f->ax = f->weight + m;
    f->adx = f->ax + m;
    if (!order_variables(f))
        return false;
    f->k.size = f->n;
    f->l.size = f->n;
    for (int i = 0; i < f->n; i++)
        f->k.first[i] = i;
    for (int i = 0; i < f->n; i++)
        lower_first(f, &f->p->p, i, f->place[i]);
    for (int i = 0; i < f->m; i++)
        lower_first(f, &f->p->a, i, f->n);
    size_t size = (size_t)qp_envelope_layout(&f->k);
    if (!is_affordable(f))
        return false;
    f->k.value = calloc(size + 1, sizeof(double));
    f->l.value = calloc(size + 1, sizeof(double));
    return f->k.value && f->l.value;
}

static void clean(interior *f)
{
    free(f->order);
    free(f->side);
    free(f->k.first);
    free(f->l.first);
    free(f->k.start);
    free(f->l.start);
    free(f->k.value);
    free(f->l.value);
    free(f->l.inverse);
    free(f->memory);
}

/* Row i of P into K, with the primal weight on the diagonal. */
static void add_curvature(interior *f, int i)
{
    const qp_sparse *p = &f->p->p;
    int r = f->place[i];
    double *row = f->k.value + f->k.start[r] - f->k.first[r];
    for (long e = p->start[i]; e < p->start[i + 1]; e++)
        if (f->place[p->index[e]] <= r)
            row[f->place[p->index[e]]] += p->value[e];
    row[r] += f->primal_share * f->regular;
}

/* weight a a' of row i of A into K. */
static void add_row(interior *f, int i)
{
    const qp_sparse *a = &f->p->a;
    for (long e = a->start[i]; e < a->start[i + 1]; e++) {
        int r = f->place[a->index[e]];
        double scaled = f->weight[i] * a->value[e];
        double *row = f->k.value + f->k.start[r] - f->k.first[r];
        for (long g = a->start[i]; g < a->start[i + 1]; g++)
            if (f->place[a->index[g]] <= r)
                row[f->place[a->index[g]]] += scaled * a->value[g];
    }
}

/* K = P + regular + A' weight A, with larger regularisation until it factors. */
static bool factor(interior *f)
{
    for (int attempt = 0; attempt < 6; attempt++, f->regular *= 100) {
        memset(f->k.value, 0, (size_t)f->k.start[f->n] * sizeof(double));
        for (int i = 0; i < f->n; i++)
            add_curvature(f, i);
        for (int i = 0; i < f->m; i++)
            add_row(f, i);
        if (qp_envelope_factor(&f->k, &f->l, 0.0) == HR_OK)
            return true;
    }
    return false;
}

/* dx = K^-1 rhs with refinement; the product with K is taken from P and A. */
static void solve_normal(interior *f)
{
    double *left = f->work;
    memset(f->dx, 0, (size_t)f->n * sizeof(double));
    memcpy(left, f->rhs, (size_t)f->n * sizeof(double));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < f->n; i++)
            f->scratch[f->place[i]] = left[i];
        qp_envelope_forward(&f->l, f->scratch, 0);
        qp_envelope_backward(&f->l, f->scratch);
        for (int i = 0; i < f->n; i++)
            f->dx[i] += f->scratch[f->place[i]];
        if (round == 2)
            return;
        qp_sparse_multiply(&f->p->p, f->dx, left);
        qp_sparse_multiply(&f->p->a, f->dx, f->adx);
        for (int i = 0; i < f->m; i++)
            f->adx[i] *= f->weight[i];
        qp_sparse_add_transposed(&f->p->a, f->adx, left);
        for (int i = 0; i < f->n; i++)
            left[i] = f->rhs[i] - left[i] - f->primal_share * f->regular * f->dx[i];
    }
}

static void add_sides(interior *f)
{
    for (int i = 0; i < f->m; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double bound = sign > 0 ? f->p->high[i] : f->p->low[i];
            if (!is_equality(f, i) && isfinite(bound))
                f->side[f->sides++] = (side){.row = i, .sign = sign, .bound = bound, .z = 1.0};
        }
}

/* The nearest point to the middle of all rows, then slacks and multipliers well inside. */
static void start(interior *f)
{
    f->regular = 1e-6;
    for (int i = 0; i < f->m; i++) {
        double low = f->p->low[i], high = f->p->high[i];
        double middle = low > 0 ? low : high < 0 ? high : 0.0;
        f->weight[i] = 1.0;
        f->ax[i] = middle;
    }
    for (int j = 0; j < f->n; j++)
        f->rhs[j] = -f->p->q[j];
    qp_sparse_add_transposed(&f->p->a, f->ax, f->rhs);
    if (factor(f)) {
        solve_normal(f);
        memcpy(f->x, f->dx, (size_t)f->n * sizeof *f->x);
    }
    add_sides(f);
    qp_sparse_multiply(&f->p->a, f->x, f->ax);
    double deepest = 0;
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        b->s = b->sign * (b->bound - f->ax[b->row]);
        deepest = qp_max(deepest, -b->s);
    }
    double least = qp_max(1.0, 1.5 * deepest);
    for (int k = 0; k < f->sides; k++)
        f->side[k].s = qp_max(f->side[k].s, least);
}

/* The Newton direction for the targets of s z. Uses ax and dual (P x + q + A'y). */
static void direction(interior *f)
{
    double delta = f->regular, *row = f->dy;
    for (int i = 0; i < f->m; i++)
        row[i] = is_equality(f, i) ? (f->p->low[i] - f->ax[i]) / delta : 0.0;
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        double off = b->sign * (b->bound - f->ax[b->row]) - b->s;
        b->scaled = (b->target - b->s * b->z - b->z * off) / (b->s + delta * b->z);
        row[b->row] -= b->sign * b->scaled;
    }
    for (int j = 0; j < f->n; j++)
        f->rhs[j] = -f->dual[j];
    qp_sparse_add_transposed(&f->p->a, row, f->rhs);
    solve_normal(f);
    qp_sparse_multiply(&f->p->a, f->dx, f->adx);
    for (int i = 0; i < f->m; i++)
        f->dy[i] = is_equality(f, i) ? (f->adx[i] - (f->p->low[i] - f->ax[i])) / delta : 0.0;
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        double off = b->sign * (b->bound - f->ax[b->row]) - b->s;
        b->dz = b->scaled + b->z * b->sign * f->adx[b->row] / (b->s + delta * b->z);
        b->ds = off - b->sign * f->adx[b->row] + delta * b->dz;
    }
}

/* Longest step in 0..1 that leaves s and z positive. */
static double longest(const interior *f, double share)
{
    double step = 1.0;
    for (int k = 0; k < f->sides; k++) {
        const side *b = &f->side[k];
        if (b->ds < 0)
            step = qp_min(step, -share * b->s / b->ds);
        if (b->dz < 0)
            step = qp_min(step, -share * b->z / b->dz);
    }
    return step;
}

static double mean_product(const interior *f, double step)
{
    double sum = 0;
    for (int k = 0; k < f->sides; k++) {
        const side *b = &f->side[k];
        sum += (b->s + step * b->ds) * (b->z + step * b->dz);
    }
    return f->sides > 0 ? sum / f->sides : 0.0;
}

/* Products, residuals and weights at the present point; multipliers of all rows into `y`. */
static void look(interior *f, double *y)
{
    memcpy(y, f->y, (size_t)f->m * sizeof *y);
    f->regular = qp_max(f->least_regular, qp_min(1e-4, 1e-2 * f->mu));
    for (int i = 0; i < f->m; i++)
        f->weight[i] = is_equality(f, i) ? 1.0 / f->regular : 0.0;
    for (int k = 0; k < f->sides; k++) {
        const side *b = &f->side[k];
        y[b->row] += b->sign * b->z;
        f->weight[b->row] += b->z / (b->s + f->regular * b->z);
    }
    qp_sparse_multiply(&f->p->a, f->x, f->ax);
    qp_sparse_multiply(&f->p->p, f->x, f->dual);
    for (int j = 0; j < f->n; j++)
        f->dual[j] += f->p->q[j];
    qp_sparse_add_transposed(&f->p->a, y, f->dual);
}

static bool iterate(interior *f)
{
    if (!factor(f))
        return false;
    for (int k = 0; k < f->sides; k++) {
        f->side[k].target = 0.0;
        f->side[k].ds = 0.0;
        f->side[k].dz = 0.0;
    }
    direction(f);
    double reached = mean_product(f, longest(f, 1.0)), ratio = f->mu > 0 ? reached / f->mu : 0.0;
    double centre = ratio * ratio * ratio * f->mu;
    for (int k = 0; k < f->sides; k++)
        f->side[k].target = centre - f->side[k].ds * f->side[k].dz;
    direction(f);
    double step = longest(f, 0.99);
    if (!isfinite(step) || step < 1e-12)
        return false;
    qp_add_scaled(f->x, step, f->dx, f->n);
    qp_add_scaled(f->y, step, f->dy, f->m);
    for (int k = 0; k < f->sides; k++) {
        f->side[k].s += step * f->side[k].ds;
        f->side[k].z += step * f->side[k].dz;
    }
    f->mu = mean_product(f, 0.0);
    return true;
}

/* Returns how good the present point is. */
static double keep_best(interior *f, const double *y, qp_point *out, double *best)
{
    qp_quality quality = qp_scaled_quality(f->p, f->x, y, f->scratch);
    double worst = qp_quality_worst(quality);
    if (!(worst < *best))
        return worst;
    *best = worst;
    out->quality = quality;
    memcpy(out->x, f->x, (size_t)f->n * sizeof *out->x);
    memcpy(out->y, y, (size_t)f->m * sizeof *out->y);
    return worst;
}

static void run(interior *f, int64_t deadline_ns, qp_point *out, double *best)
{
    double *y = f->adx, reached = (double)INFINITY;
    int since = 0;
    f->sides = 0;
    memset(f->y, 0, (size_t)f->m * sizeof *f->y);
    start(f);
    f->mu = mean_product(f, 0.0);
    for (int i = 0; i < ITERATIONS_MAX && since < PATIENCE; i++) {
        look(f, y);
        double now = keep_best(f, y, out, best);
        since = now < 0.9 * reached ? 0 : since + 1;
        reached = qp_min(reached, now);
        if (*best <= GOOD || (deadline_ns && now_ns() >= deadline_ns) || !iterate(f))
            break;
        out->iterations++;
    }
}

/* A weaker regularisation is more exact, a stronger one survives more. */
static void run_all(interior *f, int64_t deadline_ns, qp_point *out)
{
    static const double weights[][2] = {{1e-9, 1e-3}, {1e-9, 1.0}, {1e-7, 1e-3}};
    double best = (double)INFINITY;
    for (int i = 0; i < HR_COUNT(weights) && best > ACCEPTABLE; i++) {
        f->least_regular = weights[i][0];
        f->primal_share = weights[i][1];
        run(f, deadline_ns, out, &best);
    }
    bool is_late = deadline_ns && now_ns() >= deadline_ns;
    out->status = best <= ACCEPTABLE ? QP_OPTIMAL : is_late ? QP_DEADLINE : QP_DEGRADED;
}

hr_status qp_interior_solve(const qp_scaled *s, int64_t deadline_ns, qp_point *out)
{
    interior f = {.p = s, .n = s->n, .m = s->m, .deadline_ns = deadline_ns};
    hr_status status = HR_ERR_CAPACITY;
    if (qp_point_allocate(out, s->n, s->m) && allocate(&f)) {
        out->method = "interior point";
        run_all(&f, deadline_ns, out);
        status = HR_OK;
    }
    clean(&f);
    return status;
}
