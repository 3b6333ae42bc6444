/* The rig on the simulated Falcon, held by the simulated hand: the loop is closed. */
#ifndef TESTS_SUPPORT_GRIP_H
#define TESTS_SUPPORT_GRIP_H

#include "devices/sim.h"
#include "tests/support/rig.h"

typedef struct grip_rig {
    rig rig; /* its settings, scene and record are used as in an open loop */
    device *dev;
    vec3 sent;  /* N, by the tick before: what the next read finds */
    double put; /* J, put into the grip by the motors, exact */
} grip_rig;

typedef struct grip {
    const char *name;
    double mass, damping, stiffness; /* kg, N s/m, N/m */
} grip;

/* From light to firm: 0.1 kg, 2 N s/m, 50 N/m to 0.5 kg, 8 N s/m, 500 N/m. */
enum { GRIPS = 5 };
extern const grip grips[GRIPS];

/* settings: further "key", "value" pairs for the driver, ended by NULL; may be NULL. */
void grip_start(grip_rig *g, const grip *how, const char *script, double tremor,
                const char *const *settings);
void grip_stop(grip_rig *g);

/* One tick of the closed loop. */
void grip_tick(grip_rig *g);

/* The same in two halves, with the record's inputs open in between. */
void grip_read(grip_rig *g);
void grip_write(grip_rig *g);

#endif
