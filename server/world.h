/* The world: every body of a scene, moved step by step, and the contact frames that tell each hand
 * what is near it. World thread only. Pure and deterministic: the same scene, settings and calls
 * give the same frames to the bit. */
#ifndef SERVER_WORLD_H
#define SERVER_WORLD_H

#include "config/config.h"
#include "config/scene.h"
#include "geometry/error.h"
#include "server/frame.h"

typedef struct world world;

/* Loads all that the scene names. Reads of the settings only what concerns the world; the scene's
 * own tool radius, where it has one, is for the caller to put into the settings before it makes
 * the hands. */
HR_MUST_USE hr_status world_create(const scene *s, const config *settings, world **out,
                                   hr_error *error);
void world_destroy(world *w); /* accepts NULL */

/* The table that frame_body.shape indexes; valid and unchanged as long as the world. */
const shape *world_shapes(const world *w, int *count);

/* Moves everything from time_ns by dt (s). The first call's time is the scripts' zero. `hands` are
 * the newest tool samples, n of them (<= HANDS_MAX), in the order of the hands; a hand whose
 * sample has tick 0 and time 0 has not been heard of yet. No allocation. */
void world_step(world *w, const tool_sample *hands, int n, int64_t time_ns, double dt);

/* What hand number `hand` needs, for the time that the last step reached. The nearest bodies come
 * first; a body further than the settings' near_distance_m is left out. */
void world_frame(world *w, int hand, contact_frame *out);

/* Kinetic and potential energy of everything that moves freely, J. */
double world_energy(const world *w);

/* How the bodies move together; NULL where nothing can be pushed. */
struct mechanics *world_mechanics(world *w);

/* For people and tests: bodies in the whole world, their states and names. The name is that of the
 * scene body that the touchable body belongs to. */
struct actor_body;
int world_body_count(const world *w);
void world_body(const world *w, int index, struct actor_body *out);
const char *world_body_name(const world *w, int index);

#endif
