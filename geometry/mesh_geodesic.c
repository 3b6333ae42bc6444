/* Geodesic meshes: an icosahedron whose faces are divided along each side and put on a star-shaped
 * surface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh.h"

static vec3 corner(int i)
{
    const double t = 1.618033988749895; /* golden ratio */
    static const signed char signs[12][3] = {{-1, 1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0},
                                             {0, -1, 1}, {0, 1, 1}, {0, -1, -1}, {0, 1, -1},
                                             {1, 0, -1}, {1, 0, 1}, {-1, 0, -1}, {-1, 0, 1}};
    const double scale[3][3] = {{1, t, 0}, {0, 1, t}, {t, 0, 1}};
    vec3 p = {signs[i][0] * scale[i / 4][0], signs[i][1] * scale[i / 4][1],
              signs[i][2] * scale[i / 4][2]};
    return vec3_normalize_or(p, (vec3){0, 0, 1});
}

static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                 {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                 {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                 {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

/* Where row i, column j of a face lies, as a direction; the sum runs over corners in a fixed order
 * so that two faces give the same bits along their common edge. */
static vec3 grid_point(const int face[3], int frequency, int i, int j)
{
    int weight[12] = {0};
    vec3 p = {0, 0, 0};
    weight[face[0]] += frequency - i;
    weight[face[1]] += i - j;
    weight[face[2]] += j;
    for (int k = 0; k < 12; k++)
        if (weight[k])
            p = vec3_add_scaled(p, weight[k], corner(k));
    return vec3_normalize_or(p, (vec3){0, 0, 1});
}

hr_status mesh_make_geodesic(int frequency, mesh_radius radius, const void *context, mesh *out)
{
    if (frequency < 1 || frequency > MESH_FREQUENCY_MAX)
        return HR_ERR_ARGUMENT;
    int rows = (frequency + 1) * (frequency + 2) / 2;
    mesh m = {0};
    hr_status status = mesh_allocate(20 * rows, 20 * frequency * frequency, &m);
    if (status != HR_OK)
        return status;
    int triangle = 0;
    for (int f = 0; f < 20; f++)
        for (int i = 0; i <= frequency; i++)
            for (int j = 0; j <= i; j++) {
                int at = f * rows + i * (i + 1) / 2 + j;
                vec3 u = grid_point(faces[f], frequency, i, j);
                m.vertices[at] = vec3_scale(radius(u, context), u);
                if (i == frequency)
                    continue;
                int below = f * rows + (i + 1) * (i + 2) / 2 + j;
                int pair[2][3] = {{at, below, below + 1}, {at, below + 1, at + 1}};
                for (int k = 0; k < (j < i ? 2 : 1); k++, triangle++)
                    for (int c = 0; c < 3; c++)
                        m.triangles[triangle][c] = pair[k][c];
            }
    status = mesh_weld(&m); /* faces meet in the same bits along their edges */
    if (status != HR_OK) {
        mesh_free(&m);
        return status;
    }
    *out = m;
    return HR_OK;
}

static double ball_radius(vec3 u, const void *context)
{
    (void)u;
    (void)context;
    return 1;
}

double mesh_blob_radius(vec3 u)
{
    return 1 + 0.12 * sin(5 * u.x) * cos(4 * u.y + 1) * sin(6 * u.z + 0.5);
}

static double blob_radius(vec3 u, const void *context)
{
    (void)context;
    return mesh_blob_radius(u);
}

hr_status mesh_make(const char *name, mesh *out)
{
    static const struct {
        const char *name;
        mesh_radius radius;
    } kinds[] = {{"ball-", ball_radius}, {"blob-", blob_radius}};
    for (int i = 0; i < HR_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i].name);
        char *end = NULL;
        if (strncmp(name, kinds[i].name, length) != 0)
            continue;
        long frequency = strtol(name + length, &end, 10);
        if (end == name + length || *end || frequency < 1 || frequency > MESH_FREQUENCY_MAX)
            return HR_ERR_ARGUMENT;
        return mesh_make_geodesic((int)frequency, kinds[i].radius, NULL, out);
    }
    return HR_ERR_NOT_FOUND;
}
