/* Downhill on the distance: Newton on one face, and on from face to face. */
#include <stddef.h>

#include "geometry/body_closest.h"

enum { POLISH_STEPS = 60, HALVINGS = 30, HOPS_MAX = 64 };

/* Half the squared distance, its gradient and second derivatives (uu, uv, vv) on a feature. */
typedef struct slope {
    double f, g[2], h[3], gauss[3];
    vec3 p;
} slope;

static void evaluate(const parametric_body *b, int face, vec3 point, const double uv[2], slope *out)
{
    jet j = {0};
    if (b->is_planar)
        body_edge_jet(b, face, uv[0], NULL, &j);
    else
        body_face_jet(b, face, uv[0], uv[1], NULL, &j);
    vec3 e = vec3_sub(j.p, point);
    out->p = j.p;
    out->f = 0.5 * vec3_dot(e, e);
    for (int d = 0; d < 2; d++)
        out->g[d] = vec3_dot(e, j.d1[d]);
    out->gauss[0] = vec3_dot(j.d1[0], j.d1[0]);
    out->gauss[1] = vec3_dot(j.d1[0], j.d1[1]);
    out->gauss[2] = vec3_dot(j.d1[1], j.d1[1]);
    for (int i = 0; i < 3; i++)
        out->h[i] = out->gauss[i] + vec3_dot(e, j.d2[i]);
}

/* Solves the 2x2 system on the free parameters if it is safely positive; false otherwise. */
static bool solve(const double h[3], const double g[2], const bool is_free[2], double step[2])
{
    step[0] = step[1] = 0.0;
    for (int d = 0; d < 2; d++)
        if (is_free[d] && !(h[d + d] > 0))
            return false;
    if (is_free[0] && is_free[1]) {
        double det = h[0] * h[2] - h[1] * h[1];
        if (!(det > 1e-12 * h[0] * h[2]))
            return false;
        step[0] = -(h[2] * g[0] - h[1] * g[1]) / det;
        step[1] = -(h[0] * g[1] - h[1] * g[0]) / det;
        return true;
    }
    for (int d = 0; d < 2; d++)
        if (is_free[d])
            step[d] = -g[d] / h[d + d];
    return true;
}

/* Newton's step where it leads down, Gauss-Newton's with the curvature that adds where not. */
static void choose_step(const slope *s, bool is_free[2], const double range[2], double step[2])
{
    if (!solve(s->h, s->g, is_free, step)) {
        double safe[3];
        for (int i = 0; i < 3; i++)
            safe[i] = s->gauss[i];
        safe[0] = fmax(safe[0], s->h[0]) * (1 + 1e-3);
        safe[2] = fmax(safe[2], s->h[2]) * (1 + 1e-3);
        for (int d = 0; d < 2; d++) /* a pole: that parameter moves nothing */
            is_free[d] = is_free[d] && safe[d + d] > 0;
        if (!solve(safe, s->g, is_free, step))
            step[0] = step[1] = 0.0;
    }
    double longest = fmax(fabs(step[0]) / range[0], fabs(step[1]) / range[1]);
    if (longest > 0.25) {
        step[0] *= 0.25 / longest;
        step[1] *= 0.25 / longest;
    }
}

static double steepness(const slope *s, const bool is_free[2])
{
    double sum = 0.0;
    for (int d = 0; d < 2; d++)
        if (is_free[d] && s->gauss[d + d] > 0)
            sum += s->g[d] * s->g[d] / s->gauss[d + d];
    return sum;
}

typedef struct box2 {
    double low[2], high[2], range[2];
    bool is_periodic[2];
} box2;

static box2 domain(const parametric_body *b, int face)
{
    box2 d = {.low = {0, 0}, .high = {0, 0}, .range = {1, 1}};
    if (b->is_planar) {
        d.low[0] = b->edges[face].low;
        d.high[0] = b->edges[face].high;
        d.range[0] = d.high[0] - d.low[0];
        return d;
    }
    for (int k = 0; k < 2; k++) {
        d.low[k] = b->faces[face].low[k];
        d.high[k] = b->faces[face].high[k];
        d.range[k] = d.high[k] - d.low[k];
        d.is_periodic[k] = b->faces[face].is_periodic[k];
    }
    return d;
}

static void move(const box2 *d, const double from[2], const double step[2], double scale,
                 double to[2])
{
    for (int k = 0; k < 2; k++) {
        double x = from[k] + scale * step[k];
        if (d->is_periodic[k] && (x < d->low[k] || x > d->high[k]))
            x -= d->range[k] * floor((x - d->low[k]) / d->range[k]);
        /* What rounding leaves beside a border is on it: only there does the next face begin. */
        double near = 1e-12 * d->range[k];
        to[k] = x < d->low[k] + near ? d->low[k] : x > d->high[k] - near ? d->high[k] : x;
    }
}

/* One accepted step; false when there is none that helps. */
static bool descend_once(const parametric_body *b, int face, vec3 point, const box2 *d, slope *s,
                         double uv[2])
{
    bool is_free[2];
    double step[2];
    for (int k = 0; k < 2; k++) {
        bool leaves = !d->is_periodic[k] &&
                      ((uv[k] <= d->low[k] && s->g[k] > 0) || (uv[k] >= d->high[k] && s->g[k] < 0));
        is_free[k] = !leaves && d->high[k] > d->low[k];
    }
    bool may_move[2] = {is_free[0], is_free[1]};
    choose_step(s, may_move, d->range, step);
    double scale = 1.0;
    for (int i = 0; i < HALVINGS; i++, scale *= 0.5) {
        double to[2];
        slope t;
        move(d, uv, step, scale, to);
        evaluate(b, face, point, to, &t);
        /* Near the foot the distance is flat within rounding; the gradient still tells. */
        bool is_level = t.f <= s->f * (1 + 1e-14) + 1e-300 &&
                        steepness(&t, is_free) < 0.25 * steepness(s, is_free);
        if (!(t.f < s->f * (1 - 1e-15)) && !is_level)
            continue;
        uv[0] = to[0];
        uv[1] = to[1];
        *s = t;
        return true;
    }
    return false;
}

