/* Adaptive dynamics beside the articulated bodies of Bullet and MuJoCo, on chains of balls with
 * hinges in turn along y and x. Both sides are timed alternately in blocks of steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/urdf.h"
#include "geometry/urdf_write.h"
#include "solver/articulated.h"
#include "tests/bench/bench.h"
#include "tests/bench/peer_dynamics.h"
#include "tests/support/models.h"

enum { BLOCKS = 400, STEPS = 10, JOINTS_MAX = 320 };

static const double STEP = 1e-3; /* s */

/* The states of the specification's test chain: q_k = 0.3 sin(1.7 k), qd_k = cos(2.3 k). */
static void chain_state(int n, double *q, double *qd)
{
    for (int k = 1; k <= n; k++) {
        q[k - 1] = 0.3 * sin(1.7 * k);
        qd[k - 1] = cos(2.3 * k);
    }
}

static articulated *chain_body(const model *m, int active, double *q, double *qd)
{
    articulated_options options = {.gravity = {0, 0, -9.81}, .step_s = STEP};
    articulated *a = articulated_create(m, &options);
    chain_state(m->v_count, q, qd);
    articulated_set_state(a, q, qd);
    if (active < m->v_count) {
        articulated_use_metric(a, (articulated_metric){.s0 = 1, .s1 = 0.02});
        (void)articulated_select(a, (articulated_selection){.budget = active});
    }
    return a;
}

