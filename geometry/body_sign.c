/* Inside or outside: the sign of the distance from the nearest point.
 *
 * On a face its normal decides. On an edge or vertex the faces around may disagree; the mean of
 * their normals, each weighted by the angle it fills there, never does (Baerentzen and Aanaes
 * 2005: shown for meshes, and it carries over because only the tangent cone matters). */
#include <stddef.h>

#include "geometry/body_closest.h"

enum { FAN = 32 };

static double angle_between(vec3 a, vec3 b)
{
    return atan2(vec3_length(vec3_cross(a, b)), vec3_dot(a, b));
}

/* Normals around a side that shrinks to the vertex. With v0 the side, f_u = (v - v0) f_uv close to
 * it, so the normal has the direction of f_uv x f_v there; the other sides likewise. */
static vec3 fan_normal(const parametric_body *b, int face, int side)
{
    const body_face *f = &b->faces[face];
    int k = side_direction(side), other = 1 - k;
    double sign = f->outward * (side_is_high(side) ? -1.0 : 1.0);
    vec3 sum = {0, 0, 0}, last = {0, 0, 0};
    for (int i = 0; i <= FAN; i++) {
        double uv[2];
        jet j;
        uv[k] = side_is_high(side) ? f->high[k] : f->low[k];
        uv[other] = f->low[other] + (f->high[other] - f->low[other]) * i / FAN;
        body_face_jet(b, face, uv[0], uv[1], NULL, &j);
        vec3 n = k == 1 ? vec3_cross(j.d2[JET_UV], j.d1[1]) : vec3_cross(j.d1[0], j.d2[JET_UV]);
        n = vec3_normalize_or(n, (vec3){0, 0, 0});
        double weight = i == 0 ? 0.0 : angle_between(last, j.d1[k]);
        sum = vec3_add_scaled(sum, sign * weight, n);
        last = j.d1[k];
    }
    return sum;
}

static vec3 corner_normal(const parametric_body *b, int face, const double uv[2])
{
    const body_face *f = &b->faces[face];
    jet j;
    body_face_jet(b, face, uv[0], uv[1], NULL, &j);
    vec3 n = body_face_normal(f, &j);
    double su = uv[0] == f->high[0] ? -1.0 : 1.0, sv = uv[1] == f->high[1] ? -1.0 : 1.0;
    double weight = angle_between(vec3_scale(su, j.d1[0]), vec3_scale(sv, j.d1[1]));
    return vec3_scale(weight, n);
}

static vec3 vertex_normal(const parametric_body *b, vec3 at)
{
    vec3 sum = {0, 0, 0};
    for (int face = 0; face < b->face_count; face++) {
        const body_face *f = &b->faces[face];
        for (int side = 0; side < 4; side++)
            if (f->collapsed[side] >= 0 &&
                vec3_distance(b->vertices[f->collapsed[side]].position, at) <= 1e-6 * b->size)
                sum = vec3_add(sum, fan_normal(b, face, side));
        for (int k = 0; k < 4; k++) {
            int u_side = k / 2 ? SIDE_U1 : SIDE_U0, v_side = k % 2 ? SIDE_V1 : SIDE_V0;
            if (f->collapsed[u_side] >= 0 || f->collapsed[v_side] >= 0)
                continue;
            double uv[2] = {k / 2 ? f->high[0] : f->low[0], k % 2 ? f->high[1] : f->low[1]};
            jet j;
            body_face_jet(b, face, uv[0], uv[1], NULL, &j);
            if (vec3_distance(j.p, at) <= 1e-6 * b->size)
                sum = vec3_add(sum, corner_normal(b, face, uv));
        }
    }
    return sum;
}

static vec3 edge_normal(const parametric_body *b, int edge, double t)
{
    vec3 sum = {0, 0, 0};
    for (int which = 0; which < b->edges[edge].use_count; which++) {
        int face = b->edges[edge].use[which].face;
        double uv[2];
        jet j;
        body_edge_to_face(b, edge, which, t, uv);
        body_face_jet(b, face, uv[0], uv[1], NULL, &j);
        sum = vec3_add(sum, body_face_normal(&b->faces[face], &j));
    }
    return sum;
}

static vec3 surface_normal(const parametric_body *b, const body_nearest *n)
{
    const body_face *f = &b->faces[n->face];
    double uv[2] = {n->u, n->v};
    int sides = 0, side = -1;
    for (int s = 0; s < 4; s++) {
        int k = side_direction(s);
        double bound = side_is_high(s) ? f->high[k] : f->low[k];
        bool is_on = !f->is_periodic[k] && fabs(uv[k] - bound) <= 1e-9 * (f->high[k] - f->low[k]);
        sides += is_on;
        if (is_on && (side < 0 || f->collapsed[s] >= 0))
            side = s;
    }
    if (sides > 1 || (side >= 0 && f->collapsed[side] >= 0))
        return vertex_normal(b, n->p);
    if (side >= 0 && f->edges[side] >= 0)
        return edge_normal(b, f->edges[side], body_face_to_edge(b, n->face, side, uv));
    jet j;
    body_face_jet(b, n->face, uv[0], uv[1], NULL, &j);
    return body_face_normal(f, &j);
}

static vec3 curve_normal(const parametric_body *b, const body_nearest *n)
{
    const body_edge *e = &b->edges[n->face];
    int count = b->edge_count, neighbour = n->face;
    double t = n->u, there = n->u;
    if (t == e->low || t == e->high) {
        neighbour = t == e->low ? (n->face + count - 1) % count : (n->face + 1) % count;
        there = t == e->low ? b->edges[neighbour].high : b->edges[neighbour].low;
    }
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        jet j;
        body_edge_jet(b, i ? neighbour : n->face, i ? there : t, NULL, &j);
        vec3 outward = {j.d1[0].y, -j.d1[0].x, 0};
        sum = vec3_add(sum, vec3_normalize_or(outward, (vec3){0, 0, 0}));
    }
    return sum;
}

void body_nearest_finish(const parametric_body *b, vec3 point, body_nearest *n)
{
    jet j;
    if (b->is_planar)
        body_edge_jet(b, n->face, n->u, NULL, &j);
    else
        body_face_jet(b, n->face, n->u, n->v, NULL, &j);
    n->p = j.p;
    n->patch = b->is_planar ? n->face : b->faces[n->face].surface;
    vec3 normal = b->is_planar ? curve_normal(b, n) : surface_normal(b, n);
    n->normal = vec3_normalize_or(normal, (vec3){0, 0, 0});
    vec3 away = vec3_sub(point, j.p);
    n->distance = vec3_length(away);
    /* A planar body has an inside only in its plane. */
    bool has_inside = b->is_closed && (!b->is_planar || point.z == 0);
    if (has_inside && vec3_dot(away, n->normal) < 0)
        n->distance = -n->distance;
}
