/* Convex quadratic programmes of any origin: minimise 1/2 x'Px + q'x with low <= Ax <= high, P
 * symmetric positive semidefinite, sparse. Scaled (Ruiz), then the dual active set of solver/qp.h;
 * a P that is not definite gets a proximal term which an outer loop takes away again; where that
 * does not reach the accuracy asked for, an interior point method. Allocates: not for the
 * servo thread. */
#ifndef SOLVER_QP_PROGRAM_H
#define SOLVER_QP_PROGRAM_H

#include <stdint.h>

#include "solver/qp.h"
#include "solver/qp_sparse.h"

typedef struct qp_program {
    int n, m;
    qp_sparse p; /* all of it, symmetric */
    qp_sparse a;
    const double *q;          /* borrowed */
    const double *low, *high; /* borrowed; infinite where there is no bound */
} qp_program;

typedef struct qp_program_limits {
    int iterations;  /* <= 0: 20 (n + m) + 1000 */
    int64_t time_ns; /* 0: none */
} qp_program_limits;

/* y is the multiplier of the rows: P x + q + A'y = 0, positive at high, negative at low. */
typedef struct qp_answer {
    qp_status status;
    bool is_unbounded;  /* QP_INFEASIBLE because the objective has no least value: x is the ray */
    const char *method; /* "active set", "proximal", "interior point" */
    int iterations;
    int rounds; /* of the proximal loop */
    double objective;
    double primal_residual; /* largest |violation| of a row */
    double dual_residual;   /* largest |P x + q + A'y| */
    double complementarity; /* largest |y_k| times distance from its bound */
    double *x;              /* n; belongs to the answer */
    double *y; /* m; after QP_INFEASIBLE the certificate: A'y = 0 with a negative bound */
} qp_answer;

/* HR_ERR_MEMORY, HR_ERR_ARGUMENT (P has negative curvature), or HR_OK with answer->status telling
 * the rest. Free the answer in any case. */
HR_MUST_USE hr_status qp_program_solve(const qp_program *p, qp_program_limits limits,
                                       qp_answer *answer);
void qp_answer_free(qp_answer *answer);

/* Residuals and objective of answer->x and y. */
void qp_program_measure(const qp_program *p, qp_answer *answer);

#endif