static void save_urdf(const model *m, const char *folder, char *path, size_t size)
{
    hr_error error;
    if (urdf_save(m, folder, "robot", &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    snprintf(path, size, "%s/robot.urdf", folder);
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *ns, int n)
{
    static double sorted[BLOCKS];
    memcpy(sorted, ns, (size_t)n * sizeof *ns);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return sorted[n / 2];
}

typedef struct sides {
    double ours[BLOCKS], bullet[BLOCKS], mujoco[BLOCKS];
} sides;

/* One block of each side in turn, from the same state every time. */
static void time_blocks(articulated *a, peer_bullet *b, peer_mujoco *c, const double *q,
                        const double *qd, double *speeds, sides *out)
{
    double start_q[JOINTS_MAX], start_qd[JOINTS_MAX];
    memcpy(start_q, q, sizeof start_q);
    memcpy(start_qd, speeds, sizeof start_qd);
    for (int i = 0; i < BLOCKS; i++) {
        articulated_set_velocity(a, start_qd);
        int64_t start = bench_now_ns();
        for (int k = 0; k < STEPS; k++)
            articulated_step(a);
        out->ours[i] = (double)(bench_now_ns() - start) / STEPS;
        peer_bullet_set(b, start_q, qd);
        start = bench_now_ns();
        for (int k = 0; k < STEPS; k++)
            peer_bullet_step(b, STEP);
        out->bullet[i] = (double)(bench_now_ns() - start) / STEPS;
        if (!c)
            continue;
        peer_mujoco_set(c, start_q, qd);
        start = bench_now_ns();
        for (int k = 0; k < STEPS; k++)
            peer_mujoco_step(c);
        out->mujoco[i] = (double)(bench_now_ns() - start) / STEPS;
    }
}

/* Returns our median. */
static double bench_chain(const char *key, int n, int active)
{
    static sides s;
    double q[JOINTS_MAX] = {0}, qd[JOINTS_MAX] = {0}, speeds[JOINTS_MAX] = {0};
    char folder[] = "/tmp/bench-XXXXXX", path[64];
    model m = models_alternating(n);
    articulated *a = chain_body(&m, active, q, qd);
    peer_bullet *b = peer_bullet_chain(n);
    peer_mujoco *c = NULL;
    if (mkdtemp(folder)) {
        save_urdf(&m, folder, path, sizeof path);
        c = peer_mujoco_load(path, STEP);
        remove_folder(folder);
    }
    memcpy(speeds, articulated_qd(a), (size_t)n * sizeof *speeds);
    time_blocks(a, b, c, q, qd, speeds, &s);
    bool bullet_is_faster = !c || median(s.bullet, BLOCKS) <= median(s.mujoco, BLOCKS);
    double ours = median(s.ours, BLOCKS), bullet = median(s.bullet, BLOCKS);
    double mujoco = c ? median(s.mujoco, BLOCKS) : 0;
    bench_compare(key, s.ours, BLOCKS, bullet_is_faster ? "Bullet" : "MuJoCo",
                  bullet_is_faster ? s.bullet : s.mujoco, BLOCKS);
    bench_extra("bullet_median_ns", bullet);
    bench_extra("mujoco_median_ns", mujoco);
    bench_extra("ratio_to_bullet", ours / bullet);
    articulated_destroy(a);
    peer_bullet_free(b);
    if (c)
        peer_mujoco_free(c);
    model_free(&m);
    return ours;
}

/* The tenth best of a hundred: what the machine does when nobody else uses it. */
static double undisturbed(double *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, by_value);
    return ns[n / 10];
}

/* m = 15 whatever n: the largest difference between n = 29 and n = 300, timed in turn. */
static void bench_size_independence(void)
{
    static const int sizes[] = {29, 63, 127, 300};
    enum { SIZES = 4 };
    static double ns[SIZES][BLOCKS];
    model m[SIZES];
    articulated *a[SIZES];
    double q[JOINTS_MAX] = {0}, qd[JOINTS_MAX] = {0}, speeds[SIZES][JOINTS_MAX] = {{0}};
    for (int i = 0; i < SIZES; i++) {
        m[i] = models_alternating(sizes[i]);
        a[i] = chain_body(&m[i], 15, q, qd);
        memcpy(speeds[i], articulated_qd(a[i]), (size_t)sizes[i] * sizeof(double));
    }
    for (int k = 0; k < BLOCKS; k++)
        for (int i = 0; i < SIZES; i++) {
            articulated_set_velocity(a[i], speeds[i]);
            articulated_step(a[i]); /* the other sizes left the caches cold */
            int64_t start = bench_now_ns();
            for (int e = 0; e < STEPS; e++)
                articulated_step(a[i]);
            ns[i][k] = (double)(bench_now_ns() - start) / STEPS;
        }
    double low = INFINITY, high = 0, medians[SIZES];
    for (int i = 0; i < SIZES; i++) {
        medians[i] = undisturbed(ns[i], BLOCKS);
        low = fmin(low, medians[i]);
        high = fmax(high, medians[i]);
        articulated_destroy(a[i]);
        model_free(&m[i]);
    }
    bench_value("dynamics_m15_spread", high / low - 1,
                "slowest over fastest of n 29..300, minus 1");
    bench_extra("n29_ns", medians[0]);
    bench_extra("n63_ns", medians[1]);
    bench_extra("n127_ns", medians[2]);
    bench_extra("n300_ns", medians[3]);
}

static void bench_select(const char *key, int n, int active)
{
    static double ns[4000];
    double q[JOINTS_MAX], qd[JOINTS_MAX];
    model m = models_alternating(n);
    articulated *a = chain_body(&m, active, q, qd);
    articulated_selection how = {.budget = active, .hysteresis = 2};
    int changes = 0;
    for (int i = 0; i < 4000; i++) {
        for (int k = 0; k < 5; k++)
            articulated_step(a);
        int64_t start = bench_now_ns();
        articulated_selected s = articulated_select(a, how);
        ns[i] = (double)(bench_now_ns() - start);
        changes += s.started + s.stopped;
    }
    bench_report(key, ns, 4000);
    bench_extra("changes_per_selection", changes / 4000.0);
    articulated_destroy(a);
    model_free(&m);
}

/* Four contacts on a chain of 29: the whole matrix J M^-1 J^T by path propagation. */
static void bench_contacts(void)
{
    enum { COUNT = 4 };
    static double ns[4000];
    double q[JOINTS_MAX], qd[JOINTS_MAX], matrix[COUNT * COUNT];
    model m = models_alternating(29);
    articulated *a = chain_body(&m, 15, q, qd);
    articulated_accelerate(a);
    articulated_contact contacts[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int body = 5 + 7 * i;
        contacts[i] = (articulated_contact){
            body, i % 2 ? body - 4 : -1, articulated_body_pose(a, body).origin, {0, 1, 0}};
    }
    for (int i = 0; i < 4000; i++) {
        int64_t start = bench_now_ns();
        articulated_contact_matrix(a, contacts, COUNT, matrix);
        ns[i] = (double)(bench_now_ns() - start);
        bench_keep(matrix[0]);
    }
    bench_report("dynamics_contact_response", ns, 4000);
    for (int i = 0; i < 4000; i++) {
        vec6 push = {{0, 0, 0, 0, 1, 0}};
        int64_t start = bench_now_ns();
        for (int k = 0; k < 8; k++)
            bench_keep(articulated_impulse_response(a, 20, push, 20).v[4]);
        ns[i] = (double)(bench_now_ns() - start) / 8;
    }
    bench_report("dynamics_impulse_own_link", ns, 4000);
    articulated_destroy(a);
    model_free(&m);
}

/* What a contact programme asks for: the inertia of 15 active joints of 29, and the motion of one
 * point. */
static void bench_unknowns(void)
{
    enum { RUNS = 4000 };
    static double ns[RUNS], mass[32 * 32];
    double q[JOINTS_MAX], qd[JOINTS_MAX];
    int index[64];
    vec3 columns[64];
    model m = models_alternating(29);
    articulated *a = chain_body(&m, 15, q, qd);
    for (int i = 0; i < RUNS; i++) {
        articulated_step_velocity(a);
        int64_t start = bench_now_ns();
        articulated_mass_matrix(a, mass);
        ns[i] = (double)(bench_now_ns() - start);
        bench_keep(mass[0]);
        articulated_step_place(a);
    }
    bench_report("dynamics_mass_matrix_m15", ns, RUNS);
    vec3 point = articulated_body_pose(a, 29).origin;
    for (int i = 0; i < RUNS; i++) {
        int64_t start = bench_now_ns();
        for (int k = 0; k < 8; k++)
            bench_keep(articulated_jacobian(a, 29, point, 64, index, columns));
        ns[i] = (double)(bench_now_ns() - start) / 8;
    }
    bench_report("dynamics_jacobian_m15", ns, RUNS);
    articulated_destroy(a);
    model_free(&m);
}

/* Largest difference of the accelerations, of the largest acceleration. */
static double mujoco_error(const model *m, const double *q, const double *qd)
{
    char folder[] = "/tmp/bench-XXXXXX", path[64];
    if (!mkdtemp(folder))
        return INFINITY;
    save_urdf(m, folder, path, sizeof path);
    peer_mujoco *p = peer_mujoco_load(path, STEP);
    remove_folder(folder);
    if (!p || peer_mujoco_joints(p) != m->v_count)
        return INFINITY;
    double qdd[JOINTS_MAX], worst = 0, size = 0;
    articulated_options options = {.gravity = {0, 0, -9.81}};
    articulated *a = articulated_create(m, &options);
    peer_mujoco_set(p, q, qd);
    peer_mujoco_accelerate(p, qdd);
    articulated_set_state(a, q, qd);
    articulated_accelerate(a);
    for (int i = 0; i < m->v_count; i++) {
        worst = fmax(worst, fabs(qdd[i] - articulated_qdd(a)[i]));
        size = fmax(size, fabs(qdd[i]));
    }
    articulated_destroy(a);
    peer_mujoco_free(p);
    return worst / size;
}

static void bench_agreement(void)
{
    double q[JOINTS_MAX], qd[JOINTS_MAX], worst = 0, errors[4];
    static const int sizes[] = {15, 29, 63};
    for (int i = 0; i < 3; i++) {
        model m = models_alternating(sizes[i]);
        chain_state(sizes[i], q, qd);
        errors[i] = mujoco_error(&m, q, qd);
        model_free(&m);
    }
    model m;
    hr_error error;
    if (urdf_load("tests/data/urdf/kuka_iiwa/model.urdf", (urdf_options){0}, &m, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    chain_state(m.v_count, q, qd);
    errors[3] = mujoco_error(&m, q, qd);
    model_free(&m);
    for (int i = 0; i < 4; i++)
        worst = fmax(worst, errors[i]);
    bench_value("dynamics_mujoco_agreement", worst, "largest relative difference of accelerations");
    bench_extra("chain_15", errors[0]);
    bench_extra("chain_29", errors[1]);
    bench_extra("chain_63", errors[2]);
    bench_extra("kuka_iiwa", errors[3]);
}

/* Bullet's chain is ours: one step's change of speed against our accelerations. */
static void bench_bullet_agreement(void)
{
    enum { N = 29 };
    const double dt = 1e-7;
    double q[N], qd[N], worst = 0, size = 0;
    model m = models_alternating(N);
    articulated *a = chain_body(&m, N, q, qd);
    peer_bullet *b = peer_bullet_chain(N);
    peer_bullet_set(b, q, qd);
    peer_bullet_step(b, dt);
    articulated_accelerate(a);
    for (int i = 0; i < N; i++) {
        double theirs = (peer_bullet_speed(b, i) - qd[i]) / dt;
        worst = fmax(worst, fabs(theirs - articulated_qdd(a)[i]));
        size = fmax(size, fabs(theirs));
    }
    bench_value("dynamics_bullet_agreement", worst / size, "relative difference of accelerations");
    peer_bullet_free(b);
    articulated_destroy(a);
    model_free(&m);
}

int main(void)
{
    bench_agreement();
    bench_bullet_agreement();
    bench_chain("dynamics_n29_m8", 29, 8);
    bench_chain("dynamics_n29_full", 29, 29);
    bench_chain("dynamics_n63_m15", 63, 15);
    bench_chain("dynamics_n127_m15", 127, 15);
    bench_chain("dynamics_n300_m30", 300, 30);
    bench_size_independence();
    bench_select("dynamics_select_n29", 29, 8);
    bench_select("dynamics_select_n300", 300, 30);
    bench_contacts();
    bench_unknowns();
    return 0;
}
