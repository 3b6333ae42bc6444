#include "tests/support/witness_reference.h"

#include <math.h>
#include <stddef.h>

/* What is maximised over one feature: direction . p, or -|p - point|^2 / 2. */
typedef struct objective {
    bool is_support;
    vec3 vector;
} objective;

static double value_of(const objective *o, vec3 p)
{
    return o->is_support ? vec3_dot(o->vector, p)
                         : -0.5 * vec3_length_squared(vec3_sub(p, o->vector));
}

static vec3 pull_of(const objective *o, vec3 p)
{
    return o->is_support ? o->vector : vec3_sub(o->vector, p);
}

/* One feature with its box: a face, or an edge (then the second parameter is idle). */
typedef struct piece {
    const parametric_body *body;
    int face, edge; /* one of them is -1 */
    double low[2], high[2];
} piece;

static jet piece_jet(const piece *s, const double *x)
{
    jet j = {.p = {0, 0, 0}};
    if (s->face >= 0)
        body_face_jet(s->body, s->face, x[0], x[1], NULL, &j);
    else
        body_edge_jet(s->body, s->edge, x[0], NULL, &j);
    return j;
}

/* Newton where it rises, else the gradient; halved until the value rises. Bounds by clamping the
 * free set. Ends when no step helps. */
static double climb(const piece *s, const objective *o, double *x, vec3 *out)
{
    int n = s->face >= 0 ? 2 : 1;
    jet j = piece_jet(s, x);
    double value = value_of(o, j.p);
    for (int step = 0; step < 200; step++) {
        vec3 pull = pull_of(o, j.p);
        double g[2] = {vec3_dot(pull, j.d1[0]), n > 1 ? vec3_dot(pull, j.d1[1]) : 0};
        bool is_held[2] = {false, n < 2};
        for (int i = 0; i < n; i++)
            is_held[i] = (g[i] > 0 && x[i] >= s->high[i]) || (g[i] < 0 && x[i] <= s->low[i]);
        double metric = o->is_support ? 0.0 : 1.0;
        double h[3] = {metric * vec3_dot(j.d1[0], j.d1[0]) - vec3_dot(pull, j.d2[0]),
                       metric * vec3_dot(j.d1[0], j.d1[1]) - vec3_dot(pull, j.d2[1]),
                       metric * vec3_dot(j.d1[1], j.d1[1]) - vec3_dot(pull, j.d2[2])};
        double dx[2] = {0, 0};
        double det = h[0] * h[2] - h[1] * h[1];
        if (!is_held[0] && !is_held[1] && h[0] > 0 && det > 0) {
            dx[0] = (h[2] * g[0] - h[1] * g[1]) / det;
            dx[1] = (h[0] * g[1] - h[1] * g[0]) / det;
        } else {
            for (int i = 0; i < n; i++) {
                double c = i ? h[2] : h[0];
                double a = vec3_dot(j.d1[i], j.d1[i]);
                if (!is_held[i] && a > 0)
                    dx[i] = g[i] / (c > 1e-9 * a ? c : a);
            }
        }
        bool has_risen = false;
        for (int half = 0; half < 40 && !has_risen; half++) {
            double y[2] = {x[0], x[1]};
            for (int i = 0; i < n; i++) {
                y[i] = fmin(s->high[i], fmax(s->low[i], x[i] + dx[i]));
                dx[i] *= 0.5;
            }
            jet k = piece_jet(s, y);
            double now = value_of(o, k.p);
            if (now > value) {
                value = now;
                x[0] = y[0];
                x[1] = y[1];
                j = k;
                has_risen = true;
            }
        }
        if (!has_risen)
            break;
    }
    *out = j.p;
    return value;
}

/* The best of a grid on the piece and the best of its inner points (at a pole a climb cannot turn),
 * then a climb from both. */
static double best_on(const piece *s, const objective *o, vec3 *out)
{
    const int grid = 12;
    double best[2] = {-(double)INFINITY, -(double)INFINITY};
    double start[2][2] = {{0, 0}, {0, 0}};
    for (int i = 0; i <= grid; i++)
        for (int k = 0; k <= (s->face >= 0 ? grid : 0); k++) {
            double x[2] = {s->low[0] + (s->high[0] - s->low[0]) * i / grid,
                           s->low[1] + (s->high[1] - s->low[1]) * k / grid};
            double value = value_of(o, piece_jet(s, x).p);
            bool is_inner = i > 0 && i < grid && (s->face < 0 || (k > 0 && k < grid));
            for (int slot = 0; slot <= is_inner; slot++)
                if (value > best[slot]) {
                    best[slot] = value;
                    start[slot][0] = x[0];
                    start[slot][1] = x[1];
                }
        }
    double top = -(double)INFINITY;
    for (int i = 0; i < 2; i++) {
        vec3 p = {0, 0, 0};
        double value = isfinite(best[i]) ? climb(s, o, start[i], &p) : -(double)INFINITY;
        if (value > top) {
            top = value;
            *out = p;
        }
    }
    return top;
}

static double best_of_body(const parametric_body *b, const objective *o, vec3 *out)
{
    double top = -(double)INFINITY;
    int count = b->is_planar ? b->edge_count : b->face_count;
    for (int i = 0; i < count; i++) {
        piece s = {.body = b, .face = b->is_planar ? -1 : i, .edge = b->is_planar ? i : -1};
        if (b->is_planar) {
            s.low[0] = b->edges[i].low;
            s.high[0] = b->edges[i].high;
        } else {
            for (int d = 0; d < 2; d++) {
                s.low[d] = b->faces[i].low[d];
                s.high[d] = b->faces[i].high[d];
            }
        }
        vec3 p = {0, 0, 0};
        double value = best_on(&s, o, &p);
        if (value > top) {
            top = value;
            *out = p;
        }
    }
    return top;
}

double reference_support(const parametric_body *b, vec3 direction)
{
    vec3 p = {0, 0, 0};
    objective o = {.is_support = true, .vector = direction};
    return best_of_body(b, &o, &p);
}

double reference_nearest(const parametric_body *b, vec3 point, vec3 *out)
{
    vec3 p = {0, 0, 0};
    objective o = {.is_support = false, .vector = point};
    best_of_body(b, &o, &p);
    if (out)
        *out = p;
    return vec3_distance(p, point);
}

double reference_gap(const parametric_body *a, const parametric_body *b, mat3 rotation, vec3 origin,
                     vec3 on_a, vec3 on_b)
{
    vec3 apart = vec3_sub(on_b, on_a);
    double d = vec3_length(apart);
    vec3 n = vec3_scale(1.0 / d, apart);
    /* the witnesses belong to the bodies: no support function is below them */
    double lower = vec3_dot(n, origin) - fmax(reference_support(a, n), vec3_dot(n, on_a));
    if (b) {
        double reach = vec3_dot(n, vec3_sub(origin, on_b));
        vec3 back = mat3_apply_transposed(rotation, vec3_negate(n));
        lower -= fmax(reference_support(b, back), reach);
    }
    return d - lower;
}
