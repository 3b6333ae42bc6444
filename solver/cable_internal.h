/* Inside solver/cable*.c only. */
#ifndef SOLVER_CABLE_INTERNAL_H
#define SOLVER_CABLE_INTERNAL_H

#include "solver/cable.h"

enum { CABLE_BAND = 5 }; /* half bandwidth: a particle is tied to its neighbours */

struct cable {
    cable_settings settings;
    int count;
    double particle_mass;
    vec3 *x, *v, *next; /* next: places after the step being solved */
    vec3 *push, *held_velocity;
    bool *is_held;
    double *rest;
    double *band, *b, *stop;
    qp *qp;
    cable_obstacle *obstacles;
    int obstacle_count;
    bool has_stepped;
};

/* The nearest surface point of an obstacle to the segment a-b of the cable's centre line, with the
 * parameter along it. False beyond reach. */
typedef struct cable_touch {
    double parameter;
    vec3 point, normal; /* world; on the surface, out of it */
    double gap;         /* m, of the centre line */
} cable_touch;
bool cable_touch_find(const cable_obstacle *o, pose world_from_obstacle, vec3 a, vec3 b,
                      double reach, cable_touch *out);

/* cable_rows.c. All return HR_OK or why a row was refused. */
hr_status cable_rows_detect(cable *c, double dt);
/* Rows for what is wrong at c->next; *added says how many. */
hr_status cable_rows_redetect(cable *c, double dt, int pass, int *added);
double cable_penetration(const cable *c, const vec3 *x, double dt, double radius);
double cable_strain(const cable *c, const vec3 *x);

#endif
