/* Coulomb friction as a short sequence of quadratic programmes. Every contact has a pyramid of rows
 *
 *     (-n + mu d_k) . u(y) <= mu s        u = G y + g, the relative velocity of the contact
 *
 * whose multipliers form an impulse inside the cone. s is the sliding speed of the last pass, so
 * that sliding does not lift the body; cuts in the present sliding direction make the cone round.
 * Each pass starts from the rows that held in the last. */
#ifndef SOLVER_FRICTION_H
#define SOLVER_FRICTION_H

#include "solver/qp.h"

enum { FRICTION_PYRAMID = 8, FRICTION_CUTS = 4 };

typedef struct friction friction;

/* One contact of d = 2 or 3 components, normal first. Row k of G: entries index/value of the
 * velocity unknowns. */
typedef struct friction_row {
    int count;
    const int *index;
    const double *value;
    double offset; /* g */
} friction_row;

/* entries: non-zeros of all G together. NULL when out of memory. */
friction *friction_create(int dimension, int contacts, int unknowns, long entries);
void friction_destroy(friction *f); /* accepts NULL */

/* Programme rows that a contact can need at once. */
int friction_rows_per_contact(int dimension);

/* Starts a step: forgets contacts, keeps the cuts and speeds of those whose key comes again. */
void friction_begin(friction *f);

/* rows: d of them; slack is added to every bound (clearance / dt for a step, 0 otherwise). */
HR_MUST_USE hr_status friction_add(friction *f, uint64_t key, double mu, const friction_row *rows,
                                   double slack);

int friction_count(const friction *f);

/* Writes the rows of the contacts from .. to - 1 into q (after qp_rows_begin and rows of other
 * kinds). */
HR_MUST_USE hr_status friction_emit(friction *f, qp *q, int from, int to);

/* After a solve of q: impulses (d per contact, the first at `from`), new speeds and cuts. Returns
 * the largest change of a speed relative to 1 + speed. */
double friction_update(friction *f, const qp *q, int from, int to, double *impulses);

/* How far from `stop` towards x (both all unknowns) the contacts from .. to - 1 let their island go
 * before a normal velocity closes more than its slack plus `reserve`: 1 where x is safe (the stop
 * need not be: something may push), negative where nothing between them is. The pyramid rows do not
 * say that while a sliding speed is out of date. */
double friction_safe_blend(const friction *f, int from, int to, const double *x, const double *stop,
                           double reserve);

/* Passes: emit, solve, update until the speeds stay or the budget ends. K and b are set. */
typedef struct friction_run {
    int passes;
    double tolerance; /* 1e-7 */
    qp_budget budget; /* of all passes together */
} friction_run;
qp_status friction_solve(friction *f, qp *q, friction_run run, double *impulses, qp_info *info);

#endif
