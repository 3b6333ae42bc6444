/* The simulated hand: a mass on the grip, a spring and a damper to a moving target, tremor, and a
 * script that says where the target goes. A pure function of the time since the script's start.
 *
 * Script: one statement per line (or separated by ';'), '#' starts a comment. Lengths in m from the
 * middle of the workspace in the base frame (x toward the operator, y right, z up), times in s,
 * forces in N:
 *     move X Y Z over T                     smoothly (minimum jerk) to a place
 *     slide X Y Z over T                    at constant speed to a place
 *     circle X Y Z about AX AY AZ turns N over T
 *                                           around a line, starting where the target is
 *     tap X Y Z times N over T              by (X, Y, Z) and back, N times
 *     press X Y Z for T                     push with a force, ramped over 50 ms at both ends
 *     hold T                                stay
 *     let go T                              open the hand
 *     turn RX RY RZ over T                  smoothly to an orientation: rotation vector, rad, from
 *                                           upright; the device then senses how it is turned
 *     button I press | button I release     at once; I from 0 to 3
 *     repeat | repeat N                     last statement: from the start, for ever or N times
 * `move`, `slide`, `circle`, `tap` and `hold` may end in `pressing X Y Z`, a force that the hand
 * adds during the whole statement. */
#ifndef DEVICES_SIM_HAND_H
#define DEVICES_SIM_HAND_H

#include <stddef.h>
#include <stdint.h>

#include "devices/settings.h"

enum { SIM_ACTIONS_MAX = 256, SIM_TREMOR_TONES = 3 };

typedef enum sim_action_kind {
    SIM_MOVE,
    SIM_SLIDE,
    SIM_CIRCLE,
    SIM_TAP,
    SIM_PRESS,
    SIM_HOLD,
    SIM_LET_GO,
    SIM_BUTTON,
    SIM_TURN
} sim_action_kind;

typedef struct sim_action {
    sim_action_kind kind;
    double start, duration;      /* s from the script's start */
    vec3 from;                   /* m, target at the start */
    vec3 to;                     /* m; centre of a circle; offset of a tap */
    vec3 axis;                   /* unit, of a circle */
    vec3 force;                  /* N, added during the action */
    double times;                /* turns or taps */
    quat turned_from, turned_to; /* orientation at the start and the end */
    uint32_t buttons;            /* pressed during the action */
    uint32_t button;             /* which one a SIM_BUTTON changes */
    bool is_pressed;
} sim_action;

/* The script, unrolled once for its first pass and once for the later ones, which start where the
 * one before ended. */
typedef struct sim_script {
    sim_action first[SIM_ACTIONS_MAX];
    sim_action again[SIM_ACTIONS_MAX];
    int count;
    double length; /* s, of one pass */
    double passes; /* INFINITY: for ever */
    bool turns;    /* some statement turns the handle */
} sim_script;

/* Messages read "NAME: script line 3, column 7: expected ..., found ...". *out is untouched on
 * failure. */
HR_MUST_USE hr_status sim_script_parse(const char *text, size_t size, const char *name,
                                       sim_script *out, hr_error *error);

/* How the hand holds the grip. Defaults lie between a light (0.1 kg, 2 N s/m, 50 N/m) and a firm
 * one (0.5 kg, 8 N s/m, 500 N/m). */
typedef struct sim_grip {
    double mass;      /* kg, moves with the handle */
    double damping;   /* N s/m, to the target */
    double stiffness; /* N/m, to the target */
    double tremor;    /* m, root mean square of the target's shaking along each axis */
} sim_grip;

typedef struct sim_hand {
    sim_grip grip;
    sim_script script;
    struct {
        double omega, phase, amplitude;
    } tremor[3][SIM_TREMOR_TONES];
} sim_hand;

/* Where the hand wants the grip at a time, and how it holds it. Base frame. */
typedef struct sim_intent {
    vec3 target;          /* m */
    vec3 target_velocity; /* m/s, without the tremor */
    vec3 force;           /* N, pushed on top of the spring */
    quat rotation;        /* base_from_handle */
    double holding;       /* 0 (open hand) to 1 */
    uint32_t buttons;
} sim_intent;

/* The seed chooses three tones of physiological tremor, 8 to 12 Hz, for each axis. */
void sim_hand_init(sim_hand *hand, sim_grip grip, const sim_script *script, uint64_t seed);

HR_RT void sim_hand_intent(const sim_hand *hand, double time, sim_intent *out);

/* Force of a hand with this intent on a grip at `position` moving with `velocity`. */
HR_RT vec3 sim_grip_force(const sim_grip *grip, const sim_intent *intent, vec3 position,
                          vec3 velocity);

/* Settings grip_mass_kg, grip_damping_n_s_per_m, grip_stiffness_n_per_m, tremor_m; what is not set
 * keeps its value in *grip. */
sim_grip sim_grip_default(void);
HR_MUST_USE hr_status sim_grip_settings(const device_settings *settings, sim_grip *grip,
                                        hr_error *error);

/* What the hand does when nobody says otherwise: feels its way over a body in the middle of the
 * workspace, taps it, presses it, slides on it and lets go. */
extern const char sim_default_script[];

/* Small deterministic random numbers (splitmix64). */
HR_RT uint64_t sim_random(uint64_t *state);
HR_RT double sim_random_unit(uint64_t *state); /* 0 <= x < 1 */

#endif
