#include "solver/friction_cone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "solver/qp_vector.h"

enum { ANGLES = 48, BISECTIONS = 60 };

#define TWO_PI 6.283185307179586

static void velocity(const friction_cone *c, int contact, const double *r, double *u)
{
    int d = c->dimension, size = d * c->contacts;
    for (int k = 0; k < d; k++) {
        long row = (long)contact * d + k;
        u[k] = c->q[row] + qp_dot(c->w + row * size, r, size);
    }
}

/* The nearest point of the cone |p_T| <= mu p_n. */
static void project(double mu, int d, double *p)
{
    double tangent = d == 3 ? hypot(p[1], p[2]) : fabs(p[1]);
    if (tangent <= mu * p[0])
        return;
    double normal = mu * tangent <= -p[0] ? 0.0 : (p[0] + mu * tangent) / (1 + mu * mu);
    double shrink = normal > 0 && tangent > 0 ? mu * normal / tangent : 0.0;
    p[0] = normal;
    for (int k = 1; k < d; k++)
        p[k] *= shrink;
}

double friction_cone_residual(const friction_cone *c, const double *r)
{
    int d = c->dimension, size = d * c->contacts;
    double most = 1e-300, off = 0;
    for (long i = 0; i < size; i++)
        most = qp_max(most, c->w[i * size + i]);
    for (int i = 0; i < c->contacts; i++) {
        double u[3] = {0, 0, 0}, p[3] = {0, 0, 0};
        const double *ri = r + (long)i * d;
        velocity(c, i, r, u);
        double speed = d == 3 ? hypot(u[1], u[2]) : fabs(u[1]);
        for (int k = 0; k < d; k++)
            p[k] = ri[k] - (u[k] + (k == 0 ? c->mu[i] * speed : 0.0)) / most;
        project(c->mu[i], d, p);
        for (int k = 0; k < d; k++)
            off += (ri[k] - p[k]) * (ri[k] - p[k]);
    }
    double length = sqrt(qp_dot(r, r, size));
    return length > 0 ? sqrt(off) / length : sqrt(off);
}

/* One contact alone: b its block of W, u0 its velocity without its own impulse. */
typedef struct local {
    int d;
    double mu, b[3][3], u0[3];
} local;

static bool solve_block(const local *l, double *r)
{
    double a[3][4];
    for (int i = 0; i < l->d; i++) {
        for (int j = 0; j < l->d; j++)
            a[i][j] = l->b[i][j];
        a[i][l->d] = -l->u0[i];
    }
    for (int k = 0; k < l->d; k++) {
        int best = k;
        for (int i = k + 1; i < l->d; i++)
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        if (!(fabs(a[best][k]) > 1e-14 * fabs(l->b[0][0])))
            return false;
        for (int j = 0; j <= l->d; j++) {
            double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        for (int i = 0; i < l->d; i++) {
            double factor = i == k ? 0.0 : a[i][k] / a[k][k];
            for (int j = k; j <= l->d; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = 0; k < l->d; k++)
        r[k] = a[k][l->d] / a[k][k];
    return true;
}

/* Sliding along e = (cos, sin): the impulse that keeps u_n = 0 and pulls against e. Returns the
 * part of u_T across e (zero when e is right) and its part along e. */
static double slide(const local *l, double angle, double *r, double *along)
{
    double e[2] = {cos(angle), sin(angle)};
    double pull = l->b[0][0];
    for (int k = 1; k < l->d; k++)
        pull -= l->mu * l->b[0][k] * e[k - 1];
    r[0] = pull > 1e-14 * l->b[0][0] ? -l->u0[0] / pull : 0.0;
    for (int k = 1; k < l->d; k++)
        r[k] = -l->mu * r[0] * e[k - 1];
    double ut[2] = {0, 0};
    for (int k = 1; k < l->d; k++) {
        ut[k - 1] = l->u0[k];
        for (int j = 0; j < l->d; j++)
            ut[k - 1] += l->b[k][j] * r[j];
    }
    *along = ut[0] * e[0] + ut[1] * e[1];
    return ut[1] * e[0] - ut[0] * e[1];
}

/* Bisection where the crosswise part changes sign; true when u_T then points along e. */
static bool find_angle(const local *l, double low, double high, double f_low, double *r)
{
    double along;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high), f = slide(l, middle, r, &along);
        if ((f > 0) == (f_low > 0))
            low = middle;
        else
            high = middle;
    }
    slide(l, 0.5 * (low + high), r, &along);
    return along >= 0 && r[0] >= 0;
}

static bool solve_sliding(const local *l, double guess, double *r)
{
    double along;
    if (l->d == 2) {
        for (int k = 0; k < 2; k++) {
            slide(l, k * 0.5 * TWO_PI, r, &along);
            if (along >= 0 && r[0] >= 0)
                return true;
        }
        return false;
    }
    double step = TWO_PI / ANGLES, before = slide(l, guess - 0.5 * step, r, &along);
    for (int k = 0; k < ANGLES; k++) {
        double at = guess + (k + 0.5) * step, now = slide(l, at, r, &along);
        if ((now > 0) != (before > 0) && find_angle(l, at - step, at, before, r))
            return true;
        before = now;
    }
    return false;
}

/* Take off, stick or slide: the first of the three that is consistent. */
static void solve_local(const local *l, double *r)
{
    double now[3] = {r[0], r[1], l->d == 3 ? r[2] : 0.0};
    if (l->u0[0] >= 0) {
        for (int k = 0; k < l->d; k++)
            r[k] = 0.0;
        return;
    }
    if (l->mu == 0.0) {
        r[0] = -l->u0[0] / l->b[0][0];
        for (int k = 1; k < l->d; k++)
            r[k] = 0.0;
        return;
    }
    double t[3] = {0, 0, 0};
    if (solve_block(l, t) && t[0] >= 0 && hypot(t[1], l->d == 3 ? t[2] : 0.0) <= l->mu * t[0]) {
        memcpy(r, t, (size_t)l->d * sizeof *r);
        return;
    }
    if (solve_sliding(l, atan2(-now[2], -now[1]), t))
        memcpy(r, t, (size_t)l->d * sizeof *r);
}

static void sweep(const friction_cone *c, double *r)
{
    int d = c->dimension;
    long size = (long)d * c->contacts;
    for (int i = 0; i < c->contacts; i++) {
        double *ri = r + (long)i * d;
        local l = {.d = d, .mu = c->mu[i]};
        velocity(c, i, r, l.u0);
        for (int k = 0; k < d; k++)
            for (int j = 0; j < d; j++) {
                l.b[k][j] = c->w[((long)i * d + k) * size + (long)i * d + j];
                l.u0[k] -= l.b[k][j] * ri[j];
            }
        if (l.b[0][0] > 0)
            solve_local(&l, ri);
    }
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double friction_cone_sweep(const friction_cone *c, double *r, double *scratch, int sweeps,
                           double tolerance, int64_t deadline_ns)
{
    size_t bytes = (size_t)(c->dimension * c->contacts) * sizeof *r;
    double best = friction_cone_residual(c, r);
    memcpy(scratch, r, bytes);
    for (int i = 0; i < sweeps && best > tolerance; i++) {
        sweep(c, scratch);
        double now = friction_cone_residual(c, scratch);
        if (now < best) {
            best = now;
            memcpy(r, scratch, bytes);
        }
        if (deadline_ns && now_ns() >= deadline_ns)
            break;
    }
    return best;
}
