/* The friction contact problem itself, u = W r + q with r in Coulomb's cone and u + mu |u_T| n in
 * its dual, at right angles: how well impulses solve it, and a block Gauss-Seidel iteration that
 * makes good impulses better. Blocks of d = 2 or 3 numbers, normal first; W dense, row-major, as
 * given (not made symmetric). */
#ifndef SOLVER_FRICTION_CONE_H
#define SOLVER_FRICTION_CONE_H

#include <stdint.h>

typedef struct friction_cone {
    int dimension, contacts;
    const double *w; /* (d contacts)^2 */
    const double *q, *mu;
} friction_cone;

/* |r - P(r - rho (u + mu |u_T| n))| / |r| with rho = 1 / largest diagonal of W; the numerator alone
 * where r = 0. */
double friction_cone_residual(const friction_cone *c, const double *r);

/* Sweeps over the contacts, each solved exactly for its neighbours, until the residual is below
 * `tolerance`; keeps the best r seen. Returns its residual. deadline_ns on CLOCK_MONOTONIC, 0:
 * none. scratch: d contacts values. */
double friction_cone_sweep(const friction_cone *c, double *r, double *scratch, int sweeps,
                           double tolerance, int64_t deadline_ns);

#endif
