/* Adaptive articulated bodies: memory, state, forces. */
#include "solver/articulated.h"

#include <stdlib.h>
#include <string.h>

#include "solver/articulated_internal.h"

static join_kind kind_of(joint_type type)
{
    switch (type) {
    case JOINT_FIXED:
        return JOIN_WELD;
    case JOINT_REVOLUTE:
    case JOINT_CONTINUOUS:
        return JOIN_REVOLUTE;
    case JOINT_PRISMATIC:
        return JOIN_PRISMATIC;
    case JOINT_SCREW:
        return JOIN_SCREW;
    case JOINT_SPHERICAL:
        return JOIN_SPHERICAL;
    case JOINT_FLOATING:
        return JOIN_FLOATING;
    }
    return JOIN_WELD;
}

/* A frame whose z axis is the joint's axis, as a rotation from it to the body. */
static mat3 turn_to_axis(const model_joint *joint)
{
    if (joint_v_count(joint->type) != 1)
        return mat3_identity();
    vec3 z = joint->axis, up = {0, 0, 1};
    if (vec3_distance(z, up) < 1e-15)
        return mat3_identity();
    vec3 x = vec3_any_perpendicular(z);
    return mat3_from_columns(x, vec3_cross(z, x), z);
}

/* R^T m R in both blocks: the inertia in the turned frame. */
static mat6 turned_inertia(const mat6 *inertia, const mat3 *turn, double share)
{
    rigid x = {*turn, {0, 0, 0}};
    mat6 left, out;
    fast_motion_both(&x, inertia, &left, &out);
    for (int i = 0; i < 6; i++)
        for (int k = i; k < 6; k++)
            out.m[i][k] = out.m[k][i] = share * 0.5 * (out.m[i][k] + out.m[k][i]);
    return out;
}

/* For the parts of a split base: welded to the world they never move, so any inertia gives the same
 * answers, and the file's own may be zero. This one is of the size of what hangs on it. */
static mat6 anchor_inertia(const model *m)
{
    double mass = 0;
    for (int b = 1; b < m->body_count; b++)
        mass += m->bodies[b].mass;
    mass = mass > 0 ? mass : 1;
    return mat6_inertia(mass, (vec3){0, 0, 0}, mat3_scale(mass, mat3_identity()));
}

static void set_part(articulated *a, int p)
{
    const assembly_part *from = &a->tree.parts[p];
    const model_body *body = &a->model->bodies[from->body];
    const model_joint *joint = &a->model->joints[body->link];
    art_part *part = &a->parts[p];
    int copies = 0;
    for (int k = a->tree.body_part[from->body];
         k < a->tree.part_count && a->tree.parts[k].body == from->body; k++)
        copies++;
    *part = (art_part){.body = from->body, .q = joint->q, .v = joint->v};
    part->body_from_part = from->body > 0 ? turn_to_axis(joint) : mat3_identity();
    part->inertia = p > 0 && from->body == 0
                        ? anchor_inertia(a->model)
                        : turned_inertia(&body->inertia, &part->body_from_part, 1.0 / copies);
    part->rest = rigid_identity();
    if (p == 0 || from->is_welded)
        return;
    rigid rest = rigid_from_pose(body->parent_from_joint);
    rigid parent = {a->parts[from->parent].body_from_part, {0, 0, 0}};
    rigid child = {part->body_from_part, {0, 0, 0}};
    rigid back = rigid_inverse(&parent);
    rest = rigid_compose(&back, &rest);
    part->rest = rigid_compose(&rest, &child);
}

static void set_leaf(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_node *node = &a->nodes[n];
    node->has_world = from->top == 0;
    node->top_from_b = node->top_from_1 = rigid_identity();
    node->inertia = a->parts[from->top].inertia;
    if (!node->has_world)
        fast_inverse(&node->inertia, &node->inverse);
    art_rigid_phi(a, n, &node->inverse, &a->joins[n]);
}

