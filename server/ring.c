#include "server/ring.h"

#include <stdlib.h>

hr_status ring_init(ring *r, uint64_t capacity, size_t record_size)
{
    const uint64_t capacity_max = UINT64_C(1) << 32;
    if (record_size == 0 || record_size > SIZE_MAX / 4 || capacity > capacity_max)
        return HR_ERR_ARGUMENT;
    uint64_t rounded = 2;
    while (rounded < capacity)
        rounded *= 2;
    size_t stride = (record_size + RING_CACHE_LINE - 1) / RING_CACHE_LINE * RING_CACHE_LINE;
    if (stride > SIZE_MAX / rounded)
        return HR_ERR_ARGUMENT;
    unsigned char *slots = aligned_alloc(RING_CACHE_LINE, stride * rounded);
    if (!slots)
        return HR_ERR_MEMORY;
    /* touches every page, so that the loop never faults on one */
    memset(slots, 0, stride * rounded);

    r->slots = slots;
    r->record_size = record_size;
    r->stride = stride;
    r->capacity = rounded;
    atomic_init(&r->head, 0);
    atomic_init(&r->dropped, 0);
    r->tail_seen = 0;
    atomic_init(&r->tail, 0);
    atomic_init(&r->skipped, 0);
    r->head_seen = 0;
    return HR_OK;
}

void ring_destroy(ring *r)
{
    free(r->slots);
    r->slots = NULL;
}
