/* What the files solver/articulated*.c share. Not for users. */
#ifndef SOLVER_ARTICULATED_INTERNAL_H
#define SOLVER_ARTICULATED_INTERNAL_H

#include <stdint.h>

#include "solver/articulated.h"
#include "solver/articulated_join.h"

typedef enum node_state { NODE_BURIED, NODE_FRONT, NODE_ACTIVE } node_state;

/* A part of the tree. Its own frame is the body's turned so that the joint's axis is z. */
typedef struct art_part {
    int body;
    int q, v;            /* of its joint in the model's layout */
    rigid rest;          /* parent part's frame from the joint's frame at rest */
    mat3 body_from_part; /* rotation; the origins agree */
    mat6 inertia;        /* its share of the body's, own frame */
    double k[6];         /* K of its joint: armature + h damping + h^2 stiffness */
    vec6 coriolis;       /* of its joint, when active */
    bool is_pinned;      /* stands in musts */
} art_part;

/* What is known of a node as a rigid body; frozen while it is FRONT or BURIED. */
typedef struct art_node {
    join_joint join;     /* inner nodes: the joint and its present place */
    rigid top_from_b;    /* pose of B's top */
    rigid top_from_1;    /* pose of handle 1 */
    mat6 inertia;        /* composite, frame of the top */
    mat6 inverse;        /* of inertia; zero with the world inside */
    vec6 velocity;       /* of the top, while FRONT */
    vec6 wrench;         /* external, on the whole node, frame of the top, while FRONT */
    vec6 momentum;       /* scratch of the set change */
    mat6 stiff;          /* sum of the couplings on it, frame of the top, while FRONT */
    vec6 bias;           /* acceleration of the top without handle forces, while FRONT */
    rigid base_from_top; /* while FRONT, when the poses are current */
    int32_t joint;       /* index in joints of the joint that moves it, while FRONT; world: -1 */
    bool has_world;
    bool has_coupling; /* while FRONT: phi was made with a coupling */
} __attribute__((aligned(64))) art_node;

/* One moving joint: from front node to front node. */
typedef struct art_joint {
    int32_t part, node;
    int32_t front; /* child side; its top is the part */
    int32_t parent_front;
    int32_t parent_slot; /* which handle of parent_front carries the joint */
    int32_t parent;      /* index in joints of the joint that moves parent_front; world: -1 */
    int32_t unknown;     /* its first velocity among the unknowns */
    int32_t freedom;     /* unknowns: 0 for a weld and while locked */
} art_joint;

typedef struct art_wrench {
    int part;
    vec6 wrench; /* part frame */
    mat6 stiff;  /* part frame */
    bool has_stiff;
} art_wrench;

/* Seven right-hand sides of a passive node: the six products w_i w_j of its top's angular velocity
 * (xx yy zz xy xz yz) and 1. With top velocity (w, u): b_h = B_h mu - [0; w_h x u_h], p_h = P_h mu,
 * eta = mu^T N mu. */
enum { CHANNELS = 7, CONSTANT = 6 };

typedef struct art_channel {
    vec6 b[2], p[2];
} art_channel;

/* What the joint of a node answers to one right-hand side. */
typedef struct art_answer {
    vec6 f0;
    vec6 e;      /* Hm f0 + d */
    vec6 d;      /* p^B(be) - X p^A(al) */
    double l[6]; /* s0 qd + s1 r0 */
    double r0[6];
} art_answer;

/* The fully articulated body (all joints free), for the metric
 * M = f^T Psi f + 2 p^T f + eta of the joints inside a node. */
typedef struct art_full {
    join_data join; /* join.f: forces during the selection */
    mat6 psi_00, psi_01, psi_11;
    mat6 hm, zt; /* X Psi^A X^T + Psi^B at the joint; X Psi^A(al, 0) */
    vec6 p[2];
    double eta;
    vec6 velocity;                 /* of the top, while it is looked at */
    art_channel channel[CHANNELS]; /* passive nodes */
    art_answer answer[CHANNELS];
    double n[CHANNELS][CHANNELS];
} art_full;

typedef struct art_heap_item {
    double value;
    int32_t node;
} art_heap_item;

