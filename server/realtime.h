/* What the server asks of the operating system so that the servo wakes on time, and what to say
 * where it is refused. Decided by trying, not by looking at the kernel's name. */
#ifndef SERVER_REALTIME_H
#define SERVER_REALTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "geometry/error.h"

/* What was granted. Degraded: no SCHED_FIFO, or memory that can be paged out. */
typedef struct realtime_state {
    bool has_fifo;
    int priority;   /* of SCHED_FIFO */
    int fifo_error; /* errno of the refusal; 0: granted or not tried */
    bool has_locked_memory;
    int lock_error;
    int cpu; /* that the servo is bound to; -1: none */
    bool cpu_is_isolated;
    int latency_fd; /* /dev/cpu_dma_latency held at 0; -1: not permitted */
} realtime_state;

static inline bool realtime_is_degraded(const realtime_state *s)
{
    return !s->has_fifo || !s->has_locked_memory;
}

/* Locks all pages, now and in future, and keeps malloc from giving memory back. */
void realtime_lock_memory(realtime_state *s);

/* wanted -1: the highest isolated CPU, or none. Fills cpu and cpu_is_isolated. */
void realtime_choose_cpu(realtime_state *s, int wanted);

/* Asks the CPUs to stay out of deep sleep until realtime_release. */
void realtime_hold_latency(realtime_state *s);
void realtime_release(realtime_state *s);

/* Starts a thread with SCHED_FIFO at the priority, bound to s->cpu; where that is refused, with
 * normal scheduling, and fifo_error says why. A small stack: all of it gets locked. */
HR_MUST_USE hr_status realtime_start(realtime_state *s, int priority, void *(*run)(void *),
                                     void *argument, pthread_t *out);

/* A thread of normal scheduling and small stack. */
HR_MUST_USE hr_status realtime_start_normal(void *(*run)(void *), void *argument, pthread_t *out);

/* Touches this thread's stack, so that no page of it is met for the first time in the loop. */
void realtime_touch_stack(void);

/* "SCHED_FIFO 80, memory locked, cpu 3", or "normal scheduling (Operation not permitted), ...". */
void realtime_describe(const realtime_state *s, char *out, size_t size);

/* Several lines for a person: what was refused and why, the capabilities and limits as they are,
 * and the one command that mends it. Empty where nothing was refused. `program` is the path of the
 * running program. */
void realtime_explain(const realtime_state *s, const char *program, char *out, size_t size);

/* Highest CPU of a list such as "2-3,7"; -1 for an empty or unreadable one. */
int realtime_highest_cpu(const char *list);

/* Bits of this process: CAP_SYS_NICE, CAP_IPC_LOCK in effect. */
bool realtime_has_capability(int number);

#endif
