/* An articulated body: adaptive dynamics moves it, hands push its links. The scene body's `file` is
 * a URDF or the name of a mechanism that the program makes itself (geometry/model_make.h); `scale`
 * scales its lengths, `mass_kg` (where given) sets the mass of all that moves, `active_joints` is
 * the budget. A free body hangs by its joints alone; one that is not free holds its pose by
 * springs. Every body is felt by its meshes (server/link_shape.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/model_make.h"
#include "geometry/urdf.h"
#include "server/actor_articulated.h"
#include "server/link_shape.h"

/* A pose held by springs comes back at this pace, without swinging long. */
static const double HOLD_RATE = 9.0;    /* rad/s, about 1.5 Hz */
static const double HOLD_DAMPING = 0.6; /* of critical */

/* Air and bearings: the body's own dampers may be none or far too strong for its size. */
static const double FREE_RATE = 0.5; /* 1/s */

/* Joints that a body with more freedom than mechanics can take may move at once. */
enum { BUDGET_MAX = MOVER_FREEDOM_MAX / 3 };

static const double STEP_MAX = 1e-3; /* s, of the dynamics */
static const double PREDICT = 0.02;  /* s, horizon of the metric */

static hr_status load_model(const scene *s, const scene_body *b, model *out, hr_error *error)
{
    const char *name = strrchr(b->file, '/');
    hr_status status = model_make(name ? name + 1 : b->file, out);
    if (status == HR_ERR_NOT_FOUND) {
        urdf_options how = {.meshes = URDF_LOAD_MESHES};
        return urdf_load(b->file, how, out, error);
    }
    if (status != HR_OK)
        return error_set(error, status, "%s:%d: out of memory", s->file, b->line);
    return HR_OK;
}

static hr_status fit_to_scene(const scene *s, const scene_body *b, model *m, hr_error *error)
{
    double moving = 0, length = b->scale > 0 ? b->scale : 1;
    for (int i = 1; i < m->body_count; i++)
        moving += m->bodies[i].mass;
    double mass = b->mass_kg > 0 && moving > 0 ? b->mass_kg / moving : length * length * length;
    if (m->body_count < 2 || model_scale(m, length, mass) != HR_OK)
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected a model with joints that move, found %s",
                         s->file, b->line, b->name, b->file);
    return HR_OK;
}

/* What is odd about the model is told with the place that names it. */
typedef struct origin {
    const scene *scene;
    const scene_body *body;
} origin;

static void warn(void *context, const char *text)
{
    const origin *o = context;
    fprintf(stderr, "warning: %s:%d: body \"%s\": %s\n", o->scene->file, o->body->line,
            o->body->name, text);
}

/* HR_OK also for a body without meshes, which then has no limb. */
static hr_status make_limb(actor *a, int body, origin *from)
{
    limb l = {.body = body};
    hr_status status = link_shape_make(&a->model, body, warn, from, &l.shape, &l.body_from_shape);
    l.radius = shape_bounding_radius(&l.shape);
    if (status == HR_OK)
        a->limbs[a->limb_count++] = l;
    return status == HR_ERR_NOT_FOUND ? HR_OK : status;
}

/* The coordinate nearest to zero that the limits allow; for joints of one degree of freedom. */
static double rest_of(const model_joint *joint)
{
    if (!joint->has_limits)
        return 0;
    return joint->lower > 0 ? joint->lower : joint->upper < 0 ? joint->upper : 0;
}

static bool start_at_rest(actor *a)
{
    const model *m = &a->model;
    double *state = calloc((size_t)m->q_count + (size_t)m->v_count + 1, sizeof *state);
    if (!state)
        return false;
    model_zero_coordinates(m, state);
    for (int i = 1; i < m->link_count; i++)
        if (joint_q_count(m->joints[i].type) == 1)
            state[m->joints[i].q] = rest_of(&m->joints[i]);
    articulated_set_state(a->dynamics, state, state + m->q_count);
    free(state);
    return true;
}

/* The inertia about each joint of all that hangs on it, at rest: springs and dampers in its terms
 * feel alike at the shoulder and at the finger. */
static bool tune_joints(actor *a, bool is_held)
{
    const model *m = &a->model;
    mat6 *outboard = calloc((size_t)m->body_count, sizeof *outboard);
    double *q = calloc((size_t)m->q_count + 1, sizeof *q);
    bool is_good = outboard && q;
    if (is_good)
        model_zero_coordinates(m, q);
    for (int b = m->body_count - 1; is_good && b > 0; b--) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        vec6 columns[JOINT_V_MAX];
        mat6_add(&outboard[b], &m->bodies[b].inertia, &outboard[b]);
        joint_subspace(joint, columns);
        for (int k = 0; k < joint_v_count(joint->type) && joint->type != JOINT_FLOATING; k++) {
            double inertia = vec6_dot(columns[k], mat6_apply(&outboard[b], columns[k]));
            double rate = is_held ? 2 * HOLD_DAMPING * HOLD_RATE : FREE_RATE;
            articulated_set_damping(a->dynamics, joint->v + k, rate * inertia);
            if (is_held)
                articulated_set_spring(a->dynamics, joint->v + k, HOLD_RATE * HOLD_RATE * inertia,
                                       rest_of(joint));
        }
        rigid place = rigid_from_pose(model_body_joint_pose(m, b, q));
        mat6 x, flipped, shifted;
        rigid_motion_matrix(&place, &x);
        mat6_transpose(&x, &flipped);
        mat6_multiply(&outboard[b], &x, &shifted);
        mat6_multiply(&flipped, &shifted, &shifted);
        int parent = m->bodies[b].parent;
        mat6_add(&outboard[parent], &shifted, &outboard[parent]);
    }
    free(outboard);
    free(q);
    return is_good;
}

