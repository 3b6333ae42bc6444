/* A single-producer single-consumer ring of fixed-size records: the only way in which two threads
 * of the server share anything. Neither side ever waits. The producer fills a slot in place and
 * commits it; a full ring refuses the record and counts the drop. The consumer reads in place, one
 * by one or only the newest, and counts what it passed over. */
#ifndef SERVER_RING_H
#define SERVER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "geometry/base.h"

enum { RING_CACHE_LINE = 64 };

/* Positions count records since the start and never wrap in practice (2^64). Each side keeps its
 * own line: what it stores, and its last look at the other side's position. */
typedef struct ring {
    /* set once, read by both */
    alignas(RING_CACHE_LINE) unsigned char *slots;
    size_t record_size; /* bytes */
    size_t stride;      /* bytes from slot to slot: record_size rounded up to a cache line */
    uint64_t capacity;  /* a power of two */

    alignas(RING_CACHE_LINE) _Atomic uint64_t head; /* producer stores: records committed */
    _Atomic uint64_t dropped;                       /* producer stores: refused, ring full */
    uint64_t tail_seen;                             /* producer only */

    alignas(RING_CACHE_LINE) _Atomic uint64_t tail; /* consumer stores: records released */
    _Atomic uint64_t skipped; /* consumer stores: passed over for a newer one */
    uint64_t head_seen;       /* consumer only */
} ring;

/* Allocates and touches the slots (all bytes zero). capacity is rounded up to a power of two, at
 * least 2. */
HR_MUST_USE hr_status ring_init(ring *r, uint64_t capacity, size_t record_size);
void ring_destroy(ring *r); /* accepts a ring of zeros */

/* --- producer ------------------------------------------------------------------------------- */

/* The next slot to fill, or NULL where the ring is full (counted). The slot holds what some older
 * record left there. Calling again without a commit gives the same slot. */
HR_RT static inline void *ring_reserve(ring *r)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (head - r->tail_seen >= r->capacity) {
        /* acquire: the consumer's reads of the slot happened before it released it */
        r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (head - r->tail_seen >= r->capacity) {
            uint64_t dropped = atomic_load_explicit(&r->dropped, memory_order_relaxed);
            atomic_store_explicit(&r->dropped, dropped + 1, memory_order_relaxed);
            return NULL;
        }
    }
    return r->slots + (head & (r->capacity - 1)) * r->stride;
}

/* Hands the reserved slot to the consumer. */
HR_RT static inline void ring_commit(ring *r)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Copies one record in; false where the ring is full (counted). */
HR_RT static inline bool ring_push(ring *r, const void *record)
{
    void *slot = ring_reserve(r);
    if (!slot)
        return false;
    memcpy(slot, record, r->record_size);
    ring_commit(r);
    return true;
}

/* --- consumer ------------------------------------------------------------------------------- */

/* The oldest record, valid until ring_release; NULL where the ring is empty. */
HR_RT static inline const void *ring_peek(ring *r)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (tail == r->head_seen) {
        r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
        if (tail == r->head_seen)
            return NULL;
    }
    return r->slots + (tail & (r->capacity - 1)) * r->stride;
}

/* Gives the slot of the last peek back to the producer. Only after a peek that found something. */
HR_RT static inline void ring_release(ring *r)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}

/* The newest record, valid until ring_release; the older ones are passed over and counted. NULL
 * where the ring is empty. */
HR_RT static inline const void *ring_peek_latest(ring *r)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
    if (tail == r->head_seen)
        return NULL;
    uint64_t newest = r->head_seen - 1;
    if (newest != tail) {
        uint64_t skipped = atomic_load_explicit(&r->skipped, memory_order_relaxed);
        atomic_store_explicit(&r->skipped, skipped + (newest - tail), memory_order_relaxed);
        atomic_store_explicit(&r->tail, newest, memory_order_release);
    }
    return r->slots + (newest & (r->capacity - 1)) * r->stride;
}

/* Copies the oldest record out; false where the ring is empty. */
HR_RT static inline bool ring_pop(ring *r, void *out)
{
    const void *slot = ring_peek(r);
    if (!slot)
        return false;
    memcpy(out, slot, r->record_size);
    ring_release(r);
    return true;
}

/* Copies the newest record out and empties the ring up to it; false where the ring is empty. */
HR_RT static inline bool ring_take_latest(ring *r, void *out)
{
    const void *slot = ring_peek_latest(r);
    if (!slot)
        return false;
    memcpy(out, slot, r->record_size);
    ring_release(r);
    return true;
}

/* --- either side, or anybody who watches ------------------------------------------------------ */

HR_RT static inline uint64_t ring_dropped(const ring *r)
{
    return atomic_load_explicit(&r->dropped, memory_order_relaxed);
}

HR_RT static inline uint64_t ring_skipped(const ring *r)
{
    return atomic_load_explicit(&r->skipped, memory_order_relaxed);
}

/* Records waiting; a snapshot. */
HR_RT static inline uint64_t ring_waiting(const ring *r)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    return head > tail ? head - tail : 0;
}

#endif
