/* Impulses on bodies and joints: up the tree from the node that is hit, down to the one asked for,
 * by the factors of the last evaluation. O(height) each. */
#include <string.h>

#include "solver/articulated_internal.h"

/* What an impulse does so far: velocity changes of the handles of one node. */
typedef struct wave {
    int node;
    vec6 b[2];
} wave;

/* From a node to the root: F0 and d0 of every ancestor are kept for the way down. */
HR_RT static void climb(articulated *a, wave w)
{
    for (int c = a->tree.nodes[w.node].parent; c >= 0; c = a->tree.nodes[c].parent) {
        const join_joint *j = &a->nodes[c].join;
        const join_data *d = &a->joins[c];
        bool is_left = a->tree.nodes[c].child[0] == w.node;
        vec6 d0 =
            is_left ? rigid_motion_to_b(&j->a_from_b, w.b[j->a_slot]) : vec6_scale(-1, w.b[0]);
        a->up_d0[c] = d0;
        a->up_f0[c] = fast_apply_transposed(&d->w, &d0);
        a->up_stamp[c] = a->up_count;
        vec6 none = {{0}}, from_left = is_left ? w.b[0] : none;
        vec6 from_right = is_left ? none : w.b[j->b_slot];
        if (j->has_0)
            w.b[0] = vec6_sub(from_left, fast_apply_transposed(&d->p_0, &d0));
        if (j->has_1)
            w.b[1] = vec6_sub(from_right, fast_apply_transposed(&d->p_1, &d0));
        w.node = c;
    }
}

/* Force of the joint of node c on its B side, given the forces on c's handles. */
HR_RT static vec6 joint_force(const articulated *a, int c, const vec6 f[2])
{
    const join_joint *j = &a->nodes[c].join;
    vec6 force = {{0}};
    if (a->up_stamp[c] == a->up_count)
        force = a->up_f0[c];
    if (j->has_0)
        force = vec6_add(force, fast_apply(&a->joins[c].p_0, &f[0]));
    if (j->has_1)
        force = vec6_add(force, fast_apply(&a->joins[c].p_1, &f[1]));
    return force;
}

/* From the root to a node: the forces on its handles. */
HR_RT static void descend(articulated *a, int to, vec6 f[2])
{
    int depth = 0;
    for (int n = to; a->tree.nodes[n].parent >= 0; n = a->tree.nodes[n].parent)
        a->stack[depth++] = n;
    int c = a->tree.root;
    vec6 none = {{0}};
    f[0] = f[1] = none;
    while (depth > 0) {
        int child = a->stack[--depth];
        const join_joint *j = &a->nodes[c].join;
        vec6 force = joint_force(a, c, f), on_a[2] = {none, none}, on_b[2] = {none, none};
        if (a->tree.nodes[c].child[0] == child) {
            on_a[0] = j->has_0 ? f[0] : none;
            vec6 back = rigid_force_to_a(&j->a_from_b, force);
            on_a[j->a_slot] = vec6_sub(on_a[j->a_slot], back);
            memcpy(f, on_a, sizeof on_a);
        } else {
            on_b[0] = force;
            if (j->has_1)
                on_b[j->b_slot] = vec6_add(on_b[j->b_slot], f[1]);
            memcpy(f, on_b, sizeof on_b);
        }
        c = child;
    }
}

/* Velocity change of a group's own impulse at its top. */
HR_RT static vec6 free_answer(const articulated *a, int front, const rigid *top_from_part,
                              vec6 impulse)
{
    vec6 at_top = rigid_force_to_a(top_from_part, impulse);
    return fast_apply_transposed(&a->joins[front].phi_00, &at_top);
}

/* The way up from a body: leaves the stamps; returns the front node and its own answer. */
HR_RT static int hit_part(articulated *a, int part, vec6 impulse, vec6 *own)
{
    rigid top_from_part;
    int front = art_front_of(a, part, &top_from_part);
    *own = free_answer(a, front, &top_from_part, impulse);
    wave w = {front, {*own, rigid_motion_to_b(&a->nodes[front].top_from_1, *own)}};
    a->up_count++;
    climb(a, w);
    return front;
}

