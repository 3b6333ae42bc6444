/* Bodies of every kind in one contact programme: each is a block of velocity unknowns with its own
 * K (a rigid body's inertia, an articulated body's joint-space mass matrix, a particle's mass).
 * Bodies that touch form an island; islands are solved one after another, each by the sequence of
 * programmes of solver/friction.h. After create nothing is allocated. */
#ifndef SOLVER_QP_BLOCKS_H
#define SOLVER_QP_BLOCKS_H

#include "solver/contact_rows.h"
#include "solver/qp.h"

typedef struct qp_block {
    int size;
    const double *k; /* size^2, symmetric positive definite */
    const double *b; /* size, impulse of everything but contacts */
    const double *v; /* size, velocity at the start of the step */
    double *dv;      /* size, result */
} qp_block;

/* Two points that must not come closer along the normal; block -1 is scripted. */
typedef struct qp_contact {
    uint64_t key; /* not zero, unique among the contacts */
    int block[2];
    row_point point[2]; /* `first` counts within the block */
    vec3 normal;        /* unit, from the second to the first */
    double clearance;   /* m */
    double mu;
    vec3 impulse; /* result: N s on the first body, world axes */
} qp_contact;

/* A bound on one unknown of a block, such as a joint limit. */
typedef struct qp_bound {
    uint64_t key; /* unique among the bounds; 0: never remembered */
    int block;
    int unknown;
    double low, high; /* of dv, as contact_row_joint_limit makes them */
    double softness;
} qp_bound;

typedef struct qp_blocks_limits {
    int blocks, unknowns, contacts, bounds;
    int block_size; /* largest */
} qp_blocks_limits;

typedef struct qp_blocks_settings {
    double dt;
    double recovery;  /* m/s; 0.05 */
    double skin;      /* m; 50e-6 */
    int passes;       /* of friction; 4 */
    double tolerance; /* of the sliding speeds; 1e-7 */
    qp_budget budget; /* of each island */
} qp_blocks_settings;

typedef struct qp_blocks_info {
    int islands, iterations, most_iterations, passes;
    int fallbacks;          /* islands that were not finished and got a safe blend instead */
    double blend;           /* smallest */
    double recovery_energy; /* J, at most this was put in by recovery from penetration */
} qp_blocks_info;

typedef struct qp_blocks qp_blocks;

qp_blocks *qp_blocks_create(qp_blocks_limits limits); /* NULL: out of memory or not positive */
void qp_blocks_destroy(qp_blocks *s);                 /* accepts NULL */
qp_blocks_settings qp_blocks_settings_default(double dt);

/* Fills dv of every block and the impulse of every contact. HR_ERR_CAPACITY, HR_ERR_ARGUMENT,
 * HR_ERR_NOT_FINITE, HR_ERR_SINGULAR: nothing moves (dv = -v).
 *
 * May be called again within a step with more contacts (those found on the way of the first result)
 * or with other clearances: whatever has its old key starts from what held. The columns of
 * articulated points are read where they are. */
HR_MUST_USE hr_status qp_blocks_solve(qp_blocks *s, const qp_blocks_settings *settings,
                                      const qp_block *blocks, int block_count, qp_contact *contacts,
                                      int contact_count, const qp_bound *bounds, int bound_count,
                                      qp_blocks_info *info);

/* island[i] of each block after the last solve. */
const int *qp_blocks_islands(const qp_blocks *s);

#endif
