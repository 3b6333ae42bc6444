/* How the bodies of a world move together: propose, rows, solve, prove, accept.
 *
 *   propose  every mover finds its velocity after all forces but contacts (hands are implicit
 *            springs) and where that leads;
 *   rows     feature pairs near each other at the start of the step become rows of one contact
 *            programme (solver/qp_blocks.h) over all bodies, with friction and joint limits;
 *   solve    the smallest change of the velocities, in the metric of the inertias, that keeps every
 *            pair apart at the end of the step;
 *   prove    continuous collision detection over the whole path; what it finds becomes rows, and
 *            the solve is repeated. What is not free after that stops on the way, up to where it is
 *            proven free (scripted bodies too: their script waits);
 *   accept   the bodies take the proven places. The motion is the one that was proven.
 *
 * Bodies rest `rest gap` (50 um) apart; the proof keeps them at least 20 um apart. Bodies that came
 * to rest together fall asleep and cost nothing until something near them moves.
 *
 * All budgets count operations, never time: the same calls give the same bits. After create nothing
 * is allocated. */
#ifndef SERVER_MECHANICS_H
#define SERVER_MECHANICS_H

#include "server/mover.h"

typedef struct mechanics mechanics;

typedef struct mechanics_member {
    const mover_class *class;
    struct actor *actor; /* borrowed */
    uint32_t first_key;
    int key_count;
} mechanics_member;

/* HR_ERR_MEMORY or HR_ERR_CAPACITY (more bodies than collision detection has room for). */
HR_MUST_USE hr_status mechanics_create(const mechanics_member *members, int count, mechanics **out);
void mechanics_destroy(mechanics *m); /* accepts NULL */

void mechanics_step(mechanics *m, const tool_sample *hands, int hand_count, int64_t time_ns,
                    double dt);

enum mechanics_stage {
    MECHANICS_PROPOSE,
    MECHANICS_ROWS,
    MECHANICS_SOLVE,
    MECHANICS_PROVE,
    MECHANICS_ACCEPT,
    MECHANICS_STAGES
};

/* Since create. */
typedef struct mechanics_counts {
    uint64_t steps;
    uint64_t rounds;         /* of solve and prove */
    uint64_t rows_cut;       /* steps whose search for rows ran out of work or room */
    uint64_t solves_cut;     /* islands whose programme was not finished: a safe blend instead */
    uint64_t proofs_cut;     /* proofs that ran out of work or room */
    uint64_t stopped_short;  /* bodies that did not go all of their way in a step */
    uint64_t contacts;       /* rows of the last step */
    uint64_t awake;          /* bodies that may be pushed and were awake in the last step */
    uint64_t filtered_pairs; /* pairs of links that touched at the start and are never tested */
    double recovery_energy;  /* J, at most, that pushing bodies apart has put in */
} mechanics_counts;

const mechanics_counts *mechanics_counted(const mechanics *m);

/* For measurements: `now` (ns; NULL: none) is read between the stages of each step. */
void mechanics_watch(mechanics *m, int64_t (*now)(void));
int64_t mechanics_stage_ns(const mechanics *m, enum mechanics_stage stage); /* of the last step */
const char *mechanics_stage_name(enum mechanics_stage stage);

#endif
