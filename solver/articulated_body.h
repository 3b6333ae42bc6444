/* Plain forward dynamics: the articulated-body algorithm of Featherstone, three sweeps over the
 * bodies, O(n). Simple and accurate; what the adaptive solver is measured against. */
#ifndef SOLVER_ARTICULATED_BODY_H
#define SOLVER_ARTICULATED_BODY_H

#include "geometry/model.h"

typedef struct articulated_body articulated_body; /* workspace for one model */

/* The model is borrowed and must not change. NULL when out of memory. */
articulated_body *articulated_body_create(const model *m);
void articulated_body_destroy(articulated_body *a); /* accepts NULL */

typedef struct articulated_body_input {
    const double *q;      /* q_count */
    const double *qd;     /* v_count */
    const double *tau;    /* v_count, or NULL for zero */
    const vec6 *external; /* by body, body frame, or NULL for none */
    const bool *locked;   /* by body: its joint is held; or NULL */
    vec3 gravity;         /* m/s^2 */
} articulated_body_input;

/* Accelerations of all joints (v_count), zero for locked ones, whose velocities must be zero. Uses
 * the inertias as the file states them; where those leave an acceleration undetermined, the mended
 * ones (model_finish). HR_ERR_SINGULAR or HR_ERR_NOT_FINITE leave qdd undefined. */
HR_MUST_USE hr_status articulated_body_accelerations(articulated_body *a,
                                                     const articulated_body_input *in, double *qdd);

#endif
