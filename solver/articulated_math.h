/* The 6x6 products of the assembly tree, two columns at a time. Plain vector types of the compiler:
 * the order of the operations, and so the result, is the same on every machine.
 *
 * Everything is stored in pairs: a processor cannot hand two fresh single stores to one load of a
 * pair and stalls until they have reached the cache, which cost a third of a step. */
#ifndef SOLVER_ARTICULATED_MATH_H
#define SOLVER_ARTICULATED_MATH_H

#include "geometry/spatial.h"

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Six numbers as three pairs. */
typedef struct row6 {
    pair c[3];
} row6;

HR_RT static inline row6 row6_load(const double *x)
{
    return (row6){{*(const pair *)x, *(const pair *)(x + 2), *(const pair *)(x + 4)}};
}

HR_RT static inline void row6_store(row6 r, double *x)
{
    *(pair *)x = r.c[0];
    *(pair *)(x + 2) = r.c[1];
    *(pair *)(x + 4) = r.c[2];
}

HR_RT static inline row6 row6_add(row6 a, row6 b)
{
    return (row6){{a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2]}};
}

HR_RT static inline row6 row6_sub(row6 a, row6 b)
{
    return (row6){{a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2]}};
}

HR_RT static inline row6 row6_scale(double s, row6 a)
{
    pair t = {s, s};
    return (row6){{t * a.c[0], t * a.c[1], t * a.c[2]}};
}

/* Short loops whose every turn should stand in the code. */
#ifdef __clang__
#define UNROLL_6 _Pragma("unroll")
#else
#define UNROLL_6 _Pragma("GCC unroll 6")
#endif

/* a + s b */
HR_RT static inline row6 row6_add_scaled(row6 a, double s, const double *b)
{
    pair t = {s, s};
    const pair *c = (const pair *)b;
    return (row6){{a.c[0] + t * c[0], a.c[1] + t * c[1], a.c[2] + t * c[2]}};
}

/* x^T m for the numbers x0 .. x5. */
HR_RT static inline row6 row6_combine(double x0, double x1, double x2, double x3, double x4,
                                      double x5, const mat6 *m)
{
    row6 sum = row6_scale(x0, row6_load(m->m[0]));
    sum = row6_add_scaled(sum, x1, m->m[1]);
    sum = row6_add_scaled(sum, x2, m->m[2]);
    sum = row6_add_scaled(sum, x3, m->m[3]);
    sum = row6_add_scaled(sum, x4, m->m[4]);
    return row6_add_scaled(sum, x5, m->m[5]);
}

/* out = a b */
HR_RT static inline void fast_multiply(const mat6 *restrict a, const mat6 *restrict b,
                                       mat6 *restrict out)
{
    for (int i = 0; i < 6; i++) {
        const double *x = a->m[i];
        row6_store(row6_combine(x[0], x[1], x[2], x[3], x[4], x[5], b), out->m[i]);
    }
}

HR_RT static inline row6 row6_negate(row6 a)
{
    return (row6){{-a.c[0], -a.c[1], -a.c[2]}};
}

/* out = -(a b) */
HR_RT static inline void fast_multiply_negated(const mat6 *restrict a, const mat6 *restrict b,
                                               mat6 *restrict out)
{
    for (int i = 0; i < 6; i++) {
        const double *x = a->m[i];
        row6_store(row6_negate(row6_combine(x[0], x[1], x[2], x[3], x[4], x[5], b)), out->m[i]);
    }
}

/* out = -(a^T b) */
HR_RT static inline void
fast_multiply_transposed_negated(const mat6 *restrict a, const mat6 *restrict b, mat6 *restrict out)
{
    for (int i = 0; i < 6; i++) {
        row6 sum =
            row6_combine(a->m[0][i], a->m[1][i], a->m[2][i], a->m[3][i], a->m[4][i], a->m[5][i], b);
        row6_store(row6_negate(sum), out->m[i]);
    }
}

/* out = a^T b */
HR_RT static inline void fast_multiply_transposed(const mat6 *restrict a, const mat6 *restrict b,
                                                  mat6 *restrict out)
{
    for (int i = 0; i < 6; i++)
        row6_store(
            row6_combine(a->m[0][i], a->m[1][i], a->m[2][i], a->m[3][i], a->m[4][i], a->m[5][i], b),
            out->m[i]);
}

