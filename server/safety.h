/* The last thing before the device: whatever force is wanted, for whatever reason, what comes out
 * is finite, short enough, slow enough, and zero when anything is wrong. Knows no scene, no device
 * and no clock: numbers in, numbers out, every difference with its reason (REASON_* of records.h).
 *
 *   finite -> latches -> gates and fades -> over-speed -> workspace -> passivity -> clamp -> slew
 *
 * Decreasing a force is never delayed. Base frame, SI. */
#ifndef SERVER_SAFETY_H
#define SERVER_SAFETY_H

#include "config/config.h"
#include "devices/device.h"
#include "server/records.h"

enum {
    SAFETY_DELAY_MAX = 8
}; /* ticks between a command and its force that the observer can hold */

/* Fixed when the hand is made; parameters may lower max_force and max_speed. */
typedef struct safety_limits {
    double period;           /* s, nominal */
    double max_force;        /* N */
    double max_slew;         /* N/s */
    double max_speed;        /* m/s */
    vec3 workspace_centre;   /* m */
    double workspace_radius; /* m; force fades to zero over the margin outside */
    double workspace_margin; /* m */
    double ramp_s, clear_s;  /* start-up gate */
    double world_fade_s, world_zero_s;
    double device_fade_s, device_zero_s;
    double overrun_reduce;  /* missed periods in a row */
    double overrun_fault_s; /* time without a good cycle */
    double passivity_damping_max;
    double stale_damping; /* N s/m, what is left of the force while the world is late */
    double resolution;    /* m, of the position */
    double latency;       /* s, from command to motor */
    bool is_actuated;     /* the handle moves when it is pushed: frozen encoders can be told */
    bool refuses_degraded;
} safety_limits;

/* Limits from the settings and what the device says it can do. */
safety_limits safety_limits_from(const config *settings, const device_description *device);

typedef struct safety_input {
    int64_t time_ns;
    double dt; /* s */
    uint32_t missed_periods;
    int32_t read_status, write_status; /* hr_status */
    bool has_report;                   /* a new and finite sample came */
    bool is_homed;
    bool is_flagged_frozen;
    bool has_jumped;       /* the position made a step that no hand can make */
    bool is_clear;         /* nothing is touched, and no body is around the tool */
    bool has_world;        /* a frame has ever come */
    double world_age;      /* s, of the newest frame */
    vec3 position;         /* m; the last good one */
    vec3 velocity;         /* m/s */
    vec3 surface_velocity; /* m/s, of what is touched */
    double stored;         /* J, in the coupling's spring */
    vec3 wall;             /* N, wanted by the coupling; must be passive */
    vec3 client;           /* N, wanted by a client; need not be */
    uint32_t reasons;      /* known before: REASON_TELEPORT, REASON_CLIENT, REASON_NOT_FINITE */
} safety_input;

typedef struct safety_output {
    vec3 force;    /* N */
    double fade;   /* 0..1, all gates together */
    double energy; /* J, of the episode; negative: put out */
    uint32_t reasons;
    servo_state state;
} safety_output;

/* Energy of the rendered wall over one contact: observer and controller in the time domain
 * (Hannaford and Ryu 2002). */
typedef struct passivity {
    double energy; /* J, that the hand put into the wall and did not get back */
    double bank;   /* J, energy minus what the spring holds; bounded above */
    double swing;  /* N, largest force of the episode */
    double damping;
    int quiet_ticks;
    int newest;
    vec3 sent[SAFETY_DELAY_MAX];
    vec3 position;
    bool has_position;
} passivity;

typedef struct safety {
    safety_limits limits;
    bool is_estopped, is_faulted, is_disarmed, is_degraded;
    uint32_t latched;    /* reasons of the latch */
    double ramp;         /* 0..1 */
    double clear_time;   /* s */
    uint32_t gate_cause; /* reasons that closed the gate, until it is open again */
    double silence;      /* s since the last report */
    double bad_time;     /* s since the last good cycle */
    double missed_run;   /* periods missed in a row */
    double overrun_gate, speed_gate, frozen_gate;
    double still_time; /* s since the position last changed */
    vec3 still_position;
    double still_speed; /* m/s, then */
    int64_t time_ns;
    bool has_time;
    vec3 force; /* N, last tick's */
    passivity passivity;
} safety;

void safety_init(safety *s, const safety_limits *limits);

HR_RT void safety_estop(safety *s);
HR_RT void safety_fault(safety *s, uint32_t reasons); /* latched; reasons besides REASON_FAULT */
HR_RT void safety_disarm(safety *s);

/* Clears the latches; force comes back through the start-up gate. */
HR_RT void safety_arm(safety *s);

HR_RT void safety_apply(safety *s, const safety_input *in, safety_output *out);

/* server/passivity.c */
HR_RT void passivity_observe(passivity *p, const safety_limits *limits, const safety_input *in);
HR_RT vec3 passivity_control(passivity *p, const safety_limits *limits, const safety_input *in,
                             vec3 wall, bool *is_acting);
HR_RT void passivity_sent(passivity *p, vec3 wall);

#endif
