/* One tick of witness tracking: the full hybrid step (predictor, corrector, both automata) beside
 * OpenCASCADE's and FCL's answers to the same question, timed alternately. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collide/witness_pair.h"
#include "tests/bench/bench.h"
#include "tests/bench/peer_witness.h"

enum { TICKS = 20000 };

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

static void ellipsoids(void)
{
    const vec3 axes_a = {0.024, 0.018, 0.015};
    const vec3 axes_b = {0.010, 0.016, 0.012};
    witness_pair pair;
    witness_motion m = orbit(0, 0.05);
    witness_pair_init(&pair, witness_body_ellipsoid(axes_a), witness_body_ellipsoid(axes_b),
                      witness_settings_default(), &m);
    for (int i = 0; i < 20; i++)
        witness_pair_correct(&pair, &m);
    peer_ellipsoids *peer = peer_ellipsoids_make((const double[3]){0.024, 0.018, 0.015},
                                                 (const double[3]){0.010, 0.016, 0.012}, 1, 1e-6);
    double worst = 0;
    double peer_worst = 0;
    for (int i = 0; i < TICKS; i++) {
        witness_motion end = orbit((i + 1) * 1e-3, 0.05);
        double flat[12];
        flat_pose(&end, flat);
        peer_ellipsoids_place(peer, flat);

        int64_t start = bench_now_ns();
        witness_pair_step(&pair, &m, &m, &end);
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
        m = end;
    }
    bench_compare("witness_vs_fcl_ellipsoid", ours, TICKS, "fcl", theirs, TICKS);
    bench_extra("error_m", worst);
    bench_extra("peer_error_m", peer_worst);
    peer_ellipsoids_free(peer);
}

int main(void)
{
    ellipsoids();
    return 0;
}
