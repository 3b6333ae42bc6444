#include "collide/witness_automaton.h"

#include <stddef.h>

/* Sine of the angle beyond a face's or edge's border at which it is left: rounding, no more. */
static const double border_eps = 1e-9;
/* The same for leaving a vertex: hysteresis, at a cost of at most d eta^2 / 2. Along an edge
 * rounding is all that it must outlast; at a pole the reset, which moves the witness. */
static const double edge_eta = 1e-7;
static const double pole_eta = 2e-5;
/* Share of the parameter range that counts as the zone of a pole, and how far out of it a witness
 * is set when it leaves the vertex. */
static const double pole_zone = 1e-4;
static const double pole_reset = 2e-4;
/* In the zone the parameter around the pole is nearly unobservable; beyond this share of its range
 * from the best direction the witness goes back to the vertex and out again the right way. */
static const double pole_turn = 0.02;

enum { FAN_STEPS = 12 };

HR_RT vec3 witness_conormal(const jet *at, int side)
{
    vec3 out = at->d1[side_direction(side)];
    vec3 along = at->d1[1 - side_direction(side)];
    double aa = vec3_length_squared(along);
    if (aa > 0.0)
        out = vec3_add_scaled(out, -vec3_dot(out, along) / aa, along);
    if (!side_is_high(side))
        out = vec3_negate(out);
    return vec3_normalize_or(out, (vec3){0, 0, 0});
}

/* Cosine between e (unit) and the fan's direction at parameter t along the side, and its slope. */
HR_RT static double fan_cosine(const parametric_body *b, int face, int side, vec3 e, double t,
                               double *slope)
{
    const body_face *f = &b->faces[face];
    int d = side_direction(side);
    double sign = side_is_high(side) ? -1.0 : 1.0;
    double x[2];
    jet j;
    x[d] = side_is_high(side) ? f->high[d] : f->low[d];
    x[1 - d] = t;
    body_face_jet(b, face, x[0], x[1], NULL, &j);
    double length = vec3_length(j.d1[d]);
    if (!(length > 0.0)) {
        *slope = 0.0;
        return -1.0;
    }
    vec3 tau = vec3_scale(sign / length, j.d1[d]);
    double cosine = vec3_dot(e, tau);
    *slope =
        (sign * vec3_dot(e, j.d2[JET_UV]) - cosine * sign * vec3_dot(tau, j.d2[JET_UV])) / length;
    return cosine;
}

/* The zero of the slope between two parameters where it changes from rising to falling. */
HR_RT static double fan_refine(const parametric_body *b, int face, int side, vec3 e,
                               const double ends[2], const double slopes[2], double *at)
{
    double x0 = ends[0];
    double x1 = ends[1];
    double s0 = slopes[0];
    double s1 = slopes[1];
    double cosine = -1.0;
    for (int i = 0; i < FAN_STEPS; i++) {
        /* regula falsi; the end that stays is halved (Illinois) */
        double x = s0 - s1 > 0.0 ? x0 + (x1 - x0) * s0 / (s0 - s1) : 0.5 * (x0 + x1);
        double s;
        cosine = fan_cosine(b, face, side, e, x, &s);
        *at = x;
        if (fabs(s) * fabs(ends[1] - ends[0]) < 1e-9)
            break;
        if (s > 0.0) {
            x0 = x;
            s0 = s;
            s1 *= 0.5;
        } else {
            x1 = x;
            s1 = s;
            s0 *= 0.5;
        }
    }
    return cosine;
}

