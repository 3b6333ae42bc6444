/* Evaluation and integration: kinematics outward over the groups, joins up the tree,
 * back-substitution down, all over the active nodes only. */
#include <string.h>

#include "solver/articulated_internal.h"

void art_joint_pose(const articulated *a, int p, rigid *out)
{
    const art_part *part = &a->parts[p];
    const join_joint *j = &a->nodes[a->tree.parts[p].node].join;
    const double *q = a->q + part->q;
    *out = part->rest;
    const mat3 *r = &part->rest.rotation;
    if (j->kind == JOIN_REVOLUTE || j->kind == JOIN_SCREW) {
        double s = sin(q[0]), c = cos(q[0]);
        for (int i = 0; i < 3; i++) { /* rest * turn about z: only two columns change */
            out->rotation.m[i][0] = c * r->m[i][0] + s * r->m[i][1];
            out->rotation.m[i][1] = c * r->m[i][1] - s * r->m[i][0];
        }
    }
    if (j->kind == JOIN_PRISMATIC || j->kind == JOIN_SCREW) {
        double d = j->kind == JOIN_SCREW ? j->pitch * q[0] : q[0];
        out->origin = vec3_add_scaled(out->origin, d, mat3_column(*r, 2));
    } else if (j->kind == JOIN_SPHERICAL) {
        out->rotation = mat3_multiply(*r, quat_to_mat3((quat){q[0], q[1], q[2], q[3]}));
    } else if (j->kind == JOIN_FLOATING) {
        out->rotation = mat3_multiply(*r, quat_to_mat3((quat){q[3], q[4], q[5], q[6]}));
        out->origin = vec3_add(out->origin, mat3_apply(*r, (vec3){q[0], q[1], q[2]}));
    }
}

vec6 art_joint_motion(const articulated *a, int p, const double *speed)
{
    const join_joint *j = &a->nodes[a->tree.parts[p].node].join;
    const double *s = speed + a->parts[p].v;
    vec6 out = {{0}};
    if (j->is_locked)
        return out;
    switch (j->kind) {
    case JOIN_WELD:
        break;
    case JOIN_SCREW:
        out.v[5] = j->pitch * s[0];
        out.v[2] = s[0];
        break;
    case JOIN_REVOLUTE:
        out.v[2] = s[0];
        break;
    case JOIN_PRISMATIC:
        out.v[5] = s[0];
        break;
    case JOIN_SPHERICAL:
    case JOIN_FLOATING:
        for (int i = 0; i < j->freedom; i++)
            out.v[i] = s[i];
        break;
    }
    return out;
}

void art_kinematics(articulated *a, const double *speed)
{
    for (int i = 0; i < a->front_count; i++)
        if (a->nodes[a->front[i]].has_world)
            a->nodes[a->front[i]].velocity = (vec6){{0}};
    for (int i = 0; i < a->joint_count; i++) {
        const art_joint *j = &a->joints[i];
        const art_node *parent = &a->nodes[j->parent_front];
        art_node *own = &a->nodes[j->front];
        rigid *place = &a->nodes[j->node].join.a_from_b;
        art_joint_pose(a, j->part, place);
        vec6 motion = art_joint_motion(a, j->part, speed);
        vec6 v = parent->velocity;
        if (j->parent_slot)
            v = fast_motion_to_b(&parent->top_from_1, &v);
        v = vec6_add(fast_motion_to_b(place, &v), motion);
        own->velocity = v;
        a->parts[j->part].coriolis = vec6_cross_motion(v, motion);
    }
    a->has_poses = false;
}

/* Poses of the groups from the places of the joints. */
HR_RT static void place_groups(articulated *a)
{
    for (int i = 0; i < a->front_count; i++)
        if (a->nodes[a->front[i]].has_world)
            a->nodes[a->front[i]].base_from_top = rigid_identity();
    for (int i = 0; i < a->joint_count; i++) {
        const art_joint *j = &a->joints[i];
        const art_node *parent = &a->nodes[j->parent_front];
        rigid at = parent->base_from_top;
        if (j->parent_slot)
            at = rigid_compose(&at, &parent->top_from_1);
        a->nodes[j->front].base_from_top = rigid_compose(&at, &a->nodes[j->node].join.a_from_b);
    }
}

