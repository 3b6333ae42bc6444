#include "solver/qp_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solver/friction.h"
#include "solver/key_table.h"

enum { PASSES_MORE = 6 };

/* Things in the order of the islands they belong to: those of island i are item[start[i]] up to
 * item[start[i + 1]]. */
typedef struct grouping {
    int *start, *item;
} grouping;

struct qp_blocks {
    qp_blocks_limits limits;
    int *root;    /* of a block: the smallest index of its island */
    int *ordinal; /* of a root: its island's number */
    int islands;
    int *first; /* first unknown of a block within its island's programme */
    grouping blocks, contacts, bounds;
    int *sizes; /* of the blocks of the island being solved */
    double *k, *b, *stop, *impulse;
    vec3 *tangent; /* of each contact of the island being solved */
    qp *qp;
    friction *friction;
    int *held, *held_sign; /* rows to start from */
    int held_room;
    key_table last_bounds, held_bounds; /* sides of the bounds that held: last solve, this one */
};

qp_blocks_settings qp_blocks_settings_default(double dt)
{
    return (qp_blocks_settings){.dt = dt,
                                .recovery = ROW_RECOVERY,
                                .skin = 50e-6,
                                .passes = 4,
                                .tolerance = 1e-7,
                                .budget = {.iterations = -1}};
}

static bool allocate_group(grouping *g, int groups, int items)
{
    g->start = calloc((size_t)groups + 2, sizeof(int));
    g->item = calloc((size_t)items + 1, sizeof(int));
    return g->start && g->item;
}

static bool allocate(qp_blocks *s)
{
    qp_blocks_limits l = s->limits;
    size_t blocks = (size_t)l.blocks, unknowns = (size_t)l.unknowns;
    size_t contacts = (size_t)l.contacts + 1, block = (size_t)l.block_size;
    s->root = calloc(blocks, sizeof(int));
    s->ordinal = calloc(blocks, sizeof(int));
    s->first = calloc(blocks, sizeof(int));
    s->sizes = calloc(blocks, sizeof(int));
    s->k = calloc(unknowns * block, sizeof(double));
    s->b = calloc(unknowns, sizeof(double));
    s->stop = calloc(unknowns, sizeof(double));
    s->impulse = calloc(3 * contacts, sizeof(double));
    s->tangent = calloc(contacts, sizeof(vec3));
    bool ok = s->root && s->ordinal && s->first && s->sizes && s->k && s->b && s->stop &&
              s->impulse && s->tangent;
    ok = allocate_group(&s->blocks, l.blocks, l.blocks) && ok;
    ok = allocate_group(&s->contacts, l.blocks, l.contacts) && ok;
    ok = allocate_group(&s->bounds, l.blocks, l.bounds) && ok;
    ok = key_table_create(&s->last_bounds, l.bounds) && ok;
    return key_table_create(&s->held_bounds, l.bounds) && ok;
}

static bool allocate_solvers(qp_blocks *s)
{
    qp_blocks_limits l = s->limits;
    int rows = friction_rows_per_contact(3) * l.contacts + l.bounds + 1;
    long columns = 2L * l.block_size < l.unknowns ? 2L * l.block_size : l.unknowns;
    s->qp = qp_create((qp_limits){.variables = l.unknowns,
                                  .rows = rows,
                                  .entries = columns * rows,
                                  .soft_rows = l.bounds,
                                  .envelope = (long)l.unknowns * l.block_size});
    s->friction = friction_create(3, l.contacts, l.unknowns, columns * l.contacts + 1);
    s->held_room = l.unknowns + l.bounds;
    s->held = calloc((size_t)s->held_room + 1, sizeof *s->held);
    s->held_sign = calloc((size_t)s->held_room + 1, sizeof *s->held_sign);
    return s->qp && s->friction && s->held && s->held_sign;
}

