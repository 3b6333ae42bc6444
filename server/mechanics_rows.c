/* Rows of the contact programme: what is near at the start of the step, and what the proof found on
 * the way. */
#include "server/mechanics_internal.h"

/* Features nearer than this, and what the step may travel, become rows, if they are not much
 * farther than the nearest of the two links. What that leaves out is left to the proof. */
static const double base_reach = 3e-4;  /* m */
static const double reach_max = 4e-3;   /* m */
static const double base_band = 2.5e-5; /* m */
static const double band_max = 4e-4;    /* m */

/* A sleeper is woken by what comes nearer than this. */
static const double wake_gap = 2 * REST_GAP;

enum { ROWS_WORK = 60000, PAIR_WORK = 1500, FOUND_PER_PAIR = 4, FOUND_KIND = 16 };

/* --- one row ------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t key_of(const int members[2], const int link[2], int kind, const uint32_t id[4])
{
    uint64_t h = mix(0x243f6a8885a308d3u, (uint64_t)kind);
    for (int k = 0; k < 2; k++)
        h = mix(mix(h, (uint64_t)members[k]), (uint64_t)link[k]);
    for (int k = 0; k < 4; k++)
        h = mix(h, id[k]);
    return (h >> 6) + 1; /* below 2^59, not zero */
}

static bool is_active(const member *b)
{
    return b->is_pushed && !b->is_asleep && b->freedom > 0;
}

/* The member's unknowns take part in the programme. */
static void join_programme(mechanics *m, int index)
{
    member *b = &m->members[index];
    if (b->block >= 0)
        return;
    b->class->inertia(b->actor, b->k, b->v);
    b->block = m->block_count;
    m->block_member[m->block_count++] = index;
}

static void put_point(mechanics *m, int side, int link, vec3 point, qp_contact *c)
{
    int index = m->contact_members[m->contact_count][side];
    member *b = &m->members[index];
    row_point *p = &c->point[side];
    *p = (row_point){.owner = ROW_SCRIPTED};
    c->block[side] = -1;
    if (!is_active(b)) {
        if (b->is_moving && !b->is_pushed)
            p->velocity = b->class->velocity(b->actor, point);
        return;
    }
    join_programme(m, index);
    vec3 *columns = m->columns + (2L * m->contact_count + side) * m->freedom_max;
    b->class->columns(b->actor, link, point, columns);
    for (int i = 0; i < b->freedom; i++)
        p->velocity = vec3_add_scaled(p->velocity, b->v[i], columns[i]);
    p->owner = ROW_ARTICULATED;
    p->joint_count = b->freedom;
    p->joints = columns;
    c->block[side] = b->block;
}

/* A place where two members must not come closer than the rest gap along the normal (from the
 * second to the first). Both sides are pushed at the same point, so that momentum is kept. */
typedef struct place {
    int members[2], link[2];
    vec3 point, normal;
    double gap;
    uint64_t key;
} place;

/* Something moves along the normal: two links that nothing active moves are left to the proof. */
static bool can_yield(const qp_contact *c)
{
    double most = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < c->point[k].joint_count; i++)
            most = fmax(most, fabs(vec3_dot(c->normal, c->point[k].joints[i])));
    return most > 1e-6;
}

static bool add_row(mechanics *m, const place *p)
{
    const member *a = &m->members[p->members[0]], *b = &m->members[p->members[1]];
    if (m->contact_count == CONTACTS_MAX || !(is_active(a) || is_active(b)))
        return false;
    for (int i = 0; i < m->contact_count; i++)
        if (m->contacts[i].key == p->key)
            return false;
    qp_contact *c = &m->contacts[m->contact_count];
    double room = p->gap - REST_GAP;
    *c = (qp_contact){.key = p->key,
                      .normal = p->normal,
                      .clearance = room < 0 ? m->recover_share * room : room,
                      .mu = a->friction > b->friction ? a->friction : b->friction};
    for (int k = 0; k < 2; k++) {
        m->contact_members[m->contact_count][k] = p->members[k];
        m->contact_links[m->contact_count][k] = p->link[k];
    }
    for (int k = 0; k < 2; k++)
        put_point(m, k, p->link[k], p->point, c);
    if (!can_yield(c))
        return false;
    m->contact_count++;
    return true;
}

/* --- at the start of the step -------------------------------------------------------------------
 */

/* Bound of how far any point of the second link goes in the step, seen from the first. */
static double travel_of(const ccd_near_pair *pair, const member *a, const member *b)
{
    rigid relative[2];
    for (int t = 0; t < 2; t++) {
        rigid from = ccd_body_part_at(a->body, pair->part[0], t);
        rigid to = ccd_body_part_at(b->body, pair->part[1], t);
        rigid back = rigid_inverse(&from);
        relative[t] = rigid_compose(&back, &to);
    }
    const obb *box = &b->surfaces[pair->link[1]].tree->nodes[0].box;
    double turn = 0;
    for (int i = 0; i < 9; i++) {
        double d = relative[1].rotation.m[i / 3][i % 3] - relative[0].rotation.m[i / 3][i % 3];
        turn += d * d;
    }
    return vec3_distance(rigid_apply(&relative[0], box->centre),
                         rigid_apply(&relative[1], box->centre)) +
           sqrt(turn) * box->radius;
}