/* Writes a 2 x 2 block and its mirror image; a diagonal block keeps its upper half. */
HR_RT static inline void put_block(const mat6 *base, double sign, pair top, pair low, int i, int j,
                                   mat6 *restrict out)
{
    pair s = {sign, sign};
    top = *(const pair *)&base->m[2 * i][2 * j] + s * top;
    low = *(const pair *)&base->m[2 * i + 1][2 * j] + s * low;
    if (i == j)
        low = (pair){top[1], low[1]};
    *(pair *)&out->m[2 * i][2 * j] = top;
    *(pair *)&out->m[2 * i + 1][2 * j] = low;
    if (i == j)
        return;
    *(pair *)&out->m[2 * j][2 * i] = (pair){top[0], low[0]};
    *(pair *)&out->m[2 * j + 1][2 * i] = (pair){top[1], low[1]};
}

/* Adds the products of row k to the blocks (i, j) of a^T b. */
#define BLOCK_SUM(k, i, j, top, low)                                                               \
    (top) += (pair){a->m[k][2 * (i)], a->m[k][2 * (i)]} * *(const pair *)&b->m[k][2 * (j)];        \
    (low) += (pair){a->m[k][2 * (i) + 1], a->m[k][2 * (i) + 1]} * *(const pair *)&b->m[k][2 * (j)]

/* out = base + sign a^T b, known to be symmetric: the upper half is computed and mirrored. */
HR_RT static inline void fast_add_symmetric(const mat6 *base, double sign, const mat6 *restrict a,
                                            const mat6 *restrict b, mat6 *restrict out)
{
    pair zero = {0, 0}, t0 = zero, t1 = zero, t2 = zero, l0 = zero, l1 = zero, l2 = zero;
    UNROLL_6
    for (int k = 0; k < 6; k++) {
        BLOCK_SUM(k, 0, 0, t0, l0);
        BLOCK_SUM(k, 0, 1, t1, l1);
        BLOCK_SUM(k, 0, 2, t2, l2);
    }
    put_block(base, sign, t0, l0, 0, 0, out);
    put_block(base, sign, t1, l1, 0, 1, out);
    put_block(base, sign, t2, l2, 0, 2, out);
    t0 = t1 = t2 = l0 = l1 = l2 = zero;
    UNROLL_6
    for (int k = 0; k < 6; k++) {
        BLOCK_SUM(k, 1, 1, t0, l0);
        BLOCK_SUM(k, 1, 2, t1, l1);
        BLOCK_SUM(k, 2, 2, t2, l2);
    }
    put_block(base, sign, t0, l0, 1, 1, out);
    put_block(base, sign, t1, l1, 1, 2, out);
    put_block(base, sign, t2, l2, 2, 2, out);
}
#undef BLOCK_SUM

HR_RT static inline void fast_transpose(const mat6 *restrict a, mat6 *restrict out)
{
    for (int i = 0; i < 6; i += 2)
        for (int j = 0; j < 6; j += 2) {
            pair x = *(const pair *)&a->m[i][j], y = *(const pair *)&a->m[i + 1][j];
            *(pair *)&out->m[j][i] = (pair){x[0], y[0]};
            *(pair *)&out->m[j + 1][i] = (pair){x[1], y[1]};
        }
}

HR_RT static inline vec6 vec6_from(double a, double b, double c, double d, double e, double f)
{
    vec6 out;
    row6_store((row6){{{a, b}, {c, d}, {e, f}}}, out.v);
    return out;
}

HR_RT static inline double row6_dot(row6 a, row6 b)
{
    pair sum = (a.c[0] * b.c[0] + a.c[1] * b.c[1]) + a.c[2] * b.c[2];
    return sum[0] + sum[1];
}

/* Rows i and i + 1 of m times x. */
HR_RT static inline pair two_rows(const mat6 *m, row6 x, int i)
{
    row6 r = row6_load(m->m[i]), t = row6_load(m->m[i + 1]);
    pair a = (r.c[0] * x.c[0] + r.c[1] * x.c[1]) + r.c[2] * x.c[2];
    pair b = (t.c[0] * x.c[0] + t.c[1] * x.c[1]) + t.c[2] * x.c[2];
    return (pair){a[0], b[0]} + (pair){a[1], b[1]};
}

/* m x */
HR_RT static inline row6 row6_times(const mat6 *m, row6 x)
{
    return (row6){{two_rows(m, x, 0), two_rows(m, x, 2), two_rows(m, x, 4)}};
}

/* m v */
HR_RT static inline vec6 fast_apply(const mat6 *m, const vec6 *v)
{
    vec6 out;
    row6_store(row6_times(m, row6_load(v->v)), out.v);
    return out;
}

