/* The contact programme: everything rebuilt every tick (K, b, rows), cold and from the rows that
 * held in the tick before. The yardstick, timed alternately in the same run: one Cholesky
 * factorisation and two triangular solves of the same size by LAPACK, on one thread. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/cable_internal.h"
#include "solver/god_object.h"
#include "solver/god_object_6.h"
#include "solver/qp.h"
#include "solver/qp_rigid.h"
#include "tests/bench/bench.h"

void openblas_set_num_threads(int threads);

enum { TICKS = 3000, N_MAX = 128, M_MAX = 256, ENTRIES = 12 };

static double ns_warm[TICKS], ns_cold[TICKS], ns_peer[TICKS];

static uint64_t state = 1;
static double between(double low, double high)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return low + (high - low) * ((double)(state >> 11) * 0x1p-53);
}

/* Bodies of six unknowns coupled by implicit springs; rows between two bodies at a time. Drifts
 * slowly from tick to tick, as contacts do. */
typedef struct scenario {
    int n, m;
    double k[N_MAX * N_MAX], b[N_MAX], b_speed[N_MAX];
    int index[M_MAX][ENTRIES];
    double value[M_MAX][ENTRIES], speed[M_MAX][ENTRIES];
    double high[M_MAX];
    int count;
} scenario;

