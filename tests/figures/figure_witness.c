/* Our versions of the paper's figures 7, 10, 11, 14, 15, 18 and 20, drawn from the running code.
 * usage: figure_witness FOLDER */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/svg_plot.h"
#include "tests/support/witness_experiment.h"

enum { TICKS_MAX = 10000, OUTLINE = 60 };

static const double tick = 1e-3;
static const char *folder;
static const char *const colors[4] = {"#0072b2", "#d55e00", "#009e73", "#777777"};

static experiment load(char name)
{
    experiment x;
    hr_error error = {""};
    if (experiment_load(name, NULL, &x, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return x;
}

static void write_figure(svg_figure *f, const char *name)
{
    char path[512];
    hr_error error = {""};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (svg_write(f, path, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    svg_destroy(f);
}

/* --- 7: projection errors ------------------------------------------------------------------------
 */

static void projection_errors(void)
{
    enum { STEPS = 150 };
    static double t[STEPS], e[2][STEPS], all[STEPS];
    const double gains[3] = {100, 300, 1000};
    experiment x = load('A');
    svg_figure *f = svg_create("Patch and point: projection errors after a bad start", 1);
    svg_panel *p = svg_add_panel(f, "K = 100", (svg_axis){.label = "step (1 ms)"},
                                 (svg_axis){.label = "normalised error"});
    svg_panel *q =
        svg_add_panel(f, "Convergence for three gains (Heun)", (svg_axis){.label = "step (1 ms)"},
                      (svg_axis){.label = "largest error", .is_log = true});
    for (int g = 0; g < 3; g++) {
        witness_pair pair;
        char label[32];
        experiment_start(&x, experiment_settings(WITNESS_HEUN, gains[g]), &pair);
        for (int k = 0; k < STEPS; k++) {
            experiment_step(&x, &pair, k * tick);
            vec3 d = vec3_sub(pair.last.on_a, pair.last.on_b);
            t[k] = k + 1;
            all[k] = pair.last.cosine;
            for (int i = 0; i < 2; i++)
                e[i][k] = vec3_dot(pair.on_a.at.d1[i], d) /
                          (vec3_length(d) * vec3_length(pair.on_a.at.d1[i]));
        }
        if (g == 0) {
            svg_line(p, t, e[0], STEPS, "u", (svg_style){.color = colors[0]});
            svg_line(p, t, e[1], STEPS, "v", (svg_style){.color = colors[1]});
        }
        snprintf(label, sizeof label, "K = %g", gains[g]);
        svg_line(q, t, all, STEPS, label, (svg_style){.color = colors[g]});
    }
    svg_mark_y(q, 1e-3, "1e-3", (svg_style){.color = colors[3], .is_dashed = true});
    write_figure(f, "witness-07.svg");
    experiment_free(&x);
}

/* --- planar bodies
 * -------------------------------------------------------------------------------- */

static void draw_planar(svg_panel *p, const parametric_body *b, const witness_motion *m,
                        const char *label, const char *color)
{
    static double x[8 * OUTLINE], y[8 * OUTLINE];
    int n = 0;
    for (int i = 0; i < b->edge_count && i < 8; i++)
        for (int k = 0; k < OUTLINE; k++) {
            jet j;
            const body_edge *e = &b->edges[i];
            body_edge_jet(b, i, e->low + (e->high - e->low) * k / OUTLINE, NULL, &j);
            vec3 at = m ? vec3_add(mat3_apply(m->rotation, j.p), m->origin) : j.p;
            x[n] = at.x;
            y[n++] = at.y;
        }
    svg_polygon(p, x, y, n, label, (svg_style){.color = color, .opacity = 0.15});
}

static void connect(svg_panel *p, const witness_result *r, const char *color)
{
    const double x[2] = {r->on_a.x, r->on_b.x};
    const double y[2] = {r->on_a.y, r->on_b.y};
    svg_line(p, x, y, 2, "", (svg_style){.color = color, .width = 0.8});
}

/* 10 and 11: the spiral from inside */
static void spiral(void)
{
    static double t[TICKS_MAX], u[3][TICKS_MAX], px[TICKS_MAX], py[TICKS_MAX];
    experiment x = load('B');
    svg_figure *f = svg_create("Planar body and a spiral: minimum distance", 1);
    svg_panel_size(f, 620, 600);
    svg_panel *p = svg_add_panel(f, "every 0.1 s; orange: the witness is a vertex",
                                 (svg_axis){.label = "x"}, (svg_axis){.label = "y"});
    svg_figure *g = svg_create("Planar body and a spiral: curve parameters", 1);
    svg_panel *q = svg_add_panel(g, "active parameter; bars: transitions",
                                 (svg_axis){.label = "time (s)"}, (svg_axis){.label = "u"});
    witness_nearest *n = witness_nearest_create(&x.a, experiment_motion('B', 0).origin,
                                                experiment_settings(WITNESS_HEUN, 100));
    if (!n)
        exit(1);
    witness_nearest_place(n, 0, 0.9, 0);
    svg_equal_aspect(p);
    draw_planar(p, &x.a, NULL, "body A", colors[0]);
    for (int k = 0; k < TICKS_MAX; k++) {
        witness_motion begin = experiment_motion('B', k * tick);
        witness_motion end = experiment_motion('B', (k + 1) * tick);
        if (witness_nearest_step(n, &begin, &begin, &end))
            svg_mark_x(q, (k + 1) * tick, "", (svg_style){.color = "#cccccc", .width = 0.7});
        bool is_vertex = n->main.on_a.feature == WITNESS_VERTEX;
        t[k] = (k + 1) * tick;
        px[k] = end.origin.x;
        py[k] = end.origin.y;
        for (int i = 0; i < 3; i++)
            u[i][k] = !is_vertex && n->main.on_a.index == i ? n->main.on_a.x[0] : (double)NAN;
        if (k % 100 == 0)
            connect(p, &n->main.last, is_vertex ? colors[1] : colors[2]);
    }
    svg_line(p, px, py, TICKS_MAX, "point", (svg_style){.color = "#000000", .width = 1});
    for (int i = 0; i < 3; i++) {
        char label[16];
        snprintf(label, sizeof label, "u%d on C%d", i + 1, i + 1);
        svg_line(q, t, u[i], TICKS_MAX, label, (svg_style){.color = colors[i], .width = 2});
    }
    write_figure(f, "witness-10.svg");
    write_figure(g, "witness-11.svg");
    witness_nearest_destroy(n);
    experiment_free(&x);
}

/* Adds every feature's parameter to a panel: a line per edge or per parameter of a face. */
typedef struct parameter_log {
    double t[TICKS_MAX];
    double value[6][TICKS_MAX]; /* by feature and parameter; NaN while another is active */
    int count;
} parameter_log;

static void log_parameters(parameter_log *l, int k, double t, const witness_place *p,
                           bool is_planar)
{
    l->t[k] = t;
    l->count = k + 1;
    for (int i = 0; i < 6; i++)
        l->value[i][k] = (double)NAN;
    if (p->feature == WITNESS_FACE && p->index < 3) {
        l->value[2 * p->index][k] = p->x[0];
        l->value[2 * p->index + 1][k] = p->x[1];
    }
    if (p->feature == WITNESS_EDGE && p->index < 3)
        l->value[is_planar ? p->index : 2 * p->index + 1][k] = p->x[0];
}

static void draw_parameters(svg_panel *q, const parameter_log *l, const char *const *names, int n)
{
    const char *const six[6] = {"#0072b2", "#56b4e9", "#d55e00", "#e69f00", "#009e73", "#7fc97f"};
    for (int i = 0; i < n; i++)
        svg_line(q, l->t, l->value[i], l->count, names[i],
                 (svg_style){.color = n == 3 ? colors[i] : six[i], .width = 1.8});
}

/* 14 and 15: two planar bodies */
static void two_planar(void)
{
    static parameter_log a, b;
    const char *const names_a[3] = {"u1", "u2", "u3"};
    const char *const names_b[3] = {"ra", "rb", "rc"};
    experiment x = load('C');
    svg_figure *f = svg_create("Two planar bodies: twelve snapshots", 1);
    svg_panel_size(f, 640, 620);
    svg_panel *p = svg_add_panel(f, "B spins and circles A; lines join the witness points",
                                 (svg_axis){.label = "x"}, (svg_axis){.label = "y"});
    svg_figure *g = svg_create("Two planar bodies: curve parameters", 1);
    svg_panel *qa =
        svg_add_panel(g, "body A", (svg_axis){.label = "time (s)"}, (svg_axis){.label = "u"});
    svg_panel *qb =
        svg_add_panel(g, "body B", (svg_axis){.label = "time (s)"}, (svg_axis){.label = "r"});
    witness_pair pair;
    experiment_start(&x, experiment_settings(WITNESS_HEUN, 100), &pair);
    svg_equal_aspect(p);
    draw_planar(p, &x.a, NULL, "A", colors[0]);
    for (int k = 0; k < TICKS_MAX; k++) {
        experiment_step(&x, &pair, k * tick);
        double t = (k + 1) * tick;
        log_parameters(&a, k, t, &pair.on_a, true);
        log_parameters(&b, k, t, &pair.on_b, true);
        if (pair.last.switches) {
            svg_mark_x(qa, t, "", (svg_style){.color = "#cccccc", .width = 0.7});
            svg_mark_x(qb, t, "", (svg_style){.color = "#cccccc", .width = 0.7});
        }
        if ((k + 1) % 830 == 0) {
            witness_motion m = experiment_motion('C', t);
            draw_planar(p, &x.b, &m, "B", colors[1]);
            connect(p, &pair.last, "#000000");
        }
    }
    draw_parameters(qa, &a, names_a, 3);
    draw_parameters(qb, &b, names_b, 3);
    write_figure(f, "witness-14.svg");
    write_figure(g, "witness-15.svg");
    experiment_free(&x);
}

/* 18: the three-patch body and the helix. 20: two three-patch bodies. */
static void spatial(char name, const char *title, const char *file)
{
    static parameter_log a, b;
    const char *const names[6] = {"u1", "v1", "u2", "v2", "u3", "v3"};
    const char *const other[6] = {"r1", "s1", "r2", "s2", "r3", "s3"};
    experiment x = load(name);
    svg_figure *f = svg_create(title, 1);
    svg_panel *qa = svg_add_panel(f, "body A: surface parameters (an edge shows v alone)",
                                  (svg_axis){.label = "time (s)"},
                                  (svg_axis){.label = "parameter", .low = 0, .high = 1});
    svg_panel *qb = x.has_b ? svg_add_panel(f, "body B", (svg_axis){.label = "time (s)"},
                                            (svg_axis){.label = "parameter", .low = 0, .high = 1})
                            : NULL;
    witness_pair pair;
    experiment_start(&x, experiment_settings(WITNESS_HEUN, 100), &pair);
    int ticks = (int)(x.duration / tick + 0.5);
    for (int k = 0; k < ticks; k++) {
        experiment_step(&x, &pair, k * tick);
        double t = (k + 1) * tick;
        log_parameters(&a, k, t, &pair.on_a, false);
        log_parameters(&b, k, t, &pair.on_b, false);
        if (pair.last.switches) {
            svg_mark_x(qa, t, "", (svg_style){.color = "#cccccc", .width = 0.7});
            svg_mark_x(qb, t, "", (svg_style){.color = "#cccccc", .width = 0.7});
        }
    }
    draw_parameters(qa, &a, names, 6);
    if (x.has_b)
        draw_parameters(qb, &b, other, 6);
    write_figure(f, file);
    experiment_free(&x);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: figure_witness FOLDER\n");
        return 2;
    }
    folder = argv[1];
    projection_errors();
    spiral();
    two_planar();
    spatial('D', "Three-patch body and a helix: surface parameters", "witness-18.svg");
    spatial('E', "Two three-patch bodies: surface parameters", "witness-20.svg");
    return 0;
}
