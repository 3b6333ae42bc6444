/* How an articulated body takes part in mechanics: adaptive dynamics proposes, the active joints
 * are the unknowns of the contact programme. */
#include <stdlib.h>
#include <string.h>

#include "server/actor_articulated.h"

static const double STEP_MAX = 1e-3;       /* s, of the dynamics */
static const int64_t SELECT_NS = 10000000; /* between two choices of the active joints */
static const double KEEP = 2.0;            /* hysteresis of the choice */

/* A joint past its limit comes back at this speed at most, rad/s or m/s. */
static const double LIMIT_SPEED = 0.5;

/* Joints that turn or slide faster than this are held back: the dynamics' steps of 1 ms are not
 * made for more, and a step of mechanics turns a link by 0.16 rad then. */
static const double SPEED_MAX = 40; /* rad/s or m/s */

/* A change of velocity that is faster than this was a blow: no guess for the time to come. */
static const double BLOW = 30; /* m/s^2 */

bool articulated_mover_allocate(struct actor *a)
{
    const model *m = &a->model;
    size_t q = (size_t)m->q_count + 1, v = (size_t)m->v_count + 1;
    a->start = calloc(q, sizeof *a->start);
    a->end = calloc(q, sizeof *a->end);
    a->v = calloc(v, sizeof *a->v);
    a->joint_of = calloc(v, sizeof *a->joint_of);
    a->is_struck = calloc((size_t)m->body_count, sizeof *a->is_struck);
    if (!a->start || !a->end || !a->v || !a->joint_of || !a->is_struck)
        return false;
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        for (int k = 0; k < joint_v_count(joint->type); k++)
            a->joint_of[joint->v + k] = b;
    }
    return true;
}

void articulated_mover_free(struct actor *a)
{
    ccd_body_destroy(a->ccd);
    free(a->start);
    free(a->end);
    free(a->v);
    free(a->joint_of);
    free(a->is_struck);
}

static hr_status prepare(actor *a)
{
    a->ccd = ccd_body_create(&a->model, ASSEMBLY_BALANCED, a->world_from_base);
    if (!a->ccd)
        return HR_ERR_MEMORY;
    return ccd_body_place(a->ccd, articulated_q(a->dynamics));
}

static ccd_body *body(const actor *a)
{
    return a->ccd;
}

static double friction(const actor *a)
{
    return a->material.static_friction;
}

static bool is_pushed(const actor *a)
{
    (void)a;
    return true;
}

/* The mean force of the hand over the step, where it pushed. How the limb gives way meanwhile the
 * servo has already taken into account (proxy_yield.h). */
static void push_limb(actor *a, int body, const tool_sample *hand)
{
    pose at = pose_compose(a->world_from_base, articulated_body_pose(a->dynamics, body));
    vec3 force = pose_rotate_inverse(at, hand->force);
    vec3 arm = pose_apply_inverse(at, hand->point);
    (void)articulated_add_wrench(a->dynamics, body, vec6_make(vec3_cross(arm, force), force));
}

/* The forces of the hands on the limbs that they touch. */
static void push_limbs(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count)
{
    articulated_clear_wrenches(a->dynamics);
    for (int i = 0; i < hand_count; i++) {
        uint32_t index = hands[i].body_key - first_key;
        if (!hands[i].is_touching || hands[i].body_key < first_key ||
            index >= (uint32_t)a->limb_count || !vec3_is_finite(hands[i].force))
            continue;
        if (a->limbs[index].body > 0)
            push_limb(a, a->limbs[index].body, &hands[i]);
    }
}

/* A limb that is touched keeps its joint active, else hands and others would feel a rigid body. */
static void choose_joints(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count)
{
    for (int i = 0; i < a->limb_count; i++) {
        bool is_touched = false;
        for (int k = 0; k < hand_count; k++)
            is_touched = is_touched ||
                         (hands[k].is_touching && hands[k].body_key == first_key + (uint32_t)i);
        is_touched = is_touched || a->is_struck[a->limbs[i].body];
        if (is_touched != a->limbs[i].is_pinned && a->limbs[i].body > 0) {
            articulated_pin(a->dynamics, a->limbs[i].body, is_touched);
            a->limbs[i].is_pinned = is_touched;
        }
    }
    memset(a->is_struck, 0, (size_t)a->model.body_count * sizeof *a->is_struck);
    (void)articulated_select(a->dynamics,
                             (articulated_selection){.budget = a->budget, .hysteresis = KEEP});
}

static void hold_back(actor *a)
{
    const double *qd = articulated_qd(a->dynamics);
    bool is_too_fast = false;
    for (int i = 0; i < a->model.v_count; i++) {
        a->v[i] = fmax(-SPEED_MAX, fmin(qd[i], SPEED_MAX)); /* no number becomes the lower one */
        is_too_fast = is_too_fast || !(a->v[i] == qd[i]);
    }
    if (is_too_fast)
        articulated_set_velocity(a->dynamics, a->v);
}

/* The dynamics run in short steps from `start` to `end`; then the places go back to the start,
 * where the rows are made, and the velocities stay those after the forces. */
static void propose(actor *a, const mover_step *step, double *q1)
{
    size_t size = (size_t)a->model.q_count * sizeof *q1;
    int steps = (int)ceil(step->dt / STEP_MAX - 1e-9);
    steps = steps < 1 ? 1 : steps;
    double h = step->dt / steps;
    articulated_set_step(a->dynamics, h);
    if (a->budget > 0 && (!a->has_started || step->time_ns >= a->next_choice_ns)) {
        push_limbs(a, step->first_key, step->hands, step->hand_count);
        choose_joints(a, step->first_key, step->hands, step->hand_count);
        a->next_choice_ns = step->time_ns + SELECT_NS;
    }
    a->has_started = true;
    memcpy(a->start, articulated_q(a->dynamics), size);
    for (int k = 0; k < steps; k++) {
        push_limbs(a, step->first_key, step->hands, step->hand_count);
        articulated_step(a->dynamics);
        hold_back(a);
    }
    memcpy(a->end, articulated_q(a->dynamics), size);
    memmove(q1, a->end, size);
    articulated_set_place(a->dynamics, a->start);
}

