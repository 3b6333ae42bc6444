/* Sums over the tetrahedra that the triangles span with the origin. */
#include "geometry/mesh_inertia.h"

/* Integral of x x^T over a tetrahedron (0, a, b, c) is its volume / 20 times
 * (s s^T + a a^T + b b^T + c c^T) with s = a + b + c. */
static mat3 second_moment(vec3 a, vec3 b, vec3 c, double volume)
{
    vec3 s = vec3_add(a, vec3_add(b, c));
    mat3 sum = mat3_add(mat3_add(mat3_outer(s, s), mat3_outer(a, a)),
                        mat3_add(mat3_outer(b, b), mat3_outer(c, c)));
    return mat3_scale(volume / 20, sum);
}

mesh_inertia mesh_inertia_of(const mesh *m, double mass)
{
    double volume = 0;
    vec3 moment = {0, 0, 0};
    mat3 second = {{{0}}};
    for (int i = 0; i < m->triangle_count; i++) {
        const int *t = m->triangles[i];
        vec3 a = m->vertices[t[0]], b = m->vertices[t[1]], c = m->vertices[t[2]];
        double v = vec3_dot(a, vec3_cross(b, c)) / 6;
        volume += v;
        moment = vec3_add_scaled(moment, v / 4, vec3_add(a, vec3_add(b, c)));
        second = mat3_add(second, second_moment(a, b, c, v));
    }
    if (!(fabs(volume) > 0))
        return (mesh_inertia){0};
    double density = mass / volume;
    vec3 centre = vec3_scale(1 / volume, moment);
    /* covariance about the centre, then inertia = trace 1 - covariance */
    mat3 about =
        mat3_add(mat3_scale(density, second), mat3_scale(-mass, mat3_outer(centre, centre)));
    double trace = about.m[0][0] + about.m[1][1] + about.m[2][2];
    mat3 inertia = mat3_add(mat3_scale(trace, mat3_identity()), mat3_scale(-1, about));
    return (mesh_inertia){volume, centre, inertia};
}
