/* Meshes of the simple solids: box, cylinder, sphere, capsule. */
#include <math.h>

#include "geometry/mesh.h"

static const double TURN = 6.283185307179586;

hr_status mesh_make_box(vec3 size, mesh *out)
{
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                     {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                     {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    hr_status status = mesh_allocate(8, 12, out);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < 8; i++)
        out->vertices[i] = (vec3){(i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y,
                                  (i & 4 ? 0.5 : -0.5) * size.z};
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            out->triangles[i][k] = faces[i][k];
    return HR_OK;
}

/* One ring of the surface of revolution: radius and height. */
typedef struct profile {
    double radius, height;
} profile;

/* Bottom pole, rings from the bottom up, top pole. */
static hr_status revolve(double bottom, double top, const profile *rings, int ring_count,
                         int segments, mesh *out)
{
    hr_status status = mesh_allocate(ring_count * segments + 2, 2 * ring_count * segments, out);
    if (status != HR_OK)
        return status;
    int last = out->vertex_count - 1, t = 0;
    out->vertices[0] = (vec3){0, 0, bottom};
    out->vertices[last] = (vec3){0, 0, top};
    for (int r = 0; r < ring_count; r++)
        for (int s = 0; s < segments; s++) {
            double angle = TURN * s / segments;
            out->vertices[1 + r * segments + s] =
                (vec3){rings[r].radius * cos(angle), rings[r].radius * sin(angle), rings[r].height};
        }
    for (int s = 0; s < segments; s++) {
        int next = (s + 1) % segments;
        int above = 1 + (ring_count - 1) * segments;
        int caps[2][3] = {{0, 1 + next, 1 + s}, {last, above + s, above + next}};
        for (int c = 0; c < 2; c++, t++)
            for (int k = 0; k < 3; k++)
                out->triangles[t][k] = caps[c][k];
    }
    for (int r = 0; r + 1 < ring_count; r++)
        for (int s = 0; s < segments; s++) {
            int a = 1 + r * segments + s, b = 1 + r * segments + (s + 1) % segments;
            int quad[6] = {a, b, b + segments, a, b + segments, a + segments};
            for (int k = 0; k < 6; k++)
                out->triangles[t + k / 3][k % 3] = quad[k];
            t += 2;
        }
    return HR_OK;
}

hr_status mesh_make_cylinder(double radius, double length, int segments, mesh *out)
{
    if (segments < 3)
        return HR_ERR_ARGUMENT;
    profile rings[2] = {{radius, -0.5 * length}, {radius, 0.5 * length}};
    return revolve(-0.5 * length, 0.5 * length, rings, 2, segments, out);
}

enum { RINGS_MAX = 256 };

hr_status mesh_make_sphere(double radius, int rings, int segments, mesh *out)
{
    if (rings < 1 || rings > RINGS_MAX || segments < 3)
        return HR_ERR_ARGUMENT;
    profile profiles[RINGS_MAX] = {{0, 0}};
    for (int r = 0; r < rings; r++) {
        double angle = 0.5 * TURN * (r + 1) / (rings + 1);
        profiles[r] = (profile){radius * sin(angle), -radius * cos(angle)};
    }
    return revolve(-radius, radius, profiles, rings, segments, out);
}

hr_status mesh_make_capsule(double radius, double length, int rings, int segments, mesh *out)
{
    if (rings < 2 || rings % 2 != 0 || rings > RINGS_MAX || segments < 3)
        return HR_ERR_ARGUMENT;
    profile profiles[RINGS_MAX] = {{0, 0}};
    int half = rings / 2;
    for (int r = 0; r < half; r++) {
        double angle = 0.25 * TURN * (r + 1) / half;
        profile p = {radius * sin(angle), -radius * cos(angle) - 0.5 * length};
        profiles[r] = p;
        profiles[rings - 1 - r] = (profile){p.radius, -p.height};
    }
    double end = 0.5 * length + radius;
    return revolve(-end, end, profiles, rings, segments, out);
}
