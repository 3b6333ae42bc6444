/* Solving one step of the law: active set at the bounds, Cholesky, and what to do when H is
 * indefinite (far side of a body), singular (parallel flats) or has an empty row (poles). */
#include "collide/witness_law.h"

/* Relative to a matrix of unit diagonal: below this a pivot counts as zero. */
static const double pivot_min = 1e-6;
/* Cosine between D and the tangents below which the coupled majoriser is the better one. */
static const double coupled_slope = 0.05;
/* Share of the size below which a tangent is collapsed. */
static const double collapsed = 1e-6;
/* Share of a parameter's range that one step may take: a Newton step from an inflected region
 * overshoots. */
static const double step_share = 0.25;

enum { LEVENBERG_TRIES = 4 };

/* The system on the free unknowns, scaled to tangents of unit length. */
typedef struct reduced {
    int n;
    int index[WITNESS_UNKNOWNS];
    double a[WITNESS_UNKNOWNS][WITNESS_UNKNOWNS];
    double r[WITNESS_UNKNOWNS];
} reduced;

typedef enum factor_result { FACTOR_GOOD, FACTOR_SINGULAR, FACTOR_INDEFINITE } factor_result;

/* Lower triangle in place; the diagonal holds the reciprocals. */
HR_RT static inline factor_result cholesky(double a[WITNESS_UNKNOWNS][WITNESS_UNKNOWNS], int n,
                                           double least)
{
    for (int j = 0; j < n; j++) {
        double p = a[j][j];
        for (int k = 0; k < j; k++)
            p -= a[j][k] * a[j][k];
        if (!(p > least))
            return p > -least ? FACTOR_SINGULAR : FACTOR_INDEFINITE;
        double inverse = 1.0 / sqrt(p);
        a[j][j] = inverse;
        for (int i = j + 1; i < n; i++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = sum * inverse;
        }
    }
    return FACTOR_GOOD;
}

HR_RT static inline void cholesky_solve(double a[WITNESS_UNKNOWNS][WITNESS_UNKNOWNS], int n,
                                        double *r)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            r[i] -= a[i][k] * r[k];
        r[i] *= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            r[i] -= a[k][i] * r[k];
        r[i] *= a[i][i];
    }
}

/* Gaussian elimination with row exchange; false where a pivot vanishes. */
HR_RT static bool lu_solve(double a[WITNESS_UNKNOWNS][WITNESS_UNKNOWNS], int n, double *r)
{
    for (int j = 0; j < n; j++) {
        int best = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(a[i][j]) > fabs(a[best][j]))
                best = i;
        if (!(fabs(a[best][j]) > pivot_min))
            return false;
        for (int k = 0; k < n; k++) {
            double t = a[j][k];
            a[j][k] = a[best][k];
            a[best][k] = t;
        }
        double t = r[j];
        r[j] = r[best];
        r[best] = t;
        for (int i = j + 1; i < n; i++) {
            double q = a[i][j] / a[j][j];
            for (int k = j + 1; k < n; k++)
                a[i][k] -= q * a[j][k];
            r[i] -= q * r[j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            r[i] -= a[i][k] * r[k];
        r[i] /= a[i][i];
    }
    return true;
}

/* Rows of the contact form that hold a tangent against a normal. */
HR_RT static inline bool is_angle(const witness_system *s, int i)
{
    bool is_b = i >= s->na;
    return (s->form == WITNESS_CONTACT_A && is_b) || (s->form == WITNESS_CONTACT_B && !is_b);
}

HR_RT static void reduce(const witness_system *s, unsigned fixed, double gain, double feedforward,
                         double size, const double *inverse_scale, reduced *out)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (!(fixed >> i & 1u))
            out->index[n++] = i;
    out->n = n;
    for (int k = 0; k < n; k++) {
        int i = out->index[k];
        /* an angle's row carries 1/m: times the size */
        double row = inverse_scale[i] * (is_angle(s, i) ? size : 1.0);
        out->r[k] = (-gain * s->g[i] - feedforward * s->b[i]) * row;
        for (int l = 0; l < n; l++) {
            int j = out->index[l];
            out->a[k][l] = s->m[i][j] * row * inverse_scale[j];
        }
    }
}

