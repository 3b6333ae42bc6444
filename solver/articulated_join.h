/* One join of the assembly tree: two sub-assemblies and a joint become one assembly. Handle 0 lies
 * in A and is the top of the node where it exists; handle 1 lies in B. Every handle quantity is in
 * the frame of the part that carries the handle.
 *
 *   accelerations of the handles:  a_h = sum_k Phi_hk f_k + b_h     (a is acceleration minus g)
 *   force of the joint on B:       F   = F0 + sum_k P_k f_k         (P_k = W G_k)
 *   acceleration of the joint:     qdd = r0 - sum_k L_k f_k         (L_k = U^T G_k)
 *
 * Names as in Featherstone's divide-and-conquer algorithm, with inverse inertias Phi. */
#ifndef SOLVER_ARTICULATED_JOIN_H
#define SOLVER_ARTICULATED_JOIN_H

#include "solver/articulated_math.h"

/* Joints after the frames were turned: an axis is always z. */
typedef enum join_kind {
    JOIN_WELD,
    JOIN_REVOLUTE,
    JOIN_PRISMATIC,
    JOIN_SCREW,
    JOIN_SPHERICAL,
    JOIN_FLOATING
} join_kind;

typedef struct join_joint {
    join_kind kind;
    int freedom;       /* columns of S; 0 for a weld */
    double pitch;      /* m/rad */
    bool is_locked;    /* held: acts as a weld */
    const double *k;   /* freedom entries: what is linear in qdd */
    rigid a_from_b;    /* pose of B's top in the frame of A's handle at the joint */
    int a_slot;        /* which handle of A carries the joint */
    int b_slot;        /* which handle of B becomes our handle 1 */
    bool has_0, has_1; /* do we have those handles */
} join_joint;

typedef struct join_data {
    mat6 phi_00, phi_01, phi_11; /* phi_01: row handle 0, column handle 1 */
    mat6 w, p_0, p_1;
    vec6 b[2];
    vec6 f0;
    vec6 f[2]; /* forces on the handles, from the back-substitution */
    double r0[6];
    double d_inverse[6][6];
    vec6 u[6]; /* columns of U */
    vec6 l_0[6], l_1[6];
} __attribute__((aligned(64))) join_data;

/* Phi, W, P, U, L from those of the children and the place of the joint. */
HR_RT void join_factor(const join_joint *j, const join_data *a, const join_data *b, join_data *c);

/* b, F0, r0 from the children's b; coriolis in B's frame; tau has `freedom` entries. */
HR_RT void join_bias(const join_joint *j, const join_data *a, const join_data *b,
                     const vec6 *coriolis, const double *tau, join_data *c);

/* From the forces c->f on our handles: the joint's force on B and acceleration, and the forces on
 * the children's handles. */
HR_RT vec6 join_solve(const join_joint *j, const join_data *c, double *qdd, vec6 a_forces[2],
                      vec6 b_forces[2]);

/* The same compiled for any processor, and for those with AVX, among which the functions above
 * choose: the same operations in the same order and so the same bits, in five sixths of the
 * instructions. */
#ifdef __x86_64__
#define JOIN_HAS_AVX 1
#else
#define JOIN_HAS_AVX 0
#endif
#define JOIN_FUNCTIONS(suffix)                                                                     \
    HR_RT void join_factor##suffix(const join_joint *j, const join_data *a, const join_data *b,    \
                                   join_data *c);                                                  \
    HR_RT void join_bias##suffix(const join_joint *j, const join_data *a, const join_data *b,      \
                                 const vec6 *coriolis, const double *tau, join_data *c);           \
    HR_RT vec6 join_solve##suffix(const join_joint *j, const join_data *c, double *qdd,            \
                                  vec6 a_forces[2], vec6 b_forces[2])
JOIN_FUNCTIONS(_plain);
JOIN_FUNCTIONS(_avx);

#endif
