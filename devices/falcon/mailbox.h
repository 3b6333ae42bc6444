/* The newest message from one thread to another: three slots, no waiting on either side. The writer
 * fills its slot and swaps it with the middle one; the reader swaps its slot with the middle one
 * when that is new. Slots are the caller's array of three. */
#ifndef DEVICES_FALCON_MAILBOX_H
#define DEVICES_FALCON_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "geometry/base.h"

enum { MAILBOX_FRESH = 4 };

typedef struct mailbox {
    atomic_uint middle; /* slot number, plus MAILBOX_FRESH where the reader has not seen it */
    unsigned back;      /* writer's slot */
    unsigned front;     /* reader's slot */
} mailbox;

static inline void mailbox_init(mailbox *m)
{
    atomic_init(&m->middle, 1);
    m->back = 0;
    m->front = 2;
}

/* Writer: fill slots[m->back], then publish. */
HR_RT static inline void mailbox_publish(mailbox *m)
{
    m->back =
        atomic_exchange_explicit(&m->middle, m->back | MAILBOX_FRESH, memory_order_acq_rel) & 3u;
}

/* Reader: true when slots[m->front] is now a message it has not seen. */
HR_RT static inline bool mailbox_take(mailbox *m)
{
    if (!(atomic_load_explicit(&m->middle, memory_order_relaxed) & MAILBOX_FRESH))
        return false;
    m->front = atomic_exchange_explicit(&m->middle, m->front, memory_order_acq_rel) & 3u;
    return true;
}

#endif
