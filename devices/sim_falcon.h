/* The simulated Falcon: a mass with friction that a hand moves and three motors push, seen through
 * encoder counts and reached through exchanges that come late, get lost or show faults. The sim and
 * replay drivers are this device under two kinds of hand. Time comes from the caller alone. */
#ifndef DEVICES_SIM_FALCON_H
#define DEVICES_SIM_FALCON_H

#include "devices/device.h"
#include "devices/falcon/health.h"
#include "devices/falcon/tracker.h"
#include "devices/sim_faults.h"
#include "devices/sim_hand.h"

enum { SIM_DELAY_MAX = 8 };

typedef struct sim_falcon_settings {
    double mass;             /* kg, of the moving parts, felt at the grip */
    double friction;         /* N, Coulomb */
    double viscosity;        /* N s/m */
    int delay_exchanges;     /* 0..SIM_DELAY_MAX: when a command reaches the motors */
    double drop_probability; /* report and command are both lost */
    double late_probability; /* the report misses its exchange, the command does not */
    double homing_s;         /* 0: homed when opened */
    bool is_imposed;         /* the handle is where the hand wants it, whatever the motors do */
    bool senses_rotation;    /* the handle turns with the hand, and the device tells how */
    bool has_quantisation;   /* false: exact angles and forces, for figures that ask for it */
    uint64_t seed;
    sim_faults faults;
} sim_falcon_settings;

/* Settings that both drivers share: device_mass_kg, device_friction_n, device_viscosity_n_s_per_m,
 * delay_exchanges, drop_probability, late_probability, homing_s, quantisation, seed, faults. */
#define SIM_FALCON_SETTINGS                                                                        \
    "device_mass_kg", "device_friction_n", "device_viscosity_n_s_per_m", "delay_exchanges",        \
        "drop_probability", "late_probability", "homing_s", "quantisation", "seed", "faults",      \
        "grip_mass_kg", "grip_damping_n_s_per_m", "grip_stiffness_n_per_m", "tremor_m"

HR_MUST_USE hr_status sim_falcon_settings_read(const device_settings *settings,
                                               sim_falcon_settings *out, hr_error *error);

/* A command on its way. */
typedef struct sim_motor_command {
    int16_t values[3];
    double torque[3]; /* N m; what the values make, exact where quantisation is off */
    int64_t deadline_ns;
    bool is_set; /* an empty place in the queue changes nothing */
} sim_motor_command;

typedef struct sim_falcon {
    sim_falcon_settings settings;
    falcon_geometry geometry;
    falcon_motors motors;
    sim_grip grip;

    /* the plant, in the device's frame */
    vec3 position, velocity; /* m, m/s */
    falcon_angles angles;    /* rad, at position */
    vec3 force;              /* N, of the motors on the grip, at the last step */
    double energy;           /* J, put into the grip by the motors since the start */
    sim_motor_command active;
    sim_intent intent; /* at time_ns */
    int64_t start_ns, time_ns;
    bool is_started;

    /* the link */
    sim_motor_command queue[SIM_DELAY_MAX + 1]; /* [0] arrives next */
    uint64_t random;
    int16_t frozen_counts[3];
    bool is_plugged, is_frozen;

    /* what the host knows */
    falcon_tracker tracker;
    falcon_frozen frozen;
    device_sample sample;
    bool is_enabled, is_saturated, has_jumped;
    int64_t homing_start_ns; /* -1: not asked for */
    double homing;           /* 0..1 */
    char serial[32];
} sim_falcon;

void sim_falcon_init(sim_falcon *f, const sim_falcon_settings *settings, const sim_grip *grip);

/* Seconds since the first read; 0 before. */
HR_RT double sim_falcon_time(const sim_falcon *f, int64_t now_ns);

/* One exchange: the plant moves from the last one to now under a hand that wants `intent` now.
 * extra_flags are added to the sample's. */
HR_RT hr_status sim_falcon_read(sim_falcon *f, int64_t now_ns, const sim_intent *intent,
                                uint32_t extra_flags, device_sample *out);

/* The entries of a driver's table that do not depend on the hand. A driver's device begins with its
 * sim_falcon. */
void sim_falcon_describe(const device *dev, device_description *out);
hr_status sim_falcon_calibrate(device *dev, bool force);
double sim_falcon_progress(const device *dev);
HR_RT hr_status sim_falcon_enable(device *dev, bool on);
HR_RT hr_status sim_falcon_write(device *dev, int64_t now_ns, const device_command *command);
const char *sim_falcon_last_error(const device *dev);

/* What an experimenter cannot see on a real device: the truth. Base frame. */
typedef struct sim_truth {
    vec3 position, velocity; /* m, m/s */
    vec3 force;              /* N, of the motors on the grip */
    double energy;           /* J, put into the grip by the motors: positive means put out */
    int64_t time_ns;
} sim_truth;

void sim_falcon_truth(const sim_falcon *f, sim_truth *out);

#endif
