#include <stdlib.h>

#include "geometry/parametric_body.h"
#include "server/actor_kinds.h"

/* The file's own message is the best; it names its line. */
static hr_status load_surface(const scene *s, const scene_body *body, shape *out, hr_error *error)
{
    parametric_body *surface = calloc(1, sizeof *surface);
    if (!surface)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    hr_status status = parametric_body_load(body->file, surface, error);
    if (status == HR_OK && surface->is_planar)
        status = error_set(error, HR_ERR_FORMAT,
                           "%s:%d: body \"%s\": expected a body with faces, found planar curves",
                           s->file, body->line, body->name);
    if (status != HR_OK) {
        parametric_body_free(surface);
        free(surface);
        return status;
    }
    parametric_body_scale(surface, body->scale);
    out->kind = SHAPE_PARAMETRIC;
    out->surface = surface;
    return HR_OK;
}

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
    case SCENE_BODY:
        return load_surface(s, body, out, error);
    default:
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected a shape that can be loaded, found one that "
                         "cannot",
                         s->file, body->line, body->name);
    }
}

void actor_shape_free(shape *s)
{
    if (s->surface) {
        /* ours since load_surface; const for everybody else */
        union {
            const parametric_body *shown;
            parametric_body *owned;
        } surface = {.shown = s->surface};
        parametric_body_free(surface.owned);
        free(surface.owned);
    }
    *s = (shape){0};
}

frame_material actor_material(const scene_material *m)
{
    return (frame_material){.stiffness = m->stiffness_n_per_m,
                            .damping = m->damping_n_s_per_m,
                            .static_friction = m->static_friction,
                            .kinetic_friction = m->kinetic_friction};
}
