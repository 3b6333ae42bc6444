/* What crosses from the servo to the outside and back, and what a recording holds. Fixed layout, no
 * padding, little-endian: a record goes to disk as it stands in memory. */
#ifndef SERVER_RECORDS_H
#define SERVER_RECORDS_H

#include <stdint.h>

#include "devices/device.h"
#include "geometry/vec3.h"

enum { HANDS_MAX = 4 }; /* devices that one server drives at once */

/* Why the applied force differs from the requested one. */
enum {
    REASON_NOT_FINITE = 1u << 0,   /* a NaN or infinity was stopped */
    REASON_CLAMP = 1u << 1,        /* longer than the limit */
    REASON_SLEW = 1u << 2,         /* rose faster than allowed */
    REASON_OVERSPEED = 1u << 3,    /* the handle moves too fast */
    REASON_WORKSPACE = 1u << 4,    /* outside the device's workspace */
    REASON_PASSIVITY = 1u << 5,    /* the energy observer added damping */
    REASON_STARTUP = 1u << 6,      /* not homed, still in contact, or ramping up */
    REASON_STALE_WORLD = 1u << 7,  /* the contact frame is too old: fading */
    REASON_STALE_DEVICE = 1u << 8, /* no new device report */
    REASON_ESTOP = 1u << 9,        /* latched until re-armed */
    REASON_FAULT = 1u << 10,       /* latched fault: overrun, watchdog, device lost */
    REASON_OVERRUN = 1u << 11,     /* missed periods: force reduced */
    REASON_JUMP = 1u << 12,        /* the device position jumped */
    REASON_FROZEN = 1u << 13,      /* encoders stand still */
    REASON_CLIENT = 1u << 14,      /* a client is late, gone or not believed: its force fades */
    REASON_DISARMED = 1u << 15,    /* forces are switched off by the operator */
    REASON_TELEPORT = 1u << 16,    /* a body jumped into the hand */
    REASON_DEGRADED = 1u << 17     /* no real-time scheduling: real motors stay off */
};

/* Where a hand is between power-up and force. Only SERVO_RUNNING gives the full force. */
typedef enum servo_state {
    SERVO_DISARMED = 0, /* switched off by the operator */
    SERVO_HOMING = 1,   /* the device does not know its place yet, or sends nothing */
    SERVO_WAITING = 2,  /* for a world, and for the tool to be clear of every body */
    SERVO_RAMPING = 3,  /* the force rises to its full value */
    SERVO_RUNNING = 4,
    SERVO_FADING = 5, /* an input is stale, too fast or outside: less than the full force */
    SERVO_ESTOP = 6,  /* latched until COMMAND_ARM */
    SERVO_FAULT = 7   /* latched until COMMAND_ARM */
} servo_state;

/* What COMMAND_SET can change while the server runs: server/parameters.h has names and ranges. */
typedef enum servo_parameter {
    PARAMETER_NONE = 0,
    PARAMETER_DEGRADED = 1,  /* 1: no real-time scheduling; set by the servo thread at its start */
    PARAMETER_WATCHDOG = 2,  /* 1: a watchdog tripped: latches a fault */
    PARAMETER_STIFFNESS = 3, /* N/m, upper bound on every material */
    PARAMETER_DAMPING = 4,   /* N s/m, added to every material's */
    PARAMETER_MAX_FORCE = 5, /* N, at most what the configuration allows */
    PARAMETER_FRICTION = 6,  /* factor on every material's friction */
    PARAMETER_MAX_SPEED = 7, /* m/s, at most what the configuration allows */
    PARAMETER_COUNT
} servo_parameter;

/* One servo tick of one hand. Inputs first, then results; replay recomputes the results from the
 * inputs, the frames and the commands, and compares everything up to `timing`. */
typedef struct tick_record {
    /* inputs */
    uint64_t tick;
    int64_t time_ns;    /* planned time of the tick */
    int64_t elapsed_ns; /* true time since the previous tick, capped: the dt of the algorithms */
    uint32_t hand;      /* index of the device */
    uint32_t missed_periods; /* skipped just before this tick */
    int32_t read_status;     /* hr_status of the device read */
    int32_t write_status;    /* hr_status of the previous tick's write */
    device_sample sample;
    /* results */
    vec3 tool;            /* m, world frame: the device position mapped into the scene */
    vec3 proxy;           /* m, world frame */
    vec3 wanted_force;    /* N, base frame, before the safety layer */
    vec3 force;           /* N, base frame, sent to the device */
    vec3 contact_normal;  /* unit, world frame; zero without contact */
    double gap;           /* m, signed distance of the tool to the nearest body; 1 with none near */
    double energy;        /* J, passivity observer: negative is energy put out */
    double fade;          /* 0..1 factor of the start-up, stale and overrun gates together */
    uint64_t contact_key; /* body, feature; survives from tick to tick */
    uint64_t frame_sequence;
    int64_t frame_age_ns;
    uint32_t reasons; /* REASON_* */
    uint32_t state;   /* servo_state */
    uint32_t contact_count;
    uint32_t tracker_flags;
    /* timing: recorded, not compared */
    int32_t lateness_ns;
    int32_t compute_ns;
    int32_t device_ns;
    int32_t reserved;
} tick_record;

/* A command from outside; applied at the start of a tick and recorded with it. */
typedef enum command_kind {
    COMMAND_NONE = 0,
    COMMAND_ESTOP = 1,
    COMMAND_ARM = 2,
    COMMAND_DISARM = 3,
    COMMAND_SET = 4,          /* parameter `key` becomes values[0] */
    COMMAND_MARK = 5,         /* text */
    COMMAND_CLIENT_FORCE = 6, /* values[0..2] N in the base frame until deadline_ns */
    COMMAND_LEASE = 7,        /* a client takes (values[0] = 1) or gives up the force lease */
    COMMAND_TRIAL = 8         /* text */
} command_kind;

typedef struct servo_command {
    uint64_t tick; /* at which it was applied; filled in by the servo */
    uint32_t kind; /* command_kind */
    uint32_t hand; /* index, or HANDS_MAX for all */
    uint32_t key;  /* servo_parameter, for COMMAND_SET */
    uint32_t client;
    int64_t deadline_ns;
    double values[4];
    char text[64]; /* NUL-terminated */
} servo_command;

_Static_assert(sizeof(device_sample) == 32 + 8 * (3 + 3 + 4 + 3 + 2 + DEVICE_JOINTS_MAX),
               "device_sample has no padding");
_Static_assert(sizeof(tick_record) == 40 + sizeof(device_sample) + 8 * (15 + 3) + 24 + 32,
               "tick_record has no padding");
_Static_assert(sizeof(servo_command) == 128, "servo_command has no padding");

#endif
