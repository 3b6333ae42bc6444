/* Symmetric positive definite matrices stored by their envelope: row i holds the columns
 * first[i]..i. A dense matrix (first = 0), a band (first = i - b) and a block diagonal one (first =
 * start of the block) are the same thing, and Cholesky's factor has the same envelope.
 * The caller owns all memory. */
#ifndef SOLVER_QP_ENVELOPE_H
#define SOLVER_QP_ENVELOPE_H

#include "geometry/base.h"

typedef struct qp_envelope {
    int size;
    int *first;      /* size entries: first stored column of the row */
    long *start;     /* size + 1 entries: where the row starts in value */
    double *value;   /* start[size] entries */
    double *inverse; /* of the diagonal, for factors; otherwise NULL */
} qp_envelope;

/* Fills start from first; returns the number of values. */
HR_RT long qp_envelope_layout(qp_envelope *e);

/* K = L L'. l has room for the same envelope. HR_ERR_SINGULAR where K is not positive definite:
 * a pivot is below `least` times the diagonal of K. */
HR_RT HR_MUST_USE hr_status qp_envelope_factor(const qp_envelope *k, qp_envelope *l, double least);

/* K = L S L' where K is quasidefinite: rows with sign +1 belong to a positive definite block, rows
 * with -1 to a negative definite one, so that pivots of these signs exist in any order. K is in l
 * already. HR_ERR_SINGULAR where a pivot has the wrong sign. */
HR_RT HR_MUST_USE hr_status qp_envelope_factor_signed(qp_envelope *l, const signed char *sign);

/* y = L^-1 y in place, where y is zero outside from..size-1; cheap where it stays zero. */
HR_RT void qp_envelope_forward(const qp_envelope *l, double *y, int from);

/* y = L^-T y in place. */
HR_RT void qp_envelope_backward(const qp_envelope *l, double *y);

/* out = K x */
HR_RT void qp_envelope_multiply(const qp_envelope *k, const double *x, double *out);

#endif
