/* The two cable experiments of the contact programme, for tests and figures: 41 particles, 1 kg,
 * radius 10 mm, no damping, an infinite cylinder along z through the origin. */
#ifndef TESTS_SUPPORT_CABLE_RUNS_H
#define TESTS_SUPPORT_CABLE_RUNS_H

#include "solver/cable.h"

enum { CABLE_RUN_PARTICLES = 41 };

typedef struct cable_run {
    bool is_held; /* ends fixed over R = 0.25 m, 1.5 s; otherwise free over R = 0.15 m, 0.9 s */
    double dt, stiffness;
    bool has_cuts, has_edges;
    bool is_capsule; /* the cylinder as a long capsule shape */
    double skin;     /* m */
    int iterations;  /* budget; < 0: default */
} cable_run;

typedef struct cable_run_result {
    double max_penetration, max_strain, end_strain; /* m, 1, 1 */
    double mean_iterations, mean_active, mean_passes;
    int most_iterations; /* of one solve */
    int most_passes, fallbacks, steps;
    double start_energy, end_energy, largest_rise; /* J */
    double max_violation;                          /* of a row, m/s */
    vec3 end[CABLE_RUN_PARTICLES];
} cable_run_result;

cable *cable_run_create(const cable_run *run);
int cable_run_steps(const cable_run *run);
cable_run_result cable_run_all(const cable_run *run);

#endif
