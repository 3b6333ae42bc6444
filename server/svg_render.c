/* Panels: range, frame, grid, ticks, labels and legend around what svg_draw.c draws. */
#include <math.h>
#include <string.h>

#include "server/svg_items.h"

/* px: room around the plotting area, and the mean width of a character at the text size. */
enum { LEFT = 66, RIGHT = 18, RIGHT_WITH_BAR = 96, TOP = 12, BOTTOM = 46, LINE = 18 };
static const double CHARACTER = 6.4;

void svg_put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            if ((unsigned char)*text >= 0x20)
                fputc(*text, out);
        }
}

/* --- range ---------------------------------------------------------------------------------- */

static void include(svg_span_map *m, double value)
{
    if (!isfinite(value) || (m->is_log && value <= 0))
        return;
    m->low = fmin(m->low, value);
    m->high = fmax(m->high, value);
}

static void include_item(const svg_item *item, svg_span_map *x, svg_span_map *y)
{
    if (item->kind == SVG_HEAT) {
        include(x, item->grid.x0);
        include(x, item->grid.x1);
        include(y, item->grid.y0);
        include(y, item->grid.y1);
        return;
    }
    if (item->kind == SVG_SPAN)
        return;
    int edges = item->kind == SVG_BARS ? item->n + 1 : item->n;
    for (int i = 0; i < edges && item->kind != SVG_MARK_Y; i++)
        include(x, item->x[i]);
    for (int i = 0; i < item->n && item->kind != SVG_MARK_X; i++) {
        include(y, item->y[i]);
        if (item->z)
            include(y, item->z[i]);
    }
    if (item->kind == SVG_BARS && !y->is_log)
        include(y, 0);
}

static void apply_wish(svg_span_map *m, const svg_axis *wish, double margin)
{
    if (wish->low < wish->high && (!wish->is_log || wish->low > 0)) {
        m->low = wish->low;
        m->high = wish->high;
        return;
    }
    svg_widen(m, margin);
}

/* Widens the axis that has pixels to spare until both have the same scale. */
static void equalise(svg_span_map *x, svg_span_map *y)
{
    double x_scale = (x->high - x->low) / fabs(x->to - x->from);
    double y_scale = (y->high - y->low) / fabs(y->to - y->from);
    svg_span_map *m = x_scale < y_scale ? x : y;
    double grow = 0.5 * (m->high - m->low) * (fmax(x_scale, y_scale) / fmin(x_scale, y_scale) - 1);
    m->low -= grow;
    m->high += grow;
}

static void find_range(const svg_panel *p, svg_span_map *x, svg_span_map *y)
{
    bool is_tight = true; /* lines reach the edges; points and shapes keep clear of them */
    bool has_heat = false;
    x->low = y->low = (double)INFINITY;
    x->high = y->high = -(double)INFINITY;
    x->is_log = p->x.is_log;
    y->is_log = p->y.is_log;
    for (const svg_item *i = p->first; i; i = i->next) {
        include_item(i, x, y);
        has_heat |= i->kind == SVG_HEAT;
        if (i->kind == SVG_POINTS || i->kind == SVG_POLYGON || i->kind == SVG_ARROW)
            is_tight = false;
    }
    apply_wish(x, &p->x, is_tight || has_heat ? 0 : 0.05);
    apply_wish(y, &p->y, has_heat ? 0 : 0.06);
    if (p->is_equal && !x->is_log && !y->is_log)
        equalise(x, y);
}

/* --- legend --------------------------------------------------------------------------------- */

static bool is_listed(const svg_panel *p, const svg_item *item)
{
    if (!item->label || item->kind == SVG_TEXT || item->kind == SVG_HEAT)
        return false;
    for (const svg_item *i = p->first; i != item; i = i->next)
        if (i->label && strcmp(i->label, item->label) == 0)
            return false;
    return true;
}

static void put_key(FILE *out, const svg_item *item, double x, double y)
{
    const svg_style *s = &item->style;
    bool is_area = item->kind == SVG_BAND || item->kind == SVG_SPAN || item->kind == SVG_POLYGON ||
                   item->kind == SVG_BARS;
    if (item->kind == SVG_POINTS)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", x + 10, y - 4,
                s->color);
    else if (is_area)
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"9\" fill=\"%s\" "
                "fill-opacity=\"%g\"/>",
                x, y - 9, s->color, fmin(1, 1.4 * s->opacity));
    else
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"%.1f\"%s/>",
                x, y - 4, x + 18, y - 4, s->color, fmax(2, s->width),
                s->is_dashed ? " stroke-dasharray=\"5 3\"" : "");
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">", x + 23, y);
    svg_put_text(out, item->label);
    fprintf(out, "</text>\n");
}

