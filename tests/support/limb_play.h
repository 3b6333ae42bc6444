/* Random play with the articulated bodies of a shipped scene: an imposed tool wanders among the
 * limbs and pushes them through the real world and the real proxy, in lockstep. What the proxy does
 * is judged against the meshes themselves, triangle by triangle. */
#ifndef TESTS_SUPPORT_LIMB_PLAY_H
#define TESTS_SUPPORT_LIMB_PLAY_H

#include <stdint.h>

#include "geometry/vec3.h"

typedef struct limb_play {
    const char *scene; /* shipped name */
    uint64_t seed;     /* of the wandering */
    int ticks;
    int world_every;    /* servo ticks per world step */
    double tool_radius; /* m */
    vec3 reach;         /* m, the tool stays within this of the middle */
    double speed;       /* m/s, about the fastest */
    double *times;      /* ns of each tick's proxy, or NULL */
    int64_t (*now_ns)(void);
} limb_play;

typedef struct limb_play_result {
    int touching;         /* ticks with contact */
    int through;          /* times that the proxy's middle crossed a limb or was in it */
    int squeezed_through; /* the same in and right after a tick in which limbs left no room */
    int lost;             /* ticks without contact but with the proxy elsewhere than the tool */
    int gated;            /* ticks in which a limb was found around the proxy */
    int infeasible;       /* ticks in which limbs left no room; excused from `inside` */
    int most_near;        /* bodies in a frame, the most */
    double inside;        /* m, deepest place of the proxy sphere in a limb */
} limb_play_result;

/* Ends the process where the scene does not load. */
limb_play_result limb_play_run(const limb_play *how);

#endif