void art_poses(articulated *a)
{
    if (a->has_poses)
        return;
    art_kinematics(a, a->qd);
    place_groups(a);
    a->has_poses = true;
}

/* External wrenches and couplings onto the groups that carry them. */
HR_RT static void gather_wrenches(articulated *a)
{
    for (int i = 0; i < a->front_count; i++)
        a->nodes[a->front[i]].wrench = (vec6){{0}};
    if (a->has_coupling)
        place_groups(a);
    for (int i = 0; i < a->wrench_count; i++) {
        const art_wrench *w = &a->wrenches[i];
        rigid top_from_part;
        art_node *node = &a->nodes[art_front_of(a, w->part, &top_from_part)];
        vec6 wrench = w->wrench;
        if (w->has_stiff && !node->has_world) {
            /* f0 - H (a' + g) with g in the axes of the part */
            mat3 turn = mat3_multiply(node->base_from_top.rotation, top_from_part.rotation);
            vec3 g = mat3_apply_transposed(turn, a->options.gravity);
            vec6 pull = vec6_make((vec3){0, 0, 0}, g);
            wrench = vec6_sub(wrench, fast_apply(&w->stiff, &pull));
            mat6 shifted;
            art_shift_inertia(&top_from_part, &w->stiff, &shifted);
            if (!node->has_coupling)
                node->stiff = (mat6){{{0}}};
            mat6_add(&node->stiff, &shifted, &node->stiff);
            node->has_coupling = true;
        }
        node->wrench = vec6_add(node->wrench, rigid_force_to_a(&top_from_part, wrench));
    }
}

HR_RT static void apply_couplings(articulated *a)
{
    for (int i = 0; i < a->front_count; i++) {
        const art_node *node = &a->nodes[a->front[i]];
        if (!node->has_coupling)
            continue;
        mat6 sum, inverse;
        mat6_add(&node->inertia, &node->stiff, &sum);
        fast_inverse(&sum, &inverse);
        art_rigid_phi(a, a->front[i], &inverse, &a->joins[a->front[i]]);
    }
}

/* Acceleration of each group without handle forces; gravity enters only at the world. */
HR_RT static void bias_groups(articulated *a)
{
    for (int i = 0; i < a->front_count; i++) {
        int n = a->front[i];
        art_node *node = &a->nodes[n];
        join_data *j = &a->joins[n];
        if (node->has_world) {
            node->bias = vec6_make((vec3){0, 0, 0}, vec3_negate(a->options.gravity));
        } else {
            vec6 momentum = fast_apply_transposed(&node->inertia, &node->velocity);
            vec6 force = vec6_sub(node->wrench, fast_cross_force(&node->velocity, &momentum));
            node->bias = fast_apply_transposed(&j->phi_00, &force);
        }
        j->b[0] = node->bias;
        if (art_has_handle(&a->tree.nodes[n], 1))
            j->b[1] = fast_motion_to_b(&node->top_from_1, &node->bias);
    }
}

HR_RT static void join_all(articulated *a)
{
    for (int i = 0; i < a->active_count; i++) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        const join_joint *j = &a->nodes[n].join;
        const join_data *left = &a->joins[from->child[0]], *right = &a->joins[from->child[1]];
        const art_part *part = &a->parts[from->joint];
        join_factor(j, left, right, &a->joins[n]);
        join_bias(j, left, right, &part->coriolis, a->total_tau + part->v, &a->joins[n]);
    }
    a->is_factored = true;
}

/* Down the tree: joint accelerations and the forces on all groups. */
HR_RT static void solve_all(articulated *a, double *out)
{
    for (int i = a->active_count - 1; i >= 0; i--) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        (void)join_solve(&a->nodes[n].join, &a->joins[n], out + a->parts[from->joint].v,
                         a->joins[from->child[0]].f, a->joins[from->child[1]].f);
    }
}

