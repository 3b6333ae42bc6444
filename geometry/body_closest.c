#include "geometry/body_closest.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 400000, ORDER2_MAX = 2 * NURBS_DEGREE_MAX + 1 };
#define NEAR_ENOUGH 1e-10 /* of the size: what is left unproven */

/* A rectangle of one Bezier piece: its homogeneous net relative to the asked point, in `nets`. */
typedef struct node {
    int patch; /* surface, or curve of a planar body */
    nurbs_span span;
    double low[2], high[2]; /* within the piece, 0 .. 1 */
    long net;               /* offset into nets */
    int direction;          /* in which to cut it */
} node;

typedef struct heap_item {
    double bound; /* squared distance from below */
    int node;     /* or -1 - p: piece p, not opened yet */
} heap_item;

/* One Bezier piece of the body, with its box. */
typedef struct piece {
    int patch;
    nurbs_span span;
    vec3 low, high;
} piece;

struct body_finder {
    const parametric_body *body;
    int piece_count;
    piece *pieces;
    int *first_face; /* by surface; its faces follow each other */
    int node_count, node_room;
    node *nodes;
    long net_count, net_room;
    double *nets;
    int heap_count, heap_room;
    heap_item *heap;
    double binomial[ORDER2_MAX][ORDER2_MAX];
};

/* --- pieces -------------------------------------------------------------------------------------
 */

static void piece_shape(const parametric_body *b, int patch, int degree[2], int spans[2])
{
    if (b->is_planar) {
        degree[0] = b->edges[patch].curve.degree;
        spans[0] = b->edges[patch].curve.span_count;
        degree[1] = 0;
        spans[1] = 1;
        return;
    }
    for (int d = 0; d < 2; d++) {
        degree[d] = b->surfaces[patch].degree[d];
        spans[d] = b->surfaces[patch].span_count[d];
    }
}

static const double *piece_points(const parametric_body *b, int patch, nurbs_span span)
{
    if (!b->is_planar)
        return nurbs_surface_piece(&b->surfaces[patch], span);
    const nurbs_curve *c = &b->edges[patch].curve;
    return c->pieces + (ptrdiff_t)4 * (c->degree + 1) * span.u;
}

