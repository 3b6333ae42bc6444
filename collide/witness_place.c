#include "collide/witness_place.h"

#include <stddef.h>

witness_body witness_body_point(vec3 point)
{
    return (witness_body){.kind = WITNESS_POINT, .point = point};
}

witness_body witness_body_parametric(const parametric_body *body)
{
    return (witness_body){.kind = WITNESS_BODY, .body = body, .size = body->size};
}

witness_body witness_body_ellipsoid(vec3 semi_axes)
{
    return (witness_body){
        .kind = WITNESS_ELLIPSOID, .semi_axes = semi_axes, .size = 2.0 * vec3_length(semi_axes)};
}

HR_RT static inline vec3 stretch(vec3 a, vec3 v)
{
    return (vec3){a.x * v.x, a.y * v.y, a.z * v.z};
}

/* The re-centred chart: p = A s, s <- normalise(s + E delta). At delta = 0 the second derivatives
 * are -A s on the diagonal. No poles anywhere. */
HR_RT static void evaluate_ellipsoid(const witness_body *b, witness_place *p)
{
    vec3 s = p->direction;
    vec3 here = stretch(b->semi_axes, s);
    /* Two axes without a root (Duff and others, 2017). */
    double sign = copysign(1.0, s.z);
    double a = -1.0 / (sign + s.z);
    double c = s.x * s.y * a;
    p->across[0] = (vec3){1.0 + sign * s.x * s.x * a, sign * c, -sign * s.x};
    p->across[1] = (vec3){c, sign + s.y * s.y * a, -s.y};
    p->at.p = here;
    p->at.d1[0] = stretch(b->semi_axes, p->across[0]);
    p->at.d1[1] = stretch(b->semi_axes, p->across[1]);
    p->at.d2[JET_UU] = p->at.d2[JET_VV] = vec3_negate(here);
    p->at.d2[JET_UV] = (vec3){0, 0, 0};
}

HR_RT void witness_place_evaluate(const witness_body *b, witness_place *p)
{
    if (b->kind == WITNESS_ELLIPSOID) {
        evaluate_ellipsoid(b, p);
    } else if (b->kind == WITNESS_POINT) {
        p->at = (jet){.p = b->point};
    } else if (p->feature == WITNESS_FACE) {
        body_face_jet(b->body, p->index, p->x[0], p->x[1], &p->span, &p->at);
    } else if (p->feature == WITNESS_EDGE) {
        body_edge_jet(b->body, p->index, p->x[0], &p->span, &p->at);
        /* A planar curve is the cross-section of a wall along z: that gives it a normal. */
        p->at.d1[1] = (vec3){0, 0, 1};
        p->at.d2[JET_UV] = p->at.d2[JET_VV] = (vec3){0, 0, 0};
    } else {
        p->at = (jet){.p = b->body->vertices[p->index].position};
    }
}

HR_RT static double edge_wrap(const body_edge *e, double t)
{
    if (e->is_ring && (t < e->low || t > e->high))
        t -= (e->high - e->low) * floor((t - e->low) / (e->high - e->low));
    return t < e->low ? e->low : t > e->high ? e->high : t;
}

HR_RT void witness_place_move(const witness_body *b, witness_place *p, const double *dx)
{
    if (b->kind == WITNESS_ELLIPSOID) {
        vec3 s = vec3_add_scaled(vec3_add_scaled(p->direction, dx[0], p->across[0]), dx[1],
                                 p->across[1]);
        /* never shorter than direction itself, which is at right angles to what is added */
        p->direction = vec3_scale(1.0 / vec3_length(s), s);
    } else if (b->kind == WITNESS_BODY && p->feature == WITNESS_FACE) {
        const body_face *f = &b->body->faces[p->index];
        p->x[0] = body_face_wrap(f, 0, p->x[0] + dx[0]);
        p->x[1] = body_face_wrap(f, 1, p->x[1] + dx[1]);
    } else if (b->kind == WITNESS_BODY && p->feature == WITNESS_EDGE) {
        p->x[0] = edge_wrap(&b->body->edges[p->index], p->x[0] + dx[0]);
    } else {
        return;
    }
    witness_place_evaluate(b, p);
}

