/* What stands inside a panel: each kind of item as SVG elements. */
#include <math.h>

#include "server/svg_items.h"

/* Coordinates far outside the panel are cut here, so that no viewer meets a number it cannot
 * hold. */
static double pixel(const svg_span_map *m, double value)
{
    double p = svg_map(m, value);
    return p < -1e5 ? -1e5 : p > 1e5 ? 1e5 : p;
}

static void put_stroke(FILE *out, const svg_style *s)
{
    fprintf(out, " fill=\"none\" stroke=\"%s\" stroke-width=\"%.2g\"", s->color, s->width);
    if (s->opacity < 1)
        fprintf(out, " stroke-opacity=\"%.3g\"", s->opacity);
    if (s->is_dashed)
        fprintf(out, " stroke-dasharray=\"5 3\"");
}

/* A column of pixels shows its first, lowest, highest and last point: what the eye would see of
 * all of them, and a million samples stay a small file. */
typedef struct column {
    double x, first, low, high, last;
    int count;
} column;

static void put_column(FILE *out, const column *c, bool *is_down)
{
    if (c->count == 0)
        return;
    fprintf(out, "%c%.1f %.1f", *is_down ? 'L' : 'M', c->x, c->first);
    *is_down = true;
    if (c->low < fmin(c->first, c->last))
        fprintf(out, "V%.1f", c->low);
    if (c->high > fmax(c->first, c->last))
        fprintf(out, "V%.1f", c->high);
    if (c->count > 1)
        fprintf(out, "V%.1f", c->last);
}

static void put_dense_path(FILE *out, const svg_item *item, const svg_span_map *x,
                           const svg_span_map *y)
{
    column c = {0};
    bool is_down = false;
    for (int i = 0; i < item->n; i++) {
        double px = pixel(x, item->x[i]);
        double py = pixel(y, item->y[i]);
        bool is_gap = !isfinite(px) || !isfinite(py);
        if (is_gap || c.count == 0 || fabs(px - c.x) >= 0.5) {
            put_column(out, &c, &is_down);
            c = (column){px, py, py, py, py, 0};
        }
        if (is_gap) {
            is_down = false;
            continue;
        }
        c.low = fmin(c.low, py);
        c.high = fmax(c.high, py);
        c.last = py;
        c.count++;
    }
    put_column(out, &c, &is_down);
}

static void put_sparse_path(FILE *out, const svg_item *item, const svg_span_map *x,
                            const svg_span_map *y)
{
    bool is_down = false;
    for (int i = 0; i < item->n; i++) {
        double px = pixel(x, item->x[i]);
        double py = pixel(y, item->y[i]);
        bool is_gap = !isfinite(px) || !isfinite(py);
        if (!is_gap)
            fprintf(out, "%c%.2f %.2f", is_down ? 'L' : 'M', px, py);
        is_down = !is_gap;
    }
}

static bool rises(const double *x, int n)
{
    for (int i = 1; i < n; i++)
        if (x[i] < x[i - 1])
            return false;
    return true;
}

static void put_line(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    bool is_dense = item->n > 4 * (x->to - x->from) && rises(item->x, item->n);
    fprintf(out, "<path d=\"");
    (is_dense ? put_dense_path : put_sparse_path)(out, item, x, y);
    fprintf(out, "\" stroke-linejoin=\"round\"");
    put_stroke(out, &item->style);
    fprintf(out, "/>\n");
}

static void put_points(FILE *out, const svg_item *item, const svg_span_map *x,
                       const svg_span_map *y)
{
    fprintf(out, "<g fill=\"%s\" fill-opacity=\"%.3g\">\n", item->style.color, item->style.opacity);
    for (int i = 0; i < item->n; i++) {
        double px = pixel(x, item->x[i]);
        double py = pixel(y, item->y[i]);
        if (isfinite(px) && isfinite(py))
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.2g\"/>\n", px, py,
                    item->style.width);
    }
    fprintf(out, "</g>\n");
}

