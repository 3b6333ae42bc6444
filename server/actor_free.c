/* A rigid body that the hand can push: it falls, rests and slides on whatever in
 * the scene is fixed or scripted. Free bodies do not feel each other.
 *
 * Each step is cut into short ones. In each: gravity and the hand's push change the velocity; then
 * impulses at the touching points stop it from going in (projected Gauss-Seidel with Coulomb's
 * cone); then the pose moves. What is left of an overlap is taken away slowly. */
#include <stdlib.h>

#include "server/actor_kinds.h"
#include "server/actor_mass.h"
#include "server/records.h"
#include "server/script_motion.h"

enum { SUBSTEPS = 4, POINTS_MAX = 8, CONTACTS_MAX = 32, SWEEPS = 12 };

/* Speed at which an overlap is taken away, per metre of it. */
static const double push_out_rate = 40.0; /* 1/s */
static const double slop = 2e-5;          /* m, of overlap that is left in peace */

/* Air: a body in no gravity comes to rest in a few seconds instead of leaving for good. */
static const double drag_rate = 0.5; /* 1/s */

/* A ball of a body by which it touches others; radius 0 is a corner. Body frame. */
typedef struct feeler {
    vec3 centre;
    double radius;
} feeler;

typedef struct touch {
    vec3 arm;      /* m, world axes, from the body's centre */
    vec3 normal;   /* unit, world, out of the other body */
    vec3 velocity; /* m/s, of the other body's surface */
    double gap;    /* m */
    double friction;
    double push; /* N s, so far */
    vec3 rub;    /* N s, so far */
} touch;

/* Something that stands or moves by its script. */
typedef struct obstacle {
    shape shape;
    int body; /* in the scene */
    motion_state now;
} obstacle;

struct actor {
    scene scene;
    scene_body body;
    shape shape;
    double mass;  /* kg */
    vec3 inertia; /* kg m^2, about the centre of mass, body axes */
    pose at;      /* of the centre of mass and the principal axes */
    pose shape_from_centre;
    vec3 velocity, spin; /* m/s, rad/s, world axes */
    twist acceleration;
    vec3 gravity;
    int feeler_count;
    feeler feelers[POINTS_MAX];
    int obstacle_count;
    obstacle *obstacles;
    bool has_started;
    int64_t start_ns;
};

/* The places of a surface that stick out furthest stand for it against others. */
static void feel_corners(actor *a, const mesh *surface)
{
    for (int i = 0; i < POINTS_MAX; i++) {
        vec3 way = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1}, best = {0, 0, 0};
        double most = -(double)INFINITY;
        for (int k = 0; k < surface->vertex_count; k++) {
            vec3 v = pose_apply_inverse(a->shape_from_centre, surface->vertices[k]);
            double reach = vec3_dot(way, v);
            best = reach > most ? v : best;
            most = fmax(reach, most);
        }
        a->feelers[a->feeler_count++] = (feeler){best, 0};
    }
}

