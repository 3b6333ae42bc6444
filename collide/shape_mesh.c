#include "collide/shape_mesh.h"

#include <stddef.h>

#include "collide/closest.h"

enum {
    STACK_MAX = 64,
    VISITS_MAX = 4096,
    FOUND_MAX = 256,
    WALK_MAX = 32,
    FAN_MAX = 32,
    LIFTED_STEPS = 6
};

/* How far beyond the nearest point other sheets are looked for; the surroundings are known for half
 * of that. A hand at 0.5 m/s needs a search every other tick. */
static const double search_margin = 0.0025; /* m */

/* A triangle turned less than this (cosine) from what holds the proxy is of the same sheet when its
 * nearest point is on its rim. */
static const double same_sheet = 0.866; /* 30 degrees */

/* A point nearer to the surface than this has no direction of its own: the normal stands in. */
static const double on_surface = 1e-7; /* m */

/* Two tracks whose normals are closer than this (cosine) hold the proxy the same way. */
static const double same_side = 0.966; /* 15 degrees */

typedef struct foot {
    int triangle;
    double b[3]; /* barycentric weights */
    vec3 point;  /* on the flat triangle */
    double squared;
} foot;

HR_RT static foot foot_on(const touch_mesh *m, int triangle, vec3 point)
{
    const vec3 *c = m->triangles[triangle].corners;
    closest_pair p = closest_point_triangle(point, c[0], c[1], c[2]);
    return (foot){
        triangle, {p.weights[1], p.weights[2], p.weights[3]}, p.on_second, p.distance_squared};
}

HR_RT static int zeros_of(const double b[3])
{
    return (b[0] <= 0) + (b[1] <= 0) + (b[2] <= 0);
}

HR_RT static double box_distance_squared(const touch_node *n, vec3 p)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double x = (&p.x)[i];
        double d = x < n->low[i] ? n->low[i] - x : x > n->high[i] ? x - n->high[i] : 0;
        sum += d * d;
    }
    return sum;
}

/* --- search ----------------------------------------------------------------------------------- */

/* feet[0] is the nearest; the others are of sheets that face elsewhere. */
typedef struct findings {
    int count;
    foot feet[FOUND_MAX];
    vec3 facing;  /* of the nearest triangle; zero while there is none */
    double limit; /* m^2: what is farther is not wanted */
    double reach; /* m */
} findings;

HR_RT static double square(double x)
{
    return x * x;
}

HR_RT static void take_nearest(const touch_mesh *m, findings *f, const foot *here)
{
    f->feet[0] = *here;
    f->facing = m->triangles[here->triangle].normal;
    f->limit = square(fmin(f->reach, sqrt(here->squared) + search_margin));
}

HR_RT static void find_in_leaf(const touch_mesh *m, const touch_node *n, vec3 point, findings *f)
{
    for (int i = n->first; i < n->first + n->count; i++) {
        foot here = foot_on(m, i, point);
        if (here.squared < f->feet[0].squared) {
            foot second = f->feet[0];
            take_nearest(m, f, &here);
            here = second;
        }
        bool is_wanted = here.squared <= f->limit &&
                         vec3_dot(m->triangles[here.triangle].normal, f->facing) < same_sheet;
        if (is_wanted && f->count < FOUND_MAX)
            f->feet[f->count++] = here;
    }
}

/* Nothing in the box is nearer than the nearest, or as near and facing elsewhere? */
HR_RT static bool is_out(const touch_node *n, double squared, const findings *f)
{
    return squared > f->limit ||
           (squared >= f->feet[0].squared && vec3_dot(n->facing, f->facing) >= n->same_sheet);
}

/* The nearest triangle, and everything within the margin of it that faces elsewhere. `known` (may
 * be NULL) is the nearest so far: with it, the sheet that it is on costs next to nothing. */
