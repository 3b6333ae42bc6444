/* Contact problem files by the quadratic programme, without friction and with it.
 *
 * Everything is brought to the form "velocity y, relative velocities u = G y + g, K, b":
 *   local   W = Y Y' (pivoted Cholesky of the symmetric part), K = 1, b = 0, G = Y, g = q;
 *   global  K = M, b = f, G = H', g = w.
 * Without friction the rows are u_n >= 0. With friction the sequence of programmes of
 * solver/friction.h. */
#ifndef SOLVER_QP_CONTACTS_H
#define SOLVER_QP_CONTACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/qp.h"
#include "solver/qp_problem.h"

typedef struct qp_contact_options {
    bool has_friction;
    int passes;      /* <= 0: until the residual is below 1e-8, at most 200 */
    int iterations;  /* <= 0: 20 (n + m) + 1000 */
    int64_t time_ns; /* 0: none */
} qp_contact_options;

typedef struct qp_contact_answer {
    qp_status status;
    double objective; /* 1/2 |y|^2 (local), 1/2 v'Mv - f'v (global) */
    double primal_residual, dual_residual, complementarity;
    double residual; /* natural map of the cone problem, with friction only */
    int iterations, passes;
    int x_count;
    double *x; /* local: impulses r; global: velocities v */
    double *r; /* impulses, d per contact */
} qp_contact_answer;

/* HR_ERR_MEMORY, HR_ERR_SINGULAR (M not positive definite), HR_ERR_ARGUMENT (W has a negative
 * diagonal), HR_ERR_CAPACITY or HR_OK. With friction left to itself the status is QP_OPTIMAL only
 * if the residual is at most 1e-5. */
HR_MUST_USE hr_status qp_contacts_solve(const qp_problem *p, qp_contact_options options,
                                        qp_contact_answer *answer);
void qp_contact_answer_free(qp_contact_answer *answer);

#endif
