/* A rigid body that falls, rests, slides, is pushed by hands and pushes others.
 * How it meets them is the mechanics' part (mechanics.h). */
#include <stdlib.h>

#include "server/actor_kinds.h"
#include "server/actor_mass.h"
#include "server/collision_model.h"
#include "server/mover.h"

/* Air: a body in no gravity comes to rest in a few seconds instead of leaving for good. */
static const double drag_rate = 0.5; /* 1/s */

/* Half a turn in 4 ms, which is as much as a step can tell apart, is 785 rad/s. */
static const double spin_max = 500; /* rad/s */

/* A change of velocity that is faster than this was a blow: no guess for the time to come. */
static const double blow = 30; /* m/s^2 */

enum { FREEDOM = 6 };

struct actor {
    scene_body body;
    shape shape;
    collision_model collision;
    ccd_body *ccd;
    double mass;   /* kg */
    vec3 inertia;  /* kg m^2, about the centre of mass, along its axes */
    double radius; /* m, of the sphere around the shape's origin */
    pose at;       /* of the centre of mass and the principal axes */
    pose shape_from_centre, centre_from_shape;
    vec3 velocity, spin; /* m/s, rad/s, world axes */
    twist acceleration;
    vec3 gravity;
    /* the step that is being made */
    double k[FREEDOM][FREEDOM];
    double wanted[FREEDOM]; /* velocity and spin after it */
    double dt;
};

static void free_destroy(actor *a)
{
    if (!a)
        return;
    ccd_body_destroy(a->ccd);
    collision_model_free(&a->collision);
    actor_shape_free(&a->shape);
    free(a);
}

static hr_status free_create(const scene *s, const scene_body *body, actor **out, hr_error *error)
{
    actor *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    a->body = *body;
    a->mass = body->mass_kg;
    a->gravity = s->gravity;
    actor_mass solid = {0};
    hr_status status = actor_shape_load(s, body, &a->shape, error);
    if (status == HR_OK)
        status = actor_mass_of(s, body, &a->shape, &solid, error);
    if (status != HR_OK) {
        free_destroy(a);
        return status;
    }
    a->inertia = solid.inertia;
    a->shape_from_centre = solid.shape_from_centre;
    a->centre_from_shape = pose_inverse(solid.shape_from_centre);
    a->at = pose_compose(body->world_from_body, solid.shape_from_centre);
    a->radius = shape_bounding_radius(&a->shape);
    *out = a;
    return HR_OK;
}

static int free_body_count(const actor *a)
{
    (void)a;
    return 1;
}

static void free_body_shape(const actor *a, int index, shape *out)
{
    (void)index;
    *out = a->shape;
}

static void free_body_state(const actor *a, int index, actor_body *out)
{
    (void)index;
    out->world_from_body = pose_compose(a->at, a->centre_from_shape);
    vec3 arm = vec3_sub(out->world_from_body.origin, a->at.origin);
    vec3 turning = vec3_cross(a->spin, arm);
    out->velocity = (twist){vec3_add(a->velocity, turning), a->spin};
    out->acceleration = a->acceleration;
    out->acceleration.linear =
        vec3_add(vec3_add(a->acceleration.linear, vec3_cross(a->spin, turning)),
                 vec3_cross(a->acceleration.angular, arm));
    out->material = actor_material(&a->body.material);
    out->radius = a->radius;
}

/* Spin that an angular impulse (world axes) adds. */
static vec3 spin_from(const actor *a, vec3 impulse)
{
    vec3 l = pose_rotate_inverse(a->at, impulse);
    return pose_rotate(a->at, (vec3){l.x / a->inertia.x, l.y / a->inertia.y, l.z / a->inertia.z});
}

/* K = 1/m - [r] I^-1 [r]: velocity of the point per impulse there. */
static mat3 free_inverse_mass(const actor *a, int index, vec3 point)
{
    (void)index;
    vec3 arm = vec3_sub(point, a->at.origin);
    vec3 columns[3];
    for (int i = 0; i < 3; i++) {
        vec3 e = {i == 0, i == 1, i == 2};
        vec3 turn = vec3_cross(spin_from(a, vec3_cross(arm, e)), arm);
        columns[i] = vec3_add_scaled(turn, 1 / a->mass, e);
    }
    return mat3_from_columns(columns[0], columns[1], columns[2]);
}

