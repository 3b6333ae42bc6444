/* ring_roundtrip: one tick record to another thread and back, through two rings. Both sides spin,
 * so this is the cost of the rings and the caches, not of waking up. The best of
 * several batches: on a busy machine the two threads do not always have a core each. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/records.h"
#include "server/ring.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 40000, BATCHES = 8, SPINS = 2000 };

static ring there, back;
static _Atomic bool is_over;

/* Spins; now and then lets others run, in case both threads share a core. */
static const void *wait_for(ring *r)
{
    for (int i = 1;; i++) {
        const void *slot = ring_peek(r);
        if (slot)
            return slot;
        if (i % SPINS == 0)
            sched_yield();
        if (atomic_load_explicit(&is_over, memory_order_relaxed))
            return NULL;
    }
}

static void *echo(void *unused)
{
    const void *slot;
    while ((slot = wait_for(&there))) {
        ring_push(&back, slot);
        ring_release(&there);
    }
    return unused;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_batch(double *ns, tick_record *record)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = bench_now_ns();
        ring_push(&there, record);
        const tick_record *answer = wait_for(&back);
        ns[i] = (double)(bench_now_ns() - start);
        record->tick = answer->tick + 1;
        ring_release(&back);
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
}

int main(void)
{
    static double batches[BATCHES][ROUNDS];
    pthread_t thread;
    tick_record record = {0};
    if (ring_init(&there, 64, sizeof record) != HR_OK ||
        ring_init(&back, 64, sizeof record) != HR_OK ||
        pthread_create(&thread, NULL, echo, NULL) != 0)
        return 1;
    int best = 0;
    for (int i = 0; i < BATCHES; i++) {
        run_batch(batches[i], &record);
        if (batches[i][ROUNDS / 2] < batches[best][ROUNDS / 2])
            best = i;
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    if (record.tick != ROUNDS * BATCHES) {
        fprintf(stderr, "a record was lost\n");
        return 1;
    }
    bench_report("ring_roundtrip", batches[best], ROUNDS);
    bench_extra("record_bytes", (double)sizeof record);
    bench_extra("batches", BATCHES);
    return 0;
}
