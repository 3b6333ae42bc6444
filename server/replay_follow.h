/* The world of a recording, moved along with it. Recorded frames hold only the bodies near a hand;
 * everything else is computed again here, from the same scene, times and tool samples. A run in
 * lockstep comes out to the bit; of a live run, where the world may have made steps that no hand
 * heard of, it is as good as can be, and `off` says how good. */
#ifndef SERVER_REPLAY_FOLLOW_H
#define SERVER_REPLAY_FOLLOW_H

#include "server/records.h"
#include "server/world.h"

enum { FOLLOW_SAMPLES = 512 }; /* per hand: half a second of a stalled world */

typedef struct replay_follow {
    world *world; /* borrowed */
    int hand_count;
    int64_t period_ns;
    bool has_started;
    int64_t time_ns; /* that the world has reached */
    double off;      /* m: most that a body was away from where a recorded frame has it */
    contact_frame newest[HANDS_MAX];
    tool_sample tools[HANDS_MAX][FOLLOW_SAMPLES]; /* by tick */
} replay_follow;

/* NULL when out of memory; freed by the caller. */
replay_follow *replay_follow_create(world *w, int hand_count, int world_rate_hz);

/* A recorded frame: steps the world up to its time. */
void replay_follow_frame(replay_follow *f, const contact_frame *frame);

/* What a hand told the world in a tick. */
void replay_follow_tool(replay_follow *f, const tool_sample *sample);

/* Where body number `index` was when the hand made its tick at time_ns: as recorded in the hand's
 * newest frame, else as computed; moved on to the time. */
pose replay_follow_pose(const replay_follow *f, int hand, int index, int64_t time_ns);

#endif
