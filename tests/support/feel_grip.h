/* How it must feel with a hand in the loop: the simulated Falcon held by the simulated hand, on a
 * plane. */
#ifndef TESTS_SUPPORT_FEEL_GRIP_H
#define TESTS_SUPPORT_FEEL_GRIP_H

#include "tests/support/grip.h"

typedef struct grip_case {
    double stiffness;       /* N/m */
    double damping;         /* N s/m, of the settings */
    double device_friction; /* N, of the simulated Falcon; < 0: its default */
    double tremor;          /* m */
    double static_friction, kinetic_friction;
    int axis;         /* 0: the plane faces up (+z), 1: it faces the operator (+x) */
    int is_layer_off; /* no lag compensation, no damping, no energy controller */
} grip_case;

/* The default hand's tremor, the shipped damping. */
grip_case grip_case_usual(double stiffness);

typedef struct grip_energy {
    double worst;     /* J, the largest over the episodes of energy put out beyond the bound */
    double worst_raw; /* J, without taking off the bound */
    double bound;     /* J, of that episode: half an encoder step times the force's variation */
    int episodes;
} grip_energy;

/* Taps and presses: every contact is an episode. */
grip_energy feel_energy(const grip_case *c, const grip *how);

/* m, peak to peak, of the handle's true place in the last half second of a steady press of 3 N
 * that was hit on its way. Above GRIP_CYCLE_M it is a limit cycle. */
#define GRIP_CYCLE_M 100e-6
double feel_swing(const grip_case *c, const grip *how);

/* N, RMS of the rendered force above 20 Hz in a steady press of 3 N. */
double feel_ripple(const grip_case *c, const grip *how);

/* Drags the grip over the plane (mu_s 0.6, mu_k 0.4) under 5 N, stops and drags again: the larger
 * relative error of the mean break-away ratio and of the mean sliding ratio of the rendered force.
 * breaks: how often it broke away; may be NULL. */
double feel_grip_friction(const grip_case *c, const grip *how, int *breaks);

#endif