static double free_energy(const actor *a)
{
    vec3 w = pose_rotate_inverse(a->at, a->spin);
    double turning = a->inertia.x * w.x * w.x + a->inertia.y * w.y * w.y + a->inertia.z * w.z * w.z;
    return 0.5 * a->mass * vec3_length_squared(a->velocity) + 0.5 * turning -
           a->mass * vec3_dot(a->gravity, a->at.origin);
}

/* --- mechanics ---------------------------------------------------------------------------------
 */

static hr_status free_prepare(actor *a)
{
    double q[7];
    hr_status status = collision_model_make(&a->shape, true, &a->collision);
    if (status != HR_OK)
        return status;
    a->ccd = ccd_body_create(&a->collision.model, ASSEMBLY_BALANCED, pose_identity());
    if (!a->ccd)
        return HR_ERR_MEMORY;
    ccd_body_set_radius(a->ccd, a->collision.radius);
    collision_model_coordinates(pose_compose(a->at, a->centre_from_shape), q);
    return ccd_body_place(a->ccd, q);
}

static ccd_body *free_ccd(const actor *a)
{
    return a->ccd;
}

static double free_friction(const actor *a)
{
    return a->body.material.static_friction;
}

static bool free_is_pushed(const actor *a)
{
    (void)a;
    return true;
}

static int free_freedom(const actor *a)
{
    (void)a;
    return FREEDOM;
}

/* Torque-free turn over dt, by its own axes: one Newton step of the implicit equation
 * I (w' - w) + dt w' x I w' = 0, which never gains energy. */
static vec3 turn_freely(const actor *a, double dt)
{
    vec3 w = pose_rotate_inverse(a->at, a->spin);
    mat3 inertia = {{{a->inertia.x, 0, 0}, {0, a->inertia.y, 0}, {0, 0, a->inertia.z}}};
    vec3 l = mat3_apply(inertia, w);
    mat3 slope = mat3_add(mat3_multiply(mat3_skew(w), inertia), mat3_scale(-1, mat3_skew(l)));
    mat3 inverse, whole = mat3_add(inertia, mat3_scale(dt, slope));
    if (mat3_inverse(whole, &inverse) != HR_OK)
        return a->spin;
    vec3 change = mat3_apply(inverse, vec3_scale(-dt, vec3_cross(w, l)));
    return pose_rotate(a->at, vec3_add(w, change));
}

static void set_inertia(actor *a)
{
    mat3 turn = quat_to_mat3(a->at.rotation);
    mat3 own = {{{a->inertia.x, 0, 0}, {0, a->inertia.y, 0}, {0, 0, a->inertia.z}}};
    mat3 world = mat3_multiply(mat3_multiply(turn, own), mat3_transpose(turn));
    for (int i = 0; i < FREEDOM; i++)
        for (int j = 0; j < FREEDOM; j++)
            a->k[i][j] = i >= 3 && j >= 3 ? world.m[i - 3][j - 3] : i == j ? a->mass : 0;
}

/* The mean force of the hand over the step. How the body gives way meanwhile the servo has already
 * taken into account (proxy_yield.h). */
static void push(const actor *a, const tool_sample *hand, double *impulse)
{
    vec3 force = vec3_scale(a->dt, hand->force);
    vec3 moment = vec3_cross(vec3_sub(hand->point, a->at.origin), force);
    const double row[FREEDOM] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int i = 0; i < FREEDOM; i++)
        impulse[i] += row[i];
}

/* Solves k x = b; k is symmetric positive definite. b becomes x. */
static void solve(const double k[FREEDOM][FREEDOM], double *b)
{
    double l[FREEDOM][FREEDOM];
    for (int i = 0; i < FREEDOM; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = k[i][j];
            for (int n = 0; n < j; n++)
                sum -= l[i][n] * l[j][n];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        for (int n = 0; n < i; n++)
            b[i] -= l[i][n] * b[n];
        b[i] /= l[i][i];
    }
    for (int i = FREEDOM - 1; i >= 0; i--) {
        for (int n = i + 1; n < FREEDOM; n++)
            b[i] -= l[n][i] * b[n];
        b[i] /= l[i][i];
    }
}

