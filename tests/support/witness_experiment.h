/* The five experiments of the paper's section V: bodies, prescribed motions, starts. Shared by the
 * tests and the figures. */
#ifndef TESTS_SUPPORT_WITNESS_EXPERIMENT_H
#define TESTS_SUPPORT_WITNESS_EXPERIMENT_H

#include "collide/witness_nearest.h"
#include "collide/witness_pair.h"

typedef struct experiment {
    char name;       /* 'A' .. 'E' */
    double duration; /* s */
    bool has_b;      /* false: the other side is a point */
    parametric_body a, b;
} experiment;

/* second: file name of body B instead of the experiment's own, or NULL. */
HR_MUST_USE hr_status experiment_load(char name, const char *second, experiment *out,
                                      hr_error *error);
void experiment_free(experiment *x);

/* Motion of B (or of the point) seen from A at time t. */
witness_motion experiment_motion(char name, double t);

/* The experiment's pair at its bad start. */
void experiment_start(const experiment *x, witness_settings settings, witness_pair *out);

/* One step of settings.step from t. */
void experiment_step(const experiment *x, witness_pair *p, double t);

/* Certified error of the pair's present distance at time t. */
double experiment_gap(const experiment *x, const witness_pair *p, double t);

/* scheme and gain at 1 ms; for PC the gain is deadbeat and switches are corrected. */
witness_settings experiment_settings(witness_scheme scheme, double gain);

#endif
