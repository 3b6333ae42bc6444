/* A cable over a cylinder: the elements are capsules that a hand can feel and push, the cylinder a
 * capsule that stays. The scene body's `file` names the set-up, "cable-pulley" (free ends, slips
 * off and is laid over again) or "cable-cylinder" (held at both ends); `scale` shrinks its lengths.
 * The cable's own frame has the cylinder along z and y upwards when it is not turned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/actor_kinds.h"
#include "solver/cable.h"

enum { PARTICLES = 41, ELEMENTS = PARTICLES - 1 };

struct actor {
    scene_body body;
    bool is_held;                           /* at both ends */
    double cylinder, radius, half_cylinder; /* m */
    vec3 start[PARTICLES];
    cable *cable;
    cable_settings settings;
    double half_length; /* of an element's capsule */
    double fallen;      /* height below which a free cable is laid over again, cable frame */
    cable_step_info info;
    quat turn[ELEMENTS]; /* cable frame from element, z along it, carried without spin */
};

/* Turns every element's frame the shortest way so that z lies along it. */
static void follow_elements(actor *a)
{
    const vec3 *x = cable_positions(a->cable);
    for (int i = 0; i < ELEMENTS; i++) {
        vec3 old = quat_rotate(a->turn[i], (vec3){0, 0, 1});
        vec3 now = vec3_normalize_or(vec3_sub(x[i + 1], x[i]), old);
        vec3 axis = vec3_cross(old, now);
        double sine = vec3_length(axis), angle = atan2(sine, vec3_dot(old, now));
        vec3 about = vec3_normalize_or(axis, vec3_any_perpendicular(old));
        quat more = quat_from_rotation_vector(vec3_scale(angle, about));
        a->turn[i] = quat_normalize(quat_multiply(more, a->turn[i]));
    }
}

static void start_frames(actor *a)
{
    for (int i = 0; i < ELEMENTS; i++)
        a->turn[i] = quat_identity();
    follow_elements(a);
}

static hr_status lay(actor *a)
{
    cable_destroy(a->cable);
    a->cable = cable_create(&a->settings, a->start);
    if (!a->cable)
        return HR_ERR_MEMORY;
    cable_obstacle o = {
        .is_cylinder = true, .radius = a->cylinder, .world_from_obstacle = pose_identity()};
    cable_add_obstacle(a->cable, &o);
    if (a->is_held) {
        cable_hold(a->cable, 0, true, (vec3){0, 0, 0});
        cable_hold(a->cable, PARTICLES - 1, true, (vec3){0, 0, 0});
    }
    start_frames(a);
    return HR_OK;
}

static void measure(actor *a, const scene *s)
{
    double scale = a->body.scale > 0 ? a->body.scale : 1.0;
    a->cylinder = scale * (a->is_held ? 0.25 : 0.15);
    a->radius = scale * 0.01;
    a->half_cylinder = scale * 0.5;
    double length = scale * (a->is_held ? 1.4 : 1.6);
    if (a->is_held)
        cable_shape_held(a->start, PARTICLES, scale * 0.6, length);
    else
        cable_shape_pulley(a->start, PARTICLES, a->cylinder, a->radius, length);
    for (int i = 0; i < PARTICLES; i++)
        a->start[i].z *= scale;
    a->half_length = 0.5 * length / ELEMENTS;
    a->fallen = -2.0 * length;
    a->settings = cable_settings_default();
    a->settings.radius = a->radius;
    a->settings.mass = a->body.mass_kg > 0 ? a->body.mass_kg : 1.0;
    a->settings.gravity = pose_rotate_inverse(a->body.world_from_body, s->gravity);
    a->settings.redetect = 1e-3 * a->radius;
    a->settings.skin = 5e-3 * a->radius;
    a->settings.obstacles = 1;
    /* a cable in air comes to rest within a second or so */
    a->settings.drag = a->settings.mass / PARTICLES;
    a->settings.damping = 0.5;
}

static hr_status cable_actor_create(const scene *s, const scene_body *body, actor **out,
                                    hr_error *error)
{
    bool is_held = strcmp(body->file, "cable-cylinder") == 0;
    if (!is_held && strcmp(body->file, "cable-pulley") != 0)
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected file \"cable-pulley\" or "
                         "\"cable-cylinder\", found \"%s\"",
                         s->file, body->line, body->name, body->file);
    actor *a = calloc(1, sizeof *a);
    hr_status status = HR_ERR_MEMORY;
    if (a) {
        a->body = *body;
        a->is_held = is_held;
        measure(a, s);
        status = lay(a);
    }
    if (status != HR_OK) {
        free(a);
        return error_set(error, status, "%s:%d: out of memory", s->file, body->line);
    }
    *out = a;
    return HR_OK;
}

