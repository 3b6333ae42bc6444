/* How the law is stepped in time, and which gains that allows. Every component of the error obeys
 * y' = -K y, which a scheme multiplies per step by R(-K h): stable while |R| < 1. */
#ifndef COLLIDE_WITNESS_SCHEME_H
#define COLLIDE_WITNESS_SCHEME_H

#include <stdbool.h>

#include "geometry/error.h"

typedef enum witness_scheme {
    WITNESS_PC,    /* predict by the feed-forward, correct by Newton on the new pose: the default */
    WITNESS_EULER, /* these three integrate the law as the paper does, for comparison */
    WITNESS_HEUN,
    WITNESS_RK4
} witness_scheme;

typedef struct witness_settings {
    witness_scheme scheme;
    double gain;            /* K, 1/s; with WITNESS_PC 0 means deadbeat (all of the error) */
    double step;            /* h, s */
    bool uses_velocity;     /* feed-forward; off where the velocity is noisier than it helps */
    bool corrects_switches; /* one more corrector in the tick of a transition */
    double inside_speed;    /* m/s: the witness is no faster while inside; 0: no limit */
} witness_settings;

/* PC, deadbeat, 1 ms, with feed-forward, correcting after switches, no speed limit. */
witness_settings witness_settings_default(void);

/* The factor R(-z) of one step, z = K h. */
double witness_scheme_factor(witness_scheme scheme, double z);

/* Largest stable K h, computed from the scheme's factor; infinite for WITNESS_PC, whose gain
 * 1 - exp(-K h) stays below 1. */
double witness_scheme_limit(witness_scheme scheme);

/* "pc", "euler", "heun", "rk4" */
const char *witness_scheme_name(witness_scheme scheme);

/* Refuses K h of 0.9 times the limit or more, and values that are not finite or negative; the
 * message gives the largest gain that this step and scheme allow. */
HR_MUST_USE hr_status witness_settings_check(const witness_settings *s, hr_error *error);

#endif
