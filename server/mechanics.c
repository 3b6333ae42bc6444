#include "server/mechanics.h"

#include <stdlib.h>

#include "server/mechanics_internal.h"

enum { ROUNDS = 4, WAKES = 3, PAIR_ROOM = 4096, ITEM_ROOM = 1 << 16, BOUNDS_MAX = 512 };

const char *mechanics_stage_name(enum mechanics_stage stage)
{
    static const char *const names[] = {"propose", "rows", "solve", "prove", "accept"};
    return names[stage];
}

/* --- making -------------------------------------------------------------------------------------
 */

static hr_status make_surfaces(member *b)
{
    const model *links = ccd_body_model(b->body);
    b->surfaces = calloc((size_t)links->body_count, sizeof *b->surfaces);
    if (!b->surfaces)
        return HR_ERR_MEMORY;
    for (int i = 0; i < links->body_count; i++) {
        const obb_tree *tree = ccd_body_triangles(b->body, ccd_body_tree(b->body)->body_part[i]);
        if (!tree)
            continue;
        hr_status status = near_surface_make(tree, ccd_body_radius(b->body), &b->surfaces[i]);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

static hr_status take_in(mechanics *m, const mechanics_member *from)
{
    member *b = &m->members[m->count++];
    *b = (member){.class = from->class,
                  .actor = from->actor,
                  .first_key = from->first_key,
                  .key_count = from->key_count,
                  .body = from->class->body(from->actor),
                  .friction = from->class->friction(from->actor),
                  .is_pushed = from->class->is_pushed(from->actor),
                  .block = -1,
                  .bed = -1};
    const model *links = ccd_body_model(b->body);
    size_t freedom = b->is_pushed ? (size_t)(links->v_count < MOVER_FREEDOM_MAX ? links->v_count
                                                                                : MOVER_FREEDOM_MAX)
                                  : 1;
    b->q1 = calloc((size_t)links->q_count + 1, sizeof *b->q1);
    b->k = calloc(freedom * freedom, sizeof *b->k);
    b->v = calloc(freedom, sizeof *b->v);
    b->dv = calloc(freedom, sizeof *b->dv);
    if (!b->q1 || !b->k || !b->v || !b->dv)
        return HR_ERR_MEMORY;
    m->freedom_max = (int)freedom > m->freedom_max ? (int)freedom : m->freedom_max;
    if (ccd_scene_add(m->scene, b->body) != m->count - 1)
        return HR_ERR_CAPACITY;
    return make_surfaces(b);
}

static hr_status make_programme(mechanics *m)
{
    int unknowns = 0, blocks = 0;
    for (int i = 0; i < m->count; i++) {
        const model *links = ccd_body_model(m->members[i].body);
        if (!m->members[i].is_pushed)
            continue;
        blocks++;
        unknowns += links->v_count < MOVER_FREEDOM_MAX ? links->v_count : MOVER_FREEDOM_MAX;
    }
    m->bound_room = unknowns < BOUNDS_MAX ? unknowns : BOUNDS_MAX;
    m->programme = qp_blocks_create((qp_blocks_limits){.blocks = blocks,
                                                       .unknowns = unknowns,
                                                       .contacts = CONTACTS_MAX,
                                                       .bounds = m->bound_room,
                                                       .block_size = m->freedom_max});
    m->blocks = calloc((size_t)blocks + 1, sizeof *m->blocks);
    m->block_member = calloc((size_t)blocks + 1, sizeof *m->block_member);
    m->columns = calloc(2 * (size_t)CONTACTS_MAX * (size_t)m->freedom_max + 1, sizeof *m->columns);
    m->bounds = calloc((size_t)m->bound_room + 1, sizeof *m->bounds);
    m->zeros = calloc((size_t)m->freedom_max + 1, sizeof *m->zeros);
    m->island = calloc((size_t)m->count + 1, sizeof *m->island);
    bool is_good = m->programme && m->blocks && m->block_member && m->columns && m->bounds &&
                   m->zeros && m->island;
    return is_good ? HR_OK : HR_ERR_MEMORY;
}

hr_status mechanics_create(const mechanics_member *members, int count, mechanics **out)
{
    if (count > MEMBERS_MAX)
        return HR_ERR_CAPACITY;
    mechanics *m = calloc(1, sizeof *m);
    if (!m)
        return HR_ERR_MEMORY;
    m->scene = ccd_scene_create(PAIR_ROOM, ITEM_ROOM);
    hr_status status = m->scene ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < count && status == HR_OK; i++)
        status = take_in(m, &members[i]);
    if (status == HR_OK)
        status = make_programme(m);
    if (status != HR_OK) {
        mechanics_destroy(m);
        return status;
    }
    mechanics_start(m);
    *out = m;
    return HR_OK;
}

void mechanics_destroy(mechanics *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        for (int k = 0; b->surfaces && k < ccd_body_model(b->body)->body_count; k++)
            near_surface_free(&b->surfaces[k]);
        free(b->surfaces);
        free(b->q1);
        free(b->k);
        free(b->v);
        free(b->dv);
    }
    ccd_scene_destroy(m->scene);
    qp_blocks_destroy(m->programme);
    free(m->blocks);
    free(m->block_member);
    free(m->columns);
    free(m->bounds);
    free(m->zeros);
    free(m->island);
    free(m);
}