/* The way down to a body: velocity change of the part, in its frame. */
HR_RT static vec6 answer_of_part(articulated *a, int hit_front, vec6 own, int part)
{
    rigid top_from_part;
    vec6 f[2];
    int front = art_front_of(a, part, &top_from_part);
    descend(a, front, f);
    vec6 force = f[0];
    if (art_has_handle(&a->tree.nodes[front], 1))
        force = vec6_add(force, rigid_force_to_a(&a->nodes[front].top_from_1, f[1]));
    vec6 change = fast_apply_transposed(&a->joins[front].phi_00, &force);
    if (front == hit_front)
        change = vec6_add(change, own);
    return rigid_motion_to_b(&top_from_part, change);
}

HR_RT static vec6 turn(const mat3 *r, vec6 x, bool to_part)
{
    vec3 w = vec6_angular(x), u = vec6_linear(x);
    return to_part ? vec6_make(mat3_apply_transposed(*r, w), mat3_apply_transposed(*r, u))
                   : vec6_make(mat3_apply(*r, w), mat3_apply(*r, u));
}

/* The factors must be those of the present set. */
HR_RT static void need_factors(articulated *a)
{
    if (!a->is_factored)
        articulated_accelerate(a);
}

vec6 articulated_impulse_response(articulated *a, int on, vec6 impulse, int to)
{
    int part = a->tree.body_part[on], asked = a->tree.body_part[to];
    need_factors(a);
    vec6 own;
    int front = hit_part(a, part, turn(&a->parts[part].body_from_part, impulse, true), &own);
    return turn(&a->parts[asked].body_from_part, answer_of_part(a, front, own, asked), false);
}

void articulated_inverse_inertia(articulated *a, int body, mat6 *out)
{
    for (int k = 0; k < 6; k++) {
        vec6 unit = {{0}};
        unit.v[k] = 1;
        vec6 column = articulated_impulse_response(a, body, unit, body);
        for (int i = 0; i < 6; i++)
            out->m[i][k] = column.v[i];
    }
}

/* The wrench in the body's frame of a force at a point, both in the base frame. */
HR_RT static vec6 wrench_at(pose base_from_body, vec3 point, vec3 force)
{
    vec3 f = pose_rotate_inverse(base_from_body, force);
    return vec6_make(vec3_cross(pose_apply_inverse(base_from_body, point), f), f);
}

mat3 articulated_inverse_mass(articulated *a, int body, vec3 point)
{
    mat3 out = {{{0}}};
    need_factors(a);
    pose at = articulated_body_pose(a, body);
    vec3 arm = pose_apply_inverse(at, point);
    for (int k = 0; k < 3; k++) {
        vec3 unit = {k == 0, k == 1, k == 2};
        vec6 dv = articulated_impulse_response(a, body, wrench_at(at, point, unit), body);
        vec3 change = vec3_add(vec6_linear(dv), vec3_cross(vec6_angular(dv), arm));
        change = pose_rotate(at, change);
        out.m[0][k] = change.x;
        out.m[1][k] = change.y;
        out.m[2][k] = change.z;
    }
    return out;
}

/* One side of a contact: the wrench of a unit impulse, part frame; part 0 and zero for the world.
 */
typedef struct contact_side {
    int part;
    vec6 row; /* also the row of the Jacobian: normal velocity = row . v */
} contact_side;

HR_RT static contact_side side_of(articulated *a, int body, vec3 point, vec3 push)
{
    contact_side s = {0, {{0}}};
    if (body <= 0)
        return s;
    s.part = a->tree.body_part[body];
    vec6 row = wrench_at(articulated_body_pose(a, body), point, push);
    s.row = turn(&a->parts[s.part].body_from_part, row, true);
    return s;
}

void articulated_contact_matrix(articulated *a, const articulated_contact *contacts, int count,
                                double *out)
{
    contact_side sides[2 * ARTICULATED_CONTACTS] = {{0}};
    need_factors(a);
    for (int i = 0; i < count; i++) {
        const articulated_contact *c = &contacts[i];
        contact_side *own = &sides[(size_t)2 * (size_t)i];
        own[0] = side_of(a, c->body_a, c->point, c->normal);
        own[1] = side_of(a, c->body_b, c->point, vec3_negate(c->normal));
    }
    memset(out, 0, (size_t)count * (size_t)count * sizeof *out);
    for (int k = 0; k < 2 * count; k++) {
        if (sides[k].part == 0)
            continue;
        vec6 own;
        int front = hit_part(a, sides[k].part, sides[k].row, &own);
        for (int i = 0; i < 2 * count; i++)
            if (sides[i].part > 0)
                out[(i / 2) * count + k / 2] +=
                    vec6_dot(sides[i].row, answer_of_part(a, front, own, sides[i].part));
    }
    /* two links of one group cancel to within rounding: never to less than nothing */
    for (int i = 0; i < count; i++)
        out[i * count + i] = fmax(out[i * count + i], 0);
}

