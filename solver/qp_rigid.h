/* Rigid bodies as blocks of the contact programme: six unknowns, the velocity of the centre and the
 * angular velocity, world axes. */
#ifndef SOLVER_QP_RIGID_H
#define SOLVER_QP_RIGID_H

#include "geometry/vec3.h"
#include "solver/qp_blocks.h"

typedef struct qp_rigid {
    double mass;  /* kg */
    mat3 inertia; /* kg m^2, about the centre, body axes */
    pose world_from_body;
    twist velocity;
    vec3 force, torque; /* N, N m: of the next step, gravity included */
    /* the block */
    double k[36], b[6], v[6], dv[6];
} qp_rigid;

/* K = diag(m, R I R'), b = dt (wrench - [0; w x I w]). */
qp_block qp_rigid_block(qp_rigid *body, double dt);

/* Takes dv and moves: the rotation by the exponential map, never by adding. */
void qp_rigid_advance(qp_rigid *body, double dt);

/* The world point of a body for a contact. */
row_point qp_rigid_point(const qp_rigid *body, vec3 world);
double qp_rigid_kinetic_energy(const qp_rigid *body);

#endif
