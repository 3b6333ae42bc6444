/* Top-down construction: axes from the covariance of the surface, cut at the median along the
 * longest axis. */
#include "collide/obb_tree.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_TRIANGLES = 1, DEPTH_MAX = 48, JACOBI_SWEEPS = 12 };

/* Inflation against rounding, relative to the coordinates. */
static const double inflate = 64 * 0x1p-53;

typedef struct edge_key {
    int32_t low, high, triangle, corner;
} edge_key;

/* Diagonalises a symmetric matrix; the columns of the result are its eigenvectors. */
static mat3 eigenvectors(mat3 a)
{
    mat3 v = mat3_identity();
    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        for (int k = 0; k < 3; k++) {
            int p = k == 2 ? 1 : 0, q = k == 0 ? 1 : 2;
            double off = a.m[p][q];
            if (fabs(off) < 1e-300)
                continue;
            double theta = (a.m[q][q] - a.m[p][p]) / (2 * off);
            double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
            double c = 1 / sqrt(t * t + 1), s = t * c;
            mat3 turn = mat3_identity();
            turn.m[p][p] = turn.m[q][q] = c;
            turn.m[p][q] = s;
            turn.m[q][p] = -s;
            a = mat3_multiply(mat3_transpose(turn), mat3_multiply(a, turn));
            v = mat3_multiply(v, turn);
        }
    }
    return v;
}

/* Second moments of the triangles about their common centre, weighted by area. */
static mat3 covariance(const obb_triangle *t, int n)
{
    vec3 mean = {0, 0, 0};
    double total = 0;
    mat3 sum = {{{0}}};
    for (int i = 0; i < n; i++) {
        const vec3 *p = t[i].corners;
        double area = vec3_length(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
        vec3 third = vec3_scale(1.0 / 3, vec3_add(p[0], vec3_add(p[1], p[2])));
        total += area;
        mean = vec3_add_scaled(mean, area, third);
        for (int k = 0; k < 3; k++)
            sum = mat3_add(sum, mat3_scale(area / 12, mat3_outer(p[k], p[k])));
        sum = mat3_add(sum, mat3_scale(area * 9 / 12, mat3_outer(third, third)));
    }
    if (!(total > 0))
        return mat3_identity();
    mean = vec3_scale(1 / total, mean);
    return mat3_add(mat3_scale(1 / total, sum), mat3_scale(-1, mat3_outer(mean, mean)));
}

/* Two of the eigenvectors, made orthonormal; the third follows. */
static mat3 principal_axes(const obb_triangle *t, int n)
{
    mat3 v = eigenvectors(covariance(t, n));
    vec3 x = vec3_normalize_or(mat3_column(v, 0), (vec3){1, 0, 0});
    vec3 y = vec3_normalize_or(vec3_reject(mat3_column(v, 1), x), vec3_any_perpendicular(x));
    return mat3_from_columns(x, y, vec3_cross(x, y));
}

/* The thinnest side first: it faces along the normal of the surface, where most boxes part. */
static void order_sides(mat3 axes, vec3 half, obb *out)
{
    const double *e = &half.x;
    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++) {
        for (int at = i; at > 0 && e[order[at]] < e[order[at - 1]]; at--) {
            int swap = order[at];
            order[at] = order[at - 1];
            order[at - 1] = swap;
        }
    }
    out->axes[0] = mat3_column(axes, order[0]);
    out->axes[1] = mat3_column(axes, order[1]);
    out->axes[2] = vec3_cross(out->axes[0], out->axes[1]);
    out->half = (vec3){e[order[0]], e[order[1]], e[order[2]]};
}

static obb fit(const obb_triangle *t, int n)
{
    obb box;
    mat3 axes = principal_axes(t, n);
    vec3 low = {(double)INFINITY, (double)INFINITY, (double)INFINITY}, high = vec3_negate(low);
    double size = 0;
    for (int i = 0; i < 3 * n; i++) {
        vec3 p = t[i / 3].corners[i % 3], local = mat3_apply_transposed(axes, p);
        low = (vec3){fmin(low.x, local.x), fmin(low.y, local.y), fmin(low.z, local.z)};
        high = (vec3){fmax(high.x, local.x), fmax(high.y, local.y), fmax(high.z, local.z)};
        size = fmax(size, vec3_length(p));
    }
    double extra = inflate * size + 1e-300;
    vec3 half = vec3_add(vec3_scale(0.5, vec3_sub(high, low)), (vec3){extra, extra, extra});
    order_sides(axes, half, &box);
    box.centre = mat3_apply(axes, vec3_scale(0.5, vec3_add(low, high)));
    box.radius = vec3_length(half) * (1 + inflate);
    box.distance = vec3_length(box.centre);
    return box;
}

/* Sorting keys of the triangles along one direction. */
typedef struct keyed {
    double key;
    obb_triangle triangle;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->triangle.index - y->triangle.index;
}

static void sort_along(obb_triangle *t, int n, vec3 direction, keyed *work)
{
    for (int i = 0; i < n; i++) {
        const vec3 *p = t[i].corners;
        work[i] = (keyed){vec3_dot(direction, vec3_add(p[0], vec3_add(p[1], p[2]))), t[i]};
    }
    qsort(work, (size_t)n, sizeof *work, by_key);
    for (int i = 0; i < n; i++)
        t[i] = work[i].triangle;
}

