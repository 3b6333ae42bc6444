/* Time of a step of the world, with the frame for the hand, for the scenes in which bodies move and
 * collide: the hand follows the scene's script on an imposed path. Split by stage, with the rate
 * that the median and the 99th percentile would sustain, and what was cut short. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/mechanics.h"
#include "tests/bench/bench.h"
#include "tests/support/rig.h"

enum { SECONDS = 12, STEPS_MAX = 12 * 500 };

/* Where the scene's script wants the hand at a time: its moves and slides; other words wait. */
typedef struct path {
    const char *text, *at;
    vec3 from, to;
    double start, end; /* s */
} path;

static bool next_leg(path *p)
{
    vec3 to;
    double over;
    for (; *p->at; p->at++) {
        bool is_way = !strncmp(p->at, "move ", 5) || !strncmp(p->at, "slide ", 6);
        bool is_hold = !strncmp(p->at, "hold ", 5);
        const char *numbers = strchr(p->at, ' ');
        if (is_way && sscanf(numbers, "%lf %lf %lf over %lf", &to.x, &to.y, &to.z, &over) == 4) {
            p->from = p->to;
            p->to = to;
        } else if (is_hold && sscanf(numbers, "%lf", &over) == 1) {
            p->from = p->to;
        } else {
            continue;
        }
        p->start = p->end;
        p->end += over;
        p->at += 5;
        return true;
    }
    p->at = p->text;
    return false;
}

static vec3 path_at(path *p, double time)
{
    for (int i = 0; i < 100 && time >= p->end; i++)
        (void)next_leg(p);
    double t = p->end > p->start ? (time - p->start) / (p->end - p->start) : 1;
    return vec3_lerp(p->from, p->to, t * t * (3 - 2 * t));
}

typedef struct run {
    double step[STEPS_MAX], stage[MECHANICS_STAGES][STEPS_MAX];
    int count, touched;
} run;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, run *r, const mechanics_counts *counts)
{
    char key[64];
    snprintf(key, sizeof key, "world_%s", name);
    bench_report(key, r->step, r->count); /* sorts */
    bench_extra("sustained_hz", 1e9 / r->step[r->count / 2]);
    bench_extra("sustained_p99_hz", 1e9 / r->step[r->count * 99 / 100]);
    for (int s = 0; s < MECHANICS_STAGES; s++) {
        qsort(r->stage[s], (size_t)r->count, sizeof(double), by_size);
        double median = r->stage[s][r->count / 2], late = r->stage[s][r->count * 99 / 100];
        printf("    %-8s median %8.1f us, p99 %8.1f us\n", mechanics_stage_name(s), 1e-3 * median,
               1e-3 * late);
        snprintf(key, sizeof key, "%s_median_ns", mechanics_stage_name(s));
        bench_extra(key, median);
        snprintf(key, sizeof key, "%s_p99_ns", mechanics_stage_name(s));
        bench_extra(key, late);
    }
    double steps = (double)counts->steps;
    printf(
        "    touched %d %%, rounds %.2f per step; per 1000 steps: rows cut %.1f, solves cut %.1f, "
        "proofs cut %.1f, bodies stopped %.1f\n",
        100 * r->touched / r->count, (double)counts->rounds / steps,
        1e3 * (double)counts->rows_cut / steps, 1e3 * (double)counts->solves_cut / steps,
        1e3 * (double)counts->proofs_cut / steps, 1e3 * (double)counts->stopped_short / steps);
    bench_extra("solves_cut_per_1000", 1e3 * (double)counts->solves_cut / steps);
    bench_extra("proofs_cut_per_1000", 1e3 * (double)counts->proofs_cut / steps);
}

static void play(const char *name, int rate_hz)
{
    static run r;
    static rig g;
    char file[CONFIG_PATH_MAX];
    hr_error error = {{0}};
    memset(&r, 0, sizeof r);
    rig_init(&g);
    if (scene_find(name, file, sizeof file, &error) != HR_OK ||
        scene_load(file, &g.scene, &error) != HR_OK) {
        printf("bench_world: %s\n", error.text);
        exit(1);
    }
    if (g.scene.tool_radius_m >= 0)
        g.settings.coupling.tool_radius_m = g.scene.tool_radius_m;
    rig_start(&g);
    g.is_world_stopped = true;
    mechanics_watch(world_mechanics(g.world), bench_now_ns);
    path p = {.text = g.scene.hand_script, .at = g.scene.hand_script, .to = {0.035, 0, 0.035}};
    p.from = p.to;
    int every = 1000 / rate_hz;
    for (int tick = 0; tick < 1000 * SECONDS; tick++) {
        rig_prepare(&g, path_at(&p, 1e-3 * tick));
        if (tick % every == 0) {
            int64_t start = bench_now_ns(), step_ns = every * g.period_ns;
            world_step(g.world, &g.tool, 1, g.record.time_ns - step_ns, 1e-9 * (double)step_ns);
            world_frame(g.world, 0, &g.frame);
            r.step[r.count] = (double)(bench_now_ns() - start);
            for (int s = 0; s < MECHANICS_STAGES; s++)
                r.stage[s][r.count] = (double)mechanics_stage_ns(world_mechanics(g.world), s);
            r.touched += g.tool.is_touching != 0;
            r.count++;
            hand_frame(g.hand, &g.frame);
        }
        rig_run(&g);
    }
    report(name, &r, mechanics_counted(world_mechanics(g.world)));
    rig_stop(&g);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        int rate_hz;
    } scenes[] = {{"wooden-man", 500},  {"two-men", 250},  {"shelf", 250},
                  {"falling-man", 250}, {"pendulum", 500}, {"hand", 500}};
    for (int i = 0; i < HR_COUNT(scenes); i++)
        if (argc < 2 || !strcmp(argv[1], scenes[i].name))
            play(scenes[i].name, scenes[i].rate_hz);
    return 0;
}
