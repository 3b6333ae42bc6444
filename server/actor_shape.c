#include <stdlib.h>

#include "collide/touch_mesh.h"
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

static hr_status load_mesh(const scene *s, const scene_body *body, shape *out, hr_error *error)
{
    mesh m = {0};
    touch_mesh *ready = NULL;
    hr_status status;
    if (scene_body_has_file(body)) {
        status = mesh_load(body->file, &m, error);
    } else {
        status = mesh_make(body->file, &m);
        if (status != HR_OK)
            error_set(error, status,
                      "%s:%d: body \"%s\": expected a mesh file, or ball-N or blob-N with N from 1 "
                      "to %d, found \"%s\"",
                      s->file, body->line, body->name, MESH_FREQUENCY_MAX, body->file);
    }
    if (status != HR_OK)
        return status;
    for (int i = 0; i < m.vertex_count; i++)
        m.vertices[i] = vec3_scale(body->scale, m.vertices[i]);
    if (touch_mesh_create(&m, TOUCH_MESH_CREASE_RAD, &ready) != HR_OK)
        status = error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    mesh_free(&m);
    out->kind = SHAPE_MESH;
    out->mesh = ready;
    return status;
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
    case SCENE_MESH:
        return load_mesh(s, body, out, error);
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
    if (s->mesh) {
        union {
            const touch_mesh *shown;
            touch_mesh *owned;
        } touched = {.shown = s->mesh};
        touch_mesh_destroy(touched.owned);
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
