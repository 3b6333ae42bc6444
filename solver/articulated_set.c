/* The active set: rigid groups, the lists of the step, stopping and starting joints. */
#include <string.h>

#include "solver/articulated_internal.h"

/* out = X^T m with the motion transform X of x: [R p^R; 0 R]. */
HR_RT static void force_left(const rigid *restrict x, const mat6 *restrict m, mat6 *restrict out)
{
    row6 low[3];
    for (int i = 0; i < 3; i++) {
        const double *r = x->rotation.m[i];
        row6 top = row6_add(
            row6_add(row6_scale(r[0], row6_load(m->m[0])), row6_scale(r[1], row6_load(m->m[1]))),
            row6_scale(r[2], row6_load(m->m[2])));
        low[i] = row6_add(
            row6_add(row6_scale(r[0], row6_load(m->m[3])), row6_scale(r[1], row6_load(m->m[4]))),
            row6_scale(r[2], row6_load(m->m[5])));
        row6_store(top, out->m[i]);
        row6_store(low[i], out->m[i + 3]);
    }
    vec3 p = x->origin;
    row6 lever[3] = {row6_sub(row6_scale(p.y, low[2]), row6_scale(p.z, low[1])),
                     row6_sub(row6_scale(p.z, low[0]), row6_scale(p.x, low[2])),
                     row6_sub(row6_scale(p.x, low[1]), row6_scale(p.y, low[0]))};
    for (int i = 0; i < 3; i++)
        row6_store(row6_add(row6_load(out->m[i]), lever[i]), out->m[i]);
}

void art_shift_inertia(const rigid *x, const mat6 *inertia, mat6 *out)
{
    mat6 left, turned, both;
    force_left(x, inertia, &left);
    fast_transpose(&left, &turned);
    force_left(x, &turned, &both);
    for (int i = 0; i < 6; i++)
        for (int k = i; k < 6; k++)
            out->m[i][k] = out->m[k][i] = 0.5 * (both.m[i][k] + both.m[k][i]);
}

void art_rigid_phi(const articulated *a, int n, const mat6 *inverse, join_data *out)
{
    out->phi_00 = *inverse;
    if (!art_has_handle(&a->tree.nodes[n], 1))
        return;
    mat6 left;
    fast_motion_both(&a->nodes[n].top_from_1, inverse, &left, &out->phi_11);
    fast_transpose(&left, &out->phi_01);
}

void art_refresh_rigid(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    const art_node *left = &a->nodes[from->child[0]], *right = &a->nodes[from->child[1]];
    art_node *node = &a->nodes[n];
    const rigid *place = &node->join.a_from_b;
    node->top_from_b = from->a_slot ? rigid_compose(&left->top_from_1, place) : *place;
    node->top_from_1 =
        from->b_slot ? rigid_compose(&node->top_from_b, &right->top_from_1) : node->top_from_b;
    if (!node->has_world) {
        mat6 shifted;
        art_shift_inertia(&node->top_from_b, &right->inertia, &shifted);
        mat6_add(&left->inertia, &shifted, &node->inertia);
        fast_inverse(&node->inertia, &node->inverse);
    }
    art_rigid_phi(a, n, &node->inverse, &a->joins[n]);
}

int art_front_of(const articulated *a, int part, rigid *top_from_part)
{
    int n = a->tree.parts[part].leaf;
    *top_from_part = rigid_identity();
    while (a->state[n] == NODE_BURIED) {
        int parent = a->tree.nodes[n].parent;
        if (a->tree.nodes[parent].child[1] == n)
            *top_from_part = rigid_compose(&a->nodes[parent].top_from_b, top_from_part);
        n = parent;
    }
    return n;
}

/* The front node that holds the parent part of the joint of node n, and the handle there. */
HR_RT static void find_parent_front(const articulated *a, int n, art_joint *out)
{
    int at = a->tree.nodes[n].child[0], slot = a->tree.nodes[n].a_slot;
    while (a->state[at] == NODE_ACTIVE) {
        const assembly_node *node = &a->tree.nodes[at];
        at = node->child[slot];
        slot = slot ? node->b_slot : 0;
    }
    out->parent_front = at;
    out->parent_slot = slot;
}

HR_RT static void reverse(int32_t *list, int count)
{
    for (int i = 0, k = count - 1; i < k; i++, k--) {
        int32_t swapped = list[i];
        list[i] = list[k];
        list[k] = swapped;
    }
}