static void bound_piece(const parametric_body *b, piece *out)
{
    int degree[2], spans[2];
    piece_shape(b, out->patch, degree, spans);
    const double *p = piece_points(b, out->patch, out->span);
    out->low = (vec3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
    out->high = vec3_negate(out->low);
    for (int i = 0; i < (degree[0] + 1) * (degree[1] + 1); i++, p += 4) {
        vec3 q = {p[0] / p[3], p[1] / p[3], p[2] / p[3]};
        out->low = (vec3){fmin(out->low.x, q.x), fmin(out->low.y, q.y), fmin(out->low.z, q.z)};
        out->high = (vec3){fmax(out->high.x, q.x), fmax(out->high.y, q.y), fmax(out->high.z, q.z)};
    }
}

/* Counts (out is NULL) or lists them. */
static int list_pieces(const parametric_body *b, piece *out)
{
    int count = 0, patches = b->is_planar ? b->edge_count : b->surface_count;
    for (int patch = 0; patch < patches; patch++) {
        int degree[2], spans[2];
        piece_shape(b, patch, degree, spans);
        for (int k = 0; k < spans[0] * spans[1]; k++, count++) {
            if (!out)
                continue;
            out[count] = (piece){.patch = patch, .span = {k / spans[1], k % spans[1]}};
            bound_piece(b, &out[count]);
        }
    }
    return count;
}

body_finder *body_finder_create(const parametric_body *b)
{
    body_finder *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->body = b;
    f->piece_count = list_pieces(b, NULL);
    f->pieces = calloc((size_t)f->piece_count + 1, sizeof *f->pieces);
    f->first_face = calloc((size_t)b->surface_count + 1, sizeof *f->first_face);
    if (!f->pieces || !f->first_face) {
        body_finder_destroy(f);
        return NULL;
    }
    list_pieces(b, f->pieces);
    for (int i = b->face_count - 1; i >= 0; i--)
        f->first_face[b->faces[i].surface] = i;
    for (int n = 0; n < ORDER2_MAX; n++)
        for (int k = 0; k <= n; k++)
            f->binomial[n][k] =
                k == 0 || k == n ? 1.0 : f->binomial[n - 1][k - 1] + f->binomial[n - 1][k];
    return f;
}

void body_finder_destroy(body_finder *f)
{
    if (!f)
        return;
    free(f->pieces);
    free(f->first_face);
    free(f->nodes);
    free(f->nets);
    free(f->heap);
    free(f);
}

/* --- memory of one query ------------------------------------------------------------------------
 */

static bool reserve(void **array, long room, long *have, size_t item)
{
    if (room <= *have)
        return true;
    long wanted = room > 2 * *have ? room : 2 * *have;
    void *bigger = realloc(*array, (size_t)wanted * item);
    if (!bigger)
        return false;
    *array = bigger;
    *have = wanted;
    return true;
}

static bool push(body_finder *f, double bound, int index)
{
    long have = f->heap_room;
    void *array = f->heap;
    bool is_kept = reserve(&array, f->heap_count + 1L, &have, sizeof *f->heap);
    f->heap = array;
    f->heap_room = (int)have;
    if (!is_kept)
        return false;
    int i = f->heap_count++;
    for (; i > 0 && f->heap[(i - 1) / 2].bound > bound; i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = (heap_item){bound, index};
    return true;
}

static heap_item pop(body_finder *f)
{
    heap_item top = f->heap[0], last = f->heap[--f->heap_count];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= f->heap_count)
            break;
        if (child + 1 < f->heap_count && f->heap[child + 1].bound < f->heap[child].bound)
            child++;
        if (f->heap[child].bound >= last.bound)
            break;
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = last;
    return top;
}

/* A node with room for its net, or -1. */
static int new_node(body_finder *f, int points)
{
    long have = f->node_room;
    void *array = f->nodes;
    bool is_kept = reserve(&array, f->node_count + 1L, &have, sizeof *f->nodes);
    f->nodes = array;
    f->node_room = (int)have;
    array = f->nets;
    is_kept = is_kept && reserve(&array, f->net_count + 4L * points, &f->net_room, sizeof(double));
    f->nets = array;
    if (!is_kept)
        return -1;
    f->nodes[f->node_count].net = f->net_count;
    f->net_count += 4L * points;
    return f->node_count++;
}

/* --- bounds -------------------------------------------------------------------------------------
 */

/* In which direction neighbouring coefficients differ more. A ring of equally near points (the axis
 * of a body of revolution) shows no difference along itself and is then only cut across. */
static int wider_direction(const double *ratio, int nu, int nv)
{
    double step[2] = {0, 0};
    for (int i = 0; i <= nu; i++)
        for (int j = 0; j <= nv; j++) {
            const double *r = ratio + (ptrdiff_t)i * (nv + 1) + j;
            if (i < nu)
                step[0] = fmax(step[0], fabs(r[nv + 1] - r[0]));
            if (j < nv)
                step[1] = fmax(step[1], fabs(r[1] - r[0]));
        }
    return step[0] * nu >= step[1] * nv ? 0 : 1;
}

/* Least ratio of the Bernstein coefficients of |A|^2 and w^2 over the net. A product of polynomials
 * is a convolution once the coefficients carry their binomials. */
static double net_bound(const body_finder *f, const double *net, int nu, int nv, int *direction)
{
    double squares[2][ORDER2_MAX * ORDER2_MAX] = {{0}},
                                   scaled[NURBS_ORDER_MAX * NURBS_ORDER_MAX][4];
    int width = 2 * nv + 1;
    for (int i = 0; i <= nu; i++)
        for (int j = 0; j <= nv; j++) {
            double b = f->binomial[nu][i] * f->binomial[nv][j];
            for (int c = 0; c < 4; c++)
                scaled[i * (nv + 1) + j][c] = b * net[4 * (i * (nv + 1) + j) + c];
        }
    int points = (nu + 1) * (nv + 1);
    for (int m = 0; m < points; m++)
        for (int n = m; n < points; n++) {
            const double *a = scaled[m], *b = scaled[n];
            int at = (m / (nv + 1) + n / (nv + 1)) * width + m % (nv + 1) + n % (nv + 1);
            double twice = n > m ? 2.0 : 1.0;
            squares[0][at] += twice * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            squares[1][at] += twice * a[3] * b[3];
        }
    for (int i = 0; i < (2 * nu + 1) * width; i++)
        squares[0][i] /= squares[1][i];
    *direction = wider_direction(squares[0], 2 * nu, 2 * nv);
    double least = HUGE_VAL;
    for (int i = 0; i < (2 * nu + 1) * width; i++)
        least = fmin(least, squares[0][i]);
    return least;
}

static double box_bound(const piece *p, vec3 q)
{
    double x = fmax(0, fmax(p->low.x - q.x, q.x - p->high.x));
    double y = fmax(0, fmax(p->low.y - q.y, q.y - p->high.y));
    double z = fmax(0, fmax(p->low.z - q.z, q.z - p->high.z));
    return x * x + y * y + z * z;
}

/* De Casteljau at the middle, in one direction of the net: both halves. */
static void halve(const double *in, int nu, int nv, int direction, double *first, double *second)
{
    int lines = direction == 0 ? nv + 1 : nu + 1, degree = direction == 0 ? nu : nv;
    ptrdiff_t step = direction == 0 ? (ptrdiff_t)4 * (nv + 1) : 4;
    ptrdiff_t line = direction == 0 ? 4 : (ptrdiff_t)4 * (nv + 1);
    for (int l = 0; l < lines; l++)
        for (int c = 0; c < 4; c++) {
            double t[NURBS_ORDER_MAX];
            for (int i = 0; i <= degree; i++)
                t[i] = in[l * line + i * step + c];
            for (int r = 0; r <= degree; r++) {
                first[l * line + r * step + c] = t[0];
                second[l * line + (degree - r) * step + c] = t[degree - r];
                for (int i = 0; i < degree - r; i++)
                    t[i] = 0.5 * (t[i] + t[i + 1]);
            }
        }
}

/* --- the search ---------------------------------------------------------------------------------
 */

typedef struct query {
    body_finder *finder;
    vec3 point;
    double best; /* distance of the nearest point so far */
    double slack;
    body_nearest *out;
} query;

static double limit(const query *q)
{
    double d = fmax(0, q->best - q->slack);
    return d * d;
}

/* The face of a surface that holds (u, v). */
static int face_of(const body_finder *f, int patch, double u, double v)
{
    const parametric_body *b = f->body;
    if (b->is_planar)
        return patch;
    int i = f->first_face[patch];
    for (; i + 1 < b->face_count && b->faces[i + 1].surface == patch; i++)
        if (u <= b->faces[i].high[0] && v <= b->faces[i].high[1])
            break;
    return i;
}

/* Newton from (u, v) on a face; keeps what is nearer. */
static void try_from(query *q, int face, double u, double v)
{
    const parametric_body *b = q->finder->body;
    double uv[2] = {u, v};
    vec3 foot;
    body_polish(b, face, q->point, uv, &foot);
    double d = vec3_distance(foot, q->point);
    if (d >= q->best)
        return;
    q->best = d;
    q->out->face = face;
    q->out->u = uv[0];
    q->out->v = uv[1];
}

/* The spline's parameter of a place within a node's piece. */
static double place(const parametric_body *b, const node *n, int direction, double t)
{
    const double *breaks =
        b->is_planar ? b->edges[n->patch].curve.breaks : b->surfaces[n->patch].breaks[direction];
    if (b->is_planar && direction == 1)
        return 0.0;
    int span = direction == 0 ? n->span.u : n->span.v;
    return breaks[span] + t * (breaks[span + 1] - breaks[span]);
}

/* The corners of a net are points of the surface: an upper bound at no cost. */
static void try_corners(query *q, const node *n, const double *net, int nu, int nv)
{
    const parametric_body *b = q->finder->body;
    for (int k = 0; k < 4; k++) {
        int i = k / 2 ? nu : 0, j = k % 2 ? nv : 0;
        const double *p = net + (ptrdiff_t)4 * (i * (nv + 1) + j);
        double d = vec3_length((vec3){p[0], p[1], p[2]}) / p[3];
        if (d >= q->best - q->slack)
            continue;
        double u = place(b, n, 0, k / 2 ? n->high[0] : n->low[0]);
        double v = place(b, n, 1, k % 2 ? n->high[1] : n->low[1]);
        try_from(q, face_of(q->finder, n->patch, u, v), u, v);
    }
}

/* Turns a whole piece into a node. */
static hr_status open_piece(query *q, const piece *p)
{
    body_finder *f = q->finder;
    int degree[2], spans[2];
    piece_shape(f->body, p->patch, degree, spans);
    int points = (degree[0] + 1) * (degree[1] + 1), index = new_node(f, points);
    if (index < 0)
        return HR_ERR_MEMORY;
    node *n = &f->nodes[index];
    n->patch = p->patch;
    n->span = p->span;
    n->low[0] = n->low[1] = 0.0;
    n->high[0] = n->high[1] = 1.0;
    const double *in = piece_points(f->body, p->patch, p->span);
    double *net = f->nets + n->net;
    for (int i = 0; i < points; i++, in += 4, net += 4) {
        net[0] = in[0] - in[3] * q->point.x;
        net[1] = in[1] - in[3] * q->point.y;
        net[2] = in[2] - in[3] * q->point.z;
        net[3] = in[3];
    }
    net = f->nets + n->net;
    try_corners(q, n, net, degree[0], degree[1]);
    double bound = net_bound(f, net, degree[0], degree[1], &n->direction);
    if (bound < limit(q) && !push(f, bound, index))
        return HR_ERR_MEMORY;
    return HR_OK;
}

static hr_status split_node(query *q, int index)
{
    body_finder *f = q->finder;
    int degree[2], spans[2];
    piece_shape(f->body, f->nodes[index].patch, degree, spans);
    int points = (degree[0] + 1) * (degree[1] + 1);
    int direction = f->nodes[index].direction;
    int child[2] = {new_node(f, points), new_node(f, points)};
    if (child[0] < 0 || child[1] < 0)
        return HR_ERR_MEMORY;
    node *parent = &f->nodes[index];
    double middle = 0.5 * (parent->low[direction] + parent->high[direction]);
    halve(f->nets + parent->net, degree[0], degree[1], direction, f->nets + f->nodes[child[0]].net,
          f->nets + f->nodes[child[1]].net);
    for (int k = 0; k < 2; k++) {
        node *n = &f->nodes[child[k]];
        long net = n->net;
        *n = *parent;
        n->net = net;
        (k == 0 ? n->high : n->low)[direction] = middle;
        try_corners(q, n, f->nets + net, degree[0], degree[1]);
        double bound = net_bound(f, f->nets + net, degree[0], degree[1], &n->direction);
        if (bound < limit(q) && !push(f, bound, child[k]))
            return HR_ERR_MEMORY;
    }
    return HR_OK;
}

/* The nearest of the coarse samples is where Newton starts. */
static void start(query *q)
{
    const parametric_body *b = q->finder->body;
    int nearest = 0;
    double least = HUGE_VAL;
    for (int i = 0; i < b->sample_count; i++) {
        double d = vec3_length_squared(vec3_sub(b->samples[i].p, q->point));
        if (d < least) {
            least = d;
            nearest = i;
        }
    }
    const body_sample *s = &b->samples[nearest];
    q->out->face = s->face;
    q->out->u = s->u;
    q->out->v = s->v;
    q->best = sqrt(least);
    try_from(q, s->face, s->u, s->v);
}

hr_status body_find_nearest(body_finder *f, vec3 point, body_nearest *out)
{
    if (!vec3_is_finite(point))
        return HR_ERR_NOT_FINITE;
    body_nearest found = {0};
    query q = {.finder = f, .point = point, .slack = NEAR_ENOUGH * f->body->size, .out = &found};
    f->node_count = f->heap_count = 0;
    f->net_count = 0;
    start(&q);
    hr_status status = HR_OK;
    /* Far points: a distance cannot be known better than its own rounding. */
    q.slack = fmax(q.slack, 1e-14 * q.best);
    for (int i = 0; i < f->piece_count && status == HR_OK; i++) {
        double bound = box_bound(&f->pieces[i], point);
        if (bound < limit(&q) && !push(f, bound, -1 - i))
            status = HR_ERR_MEMORY;
    }
    while (f->heap_count > 0 && status == HR_OK) {
        heap_item top = pop(f);
        if (top.bound >= limit(&q))
            break;
        if (f->node_count > NODES_MAX)
            status = HR_ERR_MAX_ITER;
        else
            status =
                top.node < 0 ? open_piece(&q, &f->pieces[-1 - top.node]) : split_node(&q, top.node);
    }
    if (status != HR_OK && status != HR_ERR_MAX_ITER)
        return status;
    found.nodes = f->node_count;
    body_nearest_finish(f->body, point, &found);
    *out = found;
    return status;
}
