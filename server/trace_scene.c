#include "server/trace_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/svg_axis.h"
#include "server/svg_items.h"
#include "server/trace_scene_data.h"

/* px */
enum {
    PANEL_WIDTH = 440,
    PANEL_HEIGHT = 430,
    CAPTION = 44, /* above each panel */
    HEADER = 62,
    STRIP = 120, /* force over time, below */
    GAP = 14,
    COLUMNS = 3
};

/* Okabe and Ito's palette, safe for the colour-blind. */
#define COLOR_TOOL   "#d55e00"
#define COLOR_PROXY  "#0072b2"
#define COLOR_FORCE  "#b0123a"
#define COLOR_NORMAL "#009e73"
#define COLOR_WAY    "#9aa3ad"

static const double TRAIL_S = 1.2;    /* of the way before the moment is drawn strongly */
static const double WHISKER_S = 0.05; /* between two normals along it */

typedef struct drawing {
    const scene_data *data;
    space *spaces[TRACE_SCENE_TIMES_MAX];
    space_view view;
    double size;         /* m, of the scene */
    double metres_per_n; /* of the force arrows: 1, 2 or 5 times a power of ten */
} drawing;

bool trace_scene_view(const char *text, trace_scene_options *out)
{
    static const struct {
        const char *name;
        double azimuth, elevation;
    } names[] = {{"front", 0, 0}, {"side", 90, 0}, {"top", 0, 90}, {"iso", 45, 35.26438968}};
    char *end = NULL;
    for (int i = 0; i < HR_COUNT(names); i++)
        if (strcmp(text, names[i].name) == 0) {
            out->azimuth = names[i].azimuth;
            out->elevation = names[i].elevation;
            return true;
        }
    out->azimuth = strtod(text, &end);
    if (end == text || *end != ',')
        return false;
    const char *second = end + 1;
    out->elevation = strtod(second, &end);
    return end != second && !*end && fabs(out->azimuth) <= 360 && fabs(out->elevation) <= 90;
}

