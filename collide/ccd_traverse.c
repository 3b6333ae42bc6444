/* Two box trees over one stretch of time: proven apart, opened further, left for shorter stretches,
 * or tested triangle by triangle. */
#include <string.h>

#include "collide/ccd_search.h"

/* Boxes are left for a shorter stretch while they travel more than this many times the radius of
 * the smaller one: opening them sooner would multiply pairs that time tells apart. Measured on two
 * wooden men: 1.0 costs a third more box tests in a short step, 16 makes a long one ten times
 * dearer. */
static const double travel_share = 3.0;

static const obb_tree *triangles_of(const ccd_search *s, int pair, int side)
{
    const ccd_pair *p = &s->scene->pairs[pair];
    return ccd_body_triangles(s->scene->bodies[p->body[side]], p->part[side]);
}

static double separation_of(const ccd_search *s, int pair)
{
    const ccd_pair *p = &s->scene->pairs[pair];
    return ccd_separation(s, p->body[0], p->body[1]);
}

static void keep_open(ccd_search *s, const ccd_item *item)
{
    ccd_scene *scene = s->scene;
    if (scene->item_count == scene->item_room)
        s->is_full = true;
    else
        scene->items[scene->item_count++] = *item;
}

static void add_candidates(ccd_search *s, const ccd_item *item, const triangle_result *found,
                           const int triangle[2], double middle)
{
    ccd_scene *scene = s->scene;
    for (int i = 0; i < found->count; i++) {
        triangle_contact contact = found->contacts[i];
        contact.time += middle;
        s->toc = contact.time < s->toc ? contact.time : s->toc;
        if (scene->candidate_count < CCD_CANDIDATES_MAX)
            scene->candidates[scene->candidate_count++] =
                (ccd_candidate){item->pair, {triangle[0], triangle[1]}, contact};
    }
}

/* The pair's motion on what still matters of a stretch: from its start to the best toc so far. */
typedef struct view {
    moving_frame frame;
    double start, middle, end;
} view;

/* Once a contact is found the rest need only be free before it, where nothing overlaps yet. */
static void clip(view *v, double toc)
{
    const double worth_it = 0.9; /* a smaller cut costs more than it saves */
    if (!(toc - v->start < worth_it * (v->end - v->start)))
        return;
    double end = toc > v->start ? toc : v->start, middle = 0.5 * (v->start + end);
    taylor shorter;
    taylor_shift(&v->frame.a_from_b, middle - v->middle, 0.5 * (end - v->start), &shorter);
    v->frame.a_from_b = shorter;
    v->middle = middle;
    v->end = end;
    moving_frame_bound(&v->frame);
}

/* True while nothing is left open in this pair of leaves. */
static bool test_triangles(ccd_search *s, const ccd_item *item, const int triangle[2],
                           const view *v, vec3 *axis)
{
    double end = s->toc < v->end ? s->toc : v->end;
    const ccd_limits *l = s->limits;
    feature_limits limits = {separation_of(s, item->pair), l->tolerance, l->time_tolerance,
                             s->budget};
    triangle_result found;
    const obb_triangle *a = &triangles_of(s, item->pair, 0)->triangles[triangle[0]];
    const obb_triangle *b = &triangles_of(s, item->pair, 1)->triangles[triangle[1]];
    triangle_verdict verdict = triangle_ccd(a, b, &v->frame.a_from_b, v->start - v->middle,
                                            end - v->middle, &limits, l->lets_go, axis, &found);
    s->counters->triangle_tests++;
    s->counters->feature_tests += found.feature_tests;
    s->counters->feature_nodes += found.feature_nodes;
    s->budget -= 1 + found.feature_nodes;
    add_candidates(s, item, &found, triangle, v->middle);
    if (verdict == TRIANGLE_REFUSED)
        s->is_refused = true;
    return verdict != TRIANGLE_COARSE;
}

