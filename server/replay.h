/* A recording run again: the same hands, built from what is attached, fed with the recorded
 * samples, frames and commands in the recorded order. The servo's own functions compute; nothing
 * here knows about forces. */
#ifndef SERVER_REPLAY_H
#define SERVER_REPLAY_H

#include "config/config.h"
#include "config/scene.h"
#include "server/hand.h"
#include "server/replay_follow.h"
#include "server/trace_read.h"
#include "server/world.h"

typedef struct replay_stage replay_stage;

/* Watches a recording being run again as it was recorded: sees every tick just computed, with the
 * world moved along. */
typedef struct replay_observer {
    void (*tick)(void *context, const replay_stage *stage, const replay_follow *world,
                 const tick_record *computed);
    void *context;
} replay_observer;

typedef struct replay_options {
    const char *scene;  /* another scene, by name or path: its world runs beside the hands, and the
                         * recorded frames are not used. NULL: as recorded */
    const char *output; /* where the new run is recorded; NULL: nowhere */
    const replay_observer *observer; /* NULL: none; not together with `scene` */
} replay_options;

/* Where a recomputed tick first differs from the recorded one. */
typedef struct replay_difference {
    uint64_t tick;
    int hand;
    char field[48];
    char recorded[64], computed[64];
} replay_difference;

typedef struct replay_hand {
    double recorded_force_max, force_max; /* N */
    uint64_t ticks, recorded_contact_ticks, contact_ticks;
} replay_hand;

typedef struct replay_result {
    uint64_t ticks;           /* servo cycles: those of the hand that has most */
    uint64_t records;         /* recomputed, over all hands */
    uint64_t different_ticks; /* records that are not bit-identical up to the timing part */
    replay_difference first;  /* where there is one */
    double duration_s;        /* from the start of the first tick to the end of the last */
    int hand_count;
    replay_hand hands[HANDS_MAX];
    bool is_complete; /* the recording has its footer and no damage */
    bool has_gap;     /* records are missing before gap_tick: what follows cannot be compared */
    uint64_t gap_tick;
    double world_off; /* m, where there is an observer: see replay_follow.off */
} replay_result;

/* Verifying ends at the first gap: the state after it is not known. HR_ERR_FORMAT and others where
 * the recording does not hold what is needed. */
HR_MUST_USE hr_status replay_run(const char *path, const replay_options *options,
                                 replay_result *out, hr_error *error);

/* The hands, the world and the settings of a recording. */
struct replay_stage {
    config settings;
    scene scene;
    world *world;
    hand *hands[HANDS_MAX];
    device_description devices[HANDS_MAX];
    int hand_count;
    char folder[64]; /* attached files that are not on this machine any more; removed at the end */
};

/* scene: NULL for the recorded one. NULL and a message on failure. Release with replay_clear. */
replay_stage *replay_build(const trace_reader *r, const char *scene, hr_error *error);
void replay_clear(replay_stage *s); /* accepts NULL */

#endif
