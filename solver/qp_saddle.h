/* The paper's own route for large systems: the saddle system of a set of rows treated as
 * equalities,
 *
 *     [ K  J' ] [ dv     ]   [ b ]
 *     [ J  -L ] [ lambda ] = [ c ]
 *
 * by an iterative method. The matrix is indefinite, so conjugate gradients have no business there:
 * MINRES with a block-diagonal preconditioner (K, and the diagonal of J K^-1 J' + L), or conjugate
 * gradients on the Schur complement with inner solves by K. K is only ever applied, so it may be
 * anything; its preconditioner may be rough. */
#ifndef SOLVER_QP_SADDLE_H
#define SOLVER_QP_SADDLE_H

#include "solver/qp_sparse.h"

/* out = operator x, n values; context is the caller's. */
typedef void (*qp_operator)(void *context, const double *x, double *out);

typedef struct qp_saddle {
    int n;
    qp_operator apply;        /* K */
    qp_operator precondition; /* about K^-1, symmetric positive definite; NULL: none */
    void *context;
    const double *b;        /* n */
    const qp_sparse *rows;  /* J: m x n */
    const double *bound;    /* c, m */
    const double *softness; /* L >= 0, m; NULL: none */
} qp_saddle;

typedef struct qp_saddle_result {
    int iterations;  /* of MINRES, or outer ones of conjugate gradients */
    int inner;       /* applications of K */
    double residual; /* largest entry of either equation, relative to the right side */
    bool is_solved;
} qp_saddle_result;

/* x (n) and lambda (m) are the start and the result. Allocates its scratch. HR_ERR_MEMORY. */
HR_MUST_USE hr_status qp_saddle_minres(const qp_saddle *s, double tolerance, int iterations,
                                       double *x, double *lambda, qp_saddle_result *out);

/* (J K^-1 J' + L) lambda = J K^-1 b - c; K^-1 by preconditioned conjugate gradients. */
HR_MUST_USE hr_status qp_saddle_schur(const qp_saddle *s, double tolerance, int iterations,
                                      double *x, double *lambda, qp_saddle_result *out);

/* The whole programme minimise 1/2 x'Kx - b'x, J x <= c by these saddle solves: all wrong rows are
 * exchanged at once (the paper's loop with the signs put right and the set kept), which is fast but
 * may cycle; from the first set that comes back on, only the lowest wrong row is exchanged (Murty's
 * rule), which ends where J K^-1 J' + L is positive definite. active (m) is the start and the
 * result. HR_ERR_MAX_ITER: not finished. */
HR_MUST_USE hr_status qp_saddle_programme(const qp_saddle *s, double tolerance, int exchanges,
                                          bool *active, double *x, double *lambda,
                                          qp_saddle_result *out);

#endif