static void set_inner(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    const assembly_part *part = &a->tree.parts[from->joint];
    const model_joint *joint = &a->model->joints[a->model->bodies[part->body].link];
    art_node *node = &a->nodes[n];
    node->has_world = from->top == 0;
    node->top_from_b = node->top_from_1 = rigid_identity();
    node->join = (join_joint){.kind = part->is_welded ? JOIN_WELD : kind_of(joint->type),
                              .freedom = part->is_welded ? 0 : joint_v_count(joint->type),
                              .pitch = joint->pitch,
                              .k = a->parts[from->joint].k,
                              .a_from_b = rigid_identity(),
                              .a_slot = from->a_slot,
                              .b_slot = from->b_slot,
                              .has_0 = from->handle[0] >= 0,
                              .has_1 = from->handle[1] >= 0};
}

/* All arrays at once; every one is at least one long. */
static bool allocate(articulated *a)
{
    size_t parts = (size_t)a->tree.part_count, nodes = (size_t)a->tree.node_count;
    size_t v = (size_t)a->model->v_count + 1, q = (size_t)a->model->q_count + 1;
    a->parts = calloc(parts, sizeof *a->parts);
    a->nodes = aligned_alloc(64, nodes * sizeof *a->nodes);
    a->joins = aligned_alloc(64, nodes * sizeof *a->joins);
    a->full = aligned_alloc(64, nodes * sizeof *a->full);
    a->shadow_nodes = aligned_alloc(64, nodes * sizeof *a->nodes);
    a->shadow_joins = aligned_alloc(64, nodes * sizeof *a->joins);
    a->shadow_full = aligned_alloc(64, nodes * sizeof *a->full);
    a->state = calloc(2 * nodes, sizeof *a->state);
    a->active = calloc(6 * nodes, sizeof *a->active);
    a->joints = calloc(parts, sizeof *a->joints);
    a->unknowns = calloc(v, sizeof *a->unknowns);
    a->composite = calloc(parts, sizeof *a->composite);
    a->q = calloc(q + 12 * v, sizeof *a->q);
    a->heap = calloc(nodes, sizeof *a->heap);
    a->chosen = calloc(3 * nodes, sizeof *a->chosen);
    a->baked_wrench = calloc(parts, sizeof *a->baked_wrench);
    a->up_f0 = calloc(2 * nodes, sizeof *a->up_f0);
    if (!a->parts || !a->nodes || !a->joins || !a->full || !a->shadow_nodes || !a->shadow_joins ||
        !a->shadow_full || !a->state || !a->active || !a->joints || !a->unknowns || !a->composite ||
        !a->q || !a->heap || !a->chosen || !a->baked_wrench || !a->up_f0)
        return false;
    memset((void *)a->nodes, 0, nodes * sizeof *a->nodes);
    memset((void *)a->joins, 0, nodes * sizeof *a->joins);
    memset((void *)a->full, 0, nodes * sizeof *a->full);
    a->is_dirty = a->state + nodes;
    a->front = a->active + nodes;
    a->stack = a->front + nodes;
    a->order = a->stack + nodes;
    a->dirty = a->order + nodes;
    a->musts = a->dirty + nodes;
    a->must = a->chosen + nodes;
    a->up_stamp = a->must + nodes;
    a->up_d0 = a->up_f0 + nodes;
    double **vectors[] = {&a->qd,       &a->qdd,       &a->qdd_before, &a->speed,
                          &a->tau,      &a->stiffness, &a->reference,  &a->damping,
                          &a->armature, &a->total_tau, &a->weight,     &a->work};
    for (int i = 0; i < HR_COUNT(vectors); i++)
        *vectors[i] = a->q + q + (size_t)i * v;
    return true;
}

/* The model's dampers and rotor inertias. */
static void take_joint_constants(articulated *a)
{
    for (int b = 1; b < a->model->body_count; b++) {
        const model_joint *joint = &a->model->joints[a->model->bodies[b].link];
        for (int k = 0; k < joint_v_count(joint->type); k++) {
            a->damping[joint->v + k] = a->options.use_damping ? joint->damping : 0;
            a->armature[joint->v + k] = a->options.use_armature ? joint->armature : 0;
        }
    }
}

