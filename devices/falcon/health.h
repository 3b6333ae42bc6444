/* Is the Falcon that answers also alive? Callable from the servo thread. */
#ifndef DEVICES_FALCON_HEALTH_H
#define DEVICES_FALCON_HEALTH_H

#include <stdint.h>

#include "geometry/vec3.h"

/* Encoders that stand still while they cannot. A hand that rests gives the same counts for a long
 * time, so stillness alone proves nothing; two things do:
 *  - the handle moved faster than 50 mm/s and from one report to the next not a single count came
 *    for 20 ms: at that speed one comes every millisecond and a hand needs longer than that to
 * stop;
 *  - the force changed by half a newton while nothing moved for half a second: that moves even a
 *    firm hand (500 N/m) by a millimetre, 20 counts. */
typedef struct falcon_frozen {
    int16_t counts[3];
    int64_t changed_ns; /* when a count last changed */
    double speed;       /* m/s, then */
    vec3 force;         /* N, then */
    bool is_started, is_frozen;
} falcon_frozen;

/* With every new report; `speed` is the estimate from this report, `force` what the motors make.
 * Returns whether the encoders are frozen. */
HR_RT bool falcon_frozen_update(falcon_frozen *f, int64_t now_ns, const int16_t counts[3],
                                double speed, vec3 force);

#endif
