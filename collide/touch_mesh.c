#include "collide/touch_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_TRIANGLES = 4 };

typedef struct edge_key {
    int32_t low, high, triangle, corner;
} edge_key;

static int by_edge(const void *a, const void *b)
{
    const edge_key *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->triangle - y->triangle;
}

static void take_triangles(const mesh *m, touch_mesh *out)
{
    for (int i = 0; i < m->triangle_count; i++) {
        touch_triangle *t = &out->triangles[i];
        for (int c = 0; c < 3; c++) {
            t->vertex[c] = m->triangles[i][c];
            t->corners[c] = m->vertices[t->vertex[c]];
            t->next[c] = -1;
            t->is_sharp[c] = true;
            out->radius = fmax(out->radius, vec3_length(t->corners[c]));
        }
        vec3 cross = vec3_cross(vec3_sub(t->corners[1], t->corners[0]),
                                vec3_sub(t->corners[2], t->corners[0]));
        t->normal = vec3_normalize_or(cross, (vec3){0, 0, 1});
    }
}

/* --- boxes ------------------------------------------------------------------------------------ */

static double centre_along(const touch_triangle *t, int axis)
{
    return (&t->corners[0].x)[axis] + (&t->corners[1].x)[axis] + (&t->corners[2].x)[axis];
}

static void bound(const touch_triangle *t, int count, touch_node *out)
{
    for (int axis = 0; axis < 3; axis++) {
        out->low[axis] = (double)INFINITY;
        out->high[axis] = -(double)INFINITY;
        for (int i = 0; i < 3 * count; i++) {
            double x = (&t[i / 3].corners[i % 3].x)[axis];
            out->low[axis] = fmin(out->low[axis], x);
            out->high[axis] = fmax(out->high[axis], x);
        }
    }
}

/* The cone of normals, for telling a sheet from another. */
static void face(const touch_triangle *t, int count, touch_node *out)
{
    vec3 sum = {0, 0, 0};
    double least = 1;
    for (int i = 0; i < count; i++)
        sum = vec3_add(sum, t[i].normal);
    out->facing = vec3_normalize_or(sum, (vec3){0, 0, 1});
    for (int i = 0; i < count; i++)
        least = fmin(least, vec3_dot(t[i].normal, out->facing));
    double spread = acos(fmax(-1, least));
    out->same_sheet = spread < TOUCH_MESH_SHEET_RAD ? cos(TOUCH_MESH_SHEET_RAD - spread) : 2;
}

static _Thread_local int sort_axis; /* for qsort, which hands over no context */

static int by_centre(const void *a, const void *b)
{
    double x = centre_along(a, sort_axis), y = centre_along(b, sort_axis);
    return (x > y) - (x < y);
}

static void build_boxes(touch_mesh *m)
{
    m->node_count = 1;
    m->nodes[0] = (touch_node){.left = -1, .count = m->triangle_count};
    for (int n = 0; n < m->node_count; n++) {
        touch_node *node = &m->nodes[n];
        touch_triangle *t = &m->triangles[node->first];
        bound(t, node->count, node);
        face(t, node->count, node);
        if (node->count <= LEAF_TRIANGLES)
            continue;
        sort_axis = 0;
        for (int axis = 1; axis < 3; axis++)
            if (node->high[axis] - node->low[axis] > node->high[sort_axis] - node->low[sort_axis])
                sort_axis = axis;
        qsort(t, (size_t)node->count, sizeof *t, by_centre);
        int half = node->count / 2;
        node->left = m->node_count;
        m->nodes[node->left] = (touch_node){.left = -1, .first = node->first, .count = half};
        m->nodes[node->left + 1] =
            (touch_node){.left = -1, .first = node->first + half, .count = node->count - half};
        m->node_count += 2;
    }
}

/* --- neighbours and normals ------------------------------------------------------------------- */

static void join_edges(touch_mesh *m, edge_key *edges, double crease)
{
    int n = 3 * m->triangle_count;
    for (int i = 0; i < n; i++) {
        const touch_triangle *t = &m->triangles[i / 3];
        int a = t->vertex[i % 3], b = t->vertex[(i % 3 + 1) % 3];
        edges[i] = (edge_key){a < b ? a : b, a < b ? b : a, i / 3, i % 3};
    }
    qsort(edges, (size_t)n, sizeof *edges, by_edge);
    m->is_closed = true;
    for (int i = 0; i < n;) {
        int same = 1;
        while (i + same < n && edges[i + same].low == edges[i].low &&
               edges[i + same].high == edges[i].high)
            same++;
        if (same == 2) {
            touch_triangle *s = &m->triangles[edges[i].triangle];
            touch_triangle *t = &m->triangles[edges[i + 1].triangle];
            s->next[edges[i].corner] = edges[i + 1].triangle;
            t->next[edges[i + 1].corner] = edges[i].triangle;
            bool is_sharp = vec3_dot(s->normal, t->normal) < cos(crease);
            s->is_sharp[edges[i].corner] = t->is_sharp[edges[i + 1].corner] = is_sharp;
        } else {
            m->is_closed = false;
        }
        i += same;
    }
}

