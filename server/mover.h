/* What the world's mechanics (mechanics.h) must know of an actor that collides: how it would like
 * to move, what an impulse does to it, where its step ends. World thread only; nothing here
 * allocates. */
#ifndef SERVER_MOVER_H
#define SERVER_MOVER_H

#include "collide/ccd_body.h"
#include "server/frame.h"

struct actor;

enum { MOVER_FREEDOM_MAX = 64, MOVER_BOUNDS_MAX = 64 };

/* One step of mechanics. */
typedef struct mover_step {
    uint32_t first_key; /* of the actor's touchable bodies */
    const tool_sample *hands;
    int hand_count;
    int64_t time_ns; /* at its start */
    double dt;       /* s */
} mover_step;

/* A bound on the change of one unknown. */
typedef struct mover_bound {
    int unknown;
    double low, high;
} mover_bound;

typedef struct mover_class {
    /* Makes what mechanics needs; called once, at load, before the others. May allocate. */
    hr_status (*prepare)(struct actor *a);

    /* As collision detection sees it: owned by the actor, moved by the mechanics. */
    ccd_body *(*body)(const struct actor *a);

    /* Coefficient of static friction; of two that touch the larger counts. */
    double (*friction)(const struct actor *a);

    /* Scripted and fixed bodies are never pushed; a fixed one never moves either. */
    bool (*is_pushed)(const struct actor *a);

    /* Forces of the step, contacts left out: finds the velocity after it and writes the coordinates
     * (of the collision model) that it leads to. */
    void (*propose)(struct actor *a, const mover_step *step, double *q1);

    /* --- bodies that are pushed, after propose --- */

    /* Velocity unknowns, <= MOVER_FREEDOM_MAX; their inertia (freedom^2) and their values after the
     * forces. */
    int (*freedom)(const struct actor *a);
    void (*inertia)(struct actor *a, double *k, double *v);

    /* Velocity of a point (world, at the start of the step) of a link per unit of each unknown. */
    void (*columns)(struct actor *a, int link, vec3 point, vec3 *out);

    /* Limits of joints; returns how many of MOVER_BOUNDS_MAX. May be NULL. */
    int (*bounds)(struct actor *a, double dt, mover_bound *out);

    /* The coordinates of the step with dv added to the velocities. */
    void (*correct)(struct actor *a, const double *dv, double dt, double *q1);

    /* A link is in a contact that pushes. May be NULL. */
    void (*strike)(struct actor *a, int link);

    /* Stop, until the next propose. */
    void (*rest)(struct actor *a);

    /* --- all --- */

    /* m/s: no point of it is faster. */
    double (*speed)(const struct actor *a);

    /* Bodies that are not pushed (others: NULL): velocity of a point during the step. */
    vec3 (*velocity)(const struct actor *a, vec3 point);

    /* The step ends at q, `share` (0..1) of the way to what was asked for; dv (NULL: none) was
     * added. */
    void (*accept)(struct actor *a, const double *q, const double *dv, double share, double dt);
} mover_class;

#endif
