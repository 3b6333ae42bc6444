#include "server/trace_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/svg_plot.h"
#include "server/trace_plot_data.h"

enum { POINTS = 2 * PLOT_COLUMNS };

/* One colour per meaning in every panel (Okabe and Ito's palette, safe for the colour-blind). */
#define COLOR_X       "#d55e00"
#define COLOR_Y       "#009e73"
#define COLOR_Z       "#0072b2"
#define COLOR_WANTED  "#999999"
#define COLOR_FORCE   "#d55e00"
#define COLOR_CONTACT "#56b4e9"
#define COLOR_PATH    "#bbbbbb"

/* Colours of the reasons, by bit. */
static const char *const reason_colors[TRACE_REASONS] = {
    "#000000", "#e69f00", "#f0e442", "#cc79a7", "#8c564b", "#56b4e9",
    "#c7c7c7", "#9467bd", "#7f7f7f", "#ff0000", "#aa0000", "#e377c2",
    "#17becf", "#bcbd22", "#1f77b4", "#555555", "#ff7f0e", "#2ca02c",
};

typedef struct plot {
    const plot_data *data;
    const plot_hand *hand;
    const trace_summary *summary;
    svg_figure *figure;
    double rate_hz;
    const char *name; /* of the hand */
    double x[POINTS], y[POINTS];
} plot;

static void add_point(plot *p, int *n, double x, double y)
{
    if (*n == POINTS)
        return;
    p->x[*n] = x;
    p->y[*n] = y;
    ++*n;
}

/* Least and greatest value of each column, in the order in which they came. Up to two columns
 * without a tick do not break a line: the clock and the columns do not match exactly. */
static int gather_line(plot *p, plot_series series)
{
    int n = 0, empty = 0;
    for (int i = 0; i < p->data->column_count; i++) {
        const plot_column *c = &p->hand->columns[i];
        double t = plot_time(p->data, i);
        empty = c->count == 0 ? empty + 1 : 0;
        if (empty == 3)
            add_point(p, &n, t, (double)NAN);
        if (empty > 0)
            continue;
        bool low_first = c->low_is_first[series];
        add_point(p, &n, t, low_first ? c->low[series] : c->high[series]);
        if (c->high[series] > c->low[series])
            add_point(p, &n, t, low_first ? c->high[series] : c->low[series]);
    }
    return n;
}

static void draw(plot *p, svg_panel *panel, plot_series series, const char *label, svg_style style)
{
    int n = gather_line(p, series);
    svg_line(panel, p->x, p->y, n, label, style);
}

/* Shades the stretches of time whose columns have one of the bits; contact is bit -1. */
static void shade(plot *p, svg_panel *panel, int bit, const char *label, svg_style style)
{
    double half = 0.5 * (p->data->until - p->data->from) / p->data->column_count;
    int begin = -1, last = -1;
    for (int i = 0; i <= p->data->column_count; i++) {
        bool is_end = i == p->data->column_count;
        const plot_column *c = is_end ? NULL : &p->hand->columns[i];
        bool is_set = c && (bit < 0 ? c->is_touching : (c->reasons >> bit & 1) != 0);
        if (is_set) {
            begin = begin < 0 ? i : begin;
            last = i;
        } else if (begin >= 0 && (is_end || i - last > 2)) {
            svg_span(panel, plot_time(p->data, begin) - half, plot_time(p->data, last) + half,
                     label, style);
            begin = -1;
        }
    }
}

static svg_panel *time_panel(plot *p, const char *what, const char *unit_label, bool is_log)
{
    char title[96];
    snprintf(title, sizeof title, "%s: %s", p->name, what);
    return svg_add_panel(
        p->figure, title,
        (svg_axis){.label = "time (s)", .low = p->data->from, .high = p->data->until},
        (svg_axis){.label = unit_label, .is_log = is_log});
}