static void make(scenario *s, int n, int m)
{
    s->n = n;
    s->m = m;
    s->count = n < ENTRIES ? n : ENTRIES;
    double a[N_MAX];
    memset(s->k, 0, sizeof s->k);
    for (int rank = 0; rank < n; rank++) {
        for (int i = 0; i < n; i++)
            a[i] = between(-1, 1) / sqrt(n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                s->k[i * n + j] += a[i] * a[j];
    }
    for (int i = 0; i < n; i++) {
        s->k[i * n + i] += 1.0;
        s->b[i] = between(-1, 1);
        s->b_speed[i] = between(-1, 1) * 2e-3;
    }
    for (int r = 0; r < m; r++) {
        int bodies = n / 6, one = (int)between(0, bodies), two = (int)between(0, bodies);
        two = two == one ? (one + 1) % bodies : two;
        for (int e = 0; e < s->count; e++) {
            s->index[r][e] = e < 6 ? 6 * one + e : 6 * two + e - 6;
            s->value[r][e] = between(-1, 1);
            s->speed[r][e] = between(-1, 1) * 1e-3;
        }
        s->high[r] = between(0, 1);
    }
}

static void drift(scenario *s, int tick)
{
    double phase = tick / 200 % 2 ? -1.0 : 1.0;
    for (int i = 0; i < s->n; i++)
        s->b[i] += phase * s->b_speed[i];
    for (int r = 0; r < s->m; r++)
        for (int e = 0; e < s->count; e++)
            s->value[r][e] += phase * s->speed[r][e];
}

/* Multiply-adds of a solve: factor, the units of the rows that held or entered with their products,
 * two solves for the free point, and for every exchange a look at all rows, a projection and a
 * step. Says what the worst case costs on a machine without noise. */
static double multiply_adds(const scenario *s, const qp_info *info)
{
    double n = s->n, active = info->active, entries = (double)s->m * s->count;
    double units = active > info->iterations ? active : info->iterations;
    double exchange = entries + 2 * n * active + active * active + n * n / 2;
    return n * n * n / 6 + units * (n * n / 2 + n * active / 2) + 4 * n * n + 2 * entries +
           info->iterations * exchange;
}

typedef struct tally {
    long iterations;
    int most_iterations;
    double most_work;
} tally;

static int64_t solve(qp *q, const scenario *s, tally *t)
{
    int64_t start = bench_now_ns();
    if (qp_set_dense(q, s->n, s->k) != HR_OK || qp_set_b(q, s->b) != HR_OK)
        exit(1);
    qp_rows_begin(q);
    for (int r = 0; r < s->m; r++)
        if (qp_row_add(q, &(qp_row){.key = (uint64_t)r + 1,
                                    .count = s->count,
                                    .index = s->index[r],
                                    .value = s->value[r],
                                    .low = -(double)INFINITY,
                                    .high = s->high[r]}) != HR_OK)
            exit(1);
    qp_info info;
    if (qp_solve(q, (qp_budget){.iterations = -1}, &info) != QP_OPTIMAL)
        exit(1);
    int64_t ns = bench_now_ns() - start;
    t->iterations += info.iterations;
    t->most_iterations =
        info.iterations > t->most_iterations ? info.iterations : t->most_iterations;
    t->most_work = fmax(t->most_work, multiply_adds(s, &info));
    bench_keep(qp_x(q)[0]);
    return ns;
}

static double peer(const scenario *s)
{
    static double k[N_MAX * N_MAX], b[N_MAX];
    memcpy(k, s->k, sizeof(double) * (size_t)(s->n * s->n));
    memcpy(b, s->b, sizeof(double) * (size_t)s->n);
    int64_t start = bench_now_ns();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', s->n, k, s->n);
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', s->n, 1, k, s->n, b, s->n);
    int64_t ns = bench_now_ns() - start;
    bench_keep(b[0]);
    return (double)ns;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void extras(double *cold, int n)
{
    qsort(cold, (size_t)n, sizeof *cold, compare);
    bench_extra("cold_median_ns", cold[n / 2]);
    bench_extra("cold_p99_ns", cold[n - 1 - n / 100]);
}

static void bench_size(const char *name, int n, int m)
{
    static scenario s;
    make(&s, n, m);
    qp_limits limits = {.variables = n, .rows = m};
    qp *warm = qp_create(limits), *cold = qp_create(limits), *eager = qp_create(limits);
    qp_settings settings = qp_settings_default();
    settings.is_eager = true;
    qp_configure(eager, settings);
    static double ns_eager[TICKS];
    tally warm_tally = {0}, cold_tally = {0}, ignored = {0};
    for (int i = 0; i < TICKS; i++) {
        drift(&s, i);
        ns_warm[i] = (double)solve(warm, &s, &warm_tally);
        ns_peer[i] = peer(&s);
        qp_forget(cold);
        ns_cold[i] = (double)solve(cold, &s, &cold_tally);
        ns_eager[i] = (double)solve(eager, &s, &ignored);
    }
    bench_compare(name, ns_warm, TICKS, "lapack_cholesky_and_two_solves", ns_peer, TICKS);
    extras(ns_cold, TICKS);
    qsort(ns_eager, TICKS, sizeof *ns_eager, compare);
    bench_extra("eager_median_ns", ns_eager[TICKS / 2]);
    bench_extra("warm_iterations", (double)warm_tally.iterations / TICKS);
    bench_extra("cold_iterations", (double)cold_tally.iterations / TICKS);
    bench_extra("warm_iterations_most", warm_tally.most_iterations);
    bench_extra("cold_iterations_most", cold_tally.most_iterations);
    bench_extra("warm_multiply_adds_most", warm_tally.most_work);
    bench_extra("cold_multiply_adds_most", cold_tally.most_work);
    qp_destroy(warm);
    qp_destroy(cold);
    qp_destroy(eager);
}

/* The held cable over its cylinder, 41 particles, about 100 rows; whole steps. */
static void bench_cable(void)
{
    enum { PARTICLES = 41 };
    vec3 start[PARTICLES];
    cable_settings settings = cable_settings_default();
    cable_obstacle o = {
        .is_cylinder = true, .radius = 0.25, .world_from_obstacle = pose_identity()};
    cable_shape_held(start, PARTICLES, 0.6, 1.4);
    cable *c[2];
    static scenario s;
    make(&s, 123, 0);
    double rows = 0;
    for (int k = 0; k < 2; k++) {
        c[k] = cable_create(&settings, start);
        cable_add_obstacle(c[k], &o);
        cable_hold(c[k], 0, true, (vec3){0, 0, 0});
        cable_hold(c[k], PARTICLES - 1, true, (vec3){0, 0, 0});
    }
    for (int i = 0; i < TICKS; i++) {
        cable_step_info info;
        if (i % 1500 == 0) /* falls on the cylinder again */
            for (int k = 0; k < 2; k++)
                cable_reset(c[k], start);
        int64_t t0 = bench_now_ns();
        cable_step(c[0], 0.001, &info);
        int64_t t1 = bench_now_ns();
        qp_forget(c[1]->qp);
        int64_t t2 = bench_now_ns();
        cable_step(c[1], 0.001, &info);
        int64_t t3 = bench_now_ns();
        ns_warm[i] = (double)(t1 - t0);
        ns_cold[i] = (double)(t3 - t2);
        ns_peer[i] = peer(&s);
        rows += (double)info.rows / TICKS;
    }
    bench_compare("qp_cable_n123_m100", ns_warm, TICKS, "lapack_cholesky_and_two_solves", ns_peer,
                  TICKS);
    extras(ns_cold, TICKS);
    bench_extra("rows", rows);
    cable_destroy(c[0]);
    cable_destroy(c[1]);
}

static void bench_point(void)
{
    half_space planes[8];
    static scenario s;
    make(&s, 6, 0);
    s.n = 3;
    for (int i = 0; i < TICKS; i++) {
        for (int k = 0; k < 8; k++) {
            vec3 n = {between(-1, 1), between(-1, 1), between(0.2, 1)};
            planes[k] = (half_space){vec3_normalize_or(n, (vec3){0, 0, 1}), between(0, 1e-3)};
        }
        vec3 wanted = {between(-1, 1) * 1e-3, between(-1, 1) * 1e-3, -1e-3}, moved;
        int active[3];
        int64_t start = bench_now_ns();
        int count = god_object_move(wanted, planes, 8, &moved, active);
        ns_warm[i] = (double)(bench_now_ns() - start);
        bench_keep(moved.x + count);
        ns_peer[i] = peer(&s);
    }
    bench_compare("godobject_3dof", ns_warm, TICKS, "lapack_cholesky_and_two_solves", ns_peer,
                  TICKS);
    bench_extra("planes", 8);
}

static void bench_tool(void)
{
    mat3 inertia = {{{3e-4, 0, 0}, {0, 5e-4, 0}, {0, 0, 4e-4}}};
    god_object_6 *warm = god_object_6_create(0.2, inertia);
    static scenario s;
    make(&s, 6, 0);
    tool_contact contacts[8];
    for (int k = 0; k < 8; k++)
        contacts[k] = (tool_contact){(uint64_t)k + 1,
                                     {k & 1 ? 0.05 : -0.05, -0.02, k & 2 ? 0.03 : -0.03},
                                     {k & 4 ? 0.1 : 0, k & 4 ? 0.995 : 1, 0}};
    for (int i = 0; i < TICKS; i++) {
        double t = 0.01 * i;
        tool_wrench w = {{sin(t), -2 + cos(t), 0.3}, {0.05 * sin(2 * t), 0, 0.1 * cos(t)}}, hand;
        twist a;
        int64_t start = bench_now_ns();
        if (god_object_6_accelerate(warm, quat_identity(), w, contacts, 8, &a, &hand) != HR_OK)
            exit(1);
        ns_warm[i] = (double)(bench_now_ns() - start);
        ns_peer[i] = peer(&s);
        bench_keep(hand.force.x);
    }
    bench_compare("godobject_6dof", ns_warm, TICKS, "lapack_cholesky_and_two_solves", ns_peer,
                  TICKS);
    bench_extra("contacts", 8);
    god_object_6_destroy(warm);
}

/* --- scenes of rigid bodies with friction, whole solves of all islands, warm and cold ----------
 */

enum { SCENE_BODIES = 50, SCENE_CONTACTS = 4 * SCENE_BODIES, SCENE_TICKS = 1000 };

typedef struct bodies {
    int count, contacts;
    qp_rigid body[SCENE_BODIES];
    qp_block block[SCENE_BODIES];
    qp_contact contact[SCENE_CONTACTS];
} bodies;

static const vec3 half_box = {0.05, 0.05, 0.025};

static void place(bodies *s, int i, vec3 at)
{
    double m = 1, x = half_box.x * half_box.x, z = half_box.z * half_box.z;
    mat3 inertia = {{{m / 3 * (x + z), 0, 0}, {0, m / 3 * (x + z), 0}, {0, 0, m / 3 * (x + x)}}};
    s->body[i] =
        (qp_rigid){.mass = m, .inertia = inertia, .world_from_body = {quat_identity(), at}};
}

/* The four lower corners of body `above` on the top of `below`, or on the floor. */
static void stand(bodies *s, int above, int below)
{
    qp_rigid *a = &s->body[above], *b = below < 0 ? NULL : &s->body[below];
    for (int k = 0; k < 4; k++) {
        vec3 corner = {k & 1 ? half_box.x : -half_box.x, k & 2 ? half_box.y : -half_box.y,
                       -half_box.z};
        vec3 p = pose_apply(a->world_from_body, corner);
        double top = b ? b->world_from_body.origin.z + half_box.z : 0.0;
        s->contact[s->contacts] = (qp_contact){.key = 4 * (uint64_t)above + (uint64_t)k + 1,
                                               .block = {above, below},
                                               .point = {qp_rigid_point(a, p)},
                                               .normal = {0, 0, 1},
                                               .clearance = p.z - top,
                                               .mu = 0.5};
        if (b)
            s->contact[s->contacts].point[1] = qp_rigid_point(b, p);
        s->contacts++;
    }
}

/* A push that turns around keeps some bodies at the limit of sticking. */
static void push(bodies *s, int tick)
{
    for (int i = 0; i < s->count; i++) {
        double angle = 0.02 * tick + i, size = 0.2 * (i % 4) * 9.81;
        s->body[i].force = (vec3){size * cos(angle), size * sin(angle), -9.81};
        s->block[i] = qp_rigid_block(&s->body[i], 1e-3);
    }
}

static void bench_bodies(const char *name, int count, bool is_pile)
{
    static bodies s;
    static scenario yardstick;
    make(&yardstick, 60, 0);
    s.count = count;
    qp_blocks_limits limits = {
        .blocks = count, .unknowns = 6 * count, .contacts = 4 * count, .block_size = 6};
    qp_blocks *warm = qp_blocks_create(limits);
    qp_blocks_settings settings = qp_blocks_settings_default(1e-3);
    double iterations = 0, most = 0, passes = 0, fallbacks = 0;
    for (int i = 0; i < count; i++)
        place(&s, i, (vec3){is_pile ? 0.0 : 0.2 * i, 0, half_box.z * (is_pile ? 2 * i + 1 : 1)});
    for (int tick = 0; tick < SCENE_TICKS; tick++) {
        qp_blocks_info info, ignored;
        s.contacts = 0;
        for (int i = 0; i < count; i++)
            stand(&s, i, is_pile ? i - 1 : -1);
        push(&s, tick);
        qp_blocks *cold = qp_blocks_create(limits);
        int64_t t0 = bench_now_ns();
        if (qp_blocks_solve(cold, &settings, s.block, count, s.contact, s.contacts, NULL, 0,
                            &ignored) != HR_OK)
            exit(1);
        int64_t t1 = bench_now_ns();
        if (qp_blocks_solve(warm, &settings, s.block, count, s.contact, s.contacts, NULL, 0,
                            &info) != HR_OK)
            exit(1);
        int64_t t2 = bench_now_ns();
        ns_cold[tick] = (double)(t1 - t0);
        ns_warm[tick] = (double)(t2 - t1);
        ns_peer[tick] = peer(&yardstick);
        qp_blocks_destroy(cold);
        for (int i = 0; i < count; i++)
            qp_rigid_advance(&s.body[i], 1e-3);
        iterations += (double)info.iterations / SCENE_TICKS;
        passes += (double)info.passes / SCENE_TICKS;
        most = fmax(most, info.iterations);
        fallbacks += info.fallbacks;
    }
    bench_compare(name, ns_warm, SCENE_TICKS, "lapack_cholesky_and_two_solves_n60", ns_peer,
                  SCENE_TICKS);
    extras(ns_cold, SCENE_TICKS);
    bench_extra("warm_iterations", iterations);
    bench_extra("warm_iterations_most", most);
    bench_extra("passes", passes);
    bench_extra("fallbacks", fallbacks);
    qp_blocks_destroy(warm);
}

int main(void)
{
    openblas_set_num_threads(1);
    bench_size("qp_n6_m16", 6, 16);
    bench_size("qp_n6_m64", 6, 64);
    bench_size("qp_n30_m64", 30, 64);
    bench_size("qp_n90_m64", 90, 64);
    bench_size("qp_n90_m256", 90, 256);
    bench_cable();
    bench_point();
    bench_tool();
    bench_bodies("qp_shelf_50", 50, false);
    bench_bodies("qp_pile_10", 10, true);
    return 0;
}
