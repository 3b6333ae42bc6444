/* Seams: which side of which face runs along which other, where sides shrink to a point, where a
 * face closes on itself. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_draft.h"

/* A side that needs an edge. */
typedef struct open_side {
    int face, side;
    bool is_joined;
    vec3 points[SIDE_SAMPLES];
    vec3 middle;   /* of the box around the points */
    double extent; /* its diagonal */
} open_side;

void body_side_parameters(const body_face *f, int side, int i, double uv[2])
{
    int fixed = side_direction(side), along = 1 - fixed;
    double s = (double)i / (SIDE_SAMPLES - 1);
    uv[fixed] = side_is_high(side) ? f->high[fixed] : f->low[fixed];
    uv[along] = i == SIDE_SAMPLES - 1 ? f->high[along]
                                      : f->low[along] + s * (f->high[along] - f->low[along]);
}

void body_sample_side(const parametric_body *b, int face, int side, vec3 out[SIDE_SAMPLES])
{
    for (int i = 0; i < SIDE_SAMPLES; i++) {
        double uv[2];
        body_side_parameters(&b->faces[face], side, i, uv);
        jet j;
        body_face_jet(b, face, uv[0], uv[1], NULL, &j);
        out[i] = j.p;
    }
}

vec3 body_regular_normal(const parametric_body *b, int face, const jet *j)
{
    const body_face *f = &b->faces[face];
    vec3 n = vec3_cross(j->d1[0], j->d1[1]);
    double lengths[2] = {vec3_length(j->d1[0]), vec3_length(j->d1[1])};
    bool is_regular = vec3_length(n) > 1e-9 * lengths[0] * lengths[1];
    for (int d = 0; d < 2; d++)
        is_regular = is_regular && lengths[d] * (f->high[d] - f->low[d]) > 1e-9 * b->size;
    return is_regular ? vec3_normalize_or(n, n) : (vec3){0, 0, 0};
}

static int vertex_at(parametric_body *b, vec3 p)
{
    for (int i = 0; i < b->vertex_count; i++)
        if (vec3_distance(b->vertices[i].position, p) <= BODY_SEAM_TOLERANCE * b->size)
            return i;
    b->vertices[b->vertex_count] = (body_vertex){.position = p};
    return b->vertex_count++;
}

_Static_assert((int)BODY_MAP == (int)SIDE_SAMPLES, "a table is filled from the samples of a side");

static bool shrinks(const parametric_body *b, const vec3 *points)
{
    for (int i = 1; i < SIDE_SAMPLES; i++)
        if (vec3_distance(points[0], points[i]) > 1e-9 * b->size)
            return false;
    return true;
}

/* The face continues from the high side of a direction onto its low side without a crease. */
static bool closes_smoothly(const parametric_body *b, int face, int direction)
{
    const body_face *f = &b->faces[face];
    int tested = 0;
    for (int i = 0; i < SIDE_SAMPLES; i++) {
        double low[2], high[2];
        jet a, c;
        body_side_parameters(f, 2 * direction, i, low);
        body_side_parameters(f, 2 * direction + 1, i, high);
        body_face_jet(b, face, low[0], low[1], NULL, &a);
        body_face_jet(b, face, high[0], high[1], &(nurbs_span){f->last.u, f->last.v}, &c);
        if (vec3_distance(a.p, c.p) > BODY_SEAM_TOLERANCE * b->size)
            return false;
        vec3 m = body_regular_normal(b, face, &a), n = body_regular_normal(b, face, &c);
        if (vec3_dot(m, m) == 0 || vec3_dot(n, n) == 0)
            continue; /* a pole */
        tested++;
        if (vec3_dot(a.d1[direction], c.d1[direction]) <= 0 || vec3_dot(m, n) <= 0 ||
            vec3_length(vec3_cross(m, n)) > 1e-4)
            return false;
    }
    return tested > 0;
}

