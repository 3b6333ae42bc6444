#include "collide/mesh_closest.h"

#include <stddef.h>
#include <stdlib.h>

#include "collide/closest.h"

enum { LEAF = 4, STACK = 128 };

typedef struct box_node {
    vec3 low, high;
    int first, count; /* triangles of a leaf, in `order` */
    int right;        /* the left child follows; 0: a leaf */
} box_node;

/* An edge of a triangle, from its lower vertex to its higher. */
typedef struct half_edge {
    int low, high, triangle, side;
    bool is_forward;
} half_edge;

struct mesh_finder {
    const mesh *m;
    int node_count;
    box_node *nodes;
    int *order;
    vec3 *vertex_normals;    /* angle-weighted, not unit */
    vec3 (*edge_normals)[3]; /* by triangle and side (side k joins corners k and k + 1) */
    vec3 *triangle_normals;
    bool is_closed;
    double outward; /* -1 where the triangles of a closed mesh all face inward */
};

static const vec3 *corner(const mesh *m, int triangle, int k)
{
    return &m->vertices[m->triangles[triangle][k]];
}

/* --- the tree -----------------------------------------------------------------------------------
 */

static vec3 centre(const mesh *m, int t)
{
    return vec3_add(vec3_add(*corner(m, t, 0), *corner(m, t, 1)), *corner(m, t, 2));
}