static void split(obb_tree *tree, int node, keyed *work)
{
    obb_node *n = &tree->nodes[node];
    obb_triangle *t = &tree->triangles[n->first];
    n->box = fit(t, n->count);
    n->left = -1;
    if (n->count <= LEAF_TRIANGLES || n->depth == DEPTH_MAX)
        return;
    sort_along(t, n->count, n->box.axes[2], work);
    int half = n->count / 2;
    n->left = tree->node_count;
    tree->node_count += 2;
    tree->nodes[n->left] =
        (obb_node){.first = n->first, .count = half, .depth = n->depth + 1, .left = -1};
    tree->nodes[n->left + 1] = (obb_node){
        .first = n->first + half, .count = n->count - half, .depth = n->depth + 1, .left = -1};
}

static int by_edge(const void *a, const void *b)
{
    const edge_key *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->triangle - y->triangle;
}

/* Each vertex and edge belongs to the first triangle that has it. */
static hr_status give_owners(obb_tree *tree, int vertex_count)
{
    int n = tree->triangle_count;
    edge_key *edges = calloc(3 * (size_t)n, sizeof *edges);
    char *taken = calloc((size_t)vertex_count + 1, 1);
    if (edges && taken) {
        for (int i = 0; i < 3 * n; i++) {
            obb_triangle *t = &tree->triangles[i / 3];
            int corner = i % 3, a = t->vertices[corner], b = t->vertices[(corner + 1) % 3];
            edges[i] = (edge_key){a < b ? a : b, a < b ? b : a, i / 3, corner};
            if (!taken[a])
                t->owns |= OBB_OWNS_VERTEX << corner;
            taken[a] = 1;
        }
        qsort(edges, 3 * (size_t)n, sizeof *edges, by_edge);
        for (int i = 0; i < 3 * n; i++)
            if (i == 0 || edges[i].low != edges[i - 1].low || edges[i].high != edges[i - 1].high)
                tree->triangles[edges[i].triangle].owns |= OBB_OWNS_EDGE << edges[i].corner;
    }
    bool is_good = edges && taken;
    free(edges);
    free(taken);
    return is_good ? HR_OK : HR_ERR_MEMORY;
}

static vec3 lowest(vec3 a, vec3 b)
{
    return (vec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static vec3 highest(vec3 a, vec3 b)
{
    return vec3_negate(lowest(vec3_negate(a), vec3_negate(b)));
}

/* One corner of the next triangle, and the bounds with it. */
static bool take_corner(obb_tree *tree, int triangle, int corner, vec3 p, int vertex)
{
    bool is_first = triangle == 0 && corner == 0;
    tree->triangles[triangle].index = triangle;
    tree->triangles[triangle].corners[corner] = p;
    tree->triangles[triangle].vertices[corner] = vertex;
    tree->reach = fmax(tree->reach, vec3_length(p));
    tree->low = is_first ? p : lowest(tree->low, p);
    tree->high = is_first ? p : highest(tree->high, p);
    return vec3_is_finite(p);
}

static hr_status take_triangles(const mesh *const *meshes, const pose *frame_from_mesh, int count,
                                obb_tree *tree)
{
    int made = 0, first_vertex = 0;
    for (int k = 0; k < count; k++) {
        const mesh *m = meshes[k];
        for (int i = 0; i < 3 * m->triangle_count; i++) {
            int vertex = m->triangles[i / 3][i % 3];
            vec3 p = pose_apply(frame_from_mesh[k], m->vertices[vertex]);
            if (!take_corner(tree, made + i / 3, i % 3, p, first_vertex + vertex))
                return HR_ERR_NOT_FINITE;
        }
        made += m->triangle_count;
        first_vertex += m->vertex_count;
    }
    return give_owners(tree, first_vertex);
}

hr_status obb_tree_build(const mesh *const *meshes, const pose *frame_from_mesh, int mesh_count,
                         obb_tree *out)
{
    obb_tree tree = {0};
    for (int k = 0; k < mesh_count; k++)
        tree.triangle_count += meshes[k]->triangle_count;
    if (tree.triangle_count == 0) {
        *out = tree;
        return HR_OK;
    }
    size_t n = (size_t)tree.triangle_count;
    tree.triangles = calloc(n, sizeof *tree.triangles);
    tree.nodes = calloc(2 * n, sizeof *tree.nodes);
    keyed *work = calloc(n, sizeof *work);
    hr_status status = tree.triangles && tree.nodes && work ? HR_OK : HR_ERR_MEMORY;
    if (status == HR_OK)
        status = take_triangles(meshes, frame_from_mesh, mesh_count, &tree);
    if (status == HR_OK) {
        tree.node_count = 1;
        tree.nodes[0] = (obb_node){.count = tree.triangle_count, .left = -1};
        for (int node = 0; node < tree.node_count; node++)
            split(&tree, node, work);
        *out = tree;
    } else {
        obb_tree_free(&tree);
    }
    free(work);
    return status;
}

void obb_tree_free(obb_tree *tree)
{
    free(tree->nodes);
    free(tree->triangles);
    *tree = (obb_tree){0};
}
