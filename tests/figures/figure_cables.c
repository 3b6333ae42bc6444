/* Both cable runs: shapes over time, strain, penetration, energy. Argument: the folder to write to.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/svg_plot.h"
#include "tests/support/cable_runs.h"

enum { STEPS_MAX = 2000, SHAPES = 7 };

typedef struct history {
    int steps;
    double time[STEPS_MAX], strain[STEPS_MAX], depth[STEPS_MAX], energy[STEPS_MAX];
} history;

static void draw_shape(svg_panel *p, const cable *c, double t, double end)
{
    double x[CABLE_RUN_PARTICLES], y[CABLE_RUN_PARTICLES];
    for (int i = 0; i < CABLE_RUN_PARTICLES; i++) {
        x[i] = cable_positions(c)[i].x;
        y[i] = cable_positions(c)[i].y;
    }
    char label[32];
    snprintf(label, sizeof label, "%.2f s", t);
    static const char *const colors[SHAPES + 1] = {"#c6dbef", "#9ecae1", "#6baed6", "#4292c6",
                                                   "#2171b5", "#08519c", "#08306b", "#08306b"};
    int shade = (int)(t / end * SHAPES);
    svg_line(p, x, y, CABLE_RUN_PARTICLES, label, (svg_style){.color = colors[shade], .width = 2});
}

static void record(const cable_run *run, history *h, svg_panel *shapes)
{
    cable *c = cable_run_create(run);
    double end = run->is_held ? 1.5 : 0.9;
    h->steps = cable_run_steps(run);
    for (int i = 0; i < h->steps && i < STEPS_MAX; i++) {
        cable_step_info info;
        if (shapes && i % (h->steps / SHAPES) == 0)
            draw_shape(shapes, c, i * run->dt, end);
        cable_step(c, run->dt, &info);
        h->time[i] = (i + 1) * run->dt;
        h->strain[i] = 100 * info.max_strain;
        h->depth[i] = 1e6 * info.max_penetration;
        h->energy[i] = cable_energy(c);
    }
    cable_destroy(c);
}

static void draw(svg_figure *f, bool is_held)
{
    static history h[3];
    static const struct {
        double dt;
        bool has_cuts;
        const char *label;
    } runs[3] = {{0.01, false, "10 ms, no cuts"}, {0.01, true, "10 ms"}, {0.004, true, "4 ms"}};
    svg_axis time = {.label = "time (s)"};
    svg_panel *shapes =
        svg_add_panel(f, is_held ? "held at both ends over a cylinder" : "slipping off a pulley",
                      (svg_axis){.label = "x (m)"}, (svg_axis){.label = "y (m)"});
    svg_equal_aspect(shapes);
    svg_circle(shapes, 0, 0, is_held ? 0.25 : 0.15, "", (svg_style){.color = "#999999"});
    svg_panel *strain = svg_add_panel(f, "largest strain", time, (svg_axis){.label = "strain (%)"});
    svg_panel *depth =
        svg_add_panel(f, "deepest penetration", time, (svg_axis){.label = "depth (um)"});
    svg_panel *energy = svg_add_panel(f, "energy", time, (svg_axis){.label = "energy (J)"});
    for (int k = 0; k < 3; k++) {
        cable_run run = {.is_held = is_held,
                         .dt = runs[k].dt,
                         .stiffness = 2e5,
                         .has_cuts = runs[k].has_cuts,
                         .has_edges = true,
                         .iterations = -1};
        record(&run, &h[k], k == 2 ? shapes : NULL);
        svg_line(strain, h[k].time, h[k].strain, h[k].steps, runs[k].label, (svg_style){0});
        svg_line(depth, h[k].time, h[k].depth, h[k].steps, runs[k].label, (svg_style){0});
        svg_line(energy, h[k].time, h[k].energy, h[k].steps, runs[k].label, (svg_style){0});
    }
    svg_mark_y(strain, 2.0, "limit", (svg_style){.is_dashed = true});
    svg_mark_y(depth, 12.0, "bar", (svg_style){.is_dashed = true});
}

static int write(bool is_held, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/cable-%s.svg", folder, is_held ? "cylinder" : "pulley");
    svg_figure *f = svg_create(is_held ? "A cable held over a cylinder, 41 particles, 1 kg"
                                       : "A cable slips off a pulley, 41 particles, 1 kg",
                               2);
    svg_panel_size(f, 620, 420);
    draw(f, is_held);
    hr_error error = {{0}};
    hr_status status = svg_write(f, path, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    return status == HR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    return write(false, folder) + write(true, folder);
}