HR_RT static void evaluate(articulated *a, const double *speed)
{
    art_kinematics(a, speed);
    art_drop_couplings(a);
    gather_wrenches(a);
    apply_couplings(a);
    bias_groups(a);
    join_all(a);
    solve_all(a, a->qdd);
}

HR_RT static void gather_forces(articulated *a)
{
    for (int i = 0; i < a->joint_count; i++) {
        int p = a->joints[i].part;
        if (!a->tree.parts[p].is_welded)
            art_joint_tau(a, p, a->total_tau + a->parts[p].v);
    }
}

/* q (+) dt qd for every active joint. */
HR_RT static void move(articulated *a, double dt)
{
    for (int i = 0; i < a->joint_count; i++) {
        const art_part *part = &a->parts[a->joints[i].part];
        const join_joint *j = &a->nodes[a->joints[i].node].join;
        if (j->freedom == 1)
            a->q[part->q] += dt * a->qd[part->v];
        else if (j->kind == JOIN_SPHERICAL)
            joint_integrate(JOINT_SPHERICAL, a->q + part->q, a->qd + part->v, dt);
        else if (j->kind == JOIN_FLOATING)
            joint_integrate(JOINT_FLOATING, a->q + part->q, a->qd + part->v, dt);
    }
    a->has_poses = false;
}

/* out = qd + dt x over the active joints. */
HR_RT static void add_scaled(const articulated *a, double dt, const double *x, double *out)
{
    for (int i = 0; i < a->joint_count; i++) {
        int v = a->parts[a->joints[i].part].v;
        for (int k = 0; k < a->nodes[a->joints[i].node].join.freedom; k++)
            out[v + k] = a->qd[v + k] + dt * x[v + k];
    }
}

HR_RT static void remember(articulated *a)
{
    for (int i = 0; i < a->joint_count; i++) {
        int v = a->parts[a->joints[i].part].v;
        for (int k = 0; k < a->nodes[a->joints[i].node].join.freedom; k++)
            a->qdd_before[v + k] = a->qdd[v + k];
    }
}

/* Built with -DHR_POISON_BURIED every step runs on a body whose buried nodes are NaN. */
#ifdef HR_POISON_BURIED
#define POISON(a, on) articulated_poison_buried(a, on)
#else
#define POISON(a, on) (void)0
#endif

/* Velocities at the end of the step; with the leapfrog the places are half way then. */
HR_RT static void speed_up(articulated *a)
{
    double h = a->options.step_s;
    gather_forces(a);
    if (a->options.integrator == ARTICULATED_SEMI_EULER) {
        evaluate(a, a->qd);
        add_scaled(a, h, a->qdd, a->qd);
        return;
    }
    /* the velocity half way is predicted with the last acceleration */
    move(a, 0.5 * h);
    add_scaled(a, 0.5 * h, a->qdd_before, a->speed);
    evaluate(a, a->speed);
    if (a->options.integrator == ARTICULATED_TWICE) {
        add_scaled(a, 0.5 * h, a->qdd, a->speed);
        evaluate(a, a->speed);
    }
    add_scaled(a, h, a->qdd, a->qd);
    remember(a);
}

void articulated_step_velocity(articulated *a)
{
    POISON(a, true);
    speed_up(a);
    if (a->options.use_limits) /* leapfrog: this half step and the first half of the next */
        art_stop_at_limits(a, a->options.step_s);
    POISON(a, false);
}

void articulated_step_place(articulated *a)
{
    move(a, a->options.integrator == ARTICULATED_SEMI_EULER ? a->options.step_s
                                                            : 0.5 * a->options.step_s);
}

void articulated_step(articulated *a)
{
    articulated_step_velocity(a);
    articulated_step_place(a);
}

void articulated_accelerate(articulated *a)
{
    POISON(a, true);
    gather_forces(a);
    evaluate(a, a->qd);
    POISON(a, false);
}

