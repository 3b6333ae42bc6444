#include "solver/qp_interior.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "solver/qp_envelope.h"
#include "solver/qp_vector.h"

enum { ITERATIONS_MAX = 150, PATIENCE = 25, REFINEMENTS = 2 };

#define SHORT      0.1   /* a step that was hardly worth it */
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
    /* The Newton system has the variables and the rows with more than one entry as unknowns, in an
     * order that keeps its envelope small; rows with one entry (bounds) go to the diagonal. */
    int size;
    int *place; /* of variable j, and of row i at n + i; -1: a bound */
    signed char *sign;
    qp_envelope l;
    double *x, *y, *dx, *dy; /* y: multipliers of the equality rows */
    double *weight;          /* of a row: how much multiplier per violation */
    double *ax, *adx, *dual, *rhs, *work, *scratch, *solution;
    double mu, regular, least_regular;
    double primal_share; /* of the weight, on the primal side */
    double start_size;   /* of slacks and multipliers, in units of the deepest violation */
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

static bool is_bound(const interior *f, int row)
{
    return f->p->a.start[row + 1] - f->p->a.start[row] <= 1;
}

/* Places of variables and rows from an order of the graph of the saddle matrix. */
static bool order_unknowns(interior *f)
{
    const qp_scaled *p = f->p;
    int all = f->n + f->m;
    qp_triplets t = {.rows = all, .cols = all};
    long count = p->p.start[f->n] + p->a.start[f->m];
    t.i = calloc((size_t)count + 1, sizeof(int));
    t.j = calloc((size_t)count + 1, sizeof(int));
    t.v = calloc((size_t)count + 1, sizeof(double));
    int *order = calloc(4 * (size_t)all + 1, sizeof(int));
    qp_sparse graph = {0};
    bool ok = t.i && t.j && t.v && order;
    for (int i = 0; ok && i < f->n; i++)
        for (long e = p->p.start[i]; e < p->p.start[i + 1]; e++) {
            t.i[t.count] = i;
            t.j[t.count++] = p->p.index[e];
        }
    for (int i = 0; ok && i < f->m; i++)
        for (long e = p->a.start[i]; e < p->a.start[i + 1] && !is_bound(f, i); e++) {
            t.i[t.count] = f->n + i;
            t.j[t.count++] = p->a.index[e];
        }
    ok = ok && qp_sparse_symmetric(&t, &graph);
    if (ok) {
        qp_sparse_order(&graph, order, order + all);
        for (int k = 0; k < all; k++) {
            bool is_left_out = order[k] >= f->n && is_bound(f, order[k] - f->n);
            f->place[order[k]] = is_left_out ? -1 : f->size;
            if (!is_left_out)
                f->sign[f->size++] = order[k] < f->n ? 1 : -1;
        }
    }
    qp_sparse_free(&graph);
    free(t.i);
    free(t.j);
    free(t.v);
    free(order);
    return ok;
}

/* Makes room for an entry at these places. */
static void lower_first(interior *f, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    f->l.first[high] = low < f->l.first[high] ? low : f->l.first[high];
}

static void find_envelope(interior *f)
{
    const qp_sparse *p = &f->p->p, *a = &f->p->a;
    for (int i = 0; i < f->size; i++)
        f->l.first[i] = i;
    for (int i = 0; i < f->n; i++)
        for (long e = p->start[i]; e < p->start[i + 1]; e++)
            lower_first(f, f->place[i], f->place[p->index[e]]);
    for (int i = 0; i < f->m; i++)
        for (long e = a->start[i]; e < a->start[i + 1] && !is_bound(f, i); e++)
            lower_first(f, f->place[f->n + i], f->place[a->index[e]]);
}

/* Some twenty factorisations at 1e9 multiplications a second, within the time there is. */
static bool is_affordable(const interior *f)
{
    double cost = 0, seconds = 600;
    for (int i = 0; i < f->size; i++)
        cost += 0.5 * (double)(i - f->l.first[i]) * (i - f->l.first[i]);
    if (f->deadline_ns)
        seconds = 1e-9 * (double)(f->deadline_ns - now_ns());
    return 20e-9 * cost <= seconds;
}

