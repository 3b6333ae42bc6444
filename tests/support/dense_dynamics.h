/* Forward dynamics the slow, independent way: Jacobians of all bodies, the dense mass matrix, a
 * Cholesky solve. The second method behind the tests of the articulated solvers. */
#ifndef TESTS_SUPPORT_DENSE_DYNAMICS_H
#define TESTS_SUPPORT_DENSE_DYNAMICS_H

#include "geometry/model.h"

typedef struct dense_dynamics {
    int n;            /* v_count */
    double *jacobian; /* by body: 6 x n, body frame */
    double *mass;     /* n x n */
    double *bias;     /* n: M qdd + bias = tau */
    vec6 *velocity;   /* by body, body frame */
    const model *model;
} dense_dynamics;

dense_dynamics dense_create(const model *m);
void dense_free(dense_dynamics *d);

/* Everything at a state; external wrenches by body in body frames, or NULL. */
void dense_update(dense_dynamics *d, const double *q, const double *qd, const vec6 *external,
                  vec3 gravity);

/* Solves (M + diag(k))_aa x_a = r_a over the coordinates with active[i] (NULL: all); x = 0
 * elsewhere. k may be NULL. */
void dense_solve(const dense_dynamics *d, const double *k, const bool *active, const double *r,
                 double *x);

/* qdd = (M + diag(k))^-1 (tau - bias), over the active coordinates. tau may be NULL. */
void dense_accelerations(const dense_dynamics *d, const double *k, const bool *active,
                         const double *tau, double *qdd);

/* x^T M x / 2 */
double dense_kinetic_energy(const dense_dynamics *d, const double *x);

#endif