static void find_collapsed_and_periodic(parametric_body *b)
{
    vec3 points[SIDE_SAMPLES];
    for (int face = 0; face < b->face_count; face++) {
        body_face *f = &b->faces[face];
        for (int side = 0; side < 4; side++) {
            body_sample_side(b, face, side, points);
            f->edges[side] = -1;
            f->collapsed[side] = shrinks(b, points) ? vertex_at(b, points[0]) : -1;
        }
        for (int d = 0; d < 2; d++) {
            const int *ends = f->collapsed + (ptrdiff_t)2 * d;
            bool is_open = ends[0] < 0 && ends[1] < 0;
            f->is_periodic[d] = false; /* while testing: wrapping would hide the far side */
            f->is_periodic[d] = is_open && closes_smoothly(b, face, d);
        }
    }
}

/* +1: the same curve in the same direction; -1: reversed; 0: another curve. */
static int compare_sides(const parametric_body *b, const open_side *s, const open_side *t)
{
    double tolerance = BODY_SEAM_TOLERANCE * b->size;
    bool is_same = true, is_reversed = true;
    for (int i = 0; i < SIDE_SAMPLES && (is_same || is_reversed); i++) {
        is_same = is_same && vec3_distance(s->points[i], t->points[i]) <= tolerance;
        is_reversed = is_reversed &&
                      vec3_distance(s->points[i], t->points[SIDE_SAMPLES - 1 - i]) <= tolerance;
    }
    return is_same ? 1 : is_reversed ? -1 : 0;
}

/* The parameter of side t nearest to p, from the nearest of its samples by Newton's method; the
 * distance goes to *miss. */
static double project_on_side(const parametric_body *b, const open_side *t, vec3 p, double *miss)
{
    const body_face *f = &b->faces[t->face];
    int along = 1 - side_direction(t->side), nearest = 0;
    for (int i = 1; i < SIDE_SAMPLES; i++)
        if (vec3_distance(t->points[i], p) < vec3_distance(t->points[nearest], p))
            nearest = i;
    double uv[2];
    body_side_parameters(f, t->side, nearest, uv);
    jet j;
    for (int i = 0; i < 12; i++) {
        body_face_jet(b, t->face, uv[0], uv[1], NULL, &j);
        vec3 e = vec3_sub(j.p, p), d = j.d1[along];
        double gauss = vec3_dot(d, d), h = gauss + vec3_dot(e, j.d2[along ? JET_VV : JET_UU]);
        h = h > 0.1 * gauss ? h : gauss;
        if (!(h > 0))
            break;
        uv[along] = body_face_wrap(f, along, uv[along] - vec3_dot(d, e) / h);
    }
    body_face_jet(b, t->face, uv[0], uv[1], NULL, &j);
    *miss = vec3_distance(j.p, p);
    return uv[along];
}

/* As compare_sides, for sides that are the same curve with another parametrisation (or, as rings,
 * another start); map[i] is where sample i of s lies on t. */
static int trace_side(const parametric_body *b, const open_side *s, const open_side *t, double *map)
{
    const body_face *f = &b->faces[t->face], *g = &b->faces[s->face];
    int along = 1 - side_direction(t->side), own = 1 - side_direction(s->side);
    double range = f->high[along] - f->low[along];
    bool may_meet = vec3_distance(s->middle, t->middle) <= 0.1 * t->extent &&
                    fabs(s->extent - t->extent) <= 0.2 * t->extent;
    if (!may_meet || f->is_periodic[along] != g->is_periodic[own])
        return 0;
    for (int i = 0; i < BODY_MAP; i++) {
        double miss;
        map[i] = project_on_side(b, t, s->points[i], &miss);
        if (miss > BODY_SEAM_TOLERANCE * b->size)
            return 0;
        if (i > 0 && f->is_periodic[along])
            map[i] += range * floor((map[i - 1] - map[i]) / range + 0.5);
    }
    int direction = map[1] > map[0] ? 1 : -1;
    for (int i = 1; i < BODY_MAP; i++)
        if (!(direction * (map[i] - map[i - 1]) > 1e-6 * range))
            return 0;
    bool is_whole = fabs(fabs(map[BODY_MAP - 1] - map[0]) - range) < 1e-5 * range;
    return is_whole ? direction : 0;
}

