/* Heavy-path construction of the assembly tree. Every light branch at most halves the number of
 * parts, and a path is cut by weight, so recursion is logarithmic whatever the model. */
#include "collide/assembly_tree.h"

#include <stdlib.h>
#include <string.h>

enum { HUB_LIMIT = 4 };

/* Children of every part as linked lists, smallest subtree first; the heavy child is apart. */
typedef struct builder {
    assembly_tree tree;
    assembly_shape shape;
    int32_t *size;        /* parts in the kinematic subtree */
    int32_t *heavy;       /* the child that continues the path, or -1 */
    int32_t *first_light; /* the others */
    int32_t *next_light;  /* by child */
    int32_t *path_part;   /* the paths being assembled, as a stack */
    int64_t *path_weight; /* running sums of their weights */
    int path_count, made; /* nodes made so far */
} builder;

static int make_leaf(builder *b, int part)
{
    int node = b->made++;
    b->tree.nodes[node] = (assembly_node){.parent = -1,
                                          .child = {-1, -1},
                                          .joint = part,
                                          .top = part,
                                          .handle = {-1, -1},
                                          .first = node};
    b->tree.parts[part].leaf = node;
    return node;
}

static int join(builder *b, int node_a, int node_b)
{
    assembly_node *a = &b->tree.nodes[node_a], *c = &b->tree.nodes[node_b];
    int node = b->made++;
    a->parent = c->parent = node;
    b->tree.nodes[node] =
        (assembly_node){.parent = -1,
                        .child = {node_a, node_b},
                        .joint = c->top,
                        .top = a->top,
                        .handle = {-1, -1},
                        .first = a->first,
                        .height = 1 + (a->height > c->height ? a->height : c->height)};
    b->tree.parts[c->top].node = node;
    return node;
}

/* Where to cut the path elements from .. to: the first element of the right part. */
static int cut(const builder *b, int from, int to)
{
    if (b->shape == ASSEMBLY_FROM_BASE)
        return from + 1;
    if (b->shape == ASSEMBLY_FROM_LEAVES)
        return to;
    int64_t before = b->path_weight[from], total = b->path_weight[to + 1] - before;
    int low = from + 1, high = to;
    while (low < high) { /* first cut whose left side is at least half */
        int middle = (low + high) / 2;
        if (2 * (b->path_weight[middle] - before) >= total)
            high = middle;
        else
            low = middle + 1;
    }
    if (low > from + 1) {
        int64_t here = b->path_weight[low] - before;
        int64_t earlier = b->path_weight[low - 1] - before;
        if (total - earlier <= (here > total - here ? here : total - here))
            low--;
    }
    return low;
}

/* Nodes come out in post-order only if the left side is finished before the right one starts, so a
 * path first lists its parts and makes their leaves when the recursion reaches them. */
static int assemble(builder *b, int part);

/* The part with its light branches. */
static int fat_leaf(builder *b, int part) // NOLINT(misc-no-recursion)
{
    int node = make_leaf(b, part);
    for (int x = b->first_light[part]; x >= 0; x = b->next_light[x])
        node = join(b, node, assemble(b, x));
    return node;
}

static int balance(builder *b, int from, int to) // NOLINT(misc-no-recursion)
{
    if (from == to)
        return fat_leaf(b, b->path_part[from]);
    int right = cut(b, from, to);
    int node_a = balance(b, from, right - 1);
    return join(b, node_a, balance(b, right, to));
}

static int assemble(builder *b, int part) // NOLINT(misc-no-recursion)
{
    int from = b->path_count;
    b->path_weight[from] = 0;
    for (int p = part; p >= 0; p = b->heavy[p]) {
        int at = b->path_count++;
        int32_t below = b->heavy[p] >= 0 ? b->size[b->heavy[p]] : 0;
        b->path_part[at] = p;
        b->path_weight[at + 1] = b->path_weight[at] + b->size[p] - below;
    }
    int to = b->path_count - 1;
    b->path_count++; /* the closing sum must outlive the paths below this one */
    int node = balance(b, from, to);
    b->path_count = from;
    return node;
}

