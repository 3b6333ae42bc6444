/* Mass properties of the solid that a closed mesh bounds. */
#ifndef GEOMETRY_MESH_INERTIA_H
#define GEOMETRY_MESH_INERTIA_H

#include "geometry/mesh.h"

typedef struct mesh_inertia {
    double volume; /* m^3; negative when the mesh is inside out */
    vec3 centre;   /* of mass, m, mesh frame */
    mat3 inertia;  /* about the centre, mesh axes, kg m^2 */
} mesh_inertia;

/* For a solid of even density and the given mass. A mesh that is not closed gives what the sum of
 * its tetrahedra to the origin gives. */
mesh_inertia mesh_inertia_of(const mesh *m, double mass);

#endif
