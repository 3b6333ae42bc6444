/* What a cable may not do, as rows: touch deeper than its radius, stretch beyond its limit. */
#include <math.h>

#include "collide/closest.h"
#include "solver/cable_internal.h"

/* Compliance of the strain limits relative to a particle's: an impulse that stops a particle at
 * 1 m/s overshoots by 2.5e-10 m/s. Contacts are hard, so strain has to give way where both cannot
 * be. */
#define STRAIN_SOFTNESS 2.5e-10

/* Edge rows only between the vertices, which have rows of their own. */
#define EDGE_INSIDE 0.02

/* Kinds of rows, the top byte of their keys. */
enum { KEY_VERTEX = 1, KEY_EDGE, KEY_LONGEST, KEY_SHORTEST, KEY_AGAIN, KEY_CUT };

static uint64_t key_of(int kind, int pass, int obstacle, int feature)
{
    return ((uint64_t)kind << 56) | ((uint64_t)pass << 48) | ((uint64_t)obstacle << 32) |
           (uint64_t)feature;
}

/* In the obstacle's frame only x and y matter; the gap along the segment is convex. */
static bool touch_cylinder(const cable_obstacle *o, pose frame, vec3 a, vec3 b, double reach,
                           cable_touch *out)
{
    vec3 p = pose_apply_inverse(frame, a), q = pose_apply_inverse(frame, b);
    double dx = q.x - p.x, dy = q.y - p.y, squared = dx * dx + dy * dy;
    double t = squared > 0 ? -(p.x * dx + p.y * dy) / squared : 0.0;
    t = t < 0 ? 0.0 : t > 1 ? 1.0 : t;
    vec3 at = vec3_lerp(p, q, t);
    double distance = sqrt(at.x * at.x + at.y * at.y);
    if (distance - o->radius > reach)
        return false;
    vec3 n = distance > 1e-12 ? (vec3){at.x / distance, at.y / distance, 0} : (vec3){0, 1, 0};
    *out = (cable_touch){.parameter = t,
                         .point = pose_apply(frame, (vec3){o->radius * n.x, o->radius * n.y, at.z}),
                         .normal = pose_rotate(frame, n),
                         .gap = distance - o->radius};
    return true;
}

bool cable_touch_find(const cable_obstacle *o, pose frame, vec3 a, vec3 b, double reach,
                      cable_touch *out)
{
    if (o->is_cylinder)
        return touch_cylinder(o, frame, a, b, reach, out);
    shape_contact contact;
    double t = 0;
    if (!contact_edge_shape(&o->shape, frame, a, b, reach, &t, &contact))
        return false;
    *out = (cable_touch){t, contact.point, contact.normal, contact.gap};
    return true;
}

static row_point particle(const cable *c, int i)
{
    return (row_point){.owner = c->is_held[i] ? ROW_SCRIPTED : ROW_PARTICLE,
                       .first = 3 * i,
                       .velocity = c->is_held[i] ? c->held_velocity[i] : c->v[i]};
}

/* The cable's line at parameter t of element i stays in front of the tangent plane through
 * `point`, a place on the obstacle at the start of the step. */
static hr_status add_contact(cable *c, uint64_t key, int o, int i, const cable_touch *touch,
                             vec3 point, double dt)
{
    const cable_obstacle *obstacle = &c->obstacles[o];
    int last = i + 1 < c->count ? i + 1 : i;
    row_point edge[2] = {particle(c, i), particle(c, last)};
    vec3 at = vec3_lerp(c->x[i], c->x[last], touch->parameter);
    vec3 moving = twist_at(obstacle->velocity, obstacle->world_from_obstacle, point);
    double clearance =
        vec3_dot(touch->normal, vec3_sub(at, point)) - (c->settings.radius + c->settings.skin);
    contact_row row;
    contact_row_edge_scripted(&row, key, edge, touch->parameter, moving, touch->normal, clearance,
                              (row_step){dt, ROW_RECOVERY});
    return contact_row_emit(&row, c->qp);
}

static hr_status detect_element(cable *c, int o, int i, double dt)
{
    const cable_obstacle *obstacle = &c->obstacles[o];
    pose frame = obstacle->world_from_obstacle;
    double speed = vec3_length(c->v[i]) + vec3_length(obstacle->velocity.linear) +
                   vec3_length(c->settings.gravity) * dt;
    double reach = c->settings.radius + c->settings.skin + c->settings.margin + dt * speed;
    cable_touch touch;
    hr_status status = HR_OK;
    if (cable_touch_find(obstacle, frame, c->x[i], c->x[i], reach, &touch))
        status = add_contact(c, key_of(KEY_VERTEX, 0, o, i), o, i, &touch, touch.point, dt);
    if (status != HR_OK || i + 1 >= c->count || !c->settings.has_edges)
        return status;
    if (cable_touch_find(obstacle, frame, c->x[i], c->x[i + 1], reach, &touch) &&
        touch.parameter > EDGE_INSIDE && touch.parameter < 1 - EDGE_INSIDE)
        status = add_contact(c, key_of(KEY_EDGE, 0, o, i), o, i, &touch, touch.point, dt);
    return status;
}

