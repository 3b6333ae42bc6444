#include "server/svg_space.h"

#include <stdlib.h>
#include <string.h>

#include "server/svg_depth.h"

typedef struct piece {
    int count;
    vec3 corners[4];
    vec3 normal;
    space_paint paint;
} piece;

typedef struct line {
    int first, count; /* into points */
    space_pen pen;
    bool is_arrow;
} line;

typedef struct dot {
    vec3 at;
    double radius_m, radius_px; /* the larger one is drawn */
    const char *fill, *border;
} dot;

struct space {
    bool has_failed;
    int piece_count, piece_room;
    piece *pieces;
    int line_count, line_room;
    line *lines;
    int point_count, point_room;
    vec3 *points;
    int dot_count, dot_room;
    dot *dots;
};

static const double DEGREE = 3.14159265358979323846 / 180;

space_view space_view_from(double azimuth, double elevation)
{
    double a = azimuth * DEGREE, e = elevation * DEGREE;
    return (space_view){{-sin(a), cos(a), 0},
                        {-sin(e) * cos(a), -sin(e) * sin(a), cos(e)},
                        {cos(e) * cos(a), cos(e) * sin(a), sin(e)}};
}

/* --- collecting ------------------------------------------------------------------------------- */

space *space_create(void)
{
    return calloc(1, sizeof(space));
}

void space_destroy(space *s)
{
    if (!s)
        return;
    free(s->pieces);
    free(s->lines);
    free(s->points);
    free(s->dots);
    free(s);
}

bool space_has_failed(const space *s)
{
    return !s || s->has_failed;
}

/* Makes room for `more` items in a growing array; false and a mark on failure. */
static bool grow(space *s, void **items, int *room, int count, int more, size_t size)
{
    if (space_has_failed(s))
        return false;
    if (count + more <= *room)
        return true;
    int wanted = 2 * (count + more) + 64;
    void *bigger = realloc(*items, (size_t)wanted * size);
    if (!bigger) {
        s->has_failed = true;
        return false;
    }
    *items = bigger;
    *room = wanted;
    return true;
}

void space_add_piece(space *s, const vec3 *corners, int count, vec3 normal, space_paint paint)
{
    if (!grow(s, (void **)&s->pieces, &s->piece_room, s->piece_count, 1, sizeof *s->pieces))
        return;
    piece *p = &s->pieces[s->piece_count++];
    *p = (piece){.count = count, .normal = normal, .paint = paint};
    for (int i = 0; i < count; i++)
        p->corners[i] = corners[i];
}

void space_add_line(space *s, const vec3 *points, int count, space_pen pen)
{
    if (!grow(s, (void **)&s->points, &s->point_room, s->point_count, count, sizeof *s->points) ||
        !grow(s, (void **)&s->lines, &s->line_room, s->line_count, 1, sizeof *s->lines))
        return;
    memcpy(s->points + s->point_count, points, (size_t)count * sizeof *points);
    s->lines[s->line_count++] = (line){.first = s->point_count, .count = count, .pen = pen};
    s->point_count += count;
}

void space_add_arrow(space *s, vec3 from, vec3 to, space_pen pen)
{
    vec3 ends[2] = {from, to};
    space_add_line(s, ends, 2, pen);
    if (!space_has_failed(s))
        s->lines[s->line_count - 1].is_arrow = true;
}

void space_add_dot(space *s, vec3 at, double radius_m, double radius_px, const char *fill,
                   const char *border)
{
    if (grow(s, (void **)&s->dots, &s->dot_room, s->dot_count, 1, sizeof *s->dots))
        s->dots[s->dot_count++] = (dot){at, radius_m, radius_px, fill, border};
}

/* --- projecting ------------------------------------------------------------------------------- */

void space_project(const space_view *view, const space_window *w, vec3 point, double *x, double *y)
{
    *x = w->left + 0.5 * w->width + w->scale * (vec3_dot(view->right, point) - w->x);
    *y = w->top + 0.5 * w->height - w->scale * (vec3_dot(view->up, point) - w->y);
}

