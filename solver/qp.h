/* Contact and dynamics as one quadratic programme:
 *
 *     minimise 1/2 x'Kx - b'x   subject to   low_k <= J_k x <= high_k
 *
 * K symmetric positive definite (dense, banded or block diagonal), rows sparse. For a contact step
 * x is the velocity change; a row is written so that increasing J x closes the gap, with low =
 * -infinity. Multipliers: K x - b + J' lambda = 0 with lambda >= 0 where high holds the row, <= 0
 * where low does; -J' lambda is the impulse on the bodies (N s).
 *
 * The method is a dual active set with single exchanges (Goldfarb and Idnani 1983, in the form of a
 * least-distance problem): the dual objective rises with every step, so no set comes back. Rows
 * enter lazily: L^-1 J' is computed for the rows that are looked at.
 *
 *     qp *q = qp_create((qp_limits){.variables = 6, .rows = 64});
 *     each step: qp_set_dense(q, 6, K); qp_set_b(q, b);
 *                qp_rows_begin(q); qp_row_add(q, &row); ...
 *                qp_solve(q, budget, &info); qp_x(q)
 *
 * Nothing is allocated after qp_create. Rows carry a key; the next step starts from the rows with
 * the same keys. Where K and the rows stay the same only b and the bounds need to be set again. */
#ifndef SOLVER_QP_H
#define SOLVER_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry/base.h"

typedef struct qp qp;

typedef struct qp_limits {
    int variables;
    int rows;
    long entries;  /* non-zeros of all rows together; 0: 12 per row */
    int soft_rows; /* rows that may be soft at once */
    long envelope; /* stored values of K; 0: a dense lower triangle */
    int kept_rows; /* rows whose L^-1 J' is kept; 0: all that memory is cheap for */
} qp_limits;

typedef struct qp_settings {
    double feasibility; /* violation of a unit row that is none; 1e-11 */
    double dependence;  /* squared sine below which a row is a combination of others; 1e-12 */
    bool is_eager;      /* L^-1 J' for all rows at once, for comparison */
} qp_settings;

typedef struct qp_row {
    uint64_t key; /* names the row from step to step; 0: none */
    int count;
    const int *index;    /* distinct variables */
    const double *value; /* their factors */
    double low, high;    /* -INFINITY and INFINITY where there is no such bound */
    double softness;     /* eps of a slack with cost slack^2 / (2 eps); 0: hard */
} qp_row;

typedef enum qp_status {
    QP_OPTIMAL,
    QP_ITERATIONS, /* out of iterations: x is not feasible, see qp_make_safe */
    QP_DEADLINE,   /* out of time: the same */
    QP_INFEASIBLE, /* no x satisfies the hard rows; qp_certificate says which */
    QP_DEGRADED,   /* the self-check found more than 1e-7 */
    QP_REFUSED     /* no K, no b or a row was refused since qp_rows_begin */
} qp_status;

typedef struct qp_budget {
    int iterations;  /* < 0: 4 (n + 8) for every 1024 rows, at least 64 */
    int64_t time_ns; /* 0: no deadline, and then the result depends on nothing but the problem */
} qp_budget;

typedef struct qp_info {
    qp_status status;
    int iterations;
    int active;            /* rows that hold */
    double dual_objective; /* rise above the unconstrained optimum's value; never falls */
    /* The self-check: largest of each, stationarity relative to 1 + |b|, violation of unit rows. */
    double stationarity, violation, wrong_sign, complementarity;
    double blend;       /* of qp_make_safe; 1 until then */
    int soft_held;      /* soft rows with slack */
    int refinements;    /* rounds after the first */
    bool was_perturbed; /* the cycling guard acted */
} qp_info;

/* NULL when out of memory or a limit is not positive. */
qp *qp_create(qp_limits limits);
void qp_destroy(qp *q); /* accepts NULL */
void qp_configure(qp *q, qp_settings settings);
qp_settings qp_settings_default(void);