static void place_feelers(actor *a)
{
    const scene_body *b = &a->body;
    mesh surface = {0};
    if (b->shape == SCENE_MESH || b->shape == SCENE_BODY) {
        if (actor_surface_triangles(&a->shape, &surface) == HR_OK)
            feel_corners(a, &surface);
        mesh_free(&surface);
    } else if (b->shape == SCENE_BOX) {
        for (int i = 0; i < 8; i++) {
            vec3 h = b->half_size_m;
            vec3 corner = {i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
            a->feelers[a->feeler_count++] = (feeler){corner, 0};
        }
    } else if (b->shape == SCENE_CAPSULE) {
        for (int i = -1; i <= 1; i++)
            a->feelers[a->feeler_count++] = (feeler){{0, 0, i * b->half_length_m}, b->radius_m};
    } else {
        a->feelers[a->feeler_count++] = (feeler){{0, 0, 0}, b->radius_m};
    }
}

static hr_status find_obstacles(actor *a, hr_error *error)
{
    a->obstacles = calloc((size_t)a->scene.body_count + 1, sizeof *a->obstacles);
    if (!a->obstacles)
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory", a->scene.file);
    for (int i = 0; i < a->scene.body_count; i++) {
        const scene_body *b = &a->scene.bodies[i];
        bool is_simple = b->shape <= SCENE_BOX;
        if (b->motion == SCENE_FREE || !is_simple)
            continue;
        obstacle *o = &a->obstacles[a->obstacle_count];
        hr_status status = actor_shape_load(&a->scene, b, &o->shape, error);
        if (status != HR_OK)
            return status;
        o->body = i;
        a->obstacle_count++;
    }
    return HR_OK;
}

static void free_destroy(actor *a)
{
    if (!a)
        return;
    actor_shape_free(&a->shape);
    free(a->obstacles);
    free(a);
}

static hr_status free_create(const scene *s, const scene_body *body, actor **out, hr_error *error)
{
    actor *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    a->scene = *s;
    a->body = *body;
    a->mass = body->mass_kg;
    a->gravity = s->gravity;
    actor_mass solid = {0};
    hr_status status = actor_shape_load(s, body, &a->shape, error);
    if (status == HR_OK)
        status = actor_mass_of(s, body, &a->shape, &solid, error);
    a->inertia = solid.inertia;
    a->shape_from_centre = solid.shape_from_centre;
    a->at = pose_compose(body->world_from_body, solid.shape_from_centre);
    if (status == HR_OK) {
        place_feelers(a);
        status = find_obstacles(a, error);
    }
    if (status != HR_OK) {
        free_destroy(a);
        return status;
    }
    *out = a;
    return HR_OK;
}

/* Spin that an angular impulse (world axes) adds. */
static vec3 spin_from(const actor *a, vec3 impulse)
{
    vec3 l = pose_rotate_inverse(a->at, impulse);
    return pose_rotate(a->at, (vec3){l.x / a->inertia.x, l.y / a->inertia.y, l.z / a->inertia.z});
}

static void apply_impulse(actor *a, vec3 arm, vec3 impulse)
{
    a->velocity = vec3_add_scaled(a->velocity, 1 / a->mass, impulse);
    a->spin = vec3_add(a->spin, spin_from(a, vec3_cross(arm, impulse)));
}

static double yield(const actor *a, vec3 arm, vec3 direction)
{
    vec3 turn = vec3_cross(spin_from(a, vec3_cross(arm, direction)), arm);
    return 1 / a->mass + vec3_dot(turn, direction);
}

/* An ellipsoid touches a plane in its lowest point; against other shapes its centre ball of the
 * least semi-axis stands for it. */
static feeler ellipsoid_feeler(const actor *a, const obstacle *o)
{
    vec3 h = a->body.half_size_m;
    if (o->shape.kind != SHAPE_PLANE)
        return (feeler){{0, 0, 0}, fmin(h.x, fmin(h.y, h.z))};
    vec3 up = pose_rotate(o->now.world_from_body, (vec3){0, 0, 1});
    vec3 n = pose_rotate_inverse(a->at, up);
    vec3 scaled = {h.x * n.x, h.y * n.y, h.z * n.z};
    double length = fmax(vec3_length(scaled), 1e-12);
    return (feeler){{-h.x * scaled.x / length, -h.y * scaled.y / length, -h.z * scaled.z / length},
                    0};
}

static bool touch_at(const actor *a, const obstacle *o, feeler f, touch *out)
{
    vec3 centre = pose_apply(a->at, f.centre);
    shape_tracker tracker = {0};
    shape_contact c;
    vec3 local = pose_apply_inverse(o->now.world_from_body, centre);
    double reach = f.radius + 0.002;
    if (!shape_follow(&o->shape, &tracker, local, (vec3){0, 0, 0}, 0, reach, &c, 1))
        return false;
    const scene_material *m = &a->scene.bodies[o->body].material;
    vec3 normal = pose_rotate(o->now.world_from_body, c.normal);
    vec3 point = vec3_add_scaled(centre, -f.radius, normal);
    *out = (touch){.arm = vec3_sub(point, a->at.origin),
                   .normal = normal,
                   .velocity = twist_at(o->now.velocity, o->now.world_from_body, point),
                   .gap = c.gap - f.radius,
                   .friction = fmax(m->static_friction, a->body.material.static_friction)};
    return true;
}

static int find_touches(const actor *a, touch *out)
{
    int count = 0;
    for (int i = 0; i < a->obstacle_count; i++) {
        const obstacle *o = &a->obstacles[i];
        for (int k = 0; k < a->feeler_count && count < CONTACTS_MAX; k++) {
            feeler f = a->body.shape == SCENE_ELLIPSOID ? ellipsoid_feeler(a, o) : a->feelers[k];
            count += touch_at(a, o, f, &out[count]);
        }
    }
    return count;
}

/* One contact's impulses brought up to date with the velocity of now. */
static void settle(actor *a, touch *t, double dt)
{
    vec3 v = vec3_sub(vec3_add(a->velocity, vec3_cross(a->spin, t->arm)), t->velocity);
    /* It may come as near as the gap; out of an overlap it is helped, slowly. */
    double allowed = t->gap > 0 ? -t->gap / dt : push_out_rate * fmax(0, -t->gap - slop);
    double wanted = (allowed - vec3_dot(v, t->normal)) / yield(a, t->arm, t->normal);
    double push = fmax(0, t->push + wanted);
    apply_impulse(a, t->arm, vec3_scale(push - t->push, t->normal));
    t->push = push;

    v = vec3_sub(vec3_add(a->velocity, vec3_cross(a->spin, t->arm)), t->velocity);
    vec3 slip = vec3_reject(v, t->normal);
    double speed = vec3_length(slip);
    if (!(speed > 1e-12))
        return;
    vec3 along = vec3_scale(1 / speed, slip);
    vec3 rub = vec3_add_scaled(t->rub, -speed / yield(a, t->arm, along), along);
    rub = vec3_clamp_length(rub, t->friction * t->push);
    apply_impulse(a, t->arm, vec3_sub(rub, t->rub));
    t->rub = rub;
}

static void substep(actor *a, uint32_t key, const tool_sample *hands, int n, double dt)
{
    a->velocity = vec3_add_scaled(a->velocity, dt, a->gravity);
    for (int i = 0; i < n; i++)
        if (hands[i].is_touching && hands[i].body_key == key)
            apply_impulse(a, vec3_sub(hands[i].point, a->at.origin),
                          vec3_scale(dt, hands[i].force));
    /* Gyroscopic turn, by the body's own axes. */
    vec3 w = pose_rotate_inverse(a->at, a->spin);
    vec3 l = {a->inertia.x * w.x, a->inertia.y * w.y, a->inertia.z * w.z};
    vec3 moment = pose_rotate(a->at, vec3_cross(l, w));
    a->spin = vec3_add(a->spin, spin_from(a, vec3_scale(dt, moment)));
    double keep = 1 - drag_rate * dt;
    a->velocity = vec3_scale(keep, a->velocity);
    a->spin = vec3_scale(keep, a->spin);

    touch touches[CONTACTS_MAX];
    int count = find_touches(a, touches);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < count; i++)
            settle(a, &touches[i], dt);
    a->at = pose_advance(a->at, (twist){a->velocity, a->spin}, (twist){0}, dt);
}