qp_blocks *qp_blocks_create(qp_blocks_limits limits)
{
    if (limits.blocks <= 0 || limits.unknowns <= 0 || limits.block_size <= 0 ||
        limits.contacts < 0 || limits.bounds < 0)
        return NULL;
    qp_blocks *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->limits = limits;
    if (!allocate(s) || !allocate_solvers(s)) {
        qp_blocks_destroy(s);
        return NULL;
    }
    return s;
}

void qp_blocks_destroy(qp_blocks *s)
{
    if (!s)
        return;
    void *memory[] = {s->root,
                      s->ordinal,
                      s->first,
                      s->sizes,
                      s->k,
                      s->b,
                      s->stop,
                      s->impulse,
                      s->tangent,
                      s->held,
                      s->held_sign,
                      s->blocks.start,
                      s->blocks.item,
                      s->contacts.start,
                      s->contacts.item,
                      s->bounds.start,
                      s->bounds.item};
    for (int i = 0; i < HR_COUNT(memory); i++)
        free(memory[i]);
    key_table_free(&s->last_bounds);
    key_table_free(&s->held_bounds);
    qp_destroy(s->qp);
    friction_destroy(s->friction);
    free(s);
}

const int *qp_blocks_islands(const qp_blocks *s)
{
    return s->root;
}

typedef struct task {
    const qp_blocks_settings *settings;
    const qp_block *blocks;
    int block_count;
    qp_contact *contacts;
    int contact_count;
    const qp_bound *bounds;
    int bound_count;
    qp_blocks_info *info;
} task;

