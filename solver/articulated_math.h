/* The 6x6 products of the assembly tree, two columns at a time. Plain vector types of the compiler:
 * the order of the operations, and so the result, is the same on every machine. */
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

/* x^T m for the numbers x0 .. x5. */
HR_RT static inline row6 row6_combine(double x0, double x1, double x2, double x3, double x4,
                                      double x5, const mat6 *m)
{
    row6 a = row6_add(row6_scale(x0, row6_load(m->m[0])), row6_scale(x1, row6_load(m->m[1])));
    row6 b = row6_add(row6_scale(x2, row6_load(m->m[2])), row6_scale(x3, row6_load(m->m[3])));
    row6 c = row6_add(row6_scale(x4, row6_load(m->m[4])), row6_scale(x5, row6_load(m->m[5])));
    return row6_add(row6_add(a, b), c);
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

/* out = a^T b */
HR_RT static inline void fast_multiply_transposed(const mat6 *restrict a, const mat6 *restrict b,
                                                  mat6 *restrict out)
{
    for (int i = 0; i < 6; i++)
        row6_store(
            row6_combine(a->m[0][i], a->m[1][i], a->m[2][i], a->m[3][i], a->m[4][i], a->m[5][i], b),
            out->m[i]);
}

/* One pair of columns of row i of a^T b. */
HR_RT static inline pair column_pair(const mat6 *restrict a, const mat6 *restrict b, int i, int j)
{
    pair sum = {0, 0};
    for (int k = 0; k < 6; k++) {
        pair x = {a->m[k][i], a->m[k][i]};
        sum += x * *(const pair *)&b->m[k][2 * j];
    }
    return sum;
}

/* out = base + sign a^T b, known to be symmetric: the upper half is computed and mirrored. */
HR_RT static inline void fast_add_symmetric(const mat6 *base, double sign, const mat6 *restrict a,
                                            const mat6 *restrict b, mat6 *out)
{
    mat6 t;
    pair s = {sign, sign};
    for (int i = 0; i < 6; i++)
        for (int j = i / 2; j < 3; j++)
            *(pair *)&t.m[i][2 * j] =
                *(const pair *)&base->m[i][2 * j] + s * column_pair(a, b, i, j);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            t.m[i][j] = t.m[j][i];
    *out = t;
}

HR_RT static inline void fast_transpose(const mat6 *restrict a, mat6 *restrict out)
{
    for (int i = 0; i < 6; i += 2)
        for (int j = 0; j < 6; j += 2) {
            pair x = *(const pair *)&a->m[i][j], y = *(const pair *)&a->m[i + 1][j];
            *(pair *)&out->m[j][i] = (pair){x[0], y[0]};
            *(pair *)&out->m[j + 1][i] = (pair){x[1], y[1]};
        }
}

/* m v */
HR_RT static inline vec6 fast_apply(const mat6 *m, const vec6 *v)
{
    vec6 out;
    for (int i = 0; i < 6; i++) {
        const double *x = m->m[i];
        out.v[i] = ((x[0] * v->v[0] + x[1] * v->v[1]) + (x[2] * v->v[2] + x[3] * v->v[3])) +
                   (x[4] * v->v[4] + x[5] * v->v[5]);
    }
    return out;
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
    double block[3][3] = {{si.xx, si.xy, si.xz}, {si.xy, si.yy, si.yz}, {si.xz, si.yz, si.zz}};
    double first[3][3] = {{ai.xx, ai.xy, ai.xz}, {ai.xy, ai.yy, ai.yz}, {ai.xz, ai.yz, ai.zz}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out->m[3 + i][3 + j] = block[i][j];
            out->m[i][3 + j] = -e[i][j];
            out->m[3 + j][i] = -e[i][j];
            int r = i < j ? i : j, c = i < j ? j : i;
            out->m[i][j] =
                first[i][j] + (e[r][0] * t[0][c] + e[r][1] * t[1][c] + e[r][2] * t[2][c]);
        }
}

#endif
