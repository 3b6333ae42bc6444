/* `haptic info` of a triangle mesh. */
#include <stdio.h>

#include "collide/mesh_closest.h"
#include "server/command.h"
#include "server/info.h"

bool info_mesh_accepts(const char *path, const char *head, size_t size)
{
    (void)head;
    (void)size;
    return info_has_ending(path, ".stl") || info_has_ending(path, ".obj") ||
           info_has_ending(path, ".ply") || info_has_ending(path, ".dae");
}

static void find_box(const mesh *m, vec3 *low, vec3 *high)
{
    *low = *high = m->vertices[0];
    for (int i = 1; i < m->vertex_count; i++) {
        vec3 p = m->vertices[i];
        *low = (vec3){fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z)};
        *high = (vec3){fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z)};
    }
}

int info_mesh_print(const char *path, bool wants_json)
{
    mesh m = {0};
    hr_error error = {""};
    if (mesh_load(path, &m, &error) != HR_OK)
        return command_input_error(&error);
    mesh_finder *finder = mesh_finder_create(&m);
    if (!finder) {
        mesh_free(&m);
        fprintf(stderr, "haptic info: %s\n", status_text(HR_ERR_MEMORY));
        return COMMAND_FAILED;
    }
    bool is_closed = mesh_finder_is_closed(finder);
    vec3 low, high;
    find_box(&m, &low, &high);
    if (wants_json)
        printf("{\"kind\": \"mesh\", \"vertices\": %d, \"triangles\": %d, \"closed\": %s, \"box\": "
               "[[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}\n",
               m.vertex_count, m.triangle_count, is_closed ? "true" : "false", low.x, low.y, low.z,
               high.x, high.y, high.z);
    else
        printf("%s: mesh\n  triangles   %d\n  vertices    %d\n  solid       %s\n"
               "  box         %.6g %.6g %.6g to %.6g %.6g %.6g\n",
               path, m.triangle_count, m.vertex_count, is_closed ? "closed" : "open", low.x, low.y,
               low.z, high.x, high.y, high.z);
    mesh_finder_destroy(finder);
    mesh_free(&m);
    return COMMAND_OK;
}