typedef struct bounds {
    double low[2], high[2];
} bounds;

static void include(bounds *b, const space_view *view, vec3 p)
{
    double at[2] = {vec3_dot(view->right, p), vec3_dot(view->up, p)};
    for (int k = 0; k < 2 && vec3_is_finite(p); k++) {
        b->low[k] = fmin(b->low[k], at[k]);
        b->high[k] = fmax(b->high[k], at[k]);
    }
}

static void include_all(bounds *b, const space *s, const space_view *view)
{
    for (int i = 0; i < s->piece_count; i++)
        for (int k = 0; k < s->pieces[i].count && !s->pieces[i].paint.is_ground; k++)
            include(b, view, s->pieces[i].corners[k]);
    for (int i = 0; i < s->line_count; i++)
        for (int k = 0; k < s->lines[i].count && !s->lines[i].pen.is_aside; k++)
            include(b, view, s->points[s->lines[i].first + k]);
    for (int i = 0; i < s->dot_count; i++)
        include(b, view, s->dots[i].at);
}

void space_fit(const space *const *spaces, int count, const space_view *view, double margin,
               space_window *w)
{
    bounds b = {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};
    for (int i = 0; i < count; i++)
        include_all(&b, spaces[i], view);
    if (!(b.high[0] >= b.low[0])) /* nothing but ground */
        b = (bounds){{-0.03, -0.02}, {0.03, 0.02}};
    w->x = 0.5 * (b.low[0] + b.high[0]);
    w->y = 0.5 * (b.low[1] + b.high[1]);
    double wide = fmax(b.high[0] - b.low[0], 1e-6), tall = fmax(b.high[1] - b.low[1], 1e-6);
    w->scale = fmin((w->width - 2 * margin) / wide, (w->height - 2 * margin) / tall);
}

/* A piece turned away from the eye is never seen, unless it has two sides. */
static bool faces_away(const piece *p, const space_view *view)
{
    return vec3_length_squared(p->normal) > 0 && vec3_dot(p->normal, view->toward) <= 0;
}

/* Corners on the paper, relative to the window, with their depths. */
static void place_piece(const piece *p, const space_view *view, const space_window *w,
                        depth_corner *out)
{
    for (int k = 0; k < p->count; k++) {
        double x, y;
        space_project(view, w, p->corners[k], &x, &y);
        out[k] = (depth_corner){x - w->left, y - w->top, vec3_dot(view->toward, p->corners[k])};
    }
}

enum { FINE = 3 }; /* pixels of the picture of depths per px of the paper */

static depth_picture *picture_depths(const space *s, const space_view *view, const space_window *w)
{
    depth_picture *d = depth_create(FINE * (int)w->width, FINE * (int)w->height);
    for (int i = 0; d && i < s->piece_count; i++) {
        depth_corner corners[4];
        if (faces_away(&s->pieces[i], view))
            continue;
        place_piece(&s->pieces[i], view, w, corners);
        for (int k = 0; k < s->pieces[i].count; k++) {
            corners[k].x *= FINE;
            corners[k].y *= FINE;
        }
        depth_fill(d, corners, s->pieces[i].count, i);
    }
    return d;
}

static bool is_visible(const depth_picture *d, const space_view *view, const space_window *w,
                       vec3 point, double slack)
{
    double x, y;
    space_project(view, w, point, &x, &y);
    return vec3_dot(view->toward, point) + slack >=
           depth_at(d, FINE * (x - w->left), FINE * (y - w->top));
}

int space_count_visible(const space *s, const space_view *view, const space_window *w,
                        const vec3 *points, int count, double slack)
{
    depth_picture *d = picture_depths(s, view, w);
    int seen = 0;
    for (int i = 0; d && i < count; i++)
        seen += is_visible(d, view, w, points[i], slack);
    depth_destroy(d);
    return seen;
}

