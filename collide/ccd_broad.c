/* Which links may touch: descent over the assembly trees with boxes of their nodes. A subtree that
 * does not move is one box, and pairs inside it are never looked at. */
#include "collide/ccd_search.h"

typedef struct side {
    int body, node;
} side;

static const motion_box *box_of(ccd_search *s, side x, int top)
{
    ccd_body *body = s->scene->bodies[x.body];
    int above = top >= 0 ? top : ccd_body_tree(body)->root;
    return ccd_body_box(body, above, x.node, s->counters);
}

/* Does this side, seen from `top`, stay where it is with everything below? */
static bool is_still(ccd_search *s, side x, int top)
{
    ccd_body *body = s->scene->bodies[x.body];
    return !ccd_body_is_dirty(body, x.node) &&
           ccd_body_from_node(body, top, x.node, s->counters)->is_constant;
}

static double box_size(const motion_box *box)
{
    return vec3_length_squared(vec3_sub(box->high, box->low));
}

static bool add_pair(ccd_search *s, side a, side b, int top)
{
    ccd_scene *scene = s->scene;
    const assembly_tree *ta = ccd_body_tree(scene->bodies[a.body]);
    const assembly_tree *tb = ccd_body_tree(scene->bodies[b.body]);
    int pa = ta->nodes[a.node].top, pb = tb->nodes[b.node].top;
    if (!ccd_body_triangles(scene->bodies[a.body], pa) ||
        !ccd_body_triangles(scene->bodies[b.body], pb) ||
        !ccd_scene_tests(scene, a.body, ta->parts[pa].body, b.body, tb->parts[pb].body))
        return true;
    if (scene->pair_count == scene->pair_room)
        return false;
    scene->pairs[scene->pair_count++] = (ccd_pair){{a.body, b.body}, {pa, pb}, top};
    return true;
}

/* Recursion is as deep as the two trees are high. */
static bool cross(ccd_search *s, side a, side b, int top)
{
    const assembly_tree *ta = ccd_body_tree(s->scene->bodies[a.body]);
    const assembly_tree *tb = ccd_body_tree(s->scene->bodies[b.body]);
    const motion_box *box_a = box_of(s, a, top), *box_b = box_of(s, b, top);
    s->counters->broad_tests++;
    if (!motion_box_near(box_a, box_b, ccd_separation(s, a.body, b.body)))
        return true;
    if (top >= 0 && is_still(s, a, top) && is_still(s, b, top)) /* one rigid group */
        return true;
    const assembly_node *na = &ta->nodes[a.node], *nb = &tb->nodes[b.node];
    bool is_leaf_a = assembly_node_is_leaf(na), is_leaf_b = assembly_node_is_leaf(nb);
    if (is_leaf_a && is_leaf_b)
        return add_pair(s, a, b, top);
    if (is_leaf_b || (!is_leaf_a && box_size(box_a) >= box_size(box_b)))
        return cross(s, (side){a.body, na->child[0]}, b, top) &&
               cross(s, (side){a.body, na->child[1]}, b, top);
    return cross(s, a, (side){b.body, nb->child[0]}, top) &&
           cross(s, a, (side){b.body, nb->child[1]}, top);
}

static bool within(ccd_search *s, int body, int node)
{
    const assembly_node *n = &ccd_body_tree(s->scene->bodies[body])->nodes[node];
    if (assembly_node_is_leaf(n) || !ccd_body_is_dirty(s->scene->bodies[body], node))
        return true;
    /* The lowest common ancestor of everything across is this node. */
    return cross(s, (side){body, n->child[0]}, (side){body, n->child[1]}, node) &&
           within(s, body, n->child[0]) && within(s, body, n->child[1]);
}

bool ccd_broad_phase(ccd_search *s)
{
    ccd_scene *scene = s->scene;
    scene->pair_count = 0;
    ccd_sweep_bodies(s);
    for (int i = 0; i < scene->body_count; i++) {
        int root_i = ccd_body_tree(scene->bodies[i])->root;
        if (!within(s, i, root_i))
            return false;
        for (int j = ccd_scene_next_meeting(scene, i, i); j >= 0;
             j = ccd_scene_next_meeting(scene, i, j)) {
            int root_j = ccd_body_tree(scene->bodies[j])->root;
            if (ccd_scene_is_settled(scene, i, j))
                continue;
            if (!cross(s, (side){i, root_i}, (side){j, root_j}, -1))
                return false;
        }
    }
    return true;
}
