/* What the files of mechanics share. */
#ifndef SERVER_MECHANICS_INTERNAL_H
#define SERVER_MECHANICS_INTERNAL_H

#include "collide/ccd_step.h"
#include "collide/near_features.h"
#include "server/mechanics.h"
#include "solver/qp_blocks.h"

enum {
    CONTACTS_MAX = 384,
    NEAR_PAIRS_MAX = 1024,
    CONTACTS_PER_GROUP = 4,
    MEMBERS_MAX = CCD_BODIES_MAX
};

/* Distances, m. Rows hold bodies apart by rest_gap; the proof asks for proof_gap and may report
 * from proof_gap + proof_tolerance on; what lies between is room for rounding and for the turn of
 * bodies during a step. */
#define REST_GAP        50e-6
#define PROOF_GAP       20e-6
#define PROOF_TOLERANCE 10e-6

/* Bodies that came closer than the rest gap are moved apart by this share of what is missing, so
 * that they do not hop. */
#define RECOVER_SHARE 0.2

typedef struct member {
    const mover_class *class;
    struct actor *actor;
    uint32_t first_key;
    int key_count;
    ccd_body *body;
    near_surface *surfaces; /* by link; empty where the link has no triangles */
    double friction;
    bool is_pushed;
    double *q1;     /* coordinates at the end of the step, as told to collision detection */
    int freedom;    /* this step */
    double *k;      /* freedom_max^2 */
    double *v, *dv; /* freedom_max */
    int block;      /* in the programme of this step; -1: none */
    bool has_proposed;
    bool is_moving; /* q1 differs from where it is */
    double share;   /* how much of its way it goes */
    bool is_asleep;
    double calm_s; /* how long it has hardly moved */
    int bed;       /* islands fall asleep together and wake together; -1: never slept */
} member;

struct mechanics {
    int count;
    member members[MEMBERS_MAX];
    int freedom_max; /* largest of all members */
    ccd_scene *scene;
    ccd_findings found;
    qp_blocks *programme;
    qp_block *blocks;
    int *block_member;
    int block_count;
    qp_contact contacts[CONTACTS_MAX];
    int contact_members[CONTACTS_MAX][2], contact_links[CONTACTS_MAX][2];
    int contact_count;
    vec3 *columns; /* 2 freedom_max per contact */
    qp_bound *bounds;
    int bound_room, bound_count;
    double *zeros;
    int *island; /* by member: union-find over rows */
    ccd_near_pair near[NEAR_PAIRS_MAX];
    near_feature features[NEAR_FEATURES_MAX];
    double recover_share;
    mechanics_counts counts;
    int64_t (*now)(void);
    int64_t stage_ns[MECHANICS_STAGES];
    int64_t mark_ns;
    int next_bed;
};

/* --- mechanics_rows.c --- */

/* Looks for feature pairs between what moves and what is near it; fills contacts. Returns how many
 * sleepers were woken: then the search must be made again with their proposals. */
int mechanics_find_rows(mechanics *m);

/* Contacts that the proof found, as further rows. Returns how many. */
int mechanics_add_found(mechanics *m, int round);

/* --- mechanics_solve.c --- */

/* Changes of velocity for all that is in rows, and the coordinates that follow. */
void mechanics_solve(mechanics *m, double dt);

/* --- mechanics_prove.c --- */

/* True: everything may go where it was told. */
bool mechanics_prove(mechanics *m);

/* Stops what is not free on its way, until everything is. */
void mechanics_cut_back(mechanics *m);

/* Tells collision detection where a member goes. */
void mechanics_tell(member *b);

/* --- mechanics_start.c --- */

/* Makes the start one that can be gone on from. */
void mechanics_start(mechanics *m);

/* --- mechanics_sleep.c --- */

/* Wakes the member and all that fell asleep with it; returns how many woke. */
int mechanics_wake(mechanics *m, int index);

/* After the step: who has been calm long enough, with all it touches. */
void mechanics_put_to_sleep(mechanics *m, double dt);

#endif
