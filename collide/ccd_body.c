#include "collide/ccd_body.h"

#include <stdlib.h>
#include <string.h>

/* By node. What is constant during the step keeps `is_constant`. */
typedef struct node_state {
    motion c_from_b;           /* inner nodes */
    motion top_from_handle[2]; /* leaves: the identity */
    motion_box box;            /* of everything below, in the node's frame, over the interval */
    rigid rest_c_from_b;       /* at t = 0 */
    rigid rest_top_from_handle[2];
    motion_box rest_box;
    rigid group_from_node; /* constant part of a node inside a rigid group */
    int64_t group_stamp;   /* the step in which that was computed */
    motion from_node;      /* relative to an ancestor, or to the world */
    int64_t from_stamp;    /* the interval in which that was computed */
    motion_box swept;      /* the box, relative to that ancestor */
    int64_t swept_stamp;
    int32_t from_top, swept_top; /* the ancestors */
    bool is_dirty;
} node_state;

struct ccd_body {
    const model *m;
    assembly_tree tree;
    rigid world_from_base;
    obb_tree *triangles; /* by model body */
    vec3 *pivots;        /* by model body: centre of its triangles, for floating joints */
    joint_path *paths;   /* by part */
    node_state *nodes;
    double *q0, *q1;
    double radius;  /* m, around every triangle */
    int32_t *dirty; /* nodes, ascending: children before parents */
    int dirty_count;
    int64_t step, interval, place_number;
};

const assembly_tree *ccd_body_tree(const ccd_body *body)
{
    return &body->tree;
}

const model *ccd_body_model(const ccd_body *body)
{
    return body->m;
}

bool ccd_body_is_dirty(const ccd_body *body, int node)
{
    return body->nodes[node].is_dirty;
}

int ccd_body_dirty_count(const ccd_body *body)
{
    return body->dirty_count;
}

void ccd_body_set_radius(ccd_body *body, double radius)
{
    body->radius = radius;
    body->place_number++; /* what was proven held for the old radius */
}

double ccd_body_radius(const ccd_body *body)
{
    return body->radius;
}

int64_t ccd_body_place_number(const ccd_body *body)
{
    return body->place_number;
}

const double *ccd_body_coordinates(const ccd_body *body)
{
    return body->q0;
}

static const motion_box *own_box(const ccd_body *body, int node)
{
    const node_state *n = &body->nodes[node];
    return n->is_dirty ? &n->box : &n->rest_box;
}

/* A hub's geometry sits on its first part. */
const obb_tree *ccd_body_triangles(const ccd_body *body, int part)
{
    int b = body->tree.parts[part].body;
    bool has_some = body->tree.body_part[b] == part && body->triangles[b].node_count > 0;
    return has_some ? &body->triangles[b] : NULL;
}

/* --- making ------------------------------------------------------------------------------------
 */

static hr_status build_triangles(ccd_body *body)
{
    const model *m = body->m;
    bool has_collision = m->collision_count > 0;
    const model_shape *shapes = has_collision ? m->collisions : m->visuals;
    int count = has_collision ? m->collision_count : m->visual_count;
    const mesh **meshes = calloc((size_t)count + 1, sizeof(const mesh *));
    pose *poses = calloc((size_t)count + 1, sizeof *poses);
    hr_status status = meshes && poses ? HR_OK : HR_ERR_MEMORY;
    for (int b = 0; b < m->body_count && status == HR_OK; b++) {
        int n = 0;
        for (int i = 0; i < count; i++) {
            const model_link *link = &m->links[shapes[i].link];
            if (link->body != b)
                continue;
            meshes[n] = &m->meshes[shapes[i].mesh];
            poses[n++] = pose_compose(link->body_from_link, shapes[i].link_from_mesh);
        }
        status = obb_tree_build(meshes, poses, n, &body->triangles[b]);
        body->pivots[b] =
            vec3_scale(0.5, vec3_add(body->triangles[b].low, body->triangles[b].high));
    }
    free(meshes);
    free(poses);
    return status;
}

