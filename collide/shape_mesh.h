/* A triangle mesh as a shape that a proxy can touch: see touch_mesh.h for the surface. Up to
 * SHAPE_TRACKS_MAX nearest points are followed at once, one per nearby stretch of surface, so that
 * a proxy in a corner is held by all its sides. Between searches a track walks from triangle to
 * triangle; the surroundings are searched again when the point has left the place where they were
 * searched. Cost does not depend on the size of the mesh but through the depth of its boxes. */
#ifndef COLLIDE_SHAPE_MESH_H
#define COLLIDE_SHAPE_MESH_H

#include "collide/shape.h"
#include "collide/touch_mesh.h"

/* As shape_seed and shape_follow, for SHAPE_MESH. A feature is a triangle's number. */
void shape_mesh_seed(const touch_mesh *m, vec3 point, double reach, shape_tracker *out);
HR_RT int shape_mesh_follow(const touch_mesh *m, shape_tracker *tracker, vec3 point, double reach,
                            shape_contact *out, int room);

#endif