static double axis_of(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void grow(box_node *n, vec3 p)
{
    n->low = (vec3){fmin(n->low.x, p.x), fmin(n->low.y, p.y), fmin(n->low.z, p.z)};
    n->high = (vec3){fmax(n->high.x, p.x), fmax(n->high.y, p.y), fmax(n->high.z, p.z)};
}

/* Puts the median of order[first .. first + count) along an axis in its middle (Hoare's select). */
static void select_middle(const mesh *m, int *order, int count, int axis)
{
    int low = 0, high = count - 1, middle = count / 2;
    while (low < high) {
        double pivot = axis_of(centre(m, order[(low + high) / 2]), axis);
        int i = low, j = high;
        while (i <= j) {
            while (axis_of(centre(m, order[i]), axis) < pivot)
                i++;
            while (axis_of(centre(m, order[j]), axis) > pivot)
                j--;
            if (i > j)
                break;
            int swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static int build(mesh_finder *f, int first, int count) /* NOLINT(misc-no-recursion): depth log n */
{
    int index = f->node_count++;
    box_node *n = &f->nodes[index];
    *n = (box_node){.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, .first = first, .count = count};
    n->high = vec3_negate(n->low);
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < 3; k++)
            grow(n, *corner(f->m, f->order[i], k));
    if (count <= LEAF)
        return index;
    vec3 size = vec3_sub(n->high, n->low);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    select_middle(f->m, f->order + first, count, axis);
    build(f, first, count / 2);
    int right = build(f, first + count / 2, count - count / 2);
    f->nodes[index].right = right;
    return index;
}

/* --- normals of edges and vertices
 * ---------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
    const half_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static void list_edges(const mesh *m, half_edge *out)
{
    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int a = m->triangles[t][k], b = m->triangles[t][(k + 1) % 3];
            *out++ = (half_edge){a < b ? a : b, a < b ? b : a, t, k, a < b};
        }
}

/* The sum of the normals along each edge goes to every triangle at it. */
static void share_edge_normals(mesh_finder *f, const half_edge *edges, int count)
{
    f->is_closed = true;
    for (int i = 0, j; i < count; i = j) {
        vec3 sum = {0, 0, 0};
        for (j = i; j < count && compare_edges(&edges[i], &edges[j]) == 0; j++)
            sum = vec3_add(sum, f->triangle_normals[edges[j].triangle]);
        for (int k = i; k < j; k++)
            f->edge_normals[edges[k].triangle][edges[k].side] = sum;
        if (j - i != 2 || edges[i].is_forward == edges[i + 1].is_forward)
            f->is_closed = false;
    }
}

static void find_normals(mesh_finder *f)
{
    const mesh *m = f->m;
    for (int t = 0; t < m->triangle_count; t++) {
        vec3 a = *corner(m, t, 0), b = *corner(m, t, 1), c = *corner(m, t, 2);
        vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
        f->triangle_normals[t] = n = vec3_normalize_or(n, (vec3){0, 0, 0});
        for (int k = 0; k < 3; k++) {
            vec3 p = *corner(m, t, k);
            vec3 x = vec3_sub(*corner(m, t, (k + 1) % 3), p);
            vec3 y = vec3_sub(*corner(m, t, (k + 2) % 3), p);
            double angle = atan2(vec3_length(vec3_cross(x, y)), vec3_dot(x, y));
            vec3 *sum = &f->vertex_normals[m->triangles[t][k]];
            *sum = vec3_add_scaled(*sum, angle, n);
        }
    }
}

/* Six times the enclosed volume, from tetrahedra to the first vertex. */
static double volume(const mesh *m)
{
    double sum = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        vec3 a = vec3_sub(*corner(m, t, 0), m->vertices[0]);
        vec3 b = vec3_sub(*corner(m, t, 1), m->vertices[0]);
        sum += vec3_dot(vec3_cross(a, b), vec3_sub(*corner(m, t, 2), m->vertices[0]));
    }
    return sum;
}

mesh_finder *mesh_finder_create(const mesh *m)
{
    mesh_finder *f = calloc(1, sizeof *f);
    if (!f || m->triangle_count < 1) {
        free(f);
        return NULL;
    }
    size_t triangles = (size_t)m->triangle_count;
    f->m = m;
    f->nodes = malloc(2 * triangles * sizeof *f->nodes);
    f->order = malloc(triangles * sizeof *f->order);
    f->vertex_normals = calloc((size_t)m->vertex_count, sizeof *f->vertex_normals);
    f->edge_normals = calloc(triangles, sizeof *f->edge_normals);
    f->triangle_normals = calloc(triangles, sizeof *f->triangle_normals);
    half_edge *edges = calloc(3 * triangles, sizeof *edges);
    if (!f->nodes || !f->order || !f->vertex_normals || !f->edge_normals || !f->triangle_normals ||
        !edges) {
        free(edges);
        mesh_finder_destroy(f);
        return NULL;
    }
    for (int i = 0; i < m->triangle_count; i++)
        f->order[i] = i;
    build(f, 0, m->triangle_count);
    find_normals(f);
    list_edges(m, edges);
    qsort(edges, 3 * triangles, sizeof *edges, compare_edges);
    share_edge_normals(f, edges, (int)(3 * triangles));
    f->outward = f->is_closed && volume(m) < 0 ? -1.0 : 1.0;
    free(edges);
    return f;
}

void mesh_finder_destroy(mesh_finder *f)
{
    if (!f)
        return;
    free(f->nodes);
    free(f->order);
    free(f->vertex_normals);
    free(f->edge_normals);
    free(f->triangle_normals);
    free(f);
}

bool mesh_finder_is_closed(const mesh_finder *f)
{
    return f->is_closed;
}

/* --- queries
 * -------------------------------------------------------------------------------------- */

static double box_distance(const box_node *n, vec3 q)
{
    double x = fmax(0, fmax(n->low.x - q.x, q.x - n->high.x));
    double y = fmax(0, fmax(n->low.y - q.y, q.y - n->high.y));
    double z = fmax(0, fmax(n->low.z - q.z, q.z - n->high.z));
    return x * x + y * y + z * z;
}

/* The normal of the feature that the weights name: a vertex, an edge or the triangle itself. */
static vec3 feature_normal(const mesh_finder *f, int triangle, const double *w)
{
    for (int k = 0; k < 3; k++)
        if (w[(k + 1) % 3] == 0 && w[(k + 2) % 3] == 0)
            return f->vertex_normals[f->m->triangles[triangle][k]];
    for (int k = 0; k < 3; k++)
        if (w[(k + 2) % 3] == 0)
            return f->edge_normals[triangle][k];
    return f->triangle_normals[triangle];
}

static void search_leaf(const mesh_finder *f, const box_node *n, vec3 point, double *best,
                        closest_pair *found, int *triangle)
{
    for (int i = n->first; i < n->first + n->count; i++) {
        int t = f->order[i];
        closest_pair c = closest_point_triangle(point, *corner(f->m, t, 0), *corner(f->m, t, 1),
                                                *corner(f->m, t, 2));
        if (c.distance_squared >= *best)
            continue;
        *best = c.distance_squared;
        *found = c;
        *triangle = t;
    }
}

hr_status mesh_find_nearest(const mesh_finder *f, vec3 point, mesh_nearest *out)
{
    if (!vec3_is_finite(point))
        return HR_ERR_NOT_FINITE;
    int stack[STACK], depth = 0, triangle = 0;
    double best = HUGE_VAL;
    closest_pair c = {0};
    stack[depth++] = 0;
    while (depth > 0) {
        int index = stack[--depth];
        const box_node *n = &f->nodes[index];
        if (box_distance(n, point) >= best)
            continue;
        if (!n->right) {
            search_leaf(f, n, point, &best, &c, &triangle);
            continue;
        }
        /* The nearer child is looked at first. */
        int near = index + 1, far = n->right;
        if (box_distance(&f->nodes[far], point) < box_distance(&f->nodes[near], point)) {
            near = n->right;
            far = index + 1;
        }
        stack[depth++] = far;
        stack[depth++] = near;
    }
    const double *w = c.weights + 1;
    out->triangle = triangle;
    out->u = w[1];
    out->v = w[2];
    out->p = c.on_second;
    out->normal =
        vec3_normalize_or(vec3_scale(f->outward, feature_normal(f, triangle, w)), (vec3){0, 0, 0});
    out->distance = sqrt(best);
    if (f->is_closed && vec3_dot(vec3_sub(point, out->p), out->normal) < 0)
        out->distance = -out->distance;
    return HR_OK;
}