void art_list_active(articulated *a)
{
    int top = 0;
    a->active_count = a->front_count = a->joint_count = a->moving_count = 0;
    a->stack[top++] = a->tree.root;
    while (top > 0) { /* parents first, right before left: the reverse of post-order */
        int n = a->stack[--top];
        if (a->state[n] != NODE_ACTIVE) {
            a->front[a->front_count++] = n;
            continue;
        }
        a->active[a->active_count++] = n;
        a->moving_count += a->nodes[n].join.freedom > 0;
        a->stack[top++] = a->tree.nodes[n].child[0];
        a->stack[top++] = a->tree.nodes[n].child[1];
    }
    reverse(a->active, a->active_count);
    reverse(a->front, a->front_count);
    /* left to right is kinematic order: A holds the parents of B's top */
    for (int i = 0; i < a->front_count; i++) {
        int part = a->tree.nodes[a->front[i]].top;
        a->nodes[a->front[i]].joint = part == 0 ? -1 : a->joint_count;
        if (part == 0)
            continue;
        art_joint *j = &a->joints[a->joint_count++];
        j->part = part;
        j->node = a->tree.parts[part].node;
        j->front = a->front[i];
        find_parent_front(a, j->node, j);
        j->parent = a->nodes[j->parent_front].joint;
    }
    art_number_unknowns(a);
    a->is_factored = a->has_poses = false;
}

void art_drop_couplings(articulated *a)
{
    for (int i = 0; i < a->front_count; i++) {
        art_node *node = &a->nodes[a->front[i]];
        if (!node->has_coupling)
            continue;
        node->has_coupling = false;
        art_rigid_phi(a, a->front[i], &node->inverse, &a->joins[a->front[i]]);
    }
}

/* Kinetic energy of the present groups and rotors; velocities must be current. */
HR_RT static double group_energy(const articulated *a)
{
    double sum = 0;
    for (int i = 0; i < a->front_count; i++) {
        const art_node *node = &a->nodes[a->front[i]];
        if (!node->has_world)
            sum += 0.5 * vec6_dot(node->velocity, fast_apply(&node->inertia, &node->velocity));
    }
    for (int i = 0; i < a->joint_count; i++) {
        int v = a->parts[a->joints[i].part].v;
        for (int k = 0; k < a->nodes[a->joints[i].node].join.freedom; k++)
            sum += 0.5 * a->armature[v + k] * a->qd[v + k] * a->qd[v + k];
    }
    return sum;
}

double articulated_kinetic_energy(articulated *a)
{
    art_kinematics(a, a->qd);
    return group_energy(a);
}

HR_RT static void set_joint_zero(articulated *a, int part, int freedom)
{
    for (int k = 0; k < freedom; k++) {
        int v = a->parts[part].v + k;
        a->qd[v] = a->qdd[v] = a->qdd_before[v] = 0;
    }
}

/* An active node whose children are front becomes one rigid body. Its joint's speed is zero
 * already: the metric freezes the forces at the joint, and a damper's must not stay in them. */
HR_RT static void stop_node(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_node *node = &a->nodes[n];
    art_refresh_rigid(a, n);
    const art_node *left = &a->nodes[from->child[0]], *right = &a->nodes[from->child[1]];
    node->momentum = vec6_add(left->momentum, rigid_force_to_a(&node->top_from_b, right->momentum));
    a->state[n] = NODE_FRONT;
    a->state[from->child[0]] = a->state[from->child[1]] = NODE_BURIED;
    if (a->has_metric)
        art_full_freeze(a, n);
}

/* A front node becomes active; its joint starts at rest. */
HR_RT static void start_node(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    const art_node *node = &a->nodes[n];
    for (int side = 0; side < 2; side++) {
        art_node *child = &a->nodes[from->child[side]];
        child->velocity =
            side ? rigid_motion_to_b(&node->top_from_b, node->velocity) : node->velocity;
        child->momentum = fast_apply(&child->inertia, &child->velocity);
        child->has_coupling = false;
        a->state[from->child[side]] = NODE_FRONT;
    }
    a->state[n] = NODE_ACTIVE;
    set_joint_zero(a, from->joint, node->join.freedom);
}

