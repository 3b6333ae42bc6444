/* A programme in numbers near one: x = d .* x', y = e .* y' / cost (Ruiz 2001). Owns its memory. */
#ifndef SOLVER_QP_SCALE_H
#define SOLVER_QP_SCALE_H

#include "solver/qp_program.h"

typedef struct qp_scaled {
    int n, m;
    qp_sparse p, a;
    double *q, *low, *high;
    double *d, *e;
    double cost;
} qp_scaled;

/* False: no memory. */
bool qp_scale(const qp_program *p, qp_scaled *out);
void qp_scaled_free(qp_scaled *s);

/* How good a point of the scaled programme is: largest violation, stationarity and gap between the
 * objectives, each relative to the numbers that make it up. Writes the stationarity vector where
 * `gradient` (n) is not NULL. scratch: n + m values. */
typedef struct qp_quality {
    double primal, dual, gap;
} qp_quality;
qp_quality qp_scaled_quality(const qp_scaled *s, const double *x, const double *y, double *scratch);
double qp_quality_worst(qp_quality q);

#endif
