/* The dual active set on programmes whose P is not definite: minimise f(x) + eps/2 |x - centre|^2,
 * take the result as the next centre, until the centre stays (Rockafellar 1976). Works on scaled
 * programmes. */
#ifndef SOLVER_QP_PROXIMAL_H
#define SOLVER_QP_PROXIMAL_H

#include "solver/qp_scale.h"

typedef struct qp_point {
    qp_status status;
    bool is_unbounded;
    const char *method;
    int iterations, rounds;
    qp_quality quality;
    double *x, *y;
} qp_point;

bool qp_point_allocate(qp_point *p, int n, int m);
void qp_point_free(qp_point *p);

/* deadline_ns: on CLOCK_MONOTONIC, 0: none. HR_ERR_MEMORY or HR_OK. */
HR_MUST_USE hr_status qp_proximal_solve(const qp_scaled *s, int iterations, int64_t deadline_ns,
                                        qp_point *out);

#endif