ccd_body *ccd_body_create(const model *m, assembly_shape shape, pose world_from_base)
{
    ccd_body *body = calloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->m = m;
    body->world_from_base = rigid_from_pose(world_from_base);
    assembly_options options = {.shape = shape};
    bool is_good = assembly_tree_build(m, options, &body->tree) == HR_OK;
    if (is_good) {
        body->triangles = calloc((size_t)m->body_count, sizeof *body->triangles);
        body->pivots = calloc((size_t)m->body_count, sizeof *body->pivots);
        body->paths = calloc((size_t)body->tree.part_count, sizeof *body->paths);
        body->nodes = aligned_alloc(
            64, (((size_t)body->tree.node_count * sizeof *body->nodes) + 63) / 64 * 64);
        body->q0 = calloc((size_t)m->q_count + 1, sizeof *body->q0);
        body->q1 = calloc((size_t)m->q_count + 1, sizeof *body->q1);
        body->dirty = calloc((size_t)body->tree.node_count, sizeof *body->dirty);
        is_good = body->triangles && body->pivots && body->paths && body->nodes && body->q0 &&
                  body->q1 && body->dirty && build_triangles(body) == HR_OK;
    }
    if (is_good) {
        memset(body->nodes, 0, (size_t)body->tree.node_count * sizeof *body->nodes);
        model_zero_coordinates(m, body->q1);
        is_good = ccd_body_place(body, body->q1) == HR_OK;
    }
    if (is_good)
        return body;
    ccd_body_destroy(body);
    return NULL;
}

void ccd_body_destroy(ccd_body *body)
{
    if (!body)
        return;
    for (int b = 0; body->triangles && b < body->m->body_count; b++)
        obb_tree_free(&body->triangles[b]);
    assembly_tree_free(&body->tree);
    free(body->triangles);
    free(body->pivots);
    free(body->paths);
    free(body->nodes);
    free(body->q0);
    free(body->q1);
    free(body->dirty);
    free(body);
}

/* --- rest: points -------------------------------------------------------------------------------
 */

static const model_joint *joint_of(const ccd_body *body, int index)
{
    return &body->m->joints[body->m->bodies[index].link];
}

static hr_status rest_joint(ccd_body *body, int part, const double *q)
{
    const assembly_part *p = &body->tree.parts[part];
    const model_body *b = &body->m->bodies[p->body];
    if (p->is_welded || p->body == 0) {
        body->paths[part] =
            (joint_path){.before = rigid_identity(), .after = rigid_identity(), .axis = {0, 0, 1}};
        return HR_OK;
    }
    const model_joint *joint = joint_of(body, p->body);
    return joint_path_rest(joint, b->parent_from_joint, q + joint->q, &body->paths[part]);
}

static void rest_leaf(ccd_body *body, int node)
{
    node_state *n = &body->nodes[node];
    const obb_tree *own = ccd_body_triangles(body, body->tree.nodes[node].top);
    n->rest_top_from_handle[0] = n->rest_top_from_handle[1] = rigid_identity();
    n->rest_box = own ? (motion_box){own->low, own->high} : motion_box_empty();
    motion_set_constant(&n->rest_top_from_handle[0], &n->top_from_handle[0]);
}

/* Rule by points, at the time t of the step. */
static void rest_inner(ccd_body *body, int node, double t)
{
    const assembly_node *shape = &body->tree.nodes[node];
    node_state *n = &body->nodes[node];
    const node_state *a = &body->nodes[shape->child[0]], *b = &body->nodes[shape->child[1]];
    rigid joint = joint_path_at(&body->paths[shape->joint], t);
    n->rest_c_from_b = rigid_compose(&a->rest_top_from_handle[shape->a_slot], &joint);
    n->rest_top_from_handle[0] = a->rest_top_from_handle[0];
    n->rest_top_from_handle[1] =
        rigid_compose(&n->rest_c_from_b, &b->rest_top_from_handle[shape->b_slot]);
    motion b_motion;
    motion_set_constant(&n->rest_c_from_b, &b_motion);
    motion_box moved = motion_sweep(&b_motion, &b->rest_box);
    n->rest_box = motion_box_hull(&a->rest_box, &moved);
    motion_set_constant(&n->rest_c_from_b, &n->c_from_b);
    for (int i = 0; i < 2; i++)
        motion_set_constant(&n->rest_top_from_handle[i], &n->top_from_handle[i]);
}

hr_status ccd_body_place(ccd_body *body, const double *q)
{
    const assembly_tree *t = &body->tree;
    for (int i = 0; i < body->m->q_count; i++)
        if (!isfinite(q[i]))
            return HR_ERR_NOT_FINITE;
    for (int p = 0; p < t->part_count; p++) {
        hr_status status = rest_joint(body, p, q);
        if (status != HR_OK)
            return status;
    }
    memmove(body->q0, q, (size_t)body->m->q_count * sizeof *q);
    memmove(body->q1, q, (size_t)body->m->q_count * sizeof *q);
    for (int node = 0; node < t->node_count; node++) {
        body->nodes[node].is_dirty = false;
        if (assembly_node_is_leaf(&t->nodes[node]))
            rest_leaf(body, node);
        else
            rest_inner(body, node, 0);
    }
    body->dirty_count = 0;
    body->step++;
    body->interval++;
    body->place_number++;
    return HR_OK;
}

