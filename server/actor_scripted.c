/* A body that stays where it is or moves by its script, whatever touches it. In mechanics it can
 * only be held up: where something cannot get out of its way the script waits. */
#include <stdlib.h>

#include "server/actor_kinds.h"
#include "server/collision_model.h"
#include "server/mover.h"
#include "server/script_motion.h"

struct actor {
    scene_body body;
    shape shape;
    collision_model collision;
    ccd_body *ccd; /* NULL where nothing can be pushed */
    bool has_started;
    int64_t start_ns;
    double waited; /* s, that the script was held up */
    double time;   /* s, of the script, at the end of the step that is being made */
    motion_state state;
    twist moving; /* over the step that is being made, world axes at its start */
};

static hr_status scripted_create(const scene *s, const scene_body *body, actor **out,
                                 hr_error *error)
{
    actor *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    a->body = *body;
    hr_status status = actor_shape_load(s, body, &a->shape, error);
    if (status != HR_OK) {
        free(a);
        return status;
    }
    a->state = script_motion_at(body, 0);
    *out = a;
    return HR_OK;
}

static void scripted_destroy(actor *a)
{
    if (a) {
        ccd_body_destroy(a->ccd);
        collision_model_free(&a->collision);
        actor_shape_free(&a->shape);
    }
    free(a);
}

static int scripted_body_count(const actor *a)
{
    (void)a;
    return 1;
}

static void scripted_body_shape(const actor *a, int index, shape *out)
{
    (void)index;
    *out = a->shape;
}

/* The script's time at the end of a step. */
static double end_of_step(actor *a, int64_t time_ns, double dt)
{
    if (!a->has_started) {
        a->start_ns = time_ns;
        a->has_started = true;
    }
    return (double)(time_ns - a->start_ns) * 1e-9 - a->waited + dt;
}

static void scripted_step(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                          int64_t time_ns, double dt)
{
    (void)first_key;
    (void)hands;
    (void)hand_count;
    a->state = script_motion_at(&a->body, end_of_step(a, time_ns, dt));
}

static void scripted_body_state(const actor *a, int index, actor_body *out)
{
    (void)index;
    out->world_from_body = a->state.world_from_body;
    out->velocity = a->state.velocity;
    out->acceleration = a->state.acceleration;
    out->material = actor_material(&a->body.material);
    out->radius = shape_bounding_radius(&a->shape);
}

static mat3 scripted_inverse_mass(const actor *a, int index, vec3 point)
{
    (void)a;
    (void)index;
    (void)point;
    return (mat3){0};
}

static double scripted_energy(const actor *a)
{
    (void)a;
    return 0;
}

/* --- mechanics ---------------------------------------------------------------------------------
 */

static hr_status scripted_prepare(actor *a)
{
    bool is_moving = a->body.motion != SCENE_FIXED;
    double q[7];
    hr_status status = collision_model_make(&a->shape, is_moving, &a->collision);
    if (status != HR_OK)
        return status;
    pose base = is_moving ? pose_identity() : a->state.world_from_body;
    a->ccd = ccd_body_create(&a->collision.model, ASSEMBLY_BALANCED, base);
    if (!a->ccd)
        return HR_ERR_MEMORY;
    ccd_body_set_radius(a->ccd, a->collision.radius);
    collision_model_coordinates(a->state.world_from_body, q);
    return is_moving ? ccd_body_place(a->ccd, q) : HR_OK;
}

static ccd_body *scripted_ccd(const actor *a)
{
    return a->ccd;
}

static double scripted_friction(const actor *a)
{
    return a->body.material.static_friction;
}

static bool scripted_is_pushed(const actor *a)
{
    (void)a;
    return false;
}

/* A script whose loop does not close jumps: that is no motion, and nothing to be proven. */
static bool is_a_jump(const actor *a, const motion_state *next, double dt)
{
    vec3 way = vec3_sub(next->world_from_body.origin, a->state.world_from_body.origin);
    double speed = fmax(vec3_length(a->state.velocity.linear), vec3_length(next->velocity.linear));
    return vec3_length(way) > 0.005 + 2 * speed * dt;
}

static void scripted_propose(actor *a, const mover_step *step, double *q1)
{
    if (a->body.motion == SCENE_FIXED)
        return;
    a->time = end_of_step(a, step->time_ns, step->dt);
    motion_state next = script_motion_at(&a->body, a->time);
    pose before = collision_model_pose(ccd_body_coordinates(a->ccd)), after = next.world_from_body;
    collision_model_coordinates(after, q1);
    a->moving = (twist){0};
    if (is_a_jump(a, &next, step->dt) && ccd_body_place(a->ccd, q1) == HR_OK)
        return;
    a->moving.linear = vec3_scale(1 / step->dt, vec3_sub(after.origin, before.origin));
    a->moving.angular = vec3_scale(
        1 / step->dt,
        quat_to_rotation_vector(quat_multiply(after.rotation, quat_conjugate(before.rotation))));
}

static double scripted_speed(const actor *a)
{
    double spin = vec3_length(a->moving.angular);
    double radius = spin > 0 ? shape_bounding_radius(&a->shape) : 0;
    return vec3_length(a->moving.linear) + spin * fmin(radius, 1);
}

static vec3 scripted_velocity(const actor *a, vec3 point)
{
    return twist_at(a->moving, collision_model_pose(ccd_body_coordinates(a->ccd)), point);
}

static void scripted_accept(actor *a, const double *q, const double *dv, double share, double dt)
{
    (void)dv;
    if (a->body.motion == SCENE_FIXED)
        return;
    a->waited += (1 - share) * dt;
    a->state = script_motion_at(&a->body, a->time - (1 - share) * dt);
    if (share < 1) {
        /* held up: it is where the proven path ends, and does not go on by itself */
        a->state.world_from_body = collision_model_pose(q);
        a->state.velocity = a->state.acceleration = (twist){0};
    }
}

static const mover_class scripted_mover = {
    .prepare = scripted_prepare,
    .body = scripted_ccd,
    .friction = scripted_friction,
    .is_pushed = scripted_is_pushed,
    .propose = scripted_propose,
    .speed = scripted_speed,
    .velocity = scripted_velocity,
    .accept = scripted_accept,
};

const actor_class actor_scripted = {
    .name = "scripted",
    .create = scripted_create,
    .destroy = scripted_destroy,
    .body_count = scripted_body_count,
    .body_shape = scripted_body_shape,
    .step = scripted_step,
    .body_state = scripted_body_state,
    .inverse_mass = scripted_inverse_mass,
    .energy = scripted_energy,
    .mover = &scripted_mover,
};