/* One edge along side s, which other side t (or none) shares. */
static hr_status add_edge(parametric_body *b, open_side *s, open_side *t, int direction,
                          hr_error *error)
{
    int index = b->edge_count;
    body_edge *e = &b->edges[index];
    const body_face *f = &b->faces[s->face];
    int fixed = side_direction(s->side), along = 1 - fixed;
    double x = side_is_high(s->side) ? f->high[fixed] : f->low[fixed];
    memset(e, 0, sizeof *e);
    hr_status status =
        nurbs_surface_iso_curve(&b->surfaces[f->surface], fixed, x, &e->curve, error);
    if (status != HR_OK)
        return status;
    b->edge_count++;
    e->low = f->low[along];
    e->high = f->high[along];
    e->is_ring = f->is_periodic[along];
    e->vertices[0] = e->is_ring ? -1 : vertex_at(b, s->points[0]);
    e->vertices[1] = e->is_ring ? -1 : vertex_at(b, s->points[SIDE_SAMPLES - 1]);
    e->use_count = 1;
    e->use[0] = (body_edge_use){s->face, s->side, 0.0, 1.0, NULL};
    s->is_joined = true;
    b->faces[s->face].edges[s->side] = index;
    if (!t)
        return HR_OK;
    const body_face *g = &b->faces[t->face];
    int other = 1 - side_direction(t->side);
    double slope = direction * (g->high[other] - g->low[other]) / (e->high - e->low);
    double start = direction > 0 ? g->low[other] : g->high[other];
    e->use_count = 2;
    e->use[1] = (body_edge_use){t->face, t->side, start - slope * e->low, slope, NULL};
    t->is_joined = true;
    b->faces[t->face].edges[t->side] = index;
    return HR_OK;
}

/* Makes an edge of two sides if they are the same curve, evenly parametrised or not. */
static hr_status join_if_same(parametric_body *b, open_side *s, open_side *t, hr_error *error)
{
    double map[BODY_MAP];
    int direction = compare_sides(b, s, t);
    bool is_uneven = direction == 0;
    if (is_uneven)
        direction = trace_side(b, s, t, map);
    if (direction == 0)
        return HR_OK;
    hr_status status = add_edge(b, s, t, direction, error);
    if (status == HR_OK && is_uneven) {
        memcpy(b->maps[b->map_count], map, sizeof map);
        b->edges[b->edge_count - 1].use[1].table = b->maps[b->map_count++];
    }
    return status;
}

/* Pairs up sides; `wanted` limits it to one stated edge, NULL takes all. */
static hr_status pair_sides(parametric_body *b, open_side *sides, int count,
                            const draft_edge *wanted, hr_error *error)
{
    for (int i = 0; i < count; i++) {
        open_side *s = &sides[i];
        if (s->is_joined || (wanted && (b->faces[s->face].surface != wanted->first ||
                                        s->side != wanted->first_side)))
            continue;
        for (int k = wanted ? 0 : i + 1; k < count && !s->is_joined; k++) {
            open_side *t = &sides[k];
            if (k == i || t->is_joined ||
                (wanted &&
                 (b->faces[t->face].surface != wanted->second || t->side != wanted->second_side)))
                continue;
            hr_status status = join_if_same(b, s, t, error);
            if (status != HR_OK)
                return status;
        }
    }
    return HR_OK;
}