/* --- the step ------------------------------------------------------------------------------------
 */

/* In place: the library's sort may allocate. Gaps of a third each, O(n^1.5) at worst. */
static void sort_ascending(int32_t *values, int count)
{
    int gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (int i = gap; i < count; i++) {
            int32_t value = values[i];
            int at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
    }
}

static void mark_dirty(ccd_body *body, int node)
{
    for (; node >= 0 && !body->nodes[node].is_dirty; node = body->tree.nodes[node].parent) {
        body->nodes[node].is_dirty = true;
        body->dirty[body->dirty_count++] = node;
    }
}

static void begin_step(ccd_body *body)
{
    for (int i = 0; i < body->dirty_count; i++)
        body->nodes[body->dirty[i]].is_dirty = false;
    body->interval += body->dirty_count > 0; /* a body that stayed at rest keeps what it knows */
    body->dirty_count = 0;
    body->step++;
}

/* One joint of the step; a joint that stays where it is stays out of the dirty set. */
static hr_status move_joint(ccd_body *body, int index, const double *q1)
{
    const model_joint *joint = joint_of(body, index);
    int part = body->tree.body_part[index];
    joint_path path;
    hr_status status =
        joint_path_make(joint, body->m->bodies[index].parent_from_joint, body->q0 + joint->q,
                        q1 + joint->q, body->pivots[index], &path);
    if (status != HR_OK || !path.is_moving)
        return status;
    body->paths[part] = path;
    memcpy(body->q1 + joint->q, q1 + joint->q, (size_t)joint_q_count(joint->type) * sizeof *q1);
    mark_dirty(body, body->tree.parts[part].node);
    return HR_OK;
}

hr_status ccd_body_move_joints(ccd_body *body, const int *joints, int count, const double *q1)
{
    for (int i = 0; i < count; i++) {
        const model_joint *joint = joint_of(body, joints[i]);
        for (int k = 0; k < joint_q_count(joint->type); k++)
            if (!isfinite(q1[joint->q + k]))
                return HR_ERR_NOT_FINITE;
    }
    begin_step(body);
    for (int i = 0; i < count; i++)
        if (move_joint(body, joints[i], q1) != HR_OK)
            return HR_ERR_NOT_FINITE;
    sort_ascending(body->dirty, body->dirty_count);
    return HR_OK;
}

hr_status ccd_body_move(ccd_body *body, const double *q1)
{
    for (int i = 0; i < body->m->q_count; i++)
        if (!isfinite(q1[i]))
            return HR_ERR_NOT_FINITE;
    begin_step(body);
    for (int b = 1; b < body->m->body_count; b++)
        if (move_joint(body, b, q1) != HR_OK)
            return HR_ERR_NOT_FINITE;
    sort_ascending(body->dirty, body->dirty_count);
    return HR_OK;
}

void ccd_body_coordinates_at(const ccd_body *body, double t, double *q)
{
    memcpy(q, body->q0, (size_t)body->m->q_count * sizeof *q);
    for (int i = 0; i < body->dirty_count; i++) {
        int part = body->tree.nodes[body->dirty[i]].joint, b = body->tree.parts[part].body;
        const model_joint *joint = joint_of(body, b);
        if (body->paths[part].is_moving)
            joint_path_coordinates(joint, &body->paths[part], body->pivots[b], body->q0 + joint->q,
                                   body->q1 + joint->q, t, q + joint->q);
    }
}

void ccd_body_stop(ccd_body *body, double t)
{
    for (int i = 0; i < body->dirty_count; i++) {
        int part = body->tree.nodes[body->dirty[i]].joint, b = body->tree.parts[part].body;
        if (!body->paths[part].is_moving)
            continue;
        const model_joint *joint = joint_of(body, b);
        double q[JOINT_Q_MAX];
        joint_path_coordinates(joint, &body->paths[part], body->pivots[b], body->q0 + joint->q,
                               body->q1 + joint->q, t, q);
        memcpy(body->q0 + joint->q, q, (size_t)joint_q_count(joint->type) * sizeof *q);
        memcpy(body->q1 + joint->q, q, (size_t)joint_q_count(joint->type) * sizeof *q);
        (void)rest_joint(body, part, body->q0);
    }
    for (int i = 0; i < body->dirty_count; i++)
        rest_inner(body, body->dirty[i], 0);
    body->place_number += body->dirty_count > 0;
    begin_step(body);
}

