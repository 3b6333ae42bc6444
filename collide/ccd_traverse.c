/* Two box trees over one stretch of time: proven apart, opened further, left for shorter stretches,
 * or tested triangle by triangle. */
#include "collide/ccd_search.h"

/* Boxes are left for a shorter stretch while they travel more than this many times the radius of
 * the smaller one: opening them sooner would multiply pairs that time tells apart. Measured on two
 * wooden men: 1.0 costs a third more box tests in a short step, 16 makes a long one ten times
 * dearer. */
static const double travel_share = 3.0;

/* A model that is coarse on so short a stretch is coarse by rounding: its remainder goes with the
 * cube of the length. */
static const double instant = 0x1p-30;

static void forget_boxes(ccd_view *v)
{
    for (int i = 0; i < CCD_BOXES_KEPT; i++)
        v->nodes[i] = -1;
}

void ccd_view_begin(ccd_view *v, const ccd_search *s, int pair, const ccd_stretch *stretch)
{
    const ccd_pair *p = &s->scene->pairs[pair];
    for (int i = 0; i < 2; i++)
        v->trees[i] = ccd_body_triangles(s->scene->bodies[p->body[i]], p->part[i]);
    v->separation = ccd_separation(s, p->body[0], p->body[1]);
    v->start = stretch->start;
    v->middle = 0.5 * (stretch->start + stretch->end);
    v->end = stretch->end;
    v->is_shortest = stretch->end - stretch->start <= s->limits->time_tolerance;
    v->axis = (vec3){0, 0, 0};
    forget_boxes(v);
}

/* Most boxes of b meet several boxes of a in a row. */
static const moving_box *place(ccd_view *v, int node)
{
    int at = node % CCD_BOXES_KEPT;
    if (v->nodes[at] != node) {
        moving_box_place(&v->frame, &v->trees[1]->nodes[node].box, &v->boxes[at]);
        v->nodes[at] = node;
    }
    return &v->boxes[at];
}