static void cable_actor_destroy(actor *a)
{
    if (a)
        cable_destroy(a->cable);
    free(a);
}

static int cable_actor_body_count(const actor *a)
{
    (void)a;
    return ELEMENTS + 1;
}

static void cable_actor_body_shape(const actor *a, int index, shape *out)
{
    *out = (shape){.kind = SHAPE_CAPSULE, .radius = a->radius, .half_length = a->half_length};
    if (index == ELEMENTS) {
        out->radius = a->cylinder;
        out->half_length = a->half_cylinder;
    }
}

/* Where along element i the point is, 0..1. */
static double parameter_of(const actor *a, int i, vec3 point)
{
    const vec3 *x = cable_positions(a->cable);
    vec3 d = vec3_sub(x[i + 1], x[i]);
    double squared = vec3_length_squared(d);
    double t = squared > 0 ? vec3_dot(vec3_sub(point, x[i]), d) / squared : 0.5;
    return t < 0 ? 0.0 : t > 1 ? 1.0 : t;
}

static void push(actor *a, uint32_t first_key, const tool_sample *hand)
{
    if (!hand->is_touching || hand->body_key < first_key ||
        hand->body_key - first_key >= ELEMENTS || !vec3_is_finite(hand->force))
        return;
    int i = (int)(hand->body_key - first_key);
    pose frame = a->body.world_from_body;
    double t = parameter_of(a, i, pose_apply_inverse(frame, hand->point));
    vec3 force = pose_rotate_inverse(frame, hand->force);
    cable_push(a->cable, i, vec3_scale(1.0 - t, force));
    cable_push(a->cable, i + 1, vec3_scale(t, force));
}

static void cable_actor_step(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                             int64_t time_ns, double dt)
{
    (void)time_ns;
    for (int h = 0; h < hand_count; h++)
        push(a, first_key, &hands[h]);
    cable_step(a->cable, dt, &a->info);
    follow_elements(a);
    if (a->is_held)
        return;
    const vec3 *x = cable_positions(a->cable);
    for (int i = 0; i < PARTICLES; i++)
        if (x[i].y > a->fallen)
            return;
    cable_reset(a->cable, a->start);
    start_frames(a);
}

static void element_state(const actor *a, int i, actor_body *out)
{
    const vec3 *x = cable_positions(a->cable), *v = cable_velocities(a->cable);
    pose frame = a->body.world_from_body;
    vec3 d = vec3_sub(x[i + 1], x[i]), rate = vec3_sub(v[i + 1], v[i]);
    double squared = vec3_length_squared(d);
    pose frame_from_element = {a->turn[i], vec3_lerp(x[i], x[i + 1], 0.5)};
    out->world_from_body = pose_compose(frame, frame_from_element);
    out->velocity.linear = pose_rotate(frame, vec3_lerp(v[i], v[i + 1], 0.5));
    if (squared > 0)
        out->velocity.angular = pose_rotate(frame, vec3_scale(1.0 / squared, vec3_cross(d, rate)));
    out->radius = a->half_length + a->radius;
}

static void cable_actor_body_state(const actor *a, int index, actor_body *out)
{
    out->velocity = (twist){0};
    out->acceleration = (twist){0};
    out->material = actor_material(&a->body.material);
    if (index < ELEMENTS) {
        element_state(a, index, out);
        return;
    }
    out->world_from_body = a->body.world_from_body;
    out->radius = a->cylinder + a->half_cylinder;
}

static mat3 cable_actor_inverse_mass(const actor *a, int index, vec3 point)
{
    if (index >= ELEMENTS)
        return (mat3){0};
    pose frame = a->body.world_from_body;
    double t = parameter_of(a, index, pose_apply_inverse(frame, point));
    mat3 r = quat_to_mat3(frame.rotation);
    return mat3_multiply(mat3_multiply(r, cable_inverse_mass(a->cable, index, t)),
                         mat3_transpose(r));
}

static double cable_actor_energy(const actor *a)
{
    return cable_energy(a->cable);
}

const actor_class actor_cable = {
    .name = "cable",
    .create = cable_actor_create,
    .destroy = cable_actor_destroy,
    .body_count = cable_actor_body_count,
    .body_shape = cable_actor_body_shape,
    .step = cable_actor_step,
    .body_state = cable_actor_body_state,
    .inverse_mass = cable_actor_inverse_mass,
    .energy = cable_actor_energy,
};