/* A symmetric 2x2 block without its negative eigenvalues. */
HR_RT static void keep_positive(double c[3])
{
    double mean = 0.5 * (c[0] + c[2]);
    double half = 0.5 * (c[0] - c[2]);
    double radius = sqrt(half * half + c[1] * c[1]);
    double high = mean + radius;
    double low = mean - radius;
    if (low >= 0.0)
        return;
    if (high <= 0.0) {
        c[0] = c[1] = c[2] = 0.0;
        return;
    }
    /* high times the projector on its eigenvector */
    double s = high / (2.0 * radius);
    c[0] = s * (radius + half);
    c[2] = s * (radius - half);
    c[1] = s * c[1];
}

/* c blockdiag(J^T J, L^T L) + blockdiag((D.J2)+, (-D.L2)+): positive definite on regular features,
 * dominates H, so its step descends. Coupled, it is [J -L]^T [J -L] + the same: closer to H and as
 * good a bound, but without rank where tangents are shared and flat. Always the gradient's right
 * side, without feed-forward: far from the root the rate of the root says nothing. */
HR_RT static void majorise(const witness_system *s, unsigned fixed, double gain, bool is_coupled,
                           const double *inverse_scale, reduced *out)
{
    double both = 1.0;
    unsigned all_a = (1u << s->na) - 1u;
    unsigned all = (1u << s->n) - 1u;
    if (!is_coupled && (~fixed & all_a) && (~fixed & all & ~all_a))
        both = 2.0;
    double blocks[2][3];
    for (int side = 0; side < 2; side++) {
        int first = side ? s->na : 0;
        int count = side ? s->n - s->na : s->na;
        double *c = blocks[side];
        double su = count > 0 ? inverse_scale[first] : 0.0;
        double sv = count > 1 ? inverse_scale[first + 1] : 0.0;
        c[0] = s->curvature[side][0] * su * su;
        c[1] = s->curvature[side][1] * su * sv;
        c[2] = s->curvature[side][2] * sv * sv;
        keep_positive(c);
    }
    for (int k = 0; k < out->n; k++) {
        int i = out->index[k];
        int side = i >= s->na;
        int first = side ? s->na : 0;
        out->r[k] = -gain * vec3_dot(s->tangent[i], s->difference) * inverse_scale[i];
        for (int l = 0; l < out->n; l++) {
            int j = out->index[l];
            bool is_same_side = (j >= s->na) == side;
            double product = vec3_dot(s->tangent[i], s->tangent[j]);
            out->a[k][l] = is_same_side || is_coupled
                               ? both * product * inverse_scale[i] * inverse_scale[j]
                               : 0.0;
            if (is_same_side)
                out->a[k][l] += blocks[side][(i - first) + (j - first)];
        }
    }
}

/* Adds lambda to the diagonal, ten times more at each try. */
HR_RT static bool levenberg(const reduced *s, double *y)
{
    double lambda = 1e-6;
    for (int attempt = 0; attempt < LEVENBERG_TRIES; attempt++, lambda *= 10.0) {
        reduced t = *s;
        for (int i = 0; i < t.n; i++)
            t.a[i][i] += lambda;
        if (cholesky(t.a, t.n, 0.5 * lambda) != FACTOR_GOOD)
            continue;
        cholesky_solve(t.a, t.n, t.r);
        for (int i = 0; i < t.n; i++)
            y[i] = t.r[i];
        return true;
    }
    return false;
}

/* The contact form where it is singular: flat against flat. A little relative curvature, as convex
 * bodies have it, sends a tilted flat to its nearer border and leaves a parallel one alone. */
HR_RT static bool solve_curved(const witness_system *s, const reduced *system, double *y)
{
    double lambda = 1e-5;
    for (int attempt = 0; attempt < LEVENBERG_TRIES; attempt++, lambda *= 10.0) {
        reduced t = *system;
        for (int k = 0; k < t.n; k++)
            if (is_angle(s, t.index[k]))
                t.a[k][k] += lambda;
        if (!lu_solve(t.a, t.n, t.r))
            continue;
        for (int i = 0; i < t.n; i++)
            y[i] = t.r[i];
        return true;
    }
    return false;
}

/* Largest cosine between D and a tangent. */
HR_RT static double largest_slope(const witness_system *s, const double *inverse_scale)
{
    double worst = 0.0;
    for (int i = 0; i < s->n; i++)
        worst = witness_larger(worst, fabs(s->g[i]) * inverse_scale[i]);
    return worst / vec3_length(s->difference);
}

