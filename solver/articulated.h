/* Adaptive dynamics of one articulated body on its assembly tree: only the joints near the root of
 * the tree that are ACTIVE move; what hangs below them is rigid and costs nothing.
 *
 * Node states: ACTIVE (its joint moves, or is locked on purpose), FRONT (child of an active node,
 * one rigid body), BURIED (inside a front node). The active nodes contain the root and are closed
 * under "parent". All joints below the front have zero velocity.
 *
 * Coordinates, velocities and forces are in the layout of the model (model_joint.q and .v).
 * Wrenches, velocities and accelerations of bodies are spatial vectors in the frame of the body.
 * The model is borrowed and must not change. After articulated_create nothing allocates. */
#ifndef SOLVER_ARTICULATED_H
#define SOLVER_ARTICULATED_H

#include "collide/assembly_tree.h"
#include "geometry/model.h"

typedef struct articulated articulated;

typedef enum articulated_integrator {
    ARTICULATED_LEAPFROG,  /* half step, one evaluation at the predicted velocity, half step */
    ARTICULATED_TWICE,     /* the same with the velocity corrected by a second evaluation */
    ARTICULATED_SEMI_EULER /* semi-implicit Euler; for comparison: it gains energy */
} articulated_integrator;

typedef struct articulated_options {
    assembly_options tree;
    vec3 gravity;  /* m/s^2, base frame */
    double step_s; /* h; springs and dampers are implicit in it */
    articulated_integrator integrator;
    bool use_damping;  /* take dampers from the model's joints */
    bool use_armature; /* take rotor inertias from the model's joints */
    bool use_limits;   /* joints stop at the model's limits */
} articulated_options;

/* NULL when out of memory. Starts at the model's zero coordinates, at rest, all joints active. */
articulated *articulated_create(const model *m, const articulated_options *options);
void articulated_destroy(articulated *a); /* accepts NULL */

const assembly_tree *articulated_tree(const articulated *a);

/* Sets q and qd and makes every joint active; O(n). */
HR_RT void articulated_set_state(articulated *a, const double *q, const double *qd);

/* Replaces the velocities of the active joints; what qd says of the others is ignored. */
HR_RT void articulated_set_velocity(articulated *a, const double *qd);

/* Replaces the coordinates of the active joints; what q says of the others is ignored. */
HR_RT void articulated_set_place(articulated *a, const double *q);

/* Valid until the next change of state. */
HR_RT const double *articulated_q(const articulated *a);
HR_RT const double *articulated_qd(const articulated *a);
HR_RT const double *articulated_qdd(const articulated *a);

/* Per velocity coordinate: explicit generalised force, spring toward `reference` (spherical: toward
 * the identity, reference ignored), damper, rotor inertia. All SI, all >= 0 but force and
 * reference. */
HR_RT void articulated_set_force(articulated *a, int v, double tau);
HR_RT void articulated_set_spring(articulated *a, int v, double stiffness, double reference);
HR_RT void articulated_set_damping(articulated *a, int v, double damping);
HR_RT void articulated_set_armature(articulated *a, int v, double armature);

/* Holds the joint of a body although its node may be active. Sets its velocity to zero without
 * regard to momentum (articulated_select and _set_active do that properly). */
HR_RT void articulated_lock(articulated *a, int body, bool is_locked);
HR_RT bool articulated_is_locked(const articulated *a, int body);

/* The generalised force that holds a locked joint, S^T F; `freedom` numbers. */
HR_RT void articulated_lock_force(const articulated *a, int body, double *out);

/* External wrenches on bodies until the next clear. A coupling is a spring-damper on a body that is
 * linear in its acceleration: wrench = f0 - stiff * acceleration (stiff symmetric, >= 0). At most
 * ARTICULATED_WRENCHES bodies at a time; more are ignored and false is returned. */
enum { ARTICULATED_WRENCHES = 64 };
HR_RT void articulated_clear_wrenches(articulated *a);
HR_RT bool articulated_add_wrench(articulated *a, int body, vec6 wrench);
HR_RT bool articulated_add_coupling(articulated *a, int body, const mat6 *stiff, vec6 f0);

/* Changes options.step_s; O(n) when it differs. */
HR_RT void articulated_set_step(articulated *a, double step_s);

/* Accelerations at the present state, into articulated_qdd. */
HR_RT void articulated_accelerate(articulated *a);

/* One step of options.step_s. */
HR_RT void articulated_step(articulated *a);

/* The same in two halves, to change velocities in between by contacts: first the velocities (the
 * places are then where the dynamics were evaluated, half way with the leapfrog), then the places.
 */
HR_RT void articulated_step_velocity(articulated *a);
HR_RT void articulated_step_place(articulated *a);

/* --- the active set ------------------------------------------------------------------------- */

HR_RT int articulated_active_count(const articulated *a); /* joints, without welds of split hubs */
HR_RT bool articulated_is_active(const articulated *a, int body);

/* Makes active exactly the joints of the bodies with wanted[body] and their ancestors in the tree
 * (NULL: all). Joints that stop are stopped by internal impulses that keep the momentum of the
 * rest. */
HR_RT void articulated_set_active(articulated *a, const bool *wanted);

/* Kinetic energy that internal impulses of stopping joints have taken since articulated_set_state,
 * J. */
HR_RT double articulated_energy_lost(const articulated *a);

/* --- metrics and selection ------------------------------------------------------------------- */

typedef enum articulated_weights {
    ARTICULATED_WEIGHT_ONE,
    ARTICULATED_WEIGHT_INERTIA
} articulated_weights;

