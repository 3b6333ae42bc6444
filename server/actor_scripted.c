/* A body that stays where it is or moves by its script, whatever touches it. */
#include <stdlib.h>

#include "server/actor_kinds.h"
#include "server/script_motion.h"

struct actor {
    scene_body body;
    shape shape;
    bool has_started;
    int64_t start_ns;
    motion_state state;
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
    if (a)
        actor_shape_free(&a->shape);
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

static void scripted_step(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                          int64_t time_ns, double dt)
{
    (void)first_key;
    (void)hands;
    (void)hand_count;
    if (!a->has_started) {
        a->start_ns = time_ns;
        a->has_started = true;
    }
    a->state = script_motion_at(&a->body, (double)(time_ns - a->start_ns) * 1e-9 + dt);
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
};
