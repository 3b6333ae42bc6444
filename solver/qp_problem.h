/* Problem files: convex quadratic programmes and contact problems as JSON, one per file. Matrices
 * are triplets {"rows","cols","i","j","v"}, zero-based, no entry twice. */
#ifndef SOLVER_QP_PROBLEM_H
#define SOLVER_QP_PROBLEM_H

#include <stddef.h>

#include "geometry/error.h"

/* More is refused: what a dense active set can still answer on one machine. */
enum { QP_PROBLEM_SIZE_MAX = 100000, QP_PROBLEM_ENTRIES_MAX = 20000000 };

typedef struct qp_triplets {
    int rows, cols, count;
    int *i, *j;
    double *v;
} qp_triplets;

typedef enum qp_problem_kind {
    QP_PROBLEM_PROGRAM, /* minimise 1/2 x'Px + q'x + r, low <= Ax <= high */
    QP_PROBLEM_LOCAL,   /* u = W r + q between contacts, d numbers each, normal first */
    QP_PROBLEM_GLOBAL   /* M v = H r + f, u = H'v + w */
} qp_problem_kind;

typedef struct qp_problem {
    qp_problem_kind kind;
    int n;              /* unknowns: x, or v, or 0 for local contacts */
    int m;              /* rows of A */
    qp_triplets p, a;   /* P and A; M and H; W and nothing */
    double *q;          /* n: q; n: f; d contacts: q */
    double constant;    /* r */
    double *low, *high; /* m; infinite where null */
    int dimension;      /* d: 2 or 3 */
    int contacts;
    double *w;  /* d contacts, global only */
    double *mu; /* contacts */
} qp_problem;

/* On failure *out is empty. HR_ERR_FORMAT, HR_ERR_NOT_FOUND, HR_ERR_CAPACITY, HR_ERR_MEMORY, with
 * the place in the error. */
HR_MUST_USE hr_status qp_problem_load(const char *path, qp_problem *out, hr_error *error);
HR_MUST_USE hr_status qp_problem_parse(const char *text, size_t size, const char *name,
                                       qp_problem *out, hr_error *error);
void qp_problem_free(qp_problem *p);

#endif
