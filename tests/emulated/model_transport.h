/* Level 1: the emulated Falcon behind our own transport interface, in-process, on a virtual clock
 * that only `wait` moves, or live on CLOCK_MONOTONIC. */
#ifndef TESTS_EMULATED_MODEL_TRANSPORT_H
#define TESTS_EMULATED_MODEL_TRANSPORT_H

#include "devices/falcon/transport.h"
#include "tests/emulated/falcon_model.h"

typedef struct model_transport {
    falcon_transport base;
    falcon_model *model;
    int64_t now_ns;
    int64_t submitted_ns[2]; /* two IN transfers are always queued */
    uint8_t stale[128];      /* what a transfer had already fetched when the chip was purged */
    int stale_count;
    bool is_open;
    bool is_live; /* and made by model_transport_live */
} model_transport;

void model_transport_init(model_transport *t, falcon_model *model, int64_t now_ns);

/* A live one with a model of its own; destroy frees both. NULL when out of memory. */
falcon_transport *model_transport_live(const model_faults *faults, const char *script,
                                       uint64_t seed);

#endif
