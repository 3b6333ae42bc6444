/* An emulated Falcon: FTDI chip, boot loader, running program, motors and encoders, held by the
 * simulated hand. Knows no USB library; three transports carry it: in-process
 * (model_transport.h), a usbfs shim under the real libusb (usbfs_shim.c), and a process of its own
 * under umockdev (falcon_process.c). Time is given with every call. */
#ifndef TESTS_EMULATED_FALCON_MODEL_H
#define TESTS_EMULATED_FALCON_MODEL_H

#include "devices/falcon/protocol.h"
#include "devices/sim_hand.h"

/* What can go wrong. Probabilities are per event; {0} is a healthy device. */
typedef struct model_faults {
    double control_fails;        /* a request is refused */
    double greeting_lost;        /* the loader does not answer a greeting */
    double echo_wrong;           /* per byte of the upload */
    double echo_lost;            /* per byte of the upload */
    double report_lost;          /* per exchange */
    double report_runt;          /* a report lacks two bytes */
    double report_garbage;       /* some bytes come before it */
    double report_late;          /* it comes 4 ms late */
    double in_stalls;            /* per IN transfer: the endpoint halts until the host clears it */
    double hang_at, hang_for;    /* s: the processor answers nothing for a while */
    bool has_stale_bytes;        /* old reports are waiting when the device is opened */
    bool greets_once;            /* one answer per reset */
    bool greets_with_zero;       /* a leading zero byte */
    bool is_unpowered;           /* no wall supply: only the FTDI chip lives */
    bool is_frozen;              /* encoders stand still */
    bool loses_firmware;         /* when unplugged */
    int refused_opens;           /* the first opens fail: another program has it */
    double unplug_at, replug_at; /* s; 0: never */
    double unplug_every;         /* s; with unplug_for: again and again */
    double unplug_for;
    double motor_gain; /* units per N m; 0: 10 000 */
    double payload_kg; /* hangs on the grip from payload_at on */
    double payload_at; /* s */
} model_faults;

typedef enum model_state {
    MODEL_RESET,   /* DTR pulse seen or just powered: waits for a greeting */
    MODEL_GREETED, /* waits for the autobaud byte */
    MODEL_LOADING, /* echoes and stores the image */
    MODEL_RUNNING  /* answers commands */
} model_state;

typedef struct falcon_model {
    model_faults faults;
    uint64_t random;
    sim_hand hand;

    /* FTDI */
    int latency_ms, divisor;
    bool has_dtr, has_event_character, is_halted;
    uint8_t fifo[4096];
    int fifo_count;
    struct {
        uint8_t bytes[80];
        int count;
        int64_t ready_ns;
    } answers[64]; /* on their way from the processor */
    int answer_count;

    /* processor */
    model_state state;
    uint8_t image[65536];
    int image_size;
    bool has_greeted;
    uint8_t command[FALCON_PACKET];
    int command_count;
    int16_t motors[3];
    uint8_t flags;

    /* mechanism */
    int64_t start_ns, time_ns;
    bool is_started;
    vec3 position, velocity; /* m, device frame */
    double angles[3];
    double power_up_angles[3];
    uint8_t homed;
    int16_t frozen_counts[3];
    bool has_frozen;

    /* for the tests to look at */
    uint64_t commands, uploads, pushes_before_homing, unplugs, stalls;
    int motor_largest;
    bool was_plugged;
} falcon_model;

/* `script` is the hand's (sim_hand.h); NULL: pull out, push in, then hold and move about. */
void model_init(falcon_model *m, const model_faults *faults, const char *script, uint64_t seed);

bool model_is_plugged(falcon_model *m, int64_t now_ns);

/* Returns 0 or HR_ERR_*. */
int model_open(falcon_model *m, int64_t now_ns);
int model_control(falcon_model *m, int64_t now_ns, int request, int value);
int model_out(falcon_model *m, int64_t now_ns, const uint8_t *bytes, int count);

/* An IN transfer that was submitted at submit_ns: number of bytes (two status bytes first), or
 * MODEL_NOT_DUE, or MODEL_STALLED while the endpoint is halted. */
enum { MODEL_NOT_DUE = -1, MODEL_STALLED = -2 };
void model_clear_halt(falcon_model *m);
int model_in(falcon_model *m, int64_t now_ns, int64_t submit_ns, uint8_t *bytes, int capacity);

/* A small valid boot table of about `size` bytes, made up: no Novint code. */
int model_make_firmware(uint8_t *out, int size, uint64_t seed);

#endif