/* One filled strip per run of points that can be shown. */
static void put_band(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    fprintf(out, "<path d=\"");
    for (int i = 0; i < item->n;) {
        int end = i;
        while (end < item->n && isfinite(svg_map(x, item->x[end]) + svg_map(y, item->y[end]) +
                                         svg_map(y, item->z[end])))
            end++;
        for (int k = i; k < end; k++)
            fprintf(out, "%c%.1f %.1f", k == i ? 'M' : 'L', pixel(x, item->x[k]),
                    pixel(y, item->z[k]));
        for (int k = end - 1; k >= i; k--)
            fprintf(out, "L%.1f %.1f", pixel(x, item->x[k]), pixel(y, item->y[k]));
        if (end > i)
            fputc('Z', out);
        i = end + 1;
    }
    fprintf(out, "\" fill=\"%s\" fill-opacity=\"%.3g\"/>\n", item->style.color,
            item->style.opacity);
}

static void put_bars(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    double base = y->is_log ? y->from : pixel(y, 0);
    fprintf(out, "<path d=\"");
    for (int i = 0; i < item->n; i++) {
        double a = pixel(x, item->x[i]);
        double b = pixel(x, item->x[i + 1]);
        double top = pixel(y, item->y[i]);
        if (isfinite(a) && isfinite(b) && isfinite(top))
            fprintf(out, "M%.2f %.2fV%.2fH%.2fV%.2fZ", a, base, top, b, base);
    }
    fprintf(out, "\" fill=\"%s\" fill-opacity=\"%.3g\"/>\n", item->style.color,
            item->style.opacity);
}

static void put_span(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    double a = pixel(x, item->x[0]);
    double b = pixel(x, item->x[1]);
    if (!isfinite(a) || !isfinite(b))
        return;
    /* a span of one tick must still be seen */
    fprintf(out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
            "fill-opacity=\"%.3g\"/>\n",
            fmin(a, b), y->to, fmax(0.6, fabs(b - a)), y->from - y->to, item->style.color,
            item->style.opacity);
}

static void put_polygon(FILE *out, const svg_item *item, const svg_span_map *x,
                        const svg_span_map *y)
{
    fprintf(out, "<path d=\"");
    put_sparse_path(out, item, x, y);
    fprintf(out, "Z\" fill=\"%s\" fill-opacity=\"%.3g\" stroke=\"%s\" stroke-width=\"%.2g\"/>\n",
            item->style.color, item->style.opacity, item->style.color, item->style.width);
}

static void put_arrow(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    double ax = pixel(x, item->x[0]);
    double ay = pixel(y, item->y[0]);
    double bx = pixel(x, item->x[1]);
    double by = pixel(y, item->y[1]);
    double length = hypot(bx - ax, by - ay);
    if (!isfinite(length))
        return;
    double ux = length > 0 ? (bx - ax) / length : 0;
    double uy = length > 0 ? (by - ay) / length : 0;
    double head = fmin(3 + 2 * item->style.width, length);
    double back_x = bx - head * ux;
    double back_y = by - head * uy;
    fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\"", ax, ay, back_x, back_y);
    put_stroke(out, &item->style);
    fprintf(out,
            "/><path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" fill=\"%s\" fill-opacity=\"%.3g\"/>\n",
            bx, by, back_x - 0.45 * head * uy, back_y + 0.45 * head * ux, back_x + 0.45 * head * uy,
            back_y - 0.45 * head * ux, item->style.color, item->style.opacity);
}

static void put_mark(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    bool is_x = item->kind == SVG_MARK_X;
    double at = is_x ? pixel(x, item->x[0]) : pixel(y, item->y[0]);
    if (!isfinite(at))
        return;
    if (is_x)
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\"", at, y->from, y->to);
    else
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\"", x->from, at, x->to);
    put_stroke(out, &item->style);
    fprintf(out, "/>\n");
}

static void put_words(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    double px = pixel(x, item->x[0]);
    double py = pixel(y, item->y[0]);
    if (!item->label || !isfinite(px) || !isfinite(py))
        return;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">", px, py);
    svg_put_text(out, item->label);
    fprintf(out, "</text>\n");
}