/* --- what is in a picture --------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, not above x. */
static double round_down(double x)
{
    double power = pow(10, floor(log10(x)));
    double lead = x / power;
    return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/* The part of a hand's way between two times, tool or proxy. */
static void add_way(const hand_way *way, double from, double until, bool is_tool, space_pen pen,
                    space *out)
{
    static vec3 points[SCENE_WAY_MAX];
    int n = 0;
    for (int i = 0; i < way->count; i++)
        if (way->points[i].time >= from && way->points[i].time <= until)
            points[n++] = is_tool ? way->points[i].tool : way->points[i].proxy;
    if (n > 1)
        space_add_line(out, points, n, pen);
}

/* Normals and forces along the last stretch of the way. */
static void add_whiskers(const drawing *p, const hand_way *way, double until, space *out)
{
    double next = until - TRAIL_S;
    for (int i = 0; i < way->count; i++) {
        const way_point *w = &way->points[i];
        if (w->time < next || w->time > until)
            continue;
        next = w->time + WHISKER_S;
        if (!w->is_touching)
            continue;
        vec3 ends[2] = {w->proxy, vec3_add_scaled(w->proxy, 0.045 * p->size, w->normal)};
        space_add_line(out, ends, 2,
                       (space_pen){.color = COLOR_NORMAL, .width = 1, .hidden = 0.3, .slack = 1});
    }
}

static void add_hand(const drawing *p, const way_point *now, space *out)
{
    double radius = p->data->tool_radius;
    vec3 spring[2] = {now->tool, now->proxy};
    space_add_line(out, spring, 2,
                   (space_pen){.color = "#333333", .width = 1.2, .hidden = 1, .slack = 1});
    if (now->is_touching) {
        space_add_arrow(out, now->proxy, vec3_add_scaled(now->proxy, 0.10 * p->size, now->normal),
                        (space_pen){.color = COLOR_NORMAL, .width = 1.6});
        space_add_arrow(out, now->proxy, vec3_add_scaled(now->proxy, p->metres_per_n, now->force),
                        (space_pen){.color = COLOR_FORCE, .width = 3});
    }
    space_add_dot(out, now->tool, 0, 4, "#ffffff", COLOR_TOOL);
    space_add_dot(out, now->proxy, radius, 4, COLOR_PROXY, "#ffffff");
}

static void add_everything(drawing *p, int number)
{
    const snapshot *shot = &p->data->snapshots[number];
    space *out = p->spaces[number] = space_create();
    double slack = 0.012 * p->size;
    if (!out)
        return;
    scene_skins_add(p->data->skins, shot->poses, shot->touched, out);
    for (int i = 0; i < p->data->hand_count; i++) {
        const hand_way *way = &p->data->ways[i];
        double begin = shot->time - TRAIL_S;
        add_way(way, p->data->from, p->data->until, true,
                (space_pen){COLOR_WAY, 0.8, 0.25, slack, true}, out);
        add_way(way, begin, shot->time, true, (space_pen){COLOR_TOOL, 1.8, 0.45, slack, false},
                out);
        add_way(way, begin, shot->time, false, (space_pen){COLOR_PROXY, 2.2, 0.4, slack, false},
                out);
        add_whiskers(p, way, shot->time, out);
        if (shot->has_hand[i])
            add_hand(p, &shot->hands[i], out);
    }
}

/* --- from where ------------------------------------------------------------------------------- */

/* What a view shows of the contacts: how many proxies are not hidden, how long the forces look. */
static double rate_view(const drawing *p, space_view view, double azimuth, double elevation)
{
    double seen = 0, length = 0, all = 0;
    for (int i = 0; i < p->data->snapshot_count; i++) {
        const snapshot *shot = &p->data->snapshots[i];
        space_window w = {.width = 160, .height = 160};
        const space *one = p->spaces[i];
        space_fit(&one, 1, &view, 6, &w);
        for (int h = 0; h < p->data->hand_count; h++) {
            const way_point *now = &shot->hands[h];
            if (!shot->has_hand[h])
                continue;
            vec3 tip = vec3_add_scaled(now->proxy, 0.02 * p->size, now->normal);
            seen += space_count_visible(p->spaces[i], &view, &w, &tip, 1, 0.01 * p->size);
            vec3 flat =
                vec3_add_scaled(now->force, -vec3_dot(now->force, view.toward), view.toward);
            double force = vec3_length(now->force);
            length += force > 0 ? vec3_length(flat) / force : 1;
            all++;
        }
    }
    /* of equals the one most like where the operator sits */
    double comfort = 1 - (fabs(azimuth) / 180 + fabs(elevation - 18) / 90) / 2;
    return all > 0 ? (2 * seen + length) / all + 0.35 * comfort : comfort;
}

static void choose_view(drawing *p, const trace_scene_options *o)
{
    static const double azimuths[] = {30, -30, 50, -50, 70, -70, 10, 110, -110, 150, -150};
    static const double elevations[] = {18, 30, 10};
    double best = -1;
    p->view = space_view_from(o->azimuth, o->elevation);
    for (int i = 0; i < HR_COUNT(azimuths) && !o->has_view; i++)
        for (int k = 0; k < HR_COUNT(elevations); k++) {
            space_view view = space_view_from(azimuths[i], elevations[k]);
            double rate = rate_view(p, view, azimuths[i], elevations[k]);
            if (rate > best) {
                best = rate;
                p->view = view;
            }
        }
}

/* --- on paper --------------------------------------------------------------------------------- */

static void put_words(FILE *out, double x, double y, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s%s>", x, y, style[0] ? " " : "", style);
    svg_put_text(out, text);
    fputs("</text>\n", out);
}

static void put_axes(FILE *out, const space_view *view, const space_window *w)
{
    static const char *const names[] = {"x", "y", "z"};
    const vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double x0 = w->left + 40, y0 = w->top + w->height - 36;
    for (int i = 0; i < 3; i++) {
        double dx = 24 * vec3_dot(view->right, axes[i]), dy = -24 * vec3_dot(view->up, axes[i]);
        fprintf(out, "<path d=\"M%.1f %.1fl%.1f %.1f\" stroke=\"#444\" stroke-width=\"1.4\"/>\n",
                x0, y0, dx, dy);
        if (hypot(dx, dy) > 6)
            put_words(out, x0 + 1.38 * dx - 3, y0 + 1.38 * dy + 4, "font-size=\"11\"", names[i]);
    }
}

/* A ruler, and beside it how long an arrow of a round force is. */
static void put_scales(FILE *out, const drawing *p, const space_window *w)
{
    double length = round_down(0.25 * w->width / w->scale), y = w->top + w->height - 14;
    double px = length * w->scale, x = w->left + w->width - 16 - px;
    char text[48];
    fprintf(out,
            "<path d=\"M%.1f %.1fv6m0 -3h%.1fm0 -3v6\" fill=\"none\" stroke=\"#222\" "
            "stroke-width=\"1.4\"/>\n",
            x, y - 3, px);
    snprintf(text, sizeof text, "%g mm", 1e3 * length);
    put_words(out, x + 0.5 * px, y - 6, "font-size=\"11\" text-anchor=\"middle\"", text);
    double newtons = round_down(length / p->metres_per_n);
    double force_px = newtons * p->metres_per_n * w->scale, left = x - 26 - force_px;
    fprintf(out, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"" COLOR_FORCE "\" stroke-width=\"3\"/>\n",
            left, y, force_px);
    snprintf(text, sizeof text, "%g N", newtons);
    put_words(out, left + 0.5 * force_px, y - 6, "font-size=\"11\" text-anchor=\"middle\"", text);
}

static void put_caption(FILE *out, const drawing *p, int number, const space_window *w)
{
    const snapshot *shot = &p->data->snapshots[number];
    char text[160];
    double force = 0;
    for (int i = 0; i < p->data->hand_count; i++)
        if (shot->has_hand[i])
            force = fmax(force, vec3_length(shot->hands[i].force));
    snprintf(text, sizeof text, "%d   %.2f s", number + 1, shot->time);
    put_words(out, w->left + 4, w->top - 22, "font-weight=\"bold\" font-size=\"14\"", text);
    if (shot->touched)
        snprintf(text, sizeof text, "%.2f N, touching %s", force, shot->name);
    else
        snprintf(text, sizeof text, "touching nothing");
    put_words(out, w->left + 4, w->top - 6, "fill=\"#555\"", text);
}

static void put_panel(FILE *out, const drawing *p, int number, const space_window *w)
{
    put_caption(out, p, number, w);
    fprintf(out,
            "<clipPath id=\"space%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "rx=\"6\"/></clipPath>\n<g clip-path=\"url(#space%d)\">\n"
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fbfbfa\"/>\n",
            number, w->left, w->top, w->width, w->height, number, w->left, w->top, w->width,
            w->height);
    space_write(p->spaces[number], &p->view, w, out);
    put_axes(out, &p->view, w);
    put_scales(out, p, w);
    fprintf(out,
            "</g>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" "
            "fill=\"none\" stroke=\"#c9ced4\"/>\n",
            w->left, w->top, w->width, w->height);
}

static double most_force(const scene_data *d)
{
    double most = 0;
    for (int i = 0; i < d->hand_count; i++)
        for (int k = 0; k < d->ways[i].count; k++)
            most = fmax(most, vec3_length(d->ways[i].points[k].force));
    return most;
}

/* Force over time, with the moments of the panels. */
static void put_strip(FILE *out, const drawing *p, double top, double width)
{
    const scene_data *d = p->data;
    svg_span_map x = {.low = d->from, .high = d->until, .from = GAP + 44, .to = width - GAP};
    svg_span_map y = {.low = 0, .high = most_force(d), .from = top + STRIP - 34, .to = top + 16};
    svg_widen(&x, 0);
    svg_widen(&y, 0);
    svg_tick ticks[SVG_TICKS_MAX];
    int n = svg_ticks(&x, 12, ticks);
    for (int i = 0; i < n; i++)
        if (ticks[i].text[0])
            put_words(out, svg_map(&x, ticks[i].value), y.from + 15,
                      "font-size=\"11\" text-anchor=\"middle\"", ticks[i].text);
    n = svg_ticks(&y, 3, ticks);
    for (int i = 0; i < n; i++) {
        double at = svg_map(&y, ticks[i].value);
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#e4e7ea\"/>\n", x.from, at, x.to);
        if (ticks[i].text[0])
            put_words(out, x.from - 6, at + 4, "font-size=\"11\" text-anchor=\"end\"",
                      ticks[i].text);
    }
    put_words(out, x.to, y.from + 29, "text-anchor=\"end\" font-size=\"11\" fill=\"#555\"",
              "time (s)");
    put_words(out, GAP, top + 8, "font-size=\"11\" fill=\"#555\"", "force on the hand (N)");
    for (int i = 0; i < d->hand_count; i++) {
        fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\" d=\"",
                i == 0 ? COLOR_FORCE : COLOR_PROXY);
        for (int k = 0; k < d->ways[i].count; k++)
            fprintf(out, "%c%.1f %.1f", k == 0 ? 'M' : 'L', svg_map(&x, d->ways[i].points[k].time),
                    svg_map(&y, vec3_length(d->ways[i].points[k].force)));
        fputs("\"/>\n", out);
    }
    for (int i = 0; i < d->snapshot_count; i++) {
        double at = svg_map(&x, d->snapshots[i].time);
        char text[12];
        snprintf(text, sizeof text, "%d", i + 1);
        fprintf(out,
                "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#222\" stroke-dasharray=\"3 3\"/>"
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" fill=\"#222\"/>\n",
                at, y.from, y.to, at, y.to - 6);
        put_words(out, at, y.to - 2, "font-size=\"11\" fill=\"#fff\" text-anchor=\"middle\"", text);
    }
}

