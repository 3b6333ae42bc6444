/* One tick of witness tracking: the full hybrid step (predictor, corrector, both automata) beside
 * OpenCASCADE's and FCL's answers to the same question, timed alternately. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collide/witness_pair.h"
#include "tests/bench/bench.h"
#include "tests/bench/peer_witness.h"
#include "tests/support/witness_reference.h"

/* Of the paced runs: 5 s each. */
enum { TICKS = 20000, PACED = 5000, EXTREMA = 300 };

static double ours[TICKS];
static double theirs[TICKS];

/* A tumbling body on an orbit; everything smooth, speeds of a hand. */
static witness_motion orbit(double t, double radius)
{
    witness_motion m = {.rate.angular = {0.9, -1.3, 1.7}};
    double a = 1.3 * t + 0.3;
    m.origin = (vec3){radius * cos(a), radius * sin(a), 0.3 * radius * sin(2 * a)};
    m.rate.linear =
        (vec3){-1.3 * radius * sin(a), 1.3 * radius * cos(a), 0.78 * radius * cos(2 * a)};
    m.rotation = quat_to_mat3(quat_from_rotation_vector(vec3_scale(t, m.rate.angular)));
    return m;
}

static void flat_pose(const witness_motion *m, double out[12])
{
    const double origin[3] = {m->origin.x, m->origin.y, m->origin.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out[4 * i + j] = m->rotation.m[i][j];
        out[4 * i + 3] = origin[i];
    }
}

/* Support function of an ellipsoid. */
static double support(vec3 axes, vec3 n)
{
    return vec3_length((vec3){axes.x * n.x, axes.y * n.y, axes.z * n.z});
}

static parametric_body load(const char *path)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return b;
}

/* A point on a helix around the body, as in the paper's experiment D: all features are visited. */
static witness_motion helix(double t)
{
    witness_motion m = {.rotation = mat3_identity()};
    double a = 2.7 * t;
    m.origin = (vec3){0.9 * cos(a), 0.9 * sin(a), 2.8 * sin(0.3 * t)};
    m.rate.linear = (vec3){-2.43 * sin(a), 2.43 * cos(a), 0.84 * cos(0.3 * t)};
    return m;
}

typedef witness_motion path(double t);

static witness_motion body_orbit(double t)
{
    return orbit(t, 2.6);
}

