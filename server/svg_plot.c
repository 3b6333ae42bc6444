#include "server/svg_plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/svg_items.h"

/* Distinguishable for colour-blind readers too (the palette of Okabe and Ito, without yellow). */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#444444"};

svg_figure *svg_create(const char *title, int columns)
{
    svg_figure *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->title = strdup(title ? title : "");
    f->columns = columns > 0 ? columns : 1;
    f->panel_width = 720;
    f->panel_height = 260;
    f->has_failed = !f->title;
    return f;
}

static void free_item(svg_item *item)
{
    free(item->x);
    free(item->y);
    free(item->z);
    free(item->label);
    free(item);
}

static void free_panel(svg_panel *p)
{
    while (p->first) {
        svg_item *next = p->first->next;
        free_item(p->first);
        p->first = next;
    }
    free(p->title);
    free(p->x_label);
    free(p->y_label);
    free(p);
}

void svg_destroy(svg_figure *f)
{
    if (!f)
        return;
    while (f->first) {
        svg_panel *next = f->first->next;
        free_panel(f->first);
        f->first = next;
    }
    free(f->title);
    free(f);
}

void svg_panel_size(svg_figure *f, double width, double height)
{
    if (!f)
        return;
    f->panel_width = fmax(width, 160);
    f->panel_height = fmax(height, 120);
}

svg_panel *svg_add_panel(svg_figure *f, const char *title, svg_axis x, svg_axis y)
{
    svg_panel *p = f ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        if (f)
            f->has_failed = true;
        return NULL;
    }
    p->figure = f;
    p->x = x;
    p->y = y;
    p->title = strdup(title ? title : "");
    p->x.label = p->x_label = strdup(x.label ? x.label : "");
    p->y.label = p->y_label = strdup(y.label ? y.label : "");
    if (!p->title || !p->x_label || !p->y_label)
        f->has_failed = true;
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
    return p;
}

void svg_equal_aspect(svg_panel *p)
{
    if (p)
        p->is_equal = true;
}

static double *copy(const double *values, int n)
{
    double *out = malloc((size_t)(n > 0 ? n : 1) * sizeof *out);
    if (out && n > 0)
        memcpy(out, values, (size_t)n * sizeof *out);
    return out;
}

/* An item with the same label gives its colour; else the caller's, else the palette's next. */
static const char *choose_color(svg_panel *p, const char *label, const char *wanted)
{
    if (wanted)
        return wanted;
    for (const svg_item *i = p->first; i && label; i = i->next)
        if (i->label && strcmp(i->label, label) == 0)
            return i->style.color;
    return palette[p->colors_used++ % HR_COUNT(palette)];
}

static svg_item *add(svg_panel *p, svg_kind kind, const char *label, svg_style style)
{
    svg_item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    if (label && label[0]) {
        item->label = strdup(label);
        if (!item->label) {
            free(item);
            return NULL;
        }
    }
    item->kind = kind;
    item->style = style;
    if (kind != SVG_HEAT && kind != SVG_TEXT)
        item->style.color = choose_color(p, item->label, style.color);
    if (!(style.width > 0))
        item->style.width = kind == SVG_POINTS ? 2.0 : 1.4;
    if (!(style.opacity > 0)) {
        bool is_area = kind == SVG_BAND || kind == SVG_SPAN || kind == SVG_POLYGON;
        item->style.opacity = is_area ? 0.25 : 1;
    }
    if (p->last)
        p->last->next = item;
    else
        p->first = item;
    p->last = item;
    return item;
}

/* Adds an item with copies of up to three arrays; a failure marks the figure. */
static svg_item *add_data(svg_panel *p, svg_kind kind, const char *label, svg_style style, int n,
                          const double *const arrays[3], const int counts[3])
{
    if (!p || n < 0)
        return NULL;
    svg_item *item = add(p, kind, label, style);
    if (!item) {
        p->figure->has_failed = true;
        return NULL;
    }
    double **slots[3] = {&item->x, &item->y, &item->z};
    for (int k = 0; k < 3; k++) {
        if (!arrays[k])
            continue;
        *slots[k] = copy(arrays[k], counts[k]);
        if (!*slots[k]) {
            p->figure->has_failed = true;
            return NULL;
        }
    }
    item->n = n;
    return item;
}

static void add_xy(svg_panel *p, svg_kind kind, const double *x, const double *y, int n,
                   const char *label, svg_style style)
{
    const double *arrays[3] = {x, y, NULL};
    add_data(p, kind, label, style, n, arrays, (int[3]){n, n, 0});
}

