/* Which way is out, and what is convex. */
#include <stddef.h>
#include <stdlib.h>

#include "geometry/body_draft.h"

enum { GRID = 13, SAMPLES_MAX = 6000 };
#define CONVEX_TOLERANCE                                                                           \
    1e-6                  /* of the body's size, as far as a tangent plane may fail to support */
#define SMOOTH_ANGLE 1e-6 /* rad */

typedef struct point_sample {
    vec3 p, n; /* n: unit normal along f_u x f_v, zero at a pole */
    int face;
    double u, v;
} point_sample;

typedef struct sampling {
    int per_face; /* samples of one face: side * side */
    int side;
    point_sample *items;
} sampling;

static hr_status sample_faces(const parametric_body *b, sampling *out)
{
    int side = GRID;
    while (side > 4 && (long)b->face_count * side * side > SAMPLES_MAX)
        side--;
    out->side = side;
    out->per_face = side * side;
    out->items = calloc((size_t)b->face_count * (size_t)out->per_face, sizeof *out->items);
    if (!out->items)
        return HR_ERR_MEMORY;
    for (int f = 0; f < b->face_count; f++)
        for (int k = 0; k < out->per_face; k++) {
            const body_face *face = &b->faces[f];
            point_sample *s = &out->items[f * out->per_face + k];
            s->face = f;
            int row = k / side, column = k % side;
            s->u = face->low[0] + (face->high[0] - face->low[0]) * row / (side - 1);
            s->v = face->low[1] + (face->high[1] - face->low[1]) * column / (side - 1);
            jet j;
            body_face_jet(b, f, s->u, s->v, NULL, &j);
            s->p = j.p;
            s->n = body_regular_normal(b, f, &j);
        }
    return HR_OK;
}

/* Do the tangent planes at its samples support all its samples, and on which side? */
static face_convexity classify(const parametric_body *b, const sampling *s, int face)
{
    const point_sample *items = s->items + (ptrdiff_t)face * s->per_face;
    double tolerance = CONVEX_TOLERANCE * b->size;
    bool is_plus = true, is_minus = true;
    for (int i = 0; i < s->per_face; i++)
        for (int k = 0; k < s->per_face; k++) {
            double height = vec3_dot(items[i].n, vec3_sub(items[k].p, items[i].p));
            is_plus = is_plus && height <= tolerance;
            is_minus = is_minus && height >= -tolerance;
        }
    return is_plus && is_minus ? FACE_FLAT
           : is_plus           ? FACE_CONVEX_PLUS
           : is_minus          ? FACE_CONVEX_MINUS
                               : FACE_NOT_CONVEX;
}

/* +1 if the edge runs along the face's border counter-clockwise seen against f_u x f_v. */
static int border_direction(const body_edge_use *use)
{
    int ccw = use->side == SIDE_V0 || use->side == SIDE_U1 ? 1 : -1;
    return use->b > 0 ? ccw : -ccw;
}

/* Faces that share an edge run along it in opposite directions: the sign of one gives the other's.
 * True if it reached a new face. */
static bool cross_edge(parametric_body *b, const body_edge *e, int from, int number, int *part)
{
    const body_edge_use *here = &e->use[from], *there = &e->use[1 - from];
    if (e->use_count != 2 || part[here->face] != number || part[there->face] >= 0)
        return false;
    part[there->face] = number;
    b->faces[there->face].outward =
        -b->faces[here->face].outward * border_direction(here) * border_direction(there);
    return true;
}

/* All that hangs together with `start`; part[f] is the number of f's connected part. */
static void orient_part(parametric_body *b, int start, int number, int *part)
{
    part[start] = number;
    bool is_growing = true;
    while (is_growing) {
        is_growing = false;
        for (int k = 0; k < 2 * b->edge_count; k++)
            if (cross_edge(b, &b->edges[k / 2], k % 2, number, part))
                is_growing = true;
    }
}

/* Six times the volume between a part and the body's middle, from the samples' midpoint cells. */
static double part_volume(const parametric_body *b, const int *part, int number)
{
    vec3 middle = vec3_lerp(b->box_low, b->box_high, 0.5);
    double sum = 0.0;
    for (int f = 0; f < b->face_count; f++) {
        const body_face *face = &b->faces[f];
        if (part[f] != number)
            continue;
        int n = 24;
        double du = (face->high[0] - face->low[0]) / n, dv = (face->high[1] - face->low[1]) / n;
        for (int k = 0; k < n * n; k++) {
            int row = k / n, column = k % n;
            jet j;
            body_face_jet(b, f, face->low[0] + du * (row + 0.5), face->low[1] + dv * (column + 0.5),
                          NULL, &j);
            sum += face->outward * du * dv *
                   vec3_dot(vec3_sub(j.p, middle), vec3_cross(j.d1[0], j.d1[1]));
        }
    }
    return sum;
}