static void plot_position(plot *p)
{
    svg_panel *panel = time_panel(p, "where the handle is", "position (mm)", false);
    shade(p, panel, -1, "in contact", (svg_style){.color = COLOR_CONTACT, .opacity = 0.18});
    draw(p, panel, PLOT_X, "x, to the operator", (svg_style){.color = COLOR_X});
    draw(p, panel, PLOT_Y, "y, right", (svg_style){.color = COLOR_Y});
    draw(p, panel, PLOT_Z, "z, up", (svg_style){.color = COLOR_Z});
}

#define FORCE_FLOOR 0.01 /* N: less than anybody feels */

static double greatest(const plot *p, plot_series series)
{
    double most = 0;
    for (int i = 0; i < p->data->column_count; i++)
        if (p->hand->columns[i].count > 0)
            most = fmax(most, p->hand->columns[i].high[series]);
    return most;
}

static void plot_force(plot *p)
{
    char title[96];
    snprintf(title, sizeof title, "%s: force, and why it was less than wanted", p->name);
    svg_axis force = {.label = "force (N)"};
    if (greatest(p, PLOT_WANTED) < FORCE_FLOOR && greatest(p, PLOT_FORCE) < FORCE_FLOOR)
        force.high = 1; /* no picture of rounding */
    svg_panel *panel = svg_add_panel(
        p->figure, title,
        (svg_axis){.label = "time (s)", .low = p->data->from, .high = p->data->until}, force);
    for (int bit = 0; bit < TRACE_REASONS; bit++)
        shade(p, panel, bit, trace_reason_name(bit),
              (svg_style){.color = reason_colors[bit], .opacity = 0.22});
    draw(p, panel, PLOT_WANTED, "wanted", (svg_style){.color = COLOR_WANTED, .width = 1.6});
    draw(p, panel, PLOT_FORCE, "applied", (svg_style){.color = COLOR_FORCE});
}

static void plot_gap(plot *p)
{
    svg_panel *panel = time_panel(p, "distance to the nearest body", "gap (mm)", false);
    shade(p, panel, -1, "in contact", (svg_style){.color = COLOR_CONTACT, .opacity = 0.18});
    svg_mark_y(panel, 0, "", (svg_style){.color = "#444444", .is_dashed = true});
    draw(p, panel, PLOT_GAP, "", (svg_style){.color = COLOR_Z});
}

/* In lockstep nothing is ever late, and a logarithmic panel would be empty. */
static bool has_lateness(const plot *p)
{
    return histogram_max(&p->hand->lateness) > 0;
}

static void plot_energy(plot *p)
{
    svg_panel *panel = time_panel(p, "energy taken up from the hand", "energy (mJ)", false);
    svg_mark_y(panel, 0, "", (svg_style){.color = "#444444", .is_dashed = true});
    draw(p, panel, PLOT_ENERGY, "", (svg_style){.color = COLOR_Y});
}

static void plot_lateness(plot *p)
{
    svg_panel *panel = time_panel(p, "lateness and computing time", "time (us)", true);
    draw(p, panel, PLOT_LATENESS, "woke up late by", (svg_style){.color = COLOR_Y});
    draw(p, panel, PLOT_COMPUTE, "computed for", (svg_style){.color = COLOR_Z});
    if (p->rate_hz > 0)
        svg_mark_y(panel, 1e6 / p->rate_hz, "one period",
                   (svg_style){.color = "#cc0000", .is_dashed = true});
}

/* --- in space ----------------------------------------------------------------------------------
 */