void body_polish(const parametric_body *b, int face, vec3 point, double uv[2], vec3 *foot)
{
    box2 d = domain(b, face);
    double none[2] = {0, 0}, at[2] = {uv[0], uv[1]};
    slope s;
    move(&d, at, none, 0.0, uv);
    evaluate(b, face, point, uv, &s);
    for (int i = 0; i < POLISH_STEPS; i++)
        if (!descend_once(b, face, point, &d, &s, uv))
            break;
    *foot = s.p;
}

/* --- from face to face --------------------------------------------------------------------------
 */

typedef struct descent {
    const parametric_body *b;
    vec3 point;
    int face;
    double uv[2], distance;
} descent;

/* Polishes from there; takes it if it is nearer. */
static bool try_face(descent *d, int face, double u, double v)
{
    double uv[2] = {u, v};
    vec3 foot;
    body_polish(d->b, face, d->point, uv, &foot);
    double distance = vec3_distance(foot, d->point);
    if (!(distance < d->distance * (1 - 1e-13)))
        return false;
    d->face = face;
    d->uv[0] = uv[0];
    d->uv[1] = uv[1];
    d->distance = distance;
    return true;
}

static bool cross_sides(descent *d)
{
    int face = d->face;
    double uv[2] = {d->uv[0], d->uv[1]};
    const body_face *f = &d->b->faces[face];
    for (int side = 0; side < 4; side++) {
        int k = side_direction(side), edge = f->edges[side];
        double bound = side_is_high(side) ? f->high[k] : f->low[k];
        if (uv[k] != bound || edge < 0)
            continue;
        double t = body_face_to_edge(d->b, face, side, uv);
        for (int which = 0; which < d->b->edges[edge].use_count; which++) {
            double there[2];
            body_edge_to_face(d->b, edge, which, t, there);
            if (try_face(d, d->b->edges[edge].use[which].face, there[0], there[1]))
                return true;
        }
    }
    return false;
}

/* At a vertex every face around it is asked, from a little inside. */
static bool leave_vertex(descent *d)
{
    vec3 at;
    double uv[2] = {d->uv[0], d->uv[1]};
    jet j;
    body_face_jet(d->b, d->face, uv[0], uv[1], NULL, &j);
    at = j.p;
    int vertex = -1;
    for (int i = 0; i < d->b->vertex_count && vertex < 0; i++)
        if (vec3_distance(d->b->vertices[i].position, at) <= 1e-6 * d->b->size)
            vertex = i;
    if (vertex < 0)
        return false;
    const body_vertex *v = &d->b->vertices[vertex];
    for (int i = 0; i < v->edge_count; i++) {
        const vertex_edge *ve = &d->b->vertex_edges[v->first_edge + i];
        const body_edge *e = &d->b->edges[ve->edge];
        for (int which = 0; which < e->use_count; which++) {
            double there[2];
            body_edge_to_face(d->b, ve->edge, which, ve->end ? e->high : e->low, there);
            if (try_face(d, e->use[which].face, there[0], there[1]))
                return true;
        }
    }
    for (int i = 0; i < 17 * v->collapse_count; i++) {
        const vertex_collapse *c = &d->b->vertex_collapses[v->first_collapse + i / 17];
        const body_face *f = &d->b->faces[c->face];
        int k = side_direction(c->side);
        double there[2];
        there[k] = side_is_high(c->side) ? f->high[k] - 1e-3 * (f->high[k] - f->low[k])
                                         : f->low[k] + 1e-3 * (f->high[k] - f->low[k]);
        there[1 - k] = f->low[1 - k] + (f->high[1 - k] - f->low[1 - k]) * (i % 17) / 16.0;
        if (try_face(d, c->face, there[0], there[1]))
            return true;
    }
    return false;
}

static bool next_curve(descent *d)
{
    const body_edge *e = &d->b->edges[d->face];
    if (d->uv[0] != e->low && d->uv[0] != e->high)
        return false;
    int n = d->b->edge_count;
    int other = d->uv[0] == e->low ? (d->face + n - 1) % n : (d->face + 1) % n;
    const body_edge *o = &d->b->edges[other];
    return try_face(d, other, d->uv[0] == e->low ? o->high : o->low, 0.0);
}

hr_status body_descend(const parametric_body *b, int face, double u, double v, vec3 point,
                       body_nearest *out)
{
    if (!vec3_is_finite(point) || !isfinite(u) || !isfinite(v))
        return HR_ERR_NOT_FINITE;
    descent d = {.b = b, .point = point, .face = face, .distance = HUGE_VAL};
    try_face(&d, face, u, v);
    bool is_moving = true;
    for (int hop = 0; hop < HOPS_MAX && is_moving; hop++)
        is_moving = b->is_planar ? next_curve(&d) : cross_sides(&d) || leave_vertex(&d);
    *out = (body_nearest){.face = d.face, .u = d.uv[0], .v = d.uv[1]};
    body_nearest_finish(b, point, out);
    return HR_OK;
}
