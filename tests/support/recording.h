/* Made-up recordings for the tests of the trace: every field filled, the same for the same seed. */
#ifndef TESTS_SUPPORT_RECORDING_H
#define TESTS_SUPPORT_RECORDING_H

#include "server/trace.h"
#include "tests/test.h"

/* One hand or more, 1 kHz, no scene. */
trace_meta recording_meta(int hands, bool is_lockstep);

tick_record recording_tick(test_random *r, uint64_t tick, int hand);
contact_frame recording_frame(test_random *r, uint64_t sequence, int hand, int bodies);
servo_command recording_command(test_random *r, uint64_t tick);

/* Ticks of every hand, a frame every fourth tick, a command every hundredth, an event every
 * two-hundredth. Lockstep. */
void recording_write(const char *path, uint64_t seed, int hands, int ticks);

/* Where tests put their files. */
const char *recording_path(const char *name);

#endif
