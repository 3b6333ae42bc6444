/* Sums over arrays in a fixed order of four lanes: the same bits on every machine, whatever vector
 * unit it has. */
#ifndef SOLVER_QP_VECTOR_H
#define SOLVER_QP_VECTOR_H

#include <string.h>

#include "geometry/base.h"

typedef double qp_lanes __attribute__((vector_size(32)));

HR_RT static inline double qp_dot(const double *a, const double *b, int n)
{
    qp_lanes sum = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        qp_lanes x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        sum += x * y;
    }
    double rest = 0;
    for (; i < n; i++)
        rest += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

/* Two sums over the same a at once; each in the order of qp_dot. */
HR_RT static inline void qp_dot_pair(const double *a, const double *b, const double *c, int n,
                                     double *ab, double *ac)
{
    qp_lanes sum_b = {0, 0, 0, 0}, sum_c = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        qp_lanes x, y, z;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        memcpy(&z, c + i, sizeof z);
        sum_b += x * y;
        sum_c += x * z;
    }
    double rest_b = 0, rest_c = 0;
    for (; i < n; i++) {
        rest_b += a[i] * b[i];
        rest_c += a[i] * c[i];
    }
    *ab = ((sum_b[0] + sum_b[1]) + (sum_b[2] + sum_b[3])) + rest_b;
    *ac = ((sum_c[0] + sum_c[1]) + (sum_c[2] + sum_c[3])) + rest_c;
}

/* y += s x */
HR_RT static inline void qp_add_scaled(double *y, double s, const double *x, int n)
{
    qp_lanes factor = {s, s, s, s};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        qp_lanes a, b;
        memcpy(&a, x + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        b += factor * a;
        memcpy(y + i, &b, sizeof b);
    }
    for (; i < n; i++)
        y[i] += s * x[i];
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
