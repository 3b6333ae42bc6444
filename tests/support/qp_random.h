/* Random contact programmes and an exhaustive solver for small ones. */
#ifndef TESTS_SUPPORT_QP_RANDOM_H
#define TESTS_SUPPORT_QP_RANDOM_H

#include <stdbool.h>

#include "solver/qp.h"

enum { QP_RANDOM_N = 96, QP_RANDOM_M = 300 };

/* minimise 1/2 x'Kx - b'x, low <= Jx <= high, all dense. */
typedef struct qp_dense {
    int n, m;
    double k[QP_RANDOM_N * QP_RANDOM_N];
    double b[QP_RANDOM_N];
    double j[QP_RANDOM_M * QP_RANDOM_N];
    double low[QP_RANDOM_M], high[QP_RANDOM_M];
    double soft[QP_RANDOM_M];
} qp_dense;

/* Rows of one-sided bounds around an interior point, K with the given condition number. */
void qp_random(void *random, int n, int m, double condition, qp_dense *out);

/* Spoils rows: copies, convex combinations, opposites, zero rows, equalities. */
void qp_random_degenerate(void *random, qp_dense *p);

hr_status qp_dense_set(const qp_dense *p, qp *q);      /* K, b and the rows, keys row + 1 */
hr_status qp_dense_set_rows(const qp_dense *p, qp *q); /* rows alone */
double qp_dense_objective(const qp_dense *p, const double *x);
double qp_dense_violation(const qp_dense *p, const double *x);

/* Tries every set of at most n rows (and sides) as equalities; m <= 12. False: infeasible. */
bool qp_dense_enumerate(const qp_dense *p, double *x);

#endif