static void put_legend(FILE *out, double y)
{
    static const struct {
        const char *color, *text;
    } keys[] = {{COLOR_PROXY, "proxy and its way"},
                {COLOR_TOOL, "tool and its way"},
                {COLOR_NORMAL, "contact normals"},
                {COLOR_FORCE, "force on the hand"},
                {COLOR_WAY, "the whole way"}};
    double x = GAP;
    for (int i = 0; i < HR_COUNT(keys); i++) {
        fprintf(out, "<path d=\"M%.1f %.1fh20\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, y - 4,
                keys[i].color);
        put_words(out, x + 26, y, "", keys[i].text);
        x += 44 + 6.3 * (double)strlen(keys[i].text);
    }
}

static void put_figure(FILE *out, const drawing *p, const char *title)
{
    int count = p->data->snapshot_count, columns = count < COLUMNS ? count : COLUMNS;
    int rows = (count + columns - 1) / columns;
    double width = fmax(columns * (PANEL_WIDTH + GAP) + GAP, 760);
    double row_height = PANEL_HEIGHT + CAPTION, height = HEADER + rows * row_height + STRIP + GAP;
    space_window w = {.width = PANEL_WIDTH, .height = PANEL_HEIGHT};
    space_fit((const space *const *)p->spaces, count, &p->view, 34, &w);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    put_words(out, GAP, 26, "font-size=\"17\" font-weight=\"bold\"", title);
    put_legend(out, 48);
    for (int i = 0; i < count; i++) {
        w.left = GAP + (i % columns) * (PANEL_WIDTH + GAP);
        w.top = HEADER + CAPTION + (int)(i / columns) * row_height;
        put_panel(out, p, i, &w);
    }
    put_strip(out, p, HEADER + rows * row_height + GAP, width);
    fputs("</svg>\n", out);
}