/* New speeds of the active joints that keep the momentum: the hybrid solve with momentum in place
 * of forces, so that "accelerations" are velocities (minimal change in kinetic energy). */
HR_RT static void keep_momentum(articulated *a)
{
    vec6 none = {{0}};
    for (int i = 0; i < a->front_count; i++) {
        const art_node *node = &a->nodes[a->front[i]];
        join_data *j = &a->joins[a->front[i]];
        j->b[0] = node->has_world ? none : fast_apply(&node->inverse, &node->momentum);
        j->b[1] = rigid_motion_to_b(&node->top_from_1, j->b[0]);
    }
    for (int i = 0; i < a->active_count; i++) {
        int n = a->active[i], part = a->tree.nodes[n].joint;
        const assembly_node *from = &a->tree.nodes[n];
        const join_joint *j = &a->nodes[n].join;
        double tau[6];
        for (int k = 0; k < j->freedom; k++) {
            int v = a->parts[part].v + k;
            a->parts[part].k[k] = a->armature[v];
            tau[k] = a->armature[v] * a->qd[v];
        }
        const join_data *left = &a->joins[from->child[0]], *right = &a->joins[from->child[1]];
        join_factor(j, left, right, &a->joins[n]);
        join_bias(j, left, right, &none, tau, &a->joins[n]);
        art_set_k(a, part);
    }
    for (int i = a->active_count - 1; i >= 0; i--) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        (void)join_solve(&a->nodes[n].join, &a->joins[n], a->qd + a->parts[from->joint].v,
                         a->joins[from->child[0]].f, a->joins[from->child[1]].f);
    }
}

HR_RT static bool is_moving(const articulated *a, int n)
{
    int v = a->parts[a->tree.nodes[n].joint].v;
    for (int k = 0; k < a->nodes[n].join.freedom; k++)
        if (a->qd[v + k] != 0)
            return true;
    return false;
}

/* Stops the active nodes that were not chosen, children first; does one of them move? */
HR_RT static bool stop_all(articulated *a, int *stopped)
{
    bool moves = false;
    for (int i = 0; i < a->active_count; i++) {
        int n = a->active[i];
        if (a->chosen[n] == a->stamp)
            continue;
        moves = moves || is_moving(a, n);
        set_joint_zero(a, a->tree.nodes[n].joint, a->nodes[n].join.freedom);
        stop_node(a, n);
        (*stopped)++;
    }
    return moves;
}

void art_change_set(articulated *a, int chosen_count, int *started, int *stopped)
{
    *started = *stopped = 0;
    bool is_same = a->active_count == chosen_count;
    for (int i = 0; is_same && i < chosen_count; i++)
        is_same = a->state[a->order[i]] == NODE_ACTIVE;
    if (is_same)
        return;
    art_drop_couplings(a);
    art_kinematics(a, a->qd);
    double before = group_energy(a);
    for (int i = 0; i < a->front_count; i++) {
        art_node *node = &a->nodes[a->front[i]];
        node->momentum = fast_apply(&node->inertia, &node->velocity);
    }
    bool has_stopped = stop_all(a, stopped);
    for (int i = 0; i < chosen_count; i++) {
        if (a->state[a->order[i]] == NODE_ACTIVE)
            continue;
        start_node(a, a->order[i]);
        (*started)++;
    }
    art_list_active(a);
    if (!has_stopped)
        return;
    keep_momentum(a);
    art_kinematics(a, a->qd);
    a->energy_lost += before - group_energy(a);
}

/* Marks a node and all above it with the present stamp. */
HR_RT static void choose_up(articulated *a, int n)
{
    for (; n >= 0 && a->chosen[n] != a->stamp; n = a->tree.nodes[n].parent)
        a->chosen[n] = a->stamp;
}

void articulated_set_active(articulated *a, const bool *wanted)
{
    int count = 0, started, stopped;
    a->stamp++;
    for (int p = 1; p < a->tree.part_count; p++) {
        int n = a->tree.parts[p].node;
        if (a->parts[p].is_pinned || !wanted ||
            (wanted[a->parts[p].body] && !a->tree.parts[p].is_welded))
            choose_up(a, n);
    }
    for (int n = a->tree.node_count - 1; n >= 0; n--)
        if (a->chosen[n] == a->stamp)
            a->order[count++] = n;
    art_change_set(a, count, &started, &stopped);
}
