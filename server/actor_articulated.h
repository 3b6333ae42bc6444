/* What the files of the articulated actor share: actor_articulated.c makes it and shows it to the
 * world, mover_articulated.c moves it. */
#ifndef SERVER_ACTOR_ARTICULATED_H
#define SERVER_ACTOR_ARTICULATED_H

#include "collide/ccd_body.h"
#include "server/actor_kinds.h"
#include "server/mover.h"
#include "solver/articulated.h"

/* A body that can be felt. */
typedef struct limb {
    int body; /* of the model */
    shape shape;
    pose body_from_shape;
    double radius;                /* m, around the shape's origin */
    twist velocity, acceleration; /* of the shape's origin, world axes */
    bool is_pinned;
} limb;

struct actor {
    model model;
    articulated *dynamics;
    pose world_from_base;
    frame_material material;
    int budget;
    int limb_count;
    limb *limbs;
    int64_t next_choice_ns;
    bool has_started;
    /* mechanics */
    ccd_body *ccd;
    double *start, *end; /* coordinates of the step that is being made, contacts left out */
    double *v;           /* velocities, scratch */
    int *joint_of;       /* by velocity coordinate: body that its joint moves */
    bool *is_struck;     /* by body: in contact since the last choice of active joints */
    double speed;        /* m/s, of the fastest limb */
};

extern const mover_class articulated_mover;

/* The arrays of the mover; false when out of memory. */
bool articulated_mover_allocate(struct actor *a);
void articulated_mover_free(struct actor *a);

/* A step without contacts: actor_class.step. */
void articulated_mover_step(struct actor *a, uint32_t first_key, const tool_sample *hands,
                            int hand_count, int64_t time_ns, double dt);

/* The limb's place and the velocity of its shape's origin, world axes. */
pose limb_pose(const struct actor *a, const limb *l);
twist limb_velocity(const struct actor *a, const limb *l);

#endif