articulated *articulated_create(const model *m, const articulated_options *options)
{
    articulated *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->model = m;
    a->options = *options;
    if (assembly_tree_build(m, options->tree, &a->tree) != HR_OK || !allocate(a)) {
        articulated_destroy(a);
        return NULL;
    }
    take_joint_constants(a);
    for (int p = 0; p < a->tree.part_count; p++) {
        set_part(a, p);
        art_set_k(a, p);
    }
    for (int n = 0; n < a->tree.node_count; n++) {
        if (assembly_node_is_leaf(&a->tree.nodes[n]))
            set_leaf(a, n);
        else
            set_inner(a, n);
    }
    for (int p = 1; p < a->tree.part_count; p++)
        if (a->nodes[a->tree.parts[p].node].join.kind == JOIN_FLOATING) {
            a->parts[p].is_pinned = true;
            a->musts[a->must_count++] = p;
        }
    model_zero_coordinates(m, a->q);
    articulated_set_state(a, a->q, a->qd);
    return a;
}

void articulated_destroy(articulated *a)
{
    if (!a)
        return;
    assembly_tree_free(&a->tree);
    free(a->parts);
    free(a->nodes);
    free(a->joins);
    free(a->full);
    free(a->shadow_nodes);
    free(a->shadow_joins);
    free(a->shadow_full);
    free(a->state);
    free(a->active);
    free(a->joints);
    free(a->unknowns);
    free(a->composite);
    free(a->q);
    free(a->heap);
    free(a->chosen);
    free(a->baked_wrench);
    free(a->up_f0);
    free(a);
}

const assembly_tree *articulated_tree(const articulated *a)
{
    return &a->tree;
}

void articulated_set_state(articulated *a, const double *q, const double *qd)
{
    if (q != a->q)
        memcpy(a->q, q, (size_t)a->model->q_count * sizeof *q);
    if (qd != a->qd)
        memcpy(a->qd, qd, (size_t)a->model->v_count * sizeof *qd);
    memset(a->qdd, 0, (size_t)a->model->v_count * sizeof *qd);
    memset(a->qdd_before, 0, (size_t)a->model->v_count * sizeof *qd);
    for (int n = 0; n < a->tree.node_count; n++) {
        bool is_leaf = assembly_node_is_leaf(&a->tree.nodes[n]);
        a->state[n] = is_leaf ? NODE_FRONT : NODE_ACTIVE;
        a->is_dirty[n] = 0;
    }
    a->dirty_count = 0;
    a->energy_lost = 0;
    a->is_factored = a->has_poses = false;
    art_list_active(a);
    if (a->has_metric)
        articulated_use_metric(a, a->metric);
}

void articulated_set_velocity(articulated *a, const double *qd)
{
    for (int i = 0; i < a->joint_count; i++) {
        const join_joint *j = &a->nodes[a->joints[i].node].join;
        int v = a->parts[a->joints[i].part].v;
        for (int k = 0; k < j->freedom; k++)
            a->qd[v + k] = j->is_locked ? 0 : qd[v + k];
    }
    a->has_poses = false;
}

void articulated_set_place(articulated *a, const double *q)
{
    for (int i = 0; i < a->joint_count; i++) {
        const join_joint *j = &a->nodes[a->joints[i].node].join;
        int first = a->parts[a->joints[i].part].q;
        int count = j->kind == JOIN_FLOATING ? 7 : j->kind == JOIN_SPHERICAL ? 4 : j->freedom;
        if (!j->is_locked)
            memcpy(a->q + first, q + first, (size_t)count * sizeof *q);
    }
    a->has_poses = false;
}

const double *articulated_q(const articulated *a)
{
    return a->q;
}

const double *articulated_qd(const articulated *a)
{
    return a->qd;
}

const double *articulated_qdd(const articulated *a)
{
    return a->qdd;
}

/* The part whose joint has velocity coordinate v, by halving: parts are in the order of v. */
HR_RT static int part_of(const articulated *a, int v)
{
    int low = 1, high = a->model->body_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (a->parts[a->tree.body_part[middle]].v <= v)
            low = middle;
        else
            high = middle - 1;
    }
    return a->tree.body_part[low];
}

