#include "tests/support/outside.h"

#include <stdlib.h>

#include "collide/mesh_closest.h"
#include "collide/touch_mesh.h"
#include "geometry/body_closest.h"

struct outside {
    const shape *shape;
    mesh mesh; /* of a touched mesh: its flat triangles */
    mesh_finder *triangles;
    body_finder *surface;
};

static bool copy_mesh(outside *o, const touch_mesh *from)
{
    if (mesh_allocate(from->vertex_count, from->triangle_count, &o->mesh) != HR_OK)
        return false;
    for (int i = 0; i < from->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            int v = from->triangles[i].vertex[k];
            o->mesh.vertices[v] = from->triangles[i].corners[k];
            o->mesh.triangles[i][k] = v;
        }
    o->triangles = mesh_finder_create(&o->mesh);
    return o->triangles != NULL;
}

outside *outside_create(const shape *s)
{
    outside *o = calloc(1, sizeof *o);
    bool is_good = o != NULL;
    if (is_good) {
        o->shape = s;
        if (s->kind == SHAPE_MESH)
            is_good = copy_mesh(o, s->mesh);
        if (s->kind == SHAPE_PARAMETRIC) {
            o->surface = body_finder_create(s->surface);
            is_good = o->surface != NULL;
        }
    }
    if (is_good)
        return o;
    outside_destroy(o);
    return NULL;
}

void outside_destroy(outside *o)
{
    if (!o)
        return;
    mesh_finder_destroy(o->triangles);
    mesh_free(&o->mesh);
    body_finder_destroy(o->surface);
    free(o);
}

bool outside_is_solid(const outside *o)
{
    switch (o->shape->kind) {
    case SHAPE_MESH:
        return mesh_finder_is_closed(o->triangles);
    case SHAPE_PARAMETRIC:
        return o->shape->surface->is_closed;
    default:
        return true;
    }
}

static double box_distance(vec3 half, vec3 p)
{
    vec3 d = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
    vec3 out = {fmax(d.x, 0), fmax(d.y, 0), fmax(d.z, 0)};
    return vec3_length(out) + fmin(0, fmax(d.x, fmax(d.y, d.z)));
}

/* The foot point is h_i^2 p_i / (h_i^2 + t) with t where it lies on the surface; the sum falls with
 * t, so halving finds it. */
static double ellipsoid_distance(vec3 half, vec3 point)
{
    double h[3] = {half.x, half.y, half.z}, p[3] = {point.x, point.y, point.z};
    double least = fmin(h[0], fmin(h[1], h[2])), low = -least * least, high = 1, f = 0;
    for (int i = 0; i < 3; i++)
        f += p[i] * p[i] / (h[i] * h[i]);
    bool is_inside = f < 1;
    for (int k = 0; k < 200; k++) {
        double t = 0.5 * (low + high), sum = 0;
        for (int i = 0; i < 3; i++)
            sum += pow(h[i] * p[i] / (h[i] * h[i] + t), 2);
        *(sum > 1 ? &low : &high) = t;
    }
    vec3 foot = {h[0] * h[0] * p[0] / (h[0] * h[0] + low), h[1] * h[1] * p[1] / (h[1] * h[1] + low),
                 h[2] * h[2] * p[2] / (h[2] * h[2] + low)};
    return (is_inside ? -1 : 1) * vec3_distance(foot, point);
}

/* Of a sheet: the side, unless the foot point is on its border, where the way is not the normal. */
static double sided(vec3 point, vec3 foot, vec3 normal)
{
    vec3 way = vec3_sub(point, foot);
    double length = vec3_length(way), along = vec3_dot(way, normal);
    if (length > 1e-9 && fabs(along) < 0.999 * length)
        return 1;
    return along < 0 ? -length : length;
}

static double surface_distance(const outside *o, vec3 point)
{
    body_nearest n;
    if (body_find_nearest(o->surface, point, &n) != HR_OK)
        return 1;
    return o->shape->surface->is_closed ? n.distance : sided(point, n.p, n.normal);
}

/* How far the curved surface that is felt (collide/touch_mesh.h) lies over the flat triangle there:
 * its formula, evaluated at the flat foot point. */
static double bulge(const touch_triangle *t, const mesh_nearest *n)
{
    double weights[3] = {1 - n->u - n->v, n->u, n->v};
    vec3 out = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        double height = vec3_dot(vec3_sub(t->corners[i], n->p), t->normals[i]);
        out = vec3_add_scaled(out, 0.5 * weights[i] * height, t->normals[i]);
    }
    return vec3_dot(out, t->normal);
}

static double mesh_distance(const outside *o, vec3 point)
{
    mesh_nearest n;
    if (mesh_find_nearest(o->triangles, point, &n) != HR_OK)
        return 1;
    if (!mesh_finder_is_closed(o->triangles))
        return sided(point, n.p, n.normal);
    return n.distance - bulge(&o->shape->mesh->triangles[n.triangle], &n);
}

double outside_distance(outside *o, vec3 p)
{
    const shape *s = o->shape;
    switch (s->kind) {
    case SHAPE_PLANE:
        return p.z;
    case SHAPE_SPHERE:
        return vec3_length(p) - s->radius;
    case SHAPE_ELLIPSOID:
        return ellipsoid_distance(s->half_size, p);
    case SHAPE_CAPSULE:
        p.z -= fmin(fmax(p.z, -s->half_length), s->half_length);
        return vec3_length(p) - s->radius;
    case SHAPE_BOX:
        return box_distance(s->half_size, p);
    case SHAPE_PARAMETRIC:
        return surface_distance(o, p);
    case SHAPE_MESH:
        return mesh_distance(o, p);
    }
    return 1;
}

double outside_gap(outside *o, vec3 point)
{
    body_nearest on_body;
    mesh_nearest on_mesh;
    if (outside_is_solid(o))
        return outside_distance(o, point);
    if (o->surface && body_find_nearest(o->surface, point, &on_body) == HR_OK)
        return vec3_distance(point, on_body.p);
    if (o->triangles && mesh_find_nearest(o->triangles, point, &on_mesh) == HR_OK)
        return vec3_distance(point, on_mesh.p);
    return 1;
}