HR_RT double witness_fan(const parametric_body *b, const vertex_collapse *c, vec3 e, double least,
                         double *best)
{
    const body_face *f = &b->faces[c->face];
    int along = 1 - side_direction(c->side);
    double low = f->low[along];
    double width = (f->high[along] - low) / (BODY_FAN - 1);
    double top_cosine = -2.0;
    int top = 0;
    e = vec3_normalize_or(e, (vec3){0, 0, 0});
    for (int i = 0; i < BODY_FAN; i++) {
        double cosine = vec3_dot(e, c->fan[i]);
        if (cosine > top_cosine) {
            top_cosine = cosine;
            top = i;
        }
    }
    *best = top == BODY_FAN - 1 ? f->high[along] : low + width * top;
    /* between two stored directions the angle to e shrinks by at most half of theirs */
    if (top_cosine < least - 2.0 * c->reach)
        return top_cosine;
    double slopes[2];
    (void)fan_cosine(b, c->face, c->side, e, *best, &slopes[0]);
    int from = slopes[0] > 0.0 ? top : top - 1;
    if (f->is_periodic[along])
        from = (from + BODY_FAN - 1) % (BODY_FAN - 1);
    if (from < 0 || from >= BODY_FAN - 1)
        return top_cosine;
    double ends[2] = {low + width * from, low + width * (from + 1)};
    (void)fan_cosine(b, c->face, c->side, e, ends[0], &slopes[0]);
    (void)fan_cosine(b, c->face, c->side, e, ends[1], &slopes[1]);
    if (!(slopes[0] > 0.0 && slopes[1] < 0.0))
        return top_cosine;
    double refined;
    double cosine = fan_refine(b, c->face, c->side, e, ends, slopes, &refined);
    if (!(cosine > top_cosine))
        return top_cosine;
    *best = refined;
    return cosine;
}

/* Distance of a face's parameter from one side, as a share of the range. */
HR_RT static double side_distance(const body_face *f, const double *x, int side)
{
    int d = side_direction(side);
    double way = side_is_high(side) ? f->high[d] - x[d] : x[d] - f->low[d];
    return way / (f->high[d] - f->low[d]);
}

HR_RT static void go_to(const witness_body *b, witness_place *p, witness_feature feature, int index,
                        double u, double v)
{
    p->feature = feature;
    p->index = index;
    p->x[0] = u;
    p->x[1] = v;
    witness_place_evaluate(b, p);
}

/* The fan of a face's collapsed side, among those of its vertex. */
HR_RT static const vertex_collapse *find_collapse(const parametric_body *b, int face, int side)
{
    const body_vertex *v = &b->vertices[b->faces[face].collapsed[side]];
    const vertex_collapse *c = &b->vertex_collapses[v->first_collapse];
    for (int i = 1; i < v->collapse_count && (c->face != face || c->side != side); i++)
        c++;
    return c;
}

/* True if the witness in the zone of a collapsed side belongs on its vertex. */
HR_RT static bool belongs_on_pole(const witness_body *b, const witness_place *p, int side, vec3 e)
{
    const body_face *f = &b->body->faces[p->index];
    int along = 1 - side_direction(side);
    const vertex_collapse *c = find_collapse(b->body, p->index, side);
    double best;
    double cosine = witness_fan(b->body, c, e, 0.0, &best);
    double range = f->high[along] - f->low[along];
    double turn = fabs(p->x[along] - best) / range;
    if (f->is_periodic[along] && turn > 0.5)
        turn = 1.0 - turn;
    return cosine <= 0.0 || turn > pole_turn;
}

HR_RT static bool transit_face(const witness_body *b, witness_place *p, vec3 e, double length)
{
    const body_face *f = &b->body->faces[p->index];
    int best = -1;
    double most = border_eps * length;
    for (int side = 0; side < 4; side++) {
        double way = side_distance(f, p->x, side);
        if (f->is_periodic[side_direction(side)] || way > pole_zone)
            continue;
        if (f->collapsed[side] >= 0) {
            if (!belongs_on_pole(b, p, side, e))
                continue;
            go_to(b, p, WITNESS_VERTEX, f->collapsed[side], 0, 0);
            return true;
        }
        if (way > 0.0 || f->edges[side] < 0)
            continue;
        double beyond = vec3_dot(e, witness_conormal(&p->at, side));
        if (beyond > most) {
            most = beyond;
            best = side;
        }
    }
    if (best < 0)
        return false;
    double t = body_face_to_edge(b->body, p->index, best, p->x);
    go_to(b, p, WITNESS_EDGE, f->edges[best], t, 0);
    return true;
}

