/* Continuous collision detection of whole bodies: the paper's three set-ups against the number of
 * active joints, how the kinematics grow, and two tori beside FCL. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/support/ccd_models.h"
#include "tests/support/ccd_scenes.h"

enum { RUNS = 50, REPEATS = 5 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of several timings of the same step: the scheduler is not what is measured. */
static double time_step(ccd_stage *s, ccd_result *out)
{
    double ns[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        int64_t start = bench_now_ns();
        if (ccd_step(s->scene, &s->limits, out) != HR_OK)
            exit(1);
        ns[i] = (double)(bench_now_ns() - start);
    }
    qsort(ns, REPEATS, sizeof *ns, compare_doubles);
    return ns[REPEATS / 2];
}

static void bench_stage(const char *name, ccd_scene_kind kind, const int *actives, int count)
{
    static double ns[RUNS];
    ccd_stage *s = ccd_stage_create(kind);
    ccd_result *out = calloc(1, sizeof *out);
    printf("%s: %d triangles\n", name, s->triangles);
    for (int k = 0; k < count; k++) {
        test_random r = {1000 + (uint64_t)k};
        double updates = 0, boxes = 0, contacts = 0, kinematics = 0;
        char key[64];
        for (int run = 0; run < RUNS;) {
            if (!ccd_stage_before_contact(s, &r, actives[k], out))
                continue;
            ns[run++] = time_step(s, out);
            if (out->status != CCD_CONTACT)
                exit(1); /* the same motion must meet again */
            updates += (double)out->counters.node_updates / RUNS;
            boxes += (double)out->counters.box_tests / RUNS;
            contacts += (double)out->contact_count / RUNS;
            int64_t start = bench_now_ns();
            for (int i = 0; i < s->moving; i++)
                ccd_body_enclose(s->bodies[i], 0.5, 0.5, &out->counters);
            kinematics += (double)(bench_now_ns() - start) / RUNS;
        }
        snprintf(key, sizeof key, "%s_m%d", name, actives[k]);
        bench_report(key, ns, RUNS);
        bench_extra("node_updates", updates);
        bench_extra("box_tests", boxes);
        bench_extra("contacts", contacts);
        bench_extra("kinematics_ns", kinematics);
    }
    free(out);
    ccd_stage_destroy(s);
}

/* Kinematics alone: n joints, m of them active, k wanted links. */
static void bench_growth(void)
{
    test_random r = {7};
    for (int n = 16; n <= 1024; n *= 4) {
        model m;
        ccd_model_chain(&r, n + 1, (vec3){0.9, 0.1, 0.1}, &m);
        ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
        const assembly_tree *t = ccd_body_tree(body);
        double *q1 = calloc((size_t)m.q_count, sizeof *q1);
        for (int active = 1; active <= 16; active *= 4) {
            static double ns[400];
            char key[64];
            ccd_counters counters = {0};
            memset(q1, 0, (size_t)m.q_count * sizeof *q1);
            for (int i = 0; i < active; i++)
                q1[i * n / active] = 0.01;
            if (ccd_body_move(body, q1) != HR_OK)
                exit(1);
            for (int i = 0; i < 400; i++) {
                int64_t start = bench_now_ns();
                ccd_body_enclose(body, 0.5, 0.5, &counters);
                for (int k = 0; k < 4; k++)
                    (void)ccd_body_from_node(body, t->root, t->parts[k * n / 4].leaf, &counters);
                ns[i] = (double)(bench_now_ns() - start);
            }
            snprintf(key, sizeof key, "ccd_kinematics_n%d_m%d", n, active);
            bench_report(key, ns, 400);
            bench_extra("node_updates", (double)counters.node_updates / 400);
            bench_extra("world_updates", (double)counters.world_updates / 400);
        }
        free(q1);
        ccd_body_destroy(body);
        model_free(&m);
    }
}

int main(void)
{
    static const int men[] = {1, 4, 8, 15, 22, 28}, pendulum[] = {1, 4, 8, 15, 22, 30};
    bench_stage("ccd_men", CCD_MEN, men, HR_COUNT(men));
    bench_stage("ccd_pendulum", CCD_PENDULUM, pendulum, HR_COUNT(pendulum));
    bench_stage("ccd_falling", CCD_FALLING, men, HR_COUNT(men));
    bench_growth();
    return 0;
}
