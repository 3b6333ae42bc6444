/* Pictures of measurements: a figure of panels, written as plain SVG that any browser shows.
 *
 *     svg_figure *f = svg_create("Step response", 1);
 *     svg_panel *p = svg_add_panel(f, "", (svg_axis){.label = "time (s)"},
 *                                  (svg_axis){.label = "force (N)"});
 *     svg_line(p, t, force, n, "applied", (svg_style){0});
 *     hr_status status = svg_write(f, "force.svg", &error);
 *     svg_destroy(f);
 *
 * Data is copied at the call. Points that are not finite (or not positive on a logarithmic axis)
 * are left out and break a line. Calls after a failed allocation do nothing and svg_write says so,
 * so a caller checks only once. */
#ifndef SERVER_SVG_PLOT_H
#define SERVER_SVG_PLOT_H

#include <stdbool.h>

#include "geometry/error.h"

typedef struct svg_figure svg_figure;
typedef struct svg_panel svg_panel;

/* {0} is a linear axis without a label whose range comes from the data. */
typedef struct svg_axis {
    const char *label; /* with its unit: "force (N)" */
    bool is_log;       /* decimal logarithm */
    double low, high;  /* shown range; low == high: from the data */
} svg_axis;

/* {0} is the next colour of the palette, an ordinary width, opaque (bands and spans let light
 * through). Items of a panel with the same label share one colour and one line of the legend. */
typedef struct svg_style {
    const char *color; /* as in CSS, e.g. "#0072b2"; must outlive the figure */
    double width;      /* px: of a line, or the radius of a point */
    double opacity;    /* 0..1; 0 means the default */
    bool is_dashed;
} svg_style;

/* Panels fill rows of `columns` from the top left. NULL when out of memory. */
svg_figure *svg_create(const char *title, int columns);
void svg_destroy(svg_figure *f); /* accepts NULL */

/* Outer size of each panel in px; 720 x 260 unless set. */
void svg_panel_size(svg_figure *f, double width, double height);

/* Belongs to the figure; NULL (which every call below accepts) when out of memory. */
svg_panel *svg_add_panel(svg_figure *f, const char *title, svg_axis x, svg_axis y);

/* One unit is as long in x as in y: for pictures of space. */
void svg_equal_aspect(svg_panel *p);

/* A label of NULL or "" keeps an item out of the legend. */
void svg_line(svg_panel *p, const double *x, const double *y, int n, const char *label,
              svg_style style);
void svg_points(svg_panel *p, const double *x, const double *y, int n, const char *label,
                svg_style style);

/* Filled between low and high. */
void svg_band(svg_panel *p, const double *x, const double *low, const double *high, int n,
              const char *label, svg_style style);

/* Bar i reaches from x[i] to x[i + 1] and from the bottom to y[i]: edges has n + 1 entries. */
void svg_bars(svg_panel *p, const double *edges, const double *y, int n, const char *label,
              svg_style style);

/* Shades the whole height between two x values; does not widen the range. */
void svg_span(svg_panel *p, double x0, double x1, const char *label, svg_style style);

/* A straight line across the panel at one value, such as a limit. */
void svg_mark_x(svg_panel *p, double x, const char *label, svg_style style);
void svg_mark_y(svg_panel *p, double y, const char *label, svg_style style);

/* Closed and filled; its outline is opaque. */
void svg_polygon(svg_panel *p, const double *x, const double *y, int n, const char *label,
                 svg_style style);
void svg_circle(svg_panel *p, double x, double y, double radius, const char *label,
                svg_style style);

/* From (x, y) to (x + dx, y + dy), with a head. */
void svg_arrow(svg_panel *p, double x, double y, double dx, double dy, const char *label,
               svg_style style);

/* Words at a place of the panel's own coordinates, beginning there. */
void svg_text(svg_panel *p, double x, double y, const char *text);

/* Cell (i, j) of values[j * columns + i] covers the i-th part of x0..x1 and the j-th of y0..y1,
 * parts being equal on the screen (so equal factors on a logarithmic axis). Colours run from the
 * smallest to the largest finite value; the bar beside the panel carries `unit`. Cells that are
 * not finite stay grey. One heat map per panel. */
typedef struct svg_grid {
    double x0, x1, y0, y1;
    int columns, rows;
} svg_grid;
void svg_heat(svg_panel *p, svg_grid grid, const double *values, const char *unit);

HR_MUST_USE hr_status svg_write(const svg_figure *f, const char *path, hr_error *error);

#endif