static bool floats(const model *m, int body)
{
    return body > 0 && m->joints[m->bodies[body].link].type == JOINT_FLOATING;
}

/* Sizes of the kinematic subtrees, the heaviest child, and how many light ones, all by body. */
static void weigh_bodies(const model *m, int32_t *size, int32_t *heavy, int32_t *lights)
{
    bool base_floats = false;
    for (int i = 0; i < m->body_count; i++) {
        size[i] = 1;
        heavy[i] = -1;
        lights[i] = 0;
        base_floats = base_floats || (floats(m, i) && m->bodies[i].parent == 0);
    }
    for (int i = m->body_count - 1; i > 0; i--)
        size[m->bodies[i].parent] += size[i];
    for (int i = 1; i < m->body_count; i++) {
        int parent = m->bodies[i].parent;
        lights[parent]++;
        if (parent == 0 && base_floats)
            continue; /* the floating joint must close a node near the root, not a path */
        if (heavy[parent] < 0 || size[i] > size[heavy[parent]])
            heavy[parent] = i;
    }
    for (int i = 0; i < m->body_count; i++)
        lights[i] -= heavy[i] >= 0;
}

/* A hub becomes one part per light branch, a chain of welds along the heavy path. */
static int part_total(const model *m, const int32_t *lights, int hub_limit)
{
    int count = 0;
    for (int i = 0; i < m->body_count; i++)
        count += lights[i] > hub_limit ? lights[i] : 1;
    return count;
}

static void number_parts(builder *b, const int32_t *lights, int hub_limit)
{
    int next = 0;
    for (int i = 0; i < b->tree.body_count; i++) {
        int copies = lights[i] > hub_limit ? lights[i] : 1;
        b->tree.body_part[i] = next;
        for (int k = 0; k < copies; k++, next++) {
            b->tree.parts[next] = (assembly_part){
                .body = i, .parent = k > 0 ? next - 1 : -1, .node = -1, .is_welded = k > 0};
            b->heavy[next] = k + 1 < copies ? next + 1 : -1;
            b->first_light[next] = b->next_light[next] = -1;
        }
    }
}

/* Inserts x into the list of its parent, smallest subtree first, equal ones in number order. */
static void insert_light(builder *b, int parent, int x)
{
    int32_t *link = &b->first_light[parent];
    while (*link >= 0 && b->size[*link] <= b->size[x])
        link = &b->next_light[*link];
    b->next_light[x] = *link;
    *link = x;
}

/* Hangs every body on a part of its parent: heavy child on the last, light ones one per part. */
static void hang_parts(builder *b, const model *m, const int32_t *heavy, const int32_t *lights,
                       int32_t *used, int hub_limit)
{
    assembly_tree *t = &b->tree;
    for (int i = 0; i < t->body_count; i++)
        used[i] = 0;
    for (int i = 1; i < t->body_count; i++) {
        int parent = m->bodies[i].parent, first = t->body_part[parent];
        bool is_hub = lights[parent] > hub_limit;
        int at = first;
        if (is_hub)
            at += heavy[parent] == i ? lights[parent] - 1 : used[parent]++;
        t->parts[t->body_part[i]].parent = at;
    }
    for (int p = 0; p < t->part_count; p++)
        b->size[p] = 1;
    for (int p = t->part_count - 1; p > 0; p--)
        b->size[t->parts[p].parent] += b->size[p];
    for (int i = 1; i < t->body_count; i++) {
        int x = t->body_part[i], at = t->parts[x].parent;
        if (heavy[m->bodies[i].parent] == i)
            b->heavy[at] = x;
        else
            insert_light(b, at, x);
    }
}

/* A part is a handle of a node when one of its joints leads out of the node. */
static bool leads_out(const int32_t *last_node, int part, int node)
{
    return part >= 0 && last_node[part] > node;
}

/* Post-order makes this one sweep: the joints of a part close later and later nodes, so it leads
 * out of a node exactly until the last of them is closed. */