static void test_leaves(ccd_search *s, const ccd_item *item, const ccd_stretch *stretch, view *v,
                        vec3 *axis)
{
    const obb_node *a = &triangles_of(s, item->pair, 0)->nodes[item->node[0]];
    const obb_node *b = &triangles_of(s, item->pair, 1)->nodes[item->node[1]];
    bool is_shortest = stretch->end - stretch->start <= s->limits->time_tolerance;
    for (int i = 0; i < a->count * b->count; i++) {
        int triangle[2] = {a->first + i / b->count, b->first + i % b->count};
        if (s->budget <= 0 || s->is_full)
            return;
        if (test_triangles(s, item, triangle, v, axis))
            continue;
        if (is_shortest) /* cannot be told apart in time */
            s->toc = stretch->start < s->toc ? stretch->start : s->toc;
        else
            keep_open(s, item);
        return;
    }
}

static bool is_larger(const obb *a, const obb *b)
{
    return a->radius >= b->radius;
}

static void push(ccd_search *s, int *depth, ccd_item item)
{
    if (*depth == s->scene->stack_room)
        s->is_full = true;
    else
        s->scene->stack[(*depth)++] = item;
}

/* Opens one side; the child that is nearer to the other box comes first, because an early contact
 * spares the rest. `other` is the other box's centre in this side's frame. */
static void open_side(ccd_search *s, int *depth, const ccd_item *item, int side,
                      const obb_tree *tree, vec3 other)
{
    int left = tree->nodes[item->node[side]].left;
    double to_left = vec3_distance(tree->nodes[left].box.centre, other);
    double to_right = vec3_distance(tree->nodes[left + 1].box.centre, other);
    int nearer = to_left <= to_right ? left : left + 1;
    ccd_item first = *item, second = *item;
    first.node[side] = nearer;
    second.node[side] = 2 * left + 1 - nearer;
    push(s, depth, second);
    push(s, depth, first);
}

static void open_larger(ccd_search *s, int *depth, const ccd_item *item, const obb_tree *ta,
                        const obb_tree *tb, const taylor *a_from_b)
{
    const obb_node *a = &ta->nodes[item->node[0]], *b = &tb->nodes[item->node[1]];
    rigid now = taylor_at(a_from_b, 0);
    if (b->left < 0 || (a->left >= 0 && is_larger(&a->box, &b->box))) {
        open_side(s, depth, item, 0, ta, rigid_apply(&now, b->box.centre));
    } else {
        vec3 back = vec3_sub(a->box.centre, now.origin);
        open_side(s, depth, item, 1, tb, mat3_apply_transposed(now.rotation, back));
    }
}

void ccd_traverse(ccd_search *s, const ccd_item *first, const moving_frame *frame,
                  const ccd_stretch *stretch, vec3 *axis)
{
    const obb_tree *ta = triangles_of(s, first->pair, 0), *tb = triangles_of(s, first->pair, 1);
    bool is_shortest = stretch->end - stretch->start <= s->limits->time_tolerance;
    double separation = separation_of(s, first->pair);
    view v = {*frame, stretch->start, 0.5 * (stretch->start + stretch->end), stretch->end};
    int depth = 0;
    push(s, &depth, *first);
    while (depth > 0 && s->budget > 0 && !s->is_full && !s->is_refused) {
        ccd_item item = s->scene->stack[--depth];
        const obb_node *a = &ta->nodes[item.node[0]], *b = &tb->nodes[item.node[1]];
        s->budget--;
        s->counters->box_tests++;
        clip(&v, s->toc);
        double travel = moving_box_travel(&v.frame, &b->box);
        if (moving_boxes_are_apart(&a->box, &b->box, &v.frame, travel, separation))
            continue;
        if (a->left < 0 && b->left < 0)
            test_leaves(s, &item, stretch, &v, axis);
        else if (!is_shortest && 2 * travel > travel_share * fmin(a->box.radius, b->box.radius))
            keep_open(s, &item);
        else
            open_larger(s, &depth, &item, ta, tb, &v.frame.a_from_b);
    }
}
