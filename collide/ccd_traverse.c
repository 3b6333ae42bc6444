/* Two box trees over one stretch of time: proven apart, opened further, left for shorter stretches,
 * or tested triangle by triangle. */
#include <string.h>

#include "collide/ccd_search.h"

/* Boxes are left for a shorter stretch while they travel more than this part of the smaller one:
 * opening them sooner would multiply pairs that time tells apart. */
static const double travel_share = 1.0;

static const obb_tree *triangles_of(const ccd_search *s, int pair, int side)
{
    const ccd_pair *p = &s->scene->pairs[pair];
    return ccd_body_triangles(s->scene->bodies[p->body[side]], p->part[side]);
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

/* True while nothing is left open in this pair of leaves. */
static bool test_triangles(ccd_search *s, const ccd_item *item, const int triangle[2],
                           const taylor *a_from_b, const ccd_stretch *stretch, vec3 *axis)
{
    double middle = 0.5 * (stretch->start + stretch->end);
    double end = s->toc < stretch->end ? s->toc : stretch->end;
    const ccd_limits *l = s->limits;
    feature_limits limits = {l->separation, l->tolerance, l->time_tolerance, s->budget};
    triangle_result found;
    const obb_triangle *a = &triangles_of(s, item->pair, 0)->triangles[triangle[0]];
    const obb_triangle *b = &triangles_of(s, item->pair, 1)->triangles[triangle[1]];
    triangle_verdict verdict = triangle_ccd(a, b, a_from_b, stretch->start - middle, end - middle,
                                            &limits, l->lets_go, axis, &found);
    s->counters->triangle_tests++;
    s->counters->feature_tests += found.feature_tests;
    s->counters->feature_nodes += found.feature_nodes;
    s->budget -= 1 + found.feature_nodes;
    add_candidates(s, item, &found, triangle, middle);
    if (verdict == TRIANGLE_REFUSED)
        s->is_refused = true;
    if (verdict != TRIANGLE_COARSE)
        return true;
    if (stretch->end - stretch->start > l->time_tolerance)
        return false;
    s->toc = stretch->start < s->toc ? stretch->start : s->toc; /* cannot be told apart in time */
    return true;
}

static void test_leaves(ccd_search *s, const ccd_item *item, const taylor *a_from_b,
                        const ccd_stretch *stretch, vec3 *axis)
{
    const obb_node *a = &triangles_of(s, item->pair, 0)->nodes[item->node[0]];
    const obb_node *b = &triangles_of(s, item->pair, 1)->nodes[item->node[1]];
    for (int i = 0; i < a->count * b->count; i++) {
        int triangle[2] = {a->first + i / b->count, b->first + i % b->count};
        if (s->budget <= 0 || s->is_full)
            return;
        if (!test_triangles(s, item, triangle, a_from_b, stretch, axis)) {
            keep_open(s, item);
            return;
        }
    }
}

static double smallest_radius(const obb *a, const obb *b)
{
    double ra = vec3_length_squared(a->half), rb = vec3_length_squared(b->half);
    return sqrt(ra < rb ? ra : rb);
}

static bool is_larger(const obb *a, const obb *b)
{
    return vec3_length_squared(a->half) >= vec3_length_squared(b->half);
}

static void push(ccd_search *s, int *depth, ccd_item item)
{
    if (*depth == s->scene->stack_room)
        s->is_full = true;
    else
        s->scene->stack[(*depth)++] = item;
}

void ccd_traverse(ccd_search *s, const ccd_item *first, const moving_frame *frame,
                  const ccd_stretch *stretch, vec3 *axis)
{
    const obb_tree *ta = triangles_of(s, first->pair, 0), *tb = triangles_of(s, first->pair, 1);
    bool is_shortest = stretch->end - stretch->start <= s->limits->time_tolerance;
    int depth = 0;
    push(s, &depth, *first);
    while (depth > 0 && s->budget > 0 && !s->is_full && !s->is_refused) {
        ccd_item item = s->scene->stack[--depth];
        const obb_node *a = &ta->nodes[item.node[0]], *b = &tb->nodes[item.node[1]];
        s->budget--;
        s->counters->box_tests++;
        double travel = moving_box_travel(frame, &b->box);
        if (moving_boxes_are_apart(&a->box, &b->box, frame, travel, s->limits->separation, axis))
            continue;
        if (a->left < 0 && b->left < 0) {
            test_leaves(s, &item, &frame->a_from_b, stretch, axis);
        } else if (!is_shortest && 2 * travel > travel_share * smallest_radius(&a->box, &b->box)) {
            keep_open(s, &item);
        } else if (b->left < 0 || (a->left >= 0 && is_larger(&a->box, &b->box))) {
            push(s, &depth, (ccd_item){item.pair, {a->left + 1, item.node[1]}});
            push(s, &depth, (ccd_item){item.pair, {a->left, item.node[1]}});
        } else {
            push(s, &depth, (ccd_item){item.pair, {item.node[0], b->left + 1}});
            push(s, &depth, (ccd_item){item.pair, {item.node[0], b->left}});
        }
    }
}