void svg_line(svg_panel *p, const double *x, const double *y, int n, const char *label,
              svg_style style)
{
    add_xy(p, SVG_LINE, x, y, n, label, style);
}

void svg_points(svg_panel *p, const double *x, const double *y, int n, const char *label,
                svg_style style)
{
    add_xy(p, SVG_POINTS, x, y, n, label, style);
}

void svg_band(svg_panel *p, const double *x, const double *low, const double *high, int n,
              const char *label, svg_style style)
{
    const double *arrays[3] = {x, low, high};
    add_data(p, SVG_BAND, label, style, n, arrays, (int[3]){n, n, n});
}

void svg_bars(svg_panel *p, const double *edges, const double *y, int n, const char *label,
              svg_style style)
{
    const double *arrays[3] = {edges, y, NULL};
    add_data(p, SVG_BARS, label, style, n, arrays, (int[3]){n + 1, n, 0});
}

void svg_span(svg_panel *p, double x0, double x1, const char *label, svg_style style)
{
    add_xy(p, SVG_SPAN, (double[2]){x0, x1}, (double[2]){0, 0}, 2, label, style);
}

void svg_mark_x(svg_panel *p, double x, const char *label, svg_style style)
{
    add_xy(p, SVG_MARK_X, &x, (double[1]){0}, 1, label, style);
}

void svg_mark_y(svg_panel *p, double y, const char *label, svg_style style)
{
    add_xy(p, SVG_MARK_Y, (double[1]){0}, &y, 1, label, style);
}

void svg_polygon(svg_panel *p, const double *x, const double *y, int n, const char *label,
                 svg_style style)
{
    add_xy(p, SVG_POLYGON, x, y, n, label, style);
}

void svg_circle(svg_panel *p, double x, double y, double radius, const char *label, svg_style style)
{
    enum { SIDES = 96 };
    double xs[SIDES];
    double ys[SIDES];
    for (int i = 0; i < SIDES; i++) {
        double angle = 2 * 3.14159265358979323846 * i / SIDES;
        xs[i] = x + radius * cos(angle);
        ys[i] = y + radius * sin(angle);
    }
    svg_polygon(p, xs, ys, SIDES, label, style);
}

void svg_arrow(svg_panel *p, double x, double y, double dx, double dy, const char *label,
               svg_style style)
{
    add_xy(p, SVG_ARROW, (double[2]){x, x + dx}, (double[2]){y, y + dy}, 2, label, style);
}

void svg_text(svg_panel *p, double x, double y, const char *text)
{
    add_xy(p, SVG_TEXT, &x, &y, 1, text, (svg_style){0});
}

void svg_heat(svg_panel *p, svg_grid grid, const double *values, const char *unit)
{
    if (grid.columns < 1 || grid.rows < 1)
        return;
    int n = grid.columns * grid.rows;
    const double *arrays[3] = {NULL, values, NULL};
    svg_item *item = add_data(p, SVG_HEAT, unit, (svg_style){0}, n, arrays, (int[3]){0, n, 0});
    if (item)
        item->grid = grid;
}

static void put_figure(FILE *out, const svg_figure *f)
{
    int count = 0;
    for (const svg_panel *p = f->first; p; p = p->next)
        count++;
    int columns = count < f->columns ? (count > 0 ? count : 1) : f->columns;
    int rows = (count + columns - 1) / columns;
    double header = f->title[0] ? 34 : 4;
    double width = columns * f->panel_width;
    double height = header + rows * f->panel_height;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    if (f->title[0]) {
        fprintf(out,
                "<text x=\"%g\" y=\"23\" font-size=\"16\" font-weight=\"bold\" "
                "text-anchor=\"middle\">",
                width / 2);
        svg_put_text(out, f->title);
        fprintf(out, "</text>\n");
    }
    int i = 0;
    for (const svg_panel *p = f->first; p; p = p->next, i++) {
        int row = i / columns;
        int column = i % columns;
        svg_render_panel(out, p, column * f->panel_width, header + row * f->panel_height, i);
    }
    fprintf(out, "</svg>\n");
}

hr_status svg_write(const svg_figure *f, const char *path, hr_error *error)
{
    if (!f || f->has_failed)
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory for the picture", path);
    FILE *out = fopen(path, "w");
    if (!out)
        return error_set(error, HR_ERR_IO, "%s: %s", path, strerror(errno));
    put_figure(out, f);
    bool is_bad = ferror(out) != 0;
    if (fclose(out) != 0 || is_bad)
        return error_set(error, HR_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return HR_OK;
}