static void find_handles(assembly_tree *t, int32_t *last_node)
{
    for (int p = 0; p < t->part_count; p++)
        last_node[p] = t->parts[p].node;
    for (int p = 1; p < t->part_count; p++) {
        int parent = t->parts[p].parent;
        if (t->parts[p].node > last_node[parent])
            last_node[parent] = t->parts[p].node;
    }
    for (int n = 0; n < t->node_count; n++) {
        assembly_node *node = &t->nodes[n];
        if (assembly_node_is_leaf(node)) {
            node->handle[0] = leads_out(last_node, node->top, n) ? node->top : -1;
            continue;
        }
        const assembly_node *a = &t->nodes[node->child[0]], *c = &t->nodes[node->child[1]];
        int al = t->parts[node->joint].parent;
        node->a_slot = a->handle[0] == al ? 0 : 1;
        node->b_slot = c->handle[1] >= 0 ? 1 : 0;
        node->handle[0] = leads_out(last_node, a->handle[0], n) ? a->handle[0] : -1;
        int exit = c->handle[node->b_slot];
        node->handle[1] = leads_out(last_node, exit, n) ? exit : -1;
    }
    for (int n = t->node_count - 1; n >= 0; n--)
        t->nodes[n].depth = t->nodes[n].parent < 0 ? 0 : t->nodes[t->nodes[n].parent].depth + 1;
    t->root = t->node_count - 1;
    t->height = t->nodes[t->root].height;
}

void assembly_tree_free(assembly_tree *tree)
{
    free(tree->parts);
    free(tree->body_part);
    free(tree->nodes);
    *tree = (assembly_tree){0};
}

static bool allocate(builder *b, int body_count, int part_count)
{
    size_t parts = (size_t)part_count;
    if (part_count < 1)
        return false;
    b->tree = (assembly_tree){.body_count = body_count,
                              .part_count = part_count,
                              .node_count = 2 * part_count - 1,
                              .parts = calloc(parts, sizeof(assembly_part)),
                              .body_part = calloc((size_t)body_count, sizeof(int32_t)),
                              .nodes = calloc(2 * parts, sizeof(assembly_node))};
    b->size = calloc(parts, sizeof(int32_t));
    b->heavy = calloc(parts, sizeof(int32_t));
    b->first_light = calloc(parts, sizeof(int32_t));
    b->next_light = calloc(parts, sizeof(int32_t));
    b->path_part = calloc(2 * parts + 2, sizeof(int32_t));
    b->path_weight = calloc(2 * parts + 2, sizeof(int64_t));
    return b->tree.parts && b->tree.body_part && b->tree.nodes && b->size && b->heavy &&
           b->first_light && b->next_light && b->path_part && b->path_weight;
}

hr_status assembly_tree_build(const model *m, assembly_options options, assembly_tree *out)
{
    int hub_limit = options.hub_limit > 0 ? options.hub_limit : HUB_LIMIT;
    builder b = {.shape = options.shape};
    size_t bodies = (size_t)m->body_count;
    int32_t *by_body = calloc(4 * bodies, sizeof *by_body);
    hr_status status = HR_ERR_MEMORY;
    if (by_body) {
        int32_t *size = by_body, *heavy = size + bodies, *lights = heavy + bodies;
        weigh_bodies(m, size, heavy, lights);
        if (allocate(&b, m->body_count, part_total(m, lights, hub_limit))) {
            number_parts(&b, lights, hub_limit);
            hang_parts(&b, m, heavy, lights, lights + bodies, hub_limit);
            (void)assemble(&b, 0);
            find_handles(&b.tree, b.size);
            *out = b.tree;
            status = HR_OK;
        }
    }
    if (status != HR_OK)
        assembly_tree_free(&b.tree);
    free(by_body);
    free(b.size);
    free(b.heavy);
    free(b.first_light);
    free(b.next_light);
    free(b.path_part);
    free(b.path_weight);
    return status;
}

int assembly_tree_common(const assembly_tree *tree, int node_a, int node_b)
{
    while (node_a != node_b) {
        if (node_a < node_b) /* an ancestor has the higher number */
            node_a = tree->nodes[node_a].parent;
        else
            node_b = tree->nodes[node_b].parent;
    }
    return node_a;
}
