#include "collide/ccd_step.h"

#include <stdlib.h>
#include <string.h>

#include "collide/ccd_search.h"

enum { LINKS_MAX = 8192, STACK_ROOM = 256 };

const char *ccd_status_name(ccd_status status)
{
    static const char *const names[] = {"free", "contact", "initial", "budget", "refused"};
    return names[status];
}

ccd_limits ccd_limits_default(void)
{
    return (ccd_limits){.separation = 0,
                        .tolerance = 1e-6,
                        .time_tolerance = 0x1p-40,
                        .budget = 4000000,
                        .lets_go = false};
}

/* --- the scene ----------------------------------------------------------------------------------
 */

ccd_scene *ccd_scene_create(int pair_room, int item_room)
{
    ccd_scene *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->pair_room = pair_room;
    s->item_room = item_room;
    s->stack_room = STACK_ROOM;
    s->pairs = calloc((size_t)pair_room, sizeof *s->pairs);
    s->items = calloc((size_t)item_room, sizeof *s->items);
    s->stack = calloc(STACK_ROOM, sizeof *s->stack);
    if (s->pairs && s->items && s->stack)
        return s;
    ccd_scene_destroy(s);
    return NULL;
}

void ccd_scene_destroy(ccd_scene *scene)
{
    if (!scene)
        return;
    free(scene->dropped);
    free(scene->pairs);
    free(scene->items);
    free(scene->stack);
    free(scene);
}

static int link_total(const ccd_scene *s)
{
    return s->first_link[s->body_count];
}

int ccd_scene_add(ccd_scene *s, ccd_body *body)
{
    const model *m = ccd_body_model(body);
    int before = link_total(s), after = before + m->body_count, number = s->body_count;
    if (number == CCD_BODIES_MAX || after > LINKS_MAX)
        return -1;
    uint8_t *dropped = calloc((size_t)after * (size_t)after, 1);
    if (!dropped)
        return -1;
    for (int i = 0; i < before; i++)
        memcpy(dropped + (size_t)i * (size_t)after, s->dropped + (size_t)i * (size_t)before,
               (size_t)before);
    free(s->dropped);
    s->dropped = dropped;
    s->bodies[number] = body;
    s->order[number] = number;
    s->body_count++;
    s->first_link[s->body_count] = after;
    for (int b = 1; b < m->body_count; b++)
        if (ccd_scene_filter(s, number, b, number, m->bodies[b].parent, false) != HR_OK)
            return -1;
    return number;
}

static size_t filter_place(const ccd_scene *s, int body_a, int link_a, int body_b, int link_b)
{
    return (size_t)(s->first_link[body_a] + link_a) * (size_t)link_total(s) +
           (size_t)(s->first_link[body_b] + link_b);
}

static bool has_link(const ccd_scene *s, int body, int link)
{
    return body >= 0 && body < s->body_count && link >= 0 &&
           link < s->first_link[body + 1] - s->first_link[body];
}

hr_status ccd_scene_filter(ccd_scene *s, int body_a, int link_a, int body_b, int link_b,
                           bool is_tested)
{
    if (!has_link(s, body_a, link_a) || !has_link(s, body_b, link_b))
        return HR_ERR_ARGUMENT;
    s->dropped[filter_place(s, body_a, link_a, body_b, link_b)] = !is_tested;
    s->dropped[filter_place(s, body_b, link_b, body_a, link_a)] = !is_tested;
    memset(s->apart[body_a < body_b ? body_a : body_b][body_a < body_b ? body_b : body_a], 0,
           sizeof s->apart[0][0]); /* proven under another filter */
    return HR_OK;
}

bool ccd_scene_tests(const ccd_scene *s, int body_a, int link_a, int body_b, int link_b)
{
    return !s->dropped[filter_place(s, body_a, link_a, body_b, link_b)];
}

/* --- the step --------------------------------------------------------------------------------- */

static bool is_still(const ccd_scene *s, int body)
{
    return ccd_body_dirty_count(s->bodies[body]) == 0;
}

bool ccd_scene_is_settled(const ccd_scene *s, int a, int b)
{
    return is_still(s, a) && is_still(s, b) &&
           s->apart[a][b][0] == ccd_body_place_number(s->bodies[a]) &&
           s->apart[a][b][1] == ccd_body_place_number(s->bodies[b]);
}

/* What was proven for a smaller separation does not hold for this one. */
static void begin_proof(ccd_scene *s, const ccd_limits *limits)
{
    if (limits->separation > s->apart_separation)
        memset(s->apart, 0, sizeof s->apart);
    s->apart_separation = limits->separation;
}