/* H is not positive definite on the free unknowns. */
HR_RT static uint32_t fall_back(const witness_system *s, unsigned fixed, double gain,
                                const double *inverse_scale, factor_result why, reduced *work,
                                double *y)
{
    if (why == FACTOR_SINGULAR && levenberg(work, y))
        return WITNESS_NON_UNIQUE;
    /* near the end blocks would creep along two almost parallel flats; from afar they turn better
     */
    reduced coupled = *work;
    majorise(s, fixed, gain, true, inverse_scale, &coupled);
    if (largest_slope(s, inverse_scale) < coupled_slope &&
        cholesky(coupled.a, coupled.n, pivot_min) == FACTOR_GOOD) {
        cholesky_solve(coupled.a, coupled.n, coupled.r);
        for (int i = 0; i < coupled.n; i++)
            y[i] = coupled.r[i];
        return WITNESS_MAJORISED;
    }
    majorise(s, fixed, gain, false, inverse_scale, work);
    if (levenberg(work, y))
        return WITNESS_MAJORISED;
    for (int i = 0; i < work->n; i++)
        y[i] = 0.0;
    return WITNESS_STUCK;
}

/* H dx = r by L D L^T for the two sizes that occur most, without a root; false where a pivot is not
 * positive enough, measured against the tangents as in the scaled Cholesky. */
HR_RT static inline bool solve_two(const witness_system *s, const double *r, double *dx)
{
    double d0 = s->m[0][0];
    double l = s->m[1][0] / d0;
    double d1 = s->m[1][1] - l * s->m[1][0];
    if (!(d0 > pivot_min * s->scale[0] * s->scale[0]) ||
        !(d1 > pivot_min * s->scale[1] * s->scale[1]))
        return false;
    dx[1] = (r[1] - l * r[0]) / d1;
    dx[0] = r[0] / d0 - l * dx[1];
    return true;
}

HR_RT static inline bool solve_four(const witness_system *s, const double *r, double *dx)
{
    double d0 = s->m[0][0];
    double i0 = 1.0 / d0;
    double l10 = s->m[1][0] * i0;
    double l20 = s->m[2][0] * i0;
    double l30 = s->m[3][0] * i0;
    double d1 = s->m[1][1] - l10 * s->m[1][0];
    double v21 = s->m[2][1] - l20 * s->m[1][0];
    double v31 = s->m[3][1] - l30 * s->m[1][0];
    double i1 = 1.0 / d1;
    double l21 = v21 * i1;
    double l31 = v31 * i1;
    double d2 = s->m[2][2] - l20 * s->m[2][0] - l21 * v21;
    double v32 = s->m[3][2] - l30 * s->m[2][0] - l31 * v21;
    double i2 = 1.0 / d2;
    double l32 = v32 * i2;
    double d3 = s->m[3][3] - l30 * s->m[3][0] - l31 * v31 - l32 * v32;
    if (!(d0 > pivot_min * s->scale[0] * s->scale[0]) ||
        !(d1 > pivot_min * s->scale[1] * s->scale[1]) ||
        !(d2 > pivot_min * s->scale[2] * s->scale[2]) ||
        !(d3 > pivot_min * s->scale[3] * s->scale[3]))
        return false;
    double y1 = r[1] - l10 * r[0];
    double y2 = r[2] - l20 * r[0] - l21 * y1;
    double y3 = r[3] - l30 * r[0] - l31 * y1 - l32 * y2;
    dx[3] = y3 / d3;
    dx[2] = y2 * i2 - l32 * dx[3];
    dx[1] = y1 * i1 - l21 * dx[2] - l31 * dx[3];
    dx[0] = r[0] * i0 - l10 * dx[1] - l20 * dx[2] - l30 * dx[3];
    return true;
}

/* The usual case: nothing fixed, H positive definite. */
HR_RT static inline bool solve_plainly(const witness_system *s, double gain, double feedforward,
                                       double *dx)
{
    double r[WITNESS_UNKNOWNS];
    for (int i = 0; i < s->n; i++)
        r[i] = -gain * s->g[i] - feedforward * s->b[i];
    if (s->form != WITNESS_GRADIENT)
        return false;
    if (s->n == 2)
        return solve_two(s, r, dx);
    return s->n == 4 && solve_four(s, r, dx);
}