HR_RT static bool transit_edge(const witness_body *b, witness_place *p, vec3 e, double length)
{
    const body_edge *edge = &b->body->edges[p->index];
    double least = -border_eps * length;
    double target[2] = {0, 0};
    int face = -1;
    for (int i = 0; i < edge->use_count; i++) {
        double uv[2];
        jet j;
        body_edge_to_face(b->body, p->index, i, p->x[0], uv);
        body_face_jet(b->body, edge->use[i].face, uv[0], uv[1], NULL, &j);
        double beyond = vec3_dot(e, witness_conormal(&j, edge->use[i].side));
        if (beyond < least) {
            least = beyond;
            face = edge->use[i].face;
            target[0] = uv[0];
            target[1] = uv[1];
        }
    }
    if (face >= 0) {
        go_to(b, p, WITNESS_FACE, face, target[0], target[1]);
        return true;
    }
    if (edge->is_ring)
        return false;
    double along = vec3_dot(e, p->at.d1[0]);
    double enough = border_eps * length * vec3_length(p->at.d1[0]);
    int end = -1;
    if (p->x[0] <= edge->low && along < -enough)
        end = 0;
    else if (p->x[0] >= edge->high && along > enough)
        end = 1;
    if (end < 0)
        return false;
    go_to(b, p, WITNESS_VERTEX, edge->vertices[end], 0, 0);
    return true;
}

/* The best way out of a vertex so far. */
typedef struct way_out {
    double cosine;
    witness_feature feature;
    int index;
    double x[2];
} way_out;

HR_RT static void try_edges(const witness_body *b, const body_vertex *v, vec3 e, double length,
                            way_out *best)
{
    for (int i = 0; i < v->edge_count; i++) {
        const vertex_edge *ve = &b->body->vertex_edges[v->first_edge + i];
        const body_edge *edge = &b->body->edges[ve->edge];
        double cosine = vec3_dot(e, ve->tangent) / length;
        if (cosine > best->cosine)
            *best =
                (way_out){cosine, WITNESS_EDGE, ve->edge, {ve->end ? edge->high : edge->low, 0}};
    }
}

HR_RT static void try_fans(const witness_body *b, const body_vertex *v, vec3 e, way_out *best)
{
    for (int i = 0; i < v->collapse_count; i++) {
        const vertex_collapse *c = &b->body->vertex_collapses[v->first_collapse + i];
        const body_face *f = &b->body->faces[c->face];
        int d = side_direction(c->side);
        int along = 1 - d;
        double x[2];
        double cosine = witness_fan(b->body, c, e, best->cosine, &x[along]);
        /* the ends of a fan are edges, which were tried */
        bool is_end =
            !f->is_periodic[along] && (x[along] <= f->low[along] || x[along] >= f->high[along]);
        if (cosine <= best->cosine || (is_end && v->edge_count > 0))
            continue;
        double out = pole_reset * (f->high[d] - f->low[d]);
        x[d] = side_is_high(c->side) ? f->high[d] - out : f->low[d] + out;
        *best = (way_out){cosine, WITNESS_FACE, c->face, {x[0], x[1]}};
    }
}

HR_RT static bool transit_vertex(const witness_body *b, witness_place *p, vec3 e, double length)
{
    const body_vertex *v = &b->body->vertices[p->index];
    way_out best = {.cosine = v->collapse_count > 0 ? pole_eta : edge_eta, .index = -1};
    try_edges(b, v, e, length, &best);
    try_fans(b, v, e, &best);
    if (best.index < 0)
        return false;
    go_to(b, p, best.feature, best.index, best.x[0], best.x[1]);
    return true;
}

HR_RT bool witness_transit(const witness_body *b, witness_place *p, vec3 opposite)
{
    if (b->kind != WITNESS_BODY)
        return false;
    vec3 e = vec3_sub(opposite, p->at.p);
    double length = vec3_length(e);
    if (!(length > 0.0))
        return false;
    if (p->feature == WITNESS_FACE)
        return transit_face(b, p, e, length);
    if (p->feature == WITNESS_EDGE)
        return transit_edge(b, p, e, length);
    return transit_vertex(b, p, e, length);
}