/* The motion seen from frame a, written in frame b: X v. */
HR_RT static inline vec6 fast_motion_to_b(const rigid *x, const vec6 *m)
{
    const double(*r)[3] = x->rotation.m;
    double w0 = m->v[0], w1 = m->v[1], w2 = m->v[2];
    double px = x->origin.x, py = x->origin.y, pz = x->origin.z;
    double u0 = m->v[3] + (w1 * pz - w2 * py);
    double u1 = m->v[4] + (w2 * px - w0 * pz);
    double u2 = m->v[5] + (w0 * py - w1 * px);
    return vec6_from(
        r[0][0] * w0 + r[1][0] * w1 + r[2][0] * w2, r[0][1] * w0 + r[1][1] * w1 + r[2][1] * w2,
        r[0][2] * w0 + r[1][2] * w1 + r[2][2] * w2, r[0][0] * u0 + r[1][0] * u1 + r[2][0] * u2,
        r[0][1] * u0 + r[1][1] * u1 + r[2][1] * u2, r[0][2] * u0 + r[1][2] * u1 + r[2][2] * u2);
}

/* A force written in frame b, seen from frame a: X^T f. */
HR_RT static inline vec6 fast_force_to_a(const rigid *x, const vec6 *force)
{
    const double(*r)[3] = x->rotation.m;
    const double *f = force->v;
    double n0 = r[0][0] * f[0] + r[0][1] * f[1] + r[0][2] * f[2];
    double n1 = r[1][0] * f[0] + r[1][1] * f[1] + r[1][2] * f[2];
    double n2 = r[2][0] * f[0] + r[2][1] * f[1] + r[2][2] * f[2];
    double f0 = r[0][0] * f[3] + r[0][1] * f[4] + r[0][2] * f[5];
    double f1 = r[1][0] * f[3] + r[1][1] * f[4] + r[1][2] * f[5];
    double f2 = r[2][0] * f[3] + r[2][1] * f[4] + r[2][2] * f[5];
    double px = x->origin.x, py = x->origin.y, pz = x->origin.z;
    return vec6_from(n0 + (py * f2 - pz * f1), n1 + (pz * f0 - px * f2), n2 + (px * f1 - py * f0),
                     f0, f1, f2);
}

/* v x* f */
HR_RT static inline vec6 fast_cross_force(const vec6 *v, const vec6 *force)
{
    double w0 = v->v[0], w1 = v->v[1], w2 = v->v[2], u0 = v->v[3], u1 = v->v[4], u2 = v->v[5];
    const double *f = force->v;
    return vec6_from((w1 * f[2] - w2 * f[1]) + (u1 * f[5] - u2 * f[4]),
                     (w2 * f[0] - w0 * f[2]) + (u2 * f[3] - u0 * f[5]),
                     (w0 * f[1] - w1 * f[0]) + (u0 * f[4] - u1 * f[3]), w1 * f[5] - w2 * f[4],
                     w2 * f[3] - w0 * f[5], w0 * f[4] - w1 * f[3]);
}

/* m^T v; the same as m v for a symmetric m, and faster. */
HR_RT static inline vec6 fast_apply_transposed(const mat6 *m, const vec6 *v)
{
    vec6 out;
    row6_store(row6_combine(v->v[0], v->v[1], v->v[2], v->v[3], v->v[4], v->v[5], m), out.v);
    return out;
}

/* out = X m with the motion transform X of x: [R^T 0; -R^T p^ R^T]. */
HR_RT static inline void fast_motion_left(const rigid *restrict x, const mat6 *restrict m,
                                          mat6 *restrict out)
{
    row6 t0 = row6_load(m->m[0]), t1 = row6_load(m->m[1]), t2 = row6_load(m->m[2]);
    vec3 p = x->origin;
    row6 l0 = row6_sub(row6_scale(p.y, t2), row6_scale(p.z, t1));
    row6 l1 = row6_sub(row6_scale(p.z, t0), row6_scale(p.x, t2));
    row6 l2 = row6_sub(row6_scale(p.x, t1), row6_scale(p.y, t0));
    row6 b0 = row6_sub(row6_load(m->m[3]), l0);
    row6 b1 = row6_sub(row6_load(m->m[4]), l1);
    row6 b2 = row6_sub(row6_load(m->m[5]), l2);
    for (int i = 0; i < 3; i++) {
        double r0 = x->rotation.m[0][i], r1 = x->rotation.m[1][i], r2 = x->rotation.m[2][i];
        row6 top = row6_add(row6_add(row6_scale(r0, t0), row6_scale(r1, t1)), row6_scale(r2, t2));
        row6 low = row6_add(row6_add(row6_scale(r0, b0), row6_scale(r1, b1)), row6_scale(r2, b2));
        row6_store(top, out->m[i]);
        row6_store(low, out->m[i + 3]);
    }
}

/* out = m X^T for any m, by way of two transposes. */
HR_RT static inline void fast_motion_right(const rigid *restrict x, const mat6 *restrict m,
                                           mat6 *restrict out)
{
    mat6 t, u;
    fast_transpose(m, &t);
    fast_motion_left(x, &t, &u);
    fast_transpose(&u, out);
}