/* One solve on the unknowns that are not fixed. */
HR_RT static uint32_t solve_free(const witness_system *s, unsigned fixed, double gain,
                                 double feedforward, double size, const double *inverse_scale,
                                 double *dx)
{
    reduced work;
    double y[WITNESS_UNKNOWNS] = {0};
    uint32_t flags = 0;
    reduce(s, fixed, gain, feedforward, size, inverse_scale, &work);
    reduced kept = work;
    if (s->form == WITNESS_GRADIENT) {
        factor_result result = cholesky(work.a, work.n, pivot_min);
        if (result == FACTOR_GOOD)
            cholesky_solve(work.a, work.n, work.r);
        else
            flags = fall_back(s, fixed, gain, inverse_scale, result, &kept, y);
    } else if (!lu_solve(work.a, work.n, work.r)) {
        flags = solve_curved(s, &kept, y) ? WITNESS_NON_UNIQUE : WITNESS_STUCK;
    }
    const double *found = flags ? y : work.r;
    for (int i = 0; i < s->n; i++)
        dx[i] = 0.0;
    for (int k = 0; k < work.n; k++)
        dx[work.index[k]] = found[k] * inverse_scale[work.index[k]];
    return flags;
}

/* The unknowns that stand at a bound and would leave. */
HR_RT static inline unsigned leaving_box(const witness_system *s, const witness_box *box,
                                         const double *dx)
{
    unsigned leaving = 0;
    for (int i = 0; i < s->n; i++)
        if ((dx[i] < 0.0 && box->x[i] <= box->low[i]) || (dx[i] > 0.0 && box->x[i] >= box->high[i]))
            leaving |= 1u << i;
    return leaving;
}

/* The active set: what stands at a bound and would leave is fixed, and the rest solved again. */
HR_RT static uint32_t solve_in_box(const witness_system *s, double gain, double feedforward,
                                   const witness_box *box, double *dx)
{
    unsigned fixed = 0;
    uint32_t flags = 0;
    double inverse_scale[WITNESS_UNKNOWNS] = {0};
    for (int i = 0; i < s->n; i++)
        if (!(s->scale[i] * box->range[i] > collapsed * box->size))
            fixed |= 1u << i;
    if (fixed)
        flags |= WITNESS_FROZEN;
    else if (solve_plainly(s, gain, feedforward, dx) && !leaving_box(s, box, dx))
        return 0;
    for (int i = 0; i < s->n; i++)
        inverse_scale[i] = fixed >> i & 1u ? 0.0 : 1.0 / s->scale[i];
    for (int round = 0; round <= s->n; round++) {
        uint32_t now = solve_free(s, fixed, gain, feedforward, box->size, inverse_scale, dx);
        unsigned leaving = leaving_box(s, box, dx);
        if (!leaving || round == s->n)
            return flags | now;
        fixed |= leaving;
    }
    return flags;
}

HR_RT uint32_t witness_solve(const witness_system *s, double gain, double feedforward, double step,
                             const witness_box *box, double dx[WITNESS_UNKNOWNS])
{
    uint32_t flags = solve_in_box(s, gain, feedforward, box, dx);
    double shrink = 1.0;
    for (int i = 0; i < s->n; i++) {
        if (!isfinite(dx[i]))
            dx[i] = 0.0;
        double most = step_share * box->range[i];
        double way = fabs(dx[i]) * step;
        if (way * shrink > most)
            shrink = most / way;
    }
    if (shrink < 1.0) {
        flags |= WITNESS_LIMITED;
        for (int i = 0; i < s->n; i++)
            dx[i] *= shrink;
    }
    return flags;
}

HR_RT double witness_excess(const witness_system *s, const witness_box *box)
{
    double dx[WITNESS_UNKNOWNS];
    double d = vec3_length(s->difference);
    if (s->form != WITNESS_GRADIENT || !(d > 0.0))
        return (double)INFINITY;
    uint32_t flags = solve_in_box(s, 1.0, 0.0, box, dx);
    if (flags & (WITNESS_MAJORISED | WITNESS_STUCK))
        return (double)INFINITY;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++)
        sum -= s->g[i] * dx[i];
    return sum / (2.0 * d);
}

HR_RT double witness_cosine(const witness_system *s, const witness_box *box)
{
    double d = vec3_length(s->difference);
    double worst = 0.0;
    for (int i = 0; i < s->n; i++) {
        /* -g is the way downhill */
        double g = vec3_dot(s->tangent[i], s->difference);
        bool is_held = (g > 0.0 && box->x[i] <= box->low[i]) ||
                       (g < 0.0 && box->x[i] >= box->high[i]) ||
                       !(s->scale[i] * box->range[i] > collapsed * box->size);
        if (!is_held && d > 0.0)
            worst = witness_larger(worst, fabs(g) / (d * s->scale[i]));
    }
    return worst;
}