/* x + dx without a new evaluation; second derivatives stay, the rest moves along. */
HR_RT static void move_by_taylor(const body_face *f, witness_place *p, const double *dx)
{
    jet *j = &p->at;
    vec3 turn_u = vec3_add(vec3_scale(dx[0], j->d2[JET_UU]), vec3_scale(dx[1], j->d2[JET_UV]));
    vec3 turn_v = vec3_add(vec3_scale(dx[0], j->d2[JET_UV]), vec3_scale(dx[1], j->d2[JET_VV]));
    vec3 half_u = vec3_add_scaled(j->d1[0], 0.5, turn_u);
    vec3 half_v = vec3_add_scaled(j->d1[1], 0.5, turn_v);
    j->p = vec3_add_scaled(vec3_add_scaled(j->p, dx[0], half_u), dx[1], half_v);
    j->d1[0] = vec3_add(j->d1[0], turn_u);
    j->d1[1] = vec3_add(j->d1[1], turn_v);
    p->x[0] = body_face_wrap(f, 0, p->x[0] + dx[0]);
    p->x[1] = body_face_wrap(f, 1, p->x[1] + dx[1]);
}

/* True if the step is small and stays off the borders. */
HR_RT static bool is_tiny(const parametric_body *b, const body_face *f, const witness_place *p,
                          const double *dx, double share)
{
    const nurbs_surface *s = &b->surfaces[f->surface];
    const int piece[2] = {p->span.u, p->span.v};
    for (int i = 0; i < 2; i++) {
        double width = s->breaks[i][piece[i] + 1] - s->breaks[i][piece[i]];
        double x = p->x[i] + dx[i];
        if (!(fabs(dx[i]) < share * width) || !(x > f->low[i]) || !(x < f->high[i]))
            return false;
    }
    return true;
}

HR_RT void witness_place_correct(const witness_body *b, witness_place *p, const double *dx,
                                 double share)
{
    if (b->kind == WITNESS_BODY && p->feature == WITNESS_FACE &&
        is_tiny(b->body, &b->body->faces[p->index], p, dx, share))
        move_by_taylor(&b->body->faces[p->index], p, dx);
    else
        witness_place_move(b, p, dx);
}

HR_RT void witness_place_box(const witness_body *b, const witness_place *p, int first,
                             witness_box *box)
{
    for (int i = 0; i < (int)p->feature; i++) {
        double low = 0.0;
        double high = 2.0;
        bool wraps = true;
        if (b->kind == WITNESS_BODY && p->feature == WITNESS_FACE) {
            const body_face *f = &b->body->faces[p->index];
            low = f->low[i];
            high = f->high[i];
            wraps = f->is_periodic[i];
        } else if (b->kind == WITNESS_BODY) {
            const body_edge *e = &b->body->edges[p->index];
            low = e->low;
            high = e->high;
            wraps = e->is_ring;
        }
        box->x[first + i] = p->x[i];
        box->low[first + i] = wraps ? -(double)INFINITY : low;
        box->high[first + i] = wraps ? (double)INFINITY : high;
        box->range[first + i] = high - low;
    }
}

/* Outward normal of the face of one use of an edge, at the edge's parameter t. */
HR_RT static vec3 use_normal(const parametric_body *b, int edge, int which, double t)
{
    double uv[2];
    jet j;
    int face = b->edges[edge].use[which].face;
    body_edge_to_face(b, edge, which, t, uv);
    body_face_jet(b, face, uv[0], uv[1], NULL, &j);
    return body_face_normal(&b->faces[face], &j);
}

HR_RT static vec3 edge_normal(const parametric_body *b, int edge, double t, const jet *at)
{
    const body_edge *e = &b->edges[edge];
    if (e->use_count == 0) /* planar and counter-clockwise: the tangent turned by -90 degrees */
        return vec3_normalize_or((vec3){at->d1[0].y, -at->d1[0].x, 0}, (vec3){0, 0, 0});
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < e->use_count; i++)
        sum = vec3_add(sum, use_normal(b, edge, i, t));
    return vec3_normalize_or(sum, (vec3){0, 0, 0});
}

