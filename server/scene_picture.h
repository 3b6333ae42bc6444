/* The bodies of a scene as a picture: skins made once, added to a space at any poses. */
#ifndef SERVER_SCENE_PICTURE_H
#define SERVER_SCENE_PICTURE_H

#include "server/svg_space.h"
#include "server/world.h"

typedef struct scene_skins scene_skins;

/* `detail`: about so many pieces across the whole scene. The poses that the world has now decide
 * how far planes reach. NULL when out of memory. Borrows nothing. */
scene_skins *scene_skins_make(const world *w, int detail);
void scene_skins_destroy(scene_skins *s); /* accepts NULL */

/* All bodies at these poses (world_from_body, one for each body of the world). The body with the
 * key `touched` (0: none) is tinted. */
void scene_skins_add(const scene_skins *s, const pose *poses, uint32_t touched, space *out);

/* Length of the scene: the diagonal of the box around everything but planes, m. */
double scene_skins_size(const scene_skins *s);

/* A small picture of the world as it is now. */
HR_MUST_USE hr_status scene_picture_write(const world *w, const char *title, const char *path,
                                          hr_error *error);

#endif
