/* Our version of the paper's figure 4: time of a step in which bodies meet, against the number of
 * active joints. usage: figure_ccd FOLDER */
#include <stdio.h>
#include <time.h>

#include "server/svg_plot.h"
#include "tests/support/ccd_scenes.h"

enum { RUNS = 20, POINTS = 6 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Best of three: what the step costs, without what the machine does besides. */
static double time_step(ccd_stage *s, ccd_result *out)
{
    double best = 1e18;
    for (int i = 0; i < 3; i++) {
        double start = now_us();
        if (ccd_step(s->scene, &s->limits, out) != HR_OK)
            exit(1);
        double took = now_us() - start;
        best = took < best ? took : best;
    }
    return best;
}

static void measure(ccd_scene_kind kind, const double *active, double *step_us, double *nodes)
{
    ccd_stage *s = ccd_stage_create(kind);
    ccd_result *out = calloc(1, sizeof *out);
    for (int k = 0; k < POINTS; k++) {
        double us[RUNS];
        uint64_t seed = 1000;
        nodes[k] = 0;
        for (int run = 0; run < RUNS;) {
            test_random r = {seed++};
            if (!ccd_stage_before_contact(s, &r, (int)active[k], out))
                continue;
            us[run++] = time_step(s, out);
            nodes[k] += (double)out->counters.node_updates / RUNS;
        }
        qsort(us, RUNS, sizeof *us, compare_doubles);
        step_us[k] = us[RUNS / 2];
        printf("  %2.0f active: %.0f us, %.0f nodes\n", active[k], step_us[k], nodes[k]);
    }
    free(out);
    ccd_stage_destroy(s);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"two wooden men", "pendulum", "falling man"};
    const double active[POINTS] = {1, 4, 8, 15, 22, 28};
    char path[512];
    hr_error error = {{0}};
    const svg_axis joints = {.label = "active joints per body"};
    svg_figure *f = svg_create("Meeting bodies: cost against active joints", 2);
    svg_panel_size(f, 480, 300);
    svg_panel *time_panel =
        svg_add_panel(f, "step in which they meet", joints, (svg_axis){.label = "time (us)"});
    svg_panel *node_panel = svg_add_panel(f, "nodes of the assembly trees recomputed", joints,
                                          (svg_axis){.label = "nodes per step"});
    for (int kind = 0; kind < 3; kind++) {
        double us[POINTS], nodes[POINTS];
        printf("%s\n", names[kind]);
        measure((ccd_scene_kind)kind, active, us, nodes);
        svg_line(time_panel, active, us, POINTS, names[kind], (svg_style){0});
        svg_line(node_panel, active, nodes, POINTS, names[kind], (svg_style){0});
    }
    snprintf(path, sizeof path, "%s/ccd-active-joints.svg", argc > 1 ? argv[1] : ".");
    hr_status status = svg_write(f, path, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    return status == HR_OK ? 0 : 1;
}