void svg_render_item(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    static void (*const draw[])(FILE *, const svg_item *, const svg_span_map *,
                                const svg_span_map *) = {
        [SVG_LINE] = put_line,   [SVG_POINTS] = put_points,   [SVG_BAND] = put_band,
        [SVG_BARS] = put_bars,   [SVG_SPAN] = put_span,       [SVG_MARK_X] = put_mark,
        [SVG_MARK_Y] = put_mark, [SVG_POLYGON] = put_polygon, [SVG_ARROW] = put_arrow,
        [SVG_TEXT] = put_words,
    };
    if (item->n > 0 && item->kind != SVG_HEAT)
        draw[item->kind](out, item, x, y);
}

/* --- heat map -------------------------------------------------------------------------------- */

/* From dark blue over green to yellow; brightness rises all the way, so it also prints in grey. */
static void heat_color(double part, char out[8])
{
    static const double stops[][3] = {{68, 20, 92},   {58, 82, 139},  {33, 130, 142},
                                      {52, 178, 122}, {148, 209, 68}, {252, 230, 50}};
    double at = fmin(fmax(part, 0), 1) * (HR_COUNT(stops) - 1);
    int i = at >= HR_COUNT(stops) - 1 ? HR_COUNT(stops) - 2 : (int)at;
    int rgb[3];
    for (int k = 0; k < 3; k++)
        rgb[k] = (int)lround(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k])) & 255;
    snprintf(out, 8, "#%02x%02x%02x", (unsigned)rgb[0] & 255u, (unsigned)rgb[1] & 255u,
             (unsigned)rgb[2] & 255u);
}

static void put_cells(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y,
                      double low, double high)
{
    const svg_grid *g = &item->grid;
    double x0 = pixel(x, g->x0);
    double y0 = pixel(y, g->y0);
    double width = (pixel(x, g->x1) - x0) / g->columns;
    double height = (pixel(y, g->y1) - y0) / g->rows;
    fprintf(out, "<g shape-rendering=\"crispEdges\">\n");
    for (int k = 0; k < item->n; k++) {
        double v = item->y[k];
        char color[8] = "#cccccc";
        if (isfinite(v))
            heat_color(high > low ? (v - low) / (high - low) : 0.5, color);
        int row = k / g->columns;
        double left = x0 + width * (k % g->columns);
        double bottom = y0 + height * row;
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
                fmin(left, left + width), fmin(bottom, bottom + height), fabs(width), fabs(height),
                color);
    }
    fprintf(out, "</g>\n");
}

static void put_color_bar(FILE *out, const svg_item *item, double left, const svg_span_map *y,
                          double low, double high)
{
    enum { PARTS = 48 };
    svg_span_map m = {.low = low, .high = high, .from = y->from, .to = y->to};
    svg_widen(&m, 0);
    double step = (y->from - y->to) / PARTS;
    for (int i = 0; i < PARTS; i++) {
        char color[8];
        heat_color((i + 0.5) / PARTS, color);
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.2f\" width=\"12\" height=\"%.2f\" fill=\"%s\" "
                "shape-rendering=\"crispEdges\"/>\n",
                left, y->from - (i + 1) * step, step + 0.3, color);
    }
    svg_tick ticks[SVG_TICKS_MAX];
    int count = svg_ticks(&m, (int)fmax(2, (y->from - y->to) / 36), ticks);
    for (int i = 0; i < count; i++)
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%s</text>\n", left + 16,
                svg_map(&m, ticks[i].value) + 4, ticks[i].text);
    fprintf(out, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">",
            left + 66, 0.5 * (y->from + y->to));
    svg_put_text(out, item->label ? item->label : "");
    fprintf(out, "</text>\n");
}

void svg_render_heat(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y)
{
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    for (int k = 0; k < item->n; k++)
        if (isfinite(item->y[k])) {
            low = fmin(low, item->y[k]);
            high = fmax(high, item->y[k]);
        }
    put_cells(out, item, x, y, low, high);
    put_color_bar(out, item, x->to + 14, y, low, high);
}