/* --- the step -----------------------------------------------------------------------------------
 */

static void mark(mechanics *m, enum mechanics_stage stage)
{
    if (!m->now)
        return;
    int64_t now = m->now();
    m->stage_ns[stage] += now - m->mark_ns;
    m->mark_ns = now;
}

static void begin(mechanics *m)
{
    for (int i = 0; i < MECHANICS_STAGES; i++)
        m->stage_ns[i] = 0;
    m->mark_ns = m->now ? m->now() : 0;
    m->counts.steps++;
}

static void wake_touched(mechanics *m, const tool_sample *hands, int hand_count)
{
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        for (int k = 0; k < hand_count && b->is_pushed; k++) {
            bool is_touched = hands[k].is_touching && hands[k].body_key >= b->first_key &&
                              hands[k].body_key < b->first_key + (uint32_t)b->key_count;
            if (!is_touched)
                continue;
            b->calm_s = 0;
            if (b->is_asleep)
                (void)mechanics_wake(m, i);
        }
    }
}

/* Returns how many may be pushed now. */
static int propose(mechanics *m, mover_step step)
{
    int active = 0;
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (b->is_asleep || b->has_proposed)
            continue;
        step.first_key = b->first_key;
        b->share = 1;
        b->class->propose(b->actor, &step, b->q1);
        b->freedom = b->is_pushed ? b->class->freedom(b->actor) : 0;
        b->has_proposed = true;
        active += b->is_pushed;
        mechanics_tell(b);
    }
    return active;
}

static void find_rows(mechanics *m, const mover_step *step)
{
    for (int i = 0; i < WAKES; i++) {
        if (mechanics_find_rows(m) == 0)
            return;
        (void)propose(m, *step);
    }
}

/* Solves until the proof holds, or the rounds are used up. */
static void solve_and_prove(mechanics *m, double dt)
{
    for (int round = 0;; round++) {
        m->counts.rounds++;
        if (m->contact_count > 0)
            mechanics_solve(m, dt);
        mark(m, MECHANICS_SOLVE);
        bool is_free = mechanics_prove(m);
        mark(m, MECHANICS_PROVE);
        if (is_free)
            return;
        if (round == ROUNDS - 1 || mechanics_add_found(m, round) == 0)
            break;
        mark(m, MECHANICS_ROWS);
    }
    mechanics_cut_back(m);
    mark(m, MECHANICS_PROVE);
}

static void tell_struck(mechanics *m)
{
    for (int i = 0; i < m->contact_count; i++)
        for (int k = 0; k < 2; k++) {
            const member *b = &m->members[m->contact_members[i][k]];
            if (b->class->strike && vec3_length_squared(m->contacts[i].impulse) > 0)
                b->class->strike(b->actor, m->contact_links[i][k]);
        }
}

static void accept(mechanics *m, double dt)
{
    tell_struck(m);
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (!b->has_proposed)
            continue;
        b->has_proposed = false;
        if (b->is_moving)
            ccd_body_stop(b->body, 1);
        b->is_moving = false;
        m->counts.stopped_short += b->share < 1;
        b->class->accept(b->actor, ccd_body_coordinates(b->body), b->block >= 0 ? b->dv : NULL,
                         b->share, dt);
    }
}

void mechanics_step(mechanics *m, const tool_sample *hands, int hand_count, int64_t time_ns,
                    double dt)
{
    mover_step step = {.hands = hands, .hand_count = hand_count, .time_ns = time_ns, .dt = dt};
    begin(m);
    m->contact_count = m->block_count = 0;
    wake_touched(m, hands, hand_count);
    (void)propose(m, step);
    mark(m, MECHANICS_PROPOSE);
    find_rows(m, &step);
    mark(m, MECHANICS_ROWS);
    solve_and_prove(m, dt);
    accept(m, dt);
    mechanics_put_to_sleep(m, dt);
    m->counts.contacts = (uint64_t)m->contact_count;
    mark(m, MECHANICS_ACCEPT);
}

const mechanics_counts *mechanics_counted(const mechanics *m)
{
    return &m->counts;
}

void mechanics_watch(mechanics *m, int64_t (*now)(void))
{
    m->now = now;
}

int64_t mechanics_stage_ns(const mechanics *m, enum mechanics_stage stage)
{
    return m->stage_ns[stage];
}
