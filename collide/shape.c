#include "collide/shape.h"

#include "collide/parametric_shape.h"
#include "collide/shape_kinds.h"
#include "collide/shape_mesh.h"

/* Where a direction is lost (a point at the very centre) the last one is kept. */
HR_RT static vec3 last_direction(const shape_tracker *tracker)
{
    if (tracker->track_count == 0)
        return (vec3){0, 0, 1};
    return direction_from_chart(tracker->tracks[0].u, tracker->tracks[0].v);
}

HR_RT static void keep_direction(shape_tracker *tracker, vec3 unit, uint32_t flags)
{
    shape_track *t = &tracker->tracks[0];
    direction_to_chart(unit, &t->u, &t->v);
    t->flags = flags;
    tracker->track_count = 1;
    tracker->flags = flags;
}

HR_RT static void follow_plane(shape_tracker *tracker, vec3 point, shape_contact *out)
{
    *out = (shape_contact){.point = {point.x, point.y, 0}, .normal = {0, 0, 1}, .gap = point.z};
    tracker->tracks[0] = (shape_track){0, SHAPE_TRACK_CONVERGED, point.x, point.y};
    tracker->track_count = 1;
    tracker->flags = SHAPE_TRACK_CONVERGED;
}

HR_RT static void follow_sphere(double radius, shape_tracker *tracker, vec3 point,
                                shape_contact *out)
{
    double distance = vec3_length(point);
    bool is_lost = distance < 1e-12 * radius;
    vec3 normal = is_lost ? last_direction(tracker) : vec3_scale(1.0 / distance, point);
    *out = (shape_contact){
        .point = vec3_scale(radius, normal), .normal = normal, .gap = distance - radius};
    keep_direction(tracker, normal,
                   SHAPE_TRACK_CONVERGED | (is_lost ? SHAPE_TRACK_NOT_UNIQUE : 0u));
}

HR_RT void shape_follow_capsule(double radius, double half_length, shape_tracker *tracker,
                                vec3 point, shape_contact *out)
{
    double along = fmin(fmax(point.z, -half_length), half_length);
    vec3 away = {point.x, point.y, point.z - along};
    double distance = vec3_length(away);
    bool is_lost = distance < 1e-12 * radius;
    vec3 normal = is_lost ? last_direction(tracker) : vec3_scale(1.0 / distance, away);
    uint32_t feature = 0; /* the cylinder; 1 and 2 are the caps */
    if (along != point.z)
        feature = point.z > 0 ? 1 : 2;
    out->point = vec3_add_scaled((vec3){0, 0, along}, radius, normal);
    out->normal = normal;
    out->gap = distance - radius;
    out->feature = feature;
    keep_direction(tracker, normal,
                   SHAPE_TRACK_CONVERGED | (is_lost ? SHAPE_TRACK_NOT_UNIQUE : 0u));
    tracker->tracks[0].feature = feature;
}

HR_RT void direction_to_chart(vec3 n, double *u, double *v)
{
    double s = fabs(n.x) + fabs(n.y) + fabs(n.z);
    double x = n.x / s, y = n.y / s;
    if (n.z >= 0) {
        *u = x;
        *v = y;
        return;
    }
    *u = copysign(1.0 - fabs(y), x);
    *v = copysign(1.0 - fabs(x), y);
}

HR_RT vec3 direction_from_chart(double u, double v)
{
    double z = 1.0 - fabs(u) - fabs(v);
    vec3 n = {u, v, z};
    if (z < 0) {
        n.x = copysign(1.0 - fabs(v), u);
        n.y = copysign(1.0 - fabs(u), v);
    }
    return vec3_normalize_or(n, (vec3){0, 0, 1});
}

HR_RT int shape_follow(const shape *s, shape_tracker *tracker, vec3 point, vec3 velocity, double dt,
                       double reach, shape_contact *out, int room)
{
    (void)velocity; /* nobody needs a prediction: each step is a corrector at the new place */
    if (!vec3_is_finite(point)) {
        tracker->flags |= SHAPE_TRACK_HELD;
        return 0;
    }
    shape_contact contact = {0};
    switch (s->kind) {
    case SHAPE_PLANE:
        follow_plane(tracker, point, &contact);
        break;
    case SHAPE_SPHERE:
        follow_sphere(s->radius, tracker, point, &contact);
        break;
    case SHAPE_ELLIPSOID:
        shape_follow_ellipsoid(s->half_size, tracker, point, &contact);
        break;
    case SHAPE_CAPSULE:
        shape_follow_capsule(s->radius, s->half_length, tracker, point, &contact);
        break;
    case SHAPE_BOX:
        shape_follow_box(s->half_size, tracker, point, &contact);
        break;
    case SHAPE_PARAMETRIC:
        return parametric_shape_follow(s->surface, tracker, point, dt, reach, out, room);
    case SHAPE_MESH:
        return shape_mesh_follow(s->mesh, tracker, point, reach, out, room);
    default:
        return 0;
    }
    if (room < 1 || contact.gap > reach)
        return 0;
    *out = contact;
    return 1;
}

HR_RT void shape_predict(const shape *s, shape_tracker *tracker, const shape_contact *contacts,
                         int count, vec3 step)
{
    if (s->kind == SHAPE_PARAMETRIC && !s->tool)
        parametric_shape_predict(s->surface, tracker, contacts, count, step);
}

void shape_seed(const shape *s, vec3 point, double reach, shape_tracker *out)
{
    shape_contact contact;
    *out = (shape_tracker){0};
    switch (s->kind) {
    case SHAPE_PLANE:
    case SHAPE_SPHERE:
    case SHAPE_ELLIPSOID:
    case SHAPE_CAPSULE:
    case SHAPE_BOX:
        /* Without a memory every exact kind finds the globally nearest point. */
        (void)shape_follow(s, out, point, (vec3){0, 0, 0}, 0, reach, &contact, 1);
        break;
    case SHAPE_PARAMETRIC:
        parametric_shape_seed(s->surface, point, reach, out);
        break;
    case SHAPE_MESH:
        shape_mesh_seed(s->mesh, point, reach, out);
        break;
    default:
        break;
    }
}

HR_RT bool shape_is_closed(const shape *s)
{
    if (s->kind == SHAPE_PARAMETRIC)
        return s->surface->is_closed;
    return s->kind != SHAPE_MESH || s->mesh->is_closed;
}

double shape_bounding_radius(const shape *s)
{
    switch (s->kind) {
    case SHAPE_SPHERE:
        return s->radius;
    case SHAPE_ELLIPSOID:
        return fmax(s->half_size.x, fmax(s->half_size.y, s->half_size.z));
    case SHAPE_CAPSULE:
        return s->half_length + s->radius;
    case SHAPE_BOX:
        return vec3_length(s->half_size);
    case SHAPE_PARAMETRIC:
        return parametric_shape_radius(s->surface);
    case SHAPE_MESH:
        return s->mesh->radius;
    case SHAPE_PLANE:
    default:
        return (double)INFINITY;
    }
}