/* Where velocity and spin, with dv added, lead. */
static void free_correct(actor *a, const double *dv, double dt, double *q1)
{
    double u[FREEDOM];
    for (int i = 0; i < FREEDOM; i++)
        u[i] = a->wanted[i] + (dv ? dv[i] : 0);
    twist v = {{u[0], u[1], u[2]}, vec3_clamp_length((vec3){u[3], u[4], u[5]}, spin_max)};
    pose end = pose_advance(a->at, v, (twist){0}, dt);
    collision_model_coordinates(pose_compose(end, a->centre_from_shape), q1);
}

static void free_propose(actor *a, const mover_step *step, double *q1)
{
    double impulse[FREEDOM] = {0}, keep = 1 - drag_rate * step->dt;
    a->dt = step->dt;
    set_inertia(a);
    for (int i = 0; i < step->hand_count; i++)
        if (step->hands[i].is_touching && step->hands[i].body_key == step->first_key &&
            vec3_is_finite(step->hands[i].force) && vec3_is_finite(step->hands[i].point))
            push(a, &step->hands[i], impulse);
    vec3 v = vec3_add_scaled(a->velocity, a->dt, a->gravity), w = turn_freely(a, a->dt);
    v = vec3_scale(keep, v);
    w = vec3_clamp_length(vec3_scale(keep, w), spin_max);
    solve((const double(*)[FREEDOM])a->k, impulse);
    const double sum[FREEDOM] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int i = 0; i < FREEDOM; i++)
        a->wanted[i] = sum[i] + impulse[i];
    free_correct(a, NULL, a->dt, q1);
}

static void free_inertia(actor *a, double *k, double *v)
{
    for (int i = 0; i < FREEDOM; i++) {
        v[i] = a->wanted[i];
        for (int j = 0; j < FREEDOM; j++)
            k[i * FREEDOM + j] = a->k[i][j];
    }
}

static void free_columns(actor *a, int link, vec3 point, vec3 *out)
{
    (void)link;
    vec3 arm = vec3_sub(point, a->at.origin);
    for (int i = 0; i < 3; i++) {
        vec3 e = {i == 0, i == 1, i == 2};
        out[i] = e;
        out[3 + i] = vec3_cross(e, arm);
    }
}

static double free_speed(const actor *a)
{
    return vec3_length(a->velocity) + a->radius * vec3_length(a->spin);
}

static void free_rest(actor *a)
{
    a->velocity = a->spin = (vec3){0, 0, 0};
    a->acceleration = (twist){0};
}

/* What it went through in this step is the best guess for the time until the next. */
static vec3 guess(vec3 now, vec3 before, double dt, double radius)
{
    vec3 rate = vec3_scale(1 / dt, vec3_sub(now, before));
    return vec3_length(rate) * radius < blow ? rate : (vec3){0, 0, 0};
}

static void free_accept(actor *a, const double *q, const double *dv, double share, double dt)
{
    (void)share;
    double u[FREEDOM];
    for (int i = 0; i < FREEDOM; i++)
        u[i] = a->wanted[i] + (dv ? dv[i] : 0);
    vec3 v = {u[0], u[1], u[2]}, w = vec3_clamp_length((vec3){u[3], u[4], u[5]}, spin_max);
    a->acceleration.linear = guess(v, a->velocity, dt, 1);
    a->acceleration.angular = guess(w, a->spin, dt, a->radius);
    a->velocity = v;
    a->spin = w;
    a->at = pose_compose(collision_model_pose(q), a->shape_from_centre);
}

static const mover_class free_mover = {
    .prepare = free_prepare,
    .body = free_ccd,
    .friction = free_friction,
    .is_pushed = free_is_pushed,
    .propose = free_propose,
    .freedom = free_freedom,
    .inertia = free_inertia,
    .columns = free_columns,
    .correct = free_correct,
    .rest = free_rest,
    .speed = free_speed,
    .accept = free_accept,
};

const actor_class actor_free = {
    .name = "free",
    .create = free_create,
    .destroy = free_destroy,
    .body_count = free_body_count,
    .body_shape = free_body_shape,
    .body_state = free_body_state,
    .inverse_mass = free_inverse_mass,
    .energy = free_energy,
    .mover = &free_mover,
};
