#include "collide/near_features.h"

#include <stdlib.h>
#include <string.h>

#include "collide/motion.h"
#include "collide/moving_boxes.h"

/* How far a direction may lean over a neighbouring face and still count as a local minimum. */
static const double lean = 0.02;

/* Points nearer than this have no direction between them. */
static const double coincident_m = 1e-9;

/* A pair of triangles costs as much as so many pairs of boxes. */
enum { STACK_ROOM = 256, LEAF_WORK = 4 };

/* --- around vertices and edges ------------------------------------------------------------------
 */

typedef struct half_edge {
    int low, high, triangle, corner;
} half_edge;

static int by_vertices(const void *x, const void *y)
{
    const half_edge *a = x, *b = y;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return a->triangle != b->triangle ? a->triangle - b->triangle : a->corner - b->corner;
}

/* The first two triangles of each edge see each other; edges of more are no surface. */
static void join_edges(near_surface *s, const half_edge *edges, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const half_edge *e = &edges[i], *f = &edges[i + 1];
        if (e->low != f->low || e->high != f->high)
            continue;
        const obb_triangle *te = &s->tree->triangles[e->triangle];
        const obb_triangle *tf = &s->tree->triangles[f->triangle];
        s->across[3 * e->triangle + e->corner] = tf->vertices[(f->corner + 2) % 3];
        s->across[3 * f->triangle + f->corner] = te->vertices[(e->corner + 2) % 3];
    }
}

/* An edge that is the first of its kind in the sorted list, and has two ends. */
static bool is_new_edge(const half_edge *edges, int i)
{
    const half_edge *e = &edges[i];
    return e->low != e->high &&
           (i == 0 || edges[i - 1].low != e->low || edges[i - 1].high != e->high);
}

/* Every edge once from either end: counted, then listed. */
static void list_rings(near_surface *s, const half_edge *edges, int count)
{
    for (int i = 0; i < count; i++) {
        int once = is_new_edge(edges, i);
        s->ring_start[edges[i].low + 1] += once;
        s->ring_start[edges[i].high + 1] += once;
    }
    for (int v = 0; v < s->vertex_count; v++)
        s->ring_start[v + 1] += s->ring_start[v];
    for (int i = 0; i < count; i++) {
        if (!is_new_edge(edges, i))
            continue;
        s->ring[s->ring_start[edges[i].low]++] = edges[i].high;
        s->ring[s->ring_start[edges[i].high]++] = edges[i].low;
    }
    memmove(s->ring_start + 1, s->ring_start, (size_t)s->vertex_count * sizeof *s->ring_start);
    s->ring_start[0] = 0;
}

hr_status near_surface_make(const obb_tree *tree, double radius, near_surface *out)
{
    near_surface s = {.tree = tree, .radius = radius};
    int count = 3 * tree->triangle_count;
    for (int i = 0; i < count; i++) {
        int v = tree->triangles[i / 3].vertices[i % 3];
        s.vertex_count = v >= s.vertex_count ? v + 1 : s.vertex_count;
    }
    half_edge *edges = calloc((size_t)count + 1, sizeof *edges);
    s.across = calloc((size_t)count + 1, sizeof *s.across);
    s.ring = calloc(2 * (size_t)count + 1, sizeof *s.ring);
    s.ring_start = calloc((size_t)s.vertex_count + 2, sizeof *s.ring_start);
    s.places = calloc((size_t)s.vertex_count + 1, sizeof *s.places);
    if (!edges || !s.across || !s.ring || !s.ring_start || !s.places) {
        free(edges);
        near_surface_free(&s);
        return HR_ERR_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        const obb_triangle *t = &tree->triangles[i / 3];
        int a = t->vertices[i % 3], b = t->vertices[(i + 1) % 3];
        edges[i] = (half_edge){a < b ? a : b, a < b ? b : a, i / 3, i % 3};
        s.across[i] = -1;
        s.places[a] = t->corners[i % 3];
    }
    qsort(edges, (size_t)count, sizeof *edges, by_vertices);
    join_edges(&s, edges, count);
    list_rings(&s, edges, count);
    free(edges);
    *out = s;
    return HR_OK;
}

void near_surface_free(near_surface *s)
{
    free(s->across);
    free(s->ring);
    free(s->ring_start);
    free(s->places);
    *s = (near_surface){0};
}

/* Is the vertex the point of its neighbourhood that is nearest along d (unit, mesh frame, towards
 * the other body)? */