static hr_status add_strain(cable *c, int i, double dt)
{
    row_point from = particle(c, i), to = particle(c, i + 1);
    vec3 d = vec3_sub(c->x[i + 1], c->x[i]);
    double length = vec3_length(d);
    vec3 n = vec3_normalize_or(d, (vec3){1, 0, 0});
    contact_row row;
    hr_status status = HR_OK;
    if (c->settings.max_strain > 0) {
        contact_row_longest(&row, key_of(KEY_LONGEST, 0, 0, i), &to, &from, n, length,
                            (1 + c->settings.max_strain) * c->rest[i], dt);
        row.softness = STRAIN_SOFTNESS / c->particle_mass;
        status = contact_row_emit(&row, c->qp);
    }
    if (status == HR_OK && c->settings.min_strain < 0) {
        contact_row_shortest(&row, key_of(KEY_SHORTEST, 0, 0, i), &to, &from, n, length,
                             (1 + c->settings.min_strain) * c->rest[i], dt);
        row.softness = STRAIN_SOFTNESS / c->particle_mass;
        status = contact_row_emit(&row, c->qp);
    }
    return status == HR_ERR_INFEASIBLE ? HR_OK : status; /* both ends held: nothing to be done */
}

hr_status cable_rows_detect(cable *c, double dt)
{
    hr_status status = HR_OK;
    for (int i = 0; i + 1 < c->count && status == HR_OK; i++)
        status = add_strain(c, i, dt);
    for (int o = 0; o < c->obstacle_count; o++)
        for (int i = 0; i < c->count && status == HR_OK; i++)
            status = detect_element(c, o, i, dt);
    return status;
}

/* The tangent plane at the place reached is a valid cut of a convex obstacle; it is moved back to
 * where the obstacle was at the start. */
static hr_status again(cable *c, int o, int i, bool is_edge, double dt, int pass, int *added)
{
    const cable_obstacle *obstacle = &c->obstacles[o];
    pose end = pose_advance(obstacle->world_from_obstacle, obstacle->velocity, (twist){0}, dt);
    double touching = c->settings.radius + c->settings.skin;
    int last = is_edge ? i + 1 : i;
    cable_touch touch;
    if (!cable_touch_find(obstacle, end, c->next[i], c->next[last], touching, &touch) ||
        touching - touch.gap <= c->settings.redetect)
        return HR_OK;
    vec3 start = pose_apply(obstacle->world_from_obstacle, pose_apply_inverse(end, touch.point));
    (*added)++;
    return add_contact(c, key_of(KEY_AGAIN + is_edge * 8, pass, o, i), o, i, &touch, start, dt);
}

static hr_status add_cut(cable *c, int i, double dt, int pass, int *added)
{
    double limit = (1 + c->settings.max_strain) * c->rest[i];
    vec3 d = vec3_sub(c->next[i + 1], c->next[i]);
    double length = vec3_length(d);
    if (length <= limit * (1 + 1e-4) || (c->is_held[i] && c->is_held[i + 1]))
        return HR_OK;
    row_point from = particle(c, i), to = particle(c, i + 1);
    vec3 n = vec3_scale(1.0 / length, d);
    contact_row row;
    contact_row_longest(&row, key_of(KEY_CUT, pass, 0, i), &to, &from, n,
                        vec3_dot(n, vec3_sub(c->x[i + 1], c->x[i])), limit, dt);
    row.softness = STRAIN_SOFTNESS / c->particle_mass;
    (*added)++;
    return contact_row_emit(&row, c->qp);
}

hr_status cable_rows_redetect(cable *c, double dt, int pass, int *added)
{
    hr_status status = HR_OK;
    for (int o = 0; o < c->obstacle_count; o++)
        for (int i = 0; i < c->count && status == HR_OK; i++) {
            status = again(c, o, i, false, dt, pass, added);
            if (status == HR_OK && i + 1 < c->count && c->settings.has_edges)
                status = again(c, o, i, true, dt, pass, added);
        }
    bool cuts = c->settings.has_cuts && c->settings.max_strain > 0;
    for (int i = 0; i + 1 < c->count && cuts && status == HR_OK; i++)
        status = add_cut(c, i, dt, pass, added);
    return status == HR_ERR_INFEASIBLE ? HR_OK : status;
}

double cable_penetration(const cable *c, const vec3 *x, double dt, double radius)
{
    double deepest = 0;
    for (int o = 0; o < c->obstacle_count; o++) {
        const cable_obstacle *obstacle = &c->obstacles[o];
        pose frame =
            pose_advance(obstacle->world_from_obstacle, obstacle->velocity, (twist){0}, dt);
        for (int i = 0; i + 1 < c->count; i++) {
            cable_touch touch;
            if (cable_touch_find(obstacle, frame, x[i], x[i + 1], radius, &touch) &&
                radius - touch.gap > deepest)
                deepest = radius - touch.gap;
        }
    }
    return deepest;
}

double cable_strain(const cable *c, const vec3 *x)
{
    double most = -(double)INFINITY;
    for (int i = 0; i + 1 < c->count; i++) {
        double strain = vec3_distance(x[i], x[i + 1]) / c->rest[i] - 1.0;
        most = strain > most ? strain : most;
    }
    return most;
}