/* The metric of a set of joints is the sum of Q (|s0 qd + s1 qdd|^2 + |s2 qdd|^2) with qdd of the
 * fully articulated body. (0, 1, 0): acceleration; (1, T, 0): velocity predicted after T, which is
 * zero for a joint that is just then turning back. */
typedef struct articulated_metric {
    double s0, s1;
    articulated_weights weights;
    double s2;
} articulated_metric;

/* Mean square of the velocity over the coming T: forgets no joint that moves now or soon. With
 * equal budgets and T = 20 ms it halved the error of (1, T, 0) in most runs. */
HR_RT articulated_metric articulated_metric_over(double horizon);

/* Sets the metric and recomputes all it needs; O(n). Inertia weights are those of the present
 * coordinates until the next call. Couplings enter with f0 alone. */
HR_RT void articulated_use_metric(articulated *a, articulated_metric metric);

typedef struct articulated_selection {
    int budget;        /* active joints at most; 0: no bound */
    double threshold;  /* stop when the metric of what is left out is at most this */
    double hysteresis; /* values of joints that are active now count so many times; 0 or 1: none */
} articulated_selection;

typedef struct articulated_selected {
    double total; /* metric of all joints */
    double left;  /* metric of the joints left out */
    int active;   /* joints */
    int started, stopped;
} articulated_selected;

/* Joints that must stay active (grabbed, in contact); their ancestors stay with them. */
HR_RT void articulated_pin(articulated *a, int body, bool is_pinned);

/* Chooses the active set by the metric and changes to it; O(m log m) and O(log n) per wrench. The
 * joints of a floating base and pinned ones come first, even beyond the budget. */
HR_RT articulated_selected articulated_select(articulated *a, articulated_selection how);

/* --- where bodies are ------------------------------------------------------------------------ */

/* O(m) after a step, then O(log n) per body. */
HR_RT pose articulated_body_pose(articulated *a, int body);
HR_RT vec6 articulated_body_velocity(articulated *a, int body);

/* Spatial acceleration of the last evaluation (gravity included). */
HR_RT vec6 articulated_body_acceleration(articulated *a, int body);

/* J, at the present state. */
HR_RT double articulated_kinetic_energy(articulated *a);
HR_RT double articulated_potential_energy(articulated *a); /* gravity and springs; O(n) */

/* --- contact --------------------------------------------------------------------------------- */

/* Change of the velocity of body `to` by an impulse on body `on`, both in their own frames, by the
 * factors of the last evaluation (call articulated_accelerate or _step before). O(log n). */
HR_RT vec6 articulated_impulse_response(articulated *a, int on, vec6 impulse, int to);

/* Change of the joint velocity of body `to` by impulses (one per degree of freedom) at the joint of
 * body `on`; both must be active. */
HR_RT void articulated_joint_response(articulated *a, int on, const double *impulse, int to,
                                      double *out);

/* A point contact: body b (or -1, the world) pushes on body a along `normal`. */
typedef struct articulated_contact {
    int body_a, body_b;
    vec3 point;  /* m, base frame */
    vec3 normal; /* unit, base frame, from b to a */
} articulated_contact;

/* out[i * count + k]: change of the normal velocity of contact i by a unit normal impulse at
 * contact k; the matrix J M^-1 J^T. count <= ARTICULATED_CONTACTS. */
enum { ARTICULATED_CONTACTS = 32 };
HR_RT void articulated_contact_matrix(articulated *a, const articulated_contact *contacts,
                                      int count, double *out);

/* 1/kg: velocity change of the point (base frame) per impulse there. */
HR_RT mat3 articulated_inverse_mass(articulated *a, int body, vec3 point);

/* The operational-space inverse inertia of a body, its own frame. */
HR_RT void articulated_inverse_inertia(articulated *a, int body, mat6 *out);

/* Adds to the velocities what the impulses (body frames) do, all in one O(m) pass. */
HR_RT void articulated_apply_impulses(articulated *a, const int *bodies, const vec6 *impulses,
                                      int count);

/* --- the joints as unknowns of a contact problem --------------------------------------------- */

/* The velocities that can change now: those of the active joints that are not locked, n in all,
 * a joint before those that hang on it. articulated_unknowns gives for each the velocity coordinate
 * of the model; valid until the set or a lock changes. */
HR_RT int articulated_freedom(const articulated *a);
HR_RT const int32_t *articulated_unknowns(const articulated *a);

/* The joint-space inertia of the unknowns at the present state, n x n, symmetric to the bit and
 * positive definite: groups as one body each, with all that is implicit in a step (rotors, h d,
 * h^2 k, couplings). Its inverse is what joint impulses do after articulated_accelerate. O(m) for
 * the inertias, then one product per unknown and joint below the base on its way: O(m * depth),
 * and n^2 numbers are written. */
HR_RT void articulated_mass_matrix(articulated *a, double *k);

/* Velocity (base frame, m/s) of a point of a body (base frame, m) per unit of each unknown that
 * moves it, in ascending order of the unknowns; O(depth). Returns how many there are; when that is
 * more than `room`, nothing is written. */
HR_RT int articulated_jacobian(articulated *a, int body, vec3 point, int room, int *unknowns,
                               vec3 *columns);

/* Adds to the velocities of the unknowns. */
HR_RT void articulated_add_velocity(articulated *a, const double *change);

/* --- for tests -------------------------------------------------------------------------------- */

/* Fills the numbers of all buried nodes with NaN (true) or puts them back (false). Evaluations and
 * steps must not notice. Frozen transforms stay: wrenches on buried bodies travel through them. A
 * build with -DHR_POISON_BURIED does this around every evaluation. */
void articulated_poison_buried(articulated *a, bool is_poisoned);

#endif