/* The way up from an impulse at a joint. */
HR_RT static void hit_joint(articulated *a, int n, const double *impulse)
{
    const join_joint *j = &a->nodes[n].join;
    const join_data *d = &a->joins[n];
    vec6 none = {{0}}, force = none;
    wave w = {n, {none, none}};
    int freedom = j->is_locked ? 0 : j->freedom;
    for (int i = 0; i < freedom; i++) {
        force = vec6_add(force, vec6_scale(impulse[i], d->u[i]));
        w.b[0] = vec6_sub(w.b[0], vec6_scale(impulse[i], d->l_0[i]));
        w.b[1] = vec6_sub(w.b[1], vec6_scale(impulse[i], d->l_1[i]));
    }
    if (!j->has_0)
        w.b[0] = none;
    if (!j->has_1)
        w.b[1] = none;
    a->up_count++;
    a->up_f0[n] = force;
    a->up_d0[n] = none;
    a->up_stamp[n] = a->up_count;
    climb(a, w);
}

void articulated_joint_response(articulated *a, int on, const double *impulse, int to, double *out)
{
    need_factors(a);
    int n = a->tree.parts[a->tree.body_part[on]].node;
    int m = a->tree.parts[a->tree.body_part[to]].node;
    const join_joint *j = &a->nodes[m].join;
    const join_data *d = &a->joins[m];
    for (int i = 0; i < j->freedom; i++)
        out[i] = 0;
    if (a->state[n] != NODE_ACTIVE || a->state[m] != NODE_ACTIVE || j->is_locked)
        return;
    hit_joint(a, n, impulse);
    vec6 f[2];
    descend(a, m, f);
    for (int i = 0; i < j->freedom; i++) {
        if (a->up_stamp[m] == a->up_count)
            out[i] -= vec6_dot(d->u[i], a->up_d0[m]);
        for (int k = 0; n == m && k < j->freedom; k++)
            out[i] += d->d_inverse[i][k] * impulse[k];
        if (j->has_0)
            out[i] -= vec6_dot(d->l_0[i], f[0]);
        if (j->has_1)
            out[i] -= vec6_dot(d->l_1[i], f[1]);
    }
}

void art_spread_impulses(articulated *a, const double *tau)
{
    vec6 none = {{0}};
    for (int i = 0; i < a->front_count; i++) {
        int n = a->front[i];
        join_data *d = &a->joins[n];
        d->b[0] = fast_apply_transposed(&d->phi_00, &a->nodes[n].wrench);
        d->b[1] = rigid_motion_to_b(&a->nodes[n].top_from_1, d->b[0]);
    }
    for (int i = 0; i < a->active_count; i++) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        join_bias(&a->nodes[n].join, &a->joins[from->child[0]], &a->joins[from->child[1]], &none,
                  tau + a->parts[from->joint].v, &a->joins[n]);
    }
    for (int i = a->active_count - 1; i >= 0; i--) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        double change[6];
        (void)join_solve(&a->nodes[n].join, &a->joins[n], change, a->joins[from->child[0]].f,
                         a->joins[from->child[1]].f);
        for (int k = 0; k < a->nodes[n].join.freedom; k++)
            a->qd[a->parts[from->joint].v + k] += change[k];
    }
    a->has_poses = false;
}

void art_clear_impulses(articulated *a)
{
    for (int i = 0; i < a->front_count; i++)
        a->nodes[a->front[i]].wrench = (vec6){{0}};
    for (int v = 0; v < a->joint_count; v++) {
        const art_part *part = &a->parts[a->joints[v].part];
        for (int k = 0; k < a->nodes[a->joints[v].node].join.freedom; k++)
            a->work[part->v + k] = 0;
    }
}

void articulated_apply_impulses(articulated *a, const int *bodies, const vec6 *impulses, int count)
{
    need_factors(a);
    art_clear_impulses(a);
    for (int i = 0; i < count; i++) {
        int part = a->tree.body_part[bodies[i]];
        rigid top_from_part;
        art_node *node = &a->nodes[art_front_of(a, part, &top_from_part)];
        vec6 own = turn(&a->parts[part].body_from_part, impulses[i], true);
        node->wrench = vec6_add(node->wrench, rigid_force_to_a(&top_from_part, own));
    }
    art_spread_impulses(a, a->work);
}
