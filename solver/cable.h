/* A cable of particles and springs, stepped by implicit Euler with contact and strain limits in one
 * quadratic programme (solver/qp.h). K is banded: factored in some 25 n multiplications. */
#ifndef SOLVER_CABLE_H
#define SOLVER_CABLE_H

#include "geometry/error.h"
#include "geometry/vec3.h"
#include "solver/contact_rows.h"

/* A convex thing the cable lies on: an infinite cylinder, or any convex shape. Scripted. */
typedef struct cable_obstacle {
    bool is_cylinder; /* infinite, along the z axis of its pose; radius */
    double radius;
    shape shape; /* otherwise */
    pose world_from_obstacle;
    twist velocity;
} cable_obstacle;

typedef struct cable_settings {
    int particles;
    double radius;     /* m */
    double mass;       /* kg, of the whole cable */
    double stiffness;  /* k of a spring, N/m */
    double damping;    /* c_d of a spring, N s/m */
    double drag;       /* N s/m per particle, against the air */
    double max_strain; /* 0.02: hard upper limit by rows; <= 0: none */
    double min_strain; /* lower limit, e.g. -0.1; >= 0: none. Soft */
    vec3 gravity;
    double margin;    /* m, clearance at which rows are written; 0: two radii */
    double redetect;  /* m, penetration that calls for another pass; 1e-5 */
    int passes;       /* most passes of re-detection; 4 */
    double skin;      /* m, delta of the second skin; 50e-6 */
    bool has_cuts;    /* cut the strain limit until it holds */
    bool has_edges;   /* edges as well as vertices touch; off shows the sagitta */
    int obstacles;    /* room */
    qp_budget budget; /* of a step */
} cable_settings;

cable_settings cable_settings_default(void);

typedef struct cable_step_info {
    int iterations;      /* of all passes together */
    int most_iterations; /* of one solve */
    int passes, active, rows;
    bool has_fallen_back; /* the programme was not finished: a safe blend was taken */
    double blend;
    double max_penetration; /* m, after the step, vertices and edges; 0: none */
    double max_strain;
    double violation; /* of the programme's rows, m/s */
} cable_step_info;

typedef struct cable cable;

/* NULL when out of memory or a setting is out of range. start: rest shape and first place. */
cable *cable_create(const cable_settings *settings, const vec3 *start);
void cable_destroy(cable *c); /* accepts NULL */

/* Back to these places at rest; holds, obstacles and rest lengths stay. */
void cable_reset(cable *c, const vec3 *start);

int cable_count(const cable *c);
const vec3 *cable_positions(const cable *c);
const vec3 *cable_velocities(const cable *c);

/* Holds particle i still (or moves it with a velocity); released with is_held = false. */
void cable_hold(cable *c, int i, bool is_held, vec3 velocity);

/* Force on a particle for the next step only, N. */
void cable_push(cable *c, int i, vec3 force);

/* HR_ERR_CAPACITY beyond the room. Returns its index otherwise. */
int cable_add_obstacle(cable *c, const cable_obstacle *obstacle);
void cable_move_obstacle(cable *c, int index, pose world_from_obstacle, twist velocity);

void cable_step(cable *c, double dt, cable_step_info *info);

/* Kinetic, elastic and potential (gravity) energy, J. */
double cable_energy(const cable *c);

/* 1/kg: velocity change of the point at parameter t of element i per impulse there, over one step
 * of the last step's length. */
mat3 cable_inverse_mass(cable *c, int i, double t);

/* The two set-ups of the paper's second figure. Writes `particles` places; the cable hangs over a
 * cylinder through the origin along z. pulley: R 0.15 m, 1.6 m of cable, free ends; held: R 0.25 m,
 * 1.4 m, ends fixed at (+-0.6, 0, 0). */
void cable_shape_pulley(vec3 *out, int particles, double cylinder, double radius, double length);
void cable_shape_held(vec3 *out, int particles, double span, double length);

#endif
