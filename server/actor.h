/* An actor: something in the world that has shapes and moves: scripted bodies, free rigid bodies,
 * an articulated body, a cable. World thread only; one file per kind (server/actor_*.c). */
#ifndef SERVER_ACTOR_H
#define SERVER_ACTOR_H

#include "config/scene.h"
#include "geometry/error.h"
#include "server/frame.h"

typedef struct actor actor; /* each kind's own */

/* The state of one touchable body of an actor, at the world's time. */
typedef struct actor_body {
    uint32_t key;   /* world-wide; the world assigns first_key + index within the actor */
    uint32_t shape; /* world-wide index; the world assigns */
    pose world_from_body;
    twist velocity, acceleration;
    frame_material material;
    double radius; /* m, bounding sphere about the body's origin */
} actor_body;

typedef struct actor_class {
    const char *name;

    /* Loads what the scene body names. The shapes it can be touched by are asked for afterwards. */
    hr_status (*create)(const scene *s, const scene_body *body, actor **out, hr_error *error);
    void (*destroy)(actor *a); /* accepts NULL */

    /* How many touchable bodies, and the shape of each; both fixed after create. */
    int (*body_count)(const actor *a);
    void (*body_shape)(const actor *a, int index, shape *out);

    /* One step from time_ns by dt. `hands` are the newest samples, one per hand; a sample that
     * touches a body of this actor (body_key - first_key) pushes it. No allocation. */
    void (*step)(actor *a, uint32_t first_key, const tool_sample *hands, int hand_count,
                 int64_t time_ns, double dt);

    /* The state after the last step. */
    void (*body_state)(const actor *a, int index, actor_body *out);

    /* Velocity change per impulse at a world point of a body; zero for a body that cannot be
     * pushed. */
    mat3 (*inverse_mass)(const actor *a, int index, vec3 point);

    /* Sum of kinetic and potential energy, J; for the energy figures. */
    double (*energy)(const actor *a);

    /* How it moves together with others; NULL: it does not collide and moves by `step` alone. Where
     * something in the world can be pushed, all actors with a mover move by mechanics instead. */
    const struct mover_class *mover;
} actor_class;

/* By the shape and motion of a scene body; NULL where nothing can play it. */
const actor_class *actor_class_for(const scene_body *body);

#endif
