#include "tests/support/geodesic.h"

#include <stdlib.h>

static const double BLOB = 0.024; /* m */

static double scaled(vec3 u, const void *context)
{
    const double *radius = context;
    return radius ? *radius : blob_radius(u);
}

static mesh made(int frequency, const double *radius)
{
    mesh m;
    if (mesh_make_geodesic(frequency, scaled, radius, &m) != HR_OK)
        abort();
    return m;
}

mesh geodesic_sphere(int frequency, double radius)
{
    return made(frequency, &radius);
}

double blob_radius(vec3 u)
{
    return BLOB * mesh_blob_radius(u);
}

mesh geodesic_blob(int frequency)
{
    return made(frequency, NULL);
}