static int freedom(const actor *a)
{
    int n = articulated_freedom(a->dynamics);
    return n <= MOVER_FREEDOM_MAX ? n : 0;
}

static void inertia(actor *a, double *k, double *v)
{
    const int32_t *unknowns = articulated_unknowns(a->dynamics);
    const double *qd = articulated_qd(a->dynamics);
    for (int i = 0; i < articulated_freedom(a->dynamics); i++)
        v[i] = qd[unknowns[i]];
    articulated_mass_matrix(a->dynamics, k);
}

static void columns(actor *a, int link, vec3 point, vec3 *out)
{
    int unknowns[MOVER_FREEDOM_MAX];
    vec3 moved[MOVER_FREEDOM_MAX];
    int n = articulated_freedom(a->dynamics);
    int count =
        articulated_jacobian(a->dynamics, link, pose_apply_inverse(a->world_from_base, point),
                             MOVER_FREEDOM_MAX, unknowns, moved);
    for (int i = 0; i < n; i++)
        out[i] = (vec3){0, 0, 0};
    for (int i = 0; i < count && count <= MOVER_FREEDOM_MAX; i++)
        out[unknowns[i]] = pose_rotate(a->world_from_base, moved[i]);
}

static double toward(double way, double dt)
{
    return way < 0 ? fmax(way / dt, -LIMIT_SPEED) : way / dt;
}

/* low <= q + dt (v + dv) <= high for joints that are near a limit. */
static int bounds(actor *a, double dt, mover_bound *out)
{
    const int32_t *unknowns = articulated_unknowns(a->dynamics);
    const double *qd = articulated_qd(a->dynamics);
    int count = 0;
    for (int i = 0; i < articulated_freedom(a->dynamics) && count < MOVER_BOUNDS_MAX; i++) {
        const model_joint *joint = &a->model.joints[a->model.bodies[a->joint_of[unknowns[i]]].link];
        if (!joint->has_limits || joint_v_count(joint->type) != 1)
            continue;
        double q = a->start[joint->q], v = qd[unknowns[i]], near = dt * (fabs(v) + 10);
        if (q > joint->lower + near && q < joint->upper - near)
            continue;
        out[count++] =
            (mover_bound){i, -toward(q - joint->lower, dt) - v, toward(joint->upper - q, dt) - v};
    }
    return count;
}

/* With contacts the places follow from the velocities at the end of the step, so that both keep
 * what the programme promised. */
static void correct(actor *a, const double *dv, double dt, double *q1)
{
    const model *m = &a->model;
    const int32_t *unknowns = articulated_unknowns(a->dynamics);
    memcpy(a->v, articulated_qd(a->dynamics), (size_t)m->v_count * sizeof *a->v);
    for (int i = 0; i < articulated_freedom(a->dynamics); i++)
        a->v[unknowns[i]] += dv[i];
    memcpy(q1, a->start, (size_t)m->q_count * sizeof *q1);
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        if (articulated_is_active(a->dynamics, b))
            joint_integrate(joint->type, q1 + joint->q, a->v + joint->v, dt);
    }
}

static vec3 guess(vec3 now, vec3 before, double dt, double radius)
{
    vec3 rate = vec3_scale(1 / dt, vec3_sub(now, before));
    return vec3_length(rate) * radius < BLOW ? rate : (vec3){0, 0, 0};
}

/* What the limbs went through in this step is the best guess for the time until the next. */
static void follow_limbs(actor *a, double dt)
{
    a->speed = 0;
    for (int i = 0; i < a->limb_count; i++) {
        limb *l = &a->limbs[i];
        twist now = limb_velocity(a, l);
        l->acceleration.linear = guess(now.linear, l->velocity.linear, dt, 1);
        l->acceleration.angular = guess(now.angular, l->velocity.angular, dt, l->radius);
        l->velocity = now;
        a->speed = fmax(a->speed, vec3_length(now.linear) + l->radius * vec3_length(now.angular));
    }
}

static void accept(actor *a, const double *q, const double *dv, double share, double dt)
{
    (void)share;
    articulated_set_place(a->dynamics, q);
    if (dv)
        articulated_add_velocity(a->dynamics, dv);
    hold_back(a);
    follow_limbs(a, dt);
}

void articulated_mover_step(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                            int64_t time_ns, double dt)
{
    if (!(dt > 0))
        return;
    mover_step step = {first_key, hands, hand_count, time_ns, dt};
    propose(a, &step, a->end);
    accept(a, a->end, NULL, 1, dt);
}

static void rest(actor *a)
{
    memset(a->v, 0, (size_t)a->model.v_count * sizeof *a->v);
    articulated_set_velocity(a->dynamics, a->v);
    for (int i = 0; i < a->limb_count; i++)
        a->limbs[i].velocity = a->limbs[i].acceleration = (twist){0};
    a->speed = 0;
}

static double speed(const actor *a)
{
    return a->speed;
}

static void strike(actor *a, int link)
{
    a->is_struck[link] = true;
}

const mover_class articulated_mover = {
    .prepare = prepare,
    .body = body,
    .friction = friction,
    .is_pushed = is_pushed,
    .propose = propose,
    .freedom = freedom,
    .inertia = inertia,
    .columns = columns,
    .bounds = bounds,
    .correct = correct,
    .rest = rest,
    .speed = speed,
    .strike = strike,
    .accept = accept,
};