static bool allocate(interior *f)
{
    size_t n = (size_t)f->n, m = (size_t)f->m, all = n + m;
    f->place = calloc(all + 1, sizeof(int));
    f->sign = calloc(all + 1, sizeof *f->sign);
    f->side = calloc(2 * m + 1, sizeof *f->side);
    f->l.first = calloc(all + 1, sizeof(int));
    f->l.start = calloc(all + 2, sizeof(long));
    f->l.inverse = calloc(all + 1, sizeof(double));
    f->memory = calloc(4 * n + 6 * m + 4 * all + 2, sizeof(double));
    if (!f->place || !f->sign || !f->side || !f->l.first || !f->l.start || !f->l.inverse ||
        !f->memory)
        return false;
    f->x = f->memory;
    f->dx = f->x + n;
    f->dual = f->dx + n;
    f->rhs = f->dual + n; /* variables, then rows */
    f->work = f->rhs + all;
    f->solution = f->work + all;
    f->scratch = f->solution + all;
    f->y = f->scratch + all;
    f->dy = f->y + m;
    f->weight = f->dy + m;
    f->ax = f->weight + m;
    f->adx = f->ax + m;
    if (!order_unknowns(f))
        return false;
    f->l.size = f->size;
    find_envelope(f);
    size_t size = (size_t)qp_envelope_layout(&f->l);
    if (!is_affordable(f))
        return false;
    f->l.value = calloc(size + 1, sizeof(double));
    return f->l.value != NULL;
}

static void clean(interior *f)
{
    free(f->place);
    free(f->sign);
    free(f->side);
    free(f->l.first);
    free(f->l.start);
    free(f->l.value);
    free(f->l.inverse);
    free(f->memory);
}

static void add_entry(interior *f, int a, int b, double value)
{
    int row = a > b ? a : b, column = a > b ? b : a;
    f->l.value[f->l.start[row] + (column - f->l.first[row])] += value;
}

/* The saddle matrix: P with the primal weight and the bounds, rows of A, minus what their
 * multipliers give way. */
static void fill_matrix(interior *f)
{
    const qp_sparse *p = &f->p->p, *a = &f->p->a;
    memset(f->l.value, 0, (size_t)f->l.start[f->size] * sizeof(double));
    for (int i = 0; i < f->n; i++) {
        add_entry(f, f->place[i], f->place[i], f->primal_share * f->regular);
        for (long e = p->start[i]; e < p->start[i + 1]; e++)
            if (f->place[p->index[e]] <= f->place[i])
                add_entry(f, f->place[i], f->place[p->index[e]], p->value[e]);
    }
    for (int i = 0; i < f->m; i++) {
        int row = f->place[f->n + i];
        if (row >= 0)
            add_entry(f, row, row, -1.0 / f->weight[i]);
        for (long e = a->start[i]; e < a->start[i + 1]; e++) {
            int at = f->place[a->index[e]];
            if (row >= 0)
                add_entry(f, row, at, a->value[e]);
            else
                add_entry(f, at, at, f->weight[i] * a->value[e] * a->value[e]);
        }
    }
}

/* With larger regularisation until it factors. */
static bool factor(interior *f)
{
    for (int attempt = 0; attempt < 6; attempt++, f->regular *= 100) {
        fill_matrix(f);
        if (qp_envelope_factor_signed(&f->l, f->sign) == HR_OK)
            return true;
    }
    return false;
}

/* What is left of the right side (work) after the present solution. */
static void residual(interior *f)
{
    const double *dx = f->solution, *eta = f->solution + f->n;
    double *left = f->work, *row = f->work + f->n;
    qp_sparse_multiply(&f->p->p, dx, left);
    qp_sparse_multiply(&f->p->a, dx, row);
    for (int i = 0; i < f->m; i++) {
        bool is_row = f->place[f->n + i] >= 0;
        f->scratch[i] = is_row ? eta[i] : f->weight[i] * row[i];
        row[i] = is_row ? f->rhs[f->n + i] - row[i] + eta[i] / f->weight[i] : 0.0;
    }
    qp_sparse_add_transposed(&f->p->a, f->scratch, left);
    for (int j = 0; j < f->n; j++)
        left[j] = f->rhs[j] - left[j] - f->primal_share * f->regular * dx[j];
}