/* After a step that proved [0, toc) free: what did not move is apart for good. */
static void settle(ccd_scene *s)
{
    for (int a = 0; a < s->body_count; a++) {
        if (!is_still(s, a))
            continue;
        for (int b = ccd_scene_next_meeting(s, a, a); b >= 0; b = ccd_scene_next_meeting(s, a, b)) {
            if (!is_still(s, b))
                continue;
            s->apart[a][b][0] = ccd_body_place_number(s->bodies[a]);
            s->apart[a][b][1] = ccd_body_place_number(s->bodies[b]);
        }
    }
}

static void enclose_body(ccd_search *s, int body, double start, double end)
{
    double *last = s->scene->enclosed[body];
    if (last[0] == start && last[1] == end)
        return;
    ccd_body_enclose(s->scene->bodies[body], 0.5 * (start + end), 0.5 * (end - start), s->counters);
    last[0] = start;
    last[1] = end;
}

static void enclose(ccd_search *s, double start, double end)
{
    if (s->alone) {
        enclose_body(s, s->alone->body[0], start, end);
        enclose_body(s, s->alone->body[1], start, end);
        return;
    }
    for (int i = 0; i < s->scene->body_count; i++)
        enclose_body(s, i, start, end);
}

static ccd_search new_search(ccd_scene *scene, const ccd_limits *limits, ccd_counters *counters)
{
    return (ccd_search){
        .scene = scene, .limits = limits, .counters = counters, .budget = limits->budget, .toc = 2};
}

/* The bodies may have been told to move elsewhere since the last search. */
static void begin_search(ccd_search *s)
{
    for (int i = 0; i < s->scene->body_count; i++)
        s->scene->enclosed[i][0] = s->scene->enclosed[i][1] = -1;
    s->scene->candidate_count = s->scene->item_count = 0;
    enclose(s, 0, 1);
    s->is_full = !ccd_broad_phase(s) || s->scene->pair_count > s->scene->item_room;
}

/* Motion of the pair's second link seen from its first, through what they have in common. */
static void relative_motion(ccd_search *s, const ccd_pair *p, double half, moving_frame *frame)
{
    const motion *to[2];
    for (int i = 0; i < 2; i++) {
        ccd_body *body = s->scene->bodies[p->body[i]];
        const assembly_tree *tree = ccd_body_tree(body);
        int top = p->top >= 0 ? p->top : tree->root;
        to[i] = ccd_body_from_node(body, top, tree->parts[p->part[i]].leaf, s->counters);
    }
    motion relative;
    motion_relative(to[0], to[1], &relative);
    motion_to_taylor(&relative, half, &frame->a_from_b);
    moving_frame_bound(frame);
}

/* All open items on one stretch; what stays open is appended behind the others. */
static void look_at(ccd_search *s, const ccd_stretch *stretch)
{
    ccd_scene *scene = s->scene;
    ccd_view view;
    int pair = -1;
    s->may_expect = stretch->may_expect;
    s->expected = 2;
    s->around = 0;
    enclose(s, stretch->start, stretch->end);
    for (int i = 0; i < stretch->count; i++) {
        if (s->budget <= 0 || s->is_full || s->is_refused)
            return;
        ccd_item item = scene->items[stretch->first + i];
        if (item.pair != pair) {
            pair = item.pair;
            relative_motion(s, &scene->pairs[pair], 0.5 * (stretch->end - stretch->start),
                            &view.frame);
            ccd_view_begin(&view, s, pair, stretch);
        }
        ccd_traverse(s, &item, &view);
    }
}

static void postpone(ccd_scene *scene, ccd_stretch stretch)
{
    scene->waiting[scene->waiting_count++] = stretch;
}

/* Cuts a stretch, the earliest part on top. `open` items behind its own are undecided up to where
 * the search looked: to the end, or a little past the time at which contact is expected. There a
 * short piece is cut out; what lies behind it starts again from the items of the whole. Never
 * twice in a row, so that every other cut halves what is left. */
static void split(ccd_search *s, const ccd_stretch *now, int open)
{
    bool is_expected = s->expected < now->end;
    double cut = 0.5 * (now->start + now->end), end = now->end;
    int first = now->first + now->count;
    s->counters->time_splits++;
    if (is_expected) {
        cut = s->expected - s->around;
        end = s->expected + s->around;
    }
    if (end < now->end)
        postpone(s->scene, (ccd_stretch){end, now->end, now->first, now->count, false});
    else
        end = now->end;
    if (cut > now->start) {
        postpone(s->scene, (ccd_stretch){cut, end, first, open, true});
        end = cut;
    }
    postpone(s->scene,
             (ccd_stretch){now->start, end, first, open, !is_expected || cut <= now->start});
}

/* What is still undecided on a stretch too short to be split: it is told by where things are at its
 * start, and contact is at most the time tolerance later. */
static void look_at_start(ccd_search *s, const ccd_stretch *stretch, int open)
{
    ccd_stretch instant = {stretch->start, stretch->start, stretch->first + stretch->count, open,
                           false};
    look_at(s, &instant);
    s->toc = stretch->start < s->toc ? stretch->start : s->toc;
}

