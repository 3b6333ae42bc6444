/* A complete live server whose servo runs in a thread of the test's own, so that the test can look
 * at it: simulated device, world thread, recording, doors. And a driver that misbehaves on demand,
 * for the controls that must fail. */
#ifndef TESTS_SUPPORT_CLEAN_RUN_H
#define TESTS_SUPPORT_CLEAN_RUN_H

#include "server/server.h"

typedef enum offence {
    OFFENCE_NONE,
    OFFENCE_PRINT,      /* a system call */
    OFFENCE_MAP,        /* a big allocation: a system call */
    OFFENCE_ALLOCATE,   /* a small one: no system call */
    OFFENCE_LOCK,       /* an uncontended mutex: no system call */
    OFFENCE_TOUCH_PAGES /* memory never touched before */
} offence;

typedef struct clean_run {
    server *server;
    pthread_t world_thread;
    char path[64]; /* of the recording */
} clean_run;

/* Opens everything and starts the world. Exits the process with code 3 on failure. */
void clean_run_open(clean_run *r, offence wanted);

/* Nothing is committed before this; then the driver offends in every read. */
void clean_run_offend(void);

/* More ticks, in the calling thread. */
void clean_run_ticks(clean_run *r, uint64_t ticks);

/* Stops and removes everything. */
void clean_run_close(clean_run *r);

#endif
