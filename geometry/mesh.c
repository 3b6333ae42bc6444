/* Meshes: memory, welding and the STL writer. */
#include "geometry/mesh.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hr_status mesh_allocate(int vertex_count, int triangle_count, mesh *out)
{
    if (vertex_count <= 0 || triangle_count <= 0)
        return HR_ERR_ARGUMENT;
    mesh m = {vertex_count, calloc((size_t)vertex_count, sizeof(vec3)), triangle_count,
              calloc((size_t)triangle_count, sizeof(int[3]))};
    if (!m.vertices || !m.triangles) {
        mesh_free(&m);
        return HR_ERR_MEMORY;
    }
    *out = m;
    return HR_OK;
}

void mesh_free(mesh *m)
{
    free(m->vertices);
    free(m->triangles);
    *m = (mesh){0};
}

/* The same number for the same place; -0 counts as 0. */
static uint64_t place_hash(vec3 p)
{
    double c[3] = {p.x + 0.0, p.y + 0.0, p.z + 0.0};
    uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (int i = 0; i < 3; i++) {
        uint64_t bits;
        memcpy(&bits, &c[i], sizeof bits);
        h = (h ^ bits) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    }
    return h;
}

static bool same_place(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* new_index[i] = number of the first vertex at the place of i, counted without repeats. */
static hr_status merge_vertices(mesh *m, int *new_index)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)m->vertex_count)
        slots *= 2;
    int *table = malloc(slots * sizeof *table);
    if (!table)
        return HR_ERR_MEMORY;
    memset(table, 0xff, slots * sizeof *table);
    int kept = 0;
    for (int i = 0; i < m->vertex_count; i++) {
        vec3 p = m->vertices[i];
        size_t slot = place_hash(p) & (slots - 1);
        while (table[slot] >= 0 && !same_place(m->vertices[table[slot]], p))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            m->vertices[kept] = p;
            table[slot] = kept++;
        }
        new_index[i] = table[slot];
    }
    m->vertex_count = kept;
    free(table);
    return HR_OK;
}

static bool has_area(const mesh *m, const int t[3])
{
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
        return false;
    vec3 a = m->vertices[t[0]];
    vec3 n = vec3_cross(vec3_sub(m->vertices[t[1]], a), vec3_sub(m->vertices[t[2]], a));
    return vec3_length_squared(n) > 0;
}

static void drop_unused_vertices(mesh *m, int *new_index)
{
    memset(new_index, 0, (size_t)m->vertex_count * sizeof *new_index);
    for (int i = 0; i < m->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            new_index[m->triangles[i][k]] = 1;
    int kept = 0;
    for (int i = 0; i < m->vertex_count; i++) {
        if (!new_index[i])
            continue;
        m->vertices[kept] = m->vertices[i];
        new_index[i] = kept++;
    }
    m->vertex_count = kept;
    for (int i = 0; i < m->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            m->triangles[i][k] = new_index[m->triangles[i][k]];
}

hr_status mesh_weld(mesh *m)
{
    int *new_index = malloc((size_t)(m->vertex_count > 0 ? m->vertex_count : 1) * sizeof(int));
    if (!new_index)
        return HR_ERR_MEMORY;
    hr_status status = merge_vertices(m, new_index);
    if (status == HR_OK) {
        int kept = 0;
        for (int i = 0; i < m->triangle_count; i++) {
            int t[3];
            for (int k = 0; k < 3; k++)
                t[k] = new_index[m->triangles[i][k]];
            if (has_area(m, t))
                memcpy(m->triangles[kept++], t, sizeof t);
        }
        m->triangle_count = kept;
        drop_unused_vertices(m, new_index);
    }
    free(new_index);
    return status;
}

/* Twelve little-endian floats (normal, three corners) and two bytes of attribute, always zero. */
static size_t stl_triangle(const mesh *m, const int t[3], unsigned char out[50])
{
    vec3 p[4];
    for (int k = 0; k < 3; k++)
        p[k + 1] = m->vertices[t[k]];
    p[0] =
        vec3_normalize_or(vec3_cross(vec3_sub(p[2], p[1]), vec3_sub(p[3], p[1])), (vec3){0, 0, 0});
    memset(out, 0, 50);
    for (int k = 0; k < 4; k++) {
        float f[3] = {(float)p[k].x, (float)p[k].y, (float)p[k].z};
        memcpy(out + (size_t)12 * (size_t)k, f, sizeof f);
    }
    return 50;
}

hr_status mesh_save_stl(const mesh *m, const char *path, hr_error *error)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written", path);
    unsigned char header[80] = "binary STL, metres";
    uint32_t count = (uint32_t)m->triangle_count;
    bool good = fwrite(header, 1, 80, file) == 80 && fwrite(&count, 4, 1, file) == 1;
    for (int i = 0; i < m->triangle_count && good; i++) {
        unsigned char record[50];
        size_t size = stl_triangle(m, m->triangles[i], record);
        good = fwrite(record, 1, size, file) == size;
    }
    if (fclose(file) != 0 || !good)
        return error_set(error, HR_ERR_IO, "%s: expected room for %d triangles, the disk refused",
                         path, m->triangle_count);
    return HR_OK;
}