/* Once a contact is found the rest need only be free before it, where nothing overlaps yet. */
static void clip(ccd_view *v, double until)
{
    const double worth_it = 0.9; /* a smaller cut costs more than it saves */
    if (!(until - v->start < worth_it * (v->end - v->start)))
        return;
    double end = until > v->start ? until : v->start, middle = 0.5 * (v->start + end);
    taylor shorter;
    taylor_shift(&v->frame.a_from_b, middle - v->middle, 0.5 * (end - v->start), &shorter);
    v->frame.a_from_b = shorter;
    v->middle = middle;
    v->end = end;
    moving_frame_bound(&v->frame);
    forget_boxes(v);
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

/* The model is too coarse to show a contact, but tells where it is: on a stretch this short around
 * it, the radius, which shrinks with the cube of the length, is small enough. */
static void expect_contact(ccd_search *s, const triangle_result *found, const ccd_view *v)
{
    double around = 0.25 * v->frame.a_from_b.half, radius = found->radius / 64;
    for (int i = 0; i < 20 && radius > 0.05 * s->limits->tolerance; i++) {
        around *= 0.5;
        radius *= 0.125;
    }
    for (int i = 0; i < found->count; i++) {
        double time = v->middle + found->contacts[i].time;
        if (time < s->expected) {
            s->expected = time;
            s->around = around;
        }
    }
}

/* The time up to which it pays to look in this pass. */
static double horizon(const ccd_search *s)
{
    double expected = s->expected + s->around;
    return expected < s->toc ? expected : s->toc;
}

static void count_features(ccd_search *s, const triangle_result *found)
{
    s->counters->feature_tests += found->feature_tests;
    s->counters->feature_nodes += found->feature_nodes;
    s->budget -= found->feature_nodes;
}

/* True while nothing is left open in this pair of leaves. */
static bool test_triangles(ccd_search *s, const ccd_item *item, const int triangle[2], ccd_view *v)
{
    double low = v->start - v->middle, high = (s->toc < v->end ? s->toc : v->end) - v->middle;
    const ccd_limits *l = s->limits;
    feature_limits limits = {v->separation, l->tolerance, l->time_tolerance, s->budget};
    triangle_result found;
    const obb_triangle *a = &v->trees[0]->triangles[triangle[0]];
    const obb_triangle *b = &v->trees[1]->triangles[triangle[1]];
    triangle_verdict verdict =
        triangle_ccd(a, b, &v->frame.a_from_b, low, high, &limits, l->lets_go, &v->axis, &found);
    s->counters->triangle_tests++;
    s->budget--;
    count_features(s, &found);
    if (verdict == TRIANGLE_COARSE && s->may_expect) {
        triangle_ccd_expect(a, b, &v->frame.a_from_b, low, high, &limits, &found);
        count_features(s, &found);
        expect_contact(s, &found, v);
    } else {
        add_candidates(s, item, &found, triangle, v->middle);
    }
    if (verdict == TRIANGLE_REFUSED)
        s->is_refused = true;
    return verdict != TRIANGLE_COARSE;
}

static void test_leaves(ccd_search *s, const ccd_item *item, ccd_view *v)
{
    const obb_node *a = &v->trees[0]->nodes[item->node[0]];
    const obb_node *b = &v->trees[1]->nodes[item->node[1]];
    for (int i = 0; i < a->count * b->count; i++) {
        int triangle[2] = {a->first + i / b->count, b->first + i % b->count};
        if (s->budget <= 0 || s->is_full)
            return;
        if (test_triangles(s, item, triangle, v))
            continue;
        if (v->end - v->start <= instant)
            s->is_refused = true;
        else
            keep_open(s, item);
        return;
    }
}

static void push(ccd_search *s, int *depth, ccd_item item)
{
    if (*depth == s->scene->stack_room)
        s->is_full = true;
    else
        s->scene->stack[(*depth)++] = item;
}

/* Opens the box of one side; the child that is nearer to the other box comes first, because an
 * early contact spares the rest. */
static void open_side(ccd_search *s, int *depth, const ccd_item *item, int side, ccd_view *v)
{
    int left = v->trees[side]->nodes[item->node[side]].left;
    ccd_item child[2] = {*item, *item};
    double away[2];
    for (int i = 0; i < 2; i++) {
        child[i].node[side] = left + i;
        vec3 a = v->trees[0]->nodes[child[i].node[0]].box.centre;
        vec3 b = place(v, child[i].node[1])->centre;
        away[i] = vec3_length_squared(vec3_sub(b, a));
    }
    int nearer = away[0] <= away[1] ? 0 : 1;
    push(s, depth, child[1 - nearer]);
    push(s, depth, child[nearer]);
}

static void open_item(ccd_search *s, int *depth, const ccd_item *item, double travel, ccd_view *v)
{
    const obb_node *a = &v->trees[0]->nodes[item->node[0]];
    const obb_node *b = &v->trees[1]->nodes[item->node[1]];
    double smaller = a->box.radius < b->box.radius ? a->box.radius : b->box.radius;
    smaller += v->separation; /* a rounded point has no box, but a size */
    bool is_leaf_a = a->left < 0, is_leaf_b = b->left < 0;
    if (is_leaf_a && is_leaf_b)
        test_leaves(s, item, v);
    else if (!v->is_shortest && 2 * travel > travel_share * smaller)
        keep_open(s, item);
    else if (is_leaf_b || (!is_leaf_a && a->box.radius >= b->box.radius))
        open_side(s, depth, item, 0, v);
    else
        open_side(s, depth, item, 1, v);
}

void ccd_traverse(ccd_search *s, const ccd_item *first, ccd_view *v)
{
    int depth = 0;
    push(s, &depth, *first);
    while (depth > 0 && s->budget > 0 && !s->is_full && !s->is_refused) {
        ccd_item item = s->scene->stack[--depth];
        s->budget--;
        s->counters->box_tests++;
        clip(v, horizon(s));
        const obb *a = &v->trees[0]->nodes[item.node[0]].box;
        const moving_box *b = place(v, item.node[1]);
        if (!moving_box_is_apart(a, b, v->separation))
            open_item(s, &depth, &item, b->travel, v);
    }
}