/* --- painting --------------------------------------------------------------------------------- */

/* Light from the upper left in front of the paper, some from everywhere, a soft shine. */
static space_color lit(const piece *p, const space_view *view)
{
    vec3 n = p->normal;
    if (vec3_length_squared(n) == 0) {
        n = vec3_normalize_or(vec3_cross(vec3_sub(p->corners[1], p->corners[0]),
                                         vec3_sub(p->corners[2], p->corners[0])),
                              view->toward);
        n = vec3_dot(n, view->toward) < 0 ? vec3_negate(n) : n;
    }
    vec3 in_view = {vec3_dot(n, view->right), vec3_dot(n, view->up), vec3_dot(n, view->toward)};
    vec3 lamp = vec3_normalize_or((vec3){-0.55, 0.75, 0.8}, n);
    vec3 half_way = vec3_normalize_or(vec3_add(lamp, (vec3){0, 0, 1}), n);
    double direct = fmax(0, vec3_dot(in_view, lamp));
    double shine = 0.30 * pow(fmax(0, vec3_dot(in_view, half_way)), 24);
    double bright = 0.40 + 0.58 * direct + 0.08 * fmax(0, in_view.z);
    if (p->paint.is_ground)
        bright = 1, shine = 0;
    return (space_color){fmin(1, p->paint.color.r * bright + shine),
                         fmin(1, p->paint.color.g * bright + shine),
                         fmin(1, p->paint.color.b * bright + shine)};
}

static space_color darker(space_color c, double by)
{
    return (space_color){c.r * by, c.g * by, c.b * by};
}

/* Rounded to 52 levels, so that neighbours share a colour and one path. */
static unsigned level(double x)
{
    return 5u * (unsigned)lround(fmin(fmax(x, 0), 1) * 51);
}

static unsigned packed(space_color c)
{
    return level(c.r) << 16 | level(c.g) << 8 | level(c.b);
}

/* What is painted, in its turn. */
typedef struct stroke {
    double depth;
    int index;      /* of the piece */
    unsigned edges; /* bit k: outline from corner k to the next; 0: the piece itself */
} stroke;

static int by_depth(const void *a, const void *b)
{
    const stroke *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->edges > y->edges) - (x->edges < y->edges);
}

/* One picture being painted. */
typedef struct painting {
    const space *space;
    const space_view *view;
    const space_window *window;
    const depth_picture *depths;
    bool *shown; /* by piece: it has a pixel */
    stroke *plan;
    int count;
} painting;

/* How far behind (px) the same body must be beyond an edge for the edge to be an outline: inside
 * the rim of a ball of 100 px depth changes less from pixel to pixel. */
static const double OUTLINE_STEP = 14;

/* The edges beyond which something else begins, seen from the piece's own middle. */
static unsigned find_outline(const painting *p, int index, const depth_corner *c, vec3 middle)
{
    const piece *own = &p->space->pieces[index];
    unsigned edges = 0;
    for (int k = 0; k < own->count; k++) {
        depth_corner a = c[k], b = c[(k + 1) % own->count];
        double mx = 0.5 * (a.x + b.x), my = 0.5 * (a.y + b.y), depth = 0.5 * (a.depth + b.depth);
        double nx = a.y - b.y, ny = b.x - a.x, length = hypot(nx, ny);
        if (!(length > 1e-9))
            continue;
        /* just beyond the edge, less than the piece is wide: the next piece must not be skipped */
        double inward = ((middle.x - mx) * nx + (middle.y - my) * ny) / length;
        double step = copysign(fmin(fabs(inward), 1) + 0.25, -inward);
        double x = FINE * (mx + step * nx / length), y = FINE * (my + step * ny / length);
        double beyond = depth_at(p->depths, x, y);
        int owner = depth_owner_at(p->depths, x, y);
        bool is_other = owner < 0 || p->space->pieces[owner].paint.body != own->paint.body;
        bool is_step = depth - beyond > OUTLINE_STEP / p->window->scale;
        if (is_step || (is_other && depth - beyond > 0.2 * OUTLINE_STEP / p->window->scale))
            edges |= 1u << k;
    }
    return edges;
}