void art_set_k(articulated *a, int p)
{
    art_part *part = &a->parts[p];
    const assembly_part *from = &a->tree.parts[p];
    if (p == 0 || from->is_welded)
        return;
    double h = a->options.step_s;
    int n = joint_v_count(a->model->joints[a->model->bodies[part->body].link].type);
    for (int i = 0; i < n; i++) {
        int v = part->v + i;
        part->k[i] = a->armature[v] + h * a->damping[v] + h * h * a->stiffness[v];
    }
}

void articulated_set_step(articulated *a, double step_s)
{
    if (a->options.step_s == step_s)
        return;
    a->options.step_s = step_s;
    for (int p = 0; p < a->tree.part_count; p++)
        art_set_k(a, p);
    a->is_factored = false;
    if (a->has_metric)
        articulated_use_metric(a, a->metric);
}

/* K of a joint changed: passive nodes above it hold numbers made with the old one. */
HR_RT static void change_k(articulated *a, int v)
{
    int p = part_of(a, v);
    art_set_k(a, p);
    a->is_factored = false;
    if (a->has_metric)
        articulated_use_metric(a, a->metric);
}

void articulated_set_force(articulated *a, int v, double tau)
{
    if (a->tau[v] == tau)
        return;
    a->tau[v] = tau;
    if (a->has_metric)
        art_mark_dirty(a, a->tree.parts[part_of(a, v)].node);
}

void articulated_set_spring(articulated *a, int v, double stiffness, double reference)
{
    bool is_new = a->stiffness[v] != stiffness;
    a->stiffness[v] = stiffness;
    a->reference[v] = reference;
    if (is_new)
        change_k(a, v);
    else if (a->has_metric)
        art_mark_dirty(a, a->tree.parts[part_of(a, v)].node);
}

void articulated_set_damping(articulated *a, int v, double damping)
{
    a->damping[v] = damping;
    change_k(a, v);
}

void articulated_set_armature(articulated *a, int v, double armature)
{
    a->armature[v] = armature;
    change_k(a, v);
}

void art_joint_tau(const articulated *a, int p, double *out)
{
    const art_part *part = &a->parts[p];
    const join_joint *j = &a->nodes[a->tree.parts[p].node].join;
    double h = a->options.step_s, offset[6];
    for (int i = 0; i < j->freedom; i++)
        offset[i] = j->freedom == 1 ? a->q[part->q] - a->reference[part->v] : 0;
    if (j->kind == JOIN_SPHERICAL) {
        const double *q = a->q + part->q;
        vec3 turn = quat_to_rotation_vector((quat){q[0], q[1], q[2], q[3]});
        offset[0] = turn.x;
        offset[1] = turn.y;
        offset[2] = turn.z;
    }
    for (int i = 0; i < j->freedom; i++) {
        int v = part->v + i;
        out[i] =
            a->tau[v] - a->damping[v] * a->qd[v] - a->stiffness[v] * (offset[i] + h * a->qd[v]);
    }
}

void articulated_lock(articulated *a, int body, bool is_locked)
{
    int p = a->tree.body_part[body], n = a->tree.parts[p].node;
    if (n < 0 || a->nodes[n].join.is_locked == is_locked)
        return;
    a->nodes[n].join.is_locked = is_locked;
    for (int i = 0; i < a->nodes[n].join.freedom; i++) {
        a->qd[a->parts[p].v + i] = 0;
        a->qdd[a->parts[p].v + i] = a->qdd_before[a->parts[p].v + i] = 0;
    }
    a->is_factored = a->has_poses = false;
    art_number_unknowns(a);
    if (a->has_metric && a->state[n] != NODE_ACTIVE)
        articulated_use_metric(a, a->metric);
}

bool articulated_is_locked(const articulated *a, int body)
{
    int n = a->tree.parts[a->tree.body_part[body]].node;
    return n >= 0 && a->nodes[n].join.is_locked;
}

