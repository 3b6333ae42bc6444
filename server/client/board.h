/* The board: memory that the server and its clients share. The servo writes the state of each hand
 * after every tick and reads the newest command of the client that holds the lease; nobody waits
 * for anybody. A file beside the control socket (its path plus ".board"), readable and writable by
 * its owner only. Fixed layout, 8-byte words, little-endian.
 *
 * Both directions are sequence locks: the writer makes the number odd, stores the words, makes it
 * even; a reader that sees an odd or changed number has read nothing. */
#ifndef SERVER_CLIENT_BOARD_H
#define SERVER_CLIENT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

enum { BOARD_HANDS = 4, BOARD_VERSION = 2 };
#define BOARD_MAGIC 0x3144524250414848ull /* "HHAPBRD1" */

/* What the servo shows; every member is 8 bytes. */
typedef struct board_state {
    uint64_t tick;
    int64_t time_ns;                                /* CLOCK_MONOTONIC, planned time of the tick */
    double position[3], velocity[3];                /* m, m/s, base frame of the device */
    double rotation[4], angular_velocity[3];        /* base_from_handle as w x y z; rad/s */
    double gripper_angle, gripper_speed;            /* rad, rad/s */
    double proxy[3], tool[3];                       /* m, scene */
    double force[3];                                /* N, base frame, sent to the device */
    uint64_t buttons, valid, flags, reasons, state; /* DEVICE_HAS_*, DEVICE_IS_*, REASON_* */
} board_state;

typedef struct board_command {
    uint64_t client;     /* number that the lease's answer gave */
    int64_t deadline_ns; /* CLOCK_MONOTONIC; the server never holds a force longer */
    double force[3];     /* N, base frame of the device */
} board_command;

enum {
    BOARD_STATE_WORDS = sizeof(board_state) / 8,
    BOARD_COMMAND_WORDS = sizeof(board_command) / 8
};

typedef struct board_slot {
    uint64_t sequence;
    uint64_t words[BOARD_STATE_WORDS];
} board_slot;

typedef struct board_order {
    uint64_t sequence;
    uint64_t words[BOARD_COMMAND_WORDS];
} board_order;

/* What does not change while the server runs. */
typedef struct board_device {
    char name[32], model[32], manufacturer[32], serial[32];
    double max_force, max_stiffness, max_damping, workspace_radius, position_resolution;
    uint64_t button_count, senses_rotation, senses_gripper, actuates_position, actuates_rotation;
    uint64_t actuates_gripper, has_motors, is_present;
} board_device;

typedef struct board {
    uint64_t magic, version, size;
    int64_t period_ns;
    uint64_t hand_count;
    uint64_t is_open;              /* 0 once the server has ended */
    uint64_t holders[BOARD_HANDS]; /* client with the lease; 0: nobody. The server writes */
    board_device devices[BOARD_HANDS];
    board_slot states[BOARD_HANDS];  /* the server writes */
    board_order orders[BOARD_HANDS]; /* the client with the lease writes */
} board;

#endif
