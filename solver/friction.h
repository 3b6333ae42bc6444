/* Coulomb friction as a short sequence of quadratic programmes. Every contact has a pyramid of rows
 *
 *     (-n + mu d_k) . u(y) <= slack + mu s        u = G y + g, the relative velocity of the contact
 *
 * whose multipliers form an impulse inside the cone. s is the sliding speed of the last pass, so
 * that sliding does not lift the body; cuts in the present sliding direction make the cone round.
 *
 * Rows are written only when they are needed: those that held last time, then whatever the solution
 * breaks, contact by contact. From pass to pass rows stay and only their bounds move. */
#ifndef SOLVER_FRICTION_H
#define SOLVER_FRICTION_H

#include "geometry/vec3.h"
#include "solver/qp.h"

enum { FRICTION_PYRAMID = 8, FRICTION_CUTS = 4 };

typedef struct friction friction;

/* entries: non-zeros of all contacts together, where a contact's d rows share their columns. NULL
 * when out of memory. */
friction *friction_create(int dimension, int contacts, int unknowns, long entries);
void friction_destroy(friction *f); /* accepts NULL */

/* Programme rows that a contact can need at once. */
int friction_rows_per_contact(int dimension);

/* Starts a step: forgets contacts, keeps what is known of those whose key comes again: cuts,
 * speeds, rows that held, tangent. */
void friction_begin(friction *f);

/* The tangent given to friction_end when this key was last seen; false where it was not. */
bool friction_tangent(const friction *f, uint64_t key, vec3 *tangent);

/* One contact of d = 2 or 3 components, normal first: friction_open, its columns in any order (a
 * column may come again and is added), friction_close with the offset g of each component. slack is
 * added to every bound (clearance / dt for a step, 0 otherwise). HR_ERR_CAPACITY, HR_ERR_ARGUMENT,
 * HR_ERR_NOT_FINITE: the contact is not there. */
HR_MUST_USE hr_status friction_open(friction *f, uint64_t key);
HR_MUST_USE hr_status friction_column(friction *f, int unknown, const double *components);
HR_MUST_USE hr_status friction_close(friction *f, double mu, const double *offset, double slack,
                                     vec3 tangent);

int friction_count(const friction *f);

/* Writes into q (after qp_rows_begin and rows of other kinds) the rows of the contacts from .. to-1
 * that held last time, and their indices to `held`, at most `room`. Returns how many, or a negative
 * hr_status. */
HR_MUST_USE int friction_emit(friction *f, qp *q, int from, int to, int *held, int room);

/* Solves q, adding rows that the solution breaks until it breaks none. */
qp_status friction_solve_pass(friction *f, qp *q, qp_budget budget, qp_info *info);

/* After a pass: impulses (d per contact, the first at `from`), new speeds and cuts. Returns the
 * largest change of a speed relative to 1 + speed. */
double friction_update(friction *f, const qp *q, double *impulses);

/* Before the next pass: the new speeds in the bounds of the rows, and the new cuts.
 * HR_ERR_CAPACITY: too many cuts by now, emit again. */
HR_MUST_USE hr_status friction_tighten(friction *f, qp *q);

/* How far from `stop` towards x (both all unknowns) the contacts from .. to - 1 let their island go
 * before a normal velocity closes more than its slack plus `reserve`: 1 where x is safe (the stop
 * need not be: something may push), negative where nothing between them is. The pyramid rows do not
 * say that while a sliding speed is out of date. */
double friction_safe_blend(const friction *f, int from, int to, const double *x, const double *stop,
                           double reserve);

#endif
