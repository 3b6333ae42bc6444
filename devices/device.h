/* A haptic device: one function table per driver, one read and one write per servo tick.
 * Axes are CHAI3D's: +x toward the operator, +y to the operator's right, +z up. SI units.
 * Time always comes from the caller, so that a simulated device runs on virtual time as well. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H

#include <stdint.h>

#include "geometry/error.h"
#include "geometry/vec3.h"

enum { DEVICE_ABI_VERSION = 1, DEVICE_JOINTS_MAX = 8 };

/* What a sample holds. A field whose bit is clear keeps its last good value, never zeros. */
enum {
    DEVICE_HAS_POSITION = 1u << 0,
    DEVICE_HAS_VELOCITY = 1u << 1,
    DEVICE_HAS_ROTATION = 1u << 2,
    DEVICE_HAS_GRIPPER = 1u << 3,
    DEVICE_HAS_BUTTONS = 1u << 4,
    DEVICE_HAS_JOINTS = 1u << 5
};

/* What the driver knows about the device at the sample's time. */
enum {
    DEVICE_IS_HOMED = 1u << 0,
    DEVICE_IS_ENABLED = 1u << 1,   /* motors may push */
    DEVICE_IS_SATURATED = 1u << 2, /* the last force was shortened to what the motors can do */
    DEVICE_IS_FROZEN = 1u << 3,    /* encoders stand still though they should not */
    DEVICE_IS_LATE = 1u << 4,   /* no new report since the last read; the sample is the old one */
    DEVICE_HAS_JUMPED = 1u << 5 /* the position made a step that no hand can make (gap, homing) */
};

/* One atomic snapshot. No padding: recordings store it as it is. */
typedef struct device_sample {
    int64_t time_ns;   /* when the device was read, on the servo's clock */
    uint64_t sequence; /* rises with every new report; unchanged means an old sample */
    uint32_t valid;    /* DEVICE_HAS_* */
    uint32_t flags;    /* DEVICE_IS_* */
    uint32_t buttons;  /* bit i set: switch i pressed */
    uint32_t joint_count;
    vec3 position;                    /* m, base frame */
    vec3 velocity;                    /* m/s, base frame */
    quat rotation;                    /* base_from_handle */
    vec3 angular_velocity;            /* rad/s, base frame */
    double gripper_angle;             /* rad, 0 is closed */
    double gripper_speed;             /* rad/s */
    double joints[DEVICE_JOINTS_MAX]; /* rad, or encoder counts where the driver says so */
} device_sample;

/* What the servo wants. */
typedef struct device_command {
    uint64_t sequence;
    int64_t deadline_ns; /* the driver must not hold the force beyond this time; 0: its own limit */
    vec3 force;          /* N, base frame */
    vec3 torque;         /* N m, base frame */
    double gripper_force; /* N */
    uint32_t leds;        /* bit 0 red, 1 green, 2 blue */
    uint32_t reserved;
} device_command;

/* One to one with CHAI3D's description record, and what it lacks. */
typedef struct device_description {
    char model[32];
    char manufacturer[32];
    char serial[32];
    double max_force;             /* N, continuous */
    double peak_force;            /* N */
    double max_torque;            /* N m */
    double max_gripper_force;     /* N */
    double max_stiffness;         /* N/m at 1 kHz */
    double max_angular_stiffness; /* N m/rad */
    double max_damping;           /* N s/m */
    double workspace_radius;      /* m, largest sphere inside the workspace */
    vec3 workspace_centre;        /* m, base frame */
    double position_resolution;   /* m */
    double latency;               /* s, from command to motor */
    double watchdog;              /* s after which the device goes limp by itself; 0 is unknown */
    int native_rate_hz;
    int button_count;
    bool senses_position, senses_rotation, senses_gripper;
    bool actuates_position, actuates_rotation, actuates_gripper;
    bool fits_left_hand, fits_right_hand;
    bool has_motors; /* real motors: refused in degraded mode unless the operator opts in */
} device_description;

/* "key=value" pairs from the configuration, for drivers and plug-ins alike. Unknown keys are
 * errors. */
typedef struct device_setting {
    const char *key;
    const char *value;
    const char *place; /* "file:line" for messages */
} device_setting;

typedef struct device_settings {
    const device_setting *items;
    int count;
} device_settings;

typedef struct device device; /* each driver's own */

typedef struct device_driver {
    uint32_t size;    /* sizeof(device_driver) */
    uint32_t version; /* DEVICE_ABI_VERSION */
    const char *name; /* as written in the configuration, e.g. "sim" */
    const char *help; /* one line: what the address means, which settings there are */

    /* Devices of this kind that are present now; no side effects. */
    int (*count)(void);

    /* May block and allocate. On success *out belongs to the caller until close. Forces are off. */
    hr_status (*open)(const char *address, const device_settings *settings, device **out,
                      hr_error *error);
    void (*close)(device *dev); /* zero force first; accepts NULL */

    /* Valid after open. */
    void (*describe)(const device *dev, device_description *out);

    /* Starts (again, with force) the homing procedure; progress runs from 0 to 1 while the servo
     * reads and writes. May not block. */
    hr_status (*calibrate)(device *dev, bool force);
    double (*calibration_progress)(const device *dev);

    /* Explicit; never implied by the first write. Before the servo runs, or from its thread; HR_RT.
     */
    hr_status (*enable)(device *dev, bool on);

    /* Servo thread only. Both are HR_RT, make no system call beyond their own non-blocking I/O
     * and return within 200 us. now_ns never goes backwards. A failed read leaves *out as it was;
     * a read without a new report gives the old sample with DEVICE_IS_LATE. A write that is refused
     * (HR_ERR_DISABLED for a force while not enabled or homed, HR_ERR_NOT_FINITE, HR_ERR_LOST)
     * makes the force zero. After HR_ERR_LOST the device may come back: reads succeed again, with
     * DEVICE_HAS_JUMPED and without DEVICE_IS_ENABLED until somebody enables it. */
    hr_status (*read)(device *dev, int64_t now_ns, device_sample *out);
    hr_status (*write)(device *dev, int64_t now_ns, const device_command *command);

    /* Text for the last failure, or what the operator has to do now (homing); empty where all is
     * well. Owned by the device. Drivers of real motors: any thread but the servo's. */
    const char *(*last_error)(const device *dev);
} device_driver;

/* Symbol that a plug-in exports: const device_driver *hapticd_device_driver(void). */
#define DEVICE_PLUGIN_SYMBOL "hapticd_device_driver"

#endif
