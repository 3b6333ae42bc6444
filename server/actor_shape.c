#include "server/actor_kinds.h"

hr_status actor_shape_load(const scene *s, const scene_body *body, shape *out, hr_error *error)
{
    *out = (shape){.radius = body->radius_m,
                   .half_length = body->half_length_m,
                   .half_size = body->half_size_m};
    switch (body->shape) {
    case SCENE_PLANE:
        out->kind = SHAPE_PLANE;
        return HR_OK;
    case SCENE_SPHERE:
        out->kind = SHAPE_SPHERE;
        return HR_OK;
    case SCENE_ELLIPSOID:
        out->kind = SHAPE_ELLIPSOID;
        return HR_OK;
    case SCENE_CAPSULE:
        out->kind = SHAPE_CAPSULE;
        return HR_OK;
    case SCENE_BOX:
        out->kind = SHAPE_BOX;
        return HR_OK;
    default:
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected a shape that can be loaded, found one that "
                         "cannot",
                         s->file, body->line, body->name);
    }
}

void actor_shape_free(shape *s)
{
    *s = (shape){0};
}

frame_material actor_material(const scene_material *m)
{
    return (frame_material){.stiffness = m->stiffness_n_per_m,
                            .damping = m->damping_n_s_per_m,
                            .static_friction = m->static_friction,
                            .kinetic_friction = m->kinetic_friction};
}
