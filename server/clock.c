#include "server/clock.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

servo_clock servo_clock_live(void)
{
    servo_clock c = {.is_live = true};
    c.origin_ns = servo_clock_now(&c);
    return c;
}

servo_clock servo_clock_lockstep(int64_t start_ns)
{
    return (servo_clock){.is_live = false, .now_ns = start_ns};
}

int64_t servo_clock_now(servo_clock *c)
{
    if (!c->is_live)
        return c->now_ns;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec - c->origin_ns;
}

int64_t servo_clock_wait(servo_clock *c, int64_t until_ns)
{
    if (c->is_live) {
        int64_t wake_ns = until_ns + c->origin_ns;
        struct timespec t = {wake_ns / NS_PER_S, wake_ns % NS_PER_S};
        /* A signal handler may interrupt the sleep; the time is absolute, so sleeping again costs
         * nothing. Bounded by the number of signals. */
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
            ;
        return servo_clock_now(c);
    }
    if (c->now_ns < until_ns)
        c->now_ns = until_ns;
    if (c->delay_next < c->delay_count)
        c->now_ns += c->delays_ns[c->delay_next++];
    return c->now_ns;
}

void servo_clock_spend(servo_clock *c, int64_t ns)
{
    if (!c->is_live)
        c->now_ns += ns;
}