/* Mean over the incident edges' normals, and over the middle of collapsed sides. */
HR_RT static vec3 vertex_normal(const parametric_body *b, int vertex)
{
    const body_vertex *v = &b->vertices[vertex];
    vec3 sum = {0, 0, 0};
    jet j;
    for (int i = 0; i < v->edge_count; i++) {
        const vertex_edge *ve = &b->vertex_edges[v->first_edge + i];
        const body_edge *e = &b->edges[ve->edge];
        /* a hair inside, where faces with collapsed sides have a normal */
        double hair = 1e-4 * (e->high - e->low);
        double t = ve->end ? e->high - hair : e->low + hair;
        body_edge_jet(b, ve->edge, t, NULL, &j);
        sum = vec3_add(sum, edge_normal(b, ve->edge, t, &j));
    }
    for (int i = 0; i < v->collapse_count; i++) {
        const vertex_collapse *c = &b->vertex_collapses[v->first_collapse + i];
        const body_face *f = &b->faces[c->face];
        int d = side_direction(c->side);
        double x[2] = {0.5 * (f->low[0] + f->high[0]), 0.5 * (f->low[1] + f->high[1])};
        double hair = 1e-4 * (f->high[d] - f->low[d]);
        x[d] = side_is_high(c->side) ? f->high[d] - hair : f->low[d] + hair;
        body_face_jet(b, c->face, x[0], x[1], NULL, &j);
        sum = vec3_add(sum, body_face_normal(f, &j));
    }
    return vec3_normalize_or(sum, (vec3){0, 0, 0});
}

HR_RT vec3 witness_place_normal(const witness_body *b, const witness_place *p)
{
    if (b->kind == WITNESS_POINT)
        return (vec3){0, 0, 0};
    if (p->feature == WITNESS_FACE)
        return witness_normal(&p->at, witness_place_outward(b, p));
    if (p->feature == WITNESS_EDGE)
        return edge_normal(b->body, p->index, p->x[0], &p->at);
    return vertex_normal(b->body, p->index);
}

HR_RT double witness_place_outward(const witness_body *b, const witness_place *p)
{
    if (b->kind == WITNESS_ELLIPSOID)
        return 1.0;
    if (b->kind == WITNESS_BODY && p->feature == WITNESS_FACE)
        return b->body->faces[p->index].outward;
    if (b->kind == WITNESS_BODY && p->feature == WITNESS_EDGE && b->body->is_planar)
        return 1.0; /* t x z points right of a counter-clockwise curve: outward */
    return 0.0;
}

HR_RT void witness_place_seed(const witness_body *b, vec3 target, witness_place *out)
{
    *out = (witness_place){.feature = WITNESS_VERTEX};
    if (b->kind == WITNESS_ELLIPSOID) {
        vec3 a = b->semi_axes;
        out->feature = WITNESS_FACE;
        out->direction = vec3_normalize_or((vec3){target.x / a.x, target.y / a.y, target.z / a.z},
                                           (vec3){1, 0, 0});
    } else if (b->kind == WITNESS_BODY) {
        double best = (double)INFINITY;
        for (int i = 0; i < b->body->sample_count; i++) {
            const body_sample *s = &b->body->samples[i];
            double d = vec3_length_squared(vec3_sub(s->p, target));
            if (!(d < best))
                continue;
            best = d;
            out->index = s->face;
            out->x[0] = s->u;
            out->x[1] = s->v;
        }
        out->feature = b->body->is_planar ? WITNESS_EDGE : WITNESS_FACE;
    }
    witness_place_evaluate(b, out);
}

HR_RT void witness_place_set(const witness_body *b, witness_feature feature, int index, double u,
                             double v, witness_place *out)
{
    *out = (witness_place){.feature = feature, .index = index, .x = {u, v}, .direction = {1, 0, 0}};
    witness_place_evaluate(b, out);
}