/* out = (X m)^T... for a symmetric m: left = X m, both = X m X^T. */
HR_RT static inline void fast_motion_both(const rigid *restrict x, const mat6 *restrict m,
                                          mat6 *restrict left, mat6 *restrict both)
{
    mat6 t;
    fast_motion_left(x, m, left);
    fast_transpose(left, &t);
    fast_motion_left(x, &t, both);
}

/* The six different entries of a symmetric 3x3 matrix. */
typedef struct sym3 {
    double xx, xy, xz, yy, yz, zz;
} sym3;

/* By cofactors; the caller knows that s is positive definite. */
HR_RT static inline sym3 sym3_inverse(sym3 s)
{
    double cxx = s.yy * s.zz - s.yz * s.yz;
    double cxy = s.xz * s.yz - s.xy * s.zz;
    double cxz = s.xy * s.yz - s.xz * s.yy;
    double k = 1.0 / (s.xx * cxx + s.xy * cxy + s.xz * cxz);
    return (sym3){k * cxx,
                  k * cxy,
                  k * cxz,
                  k * (s.xx * s.zz - s.xz * s.xz),
                  k * (s.xy * s.xz - s.xx * s.yz),
                  k * (s.xx * s.yy - s.xy * s.xy)};
}

HR_RT static inline void sym3_times(sym3 s, const double b[3], double out[3])
{
    out[0] = s.xx * b[0] + s.xy * b[1] + s.xz * b[2];
    out[1] = s.xy * b[0] + s.yy * b[1] + s.yz * b[2];
    out[2] = s.xz * b[0] + s.yz * b[1] + s.zz * b[2];
}

/* Inverse of a symmetric positive definite matrix by 3x3 blocks [a b; b^T c]: two divisions. Reads
 * the upper half only; the result is symmetric to the bit. */
HR_RT static inline void fast_inverse(const mat6 *restrict y, mat6 *restrict out)
{
    sym3 a = {y->m[0][0], y->m[0][1], y->m[0][2], y->m[1][1], y->m[1][2], y->m[2][2]};
    sym3 ai = sym3_inverse(a);
    double t[3][3]; /* t[j] = column j of a^-1 b */
    for (int j = 0; j < 3; j++) {
        double b[3] = {y->m[0][3 + j], y->m[1][3 + j], y->m[2][3 + j]};
        sym3_times(ai, b, t[j]);
    }
#define SCHUR(i, j)                                                                                \
    (y->m[3 + (i)][3 + (j)] -                                                                      \
     (y->m[0][3 + (i)] * t[j][0] + y->m[1][3 + (i)] * t[j][1] + y->m[2][3 + (i)] * t[j][2]))
    sym3 s = {SCHUR(0, 0), SCHUR(0, 1), SCHUR(0, 2), SCHUR(1, 1), SCHUR(1, 2), SCHUR(2, 2)};
#undef SCHUR
    sym3 si = sym3_inverse(s);
    double e[3][3]; /* e[i] = row i of a^-1 b s^-1 */
    for (int i = 0; i < 3; i++) {
        double r[3] = {t[0][i], t[1][i], t[2][i]};
        sym3_times(si, r, e[i]);
    }
#define FIRST(r, c) (e[r][0] * t[0][c] + e[r][1] * t[1][c] + e[r][2] * t[2][c])
    double xx = ai.xx + FIRST(0, 0), xy = ai.xy + FIRST(0, 1), xz = ai.xz + FIRST(0, 2);
    double yy = ai.yy + FIRST(1, 1), yz = ai.yz + FIRST(1, 2), zz = ai.zz + FIRST(2, 2);
#undef FIRST
    row6_store((row6){{{xx, xy}, {xz, -e[0][0]}, {-e[0][1], -e[0][2]}}}, out->m[0]);
    row6_store((row6){{{xy, yy}, {yz, -e[1][0]}, {-e[1][1], -e[1][2]}}}, out->m[1]);
    row6_store((row6){{{xz, yz}, {zz, -e[2][0]}, {-e[2][1], -e[2][2]}}}, out->m[2]);
    row6_store((row6){{{-e[0][0], -e[1][0]}, {-e[2][0], si.xx}, {si.xy, si.xz}}}, out->m[3]);
    row6_store((row6){{{-e[0][1], -e[1][1]}, {-e[2][1], si.xy}, {si.yy, si.yz}}}, out->m[4]);
    row6_store((row6){{{-e[0][2], -e[1][2]}, {-e[2][2], si.xz}, {si.yz, si.zz}}}, out->m[5]);
}

#endif