static void bound_side(open_side *s)
{
    vec3 low = s->points[0], high = low;
    for (int i = 1; i < SIDE_SAMPLES; i++) {
        vec3 p = s->points[i];
        low = (vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    s->middle = vec3_lerp(low, high, 0.5);
    s->extent = vec3_distance(low, high);
}

static hr_status join_sides(const body_draft *d, parametric_body *b, open_side *sides,
                            hr_error *error)
{
    int count = 0;
    for (int face = 0; face < b->face_count; face++)
        for (int side = 0; side < 4; side++) {
            const body_face *f = &b->faces[face];
            if (f->collapsed[side] >= 0 || f->is_periodic[side_direction(side)])
                continue;
            sides[count] = (open_side){.face = face, .side = side};
            body_sample_side(b, face, side, sides[count].points);
            bound_side(&sides[count++]);
        }
    for (int i = 0; i < d->edge_count; i++) {
        hr_status status = pair_sides(b, sides, count, &d->edges[i], error);
        if (status != HR_OK)
            return status;
    }
    hr_status status = pair_sides(b, sides, count, NULL, error);
    for (int i = 0; i < count && status == HR_OK; i++)
        if (!sides[i].is_joined)
            status = add_edge(b, &sides[i], NULL, 0, error);
    return status;
}

/* Lists, per vertex, of the edges that end there and the sides that shrink to it. */
static hr_status list_incidence(parametric_body *b)
{
    b->vertex_edges = malloc((2 * (size_t)b->edge_count + 1) * sizeof *b->vertex_edges);
    b->vertex_collapses = malloc((4 * (size_t)b->face_count + 1) * sizeof *b->vertex_collapses);
    if (!b->vertex_edges || !b->vertex_collapses)
        return HR_ERR_MEMORY;
    for (int i = 0; i < b->vertex_count; i++) {
        body_vertex *v = &b->vertices[i];
        v->first_edge = b->vertex_edge_count;
        for (int k = 0; k < 2 * b->edge_count; k++)
            if (b->edges[k / 2].vertices[k % 2] == i)
                b->vertex_edges[b->vertex_edge_count++] =
                    (vertex_edge){.edge = k / 2, .end = k % 2};
        v->edge_count = b->vertex_edge_count - v->first_edge;
        v->first_collapse = b->vertex_collapse_count;
        for (int k = 0; k < 4 * b->face_count; k++)
            if (b->faces[k / 4].collapsed[k % 4] == i)
                b->vertex_collapses[b->vertex_collapse_count++] =
                    (vertex_collapse){.face = k / 4, .side = k % 4};
        v->collapse_count = b->vertex_collapse_count - v->first_collapse;
    }
    return HR_OK;
}

hr_status body_join(const body_draft *d, parametric_body *b, hr_error *error)
{
    size_t side_count = 4 * (size_t)b->face_count;
    open_side *sides = malloc(side_count * sizeof *sides);
    b->edges = calloc(side_count, sizeof *b->edges);
    b->vertices = calloc((size_t)d->vertex_count + 3 * side_count, sizeof *b->vertices);
    b->maps = calloc(side_count, sizeof *b->maps);
    hr_status status = HR_ERR_MEMORY;
    if (sides && b->edges && b->vertices && b->maps) {
        for (int i = 0; i < d->vertex_count; i++)
            b->vertices[b->vertex_count++].position = d->vertices[i];
        find_collapsed_and_periodic(b);
        status = join_sides(d, b, sides, error);
    }
    if (status == HR_OK)
        status = list_incidence(b);
    free(sides);
    if (status != HR_OK)
        return status;
    b->is_closed = true;
    for (int i = 0; i < b->edge_count; i++)
        b->is_closed = b->is_closed && b->edges[i].use_count == 2;
    return HR_OK;
}

void body_unjoin(parametric_body *b)
{
    for (int i = 0; b->edges && i < b->edge_count; i++)
        nurbs_curve_free(&b->edges[i].curve);
    free(b->edges);
    free(b->vertices);
    free(b->maps);
    free(b->vertex_edges);
    free(b->vertex_collapses);
    b->edges = NULL;
    b->vertices = NULL;
    b->maps = NULL;
    b->map_count = 0;
    b->vertex_edges = NULL;
    b->vertex_collapses = NULL;
    b->edge_count = b->vertex_count = b->vertex_edge_count = b->vertex_collapse_count = 0;
}