void articulated_pin(articulated *a, int body, bool is_pinned)
{
    int p = a->tree.body_part[body], n = a->tree.parts[p].node;
    art_part *part = &a->parts[p];
    if (n < 0 || part->is_pinned == is_pinned || a->nodes[n].join.kind == JOIN_FLOATING)
        return;
    part->is_pinned = is_pinned;
    if (is_pinned) {
        a->musts[a->must_count++] = p;
        return;
    }
    int kept = 0;
    for (int i = 0; i < a->must_count; i++)
        if (a->musts[i] != p)
            a->musts[kept++] = a->musts[i];
    a->must_count = kept;
}

void articulated_clear_wrenches(articulated *a)
{
    a->wrench_count = 0;
    a->has_coupling = false;
}

HR_RT static vec6 to_part(const articulated *a, int part, vec6 in_body)
{
    const mat3 *r = &a->parts[part].body_from_part;
    return vec6_make(mat3_apply_transposed(*r, vec6_angular(in_body)),
                     mat3_apply_transposed(*r, vec6_linear(in_body)));
}

bool articulated_add_wrench(articulated *a, int body, vec6 wrench)
{
    if (a->wrench_count >= ARTICULATED_WRENCHES)
        return false;
    int part = a->tree.body_part[body];
    a->wrenches[a->wrench_count].part = part;
    a->wrenches[a->wrench_count].wrench = to_part(a, part, wrench);
    a->wrenches[a->wrench_count].has_stiff = false;
    a->wrench_count++;
    return true;
}

bool articulated_add_coupling(articulated *a, int body, const mat6 *stiff, vec6 f0)
{
    if (!articulated_add_wrench(a, body, f0))
        return false;
    art_wrench *w = &a->wrenches[a->wrench_count - 1];
    rigid x = {a->parts[w->part].body_from_part, {0, 0, 0}};
    mat6 left;
    fast_motion_both(&x, stiff, &left, &w->stiff);
    w->has_stiff = true;
    a->has_coupling = true;
    return true;
}

int articulated_active_count(const articulated *a)
{
    return a->moving_count;
}

bool articulated_is_active(const articulated *a, int body)
{
    int n = a->tree.parts[a->tree.body_part[body]].node;
    return n >= 0 && a->state[n] == NODE_ACTIVE;
}

double articulated_energy_lost(const articulated *a)
{
    return a->energy_lost;
}

/* NaN everywhere but in what a node needs to carry wrenches and to come back. */
static void poison_node(articulated *a, int n)
{
    const double poison = (double)NAN;
    rigid keep = a->nodes[n].top_from_b;
    join_joint join = a->nodes[n].join;
    bool has_world = a->nodes[n].has_world;
    double *numbers = (double *)&a->nodes[n];
    for (size_t i = 0; i < sizeof(art_node) / sizeof(double); i++)
        numbers[i] = poison;
    a->nodes[n].top_from_b = keep;
    a->nodes[n].join = join;
    a->nodes[n].has_world = has_world;
    a->nodes[n].has_coupling = false;
    numbers = (double *)&a->joins[n];
    for (size_t i = 0; i < sizeof(join_data) / sizeof(double); i++)
        numbers[i] = poison;
    numbers = (double *)&a->full[n];
    for (size_t i = 0; i < sizeof(art_full) / sizeof(double); i++)
        numbers[i] = poison;
}

void articulated_poison_buried(articulated *a, bool is_poisoned)
{
    a->poison_depth += is_poisoned ? 1 : -1;
    if (a->poison_depth != (is_poisoned ? 1 : 0))
        return; /* a debug build poisons within a test that does, too */
    for (int n = 0; n < a->tree.node_count; n++) {
        if (a->state[n] != NODE_BURIED)
            continue;
        if (is_poisoned) {
            a->shadow_nodes[n] = a->nodes[n];
            a->shadow_joins[n] = a->joins[n];
            a->shadow_full[n] = a->full[n];
            poison_node(a, n);
        } else {
            a->nodes[n] = a->shadow_nodes[n];
            a->joins[n] = a->shadow_joins[n];
            a->full[n] = a->shadow_full[n];
        }
    }
}
