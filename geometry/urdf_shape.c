/* Visual and collision shapes of a URDF: mesh files found and loaded once, simple solids made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geometry/urdf_xml.h"

enum { FOLDERS_UP = 8, PATH_ROOM = 2048, ROUND_SEGMENTS = 32, ROUND_RINGS = 16 };

/* Every suffix of `tail` in this folder, the longest first. */
static bool find_below(const char *folder, const char *tail, char *path, size_t size)
{
    for (const char *suffix = tail; suffix && *suffix;) {
        int length = snprintf(path, size, "%s/%s", folder, suffix);
        if (length > 0 && (size_t)length < size && access(path, R_OK) == 0)
            return true;
        suffix = strchr(suffix, '/');
        if (suffix)
            suffix++;
    }
    return false;
}

static const char *without_scheme(const char *name)
{
    static const char *const schemes[] = {"package://", "file://", "model://"};
    for (int i = 0; i < HR_COUNT(schemes); i++)
        if (strncmp(name, schemes[i], strlen(schemes[i])) == 0)
            return name + strlen(schemes[i]);
    return name;
}

hr_status urdf_find_mesh(const char *urdf_path, const char *mesh_name, char *path, size_t size)
{
    const char *tail = without_scheme(mesh_name);
    if (*tail == '/' && strlen(tail) < size && access(tail, R_OK) == 0) {
        memcpy(path, tail, strlen(tail) + 1);
        return HR_OK;
    }
    while (*tail == '/')
        tail++;
    char folder[PATH_ROOM];
    const char *slash = strrchr(urdf_path, '/');
    size_t length = slash ? (size_t)(slash - urdf_path) : 1;
    if (length + (size_t)3 * FOLDERS_UP + 1 > sizeof folder)
        return HR_ERR_NOT_FOUND;
    memcpy(folder, slash ? urdf_path : ".", length);
    folder[length] = '\0';
    for (int up = 0; up <= FOLDERS_UP; up++) {
        if (find_below(folder, tail, path, size))
            return HR_OK;
        memcpy(folder + strlen(folder), "/..", 4);
    }
    return HR_ERR_NOT_FOUND;
}

/* The mesh of the model that was loaded under this key, or -1. */
static int find_key(const urdf_reader *r, const char *key)
{
    for (int i = 0; i < r->model->mesh_count; i++)
        if (r->mesh_keys[i] && strcmp(r->mesh_keys[i], key) == 0)
            return i;
    return -1;
}

static int keep_mesh(urdf_reader *r, mesh *part, const char *key)
{
    if (r->model->mesh_count >= r->mesh_key_room) {
        int room = 2 * r->mesh_key_room + 16;
        char **bigger = realloc(r->mesh_keys, (size_t)room * sizeof *bigger);
        if (!bigger)
            return -1;
        r->mesh_keys = bigger;
        r->mesh_key_room = room;
    }
    char *copy = strdup(key);
    int index = copy ? model_add_mesh(r->model, part) : -1;
    if (index < 0) {
        free(copy);
        return -1;
    }
    r->mesh_keys[index] = copy;
    return index;
}

static void scale_mesh(mesh *m, const double scale[3])
{
    for (int i = 0; i < m->vertex_count; i++) {
        m->vertices[i].x *= scale[0];
        m->vertices[i].y *= scale[1];
        m->vertices[i].z *= scale[2];
    }
    if (scale[0] * scale[1] * scale[2] > 0)
        return;
    for (int i = 0; i < m->triangle_count; i++) { /* a mirror turns the surface inside out */
        int second = m->triangles[i][1];
        m->triangles[i][1] = m->triangles[i][2];
        m->triangles[i][2] = second;
    }
}

/* Refuses or warns, as the options ask; *index = -1 leaves the shape out. */
static hr_status no_mesh(urdf_reader *r, const xmlNode *node, const char *link, const char *why)
{
    if (r->options.meshes == URDF_REQUIRE_MESHES)
        return urdf_refuse(r, node, HR_ERR_NOT_FOUND, "link \"%.80s\": %.250s", link, why);
    urdf_warn(r, node, "link \"%.80s\": %.250s", link, why);
    return HR_OK;
}

