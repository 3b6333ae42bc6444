/* The dual active set on programmes whose P is not definite: minimise f(x) + eps/2 |x - centre|^2,
 * take the result as the next centre, until the centre stays (Rockafellar 1976). Works on scaled
 * programmes. */
#ifndef SOLVER_QP_PROXIMAL_H
#define SOLVER_QP_PROXIMAL_H

#include "solver/qp_scale.h"

typedef struct qp_point {
    qp_status status;
    bool is_unbounded;
    bool is_doubtful; /* the rows seemed to contradict each other, but the proof is weak */
    const char *method;
    int iterations, rounds;
    qp_quality quality;
    double *x, *y;
} qp_point;

bool qp_point_allocate(qp_point *p, int n, int m);
bool qp_point_copy(qp_point *to, const qp_point *from, int n, int m);
void qp_point_free(qp_point *p);

/* deadline_ns: on CLOCK_MONOTONIC, 0: none. guess: where to start and, by the signs of its y, from
 * which rows; may be NULL. HR_ERR_MEMORY, HR_ERR_ARGUMENT (P has negative curvature) or HR_OK. */
HR_MUST_USE hr_status qp_proximal_solve(const qp_scaled *s, const qp_point *guess, int iterations,
                                        int64_t deadline_ns, qp_point *out);

#endif
