/* What a figure holds between svg_create and svg_write: the meeting point of svg_plot.c, which
 * collects, and svg_render.c, which draws. */
#ifndef SERVER_SVG_ITEMS_H
#define SERVER_SVG_ITEMS_H

#include <stdio.h>

#include "server/svg_axis.h"
#include "server/svg_plot.h"

typedef enum svg_kind {
    SVG_LINE,    /* x, y */
    SVG_POINTS,  /* x, y */
    SVG_BAND,    /* x, y is the lower edge, z the upper */
    SVG_BARS,    /* x has n + 1 edges, y */
    SVG_SPAN,    /* x[0]..x[1] */
    SVG_MARK_X,  /* x[0] */
    SVG_MARK_Y,  /* y[0] */
    SVG_POLYGON, /* x, y */
    SVG_ARROW,   /* from point 0 to point 1 */
    SVG_TEXT,    /* x[0], y[0], label */
    SVG_HEAT     /* grid, y is the values, label is the unit */
} svg_kind;

typedef struct svg_item {
    svg_kind kind;
    int n;
    double *x, *y, *z; /* owned; NULL where the kind has none */
    char *label;       /* owned; NULL: not in the legend */
    svg_style style;   /* every default filled in */
    svg_grid grid;
    struct svg_item *next;
} svg_item;

struct svg_panel {
    svg_figure *figure;
    char *title;
    char *x_label, *y_label;
    svg_axis x, y; /* labels are the owned copies above */
    bool is_equal;
    int colors_used;
    svg_item *first, *last;
    svg_panel *next;
};

struct svg_figure {
    char *title;
    int columns;
    double panel_width, panel_height;
    svg_panel *first, *last;
    bool has_failed; /* an allocation did */
};

/* Text with the characters that XML reserves replaced. */
void svg_put_text(FILE *out, const char *text);

/* Draws one panel with its outer box at (left, top). Numbers panels for clip paths. */
void svg_render_panel(FILE *out, const svg_panel *p, double left, double top, int number);

/* Draws one item (not a heat map) through the panel's maps. */
void svg_render_item(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y);

/* Draws the cells, and the bar of colours with its ticks from pixel `right` on. */
void svg_render_heat(FILE *out, const svg_item *item, const svg_span_map *x, const svg_span_map *y);

#endif
