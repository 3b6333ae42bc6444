/* The servo: wakes once per period, reads every device, computes its force and sends it. Runs in
 * one thread of its own (or inline in lockstep); shares nothing but rings and single-writer
 * counters. After servo_init nothing here allocates, locks, prints, or makes a system call beyond
 * the one sleep and what the drivers do. */
#ifndef SERVER_SERVO_H
#define SERVER_SERVO_H

#include "config/config.h"
#include "devices/device.h"
#include "server/board.h"
#include "server/clock.h"
#include "server/door.h"
#include "server/hand.h"
#include "server/histogram.h"
#include "server/trace.h"

/* One device and what belongs to it. All pointers borrowed. */
typedef struct servo_hand {
    const device_driver *driver;
    device *dev;
    hand *hand;
    ring *frames; /* contact_frame, from the world */
    ring *tools;  /* tool_sample, to the world */

    /* the servo's own */
    device_sample sample;   /* the newest good one */
    hr_status write_status; /* of the last write */
    uint64_t write_sequence;
    uint64_t frame_arrived; /* tick + 1 of the newest frame */
    tick_record record;     /* of this tick */
    bool is_powered;        /* forces were allowed at the start: arming enables the motors again */
} servo_hand;

/* The servo stores, everybody reads, relaxed. */
typedef struct servo_counts {
    _Atomic uint64_t ticks; /* the heartbeat: must change while the servo lives */
    _Atomic uint64_t missed_periods;
    _Atomic uint64_t overruns; /* ticks that came after missed periods */
    _Atomic uint64_t frames_taken;
    _Atomic uint64_t read_failures;
    _Atomic uint64_t write_failures;
    _Atomic uint64_t arms;       /* COMMAND_ARM applied: the operator has looked */
    _Atomic uint32_t lost_hands; /* bit i: device i is away now */
} servo_counts;

typedef struct servo {
    board_host *board;      /* memory shared with clients; NULL: none */
    int64_t client_hold_ns; /* longest life of a client's force */
    servo_clock clock;
    int64_t period_ns;
    int64_t elapsed_max_ns;
    int64_t planned_ns;   /* of the tick to come */
    int64_t last_wake_ns; /* of the tick before */
    uint64_t tick;        /* of the tick to come */
    int64_t end_ns;       /* no tick is planned after this; 0: no end */
    uint64_t report_every;

    int hand_count;
    servo_hand hands[HANDS_MAX];
    int door_count;
    door *doors[DOORS_MAX];
    trace *recording; /* NULL: none */

    servo_counts counts;
    histogram lateness; /* wake-up after the planned time */
    histogram compute;  /* a whole tick without device exchange and sleep */
    histogram exchange; /* read and write of one device */

    _Atomic bool is_stopping; /* anybody stores: the loop ends at its next tick */
    _Atomic bool is_released; /* the servo stores: every device got its zero force */
    int release_ticks;        /* of the way to zero force so far */
} servo;

enum {
    SERVO_REPORT_HZ = 100,
    SERVO_COMMANDS_PER_TICK = 16, /* and door; more wait for the next tick */
    SERVO_ZERO_WRITES = 5         /* zero forces at the end; one may get lost on the wire */
};

/* What a tick knows of time. */
typedef struct servo_timing {
    int64_t planned_ns;      /* the tick's place on the grid, after skipping */
    int64_t wake_ns;         /* when it really runs */
    int64_t lateness_ns;     /* after the first place that was planned */
    int64_t elapsed_ns;      /* since the previous tick ran, between half a period and the cap */
    uint32_t missed_periods; /* skipped */
} servo_timing;

/* Periods, report rate; hands, doors and recording are added by the caller before the first tick.
 * rate_hz 500..4000. */
void servo_init(servo *s, servo_clock clock, int rate_hz);

/* Overrun policy: periods that have passed are skipped, not caught up with; the phase is kept.
 * Moves planned_ns to the tick after this one. */
HR_RT servo_timing servo_plan(servo *s, int64_t wake_ns);

/* Sleeps to the next tick and does it. */
HR_RT void servo_tick(servo *s);

/* Ticks until somebody stops it, until end_ns has passed (0: never) or until tick number
 * tick_limit (0: none). */
HR_RT void servo_loop(servo *s, uint64_t tick_limit);

/* The end: forces go to zero through the safety layer, tick by tick and recorded; then zero is sent
 * several times. One step of it; false when it is over. */
HR_RT bool servo_release_step(servo *s);

/* All of it. Idempotent. */
HR_RT void servo_release(servo *s);

/* Zero force to every device, at once, from any thread; for handlers of fatal signals. */
HR_RT void servo_emergency(servo *s);

HR_RT static inline void servo_stop(servo *s)
{
    atomic_store_explicit(&s->is_stopping, true, memory_order_release);
}

HR_RT static inline uint64_t servo_heartbeat(const servo *s)
{
    return atomic_load_explicit(&s->counts.ticks, memory_order_acquire);
}

#endif
