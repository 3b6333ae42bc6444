#include "tests/support/cable_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cable *cable_run_create(const cable_run *run)
{
    vec3 start[CABLE_RUN_PARTICLES];
    double cylinder = run->is_held ? 0.25 : 0.15;
    if (run->is_held)
        cable_shape_held(start, CABLE_RUN_PARTICLES, 0.6, 1.4);
    else
        cable_shape_pulley(start, CABLE_RUN_PARTICLES, cylinder, 0.01, 1.6);
    cable_settings s = cable_settings_default();
    s.stiffness = run->stiffness;
    s.has_cuts = run->has_cuts;
    s.has_edges = run->has_edges;
    s.skin = run->skin;
    s.budget.iterations = run->iterations;
    cable *c = cable_create(&s, start);
    if (!c)
        abort();
    cable_obstacle o = {.is_cylinder = !run->is_capsule,
                        .radius = cylinder,
                        .shape = {.kind = SHAPE_CAPSULE, .radius = cylinder, .half_length = 3},
                        .world_from_obstacle = pose_identity()};
    cable_add_obstacle(c, &o);
    if (run->is_held) {
        cable_hold(c, 0, true, (vec3){0, 0, 0});
        cable_hold(c, CABLE_RUN_PARTICLES - 1, true, (vec3){0, 0, 0});
    }
    return c;
}

int cable_run_steps(const cable_run *run)
{
    return (int)lround((run->is_held ? 1.5 : 0.9) / run->dt);
}

cable_run_result cable_run_all(const cable_run *run)
{
    cable *c = cable_run_create(run);
    cable_run_result r = {.steps = cable_run_steps(run)};
    double before = cable_energy(c);
    r.start_energy = before;
    for (int i = 0; i < r.steps; i++) {
        cable_step_info info;
        cable_step(c, run->dt, &info);
        double energy = cable_energy(c);
        r.largest_rise = fmax(r.largest_rise, energy - before);
        before = energy;
        r.max_penetration = fmax(r.max_penetration, info.max_penetration);
        r.max_strain = fmax(r.max_strain, info.max_strain);
        r.max_violation = fmax(r.max_violation, info.violation);
        r.end_strain = info.max_strain;
        r.mean_iterations += (double)info.iterations / r.steps;
        r.mean_active += (double)info.active / r.steps;
        r.mean_passes += (double)info.passes / r.steps;
        r.fallbacks += info.has_fallen_back;
        if (info.most_iterations > r.most_iterations)
            r.most_iterations = info.most_iterations;
        if (info.passes > r.most_passes)
            r.most_passes = info.passes;
    }
    r.end_energy = before;
    memcpy(r.end, cable_positions(c), sizeof r.end);
    cable_destroy(c);
    return r;
}
