/* The kinds of actors, one file each: server/actor_*.c. */
#ifndef SERVER_ACTOR_KINDS_H
#define SERVER_ACTOR_KINDS_H

#include "server/actor.h"

/* One body that stays or follows a script. */
extern const actor_class actor_scripted;

/* One rigid body that falls, rests, slides and is pushed. */
extern const actor_class actor_free;

/* A cable over a cylinder, pushed by hands. */
extern const actor_class actor_cable;

/* An articulated body under adaptive dynamics, every link felt by its meshes, pushed by hands. */
extern const actor_class actor_articulated;

/* The shape of a scene body that is one piece, in its own frame. What it loads from files belongs
 * to *out and is given back by actor_shape_free. */
HR_MUST_USE hr_status actor_shape_load(const scene *s, const scene_body *body, shape *out,
                                       hr_error *error);
void actor_shape_free(shape *s);

frame_material actor_material(const scene_material *m);

#endif