static hr_status file_mesh(urdf_reader *r, const xmlNode *node, const char *link, int *index)
{
    const char *name = NULL;
    double scale[3] = {1, 1, 1};
    hr_status status = urdf_required(r, node, "filename", &name);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "scale", scale, 3);
    if (status != HR_OK)
        return status;
    char path[PATH_ROOM], key[PATH_ROOM + 96], why[300];
    if (urdf_find_mesh(r->file, name, path, sizeof path) != HR_OK) {
        (void)snprintf(why, sizeof why, "expected mesh file, found no \"%.200s\"", name);
        return no_mesh(r, node, link, why);
    }
    (void)snprintf(key, sizeof key, "%s %.17g %.17g %.17g", path, scale[0], scale[1], scale[2]);
    *index = find_key(r, key);
    if (*index >= 0)
        return HR_OK;
    mesh part = {0};
    hr_error reason = {""};
    if (scale[0] * scale[1] * scale[2] == 0 || mesh_load(path, &part, &reason) != HR_OK) {
        (void)snprintf(why, sizeof why, "expected a mesh that can be read: %.240s", reason.text);
        return no_mesh(r, node, link, why);
    }
    scale_mesh(&part, scale);
    *index = keep_mesh(r, &part, key);
    mesh_free(&part);
    return *index < 0 ? HR_ERR_MEMORY : HR_OK;
}

static hr_status positive(urdf_reader *r, const xmlNode *node, const char *attribute, double *out,
                          int count)
{
    const char *text = NULL;
    hr_status status = urdf_required(r, node, attribute, &text);
    if (status == HR_OK)
        status = urdf_numbers(r, node, attribute, out, count);
    for (int i = 0; status == HR_OK && i < count; i++)
        if (!(out[i] > 0))
            return urdf_refuse(r, node, HR_ERR_FORMAT,
                               "<%s %s>: expected positive lengths, found \"%.80s\"",
                               (const char *)node->name, attribute, text);
    return status;
}

/* Box, sphere, cylinder and (by extension) capsule as meshes. */
static hr_status solid_mesh(urdf_reader *r, const xmlNode *node, int *index)
{
    const char *kind = (const char *)node->name;
    double size[3] = {0}, length = 0;
    mesh part = {0};
    hr_status status;
    if (strcmp(kind, "box") == 0) {
        status = positive(r, node, "size", size, 3);
        if (status == HR_OK)
            status = mesh_make_box((vec3){size[0], size[1], size[2]}, &part);
    } else if (strcmp(kind, "sphere") == 0) {
        status = positive(r, node, "radius", size, 1);
        if (status == HR_OK)
            status = mesh_make_sphere(size[0], ROUND_RINGS, ROUND_SEGMENTS, &part);
    } else {
        status = positive(r, node, "radius", size, 1);
        if (status == HR_OK)
            status = positive(r, node, "length", &length, 1);
        if (status == HR_OK && strcmp(kind, "cylinder") == 0)
            status = mesh_make_cylinder(size[0], length, ROUND_SEGMENTS, &part);
        else if (status == HR_OK)
            status = mesh_make_capsule(size[0], length, ROUND_RINGS, ROUND_SEGMENTS, &part);
    }
    if (status != HR_OK)
        return status;
    *index = keep_mesh(r, &part, "");
    mesh_free(&part);
    if (*index < 0)
        return HR_ERR_MEMORY;
    r->model->mesh_is_solid[*index] = true;
    return HR_OK;
}

static hr_status one_shape(urdf_reader *r, const xmlNode *node, int link, model_shape *shape)
{
    static const char *const solids[] = {"box", "sphere", "cylinder", "capsule"};
    const char *link_name = r->model->links[link].name;
    *shape = (model_shape){.link = link, .mesh = -1};
    hr_status status = urdf_origin(r, node, &shape->link_from_mesh);
    if (status != HR_OK)
        return status;
    const xmlNode *geometry = urdf_child(node, "geometry");
    const xmlNode *file = urdf_child(geometry, "mesh");
    if (file)
        return file_mesh(r, file, link_name, &shape->mesh);
    for (int i = 0; i < HR_COUNT(solids); i++) {
        const xmlNode *solid = urdf_child(geometry, solids[i]);
        if (solid)
            return solid_mesh(r, solid, &shape->mesh);
    }
    urdf_warn(r, node,
              "link \"%.80s\": expected mesh, box, sphere, cylinder or capsule, found none",
              link_name);
    return HR_OK;
}

hr_status urdf_shapes(urdf_reader *r, const xmlNode *link_node, int link)
{
    if (r->options.meshes == URDF_SKIP_MESHES)
        return HR_OK;
    for (int is_visual = 0; is_visual < 2; is_visual++) {
        const char *tag = is_visual ? "visual" : "collision";
        for (xmlNode *n = urdf_child(link_node, tag); n; n = urdf_next(n->next, tag)) {
            model_shape shape;
            hr_status status = one_shape(r, n, link, &shape);
            if (status != HR_OK)
                return status;
            if (shape.mesh < 0)
                continue;
            int made = is_visual ? model_add_visual(r->model, shape)
                                 : model_add_collision(r->model, shape);
            if (made < 0)
                return HR_ERR_MEMORY;
        }
    }
    return HR_OK;
}
