/* Sums over arrays in a fixed order of four lanes: the same bits on every machine, whatever vector
 * unit it has. The forms for four rows at once give each row the bits of the single form. */
#ifndef SOLVER_QP_VECTOR_H
#define SOLVER_QP_VECTOR_H

#include <string.h>

#include "geometry/base.h"

typedef double qp_two __attribute__((vector_size(16)));

HR_RT static inline qp_two qp_load(const double *from)
{
    qp_two v;
    memcpy(&v, from, sizeof v);
    return v;
}

HR_RT static inline void qp_store(double *to, qp_two v)
{
    memcpy(to, &v, sizeof v);
}

HR_RT static inline double qp_dot(const double *a, const double *b, int n)
{
    qp_two low = {0, 0}, high = {0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        low += qp_load(a + i) * qp_load(b + i);
        high += qp_load(a + i + 2) * qp_load(b + i + 2);
    }
    if (i + 2 <= n) {
        low += qp_load(a + i) * qp_load(b + i);
        i += 2;
    }
    low += high;
    double sum = low[0] + low[1];
    return i < n ? sum + a[i] * b[i] : sum;
}

/* out[k] = x . rows[k] */
HR_RT static inline void qp_dot_four(const double *x, const double *const rows[4], int n,
                                     double out[4])
{
    const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    qp_two a0 = {0, 0}, b0 = a0, c0 = a0, d0 = a0, a2 = a0, b2 = a0, c2 = a0, d2 = a0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        qp_two x0 = qp_load(x + i), x2 = qp_load(x + i + 2);
        a0 += x0 * qp_load(a + i);
        a2 += x2 * qp_load(a + i + 2);
        b0 += x0 * qp_load(b + i);
        b2 += x2 * qp_load(b + i + 2);
        c0 += x0 * qp_load(c + i);
        c2 += x2 * qp_load(c + i + 2);
        d0 += x0 * qp_load(d + i);
        d2 += x2 * qp_load(d + i + 2);
    }
    if (i + 2 <= n) {
        qp_two x0 = qp_load(x + i);
        a0 += x0 * qp_load(a + i);
        b0 += x0 * qp_load(b + i);
        c0 += x0 * qp_load(c + i);
        d0 += x0 * qp_load(d + i);
        i += 2;
    }
    a0 += a2;
    b0 += b2;
    c0 += c2;
    d0 += d2;
    qp_two ab = (qp_two){a0[0], b0[0]} + (qp_two){a0[1], b0[1]};
    qp_two cd = (qp_two){c0[0], d0[0]} + (qp_two){c0[1], d0[1]};
    if (i < n) {
        ab += (qp_two){x[i] * a[i], x[i] * b[i]};
        cd += (qp_two){x[i] * c[i], x[i] * d[i]};
    }
    qp_store(out, ab);
    qp_store(out + 2, cd);
}

/* y += s x */
HR_RT static inline void qp_add_scaled(double *y, double s, const double *x, int n)
{
    qp_two factor = {s, s};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        qp_store(y + i, qp_load(y + i) + factor * qp_load(x + i));
        qp_store(y + i + 2, qp_load(y + i + 2) + factor * qp_load(x + i + 2));
    }
    for (; i < n; i++)
        y[i] += s * x[i];
}

/* y += s[0] rows[0] + ... + s[3] rows[3], in that order */
HR_RT static inline void qp_add_four(double *y, const double s[4], const double *const rows[4],
                                     int n)
{
    const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    qp_two fa = {s[0], s[0]}, fb = {s[1], s[1]}, fc = {s[2], s[2]}, fd = {s[3], s[3]};
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        qp_two sum = qp_load(y + i) + fa * qp_load(a + i);
        sum += fb * qp_load(b + i);
        sum += fc * qp_load(c + i);
        sum += fd * qp_load(d + i);
        qp_store(y + i, sum);
    }
    if (i < n)
        y[i] = (((y[i] + s[0] * a[i]) + s[1] * b[i]) + s[2] * c[i]) + s[3] * d[i];
}

/* Entries of x by index against values. */
HR_RT static inline double qp_gather_dot(const double *value, const int *index, int n,
                                         const double *x)
{
    qp_two low = {0, 0}, high = {0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        low += qp_load(value + i) * (qp_two){x[index[i]], x[index[i + 1]]};
        high += qp_load(value + i + 2) * (qp_two){x[index[i + 2]], x[index[i + 3]]};
    }
    if (i + 2 <= n) {
        low += qp_load(value + i) * (qp_two){x[index[i]], x[index[i + 1]]};
        i += 2;
    }
    low += high;
    double sum = low[0] + low[1];
    return i < n ? sum + value[i] * x[index[i]] : sum;
}

HR_RT static inline double qp_max(double a, double b)
{
    return a > b ? a : b;
}

HR_RT static inline double qp_min(double a, double b)
{
    return a < b ? a : b;
}

#endif