static int root_of(int *root, int i)
{
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

static void find_islands(qp_blocks *s, const task *t)
{
    for (int i = 0; i < t->block_count; i++)
        s->root[i] = i;
    for (int c = 0; c < t->contact_count; c++) {
        const int *block = t->contacts[c].block;
        if (block[0] < 0 || block[1] < 0)
            continue;
        int a = root_of(s->root, block[0]), b = root_of(s->root, block[1]);
        s->root[a > b ? a : b] = a > b ? b : a;
    }
    s->islands = 0;
    for (int i = 0; i < t->block_count; i++) {
        s->root[i] = root_of(s->root, i);
        if (s->root[i] == i)
            s->ordinal[i] = s->islands++;
    }
}

/* The island of thing i, whatever is grouped; -1: of none. */
static int island_of(const qp_blocks *s, const task *t, const grouping *g, int i)
{
    int block = i;
    if (g == &s->bounds)
        block = t->bounds[i].block;
    if (g == &s->contacts) {
        const int *two = t->contacts[i].block;
        block = two[0] >= 0 ? two[0] : two[1];
    }
    return block < 0 ? -1 : s->ordinal[s->root[block]];
}

/* Counting sort, which keeps the order within an island. */
static void group(qp_blocks *s, const task *t, grouping *g, int count)
{
    memset(g->start, 0, ((size_t)s->islands + 2) * sizeof *g->start);
    for (int i = 0; i < count; i++) {
        int island = island_of(s, t, g, i);
        if (island >= 0)
            g->start[island + 2]++;
    }
    for (int i = 2; i < s->islands + 2; i++)
        g->start[i] += g->start[i - 1];
    for (int i = 0; i < count; i++) {
        int island = island_of(s, t, g, i);
        if (island >= 0)
            g->item[g->start[island + 1]++] = i;
    }
}

/* Do its unknowns exist? */
static bool is_point_good(const task *t, int block, const row_point *p)
{
    static const int needs[] = {0, 3, 6, 0};
    if (block < 0)
        return true;
    int size = t->blocks[block].size;
    if (p->first < 0 || p->first > size - needs[p->owner])
        return false;
    for (int i = 0; p->owner == ROW_ARTICULATED && i < p->joint_count; i++) {
        int unknown = p->unknowns ? p->unknowns[i] : i;
        if (unknown < 0 || unknown >= size - p->first)
            return false;
    }
    return true;
}

static hr_status check_contact(const task *t, const qp_contact *c)
{
    for (int k = 0; k < 2; k++)
        if (c->block[k] >= t->block_count || (unsigned)c->point[k].owner > ROW_ARTICULATED)
            return HR_ERR_ARGUMENT;
    if (!vec3_is_finite(c->normal) || !isfinite(c->clearance) || !isfinite(c->mu) ||
        !vec3_is_finite(c->point[0].velocity) || !vec3_is_finite(c->point[1].velocity))
        return HR_ERR_NOT_FINITE;
    bool is_good = c->key != 0 && c->mu >= 0 && fabs(vec3_length_squared(c->normal) - 1.0) < 1e-6 &&
                   is_point_good(t, c->block[0], &c->point[0]) &&
                   is_point_good(t, c->block[1], &c->point[1]);
    return is_good ? HR_OK : HR_ERR_ARGUMENT;
}

static hr_status check_blocks(const qp_blocks *s, const task *t)
{
    int unknowns = 0;
    for (int i = 0; i < t->block_count; i++) {
        const qp_block *block = &t->blocks[i];
        if (block->size <= 0 || block->size > s->limits.block_size ||
            block->size > s->limits.unknowns - unknowns)
            return HR_ERR_CAPACITY;
        unknowns += block->size;
        for (int u = 0; u < block->size; u++)
            if (!isfinite(block->v[u]))
                return HR_ERR_NOT_FINITE;
    }
    return HR_OK;
}

static hr_status check(const qp_blocks *s, const task *t)
{
    if (t->block_count > s->limits.blocks || t->contact_count > s->limits.contacts ||
        t->bound_count > s->limits.bounds)
        return HR_ERR_CAPACITY;
    if (!(t->settings->dt > 0) || !isfinite(t->settings->dt))
        return HR_ERR_ARGUMENT;
    hr_status status = check_blocks(s, t);
    for (int c = 0; c < t->contact_count && status == HR_OK; c++)
        status = check_contact(t, &t->contacts[c]);
    for (int k = 0; k < t->bound_count && status == HR_OK; k++) {
        const qp_bound *b = &t->bounds[k];
        if (b->block < 0 || b->block >= t->block_count || b->unknown < 0 ||
            b->unknown >= t->blocks[b->block].size)
            status = HR_ERR_ARGUMENT;
    }
    return status;
}

/* K, b and the stop of the island's blocks, one after another. Returns how many blocks. */
static int gather(qp_blocks *s, const task *t, int island)
{
    int unknowns = 0, count = 0;
    double *k = s->k;
    for (int i = s->blocks.start[island]; i < s->blocks.start[island + 1]; i++) {
        const qp_block *block = &t->blocks[s->blocks.item[i]];
        size_t size = (size_t)block->size;
        s->sizes[count++] = block->size;
        s->first[s->blocks.item[i]] = unknowns;
        memcpy(k, block->k, size * size * sizeof *k);
        memcpy(s->b + unknowns, block->b, size * sizeof *k);
        for (size_t u = 0; u < size; u++)
            s->stop[unknowns + (int)u] = -block->v[u];
        k += size * size;
        unknowns += block->size;
    }
    return count;
}

/* The contact frame follows the normal, so that cuts keep their meaning from step to step. */
static vec3 tangent_of(const qp_blocks *s, const qp_contact *c)
{
    vec3 last;
    if (friction_tangent(s->friction, c->key, &last)) {
        vec3 flat = vec3_add_scaled(last, -vec3_dot(last, c->normal), c->normal);
        if (vec3_length_squared(flat) > 0.01)
            return vec3_normalize_or(flat, last);
    }
    return vec3_any_perpendicular(c->normal);
}

/* Three unknowns whose unit velocities have these components along the contact's axes. */
static hr_status add_vector(friction *f, int first, double sign, const vec3 axes[3])
{
    double x[3] = {sign * axes[0].x, sign * axes[1].x, sign * axes[2].x};
    double y[3] = {sign * axes[0].y, sign * axes[1].y, sign * axes[2].y};
    double z[3] = {sign * axes[0].z, sign * axes[1].z, sign * axes[2].z};
    hr_status status = friction_column(f, first, x);
    if (status == HR_OK)
        status = friction_column(f, first + 1, y);
    return status == HR_OK ? friction_column(f, first + 2, z) : status;
}

static hr_status add_side(friction *f, const row_point *p, int first, double sign,
                          const vec3 axes[3])
{
    hr_status status = HR_OK;
    first += p->first;
    if (p->owner == ROW_PARTICLE || p->owner == ROW_RIGID)
        status = add_vector(f, first, sign, axes);
    if (p->owner == ROW_RIGID && status == HR_OK) {
        vec3 turned[3];
        for (int k = 0; k < 3; k++)
            turned[k] = vec3_cross(p->arm, axes[k]);
        status = add_vector(f, first + 3, sign, turned);
    }
    for (int i = 0; p->owner == ROW_ARTICULATED && i < p->joint_count && status == HR_OK; i++) {
        double components[3];
        if (vec3_length_squared(p->joints[i]) == 0.0)
            continue;
        for (int k = 0; k < 3; k++)
            components[k] = sign * vec3_dot(axes[k], p->joints[i]);
        status = friction_column(f, first + (p->unknowns ? p->unknowns[i] : i), components);
    }
    return status;
}

/* The relative velocity of the first point against the second: normal, two tangents. */
static hr_status add_contact(qp_blocks *s, const qp_blocks_settings *settings,
                             const qp_contact *contact, vec3 *tangent)
{
    *tangent = tangent_of(s, contact);
    vec3 axes[3] = {contact->normal, *tangent, vec3_cross(contact->normal, *tangent)};
    double offset[3] = {0, 0, 0};
    hr_status status = friction_open(s->friction, contact->key);
    for (int side = 0; side < 2 && status == HR_OK; side++) {
        const row_point *p = &contact->point[side];
        double sign = side ? -1.0 : 1.0;
        for (int k = 0; k < 3; k++)
            offset[k] += sign * vec3_dot(axes[k], p->velocity);
        if (contact->block[side] >= 0)
            status = add_side(s->friction, p, s->first[contact->block[side]], sign, axes);
    }
    if (status != HR_OK)
        return status;
    double deepest = -settings->dt * settings->recovery;
    double clearance = contact->clearance > deepest ? contact->clearance : deepest;
    return friction_close(s->friction, contact->mu, offset, clearance / settings->dt, *tangent);
}

static hr_status add_bounds(qp_blocks *s, const task *t, int island, int *held)
{
    const double one = 1.0;
    *held = 0;
    for (int i = s->bounds.start[island]; i < s->bounds.start[island + 1]; i++) {
        const qp_bound *bound = &t->bounds[s->bounds.item[i]];
        int unknown = s->first[bound->block] + bound->unknown;
        int side = key_table_find(&s->last_bounds, bound->key);
        if (side >= 0 && *held < s->held_room) {
            s->held[*held] = qp_row_count(s->qp);
            s->held_sign[(*held)++] = side ? 1 : -1;
        }
        hr_status status = qp_row_add(s->qp, &(qp_row){.count = 1,
                                                       .index = &unknown,
                                                       .value = &one,
                                                       .low = bound->low,
                                                       .high = bound->high,
                                                       .softness = bound->softness});
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

/* Bounds, and of the contacts the rows that held; the solve starts from what held. */
static hr_status write_rows(qp_blocks *s, const task *t, int island, int from, int to)
{
    int held;
    qp_rows_begin(s->qp);
    hr_status status = add_bounds(s, t, island, &held);
    if (status != HR_OK)
        return status;
    int more = friction_emit(s->friction, s->qp, from, to, s->held + held, s->held_room - held);
    if (more < 0)
        return (hr_status)more;
    for (int i = held; i < held + more; i++)
        s->held_sign[i] = 1;
    qp_warm_rows(s->qp, s->held, s->held_sign, held + more);
    return HR_OK;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What is left of an island's budget. */
static qp_budget budget_left(qp_budget whole, int used, int64_t start_ns)
{
    qp_budget left = whole;
    if (whole.iterations >= 0)
        left.iterations = whole.iterations > used ? whole.iterations - used : 0;
    if (whole.time_ns > 0) {
        left.time_ns = start_ns + whole.time_ns - now_ns();
        left.time_ns = left.time_ns > 0 ? left.time_ns : 1;
    }
    return left;
}

/* How much of the solution the true skin and the bounds allow, 1 for all of it. */
static double safe_blend(const qp_blocks *s, const task *t, int island, int from)
{
    const double *x = qp_x(s->qp);
    double reserve = t->settings->skin / t->settings->dt;
    double blend =
        friction_safe_blend(s->friction, from, friction_count(s->friction), x, s->stop, reserve);
    for (int i = s->bounds.start[island]; i < s->bounds.start[island + 1] && blend > 0; i++) {
        const qp_bound *bound = &t->bounds[s->bounds.item[i]];
        if (bound->softness > 0)
            continue;
        int unknown = s->first[bound->block] + bound->unknown;
        double at = x[unknown], stop = s->stop[unknown];
        double high = bound->high + reserve, low = bound->low - reserve;
        if (at > high && stop <= high)
            blend = fmin(blend, (high - stop) / (at - stop));
        if (at < low && stop >= low)
            blend = fmin(blend, (low - stop) / (at - stop));
    }
    return blend;
}

/* One programme: the first of an island, or the last one with the speeds that it gave. */
static qp_status run_pass(qp_blocks *s, const task *t, int island, int from, bool is_first,
                          qp_budget budget, qp_info *info)
{
    hr_status rows = is_first ? HR_ERR_CAPACITY : friction_tighten(s->friction, s->qp);
    if (rows == HR_ERR_CAPACITY)
        rows = write_rows(s, t, island, from, friction_count(s->friction));
    if (rows != HR_OK)
        return QP_REFUSED;
    return friction_solve_pass(s->friction, s->qp, budget, info);
}

/* Passes of friction. QP_OPTIMAL where the last one was solved. An impact changes the speeds so
 * much that the last result may still lean on an old one and go through the skin: then there are
 * some passes more. */
static qp_status run_passes(qp_blocks *s, const task *t, int island, int from)
{
    qp_status status = QP_REFUSED;
    int used = 0, pass = 0;
    int64_t start_ns = t->settings->budget.time_ns > 0 ? now_ns() : 0;
    for (; pass < t->settings->passes + PASSES_MORE; pass++) {
        qp_info info = {0};
        if (pass >= t->settings->passes && safe_blend(s, t, island, from) >= 1.0)
            break;
        status = run_pass(s, t, island, from, pass == 0,
                          budget_left(t->settings->budget, used, start_ns), &info);
        used += info.iterations;
        if (status != QP_OPTIMAL)
            break;
        if (friction_update(s->friction, s->qp, s->impulse) < t->settings->tolerance)
            break;
    }
    pass = pass < t->settings->passes ? pass + 1 : pass;
    t->info->passes = pass > t->info->passes ? pass : t->info->passes;
    t->info->iterations += used;
    t->info->most_iterations = used > t->info->most_iterations ? used : t->info->most_iterations;
    return status;
}

/* Bounds come first among the rows. */
static void remember_bounds(qp_blocks *s, const task *t, int island)
{
    for (int i = s->bounds.start[island], row = 0; i < s->bounds.start[island + 1]; i++, row++) {
        int side = row < qp_row_count(s->qp) ? qp_side(s->qp, row) : 0;
        if (side)
            key_table_put(&s->held_bounds, t->bounds[s->bounds.item[i]].key, side > 0);
    }
}

static void give_back(qp_blocks *s, const task *t, int island, double blend)
{
    const double *x = qp_x(s->qp);
    for (int i = s->blocks.start[island]; i < s->blocks.start[island + 1]; i++) {
        const qp_block *block = &t->blocks[s->blocks.item[i]];
        int first = s->first[s->blocks.item[i]];
        for (int u = 0; u < block->size; u++) {
            double at = x[first + u], stop = s->stop[first + u];
            double way = blend > 0 ? blend * (at - stop) : 0.0;
            block->dv[u] = blend >= 1.0 ? at : stop + way;
        }
    }
    const double *r = s->impulse;
    for (int i = s->contacts.start[island]; i < s->contacts.start[island + 1]; i++, r += 3) {
        qp_contact *contact = &t->contacts[s->contacts.item[i]];
        vec3 n = contact->normal, t1 = s->tangent[i - s->contacts.start[island]];
        vec3 normal = vec3_scale(r[0], n), across = vec3_scale(r[2], vec3_cross(n, t1));
        contact->impulse = vec3_add(vec3_add_scaled(normal, r[1], t1), across);
        if (contact->clearance < 0)
            t->info->recovery_energy += r[0] * t->settings->recovery;
    }
}

static hr_status solve_island(qp_blocks *s, const task *t, int island)
{
    int from = friction_count(s->friction), members = gather(s, t, island);
    int start = s->contacts.start[island], count = s->contacts.start[island + 1] - start;
    hr_status status = qp_set_blocks(s->qp, members, s->sizes, s->k);
    if (status == HR_OK)
        status = qp_set_b(s->qp, s->b);
    for (int c = 0; c < count && status == HR_OK; c++)
        status =
            add_contact(s, t->settings, &t->contacts[s->contacts.item[start + c]], &s->tangent[c]);
    if (status != HR_OK)
        return status;
    memset(s->impulse, 0, 3 * (size_t)count * sizeof *s->impulse);
    qp_status solved = run_passes(s, t, island, from);
    double blend = solved == QP_REFUSED ? -1.0 : safe_blend(s, t, island, from);
    if (solved != QP_OPTIMAL || blend < 1.0) {
        t->info->fallbacks++;
        t->info->blend = blend < t->info->blend ? blend : t->info->blend;
    }
    remember_bounds(s, t, island);
    give_back(s, t, island, blend);
    t->info->islands++;
    return HR_OK;
}

static void stop_all(const task *t)
{
    for (int i = 0; i < t->block_count; i++)
        for (int u = 0; u < t->blocks[i].size; u++)
            t->blocks[i].dv[u] = -t->blocks[i].v[u];
    for (int c = 0; c < t->contact_count; c++)
        t->contacts[c].impulse = (vec3){0, 0, 0};
}

static hr_status solve_all(qp_blocks *s, const task *t)
{
    hr_status status = check(s, t);
    if (status != HR_OK)
        return status;
    find_islands(s, t);
    group(s, t, &s->blocks, t->block_count);
    group(s, t, &s->contacts, t->contact_count);
    group(s, t, &s->bounds, t->bound_count);
    friction_begin(s->friction);
    key_table_clear(&s->held_bounds);
    for (int i = 0; i < s->islands && status == HR_OK; i++)
        status = solve_island(s, t, i);
    key_table last = s->last_bounds;
    s->last_bounds = s->held_bounds;
    s->held_bounds = last;
    return status;
}

hr_status qp_blocks_solve(qp_blocks *s, const qp_blocks_settings *settings, const qp_block *blocks,
                          int block_count, qp_contact *contacts, int contact_count,
                          const qp_bound *bounds, int bound_count, qp_blocks_info *info)
{
    *info = (qp_blocks_info){.blend = 1.0};
    task t = {settings, blocks, block_count, contacts, contact_count, bounds, bound_count, info};
    hr_status status = solve_all(s, &t);
    if (status != HR_OK)
        stop_all(&t);
    return status;
}