static bool vertex_allows(const near_surface *s, int vertex, vec3 d)
{
    for (int i = s->ring_start[vertex]; i < s->ring_start[vertex + 1]; i++) {
        vec3 way = vec3_sub(s->places[s->ring[i]], s->places[vertex]);
        if (vec3_dot(d, way) > lean * vec3_length(way))
            return false;
    }
    return true;
}

static bool leans_over(vec3 d, vec3 start, vec3 along, vec3 beyond)
{
    vec3 into = vec3_reject(vec3_sub(beyond, start), along);
    return vec3_dot(d, into) > lean * vec3_length(into);
}

static bool is_rounded(const near_surface *s)
{
    return s->radius > 0;
}

/* The same for the edge after a corner. Rounded segments allow every direction. */
static bool edge_allows(const near_surface *s, int triangle, int corner, vec3 d)
{
    if (is_rounded(s))
        return true;
    const obb_triangle *t = &s->tree->triangles[triangle];
    vec3 start = t->corners[corner];
    vec3 along = vec3_normalize_or(vec3_sub(t->corners[(corner + 1) % 3], start), (vec3){0, 0, 1});
    int across = s->across[3 * triangle + corner];
    return !leans_over(d, start, along, t->corners[(corner + 2) % 3]) &&
           (across < 0 || !leans_over(d, start, along, s->places[across]));
}

/* --- the search ---------------------------------------------------------------------------------
 */

typedef struct side {
    const near_surface *surface;
    rigid world_from_mesh;
} side;

typedef struct search {
    side sides[2];
    double reach; /* shrinks to the smallest gap so far and the band */
    double band;
    near_feature *out;
    int count;
} search;

static vec3 into_mesh(const side *s, vec3 direction)
{
    return mat3_apply_transposed(s->world_from_mesh.rotation, direction);
}

static void place_corners(const side *s, const obb_triangle *t, vec3 out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = rigid_apply(&s->world_from_mesh, t->corners[i]);
}

/* On core points of a and b; `outward` is the normal where they coincide, zero: not known. */
static void keep(search *s, triangle_feature kind, vec3 on_a, vec3 on_b, vec3 outward,
                 const uint32_t id[4])
{
    double ra = s->sides[0].surface->radius, rb = s->sides[1].surface->radius;
    vec3 apart = vec3_sub(on_a, on_b);
    double distance = vec3_length(apart), gap = distance - ra - rb;
    if (gap >= s->reach || s->count == NEAR_FEATURES_MAX)
        return;
    near_feature f = {.kind = kind, .normal = outward, .gap = gap};
    if (distance > coincident_m)
        f.normal = vec3_scale(1 / distance, apart);
    else if (!(vec3_length_squared(outward) > 0))
        return;
    f.point[0] = vec3_add_scaled(on_a, -ra, f.normal);
    f.point[1] = vec3_add_scaled(on_b, rb, f.normal);
    memcpy(f.id, id, sizeof f.id);
    for (int i = 0; i < s->count; i++)
        if (vec3_distance(s->out[i].point[0], f.point[0]) < 1e-7 &&
            vec3_distance(s->out[i].point[1], f.point[1]) < 1e-7)
            return;
    s->out[s->count++] = f;
    s->reach = fmin(s->reach, fmax(gap, 0) + s->band);
}

/* Over the face, or over its rim and straight above it: the next triangle may say the same. */
static bool is_over(const closest_pair *c, const vec3 face[3], vec3 d)
{
    const double *w = c->weights + 1;
    if (w[0] > 1e-9 && w[1] > 1e-9 && w[2] > 1e-9)
        return true;
    vec3 n = vec3_cross(vec3_sub(face[1], face[0]), vec3_sub(face[2], face[0]));
    return fabs(vec3_dot(n, d)) > (1 - 0.5 * lean * lean) * vec3_length(n);
}

