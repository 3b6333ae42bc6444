/* A run of real hands in a real world on an imposed path, recorded: what the tests of replay and
 * rescue work on. No device driver, no threads; frames arrive late and irregularly, as they do
 * live. */
#ifndef TESTS_SUPPORT_RECORDED_RUN_H
#define TESTS_SUPPORT_RECORDED_RUN_H

#include "tests/test.h"

typedef struct recorded_run {
    const char *scene; /* a shipped scene's name */
    uint64_t seed;
    int hands;
    int ticks;
} recorded_run;

void recorded_run_write(const char *path, recorded_run run);

#endif
