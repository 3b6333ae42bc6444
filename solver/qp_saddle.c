#include "solver/qp_saddle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/qp_vector.h"

static double dot(const double *a, const double *b, int n)
{
    return qp_dot(a, b, n);
}

/* out = [K J'; J -L] z */
static void apply_saddle(const qp_saddle *s, const double *z, double *out)
{
    int n = s->n, m = s->rows->rows;
    s->apply(s->context, z, out);
    qp_sparse_add_transposed(s->rows, z + n, out);
    qp_sparse_multiply(s->rows, z, out + n);
    for (int i = 0; i < m && s->softness; i++)
        out[n + i] -= s->softness[i] * z[n + i];
}

static void precondition(const qp_saddle *s, const double *diagonal, const double *r, double *out)
{
    int n = s->n, m = s->rows->rows;
    if (s->precondition)
        s->precondition(s->context, r, out);
    else
        memcpy(out, r, (size_t)n * sizeof *out);
    for (int i = 0; i < m; i++)
        out[n + i] = r[n + i] / diagonal[i];
}

/* The diagonal of J P J' + L, P the preconditioner. */
static void schur_diagonal(const qp_saddle *s, double *column, double *solved, double *diagonal)
{
    for (int i = 0; i < s->rows->rows; i++) {
        memset(column, 0, (size_t)s->n * sizeof *column);
        for (long e = s->rows->start[i]; e < s->rows->start[i + 1]; e++)
            column[s->rows->index[e]] = s->rows->value[e];
        if (s->precondition)
            s->precondition(s->context, column, solved);
        else
            memcpy(solved, column, (size_t)s->n * sizeof *solved);
        diagonal[i] = dot(column, solved, s->n) + (s->softness ? s->softness[i] : 0.0);
        if (!(diagonal[i] > 0))
            diagonal[i] = 1.0;
    }
}

/* r = right side - saddle z; returns its largest entry relative to the right side's. */
static double residual_of(const qp_saddle *s, const double *z, double *r)
{
    int n = s->n, m = s->rows->rows;
    double size = 1e-300, most = 0;
    apply_saddle(s, z, r);
    for (int i = 0; i < n + m; i++) {
        double right = i < n ? s->b[i] : s->bound[i - n];
        size = qp_max(size, fabs(right));
        r[i] = right - r[i];
        most = fabs(r[i]) <= most ? most : fabs(r[i]);
    }
    return most / size;
}

/* The Lanczos vectors and search directions of MINRES (Paige and Saunders 1975). */
typedef struct lanczos {
    int size;
    double *z, *r1, *r2, *y, *v, *w, *w1, *w2, *diagonal;
} lanczos;

static bool lanczos_allocate(lanczos *k, int n, int m)
{
    size_t size = (size_t)n + (size_t)m;
    k->size = n + m;
    k->z = calloc(9 * size + 1, sizeof *k->z);
    if (!k->z)
        return false;
    double **parts[] = {&k->r1, &k->r2, &k->y, &k->v, &k->w, &k->w1, &k->w2, &k->diagonal};
    for (int i = 0; i < HR_COUNT(parts); i++)
        *parts[i] = k->z + (size_t)(i + 1) * size;
    return true;
}

typedef struct givens {
    double old_beta, beta, dbar, epsilon, phi, cosine, sine;
} givens;

/* One Lanczos step, one rotation, one update of z. False where the space is exhausted. */
static bool minres_step(const qp_saddle *s, lanczos *k, givens *g, int iteration)
{
    int size = k->size;
    for (int i = 0; i < size; i++)
        k->v[i] = k->y[i] / g->beta;
    apply_saddle(s, k->v, k->y);
    if (iteration > 0)
        qp_add_scaled(k->y, -g->beta / g->old_beta, k->r1, size);
    double alpha = dot(k->v, k->y, size);
    qp_add_scaled(k->y, -alpha / g->beta, k->r2, size);
    double *swap = k->r1;
    k->r1 = k->r2;
    k->r2 = swap;
    memcpy(k->r2, k->y, (size_t)size * sizeof *k->y);
    precondition(s, k->diagonal, k->r2, k->y);
    double squared = dot(k->r2, k->y, size);
    g->old_beta = g->beta;
    g->beta = sqrt(qp_max(0.0, squared));

    double old_epsilon = g->epsilon, delta = g->cosine * g->dbar + g->sine * alpha;
    double gbar = g->sine * g->dbar - g->cosine * alpha;
    g->epsilon = g->sine * g->beta;
    g->dbar = -g->cosine * g->beta;
    double gamma = qp_max(hypot(gbar, g->beta), 1e-300);
    g->cosine = gbar / gamma;
    g->sine = g->beta / gamma;
    double phi = g->cosine * g->phi;
    g->phi *= g->sine;

    swap = k->w1;
    k->w1 = k->w2;
    k->w2 = k->w;
    k->w = swap;
    for (int i = 0; i < size; i++)
        k->w[i] = (k->v[i] - old_epsilon * k->w1[i] - delta * k->w2[i]) / gamma;
    qp_add_scaled(k->z, phi, k->w, size);
    return g->beta > 1e-300;
}

