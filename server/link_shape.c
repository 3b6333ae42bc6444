#include "server/link_shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/mesh_closest.h"
#include "collide/shape_fit.h"
#include "collide/touch_mesh.h"
#include "geometry/mesh_inertia.h"

/* Fineness of the round meshes that stand in for broken parts. */
enum { STAND_IN_RINGS = 12, STAND_IN_SEGMENTS = 24 };

typedef struct listener {
    model_warning warn;
    void *context;
    const char *link;
} listener;

static void tell(const listener *l, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "link \"%.80s\": %s", l->link, what);
    if (l->warn)
        l->warn(l->context, text);
}

static hr_status copy_part(const mesh *from, pose body_from_mesh, mesh *out)
{
    hr_status status = mesh_allocate(from->vertex_count, from->triangle_count, out);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < from->vertex_count; i++)
        out->vertices[i] = pose_apply(body_from_mesh, from->vertices[i]);
    memcpy(out->triangles, from->triangles, (size_t)from->triangle_count * sizeof *out->triangles);
    status = mesh_weld(out);
    if (status != HR_OK)
        mesh_free(out);
    return status;
}

static hr_status check_solid(const mesh *part, bool *is_solid)
{
    *is_solid = false;
    if (part->triangle_count == 0)
        return HR_OK;
    mesh_finder *finder = mesh_finder_create(part);
    if (!finder)
        return HR_ERR_MEMORY;
    *is_solid = mesh_finder_is_closed(finder);
    mesh_finder_destroy(finder);
    return HR_OK;
}

static void turn_inside_out(mesh *m)
{
    for (int i = 0; i < m->triangle_count; i++) {
        int keep = m->triangles[i][1];
        m->triangles[i][1] = m->triangles[i][2];
        m->triangles[i][2] = keep;
    }
}

/* The fitted sphere, capsule or box as a mesh in the place of the part. */
static hr_status stand_in(mesh *part)
{
    shape fitted;
    pose at;
    mesh made = {0};
    if (part->vertex_count == 0)
        return HR_OK;
    shape_fit(part->vertices, part->vertex_count, &fitted, &at);
    hr_status status;
    if (fitted.kind == SHAPE_BOX)
        status = mesh_make_box(vec3_scale(2, fitted.half_size), &made);
    else if (fitted.kind == SHAPE_CAPSULE)
        status = mesh_make_capsule(fitted.radius, 2 * fitted.half_length, STAND_IN_RINGS,
                                   STAND_IN_SEGMENTS, &made);
    else
        status = mesh_make_sphere(fitted.radius, STAND_IN_RINGS, STAND_IN_SEGMENTS, &made);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < made.vertex_count; i++)
        made.vertices[i] = pose_apply(at, made.vertices[i]);
    mesh_free(part);
    *part = made;
    return HR_OK;
}

/* A mesh that can be touched, whatever the file holds; may be empty. */
static hr_status ready_part(const mesh *from, pose body_from_mesh, const listener *l, mesh *out)
{
    bool is_solid = false;
    hr_status status = copy_part(from, body_from_mesh, out);
    if (status != HR_OK)
        return status;
    status = check_solid(out, &is_solid);
    if (status == HR_OK && !is_solid) {
        tell(l, "expected a closed mesh whose triangles all face outwards, found one that is open "
                "or has triangles turned: felt by a fitted shape");
        status = stand_in(out);
    } else if (status == HR_OK && mesh_inertia_of(out, 1).volume < 0) {
        tell(l, "expected a mesh that faces outwards, found one inside out: turned");
        turn_inside_out(out);
    }
    if (status != HR_OK)
        mesh_free(out);
    return status;
}

/* Parts stay apart: where two of them share a place, each keeps its own surface. */
static hr_status append(mesh *all, const mesh *part)
{
    mesh sum = {0};
    if (part->triangle_count == 0)
        return HR_OK;
    hr_status status = mesh_allocate(all->vertex_count + part->vertex_count,
                                     all->triangle_count + part->triangle_count, &sum);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < sum.vertex_count; i++)
        sum.vertices[i] =
            i < all->vertex_count ? all->vertices[i] : part->vertices[i - all->vertex_count];
    for (int i = 0; i < 3 * all->triangle_count; i++)
        sum.triangles[i / 3][i % 3] = all->triangles[i / 3][i % 3];
    for (int i = 0; i < 3 * part->triangle_count; i++)
        sum.triangles[all->triangle_count + i / 3][i % 3] =
            all->vertex_count + part->triangles[i / 3][i % 3];
    mesh_free(all);
    *all = sum;
    return HR_OK;
}

/* All parts of a body in its frame. */
static hr_status gather(const model *m, const model_shape *shapes, int count, int body, listener *l,
                        mesh *out)
{
    hr_status status = HR_OK;
    for (int i = 0; i < count && status == HR_OK; i++) {
        const model_link *link = &m->links[shapes[i].link];
        if (link->body != body)
            continue;
        mesh part = {0};
        l->link = link->name ? link->name : "";
        pose body_from_mesh = pose_compose(link->body_from_link, shapes[i].link_from_mesh);
        status = ready_part(&m->meshes[shapes[i].mesh], body_from_mesh, l, &part);
        if (status == HR_OK)
            status = append(out, &part);
        mesh_free(&part);
    }
    return status;
}

/* Moves the mesh so that the middle of its box is the origin; returns where that was. */
static vec3 centre(mesh *m)
{
    vec3 low = m->vertices[0], high = low;
    for (int i = 1; i < m->vertex_count; i++) {
        vec3 v = m->vertices[i];
        low = (vec3){fmin(low.x, v.x), fmin(low.y, v.y), fmin(low.z, v.z)};
        high = (vec3){fmax(high.x, v.x), fmax(high.y, v.y), fmax(high.z, v.z)};
    }
    vec3 middle = vec3_lerp(low, high, 0.5);
    for (int i = 0; i < m->vertex_count; i++)
        m->vertices[i] = vec3_sub(m->vertices[i], middle);
    return middle;
}

hr_status link_shape_make(const model *m, int body, model_warning warn, void *context, shape *out,
                          pose *body_from_shape)
{
    listener l = {warn, context, ""};
    mesh all = {0};
    touch_mesh *ready = NULL;
    hr_status status = gather(m, m->collisions, m->collision_count, body, &l, &all);
    if (status == HR_OK && all.triangle_count == 0)
        status = gather(m, m->visuals, m->visual_count, body, &l, &all);
    if (status == HR_OK && all.triangle_count == 0)
        status = HR_ERR_NOT_FOUND;
    if (status == HR_OK) {
        vec3 middle = centre(&all);
        status = touch_mesh_create(&all, TOUCH_MESH_CREASE_RAD, &ready);
        if (status == HR_OK) {
            *out = (shape){.kind = SHAPE_MESH, .mesh = ready};
            *body_from_shape = (pose){quat_identity(), middle};
        }
    }
    mesh_free(&all);
    return status;
}