static void articulated_actor_destroy(actor *a)
{
    if (!a)
        return;
    articulated_mover_free(a);
    articulated_destroy(a->dynamics);
    model_free(&a->model);
    for (int i = 0; i < a->limb_count; i++)
        actor_shape_free(&a->limbs[i].shape);
    free(a->limbs);
    free(a);
}

static hr_status set_up(actor *a, const scene *s, const scene_body *b)
{
    articulated_options how = {.gravity = pose_rotate_inverse(b->world_from_body, s->gravity),
                               .step_s = STEP_MAX,
                               .use_limits = true};
    a->world_from_base = b->world_from_body;
    a->material = actor_material(&b->material);
    a->budget = b->active_joints;
    if (a->model.v_count > MOVER_FREEDOM_MAX && (a->budget <= 0 || a->budget > BUDGET_MAX))
        a->budget = BUDGET_MAX;
    a->limbs = calloc((size_t)a->model.body_count, sizeof *a->limbs);
    a->dynamics = articulated_create(&a->model, &how);
    if (!a->limbs || !a->dynamics || !articulated_mover_allocate(a) ||
        !tune_joints(a, b->motion != SCENE_FREE) || !start_at_rest(a))
        return HR_ERR_MEMORY;
    origin from = {s, b};
    for (int i = 0; i < a->model.body_count; i++)
        if (make_limb(a, i, &from) != HR_OK)
            return HR_ERR_MEMORY;
    if (a->budget > 0)
        articulated_use_metric(a->dynamics, articulated_metric_over(PREDICT));
    return HR_OK;
}

static hr_status articulated_actor_create(const scene *s, const scene_body *body, actor **out,
                                          hr_error *error)
{
    actor *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    hr_status status = load_model(s, body, &a->model, error);
    if (status == HR_OK)
        status = fit_to_scene(s, body, &a->model, error);
    if (status == HR_OK) {
        status = set_up(a, s, body);
        if (status != HR_OK)
            error_set(error, status, "%s:%d: out of memory", s->file, body->line);
    }
    if (status != HR_OK) {
        articulated_actor_destroy(a);
        return status;
    }
    *out = a;
    return HR_OK;
}

static int articulated_actor_body_count(const actor *a)
{
    return a->limb_count;
}

static void articulated_actor_body_shape(const actor *a, int index, shape *out)
{
    *out = a->limbs[index].shape;
}

pose limb_pose(const actor *a, const limb *l)
{
    pose base_from_body = articulated_body_pose(a->dynamics, l->body);
    return pose_compose(a->world_from_base, pose_compose(base_from_body, l->body_from_shape));
}

/* Velocity of the shape's origin, world axes. */
twist limb_velocity(const actor *a, const limb *l)
{
    rigid place = rigid_from_pose(l->body_from_shape);
    vec6 v = rigid_motion_to_b(&place, articulated_body_velocity(a->dynamics, l->body));
    pose at = limb_pose(a, l);
    return (twist){pose_rotate(at, vec6_linear(v)), pose_rotate(at, vec6_angular(v))};
}

static void articulated_actor_body_state(const actor *a, int index, actor_body *out)
{
    const limb *l = &a->limbs[index];
    out->world_from_body = limb_pose(a, l);
    out->velocity = l->velocity;
    out->acceleration = l->acceleration;
    out->material = a->material;
    out->radius = l->radius;
}

static mat3 articulated_actor_inverse_mass(const actor *a, int index, vec3 point)
{
    int body = a->limbs[index].body;
    mat3 none = {{{0}}};
    if (body == 0)
        return none;
    mat3 turn = quat_to_mat3(a->world_from_base.rotation);
    mat3 in_base =
        articulated_inverse_mass(a->dynamics, body, pose_apply_inverse(a->world_from_base, point));
    return mat3_multiply(mat3_multiply(turn, in_base), mat3_transpose(turn));
}

static double articulated_actor_energy(const actor *a)
{
    return articulated_kinetic_energy(a->dynamics) + articulated_potential_energy(a->dynamics);
}

const actor_class actor_articulated = {
    .name = "articulated",
    .create = articulated_actor_create,
    .destroy = articulated_actor_destroy,
    .body_count = articulated_actor_body_count,
    .body_shape = articulated_actor_body_shape,
    .step = articulated_mover_step,
    .body_state = articulated_actor_body_state,
    .inverse_mass = articulated_actor_inverse_mass,
    .energy = articulated_actor_energy,
    .mover = &articulated_mover,
};