static bool is_splittable(const ccd_search *s, const ccd_stretch *stretch)
{
    double middle = 0.5 * (stretch->start + stretch->end);
    return stretch->end - stretch->start > s->limits->time_tolerance && middle > stretch->start &&
           middle < stretch->end && s->scene->waiting_count + 3 <= CCD_DEPTH_MAX;
}

/* Depth first in time: an earlier part, with everything below it, before a later one. Returns
 * the time up to which freedom is proven. */
static double search_time(ccd_search *s)
{
    ccd_scene *scene = s->scene;
    scene->waiting_count = 0;
    postpone(scene, (ccd_stretch){0, 1, 0, scene->item_count, true});
    while (scene->waiting_count > 0) {
        ccd_stretch now = scene->waiting[--scene->waiting_count];
        if (now.start > s->toc)
            continue;
        scene->item_count = now.first + now.count;
        look_at(s, &now);
        int open = scene->item_count - now.first - now.count;
        bool has_stopped = s->budget <= 0 || s->is_full || s->is_refused;
        if (!has_stopped && open > 0 && is_splittable(s, &now))
            split(s, &now, open);
        else if (!has_stopped && open > 0)
            look_at_start(s, &now, open);
        if (s->budget <= 0 || s->is_full || s->is_refused)
            return now.start;
    }
    return 1;
}

/* --- the result ------------------------------------------------------------------------------- */

static void place_corners(const obb_triangle *t, const rigid *world_from_part, vec3 out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = rigid_apply(world_from_part, t->corners[i]);
}

static closest_pair closest_features(const triangle_contact *c, const vec3 a[3], const vec3 b[3])
{
    int i = c->i, j = c->j;
    switch (c->feature) {
    case TRIANGLE_A_VERTEX:
        return closest_point_triangle(a[i], b[0], b[1], b[2]);
    case TRIANGLE_B_VERTEX: {
        closest_pair p = closest_point_triangle(b[i], a[0], a[1], a[2]);
        vec3 swap = p.on_first;
        p.on_first = p.on_second;
        p.on_second = swap;
        return p;
    }
    default:
        return closest_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]);
    }
}

/* The candidate as it is at toc, by points. */
static ccd_contact contact_at(const ccd_scene *scene, const ccd_candidate *c, double toc)
{
    const ccd_pair *pair = &scene->pairs[c->pair];
    vec3 corners[2][3];
    ccd_contact out = {.feature = c->contact.feature, .is_separating = c->contact.is_separating};
    for (int k = 0; k < 2; k++) {
        const ccd_body *body = scene->bodies[pair->body[k]];
        const obb_triangle *t = &ccd_body_triangles(body, pair->part[k])->triangles[c->triangle[k]];
        rigid place = ccd_body_part_at(body, pair->part[k], toc);
        place_corners(t, &place, corners[k]);
        out.body[k] = pair->body[k];
        out.link[k] = ccd_body_tree(body)->parts[pair->part[k]].body;
        out.triangle[k] = t->index;
    }
    out.corner[0] = c->contact.i;
    out.corner[1] = c->contact.j;
    closest_pair closest = closest_features(&c->contact, corners[0], corners[1]);
    out.point[0] = closest.on_first;
    out.point[1] = closest.on_second;
    out.distance = sqrt(closest.distance_squared) - ccd_body_radius(scene->bodies[pair->body[0]]) -
                   ccd_body_radius(scene->bodies[pair->body[1]]);
    out.normal = vec3_normalize_or(vec3_sub(closest.on_second, closest.on_first), (vec3){0, 0, 0});
    return out;
}

static bool is_new(const ccd_contact *contacts, int count, const ccd_contact *c, double tolerance)
{
    for (int i = 0; i < count; i++) {
        const ccd_contact *other = &contacts[i];
        bool is_same_pair = memcmp(other->body, c->body, sizeof c->body) == 0 &&
                            memcmp(other->link, c->link, sizeof c->link) == 0;
        if (is_same_pair && vec3_distance(other->point[0], c->point[0]) <= tolerance &&
            vec3_distance(other->point[1], c->point[1]) <= tolerance)
            return false;
    }
    return true;
}

/* Writes the contacts at toc of the search that has just ended; returns how many. */
static int report(const ccd_scene *scene, const ccd_limits *limits, double toc, ccd_contact *out,
                  int room)
{
    double near = limits->separation + 2 * limits->tolerance;
    int count = 0;
    for (int i = 0; i < scene->candidate_count; i++) {
        const ccd_candidate *candidate = &scene->candidates[i];
        bool is_first = candidate->contact.time <= toc;
        ccd_contact c = contact_at(scene, candidate, toc);
        if ((is_first || c.distance <= near) && count < room &&
            is_new(out, count, &c, limits->tolerance))
            out[count++] = c;
    }
    return count;
}