HR_RT static void find_near(const touch_mesh *m, vec3 point, double reach, const foot *known,
                            findings *f)
{
    int stack[STACK_MAX], depth = 0, visits = 0;
    f->count = 1;
    f->reach = reach;
    f->limit = square(reach);
    f->facing = (vec3){0, 0, 0};
    f->feet[0] = (foot){.squared = (double)INFINITY};
    if (known && known->squared <= f->limit)
        take_nearest(m, f, known);
    stack[depth++] = 0;
    while (depth > 0 && visits++ < VISITS_MAX) {
        const touch_node *n = &m->nodes[stack[--depth]];
        if (is_out(n, box_distance_squared(n, point), f))
            continue;
        if (n->left < 0) {
            find_in_leaf(m, n, point, f);
            continue;
        }
        double left = box_distance_squared(&m->nodes[n->left], point);
        double right = box_distance_squared(&m->nodes[n->left + 1], point);
        int nearer = left <= right ? n->left : n->left + 1;
        if (depth + 2 <= STACK_MAX) {
            stack[depth++] = 2 * n->left + 1 - nearer;
            stack[depth++] = nearer;
        }
    }
}

/* Is no triangle that shares the foot nearer? A foot inside its triangle always is a nearest point;
 * one on an edge or at a vertex only if no neighbour there does better. */
HR_RT static bool is_local_minimum(const touch_mesh *m, const foot *f, vec3 point)
{
    const touch_triangle *t = &m->triangles[f->triangle];
    double better = f->squared * (1 - 1e-9) - 1e-24;
    int zeros = zeros_of(f->b);
    if (zeros == 0)
        return true;
    if (zeros == 1) {
        int opposite = f->b[0] <= 0 ? 0 : f->b[1] <= 0 ? 1 : 2;
        int next = t->next[(opposite + 1) % 3];
        return next < 0 || foot_on(m, next, point).squared >= better;
    }
    int corner = f->b[0] > 0 ? 0 : f->b[1] > 0 ? 1 : 2;
    int first = m->fan_first[t->vertex[corner]], end = m->fan_first[t->vertex[corner] + 1];
    for (int i = first; i < end && i < first + FAN_MAX; i++)
        if (foot_on(m, m->fans[i], point).squared < better)
            return false;
    return true;
}

/* --- the surface ------------------------------------------------------------------------------ */

HR_RT static vec3 shaded_normal(const touch_triangle *t, const double b[3])
{
    vec3 n = vec3_scale(b[0], t->normals[0]);
    n = vec3_add_scaled(n, b[1], t->normals[1]);
    n = vec3_add_scaled(n, b[2], t->normals[2]);
    return vec3_normalize_or(n, t->normal);
}

HR_RT static vec3 curved_point(const touch_triangle *t, const foot *f)
{
    vec3 p = f->point;
    for (int i = 0; i < 3; i++) {
        double below = vec3_dot(vec3_sub(t->corners[i], f->point), t->normals[i]);
        p = vec3_add_scaled(p, 0.5 * f->b[i] * below, t->normals[i]);
    }
    return p;
}

/* On a sharp edge, or at a vertex of one? */
HR_RT static bool is_on_crease(const touch_triangle *t, const double b[3])
{
    for (int edge = 0; edge < 3; edge++)
        if (t->is_sharp[edge] && b[(edge + 2) % 3] <= 0)
            return true;
    return false;
}

HR_RT static shape_contact contact_at(const touch_mesh *m, const foot *f, vec3 point)
{
    const touch_triangle *t = &m->triangles[f->triangle];
    vec3 normal = shaded_normal(t, f->b), surface = curved_point(t, f);
    vec3 away = vec3_sub(point, f->point);
    double distance = sqrt(f->squared);
    bool is_outside = vec3_dot(away, t->normal) > 0 || vec3_dot(away, normal) > 0;
    if (is_outside && distance > on_surface && is_on_crease(t, f->b))
        normal = vec3_scale(1 / distance, away);
    double gap = vec3_dot(normal, vec3_sub(point, surface));
    return (shape_contact){
        .point = surface, .normal = normal, .gap = gap, .feature = (uint32_t)f->triangle};
}