static void plan_piece(painting *p, int index)
{
    const piece *own = &p->space->pieces[index];
    depth_corner c[4];
    place_piece(own, p->view, p->window, c);
    vec3 sum = {0, 0, 0};
    double far = HUGE_VAL;
    for (int k = 0; k < own->count; k++) {
        sum = vec3_add(sum, (vec3){c[k].x, c[k].y, c[k].depth});
        far = fmin(far, c[k].depth);
    }
    vec3 middle = vec3_scale(1.0 / own->count, sum);
    double slack = 2 * (middle.z - far) + 1e-6;
    if (!p->shown[index] &&
        middle.z + slack < depth_at(p->depths, FINE * middle.x, FINE * middle.y))
        return;
    /* ground lies behind whatever stands on it */
    p->plan[p->count++] = (stroke){own->paint.is_ground ? far - 1 : middle.z, index, 0};
    unsigned edges = own->paint.is_ground ? 0 : find_outline(p, index, c, middle);
    if (edges)
        p->plan[p->count++] = (stroke){middle.z + 1.5 / p->window->scale, index, edges};
}

static void put_piece(const painting *p, const piece *own, unsigned edges, FILE *out)
{
    depth_corner c[4];
    place_piece(own, p->view, p->window, c);
    double left = p->window->left, top = p->window->top;
    for (int k = 0; k < own->count && !edges; k++)
        fprintf(out, "%c%.1f %.1f", k == 0 ? 'M' : 'L', left + c[k].x, top + c[k].y);
    if (!edges)
        fputc('Z', out);
    for (int k = 0; k < own->count && edges; k++) {
        depth_corner b = c[(k + 1) % own->count];
        if (edges >> k & 1)
            fprintf(out, "M%.1f %.1fL%.1f %.1f", left + c[k].x, top + c[k].y, left + b.x,
                    top + b.y);
    }
}

static void put_strokes(const painting *p, FILE *out)
{
    unsigned open = 0;
    bool is_open = false, is_edge = false;
    fputs("<g fill=\"currentColor\" stroke=\"currentColor\" stroke-width=\"0.6\" "
          "stroke-linejoin=\"round\" stroke-linecap=\"round\">\n",
          out);
    for (int i = 0; i < p->count; i++) {
        const piece *own = &p->space->pieces[p->plan[i].index];
        unsigned edges = p->plan[i].edges;
        unsigned color = packed(edges ? darker(own->paint.color, 0.36) : lit(own, p->view));
        if (!is_open || color != open || is_edge != (edges != 0) || own->paint.is_ground) {
            fprintf(out, "%s<path color=\"#%06x\"%s d=\"", is_open ? "\"/>\n" : "", color,
                    edges                  ? " stroke-width=\"1.1\""
                    : own->paint.is_ground ? " stroke=\"#d3d8de\""
                                           : "");
            open = color;
            is_open = true;
            is_edge = edges != 0;
        }
        put_piece(p, own, edges, out);
    }
    fputs(is_open ? "\"/>\n</g>\n" : "</g>\n", out);
}

static void put_pieces(const space *s, const space_view *view, const space_window *w,
                       const depth_picture *d, FILE *out)
{
    painting p = {.space = s, .view = view, .window = w, .depths = d};
    p.plan = calloc(2 * (size_t)s->piece_count + 1, sizeof *p.plan);
    p.shown = calloc((size_t)s->piece_count + 1, sizeof *p.shown);
    if (p.plan && p.shown) {
        depth_owners(d, p.shown, s->piece_count);
        for (int i = 0; i < s->piece_count; i++)
            if (!faces_away(&s->pieces[i], view))
                plan_piece(&p, i);
        qsort(p.plan, (size_t)p.count, sizeof *p.plan, by_depth);
        put_strokes(&p, out);
    }
    free(p.shown);
    free(p.plan);
}

