/* Mass properties of a scene body that moves freely: solids of even density, by formula for the
 * simple shapes, from the enclosed volume for meshes and parametric bodies. */
#ifndef SERVER_ACTOR_MASS_H
#define SERVER_ACTOR_MASS_H

#include "config/scene.h"
#include "geometry/mesh.h"
#include "server/actor_kinds.h"

typedef struct actor_mass {
    vec3 inertia;           /* kg m^2, about the centre of mass, along the axes of `centre` */
    pose shape_from_centre; /* the centre of mass and the principal axes, in the shape's frame */
} actor_mass;

/* Refuses a mesh or body that encloses no volume, with the scene's line. */
HR_MUST_USE hr_status actor_mass_of(const scene *s, const scene_body *body, const shape *solid,
                                    actor_mass *out, hr_error *error);

/* The surface of a mesh or closed parametric body as plain triangles, each with its own corners,
 * facing outwards, in the shape's frame. Release with mesh_free. */
HR_MUST_USE hr_status actor_surface_triangles(const shape *solid, mesh *out);

#endif