/* Above a faceted surface the nearest flat point dwells on edges. The triangles lifted by the
 * height of the point along their corner normals are continuous where the surface is smooth, and
 * the nearest point of those moves evenly. */
HR_RT static foot lifted_foot(const touch_mesh *m, int triangle, vec3 point, double height)
{
    const touch_triangle *t = &m->triangles[triangle];
    vec3 c[3];
    for (int i = 0; i < 3; i++)
        c[i] = vec3_add_scaled(t->corners[i], height, t->normals[i]);
    closest_pair p = closest_point_triangle(point, c[0], c[1], c[2]);
    foot out = {
        triangle, {p.weights[1], p.weights[2], p.weights[3]}, {0, 0, 0}, p.distance_squared};
    for (int i = 0; i < 3; i++)
        out.point = vec3_add_scaled(out.point, out.b[i], t->corners[i]);
    return out;
}

HR_RT static foot walk_lifted(const touch_mesh *m, foot flat, vec3 point)
{
    const double low = 1e-6; /* m: below, flat and lifted are the same */
    double height = vec3_dot(vec3_sub(point, flat.point), m->triangles[flat.triangle].normal);
    if (!(height > low))
        return flat;
    foot best = lifted_foot(m, flat.triangle, point, height);
    for (int step = 0; step < LIFTED_STEPS; step++) {
        const touch_triangle *t = &m->triangles[best.triangle];
        foot start = best;
        for (int edge = 0; edge < 3; edge++) {
            if (start.b[(edge + 2) % 3] > 0 || t->is_sharp[edge])
                continue;
            foot there = lifted_foot(m, t->next[edge], point, height);
            if (there.squared < best.squared)
                best = there;
        }
        if (best.triangle == start.triangle)
            break;
    }
    best.squared = vec3_length_squared(vec3_sub(point, best.point));
    return best;
}

/* --- tracks ----------------------------------------------------------------------------------- */

HR_RT static bool is_held_already(const shape_contact *held, int count, const shape_contact *c)
{
    for (int i = 0; i < count; i++)
        if (vec3_dot(held[i].normal, c->normal) > same_side)
            return true;
    return false;
}

/* The nearest foot that holds the proxy from another side than what is held; -1: none. */
HR_RT static int next_nearest(const touch_mesh *m, vec3 point, findings *f,
                              const shape_contact *held, int count)
{
    int best = -1;
    for (int i = 0; i < f->count; i++) {
        foot *here = &f->feet[i];
        if (!(here->squared <= f->limit) || (best >= 0 && here->squared >= f->feet[best].squared))
            continue;
        bool is_same = false;
        for (int k = 0; k < count && !is_same; k++)
            is_same = vec3_dot(held[k].normal, m->triangles[here->triangle].normal) >
                      (zeros_of(here->b) > 0 ? same_sheet : same_side);
        if (is_same || (count > 0 && !is_local_minimum(m, here, point)))
            here->squared = (double)INFINITY; /* not looked at again */
        else
            best = i;
    }
    return best;
}

HR_RT static int keep(shape_tracker *tracker, const foot *f, shape_contact c, shape_contact *out,
                      int count)
{
    tracker->tracks[count] =
        (shape_track){(uint32_t)f->triangle, SHAPE_TRACK_CONVERGED, f->b[1], f->b[2]};
    out[count] = c;
    return count + 1;
}

/* To the nearest point by neighbours: over edges while that helps, and around a vertex at the end.
 */
