/* Continuous collision detection of whole bodies: the paper's three set-ups against the number of
 * active joints, how the kinematics grow, and two tori beside FCL. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/peer_ccd_bodies.h"
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
        uint64_t seed = 1000; /* the same postures for every number of active joints */
        double updates = 0, boxes = 0, contacts = 0, kinematics = 0;
        char key[64];
        for (int run = 0; run < RUNS;) {
            test_random r = {seed++};
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

/* Kinematics alone: n joints, m of them active, k wanted links. Claim: time = a + b m + c k log2 n,
 * whatever n is; fitted by least squares and printed with the share it explains. */
typedef struct growth {
    double normal[3][3], right[3], mean, square;
    int count;
} growth;

static void add_point(growth *g, double nodes, double links, double ns)
{
    const double x[3] = {1, nodes, links};
    for (int i = 0; i < 3; i++) {
        g->right[i] += x[i] * ns;
        for (int j = 0; j < 3; j++)
            g->normal[i][j] += x[i] * x[j];
    }
    g->mean += ns;
    g->square += ns * ns;
    g->count++;
}

static void report_fit(const growth *g)
{
    mat3 normal, inverse;
    memcpy(normal.m, g->normal, sizeof normal.m);
    if (mat3_inverse(normal, &inverse) != HR_OK)
        exit(1);
    vec3 fit = mat3_apply(inverse, (vec3){g->right[0], g->right[1], g->right[2]});
    double mean = g->mean / g->count;
    double total = g->square - g->count * mean * mean;
    double left = g->square - fit.x * g->right[0] - fit.y * g->right[1] - fit.z * g->right[2];
    bench_value("ccd_kinematics_fit", 100 * (1 - left / total), "%");
    bench_extra("ns", fit.x);
    bench_extra("ns_per_dirty_node", fit.y);
    bench_extra("ns_per_link_and_level", fit.z);
}

static double time_kinematics(ccd_body *body, int joints, int links, ccd_counters *counters)
{
    enum { REPEATED = 200 };
    double ns[REPEATED];
    const assembly_tree *t = ccd_body_tree(body);
    for (int i = 0; i < REPEATED; i++) {
        *counters = (ccd_counters){0};
        int64_t start = bench_now_ns();
        ccd_body_enclose(body, 0.5, 0.5, counters);
        for (int k = 0; k < links; k++)
            (void)ccd_body_from_node(body, t->root, t->parts[k * joints / links].leaf, counters);
        ns[i] = (double)(bench_now_ns() - start);
    }
    qsort(ns, REPEATED, sizeof *ns, compare_doubles);
    return ns[REPEATED / 2];
}

static void bench_growth(void)
{
    test_random r = {7};
    growth g = {{{0}}, {0}, 0, 0, 0};
    printf("%6s %6s %6s %8s %8s %10s\n", "n", "m", "k", "dirty", "world", "ns");
    for (int n = 16; n <= 1024; n *= 4) {
        model m;
        ccd_model_chain(&r, n + 1, (vec3){0.9, 0.1, 0.1}, &m);
        ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
        double *q1 = calloc((size_t)m.q_count, sizeof *q1);
        for (int way = 0; way < 9; way++) {
            int active = 1 << (2 * (way / 3)), links = 1 << (2 * (way % 3));
            ccd_counters counters;
            memset(q1, 0, (size_t)m.q_count * sizeof *q1);
            for (int i = 0; i < active; i++)
                q1[i * n / active] = 0.01;
            if (ccd_body_move(body, q1) != HR_OK)
                exit(1);
            double ns = time_kinematics(body, n, links, &counters);
            add_point(&g, (double)counters.node_updates, links * log2(n), ns);
            printf("%6d %6d %6d %8d %8d %10.0f\n", n, active, links, (int)counters.node_updates,
                   (int)counters.world_updates, ns);
        }
        free(q1);
        ccd_body_destroy(body);
        model_free(&m);
    }
    report_fit(&g);
}

/* --- two tori beside FCL -------------------------------------------------------------------------
 */

enum { RING = 128, TUBE = 64, TICKS = 100 }; /* 2 x 128 x 64 = 16 384 triangles */

static mesh torus(double ring, double tube)
{
    mesh m;
    if (mesh_allocate(RING * TUBE, 2 * RING * TUBE, &m) != HR_OK)
        exit(1);
    for (int i = 0; i < RING * TUBE; i++) {
        int u = i / TUBE, v = i % TUBE, u1 = (u + 1) % RING, v1 = (v + 1) % TUBE;
        double a = 2 * M_PI * u / RING, b = 2 * M_PI * v / TUBE, w = ring + tube * cos(b);
        m.vertices[i] = (vec3){w * cos(a), w * sin(a), tube * sin(b)};
        int p = i, q = u1 * TUBE + v, r = u1 * TUBE + v1, s = u * TUBE + v1;
        memcpy(m.triangles[2 * i], (int[]){p, q, r}, sizeof m.triangles[0]);
        memcpy(m.triangles[2 * i + 1], (int[]){p, r, s}, sizeof m.triangles[0]);
    }
    return m;
}

typedef struct tori {
    model models[2];
    ccd_body *bodies[2];
    ccd_scene *scene;
    peer_mesh *peer;
    double reach; /* m, of the moving torus */
} tori;

static double peer_distance(const tori *t, double at)
{
    rigid a = ccd_body_part_at(t->bodies[0], 0, 0), b = ccd_body_part_at(t->bodies[1], 1, at);
    rigid back = rigid_inverse(&a), rel = rigid_compose(&back, &b);
    double rotation[9], origin[3] = {rel.origin.x, rel.origin.y, rel.origin.z};
    memcpy(rotation, rel.rotation.m, sizeof rotation);
    return peer_mesh_distance(t->peer, t->peer, rotation, origin);
}

/* Conservative advancement: no point moves faster than `speed`, so the distance is a safe step.
 * Returns the time of contact, or 2. */
static double advance_conservatively(const tori *t, double speed, double tolerance)
{
    for (double at = 0; at <= 1;) {
        double d = peer_distance(t, at);
        if (d <= tolerance)
            return at;
        at += d / speed;
    }
    return 2;
}

/* A tick of 1 ms: up to 1 m/s toward the other torus and 20 rad/s. */
static double draw_tick(tori *t, test_random *r)
{
    vec3 side = vec3_normalize_or(test_random_vec3(r, 1), (vec3){1, 0, 0});
    quat from = quat_from_rotation_vector(test_random_vec3(r, 3));
    vec3 turn = test_random_vec3(r, 0.0115); /* 0.02 rad at most */
    quat to = quat_multiply(from, quat_from_rotation_vector(turn));
    vec3 step =
        vec3_add(vec3_scale(-test_random_between(r, 0, 1e-3), side), test_random_vec3(r, 2e-4));
    double q0[7], q1[7], away = 0.09;
    /* pull it in until it is within 0.6 mm of the first torus, by distances */
    for (int i = 0; i < 60; i++) {
        vec3 at = vec3_scale(away, side);
        memcpy(q0, (double[]){at.x, at.y, at.z, from.w, from.x, from.y, from.z}, sizeof q0);
        if (ccd_body_place(t->bodies[1], q0) != HR_OK)
            exit(1);
        double d = peer_distance(t, 0);
        if (d < 6e-4)
            break;
        away -= 0.9 * (d - 3e-4);
    }
    vec3 end = vec3_add((vec3){q0[0], q0[1], q0[2]}, step);
    memcpy(q1, (double[]){end.x, end.y, end.z, to.w, to.x, to.y, to.z}, sizeof q1);
    if (ccd_body_move(t->bodies[1], q1) != HR_OK)
        exit(1);
    return vec3_length(step) + vec3_length(turn) * t->reach;
}

static void bench_tori(void)
{
    static double ours[TICKS], peers[TICKS];
    int hits = 0, missed = 0, late = 0;
    tori t = {.scene = ccd_scene_create(1 << 10, 1 << 19), .reach = 0.041};
    ccd_limits limits = ccd_limits_default();
    ccd_result *out = calloc(1, sizeof *out);
    mesh parts[2] = {torus(0.03, 0.01), torus(0.03, 0.01)};
    t.peer = peer_mesh_create(&parts[0].vertices[0].x, parts[0].vertex_count,
                              &parts[0].triangles[0][0], parts[0].triangle_count);
    ccd_model_single(&parts[0], &t.models[0]);
    ccd_model_jointed(JOINT_FLOATING, (vec3){0, 0, 1}, 0, &parts[1], &t.models[1]);
    for (int i = 0; i < 2; i++) {
        t.bodies[i] = ccd_body_create(&t.models[i], ASSEMBLY_BALANCED, pose_identity());
        if (ccd_scene_add(t.scene, t.bodies[i]) != i)
            exit(1);
    }
    test_random r = {77};
    for (int i = 0; i < TICKS; i++) {
        double speed = draw_tick(&t, &r);
        int64_t start = bench_now_ns();
        if (ccd_step(t.scene, &limits, out) != HR_OK)
            exit(1);
        ours[i] = (double)(bench_now_ns() - start);
        start = bench_now_ns();
        double exact = advance_conservatively(&t, speed, limits.tolerance);
        peers[i] = (double)(bench_now_ns() - start);
        double toc = out->status == CCD_FREE ? 2 : out->toc;
        hits += toc <= 1;
        missed += exact <= 1 && toc > 1;
        /* late: the surfaces had met, to a hundredth of the tolerance, before our answer */
        late += exact <= 1 && toc > advance_conservatively(&t, speed, 0.01 * limits.tolerance);
    }
    bench_compare("ccd_tori_vs_fcl", ours, TICKS, "fcl conservative advancement", peers, TICKS);
    bench_extra("hits", hits);
    bench_extra("missed", missed);
    bench_extra("late", late);
    peer_mesh_destroy(t.peer);
    for (int i = 0; i < 2; i++) {
        ccd_body_destroy(t.bodies[i]);
        model_free(&t.models[i]);
    }
    ccd_scene_destroy(t.scene);
    free(out);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const int men[] = {1, 4, 8, 15, 22, 28}, pendulum[] = {1, 4, 8, 15, 22, 30};
    bench_stage("ccd_men", CCD_MEN, men, HR_COUNT(men));
    bench_stage("ccd_pendulum", CCD_PENDULUM, pendulum, HR_COUNT(pendulum));
    bench_stage("ccd_falling", CCD_FALLING, men, HR_COUNT(men));
    bench_growth();
    bench_tori();
    return 0;
}
