/* What a slow world costs the hand: the largest force step between two ticks, by the world's rate,
 * on a body that swings under a resting tool and on a wooden man that is pushed. */
#include "server/server.h"
#include "server/svg_plot.h"
#include "server/trace_read.h"
#include "tests/test.h"

static const int rates[] = {1000, 500, 250, 100, 60};

typedef struct steps {
    double largest, p999; /* N per tick */
} steps;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Force steps between ticks that nothing held back. */
static steps measure(const char *path)
{
    trace_reader *r;
    hr_error error = {""};
    steps out = {0, 0};
    int n = 0, room = 1 << 16;
    double *all = malloc((size_t)room * sizeof *all);
    if (!all || trace_reader_open(path, &r, &error) != HR_OK)
        exit(1);
    tick_record before = {0};
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (m->kind != TRACE_TICK)
            continue;
        bool is_touching = before.contact_count > 0 && m->tick.contact_count > 0;
        if (is_touching && !before.reasons && !m->tick.reasons && n < room)
            all[n++] = vec3_distance(before.force, m->tick.force);
        before = m->tick;
    }
    trace_reader_close(r);
    qsort(all, (size_t)n, sizeof *all, by_size);
    if (n > 0)
        out = (steps){all[n - 1], all[(int)(0.999 * (n - 1))]};
    free(all);
    return out;
}

static steps play(const char *name, const char *script, int rate, const char *folder)
{
    static server_options o;
    char path[CONFIG_PATH_MAX];
    hr_error error = {""};
    server *s;
    o = (server_options){.is_lockstep = true, .run_s = 12};
    config_default(&o.settings);
    o.settings.control.enabled = false;
    o.settings.world.rate_hz = rate;
    snprintf(o.settings.trace.record, sizeof o.settings.trace.record, "%s/world-rate.mcap", folder);
    if (scene_find(name, path, sizeof path, &error) != HR_OK ||
        scene_load(path, &o.scene, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    if (script)
        snprintf(o.scene.hand_script, sizeof o.scene.hand_script, "%s", script);
    if (server_open(&o, &s, &error) != HR_OK || server_start(s, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    while (server_step(s, 1000))
        ;
    if (server_finish(s, &error) != HR_OK)
        exit(1);
    server_destroy(s);
    steps out = measure(o.settings.trace.record);
    remove(o.settings.trace.record);
    return out;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *scene, *script, *label;
    } cases[] = {
        {"moving", "move 0 0.015 0.015 over 0.6; move 0 0.015 -0.001 over 0.6; hold 20",
         "a ball that swings under a resting hand"},
        {"wooden-man", NULL, "a wooden man that is pushed"},
        {"sphere",
         "move 0 0 0.025 over 0.6; move 0 0 0 over 0.6; slide 0.012 0 -0.005 over 1;"
         "slide -0.012 0 -0.005 over 2; slide 0.012 0 -0.005 over 2; hold 20",
         "a ball that rests, stroked"},
    };
    const char *folder = argc > 1 ? argv[1] : "build/figures";
    char file[512];
    svg_figure *f = svg_create("What a slow world costs the hand", 1);
    svg_panel *p = svg_add_panel(
        f, "",
        (svg_axis){
            .label = "steps of the world per second", .is_log = true, .low = 50, .high = 1200},
        (svg_axis){.label = "largest force step (N per tick)", .is_log = true});
    printf("%-12s %8s %12s %12s\n", "scene", "rate Hz", "largest N", "99.9 % N");
    for (int i = 0; i < HR_COUNT(cases); i++) {
        double x[HR_COUNT(rates)], y[HR_COUNT(rates)];
        for (int k = 0; k < HR_COUNT(rates); k++) {
            steps s = play(cases[i].scene, cases[i].script, rates[k], folder);
            x[k] = rates[k];
            y[k] = s.largest;
            printf("%-12s %8d %12.4f %12.4f\n", cases[i].scene, rates[k], s.largest, s.p999);
        }
        svg_line(p, x, y, HR_COUNT(rates), cases[i].label, (svg_style){.width = 2});
        svg_points(p, x, y, HR_COUNT(rates), cases[i].label, (svg_style){.width = 3});
    }
    svg_mark_y(p, 0.35, "bar at 100 Hz: 0.35 N",
               (svg_style){.color = "#cc0000", .is_dashed = true});
    hr_error error = {""};
    snprintf(file, sizeof file, "%s/world-rate.svg", folder);
    hr_status status = svg_write(f, file, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    return status == HR_OK ? 0 : 1;
}