static int find_features(mechanics *m, const ccd_near_pair *pair, int64_t *work)
{
    const member *both[2] = {&m->members[pair->body[0]], &m->members[pair->body[1]]};
    double travel = travel_of(pair, both[0], both[1]);
    double reach = fmin(base_reach + 1.5 * travel, reach_max);
    double band = fmin(base_band + 0.1 * travel, band_max);
    const near_surface *surface[2];
    rigid at[2];
    for (int k = 0; k < 2; k++) {
        surface[k] = &both[k]->surfaces[pair->link[k]];
        at[k] = ccd_body_part_at(both[k]->body, pair->part[k], 0);
    }
    /* the nearest come first: of surfaces that are close all over, enough is enough */
    int64_t share = *work < PAIR_WORK ? *work : PAIR_WORK, left = share;
    int count =
        near_features_find(surface[0], &at[0], surface[1], &at[1], reach, band, &left, m->features);
    *work -= share - left;
    return near_features_thin(m->features, count, CONTACTS_PER_GROUP);
}

/* A sleeper and something awake or moving that has come near. */
static int wake_by(mechanics *m, const ccd_near_pair *pair, double gap)
{
    int woken = 0;
    for (int k = 0; k < 2 && gap < wake_gap; k++)
        if (m->members[pair->body[k]].is_asleep)
            woken += mechanics_wake(m, pair->body[k]);
    return woken;
}

static bool is_of_interest(const member *a, const member *b)
{
    bool is_one_awake = is_active(a) || is_active(b);
    bool is_one_nudged = (a->is_asleep && b->is_moving) || (b->is_asleep && a->is_moving);
    return is_one_awake || is_one_nudged;
}

static int look_at_pair(mechanics *m, const ccd_near_pair *pair, int64_t *work)
{
    const member *a = &m->members[pair->body[0]], *b = &m->members[pair->body[1]];
    if (!is_of_interest(a, b))
        return 0;
    int count = find_features(m, pair, work), woken = 0;
    for (int i = 0; i < count; i++) {
        const near_feature *f = &m->features[i];
        place p = {.members = {pair->body[0], pair->body[1]},
                   .link = {pair->link[0], pair->link[1]},
                   .point = vec3_lerp(f->point[0], f->point[1], 0.5),
                   .normal = f->normal,
                   .gap = f->gap};
        p.key = key_of(p.members, p.link, (int)f->kind, f->id);
        woken += wake_by(m, pair, f->gap);
        if (!add_row(m, &p) && m->contact_count == CONTACTS_MAX)
            *work = 0;
    }
    return woken;
}

int mechanics_find_rows(mechanics *m)
{
    ccd_counters counters = {0};
    int64_t work = ROWS_WORK;
    int woken = 0;
    m->contact_count = m->block_count = 0;
    for (int i = 0; i < m->count; i++)
        m->members[i].block = -1;
    int count = ccd_scene_near(m->scene, base_reach, m->near, NEAR_PAIRS_MAX, &counters);
    bool is_cut = count > NEAR_PAIRS_MAX;
    for (int i = 0; i < count && i < NEAR_PAIRS_MAX && work > 0; i++)
        woken += look_at_pair(m, &m->near[i], &work);
    m->counts.rows_cut += is_cut || work <= 0;
    return woken;
}

/* --- from the proof ----------------------------------------------------------------------------
 */

/* Where a point of a link that is at `point` at time t was at the start. */
static vec3 back_to_start(const member *b, int link, double t, vec3 point)
{
    int part = ccd_body_tree(b->body)->body_part[link];
    rigid then = ccd_body_part_at(b->body, part, t), start = ccd_body_part_at(b->body, part, 0);
    vec3 local = mat3_apply_transposed(then.rotation, vec3_sub(point, then.origin));
    return rigid_apply(&start, local);
}

/* The two points that touch on the way must be apart at its end, along the normal of that moment.
 * Each round asks for a little more: rows are straight, paths are not. */
static bool add_contact(mechanics *m, const ccd_finding *f, const ccd_contact *c, int round)
{
    const double more = 1e-5; /* m */
    vec3 start[2];
    if (vec3_distance(c->point[0], c->point[1]) < 1e-7) /* no direction to speak of */
        return false;
    place p = {.members = {c->body[0], c->body[1]}, .normal = vec3_negate(c->normal)};
    for (int k = 0; k < 2; k++) {
        const member *b = &m->members[c->body[k]];
        p.link[k] = c->link[k];
        start[k] = back_to_start(b, c->link[k], f->toc, c->point[k]);
        start[k] = vec3_add_scaled(
            start[k], k ? b->surfaces[c->link[k]].radius : -b->surfaces[c->link[k]].radius,
            p.normal);
    }
    p.point = vec3_lerp(start[0], start[1], 0.5);
    p.gap = vec3_dot(p.normal, vec3_sub(start[0], start[1])) - more * round;
    uint32_t id[4] = {(uint32_t)c->triangle[0], (uint32_t)c->triangle[1], (uint32_t)c->corner[0],
                      (uint32_t)c->corner[1]};
    p.key = key_of(p.members, p.link, FOUND_KIND * (1 + round) + (int)c->feature, id);
    return add_row(m, &p);
}

int mechanics_add_found(mechanics *m, int round)
{
    int added = 0;
    for (int i = 0; i < m->found.count; i++) {
        const ccd_finding *f = &m->found.list[i];
        for (int k = 0; k < 2; k++)
            if (m->members[f->body[k]].is_asleep)
                (void)mechanics_wake(m, f->body[k]); /* moves from the next step on */
        for (int k = 0; k < f->count && k < FOUND_PER_PAIR; k++)
            added += add_contact(m, f, &m->found.contacts[f->first + k], round);
    }
    return added;
}
