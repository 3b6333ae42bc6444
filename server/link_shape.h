/* How a link of an articulated body is felt: by its own collision meshes, or the visual ones where
 * it has no others. A part whose mesh bounds no solid (open, or triangles that face different ways)
 * is felt by the sphere, capsule or box fitted around it. */
#ifndef SERVER_LINK_SHAPE_H
#define SERVER_LINK_SHAPE_H

#include "collide/shape.h"
#include "geometry/model.h"

/* The shape of body `body` in a frame along the body's axes with its origin in the middle.
 * HR_ERR_NOT_FOUND where the body has no mesh at all, HR_ERR_MEMORY. `warn` (may be NULL) hears
 * "link "x": ..." about every part that could not be used as it is. What *out holds belongs to the
 * caller; release with actor_shape_free. */
HR_MUST_USE hr_status link_shape_make(const model *m, int body, model_warning warn, void *context,
                                      shape *out, pose *body_from_shape);

#endif