/* 0, 1, 2 for x, y, z. */
static double part(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void draw_path(plot *p, svg_panel *panel, int across, bool touching, svg_style style)
{
    int n = 0;
    for (int i = 0; i < p->data->column_count; i++) {
        const plot_column *c = &p->hand->columns[i];
        if (c->count == 0)
            continue;
        bool is_shown = c->is_touching == touching;
        p->x[n] = is_shown ? 1e3 * part(c->tool, across) : (double)NAN;
        p->y[n++] = is_shown ? 1e3 * c->tool.z : (double)NAN;
    }
    svg_line(panel, p->x, p->y, n, touching ? "in contact" : "free", style);
}

/* About fifty arrows, the longest an eighth of the path's size. */
static void draw_forces(plot *p, svg_panel *panel, int across)
{
    double low = HUGE_VAL, high = -HUGE_VAL, longest = 0;
    int touching = 0;
    for (int i = 0; i < p->data->column_count; i++) {
        const plot_column *c = &p->hand->columns[i];
        if (c->count == 0)
            continue;
        low = fmin(low, 1e3 * fmin(part(c->tool, across), c->tool.z));
        high = fmax(high, 1e3 * fmax(part(c->tool, across), c->tool.z));
        longest = fmax(longest, vec3_length(c->force));
        touching += c->is_touching;
    }
    if (!(longest > 0) || !(high > low))
        return;
    double scale = (high - low) / (8 * longest);
    int every = touching / 50 + 1, seen = 0;
    for (int i = 0; i < p->data->column_count; i++) {
        const plot_column *c = &p->hand->columns[i];
        if (c->count == 0 || !c->is_touching || seen++ % every != 0)
            continue;
        double dx = scale * part(c->force, across), dy = scale * c->force.z;
        if (dx * dx + dy * dy > 0)
            svg_arrow(panel, 1e3 * part(c->tool, across), 1e3 * c->tool.z, dx, dy, "force",
                      (svg_style){.color = COLOR_FORCE, .width = 1});
    }
}

static void plot_path(plot *p, int across, const char *what, const char *label)
{
    char title[96];
    snprintf(title, sizeof title, "%s: %s", p->name, what);
    svg_panel *panel = svg_add_panel(p->figure, title, (svg_axis){.label = label},
                                     (svg_axis){.label = "z, up (mm)"});
    svg_equal_aspect(panel);
    draw_path(p, panel, across, false, (svg_style){.color = COLOR_PATH});
    draw_path(p, panel, across, true, (svg_style){.color = COLOR_Z, .width = 1.6});
    draw_forces(p, panel, across);
}

static void plot_stiffness(plot *p)
{
    char title[96];
    snprintf(title, sizeof title, "%s: force over depth", p->name);
    int n = 0;
    for (int i = 0; i < p->data->column_count; i++) {
        const plot_column *c = &p->hand->columns[i];
        if (c->count == 0 || !c->is_touching || !(c->low[PLOT_GAP] < 0))
            continue;
        p->x[n] = -c->low[PLOT_GAP];
        p->y[n++] = c->high[PLOT_FORCE];
    }
    bool is_empty = n == 0;
    svg_panel *panel =
        svg_add_panel(p->figure, title, (svg_axis){.label = "depth (mm)", .high = is_empty ? 1 : 0},
                      (svg_axis){.label = "force (N)", .high = is_empty ? 1 : 0});
    svg_points(panel, p->x, p->y, n, "",
               (svg_style){.color = COLOR_FORCE, .width = 1.6, .opacity = 0.5});
    if (is_empty)
        svg_text(panel, 0.4, 0.5, "nothing was touched");
}

static void plot_age(plot *p)
{
    svg_panel *panel = time_panel(p, "how old the world's news is", "age of the frame (ms)", false);
    draw(p, panel, PLOT_AGE, "", (svg_style){.color = COLOR_X});
}

static void plot_histogram(plot *p)
{
    enum { STEP = 4, BARS = HISTOGRAM_BUCKETS / STEP };
    char title[96];
    snprintf(title, sizeof title, "%s: how late, how often", p->name);
    svg_panel *panel =
        svg_add_panel(p->figure, title, (svg_axis){.label = "lateness (us)", .is_log = true},
                      (svg_axis){.label = "ticks", .is_log = true});
    static double edges[BARS + 1], counts[BARS];
    int first = -1, last = -1;
    for (int i = 0; i < BARS; i++) {
        counts[i] = 0;
        for (int k = 0; k < STEP; k++)
            counts[i] += atomic_load_explicit(&p->hand->lateness.buckets[STEP * i + k],
                                              memory_order_relaxed);
        edges[i] = 1e-3 * (double)histogram_bucket_start(STEP * i);
        if (counts[i] > 0 && edges[i] > 0) {
            first = first < 0 ? i : first;
            last = i;
        }
    }
    edges[BARS] = 2 * edges[BARS - 1];
    if (first >= 0)
        svg_bars(panel, edges + first, counts + first, last - first + 1, "",
                 (svg_style){.color = COLOR_Y});
    svg_mark_x(panel, 1e-3 * (double)histogram_quantile(&p->hand->lateness, 0.99), "99 %",
               (svg_style){.color = COLOR_Z, .is_dashed = true});
}

static void plot_hand_panels(plot *p)
{
    plot_position(p);
    plot_path(p, 1, "path and force from the front", "y, right (mm)");
    plot_force(p);
    plot_path(p, 0, "path and force from the side", "x, to the operator (mm)");
    plot_gap(p);
    plot_stiffness(p);
    plot_energy(p);
    plot_age(p);
    if (has_lateness(p)) {
        plot_lateness(p);
        plot_histogram(p);
    }
}

static void draw_title(const trace_reader *r, const trace_summary *s, char *out, size_t size)
{
    const char *scene = trace_value(r, TRACE_RUN, "scene_path");
    const char *slash = scene ? strrchr(scene, '/') : NULL;
    const char *degraded = trace_value(r, TRACE_RUN, "degraded");
    const char *mode = trace_value(r, TRACE_RUN, "mode");
    char devices[160];
    trace_device_names(r, s->hand_count, devices, sizeof devices);
    snprintf(out, size, "%s on %s, %.1f s, %s%s%s", devices, slash ? slash + 1 : "a scene",
             s->duration_s, mode ? mode : "",
             degraded && strcmp(degraded, "true") == 0 ? ", degraded" : "",
             s->is_complete ? "" : ", NOT COMPLETE");
}

static hr_status draw_figure(const trace_reader *r, const trace_summary *s, const plot_data *d,
                             const char *output, hr_error *error)
{
    char title[320];
    draw_title(r, s, title, sizeof title);
    plot *p = calloc(1, sizeof *p);
    svg_figure *figure = svg_create(title, 2);
    hr_status status = HR_ERR_MEMORY;
    if (p && figure) {
        svg_panel_size(figure, 760, 270);
        for (int i = 0; i < d->hand_count; i++) {
            *p = (plot){.data = d,
                        .hand = &d->hands[i],
                        .summary = s,
                        .figure = figure,
                        .rate_hz = trace_number(r, TRACE_RUN, "rate_hz", 0),
                        .name = trace_hand_name(r, i)};
            plot_hand_panels(p);
        }
        status = svg_write(figure, output, error);
    } else {
        error_set(error, status, "no memory for the picture");
    }
    svg_destroy(figure);
    free(p);
    return status;
}

hr_status trace_plot(const char *path, double from, double until, const char *output,
                     hr_error *error)
{
    trace_reader *r;
    hr_status status = trace_reader_open(path, &r, error);
    if (status != HR_OK)
        return status;
    trace_summary *s = trace_summarize(r);
    plot_data *d = NULL;
    if (!s)
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory to plot it", path);
    else if (s->ticks == 0)
        status = error_set(error, HR_ERR_FORMAT, "%s: expected ticks to draw, found none", path);
    else if (from >= s->duration_s)
        status = error_set(error, HR_ERR_ARGUMENT, "%s: expected a start before %.3f s, found %g",
                           path, s->duration_s, from);
    if (status == HR_OK && s) {
        d = plot_gather(path, s, from, until, error);
        status = d ? draw_figure(r, s, d, output, error) : HR_ERR_MEMORY;
    }
    free(d);
    free(s);
    trace_reader_close(r);
    return status;
}