/* The front node around a body and the pose of the body in its top's frame. */
HR_RT static int front_of_body(const articulated *a, int body, rigid *top_from_body)
{
    int part = a->tree.body_part[body];
    int n = art_front_of(a, part, top_from_body);
    top_from_body->rotation =
        mat3_multiply(top_from_body->rotation, mat3_transpose(a->parts[part].body_from_part));
    return n;
}

pose articulated_body_pose(articulated *a, int body)
{
    rigid top_from_body;
    art_poses(a);
    int n = front_of_body(a, body, &top_from_body);
    rigid at = rigid_compose(&a->nodes[n].base_from_top, &top_from_body);
    return rigid_to_pose(&at);
}

vec6 articulated_body_velocity(articulated *a, int body)
{
    rigid top_from_body;
    art_poses(a);
    int n = front_of_body(a, body, &top_from_body);
    return rigid_motion_to_b(&top_from_body, a->nodes[n].velocity);
}

vec6 articulated_body_acceleration(articulated *a, int body)
{
    rigid top_from_body;
    int n = front_of_body(a, body, &top_from_body);
    const art_node *node = &a->nodes[n];
    const join_data *j = &a->joins[n];
    vec6 acceleration = node->bias;
    vec6 force = {{0}};
    if (art_has_handle(&a->tree.nodes[n], 0))
        force = j->f[0];
    if (art_has_handle(&a->tree.nodes[n], 1))
        force = vec6_add(force, rigid_force_to_a(&node->top_from_1, j->f[1]));
    acceleration = vec6_add(acceleration, fast_apply(&j->phi_00, &force));
    acceleration = rigid_motion_to_b(&top_from_body, acceleration);
    /* put gravity back: the tree works with a - g */
    art_poses(a);
    mat3 turn = mat3_multiply(node->base_from_top.rotation, top_from_body.rotation);
    vec3 g = mat3_apply_transposed(turn, a->options.gravity);
    return vec6_add(acceleration, vec6_make((vec3){0, 0, 0}, g));
}

void articulated_lock_force(const articulated *a, int body, double *out)
{
    int p = a->tree.body_part[body], n = a->tree.parts[p].node;
    if (n < 0)
        return;
    const join_data *c = &a->joins[n];
    const join_joint *j = &a->nodes[n].join;
    vec6 f = c->f0;
    if (j->has_0)
        f = vec6_add(f, fast_apply(&c->p_0, &c->f[0]));
    if (j->has_1)
        f = vec6_add(f, fast_apply(&c->p_1, &c->f[1]));
    if (j->freedom == 1)
        out[0] = j->kind == JOIN_PRISMATIC ? f.v[5]
                                           : f.v[2] + (j->kind == JOIN_SCREW) * j->pitch * f.v[5];
    for (int i = 0; j->freedom > 1 && i < j->freedom; i++)
        out[i] = f.v[i];
}

double articulated_potential_energy(articulated *a)
{
    double sum = 0;
    for (int b = 1; b < a->model->body_count; b++) {
        const model_body *body = &a->model->bodies[b];
        pose at = articulated_body_pose(a, b);
        /* the first moment of mass is in the upper right block of the inertia: m c^ */
        vec3 moment = {body->inertia.m[2][4], body->inertia.m[0][5], body->inertia.m[1][3]};
        vec3 weighted = vec3_add_scaled(pose_rotate(at, moment), body->mass, at.origin);
        sum -= vec3_dot(weighted, a->options.gravity);
        const model_joint *joint = &a->model->joints[body->link];
        if (joint_v_count(joint->type) == 1) {
            double offset = a->q[joint->q] - a->reference[joint->v];
            sum += 0.5 * a->stiffness[joint->v] * offset * offset;
        } else if (joint->type == JOINT_SPHERICAL) {
            const double *q = a->q + joint->q;
            vec3 turn = quat_to_rotation_vector((quat){q[0], q[1], q[2], q[3]});
            sum += 0.5 * a->stiffness[joint->v] * vec3_length_squared(turn);
        }
    }
    return sum;
}