static void gather_fans(touch_mesh *m)
{
    for (int i = 0; i < 3 * m->triangle_count; i++)
        m->fan_first[m->triangles[i / 3].vertex[i % 3] + 1]++;
    for (int v = 0; v < m->vertex_count; v++)
        m->fan_first[v + 1] += m->fan_first[v];
    for (int i = 3 * m->triangle_count - 1; i >= 0; i--) /* fills each fan from its end */
        m->fans[--m->fan_first[m->triangles[i / 3].vertex[i % 3] + 1]] = i / 3;
    /* filling moved every start back by one fan: put the table right */
    memmove(m->fan_first, m->fan_first + 1, (size_t)m->vertex_count * sizeof *m->fan_first);
    m->fan_first[m->vertex_count] = 3 * m->triangle_count;
}

static double angle_at(const touch_triangle *t, int corner)
{
    vec3 a = vec3_sub(t->corners[(corner + 1) % 3], t->corners[corner]);
    vec3 b = vec3_sub(t->corners[(corner + 2) % 3], t->corners[corner]);
    return atan2(vec3_length(vec3_cross(a, b)), vec3_dot(a, b));
}

static int corner_of(const touch_triangle *t, int vertex)
{
    return t->vertex[0] == vertex ? 0 : t->vertex[1] == vertex ? 1 : 2;
}

/* From a triangle around one of its vertices, over smooth edges only, one way: adds up what it
 * meets until it comes back or an edge is sharp. */
static bool walk_fan(const touch_mesh *m, int start, int vertex, bool forward, vec3 *sum)
{
    int now = start;
    for (int guard = 0; guard < 256; guard++) {
        const touch_triangle *t = &m->triangles[now];
        int corner = corner_of(t, vertex), edge = forward ? corner : (corner + 2) % 3;
        if (t->is_sharp[edge])
            return false;
        now = t->next[edge];
        if (now == start)
            return true;
        const touch_triangle *other = &m->triangles[now];
        *sum = vec3_add_scaled(*sum, angle_at(other, corner_of(other, vertex)), other->normal);
    }
    return true;
}

/* The mean of the faces around a corner by their angles, as far as smooth edges reach. */
static void smooth_normals(touch_mesh *m)
{
    for (int i = 0; i < 3 * m->triangle_count; i++) {
        touch_triangle *t = &m->triangles[i / 3];
        int corner = i % 3;
        vec3 sum = vec3_scale(angle_at(t, corner), t->normal);
        if (!walk_fan(m, i / 3, t->vertex[corner], true, &sum))
            (void)walk_fan(m, i / 3, t->vertex[corner], false, &sum);
        t->normals[corner] = vec3_normalize_or(sum, t->normal);
    }
}

hr_status touch_mesh_create(const mesh *source, double crease_rad, touch_mesh **out)
{
    size_t n = (size_t)source->triangle_count;
    touch_mesh *m = calloc(1, sizeof *m);
    edge_key *edges = calloc(3 * n + 1, sizeof *edges);
    if (m) {
        m->triangle_count = source->triangle_count;
        m->vertex_count = source->vertex_count;
        m->triangles = calloc(n + 1, sizeof *m->triangles);
        m->nodes = calloc(2 * n + 1, sizeof *m->nodes);
        m->fan_first = calloc((size_t)m->vertex_count + 2, sizeof *m->fan_first);
        m->fans = calloc(3 * n + 1, sizeof *m->fans);
    }
    if (!m || !edges || !m->triangles || !m->nodes || !m->fan_first || !m->fans) {
        touch_mesh_destroy(m);
        free(edges);
        return HR_ERR_MEMORY;
    }
    take_triangles(source, m);
    build_boxes(m);
    join_edges(m, edges, crease_rad);
    gather_fans(m);
    smooth_normals(m);
    free(edges);
    *out = m;
    return HR_OK;
}

void touch_mesh_destroy(touch_mesh *m)
{
    if (!m)
        return;
    free(m->triangles);
    free(m->nodes);
    free(m->fan_first);
    free(m->fans);
    free(m);
}
