#include "server/actor_mass.h"

#include <stdlib.h>

#include "collide/touch_mesh.h"
#include "geometry/mesh_inertia.h"
#include "geometry/parametric_body.h"

/* Steps each way on a face: a ball of six patches has its volume to 1 in 10000. */
enum { FACE_STEPS = 48 };

static vec3 simple_inertia(const scene_body *b)
{
    double m = b->mass_kg, r = b->radius_m, l = b->half_length_m;
    vec3 h = b->half_size_m;
    switch (b->shape) {
    case SCENE_BOX:
        return (vec3){m / 3 * (h.y * h.y + h.z * h.z), m / 3 * (h.z * h.z + h.x * h.x),
                      m / 3 * (h.x * h.x + h.y * h.y)};
    case SCENE_ELLIPSOID:
        return (vec3){m / 5 * (h.y * h.y + h.z * h.z), m / 5 * (h.z * h.z + h.x * h.x),
                      m / 5 * (h.x * h.x + h.y * h.y)};
    case SCENE_CAPSULE: {
        /* A cylinder and two half balls, by their volumes. */
        double cylinder = 2 * l, balls = 4.0 / 3 * r;
        double mc = m * cylinder / (cylinder + balls), mb = m - mc;
        double side =
            mc * (r * r / 4 + l * l / 3) + mb * (2.0 / 5 * r * r + l * l + 3.0 / 4 * l * r);
        return (vec3){side, side, mc * r * r / 2 + mb * 2.0 / 5 * r * r};
    }
    default:
        return (vec3){0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r};
    }
}

static hr_status mesh_triangles(const touch_mesh *from, mesh *out)
{
    int n = from->triangle_count;
    hr_status status = mesh_allocate(3 * n, n, out);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < 3 * n; i++) {
        out->vertices[i] = from->triangles[i / 3].corners[i % 3];
        out->triangles[i / 3][i % 3] = i;
    }
    return HR_OK;
}

static vec3 face_point(const parametric_body *b, int face, int i, int k)
{
    const body_face *f = &b->faces[face];
    jet j;
    double u = f->low[0] + (f->high[0] - f->low[0]) * i / FACE_STEPS;
    double v = f->low[1] + (f->high[1] - f->low[1]) * k / FACE_STEPS;
    nurbs_span span = f->first;
    body_face_jet(b, face, i == FACE_STEPS ? f->high[0] : u, k == FACE_STEPS ? f->high[1] : v,
                  &span, &j);
    return j.p;
}

static void fill_face(const parametric_body *b, int face, mesh *out)
{
    int side = FACE_STEPS + 1, first = face * side * side;
    for (int i = 0; i < side * side; i++)
        out->vertices[first + i] = face_point(b, face, i / side, i % side);
    for (int i = 0; i < FACE_STEPS * FACE_STEPS; i++) {
        int a = first + i / FACE_STEPS * side + i % FACE_STEPS; /* u rises by side, v by 1 */
        int corners[4] = {a, a + side, a + side + 1, a + 1};
        bool is_plus = b->faces[face].outward > 0;
        int(*t)[3] = &out->triangles[2 * ((size_t)face * FACE_STEPS * FACE_STEPS + (size_t)i)];
        for (int k = 0; k < 2; k++) {
            t[k][0] = corners[0];
            t[k][1] = corners[is_plus ? k + 1 : k + 2];
            t[k][2] = corners[is_plus ? k + 2 : k + 1];
        }
    }
}

static hr_status body_triangles(const parametric_body *b, mesh *out)
{
    const int side = FACE_STEPS + 1;
    hr_status status = mesh_allocate(b->face_count * side * side,
                                     2 * b->face_count * FACE_STEPS * FACE_STEPS, out);
    for (int i = 0; i < b->face_count && status == HR_OK; i++)
        fill_face(b, i, out);
    return status;
}

hr_status actor_surface_triangles(const shape *solid, mesh *out)
{
    return solid->kind == SHAPE_MESH ? mesh_triangles(solid->mesh, out)
                                     : body_triangles(solid->surface, out);
}

hr_status actor_mass_of(const scene *s, const scene_body *body, const shape *solid, actor_mass *out,
                        hr_error *error)
{
    *out = (actor_mass){simple_inertia(body), pose_identity()};
    if (solid->kind != SHAPE_MESH && solid->kind != SHAPE_PARAMETRIC)
        return HR_OK;
    bool is_closed = solid->kind == SHAPE_MESH ? solid->mesh->is_closed : solid->surface->is_closed;
    if (!is_closed)
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected a closed surface for a free body, found an "
                         "open one in %s",
                         s->file, body->line, body->name, body->file);
    mesh surface = {0};
    if (actor_surface_triangles(solid, &surface) != HR_OK)
        return error_set(error, HR_ERR_MEMORY, "%s:%d: out of memory", s->file, body->line);
    mesh_inertia found = mesh_inertia_of(&surface, body->mass_kg);
    mesh_free(&surface);
    if (!(found.volume > 0))
        return error_set(error, HR_ERR_FORMAT,
                         "%s:%d: body \"%s\": expected a surface that faces outwards around a "
                         "volume, found none in %s",
                         s->file, body->line, body->name, body->file);
    mat3 axes = mat3_principal_axes(found.inertia, &out->inertia);
    out->shape_from_centre = (pose){quat_from_mat3(axes), found.centre};
    return HR_OK;
}
