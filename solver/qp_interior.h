/* An interior point method for scaled programmes that the active set does not finish: Mehrotra's
 * predictor and corrector inside a proximal method of multipliers, so that neither P nor A needs
 * full rank. Good to about 1e-9, and a good guess of which rows hold. */
#ifndef SOLVER_QP_INTERIOR_H
#define SOLVER_QP_INTERIOR_H

#include "solver/qp_proximal.h"

/* status QP_OPTIMAL only if the quality is at most 1e-8. HR_ERR_CAPACITY where memory or the time
 * to the deadline does not allow for it, or HR_OK. */
HR_MUST_USE hr_status qp_interior_solve(const qp_scaled *s, int64_t deadline_ns, qp_point *out);

#endif