static void free_step(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                      int64_t time_ns, double dt)
{
    if (!a->has_started) {
        a->start_ns = time_ns;
        a->has_started = true;
    }
    double start = (double)(time_ns - a->start_ns) * 1e-9;
    vec3 velocity = a->velocity, spin = a->spin;
    for (int k = 1; k <= SUBSTEPS; k++) {
        for (int i = 0; i < a->obstacle_count; i++) {
            obstacle *o = &a->obstacles[i];
            o->now = script_motion_at(&a->scene.bodies[o->body], start + dt * k / SUBSTEPS);
        }
        substep(a, first_key, hands, hand_count, dt / SUBSTEPS);
    }
    /* What it went through in this step is the best guess for the time until the next. */
    a->acceleration.linear = vec3_scale(1 / dt, vec3_sub(a->velocity, velocity));
    a->acceleration.angular = vec3_scale(1 / dt, vec3_sub(a->spin, spin));
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
    out->world_from_body = pose_compose(a->at, pose_inverse(a->shape_from_centre));
    vec3 arm = vec3_sub(out->world_from_body.origin, a->at.origin);
    vec3 turning = vec3_cross(a->spin, arm);
    out->velocity = (twist){vec3_add(a->velocity, turning), a->spin};
    out->acceleration = a->acceleration;
    out->acceleration.linear =
        vec3_add(vec3_add(a->acceleration.linear, vec3_cross(a->spin, turning)),
                 vec3_cross(a->acceleration.angular, arm));
    out->material = actor_material(&a->body.material);
    out->radius = shape_bounding_radius(&a->shape);
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

const actor_class actor_free = {
    .name = "free",
    .create = free_create,
    .destroy = free_destroy,
    .body_count = free_body_count,
    .body_shape = free_body_shape,
    .step = free_step,
    .body_state = free_body_state,
    .inverse_mass = free_inverse_mass,
    .energy = free_energy,
};