static hr_status write_figure(const drawing *p, const char *title, const char *path,
                              hr_error *error)
{
    FILE *out = fopen(path, "we");
    if (!out)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written: %s", path,
                         strerror(errno));
    put_figure(out, p, title);
    bool is_bad = ferror(out) != 0;
    if (fclose(out) != 0 || is_bad)
        return error_set(error, HR_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return HR_OK;
}

static hr_status draw(const scene_data *d, const trace_scene_options *o, const char *title,
                      const char *output, hr_error *error)
{
    drawing p = {.data = d, .size = scene_skins_size(d->skins)};
    double most = most_force(d);
    p.metres_per_n = round_down(0.25 * p.size / fmax(most, 1e-3));
    bool is_good = true;
    for (int i = 0; i < d->snapshot_count; i++) {
        add_everything(&p, i);
        is_good = is_good && !space_has_failed(p.spaces[i]);
    }
    hr_status status = is_good ? HR_OK : error_set(error, HR_ERR_MEMORY, "no memory to draw");
    if (status == HR_OK) {
        choose_view(&p, o);
        status = write_figure(&p, title, output, error);
    }
    for (int i = 0; i < d->snapshot_count; i++)
        space_destroy(p.spaces[i]);
    return status;
}

static void make_title(const trace_reader *r, const trace_summary *s, char *out, size_t size)
{
    const char *played = trace_value(r, TRACE_RUN, "scene_path");
    const char *slash = played ? strrchr(played, '/') : NULL;
    const char *name = slash ? slash + 1 : played ? played : "a scene";
    char devices[160];
    trace_device_names(r, s->hand_count, devices, sizeof devices);
    snprintf(out, size, "%.*s, touched for %.1f s with %s", (int)strcspn(name, "."), name,
             s->duration_s, devices);
}

hr_status trace_scene_plot(const char *path, const trace_scene_options *o, const char *output,
                           double *off, hr_error *error)
{
    trace_reader *r;
    hr_status status = trace_reader_open(path, &r, error);
    if (status != HR_OK)
        return status;
    trace_summary *s = trace_summarize(r);
    scene_data *d = NULL;
    char title[320] = "";
    if (!s)
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory to draw it", path);
    else if (s->ticks == 0)
        status = error_set(error, HR_ERR_FORMAT, "%s: expected ticks to draw, found none", path);
    else if (o->from >= s->duration_s)
        status = error_set(error, HR_ERR_ARGUMENT, "%s: expected a start before %.3f s, found %g",
                           path, s->duration_s, o->from);
    if (status == HR_OK && s) {
        make_title(r, s, title, sizeof title);
        d = scene_data_gather(path, s, o, error);
        status = d ? draw(d, o, title, output, error) : HR_ERR_FORMAT;
    }
    if (status == HR_OK && off && d)
        *off = d->off;
    scene_data_free(d);
    free(s);
    trace_reader_close(r);
    return status;
}
