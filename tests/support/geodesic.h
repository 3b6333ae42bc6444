/* Geodesic meshes: an icosahedron whose faces are divided `frequency` times along each side and put
 * on a sphere, 20 frequency^2 triangles; and the smooth blob with concave regions of the figures.
 */
#ifndef TESTS_SUPPORT_GEODESIC_H
#define TESTS_SUPPORT_GEODESIC_H

#include "geometry/mesh.h"

mesh geodesic_sphere(int frequency, double radius);

/* Radius in direction u (unit): 24 mm (1 + 0.12 sin 5x cos(4y + 1) sin(6z + 0.5)). */
double blob_radius(vec3 u);
mesh geodesic_blob(int frequency);

#endif