/* K, factored at once. HR_ERR_CAPACITY, HR_ERR_NOT_FINITE, HR_ERR_SINGULAR (not positive definite);
 * after any of these qp_solve refuses. Only the lower triangle is read. */
HR_RT HR_MUST_USE hr_status qp_set_dense(qp *q, int n, const double *k);

/* Row i of `band` holds the columns i - half_bandwidth .. i (places before column 0 unread). */
HR_RT HR_MUST_USE hr_status qp_set_banded(qp *q, int n, int half_bandwidth, const double *band);

/* Row-major square blocks one after another; sizes sum to n. */
HR_RT HR_MUST_USE hr_status qp_set_blocks(qp *q, int count, const int *sizes, const double *blocks);

/* Row i holds the columns first[i]..i, rows one after another. */
HR_RT HR_MUST_USE hr_status qp_set_envelope(qp *q, int n, const int *first, const double *values);

HR_RT HR_MUST_USE hr_status qp_set_b(qp *q, const double *b);

/* x = K^-1 x, n values. K must have been set. */
HR_RT void qp_apply_inverse(const qp *q, double *x);

/* Forgets the rows but remembers which keys held. */
HR_RT void qp_rows_begin(qp *q);

/* Copies the row; its index is the number of rows before it. Rows may also be added after a solve:
 * the next one goes on from there. HR_ERR_CAPACITY, HR_ERR_NOT_FINITE,
 * HR_ERR_ARGUMENT (a variable out of range or twice, low > high, softness < 0). */
HR_RT HR_MUST_USE hr_status qp_row_add(qp *q, const qp_row *row);

/* New bounds for a row, everything else unchanged. */
HR_RT HR_MUST_USE hr_status qp_row_bounds(qp *q, int row, double low, double high);
HR_RT int qp_row_count(const qp *q);

/* Replaces what is remembered: the next solve starts from these rows (sign +1: high, -1: low). */
HR_RT void qp_warm_rows(qp *q, const int *rows, const int *signs, int count);
/* The same by keys; those that no row has are passed over. Call it between qp_rows_begin and
 * qp_solve. At most as many as can hold at once. */
HR_RT void qp_warm_keys(qp *q, const uint64_t *keys, const int *signs, int count);

/* Keys and sides of the rows that hold (with a key), at most `room`; returns how many. */
HR_RT int qp_held(const qp *q, uint64_t *keys, int *signs, int room);
HR_RT void qp_forget(qp *q); /* the next solve is cold */

HR_RT qp_status qp_solve(qp *q, qp_budget budget, qp_info *info);

HR_RT int qp_variables(const qp *q);   /* n */
HR_RT const double *qp_x(const qp *q); /* n values until the next call that changes q */
HR_RT double qp_lambda(const qp *q, int row);
HR_RT double qp_lambda_of_key(const qp *q, uint64_t key); /* 0 where no such row holds */
HR_RT int qp_side(const qp *q, int row);                  /* +1 high holds, -1 low, 0 none */

/* out = J' lambda, n values: unique even where the split over dependent rows is not. */
HR_RT void qp_force(const qp *q, double *out);

/* After QP_INFEASIBLE: factors z (signed like lambda) with z'J = 0 and z'bound < 0. Writes at most
 * `room` rows and factors, returns how many there are. */
HR_RT int qp_certificate(const qp *q, int *rows, double *factors, int room);

/* Instead of x after a failed solve: the point nearest to it on the way from `stop` (n values, such
 * as -v) that keeps every row within its bound plus `reserve` (m/s, the second skin over dt).
 * Only groups of variables that some violated row touches are moved. Returns the smallest blend
 * factor, 1 where x was safe already; negative where `stop` itself breaks a row by more than the
 * reserve: those groups get `stop`. */
HR_RT double qp_make_safe(qp *q, const double *stop, double reserve);

#endif