/* An open part turns so that its tangent planes support it, if one of the two ways does. */
static int open_part_sign(const parametric_body *b, const int *part, int number)
{
    int plus = 0, minus = 0;
    for (int f = 0; f < b->face_count; f++) {
        if (part[f] != number)
            continue;
        bool faces_plus = b->faces[f].outward > 0;
        plus += b->faces[f].convexity == (faces_plus ? FACE_CONVEX_PLUS : FACE_CONVEX_MINUS);
        minus += b->faces[f].convexity == (faces_plus ? FACE_CONVEX_MINUS : FACE_CONVEX_PLUS);
    }
    return minus > plus ? -1 : 1;
}

static bool part_is_closed(const parametric_body *b, const int *part, int number)
{
    for (int i = 0; i < b->edge_count; i++)
        if (b->edges[i].use_count == 1 && part[b->edges[i].use[0].face] == number)
            return false;
    return true;
}

static hr_status orient_faces(parametric_body *b)
{
    int *part = malloc((size_t)b->face_count * sizeof *part);
    if (!part)
        return HR_ERR_MEMORY;
    for (int f = 0; f < b->face_count; f++)
        part[f] = -1;
    int parts = 0;
    for (int f = 0; f < b->face_count; f++) {
        if (part[f] >= 0)
            continue;
        orient_part(b, f, parts, part);
        double sign = part_is_closed(b, part, parts) ? part_volume(b, part, parts)
                                                     : open_part_sign(b, part, parts);
        for (int k = 0; k < b->face_count; k++)
            if (part[k] == parts && sign < 0)
                b->faces[k].outward = -b->faces[k].outward;
        parts++;
    }
    free(part);
    return HR_OK;
}

/* The first pair (tangent plane, point in front of it), or false when every plane supports. */
static bool find_dent(const parametric_body *b, const sampling *s, const point_sample **plane,
                      const point_sample **point)
{
    int n = b->face_count * s->per_face;
    double worst = CONVEX_TOLERANCE * b->size;
    *plane = NULL;
    for (int i = 0; i < n; i++) {
        vec3 normal = vec3_scale(b->faces[s->items[i].face].outward, s->items[i].n);
        for (int k = 0; k < n; k++) {
            double height = vec3_dot(normal, vec3_sub(s->items[k].p, s->items[i].p));
            if (height <= worst)
                continue;
            worst = height;
            *plane = &s->items[i];
            *point = &s->items[k];
        }
        if (*plane)
            return true;
    }
    return false;
}

static hr_status check_convex(const body_draft *d, parametric_body *b, const sampling *s,
                              hr_error *error)
{
    const point_sample *plane, *point;
    b->is_convex = true;
    for (int f = 0; f < b->face_count && !d->must_be_convex; f++)
        b->is_convex = b->is_convex && b->faces[f].convexity != FACE_NOT_CONVEX;
    if (!b->is_convex || !find_dent(b, s, &plane, &point))
        return HR_OK;
    b->is_convex = false;
    if (!d->must_be_convex)
        return HR_OK;
    char where[300];
    body_where(d, b->faces[plane->face].surface, where, sizeof where);
    double height = fabs(vec3_dot(plane->n, vec3_sub(point->p, plane->p)));
    return error_set(error, HR_ERR_FORMAT,
                     "%s: at u = %.6g, v = %.6g: expected a convex body behind its tangent plane, "
                     "found patch %d at u = %.6g, v = %.6g %.6g in front of it",
                     where, plane->u, plane->v, b->faces[point->face].surface, point->u, point->v,
                     height);
}

static vec3 normal_beside(const parametric_body *b, int edge, int which, double t)
{
    int face = b->edges[edge].use[which].face;
    double uv[2];
    jet j;
    body_edge_to_face(b, edge, which, t, uv);
    body_face_jet(b, face, uv[0], uv[1], NULL, &j);
    return body_face_normal(&b->faces[face], &j);
}

static void find_smooth_edges(parametric_body *b)
{
    for (int i = 0; i < b->edge_count; i++) {
        body_edge *e = &b->edges[i];
        e->is_smooth = e->use_count == 2;
        for (int k = 1; k < 8 && e->is_smooth; k++) {
            double t = e->low + (e->high - e->low) * k / 8.0;
            vec3 m = normal_beside(b, i, 0, t), n = normal_beside(b, i, 1, t);
            e->is_smooth = vec3_dot(m, n) > 0 && vec3_length(vec3_cross(m, n)) < SMOOTH_ANGLE;
        }
    }
}

hr_status body_orient(const body_draft *d, parametric_body *b, hr_error *error)
{
    sampling s = {0};
    hr_status status = sample_faces(b, &s);
    for (int f = 0; f < b->face_count && status == HR_OK; f++)
        b->faces[f].convexity = classify(b, &s, f);
    if (status == HR_OK)
        status = orient_faces(b);
    if (status == HR_OK)
        status = check_convex(d, b, &s, error);
    if (status == HR_OK)
        find_smooth_edges(b);
    free(s.items);
    return status;
}