/* Vertex i of triangle tv of side v over the face tf of the other side. */
static void try_vertex(search *s, int v, int tv, int i, int tf, const vec3 vertex[3],
                       const vec3 face[3])
{
    const side *own = &s->sides[v], *other = &s->sides[1 - v];
    const obb_triangle *t = &own->surface->tree->triangles[tv];
    closest_pair c = closest_point_triangle(vertex[i], face[0], face[1], face[2]);
    double limit = s->reach + own->surface->radius + other->surface->radius;
    if (c.distance_squared >= limit * limit)
        return;
    vec3 out = vec3_cross(vec3_sub(face[1], face[0]), vec3_sub(face[2], face[0]));
    out = vec3_normalize_or(out, (vec3){0, 0, 0});
    vec3 d = vec3_negate(out);
    if (c.distance_squared > coincident_m * coincident_m)
        d = vec3_normalize_or(vec3_sub(c.on_second, c.on_first), d);
    if (!is_rounded(other->surface) && !is_over(&c, face, d)) /* rounded: a segment or a point */
        return;
    if (!vertex_allows(own->surface, t->vertices[i], into_mesh(own, d)) &&
        !is_rounded(own->surface))
        return;
    uint32_t id[4] = {(uint32_t)t->vertices[i], (uint32_t)other->surface->tree->triangles[tf].index,
                      0, 0};
    if (v == 0)
        keep(s, TRIANGLE_A_VERTEX, c.on_first, c.on_second, out, id);
    else
        keep(s, TRIANGLE_B_VERTEX, c.on_second, c.on_first, vec3_negate(out), id);
}

static bool is_within(double weight, const near_surface *s)
{
    return is_rounded(s) || (weight > 1e-9 && weight < 1 - 1e-9);
}

static void edge_ids(const obb_triangle *t, int corner, uint32_t id[2])
{
    uint32_t a = (uint32_t)t->vertices[corner], b = (uint32_t)t->vertices[(corner + 1) % 3];
    id[0] = a < b ? a : b;
    id[1] = a < b ? b : a;
}

static void try_edges(search *s, const int triangle[2], int i, int j, const vec3 a[3],
                      const vec3 b[3])
{
    const near_surface *sa = s->sides[0].surface, *sb = s->sides[1].surface;
    closest_pair c = closest_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]);
    double limit = s->reach + sa->radius + sb->radius;
    if (c.distance_squared >= limit * limit || !is_within(c.weights[0], sa) ||
        !is_within(c.weights[2], sb))
        return;
    vec3 d = vec3_normalize_or(vec3_sub(c.on_second, c.on_first), (vec3){0, 0, 0});
    if (!edge_allows(sa, triangle[0], i, into_mesh(&s->sides[0], d)) ||
        !edge_allows(sb, triangle[1], j, into_mesh(&s->sides[1], vec3_negate(d))))
        return;
    uint32_t id[4];
    edge_ids(&sa->tree->triangles[triangle[0]], i, id);
    edge_ids(&sb->tree->triangles[triangle[1]], j, id + 2);
    keep(s, TRIANGLE_EDGES, c.on_first, c.on_second, (vec3){0, 0, 0}, id);
}

static void try_triangles(search *s, int ta, int tb)
{
    const obb_triangle *a = &s->sides[0].surface->tree->triangles[ta];
    const obb_triangle *b = &s->sides[1].surface->tree->triangles[tb];
    int triangle[2] = {ta, tb};
    vec3 ca[3], cb[3];
    place_corners(&s->sides[0], a, ca);
    place_corners(&s->sides[1], b, cb);
    for (int i = 0; i < 3; i++) {
        if (a->owns & (OBB_OWNS_VERTEX << i))
            try_vertex(s, 0, ta, i, tb, ca, cb);
        if (b->owns & (OBB_OWNS_VERTEX << i))
            try_vertex(s, 1, tb, i, ta, cb, ca);
        for (int j = 0; j < 3; j++)
            if (a->owns & (OBB_OWNS_EDGE << i) && b->owns & (OBB_OWNS_EDGE << j))
                try_edges(s, triangle, i, j, ca, cb);
    }
}

static void try_leaves(search *s, const obb_node *a, const obb_node *b)
{
    for (int i = a->first; i < a->first + a->count; i++)
        for (int k = b->first; k < b->first + b->count; k++)
            try_triangles(s, i, k);
}

static moving_frame resting_frame(const rigid *world_from_a, const rigid *world_from_b)
{
    moving_frame frame;
    rigid inverse = rigid_inverse(world_from_a), a_from_b = rigid_compose(&inverse, world_from_b);
    motion constant;
    motion_set_constant(&a_from_b, &constant);
    motion_to_taylor(&constant, 0, &frame.a_from_b);
    moving_frame_bound(&frame);
    return frame;
}

/* Opens the larger box; the child that is nearer to the other comes first, because every gap that
 * is found spares work. */