/* --- lines, arrows, dots ---------------------------------------------------------------------- */

/* The seen parts or the hidden parts of a line. */
static void put_parts(const space *s, const line *l, const space_view *view, const space_window *w,
                      const depth_picture *d, bool is_seen, FILE *out)
{
    bool is_down = false, is_open = false;
    for (int i = 0; i + 1 < l->count; i++) {
        vec3 a = s->points[l->first + i], b = s->points[l->first + i + 1];
        bool is_whole = vec3_is_finite(a) && vec3_is_finite(b);
        bool is_shown = is_whole && is_visible(d, view, w, vec3_scale(0.5, vec3_add(a, b)),
                                               l->pen.slack) == is_seen;
        if (!is_shown) {
            is_down = false;
            continue;
        }
        double x, y;
        if (!is_open)
            fprintf(
                out,
                "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.2g\" stroke-opacity=\"%.2g\" "
                "stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"",
                l->pen.color, l->pen.width, is_seen ? 1.0 : l->pen.hidden);
        is_open = true;
        space_project(view, w, a, &x, &y);
        if (!is_down)
            fprintf(out, "M%.1f %.1f", x, y);
        space_project(view, w, b, &x, &y);
        fprintf(out, "L%.1f %.1f", x, y);
        is_down = true;
    }
    if (is_open)
        fputs("\"/>\n", out);
}

static void put_arrow(const space *s, const line *l, const space_view *view, const space_window *w,
                      FILE *out)
{
    double ax, ay, bx, by;
    space_project(view, w, s->points[l->first], &ax, &ay);
    space_project(view, w, s->points[l->first + 1], &bx, &by);
    double length = hypot(bx - ax, by - ay);
    if (!isfinite(length) || length < 0.5)
        return;
    double ux = (bx - ax) / length, uy = (by - ay) / length;
    double head = fmin(4 + 2.4 * l->pen.width, 0.7 * length), wing = 0.42 * head;
    double cx = bx - head * ux, cy = by - head * uy;
    /* a light border keeps it readable on any body */
    for (int pass = 0; pass < 2; pass++)
        fprintf(out,
                "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"%.2g\" stroke-linejoin=\"round\" "
                "d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
                pass ? l->pen.color : "#ffffff", pass ? l->pen.color : "#ffffff",
                pass ? l->pen.width : l->pen.width + 2.4, ax, ay, cx, cy, bx, by, cx - wing * uy,
                cy + wing * ux, cx + wing * uy, cy - wing * ux);
}

static void put_dot(const dot *p, const space_view *view, const space_window *w, FILE *out)
{
    double x, y;
    space_project(view, w, p->at, &x, &y);
    fprintf(out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\" "
            "stroke-width=\"1.5\"/>\n",
            x, y, fmax(p->radius_px, w->scale * p->radius_m), p->fill, p->border);
}

void space_write(const space *s, const space_view *view, const space_window *w, FILE *out)
{
    depth_picture *d = picture_depths(s, view, w);
    if (!d || space_has_failed(s)) {
        depth_destroy(d);
        return;
    }
    put_pieces(s, view, w, d, out);
    for (int i = 0; i < s->line_count; i++) {
        if (s->lines[i].is_arrow)
            continue;
        put_parts(s, &s->lines[i], view, w, d, false, out);
        put_parts(s, &s->lines[i], view, w, d, true, out);
    }
    for (int i = 0; i < s->line_count; i++)
        if (s->lines[i].is_arrow)
            put_arrow(s, &s->lines[i], view, w, out);
    for (int i = 0; i < s->dot_count; i++)
        put_dot(&s->dots[i], view, w, out);
    depth_destroy(d);
}