hr_status qp_saddle_minres(const qp_saddle *s, double tolerance, int iterations, double *x,
                           double *lambda, qp_saddle_result *out)
{
    int n = s->n, m = s->rows->rows;
    lanczos k = {0};
    *out = (qp_saddle_result){0};
    if (!lanczos_allocate(&k, n, m))
        return HR_ERR_MEMORY;
    double *memory = k.z;
    memcpy(k.z, x, (size_t)n * sizeof *x);
    memcpy(k.z + n, lambda, (size_t)m * sizeof *lambda);
    schur_diagonal(s, k.v, k.w, k.diagonal);
    memset(k.w, 0, (size_t)k.size * sizeof *k.w);
    /* restarted when the recurrence says it is done but the true residual does not */
    for (int restart = 0; restart < 10 && out->iterations < iterations; restart++) {
        out->residual = residual_of(s, k.z, k.r1);
        if (out->residual <= tolerance)
            break;
        memcpy(k.r2, k.r1, (size_t)k.size * sizeof *k.r1);
        precondition(s, k.diagonal, k.r1, k.y);
        givens g = {.beta = sqrt(qp_max(0.0, dot(k.r1, k.y, k.size))), .cosine = -1.0};
        g.phi = g.beta;
        double first = g.beta;
        memset(k.w, 0, (size_t)k.size * sizeof *k.w);
        memset(k.w1, 0, (size_t)k.size * sizeof *k.w1);
        memset(k.w2, 0, (size_t)k.size * sizeof *k.w2);
        for (int i = 0; out->iterations < iterations; i++) {
            out->iterations++;
            if (!minres_step(s, &k, &g, i) || g.phi <= 0.01 * tolerance * first)
                break;
        }
    }
    out->residual = residual_of(s, k.z, k.r1);
    out->inner = out->iterations;
    out->is_solved = out->residual <= tolerance;
    memcpy(x, k.z, (size_t)n * sizeof *x);
    memcpy(lambda, k.z + n, (size_t)m * sizeof *lambda);
    free(memory);
    return HR_OK;
}

/* x = K^-1 b by preconditioned conjugate gradients; scratch: 4 n. Returns the iterations. */
static int solve_inner(const qp_saddle *s, const double *b, double tolerance, double *x,
                       double *scratch)
{
    int n = s->n, count = 0;
    double *r = scratch, *z = r + n, *p = z + n, *kp = p + n;
    double size = sqrt(dot(b, b, n)), rho = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, b, (size_t)n * sizeof *r);
    while (sqrt(dot(r, r, n)) > tolerance * size && count < 20 * n + 100) {
        if (s->precondition)
            s->precondition(s->context, r, z);
        else
            memcpy(z, r, (size_t)n * sizeof *z);
        double now = dot(r, z, n), beta = count > 0 ? now / rho : 0.0;
        rho = now;
        for (int i = 0; i < n; i++)
            p[i] = z[i] + beta * p[i];
        s->apply(s->context, p, kp);
        double curvature = dot(p, kp, n);
        if (!(curvature > 0))
            break;
        qp_add_scaled(x, rho / curvature, p, n);
        qp_add_scaled(r, -rho / curvature, kp, n);
        count++;
    }
    return count;
}

typedef struct schur {
    double *column, *solved, *scratch; /* n, n, 4 n */
    double *r, *p, *wp;                /* m */
} schur;

/* out = (J K^-1 J' + L) v */
static int apply_schur(const qp_saddle *s, schur *h, const double *v, double tolerance, double *out)
{
    memset(h->column, 0, (size_t)s->n * sizeof *h->column);
    qp_sparse_add_transposed(s->rows, v, h->column);
    int count = solve_inner(s, h->column, tolerance, h->solved, h->scratch);
    qp_sparse_multiply(s->rows, h->solved, out);
    for (int i = 0; i < s->rows->rows && s->softness; i++)
        out[i] += s->softness[i] * v[i];
    return count;
}

hr_status qp_saddle_schur(const qp_saddle *s, double tolerance, int iterations, double *x,
                          double *lambda, qp_saddle_result *out)
{
    int n = s->n, m = s->rows->rows;
    double inner = 1e-2 * tolerance;
    *out = (qp_saddle_result){0};
    double *memory = calloc(6 * (size_t)n + 3 * (size_t)m + 1, sizeof *memory);
    double *all = calloc(2 * ((size_t)n + (size_t)m) + 1, sizeof *all);
    if (!memory || !all) {
        free(memory);
        free(all);
        return HR_ERR_MEMORY;
    }
    schur h = {memory,          memory + n,          memory + 2L * n,
               memory + 6L * n, memory + 6L * n + m, memory + 6L * n + 2L * m};
    out->inner = solve_inner(s, s->b, inner, h.solved, h.scratch);
    qp_sparse_multiply(s->rows, h.solved, h.r);
    for (int i = 0; i < m; i++)
        h.r[i] -= s->bound[i];
    double size = sqrt(dot(h.r, h.r, m)), rho = 0;
    memset(lambda, 0, (size_t)m * sizeof *lambda);
    while (sqrt(dot(h.r, h.r, m)) > tolerance * size && out->iterations < iterations) {
        double now = dot(h.r, h.r, m), beta = out->iterations > 0 ? now / rho : 0.0;
        rho = now;
        for (int i = 0; i < m; i++)
            h.p[i] = h.r[i] + beta * h.p[i];
        out->inner += apply_schur(s, &h, h.p, inner, h.wp);
        double curvature = dot(h.p, h.wp, m);
        if (!(curvature > 0))
            break;
        qp_add_scaled(lambda, rho / curvature, h.p, m);
        qp_add_scaled(h.r, -rho / curvature, h.wp, m);
        out->iterations++;
    }
    for (int i = 0; i < n; i++)
        h.column[i] = s->b[i];
    for (int i = 0; i < m; i++)
        h.p[i] = -lambda[i];
    qp_sparse_add_transposed(s->rows, h.p, h.column);
    out->inner += solve_inner(s, h.column, inner, x, h.scratch);
    memcpy(all, x, (size_t)n * sizeof *x);
    memcpy(all + n, lambda, (size_t)m * sizeof *lambda);
    out->residual = residual_of(s, all, all + n + m);
    out->is_solved = out->residual <= 100 * tolerance;
    free(memory);
    free(all);
    return HR_OK;
}
