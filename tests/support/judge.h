/* The judge of a recording: runs it again with its world beside it and looks at every tick with
 * second methods. What a hand must never meet: a force above the limit, a number that is not one, a
 * proxy inside a body or on its other side, a replay that differs. */
#ifndef TESTS_SUPPORT_JUDGE_H
#define TESTS_SUPPORT_JUDGE_H

#include "server/replay.h"

enum { JUDGE_FAULTS_MAX = 8 };

typedef struct verdict {
    replay_result replay;
    uint64_t ticks, contact_ticks;
    uint64_t fallback_ticks; /* a tracker took a fallback step or went in circles */
    uint64_t degraded_ticks, cycling_ticks;
    uint64_t infeasible_ticks; /* bodies left the proxy no room */
    uint64_t samples;          /* places of the proxy that were looked at */
    uint64_t faded_ticks;      /* forces were held back: a stale world, a jump, ... */
    double force_max;          /* N */
    double force_step_max;     /* N, between two ticks in which nothing held the force back */
    double depth_max;          /* m: how deep the proxy's surface was in a body */
    double pinched_max;        /* m: the same in ticks that the hand reported as infeasible */
    double crossed_max;        /* m: how deep its way between two ticks was in a body */
    double energy_min;         /* J, of the passivity observer */
    int fault_count;           /* all of them */
    char faults[JUDGE_FAULTS_MAX][192]; /* the first ones: "tick 123: ..." */
} verdict;

typedef struct judge_limits {
    double depth;    /* m: deeper is a fault */
    double fallback; /* share of ticks: more is a fault */
    int every;       /* look at every so many ticks in contact */
} judge_limits;

/* HR_OK also for a bad recording: then there are faults. */
HR_MUST_USE hr_status judge_recording(const char *path, const judge_limits *limits, verdict *out,
                                      hr_error *error);

#endif