struct articulated {
    const model *model;
    articulated_options options;
    assembly_tree tree;
    art_part *parts;
    art_node *nodes;
    join_data *joins; /* hybrid */
    uint8_t *state;   /* node_state by node */
    int32_t *active;  /* nodes, children before parents */
    int32_t *front;
    int32_t *stack;
    art_joint *joints; /* kinematic order */
    int32_t *unknowns; /* velocity coordinates that move, in the order of joints */
    int unknown_count;
    mat6 *composite; /* by index in joints: scratch of the mass matrix */
    int active_count, front_count, joint_count, moving_count;
    double *q, *qd, *qdd, *qdd_before;
    double *speed; /* velocities of the evaluation: qd or the predicted ones */
    double *tau, *stiffness, *reference, *damping, *armature, *total_tau, *weight;
    art_wrench wrenches[ARTICULATED_WRENCHES];
    int wrench_count;
    double energy_lost;
    bool is_factored; /* joins hold the factors of the present set */
    bool has_poses;   /* base_from_top and velocity of front nodes are current */
    bool has_coupling;

    bool has_metric;
    articulated_metric metric;
    art_full *full;
    art_heap_item *heap;
    uint32_t *chosen; /* by node: stamp of the selection that chose it */
    uint32_t *must;   /* ... of the selection that has to choose it */
    uint32_t stamp;
    int32_t *musts; /* parts whose joints are always active: floating ones, then pinned ones */
    int must_count;
    int32_t *order; /* chosen nodes, parents before children */
    int32_t *dirty; /* passive nodes whose constant channel is stale: leaves or joints */
    int dirty_count;
    uint8_t *is_dirty;  /* by node */
    vec6 *baked_wrench; /* by part: in the constant channel */
    int baked_parts[ARTICULATED_WRENCHES], baked_count;
    art_node *shadow_nodes; /* of articulated_poison_buried */
    join_data *shadow_joins;
    art_full *shadow_full;
    int poison_depth;
    double *work;        /* v_count */
    vec6 *up_f0, *up_d0; /* by node: scratch of the impulse response */
    uint32_t *up_stamp;
    uint32_t up_count;
};

HR_RT static inline bool art_has_handle(const assembly_node *n, int slot)
{
    return n->handle[slot] >= 0;
}

/* Place of the joint of a part at its coordinates: parent part frame from part frame. */
HR_RT void art_joint_pose(const articulated *a, int part, rigid *out);

/* S speed of the joint of a part; zero when locked. */
HR_RT vec6 art_joint_motion(const articulated *a, int part, const double *speed);

/* Composite inertia, transforms and Phi of an inner node from its children at the joint's present
 * place. */
HR_RT void art_refresh_rigid(articulated *a, int node);

/* Phi of a node as one rigid body with the given inverse inertia. */
HR_RT void art_rigid_phi(const articulated *a, int node, const mat6 *inverse, join_data *out);

/* Undoes what couplings did to the rigid numbers of front nodes. */
HR_RT void art_drop_couplings(articulated *a);

/* Rebuilds the lists of active and front nodes and joints by walking the active nodes. */
HR_RT void art_list_active(articulated *a);

/* Numbers the velocities that move; after the list or a lock has changed. */
HR_RT void art_number_unknowns(articulated *a);

/* Places of active joints, velocities of front nodes and Coriolis terms for given speeds. */
HR_RT void art_kinematics(articulated *a, const double *speed);

/* Poses of the front nodes; also velocities by qd. */
HR_RT void art_poses(articulated *a);

/* K of all joints; total explicit forces of one joint at the present state, `freedom` numbers. */
HR_RT void art_set_k(articulated *a, int part);
HR_RT void art_joint_tau(const articulated *a, int part, double *out);

/* out = X^T inertia X: an inertia of frame b seen from frame a, x = a_from_b. */
HR_RT void art_shift_inertia(const rigid *x, const mat6 *inertia, mat6 *out);

/* Impulses on the groups (art_node.wrench) and at the joints (work, v_count): clear them, then add
 * to qd what they do to all active joints. */
HR_RT void art_clear_impulses(articulated *a);
HR_RT void art_spread_impulses(articulated *a, const double *tau);

/* Impulses at joints that would pass their limit within dt. */
HR_RT void art_stop_at_limits(articulated *a, double dt);

/* The front node around a part, and the pose of the part's frame in the frame of its top. */
HR_RT int art_front_of(const articulated *a, int part, rigid *top_from_part);

/* The metric's side of set changes: a node has become passive at its present place. */
HR_RT void art_full_freeze(articulated *a, int node);
HR_RT void art_mark_dirty(articulated *a, int node);

/* Changes to the set of nodes whose chosen[] is the present stamp; order[] lists them top down. */
HR_RT void art_change_set(articulated *a, int chosen_count, int *started, int *stopped);

#endif