HR_RT static foot walk(const touch_mesh *m, int from, vec3 point)
{
    foot best = foot_on(m, from, point);
    for (int step = 0; step < WALK_MAX; step++) {
        const touch_triangle *t = &m->triangles[best.triangle];
        foot start = best;
        int zeros = zeros_of(best.b);
        if (zeros == 0)
            return best;
        for (int edge = 0; edge < 3; edge++) {
            if (start.b[(edge + 2) % 3] > 0 || t->next[edge] < 0)
                continue;
            foot there = foot_on(m, t->next[edge], point);
            if (there.squared < best.squared)
                best = there;
        }
        int corner = start.b[0] > 0 ? 0 : start.b[1] > 0 ? 1 : 2;
        int vertex = t->vertex[corner];
        int first = m->fan_first[vertex], end = m->fan_first[vertex + 1];
        for (int i = first; zeros == 2 && i < end && i < first + FAN_MAX; i++) {
            foot there = foot_on(m, m->fans[i], point);
            if (there.squared < best.squared)
                best = there;
        }
        if (best.triangle == start.triangle)
            return best;
    }
    return best;
}

HR_RT static bool is_good(const touch_mesh *m, const shape_tracker *tracker)
{
    if (tracker->track_count == 0 || tracker->track_count > SHAPE_TRACKS_MAX)
        return false;
    for (uint32_t i = 0; i < tracker->track_count; i++)
        if (tracker->tracks[i].feature >= (uint32_t)m->triangle_count)
            return false;
    return true;
}

HR_RT static int search(const touch_mesh *m, shape_tracker *tracker, vec3 point, double reach,
                        shape_contact *out, int room)
{
    findings f;
    int count = 0;
    foot known = {0};
    bool has_known = is_good(m, tracker);
    if (has_known)
        known = walk(m, (int)tracker->tracks[0].feature, point);
    /* a little farther than asked: nothing there is knowledge too */
    find_near(m, point, reach + search_margin, has_known ? &known : NULL, &f);
    double nearest = sqrt(f.feet[0].squared);
    f.limit = fmin(f.limit, square(reach));
    while (count < room) {
        int best = next_nearest(m, point, &f, out, count);
        if (best < 0)
            break;
        foot here = walk_lifted(m, f.feet[best], point);
        f.feet[best].squared = (double)INFINITY;
        shape_contact c = contact_at(m, &here, point);
        if (!is_held_already(out, count, &c))
            count = keep(tracker, &here, c, out, count);
    }
    tracker->searched_at = point;
    tracker->search_room = count > 0 ? 0.5 * search_margin : fmin(nearest, reach + search_margin);
    return count;
}

HR_RT static int walk_all(const touch_mesh *m, shape_tracker *tracker, vec3 point, double reach,
                          shape_contact *out, int room)
{
    int count = 0, tracks = (int)tracker->track_count;
    shape_tracker before = *tracker;
    for (int i = 0; i < tracks && count < room; i++) {
        foot here = walk_lifted(m, walk(m, (int)before.tracks[i].feature, point), point);
        shape_contact c = contact_at(m, &here, point);
        if (c.gap > reach || (count > 0 && is_held_already(out, count, &c)))
            continue;
        count = keep(tracker, &here, c, out, count);
    }
    return count;
}

int shape_mesh_follow(const touch_mesh *m, shape_tracker *tracker, vec3 point, double reach,
                      shape_contact *out, int room)
{
    room = room < SHAPE_TRACKS_MAX ? room : SHAPE_TRACKS_MAX;
    if (m->triangle_count == 0 || room <= 0)
        return 0;
    double moved = vec3_distance(point, tracker->searched_at);
    if (tracker->track_count == 0 && moved + reach < tracker->search_room)
        return 0; /* known to be empty so far around */
    bool has_left = !(moved <= tracker->search_room);
    int count = 0;
    if (is_good(m, tracker) && !has_left)
        count = walk_all(m, tracker, point, reach, out, room);
    if (count == 0)
        count = search(m, tracker, point, reach, out, room);
    tracker->track_count = (uint32_t)count;
    tracker->flags = SHAPE_TRACK_CONVERGED;
    return count;
}

void shape_mesh_seed(const touch_mesh *m, vec3 point, double reach, shape_tracker *out)
{
    shape_contact contacts[SHAPE_TRACKS_MAX];
    *out = (shape_tracker){0};
    (void)shape_mesh_follow(m, out, point, reach, contacts, SHAPE_TRACKS_MAX);
}
