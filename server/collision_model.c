#include "server/collision_model.h"

#include <stddef.h>

#include "server/actor_mass.h"

enum { RINGS = 16, SEGMENTS = 24 };

static const vec3 plane_size = {8, 8, 1}; /* m */

/* A triangle without area: its corners are -half and half along z. */
static hr_status make_segment(double half, mesh *out)
{
    hr_status status = mesh_allocate(2, 1, out);
    if (status != HR_OK)
        return status;
    out->vertices[0] = (vec3){0, 0, -half};
    out->vertices[1] = (vec3){0, 0, half};
    out->triangles[0][0] = 0;
    out->triangles[0][1] = out->triangles[0][2] = 1;
    return HR_OK;
}

static hr_status make_plane(mesh *out)
{
    hr_status status = mesh_make_box(plane_size, out);
    for (int i = 0; status == HR_OK && i < out->vertex_count; i++)
        out->vertices[i].z -= 0.5 * plane_size.z;
    return status;
}

/* Facets cut the corners that vertices stick out of: half of the error each way. */
static hr_status make_ellipsoid(vec3 half, mesh *out)
{
    const double grow = 1 + 0.25 * (1 - cos(M_PI / SEGMENTS));
    hr_status status = mesh_make_sphere(1, RINGS, SEGMENTS, out);
    for (int i = 0; status == HR_OK && i < out->vertex_count; i++) {
        vec3 *v = &out->vertices[i];
        *v = (vec3){grow * half.x * v->x, grow * half.y * v->y, grow * half.z * v->z};
    }
    return status;
}

/* Corners at the same place become one vertex, as the search for near features needs it. */
static hr_status make_surface(const shape *s, mesh *out)
{
    hr_status status = actor_surface_triangles(s, out);
    return status == HR_OK ? mesh_weld(out) : status;
}

static hr_status make_mesh(const shape *s, mesh *out)
{
    switch (s->kind) {
    case SHAPE_PLANE:
        return make_plane(out);
    case SHAPE_SPHERE:
        return make_segment(0, out);
    case SHAPE_CAPSULE:
        return make_segment(s->half_length, out);
    case SHAPE_ELLIPSOID:
        return make_ellipsoid(s->half_size, out);
    case SHAPE_BOX:
        return mesh_make_box(vec3_scale(2, s->half_size), out);
    case SHAPE_PARAMETRIC:
    case SHAPE_MESH:
        return make_surface(s, out);
    }
    return HR_ERR_ARGUMENT;
}

static hr_status hang(mesh *part, bool is_moving, model *m)
{
    model_joint joint = {.type = JOINT_FLOATING,
                         .axis = {0, 0, 1},
                         .mimic = -1,
                         .parent_from_joint = pose_identity()};
    int link = model_add_link(m, "base", -1, NULL);
    if (is_moving)
        link = model_add_link(m, "body", 0, &joint);
    int index = model_add_mesh(m, part);
    if (link < 0 || index < 0 ||
        model_add_collision(m, (model_shape){link, index, pose_identity()}) < 0)
        return HR_ERR_MEMORY;
    return model_finish(m, NULL, NULL);
}

hr_status collision_model_make(const shape *s, bool is_moving, collision_model *out)
{
    mesh part = {0};
    model m = {0};
    hr_status status = make_mesh(s, &part);
    if (status == HR_OK)
        status = hang(&part, is_moving, &m);
    mesh_free(&part);
    if (status != HR_OK) {
        model_free(&m);
        return status;
    }
    bool is_rounded = s->kind == SHAPE_SPHERE || s->kind == SHAPE_CAPSULE;
    *out = (collision_model){m, is_rounded ? s->radius : 0};
    return HR_OK;
}

void collision_model_free(collision_model *c)
{
    model_free(&c->model);
    *c = (collision_model){0};
}

void collision_model_coordinates(pose p, double q[7])
{
    const double all[7] = {p.origin.x,   p.origin.y,   p.origin.z,  p.rotation.w,
                           p.rotation.x, p.rotation.y, p.rotation.z};
    for (int i = 0; i < 7; i++)
        q[i] = all[i];
}

pose collision_model_pose(const double q[7])
{
    return (pose){{q[3], q[4], q[5], q[6]}, {q[0], q[1], q[2]}};
}