/* Burst into ours[], or paced on the 1 kHz grid. */
static void run_pair(witness_pair *p, path *at, int ticks, int is_paced)
{
    witness_motion m = at(0);
    for (int i = 0; i < 30; i++)
        witness_pair_correct(p, &m);
    for (int i = 0; i < ticks; i++) {
        witness_motion end = at((i + 1) * 1e-3);
        if (is_paced)
            bench_wait_tick();
        int64_t start = bench_now_ns();
        witness_pair_step(p, &m, &m, &end);
        ours[i] = (double)(bench_now_ns() - start);
        m = end;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The full hybrid step on closed bicubic bodies, through faces, edges and poles. */
static void hybrid_step(const char *name, witness_body a, witness_body b, path *at)
{
    witness_pair p;
    witness_motion m = at(0);
    witness_pair_init(&p, a, b, witness_settings_default(), &m);
    run_pair(&p, at, PACED, 1);
    qsort(ours, PACED, sizeof ours[0], by_value);
    double median = ours[PACED / 2];
    double p999 = ours[PACED - 1 - PACED / 1000];
    run_pair(&p, at, TICKS, 0);
    double gap = reference_gap(a.body, b.body, at(TICKS * 1e-3).rotation, at(TICKS * 1e-3).origin,
                               p.last.on_a, p.last.on_b);
    bench_report(name, ours, TICKS);
    bench_extra("paced_median_ns", median);
    bench_extra("paced_p999_ns", p999);
    bench_extra("switches", (double)p.switches);
    bench_extra("error_m", gap);
}

/* A point that stays above one face, against the local projection from the last foot. */
static witness_motion above_face(double t)
{
    witness_motion m = {.rotation = mat3_identity()};
    double a = 4.712 + 0.5 * sin(3.1 * t);
    double rate = 1.55 * cos(3.1 * t);
    m.origin = (vec3){1.4 * cos(a), 1.4 * sin(a), 0.5 * sin(2.3 * t)};
    m.rate.linear = (vec3){-1.4 * rate * sin(a), 1.4 * rate * cos(a), 1.15 * cos(2.3 * t)};
    return m;
}

static peer_surface *peer_of(const parametric_body *b, int face)
{
    const nurbs_surface *s = &b->surfaces[b->faces[face].surface];
    return peer_surface_make(s->degree, s->count, s->knots[0], s->knots[1], s->points);
}

static void against_projection(const parametric_body *body)
{
    witness_pair p;
    witness_motion m = above_face(0);
    witness_pair_init(&p, witness_body_parametric(body), witness_body_point((vec3){0, 0, 0}),
                      witness_settings_default(), &m);
    for (int i = 0; i < 30; i++)
        witness_pair_correct(&p, &m);
    int face = p.on_a.index;
    peer_surface *peer = peer_of(body, face);
    double uv[2] = {p.on_a.x[0], p.on_a.x[1]};
    double worst = 0;
    double peer_worst = 0;
    for (int i = 0; i < TICKS; i++) {
        witness_motion end = above_face((i + 1) * 1e-3);
        const double point[3] = {end.origin.x, end.origin.y, end.origin.z};

        int64_t start = bench_now_ns();
        witness_pair_step(&p, &m, &m, &end);
        int64_t middle = bench_now_ns();
        double distance = peer_project(peer, point, uv);
        int64_t stop = bench_now_ns();

        ours[i] = (double)(middle - start);
        theirs[i] = (double)(stop - middle);
        m = end;
        if (p.on_a.feature != WITNESS_FACE || p.on_a.index != face) {
            fprintf(stderr, "witness: the point left the face\n");
            exit(1);
        }
        if (i % 50 == 0) {
            double truth = reference_nearest(body, end.origin, NULL);
            worst = fmax(worst, fabs(p.last.distance - truth));
            peer_worst = fmax(peer_worst, fabs(distance - truth));
        }
    }
    bench_compare("witness_vs_occt_point", ours, TICKS, "opencascade", theirs, TICKS);
    bench_extra("error_m", worst);
    bench_extra("peer_error_m", peer_worst);
    peer_surface_free(peer);
}

/* Two bodies face to face: B swings before one face of A. */
static witness_motion face_to_face(double t)
{
    witness_motion m = above_face(0.3 * t);
    m.rate.linear = vec3_scale(0.3 * 2.0, m.rate.linear);
    m.origin = vec3_scale(2.0, m.origin);
    m.rate.angular = (vec3){0, 0, 0.1 * cos(t)};
    m.rotation = quat_to_mat3(quat_from_rotation_vector((vec3){0, 0, 0.1 * sin(t)}));
    return m;
}

static void against_extrema(const parametric_body *a, const parametric_body *b)
{
    witness_pair p;
    witness_motion m = face_to_face(0);
    witness_pair_init(&p, witness_body_parametric(a), witness_body_parametric(b),
                      witness_settings_default(), &m);
    for (int i = 0; i < 40; i++)
        witness_pair_correct(&p, &m);
    int face_a = p.on_a.index;
    int face_b = p.on_b.index;
    peer_surface *peer_a = peer_of(a, face_a);
    peer_surface *peer_b = peer_of(b, face_b);
    double worst = 0;
    double peer_worst = 0;
    int found = 0;
    for (int i = 0; i < EXTREMA; i++) {
        double pose_b[12];
        witness_motion end = face_to_face((i + 1) * 1e-3);
        flat_pose(&end, pose_b);
        peer_surface_place(peer_b, pose_b);

        int64_t start = bench_now_ns();
        witness_pair_step(&p, &m, &m, &end);
        int64_t middle = bench_now_ns();
        double distance = peer_extrema(peer_a, peer_b);
        int64_t stop = bench_now_ns();

        ours[i] = (double)(middle - start);
        theirs[i] = (double)(stop - middle);
        m = end;
        if (p.on_a.feature != WITNESS_FACE || p.on_a.index != face_a ||
            p.on_b.feature != WITNESS_FACE || p.on_b.index != face_b) {
            fprintf(stderr, "witness: the pair left its faces\n");
            exit(1);
        }
        double gap = reference_gap(a, b, end.rotation, end.origin, p.last.on_a, p.last.on_b);
        worst = fmax(worst, gap);
        if (distance > 0) {
            peer_worst = fmax(peer_worst, fabs(distance - (p.last.distance - gap)));
            found++;
        }
    }
    bench_compare("witness_vs_occt_surface", ours, EXTREMA, "opencascade", theirs, EXTREMA);
    bench_extra("error_m", worst);
    bench_extra("peer_error_m", peer_worst);
    bench_extra("peer_found", found);
    peer_surface_free(peer_a);
    peer_surface_free(peer_b);
}

static void ellipsoids(void)
{
    /* of unit size, so that the peer's tolerance of 1e-6 means what it says */
    const vec3 axes_a = {1.2, 0.9, 0.75};
    const vec3 axes_b = {0.5, 0.8, 0.6};
    witness_pair pair;
    witness_motion m = body_orbit(0);
    witness_pair_init(&pair, witness_body_ellipsoid(axes_a), witness_body_ellipsoid(axes_b),
                      witness_settings_default(), &m);
    for (int i = 0; i < 20; i++)
        witness_pair_correct(&pair, &m);
    peer_ellipsoids *peer = peer_ellipsoids_make((const double[3]){1.2, 0.9, 0.75},
                                                 (const double[3]){0.5, 0.8, 0.6}, 0, 1e-6);
    double worst = 0;
    double peer_worst = 0;
    for (int i = 0; i < TICKS; i++) {
        witness_motion end = body_orbit((i + 1) * 1e-3);
        double flat[12];
        flat_pose(&end, flat);
        peer_ellipsoids_place(peer, flat);

        int64_t start = bench_now_ns();
        witness_pair_correct(&pair, &end); /* poses alone, as the peer gets them */
        int64_t middle = bench_now_ns();
        double distance = peer_ellipsoids_distance(peer);
        int64_t stop = bench_now_ns();

        ours[i] = (double)(middle - start);
        theirs[i] = (double)(stop - middle);
        vec3 n = pair.last.normal;
        double lower = vec3_dot(n, end.origin) - support(axes_a, n) -
                       support(axes_b, mat3_apply_transposed(end.rotation, n));
        worst = fmax(worst, fabs(pair.last.distance - lower));
        peer_worst = fmax(peer_worst, fabs(distance - lower));
    }
    bench_compare("witness_vs_fcl_ellipsoid", ours, TICKS, "fcl", theirs, TICKS);
    bench_extra("error_m", worst);
    bench_extra("peer_error_m", peer_worst);
    peer_ellipsoids_free(peer);
}

int main(void)
{
    parametric_body a = load("tests/data/bodies/lemon_a_cubic.json");
    parametric_body b = load("tests/data/bodies/lemon_b_cubic.json");
    hybrid_step("witness_point_step", witness_body_parametric(&a),
                witness_body_point((vec3){0, 0, 0}), helix);
    hybrid_step("witness_surface_step", witness_body_parametric(&a), witness_body_parametric(&b),
                body_orbit);
    against_projection(&a);
    against_extrema(&a, &b);
    ellipsoids();
    parametric_body_free(&a);
    parametric_body_free(&b);
    return 0;
}
