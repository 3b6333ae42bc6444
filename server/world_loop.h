/* The world's loop: takes the newest tool samples, steps the world, sends each hand its contact
 * frame. A thread of normal priority, or called inline in lockstep. */
#ifndef SERVER_WORLD_LOOP_H
#define SERVER_WORLD_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "server/clock.h"
#include "server/histogram.h"
#include "server/records.h"
#include "server/ring.h"
#include "server/world.h"

enum { WORLD_STAGES = 5 }; /* those of mechanics_stage */

typedef struct world_loop {
    servo_clock clock;
    world *world; /* borrowed */
    int64_t period_ns;
    int64_t time_ns;    /* that the world has reached */
    int64_t planned_ns; /* of the step to come */
    int hand_count;
    ring *frames[HANDS_MAX]; /* contact_frame, to the servo; borrowed */
    ring *tools[HANDS_MAX];  /* tool_sample, from the servo; borrowed */
    tool_sample newest[HANDS_MAX];

    /* the loop stores, everybody reads */
    _Atomic uint64_t steps;
    _Atomic uint64_t missed_steps;  /* periods that passed without a step */
    histogram compute;              /* one step with its frames */
    histogram framing;              /* the frames alone; live only */
    histogram stages[WORLD_STAGES]; /* of the bodies that move together; live only */
    struct {                        /* copies of mechanics_counts, after each step */
        _Atomic uint64_t steps, rounds, rows_cut, solves_cut, proofs_cut, stopped_short, contacts,
            awake;
    } mechanics;

    _Atomic bool is_stopping; /* anybody stores */
} world_loop;

/* Rings are filled in by the caller afterwards. The first step reaches the clock's time now plus
 * one period. */
void world_loop_init(world_loop *l, world *w, servo_clock clock, int rate_hz, int hand_count);

/* Moves the world up to until_ns (in steps of at most one period, unless it is far behind) and
 * sends the frames. */
void world_loop_step(world_loop *l, int64_t until_ns);

/* Steps every period until stopped; missed periods are skipped, the phase is kept. */
void world_loop_run(world_loop *l);

static inline void world_loop_stop(world_loop *l)
{
    atomic_store_explicit(&l->is_stopping, true, memory_order_release);
}

#endif
