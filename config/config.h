/* The server's settings: text to one plain struct. Every value has a default, a unit in its key and
 * a range; nothing is powered before the whole file is valid. SI inside. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry/error.h"
#include "geometry/vec3.h"

enum { CONFIG_PATH_MAX = 512, CONFIG_DEVICES_MAX = 4, CONFIG_SETTINGS_MAX = 64 };

typedef struct config_servo {
    int rate_hz;            /* 500..4000 */
    int priority;           /* SCHED_FIFO 1..99 */
    int cpu;                /* -1: the highest isolated CPU, or none */
    bool allow_degraded;    /* let real motors run without real-time scheduling */
    double overrun_reduce;  /* consecutive missed periods after which force is reduced */
    double overrun_fault_s; /* time without a good cycle after which a fault latches */
} config_servo;

typedef struct config_world {
    int rate_hz;            /* 10..1000 */
    double stale_fade_s;    /* age of a frame at which the force begins to fade */
    double stale_zero_s;    /* age at which it is zero */
    double near_distance_m; /* bodies nearer than this to the tool go into the frame */
} config_world;

typedef struct config_coupling {
    double stiffness_n_per_m;  /* upper bound on what any material may ask for */
    double damping_n_s_per_m;  /* between tool and proxy */
    double tool_radius_m;      /* 0: a point */
    double witness_gain_per_s; /* K of the control law; 0: deadbeat */
    vec3 scene_from_base_m;    /* where the centre of the device's workspace is in the scene */
    double scale;              /* scene metres per device metre */
    bool moves_bodies;         /* the servo moves pushed bodies itself between frames */
} config_coupling;

typedef struct config_hand {
    int grab_button; /* while this button of the device is held it grabs; -1: none */
} config_hand;

typedef struct config_safety {
    double max_force_n;
    double max_slew_n_per_s;
    double max_speed_m_per_s;
    double workspace_margin_m;
    double startup_ramp_s;
    double startup_clear_s; /* how long out of contact before the ramp starts */
    double passivity_damping_max_n_s_per_m;
    double device_stale_fade_s;
    double device_stale_zero_s;
    double client_hold_s; /* how long a client's force lives without renewal */
    double client_fade_s;
    double jump_speed_m_per_s; /* a step of the device position faster than this is a jump */
    int estop_button;          /* pressing this button of the device stops it; -1: none */
} config_safety;

typedef struct config_setting {
    char key[64];
    char value[CONFIG_PATH_MAX];
    char place[CONFIG_PATH_MAX + 16]; /* "file:line" */
} config_setting;

typedef struct config_device {
    char name[32];   /* the hand, e.g. "right" */
    char driver[32]; /* "sim", "falcon", "replay", ... or the path of a plug-in */
    char address[CONFIG_PATH_MAX];
    vec3 scene_offset_m; /* added to config_coupling.scene_from_base_m for this hand */
    int setting_count;
    config_setting settings[CONFIG_SETTINGS_MAX]; /* for the driver: hand, script, faults, ... */
} config_device;

typedef struct config_trace {
    char record[CONFIG_PATH_MAX]; /* empty: no recording */
    double chunk_s;
} config_trace;

typedef struct config_control {
    char
        socket[CONFIG_PATH_MAX]; /* empty: $XDG_RUNTIME_DIR/hapticd.sock or /tmp/hapticd-UID.sock */
    bool enabled;
} config_control;

typedef struct config {
    char file[CONFIG_PATH_MAX]; /* where it came from; empty for the built-in default */
    config_servo servo;
    config_world world;
    config_coupling coupling;
    config_hand hand;
    config_safety safety;
    int device_count;
    config_device devices[CONFIG_DEVICES_MAX];
    config_trace trace;
    config_control control;
    char scene[CONFIG_PATH_MAX]; /* a shipped scene's name or a path */
} config;

/* The built-in default: one simulated Falcon held by a simulated hand, the sphere scene. */
void config_default(config *out);

/* Reads a file (or text with a name for messages). On failure *out is untouched. */
HR_MUST_USE hr_status config_load(const char *path, config *out, hr_error *error);
HR_MUST_USE hr_status config_parse(const char *text, const char *name, config *out,
                                   hr_error *error);

/* Writes the effective values in the same syntax; reading it again gives the same struct. Returns
 * the length needed, as snprintf does. */
int config_print(const config *c, char *out, int size);

#endif
