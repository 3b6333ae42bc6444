/* The servo's clock: live (CLOCK_MONOTONIC) or lockstep (virtual time). Nothing else in the server
 * reads a clock; every algorithm takes time and dt as input. */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry/base.h"

typedef struct servo_clock {
    bool is_live;
    int64_t origin_ns; /* live: the CLOCK_MONOTONIC time that is called 0 */
    int64_t now_ns;    /* lockstep: the virtual time */

    /* Lockstep only, for tests of lateness: wake-up i comes delays[i] late; after the last one
     * wake-ups are exact. Borrowed. */
    const int64_t *delays_ns;
    int delay_count;
    int delay_next;
} servo_clock;

/* Time starts at 0 now. A copy shares the origin: two threads on copies agree on the time. */
servo_clock servo_clock_live(void);

/* Virtual time that starts at start_ns and moves only when somebody waits. */
servo_clock servo_clock_lockstep(int64_t start_ns);

/* ns; never goes backwards. */
HR_RT int64_t servo_clock_now(servo_clock *c);

/* Live: sleeps to the absolute time; returns at once where it has passed. Lockstep: moves the time
 * forward. Returns the time at which the caller runs again. */
HR_RT int64_t servo_clock_wait(servo_clock *c, int64_t until_ns);

/* Lockstep: work that takes time. Live: nothing. */
HR_RT void servo_clock_spend(servo_clock *c, int64_t ns);

#endif