/* solution = K^-1 rhs with refinement; the products are taken from P and A. */
static void solve_newton(interior *f)
{
    int all = f->n + f->m;
    memset(f->solution, 0, (size_t)all * sizeof(double));
    memcpy(f->work, f->rhs, (size_t)all * sizeof(double));
    for (int round = 0;; round++) {
        for (int i = 0; i < all; i++)
            if (f->place[i] >= 0)
                f->scratch[f->place[i]] = f->work[i];
        qp_envelope_forward(&f->l, f->scratch, 0);
        for (int i = 0; i < f->size; i++)
            f->scratch[i] *= f->sign[i];
        qp_envelope_backward(&f->l, f->scratch);
        for (int i = 0; i < all; i++)
            if (f->place[i] >= 0)
                f->solution[i] += f->scratch[f->place[i]];
        if (round == REFINEMENTS)
            return;
        residual(f);
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

/* -dual for the variables and push / weight for the rows, where push is what the multipliers of a
 * row would be for dx = 0. */
static void set_right_side(interior *f, const double *push)
{
    double *only_bounds = f->scratch;
    for (int i = 0; i < f->m; i++) {
        bool is_row = f->place[f->n + i] >= 0;
        only_bounds[i] = is_row ? 0.0 : push[i];
        f->rhs[f->n + i] = is_row ? push[i] / f->weight[i] : 0.0;
    }
    for (int j = 0; j < f->n; j++)
        f->rhs[j] = -f->dual[j];
    qp_sparse_add_transposed(&f->p->a, only_bounds, f->rhs);
}

/* The nearest point to the middle of all rows, then slacks and multipliers well inside. */
static void start(interior *f)
{
    f->regular = 1e-6;
    for (int i = 0; i < f->m; i++) {
        double low = f->p->low[i], high = f->p->high[i];
        double middle = low > 0 ? low : high < 0 ? high : 0.0;
        f->weight[i] = 1.0;
        f->adx[i] = middle;
    }
    memcpy(f->dual, f->p->q, (size_t)f->n * sizeof *f->dual);
    if (factor(f)) {
        set_right_side(f, f->adx);
        solve_newton(f);
        memcpy(f->x, f->solution, (size_t)f->n * sizeof *f->x);
    }
    add_sides(f);
    qp_sparse_multiply(&f->p->a, f->x, f->ax);
    double deepest = 0;
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        b->s = b->sign * (b->bound - f->ax[b->row]);
        deepest = qp_max(deepest, -b->s);
    }
    double least = f->start_size * qp_max(1.0, 1.5 * deepest);
    for (int k = 0; k < f->sides; k++) {
        f->side[k].s = qp_max(f->side[k].s, least);
        f->side[k].z = least / f->side[k].s;
    }
}

/* A dx of the rows. Where a row's multiplier is an unknown the change follows from it: the product
 * with A would be a small difference of large numbers. */
static void find_row_changes(interior *f, const double *push)
{
    qp_sparse_multiply(&f->p->a, f->dx, f->adx);
    for (int i = 0; i < f->m; i++)
        if (f->place[f->n + i] >= 0)
            f->adx[i] = (push[i] + f->solution[f->n + i]) / f->weight[i];
}

/* The Newton direction for the targets of s z. Uses ax and dual (P x + q + A'y). */
static void direction(interior *f)
{
    double delta = f->regular, *push = f->dy;
    for (int i = 0; i < f->m; i++)
        push[i] = is_equality(f, i) ? (f->p->low[i] - f->ax[i]) * f->weight[i] : 0.0;
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        double off = b->sign * (b->bound - f->ax[b->row]) - b->s;
        b->scaled = (b->target - b->s * b->z - b->z * off) / (b->s + delta * b->z);
        push[b->row] -= b->sign * b->scaled;
    }
    set_right_side(f, push);
    solve_newton(f);
    memcpy(f->dx, f->solution, (size_t)f->n * sizeof *f->dx);
    find_row_changes(f, push);
    for (int k = 0; k < f->sides; k++) {
        side *b = &f->side[k];
        double off = b->sign * (b->bound - f->ax[b->row]) - b->s;
        b->dz = b->scaled + b->z * b->sign * f->adx[b->row] / (b->s + delta * b->z);
        b->ds = off - b->sign * f->adx[b->row] + delta * b->dz;
    }
    for (int i = 0; i < f->m; i++)
        f->dy[i] = is_equality(f, i) ? f->adx[i] * f->weight[i] - push[i] : 0.0;
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
    f->regular = f->least_regular;
    for (int i = 0; i < f->m; i++)
        f->weight[i] = is_equality(f, i) ? 1.0 / f->regular : 1e-20;
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
    double length = longest(f, 1.0), reached = mean_product(f, length);
    double ratio = f->mu > 0 ? reached / f->mu : 0.0, centre = ratio * ratio * ratio * f->mu;
    for (int k = 0; k < f->sides; k++)
        f->side[k].target = centre - f->side[k].ds * f->side[k].dz;
    direction(f);
    double step = longest(f, 0.99);
    if (step < SHORT * length || step < SHORT) { /* too far from the middle to be corrected */
        for (int k = 0; k < f->sides; k++)
            f->side[k].target = qp_max(0.5, ratio) * f->mu;
        direction(f);
        step = longest(f, 0.99);
    }
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
    static const struct {
        double weight, share, start;
    } tries[] = {{1e-8, 1.0, 100}, {1e-7, 1.0, 100}, {1e-6, 1e-3, 1}, {1e-9, 1.0, 1}};
    double best = (double)INFINITY;
    for (int i = 0; i < HR_COUNT(tries) && best > ACCEPTABLE; i++) {
        f->least_regular = tries[i].weight;
        f->primal_share = tries[i].share;
        f->start_size = tries[i].start;
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