static bool are_good(const ccd_limits *l)
{
    return l->separation >= 0 && isfinite(l->separation) && l->tolerance > 0 &&
           isfinite(l->tolerance) && l->time_tolerance > 0 && l->time_tolerance < 1;
}

/* What the search has shown; *toc stays where everything is free. */
static ccd_status judge(const ccd_search *s, double proven, double *toc)
{
    bool has_stopped = s->is_full || s->is_refused || s->budget <= 0;
    if (s->is_refused) {
        *toc = 0;
        return CCD_REFUSED;
    }
    if (has_stopped && proven < s->toc) {
        *toc = proven;
        return CCD_BUDGET;
    }
    if (s->toc <= 1) {
        *toc = s->toc;
        return s->toc > 0 ? CCD_CONTACT : CCD_INITIAL;
    }
    return CCD_FREE;
}

hr_status ccd_step(ccd_scene *scene, const ccd_limits *limits, ccd_result *out)
{
    if (!are_good(limits))
        return HR_ERR_ARGUMENT;
    out->status = CCD_FREE;
    out->toc = 1;
    out->contact_count = 0;
    out->counters = (ccd_counters){0};
    ccd_search s = new_search(scene, limits, &out->counters);
    begin_proof(scene, limits);
    begin_search(&s);
    out->pair_count = scene->pair_count;
    for (int i = 0; i < scene->pair_count && !s.is_full; i++)
        scene->items[scene->item_count++] = (ccd_item){i, {0, 0}};

    out->status = judge(&s, s.is_full ? 0 : search_time(&s), &out->toc);
    if (out->status == CCD_CONTACT || out->status == CCD_INITIAL)
        out->contact_count = report(scene, limits, out->toc, out->contacts, CCD_CONTACTS_MAX);
    if (out->status == CCD_FREE || out->status == CCD_CONTACT)
        settle(scene);
    return HR_OK;
}

/* --- every pair on its own -------------------------------------------------------------------- */

static ccd_finding look_alone(ccd_search *s, int pair)
{
    ccd_scene *scene = s->scene;
    const ccd_pair *p = &scene->pairs[pair];
    ccd_finding found = {.body = {p->body[0], p->body[1]}, .toc = 1};
    for (int k = 0; k < 2; k++)
        found.link[k] = ccd_body_tree(scene->bodies[p->body[k]])->parts[p->part[k]].body;
    s->alone = p;
    s->toc = 2;
    s->is_full = s->is_refused = false;
    scene->candidate_count = 0;
    scene->item_count = 1;
    scene->items[0] = (ccd_item){pair, {0, 0}};
    found.status = judge(s, s->budget > 0 ? search_time(s) : 0, &found.toc);
    return found;
}

hr_status ccd_step_each(ccd_scene *scene, const ccd_limits *limits, ccd_findings *out)
{
    if (!are_good(limits))
        return HR_ERR_ARGUMENT;
    out->count = out->contact_count = 0;
    out->counters = (ccd_counters){0};
    ccd_search s = new_search(scene, limits, &out->counters);
    begin_proof(scene, limits);
    begin_search(&s);
    out->pair_count = scene->pair_count;
    out->is_cut_short = s.is_full;
    for (int i = 0; i < scene->pair_count && !out->is_cut_short; i++) {
        ccd_finding found = look_alone(&s, i);
        if (found.status == CCD_FREE)
            continue;
        if (out->count == CCD_FINDINGS_MAX) {
            out->is_cut_short = true;
            break;
        }
        found.first = out->contact_count;
        if (found.status == CCD_CONTACT || found.status == CCD_INITIAL)
            found.count = report(scene, limits, found.toc, out->contacts + found.first,
                                 CCD_CONTACTS_MAX - found.first);
        out->contact_count += found.count;
        out->list[out->count++] = found;
    }
    if (!out->is_cut_short)
        settle(scene); /* what rests, in contact or not, is not asked for again */
    return HR_OK;
}

int ccd_scene_near(ccd_scene *scene, double margin, ccd_near_pair *out, int room,
                   ccd_counters *counters)
{
    ccd_limits limits = ccd_limits_default();
    limits.separation = margin;
    ccd_search s = new_search(scene, &limits, counters);
    begin_search(&s);
    for (int i = 0; i < scene->pair_count && i < room; i++) {
        const ccd_pair *p = &scene->pairs[i];
        out[i] = (ccd_near_pair){{p->body[0], p->body[1]}, {p->part[0], p->part[1]}, {0, 0}};
        for (int k = 0; k < 2; k++)
            out[i].link[k] = ccd_body_tree(scene->bodies[p->body[k]])->parts[p->part[k]].body;
    }
    return scene->pair_count;
}
