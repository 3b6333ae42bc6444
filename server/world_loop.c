#include "server/world_loop.h"

#include <string.h>
#include <time.h>

#include "server/mechanics.h"

_Static_assert((int)WORLD_STAGES == (int)MECHANICS_STAGES, "one histogram for each stage");

enum {
    NS_PER_S = 1000000000,
    SUBSTEPS_MAX = 16 /* catching up after a stall; past it the world makes one long step */
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void world_loop_init(world_loop *l, world *w, servo_clock clock, int rate_hz, int hand_count)
{
    memset(l, 0, sizeof *l);
    l->clock = clock;
    l->world = w;
    l->period_ns = NS_PER_S / rate_hz;
    l->hand_count = hand_count;
    l->time_ns = servo_clock_now(&l->clock);
    l->planned_ns = l->time_ns + l->period_ns;
    if (clock.is_live && world_mechanics(w))
        mechanics_watch(world_mechanics(w), monotonic_ns);
}

static void send_frames(world_loop *l)
{
    int64_t start = l->clock.is_live ? monotonic_ns() : 0;
    for (int i = 0; i < l->hand_count; i++) {
        contact_frame *frame = ring_reserve(l->frames[i]);
        if (!frame)
            continue; /* counted; the servo stands still */
        world_frame(l->world, i, frame);
        ring_commit(l->frames[i]);
    }
    if (l->clock.is_live)
        histogram_add(&l->framing, monotonic_ns() - start);
}

static void set(_Atomic uint64_t *to, uint64_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}

static void show_mechanics(world_loop *l)
{
    const mechanics *m = world_mechanics(l->world);
    if (!m)
        return;
    const mechanics_counts *c = mechanics_counted(m);
    set(&l->mechanics.steps, c->steps);
    set(&l->mechanics.rounds, c->rounds);
    set(&l->mechanics.rows_cut, c->rows_cut);
    set(&l->mechanics.solves_cut, c->solves_cut);
    set(&l->mechanics.proofs_cut, c->proofs_cut);
    set(&l->mechanics.stopped_short, c->stopped_short);
    set(&l->mechanics.contacts, c->contacts);
    set(&l->mechanics.awake, c->awake);
    for (int i = 0; l->clock.is_live && i < WORLD_STAGES; i++)
        histogram_add(&l->stages[i], mechanics_stage_ns(m, (enum mechanics_stage)i));
}

void world_loop_step(world_loop *l, int64_t until_ns)
{
    for (int i = 0; i < l->hand_count; i++)
        ring_take_latest(l->tools[i], &l->newest[i]);
    for (int i = 0; i < SUBSTEPS_MAX && l->time_ns < until_ns; i++) {
        int64_t dt_ns = until_ns - l->time_ns;
        if (dt_ns > l->period_ns && i < SUBSTEPS_MAX - 1)
            dt_ns = l->period_ns;
        world_step(l->world, l->newest, l->hand_count, l->time_ns, (double)dt_ns / NS_PER_S);
        l->time_ns += dt_ns;
    }
    send_frames(l);
    show_mechanics(l);
    uint64_t steps = atomic_load_explicit(&l->steps, memory_order_relaxed);
    atomic_store_explicit(&l->steps, steps + 1, memory_order_release);
}

void world_loop_run(world_loop *l)
{
    while (!atomic_load_explicit(&l->is_stopping, memory_order_acquire)) {
        int64_t wake = servo_clock_wait(&l->clock, l->planned_ns);
        int64_t missed = (wake - l->planned_ns) / l->period_ns;
        if (missed > 0) {
            uint64_t before = atomic_load_explicit(&l->missed_steps, memory_order_relaxed);
            atomic_store_explicit(&l->missed_steps, before + (uint64_t)missed,
                                  memory_order_relaxed);
            l->planned_ns += missed * l->period_ns;
        }
        world_loop_step(l, l->planned_ns);
        l->planned_ns += l->period_ns;
        histogram_add(&l->compute, servo_clock_now(&l->clock) - wake);
    }
}