/* Walks the legend in rows of the given width; draws it unless out is NULL. Returns its rows. */
static int legend(FILE *out, const svg_panel *p, double left, double top, double width)
{
    int rows = 0;
    double x = width + 1;
    for (const svg_item *i = p->first; i; i = i->next) {
        if (!is_listed(p, i))
            continue;
        double need = 38 + CHARACTER * (double)strlen(i->label);
        if (x + need > width) {
            x = 0;
            rows++;
        }
        if (out)
            put_key(out, i, left + x, top + rows * LINE - 5);
        x += need;
    }
    return rows;
}

/* --- frame ---------------------------------------------------------------------------------- */

static void put_label(FILE *out, const svg_tick *t, double x, double y, const char *anchor)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"%s\">%s", x, y, anchor,
            t->text);
    if (t->exponent)
        fprintf(out, "<tspan dy=\"-4\" font-size=\"9\">%d</tspan>", t->exponent);
    fprintf(out, "</text>\n");
}

static void put_x_axis(FILE *out, const svg_span_map *x, const svg_span_map *y)
{
    svg_tick ticks[SVG_TICKS_MAX];
    int count = svg_ticks(x, (int)fmax(2, (x->to - x->from) / 80), ticks);
    for (int i = 0; i < count; i++) {
        double at = svg_map(x, ticks[i].value);
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>\n", at, y->from, y->to,
                ticks[i].text[0] ? "#dddddd" : "#f0f0f0");
        if (ticks[i].text[0])
            put_label(out, &ticks[i], at, y->from + 15, "middle");
    }
}

static void put_y_axis(FILE *out, const svg_span_map *x, const svg_span_map *y)
{
    svg_tick ticks[SVG_TICKS_MAX];
    int count = svg_ticks(y, (int)fmax(2, (y->from - y->to) / 36), ticks);
    for (int i = 0; i < count; i++) {
        double at = svg_map(y, ticks[i].value);
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\"/>\n", x->from, at, x->to,
                ticks[i].text[0] ? "#dddddd" : "#f0f0f0");
        if (ticks[i].text[0])
            put_label(out, &ticks[i], x->from - 6, at + 4, "end");
    }
}

static void put_titles(FILE *out, const svg_panel *p, const svg_span_map *x, const svg_span_map *y,
                       double left, double title_y)
{
    if (p->title[0]) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">", x->from, title_y);
        svg_put_text(out, p->title);
        fprintf(out, "</text>\n");
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * (x->from + x->to),
            y->from + 34);
    svg_put_text(out, p->x.label);
    fprintf(out,
            "</text>\n<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
            "text-anchor=\"middle\">",
            left + 16, 0.5 * (y->from + y->to));
    svg_put_text(out, p->y.label);
    fprintf(out, "</text>\n");
}

static void put_contents(FILE *out, const svg_panel *p, const svg_span_map *x,
                         const svg_span_map *y, int number)
{
    fprintf(out,
            "<clipPath id=\"panel%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#panel%d)\">\n",
            number, x->from, y->to, x->to - x->from, y->from - y->to, number);
    for (const svg_item *i = p->first; i; i = i->next)
        if (i->kind != SVG_HEAT)
            svg_render_item(out, i, x, y);
    fprintf(out, "</g>\n");
}

void svg_render_panel(FILE *out, const svg_panel *p, double left, double top, int number)
{
    const svg_item *heat = p->first;
    while (heat && heat->kind != SVG_HEAT)
        heat = heat->next;
    double plot_width = p->figure->panel_width - LEFT - (heat ? RIGHT_WITH_BAR : RIGHT);
    double title = p->title[0] ? LINE : 0;
    double keys = LINE * (double)legend(NULL, p, 0, 0, plot_width);
    svg_span_map x = {.from = left + LEFT, .to = left + LEFT + plot_width};
    svg_span_map y = {.from = top + p->figure->panel_height - BOTTOM,
                      .to = top + TOP + title + keys};
    find_range(p, &x, &y);

    put_x_axis(out, &x, &y);
    put_y_axis(out, &x, &y);
    if (heat)
        svg_render_heat(out, heat, &x, &y);
    put_contents(out, p, &x, &y, number);
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#666666\"/>\n",
            x.from, y.to, x.to - x.from, y.from - y.to);
    put_titles(out, p, &x, &y, left, top + TOP + LINE - 7);
    legend(out, p, x.from, top + TOP + title, plot_width);
}
