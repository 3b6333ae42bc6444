/* Compressed rows of a sparse matrix. */
#ifndef SOLVER_QP_SPARSE_H
#define SOLVER_QP_SPARSE_H

#include <stdbool.h>

#include "solver/qp_problem.h"

typedef struct qp_sparse {
    int rows, cols;
    long *start; /* rows + 1 */
    int *index;
    double *value;
} qp_sparse;

/* Entries of a row in rising order of column. transposed: of the transpose. False: no memory. */
bool qp_sparse_from_triplets(const qp_triplets *t, bool is_transposed, qp_sparse *out);

/* (T + T') / 2 of a square matrix, all of it. */
bool qp_sparse_symmetric(const qp_triplets *t, qp_sparse *out);
void qp_sparse_free(qp_sparse *s);

void qp_sparse_multiply(const qp_sparse *s, const double *x, double *out);     /* S x */
void qp_sparse_add_transposed(const qp_sparse *s, const double *y, double *x); /* x += S' y */
double qp_sparse_row_dot(const qp_sparse *s, int row, const double *x);

/* order[new] = old such that the envelope of the symmetric matrix is narrow (Cuthill and McKee,
 * reversed). Needs 3 n ints of scratch. */
void qp_sparse_order(const qp_sparse *s, int *order, int *scratch);

#endif
