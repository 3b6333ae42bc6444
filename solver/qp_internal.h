/* The workspace behind solver/qp.h, for the files that implement it. */
#ifndef SOLVER_QP_INTERNAL_H
#define SOLVER_QP_INTERNAL_H

#include "solver/qp.h"
#include "solver/qp_envelope.h"

typedef struct qp_stored_row {
    uint64_t key;
    long start; /* of its entries */
    int count;
    int from;  /* smallest variable */
    int until; /* the unit vector is zero from here on */
    double low, high;
    double softness;
    double squares; /* |J|^2 */
    double norm;    /* |L^-1 J'|: an estimate until the row has a slot */
    double scale;   /* 1 / norm */
    double at;      /* J x when rows were last priced */
    int slot;       /* of its unit vector L^-1 J' / norm; -1: not known */
    int place;      /* in the active list; -1: does not hold */
    int entered;    /* times it was added in this solve */
    bool is_equality;
    bool is_ignored; /* zero row, or a dependent one within rounding */
} qp_stored_row;

typedef struct qp_active {
    int row;
    int sign;  /* +1: high holds it, -1: low */
    double mu; /* signed multiplier of the unit row */
} qp_active;

typedef struct qp_warm {
    uint64_t key;
    int sign;
} qp_warm;

struct qp {
    qp_limits limits;
    qp_settings settings;
    int active_room;

    int n;
    bool has_matrix, has_b, is_refused;
    qp_envelope k, l;
    double *b, *x, *free_x;   /* free_x = K^-1 b */
    double *inverse_diagonal; /* of K */

    int m;
    long entries;
    qp_stored_row *rows;
    int *index;
    double *value;

    /* Unit vectors L^-1 J' of some rows: slot s is the s-th group of n values. */
    int slot_room, slot_next, slots_used;
    int *slot_row; /* -1: free */
    double *unit;

    /* R R' = Y_A' Y_A + softness, a dense triangle of size na. */
    int na;
    qp_active *active;
    qp_envelope r;
    bool is_structure_new; /* K or the rows changed: R and the units are stale */
    bool is_guess_old;     /* K changed after the norms of the rows were guessed */
    bool is_base_new;      /* b changed */
    bool is_current;       /* x and the multipliers solve all but rows added since */
    int updates;           /* of R since it was built from scratch */

    qp_warm *warm;
    int warm_count;
    int *warm_table; /* hash of keys to warm entries */
    int warm_table_size;
    int *warm_order; /* row for each warm entry */

    /* scratch */
    double *gram, *w, *comb; /* active_room + 1 */
    double *direction, *rhs; /* n */
    int *group;              /* n, islands of qp_make_safe */
    double *group_blend;
    int *mark; /* n, for duplicate variables */
    int mark_stamp;

    int certificate_row, certificate_sign;
    double tolerance;    /* feasibility of this solve */
    int64_t deadline_ns; /* of this solve; 0: none */
    double relax;        /* of the bounds, by the cycling guard */
    bool is_priced;      /* `at` of the rows that do not hold is for the present x */
    double dual;
    qp_info info;
};

/* R: position of entry (i, 0). */
HR_RT static inline double *qp_r_row(qp *q, int i)
{
    return q->r.value + q->r.start[i];
}

HR_RT static inline double *qp_unit(const qp *q, int slot)
{
    return q->unit + (long)slot * q->n;
}

/* The bound that holds a row on this side. */
HR_RT static inline double qp_bound(const qp *q, int row, int sign)
{
    const qp_stored_row *r = &q->rows[row];
    double slack = q->relax == 0.0 ? 0.0 : q->relax * (1 + row % 17) * r->norm;
    return sign > 0 ? r->high + slack : r->low - slack;
}

/* qp_active.c: the active rows and their factor. */
HR_RT double qp_row_dot(const qp *q, const qp_stored_row *row, const double *x);
HR_RT void qp_row_scatter(const qp *q, const qp_stored_row *row, double factor, double *x);
HR_RT double qp_soft_of(const qp_stored_row *row);
HR_RT int qp_slot(qp *q, int row); /* computes L^-1 J' if it is not known */
HR_RT double qp_project(qp *q, int row, bool has_gram);
HR_RT double qp_project_to_append(qp *q, int row);
HR_RT void qp_append(qp *q, int row, int sign, double mu, double rho2);
HR_RT void qp_delete(qp *q, int place);
HR_RT void qp_solve_factor(qp *q, double *x); /* x = (R R')^-1 x */
HR_RT void qp_rebuild(qp *q);                 /* R from the active rows */

HR_RT bool qp_is_late(const qp *q); /* qp_solve.c: the deadline has passed */

/* qp_start.c: a dual-feasible state from what is remembered. */
HR_RT void qp_start(qp *q);
HR_RT void qp_drop_wrong_signs(qp *q); /* multipliers for the active rows; wrong ones leave */
HR_RT void qp_update_x(qp *q);         /* x for the present multipliers */

/* qp_check.c */
HR_RT void qp_self_check(qp *q, qp_info *info);
HR_RT void qp_refine(qp *q);

#endif