/* --- enclosures ------------------------------------------------------------------------------- */

void ccd_body_enclose(ccd_body *body, double middle, double half, ccd_counters *counters)
{
    if (body->dirty_count == 0) /* what was found for a body at rest holds at all times */
        return;
    body->interval++;
    for (int i = 0; i < body->dirty_count; i++) {
        int node = body->dirty[i];
        const assembly_node *shape = &body->tree.nodes[node];
        const joint_path *path = &body->paths[shape->joint];
        node_state *n = &body->nodes[node];
        const node_state *a = &body->nodes[shape->child[0]], *b = &body->nodes[shape->child[1]];
        motion joint = {.is_constant = !path->is_moving};
        if (path->is_moving) {
            joint_path_taylor(path, middle, half, &joint.varying);
            counters->joint_evals++;
        } else {
            joint.constant = joint_path_at(path, 0);
        }
        bool hangs_on_top = body->tree.parts[shape->joint].parent == shape->top;
        if (hangs_on_top)
            n->c_from_b = joint;
        else
            motion_compose(&a->top_from_handle[shape->a_slot], &joint, &n->c_from_b);
        n->top_from_handle[0] = a->top_from_handle[0];
        if (shape->handle[1] >= 0)
            motion_compose(&n->c_from_b, &b->top_from_handle[shape->b_slot],
                           &n->top_from_handle[1]);
        motion_box moved = motion_sweep(&n->c_from_b, own_box(body, shape->child[1]));
        n->box = motion_box_hull(own_box(body, shape->child[0]), &moved);
        counters->node_updates++;
    }
}

/* Constant transform from a node inside a rigid group to the group's highest node. */
static const rigid *group_from_node(ccd_body *body, int node, int *group)
{
    const assembly_tree *t = &body->tree;
    node_state *n = &body->nodes[node];
    int parent = t->nodes[node].parent;
    if (parent < 0 || body->nodes[parent].is_dirty) {
        *group = node;
        n->group_from_node = rigid_identity();
        return &n->group_from_node;
    }
    const rigid *up = group_from_node(body, parent, group);
    if (n->group_stamp != body->step) {
        bool is_a = t->nodes[parent].child[0] == node;
        n->group_from_node = is_a ? *up : rigid_compose(up, &body->nodes[parent].rest_c_from_b);
        n->group_stamp = body->step;
    }
    return &n->group_from_node;
}

/* The transform from a node to an ancestor, of which its stamp says that it is not known yet. */
static void find_motion(ccd_body *body, int top, int node, ccd_counters *counters)
{
    const assembly_tree *t = &body->tree;
    node_state *n = &body->nodes[node];
    if (node == top) {
        rigid start = top == t->root ? body->world_from_base : rigid_identity();
        motion_set_constant(&start, &n->from_node);
        return;
    }
    int group = node, parent = t->nodes[node].parent;
    const rigid *constant = n->is_dirty ? NULL : group_from_node(body, node, &group);
    const motion *up = ccd_body_from_node(body, top, group != node ? group : parent, counters);
    if (group != node)
        motion_compose_rigid(up, constant, &n->from_node);
    else if (t->nodes[parent].child[0] == node) /* shares its parent's frame */
        n->from_node = *up;
    else
        motion_compose(up, &body->nodes[parent].c_from_b, &n->from_node);
}

const motion *ccd_body_from_node(ccd_body *body, int top, int node, ccd_counters *counters)
{
    node_state *n = &body->nodes[node];
    if (n->from_stamp != body->interval || n->from_top != top) {
        n->from_stamp = body->interval;
        n->from_top = top;
        counters->world_updates++;
        find_motion(body, top, node, counters);
    }
    return &n->from_node;
}

const motion_box *ccd_body_box(ccd_body *body, int top, int node, ccd_counters *counters)
{
    node_state *n = &body->nodes[node];
    if (n->swept_stamp != body->interval || n->swept_top != top) {
        n->swept_stamp = body->interval;
        n->swept_top = top;
        n->swept = motion_sweep(ccd_body_from_node(body, top, node, counters), own_box(body, node));
    }
    return &n->swept;
}

rigid ccd_body_part_at(const ccd_body *body, int part, double t)
{
    rigid out = rigid_identity();
    for (int p = part; p > 0; p = body->tree.parts[p].parent) {
        rigid joint = joint_path_at(&body->paths[p], t);
        out = rigid_compose(&joint, &out);
    }
    return rigid_compose(&body->world_from_base, &out);
}