static int open_larger(const search *s, const rigid *a_from_b, const int at[2], int (*stack)[2],
                       int depth)
{
    const obb_tree *ta = s->sides[0].surface->tree, *tb = s->sides[1].surface->tree;
    const obb_node *na = &ta->nodes[at[0]], *nb = &tb->nodes[at[1]];
    bool opens_a = nb->left < 0 || (na->left >= 0 && na->box.radius >= nb->box.radius);
    double distance[2];
    if (depth + 2 > STACK_ROOM)
        return depth;
    for (int k = 0; k < 2; k++) {
        vec3 ca = opens_a ? ta->nodes[na->left + k].box.centre : na->box.centre;
        vec3 cb = opens_a ? nb->box.centre : tb->nodes[nb->left + k].box.centre;
        distance[k] = vec3_distance(ca, rigid_apply(a_from_b, cb));
        stack[depth + k][0] = opens_a ? na->left + k : at[0];
        stack[depth + k][1] = opens_a ? at[1] : nb->left + k;
    }
    if (distance[0] < distance[1]) /* the last one is looked at first */
        for (int k = 0; k < 2; k++) {
            int spare = stack[depth][k];
            stack[depth][k] = stack[depth + 1][k];
            stack[depth + 1][k] = spare;
        }
    return depth + 2;
}

/* Those that were found before the reach shrank. */
static int drop_far(near_feature *list, int count, double reach)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (list[i].gap < reach)
            list[kept++] = list[i];
    return kept;
}

int near_features_find(const near_surface *a, const rigid *world_from_a, const near_surface *b,
                       const rigid *world_from_b, double reach, double band, int64_t *work,
                       near_feature *out)
{
    search s = {{{a, *world_from_a}, {b, *world_from_b}}, reach, band, out, 0};
    const obb_tree *ta = a->tree, *tb = b->tree;
    int stack[STACK_ROOM][2] = {{0, 0}}, depth = 1;
    if (ta->node_count == 0 || tb->node_count == 0)
        return 0;
    moving_frame frame = resting_frame(world_from_a, world_from_b);
    rigid a_from_b = taylor_at(&frame.a_from_b, 0);
    while (depth > 0 && *work > 0) {
        depth--;
        (*work)--;
        int at[2] = {stack[depth][0], stack[depth][1]};
        const obb_node *na = &ta->nodes[at[0]], *nb = &tb->nodes[at[1]];
        moving_box resting;
        double separation = s.reach + a->radius + b->radius;
        moving_box_place(&frame, &nb->box, &resting);
        if (moving_box_is_apart(&na->box, &resting, separation))
            continue;
        if (na->left < 0 && nb->left < 0) {
            try_leaves(&s, na, nb);
            *work -= LEAF_WORK;
        } else {
            depth = open_larger(&s, &a_from_b, at, stack, depth);
        }
    }
    return drop_far(out, s.count, s.reach);
}

/* --- fewer of them ------------------------------------------------------------------------------
 */

/* Gaps that differ by less are alike: which one comes first must not change with every step. */
static const double alike_m = 2e-5;

static bool comes_before(const near_feature *a, const near_feature *b)
{
    double ga = floor(a->gap / alike_m), gb = floor(b->gap / alike_m);
    if (ga != gb)
        return ga < gb;
    return memcmp(a->id, b->id, sizeof a->id) < 0;
}

static void swap(near_feature *a, near_feature *b)
{
    near_feature spare = *a;
    *a = *b;
    *b = spare;
}

/* Farthest from those that were chosen already. */
static int farthest(const near_feature *list, int chosen, int count)
{
    int best = chosen;
    double best_distance = -1;
    for (int i = chosen; i < count; i++) {
        double nearest = (double)INFINITY;
        for (int k = 0; k < chosen; k++)
            nearest = fmin(nearest, vec3_distance(list[i].point[0], list[k].point[0]));
        if (nearest > best_distance + 1e-9) {
            best_distance = nearest;
            best = i;
        }
    }
    return best;
}

/* The group of list[0]'s normal is moved to the front; returns its size. */
static int gather_group(near_feature *list, int count)
{
    const double same_group = 0.9; /* cosine */
    int size = 1;
    for (int i = 1; i < count; i++)
        if (vec3_dot(list[i].normal, list[0].normal) > same_group)
            swap(&list[size++], &list[i]);
    return size;
}

int near_features_thin(near_feature *list, int count, int share)
{
    int kept = 0, from = 0;
    while (from < count) {
        for (int i = from + 1; i < count; i++)
            if (comes_before(&list[i], &list[from]))
                swap(&list[i], &list[from]);
        int size = gather_group(list + from, count - from);
        int wanted = size < share ? size : share;
        for (int k = 1; k < wanted; k++)
            swap(&list[from + k], &list[from + farthest(list + from, k, size)]);
        memmove(list + kept, list + from, (size_t)wanted * sizeof *list);
        kept += wanted;
        from += size;
    }
    return kept;
}
