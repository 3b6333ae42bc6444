#include "solver/qp_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/friction.h"

struct qp_blocks {
    qp_blocks_limits limits;
    int *island;    /* of a block: the smallest index of its island */
    int *first;     /* first unknown of a block within its island's programme */
    int *members;   /* blocks of the island being solved */
    int *sizes;     /* their sizes */
    int *in_island; /* contacts of the island being solved */
    double *k, *b, *stop, *impulse;
    qp *qp;
    friction *friction;
    /* rows that held in the last step and in this one so far, of all islands */
    int held_room, held_count[2];
    uint64_t *held_key[2];
    int *held_sign[2];
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

static bool allocate(qp_blocks *s)
{
    qp_blocks_limits l = s->limits;
    size_t blocks = (size_t)l.blocks, unknowns = (size_t)l.unknowns;
    size_t contacts = (size_t)l.contacts + 1, block = (size_t)l.block_size;
    s->island = calloc(blocks, sizeof(int));
    s->first = calloc(blocks, sizeof(int));
    s->members = calloc(blocks, sizeof(int));
    s->sizes = calloc(blocks, sizeof(int));
    s->in_island = calloc(contacts, sizeof(int));
    s->k = calloc(unknowns * block, sizeof(double));
    s->b = calloc(unknowns, sizeof(double));
    s->stop = calloc(unknowns, sizeof(double));
    s->impulse = calloc(3 * contacts, sizeof(double));
    if (!s->island || !s->first || !s->members || !s->sizes || !s->in_island || !s->k || !s->b ||
        !s->stop || !s->impulse)
        return false;
    int rows = friction_rows_per_contact(3) * l.contacts + l.bounds + 1;
    long entries = 2L * l.block_size;
    s->qp = qp_create((qp_limits){.variables = l.unknowns,
                                  .rows = rows,
                                  .entries = entries * rows,
                                  .soft_rows = l.bounds,
                                  .envelope = (long)l.unknowns * l.block_size});
    s->friction = friction_create(3, l.contacts, l.unknowns, 3 * entries * l.contacts + 1);
    s->held_room = l.unknowns + l.bounds;
    bool ok = s->qp && s->friction;
    for (int i = 0; i < 2; i++) {
        s->held_key[i] = calloc((size_t)s->held_room + 1, sizeof *s->held_key[i]);
        s->held_sign[i] = calloc((size_t)s->held_room + 1, sizeof *s->held_sign[i]);
        ok = ok && s->held_key[i] && s->held_sign[i];
    }
    return ok;
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
    if (!allocate(s)) {
        qp_blocks_destroy(s);
        return NULL;
    }
    return s;
}

void qp_blocks_destroy(qp_blocks *s)
{
    if (!s)
        return;
    void *memory[] = {s->island,      s->first,       s->members,     s->sizes,
                      s->in_island,   s->k,           s->b,           s->stop,
                      s->impulse,     s->held_key[0], s->held_key[1], s->held_sign[0],
                      s->held_sign[1]};
    for (int i = 0; i < HR_COUNT(memory); i++)
        free(memory[i]);
    qp_destroy(s->qp);
    friction_destroy(s->friction);
    free(s);
}

const int *qp_blocks_islands(const qp_blocks *s)
{
    return s->island;
}

static int root_of(int *island, int i)
{
    while (island[i] != i) {
        island[i] = island[island[i]];
        i = island[i];
    }
    return i;
}

static void find_islands(qp_blocks *s, int block_count, const qp_contact *contacts, int count)
{
    for (int i = 0; i < block_count; i++)
        s->island[i] = i;
    for (int c = 0; c < count; c++) {
        if (contacts[c].block[0] < 0 || contacts[c].block[1] < 0)
            continue;
        int a = root_of(s->island, contacts[c].block[0]);
        int b = root_of(s->island, contacts[c].block[1]);
        s->island[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < block_count; i++)
        s->island[i] = root_of(s->island, i);
}

static hr_status check(const qp_blocks *s, const qp_block *blocks, int block_count,
                       const qp_contact *contacts, int contact_count, const qp_bound *bounds,
                       int bound_count)
{
    int unknowns = 0;
    if (block_count < 0 || block_count > s->limits.blocks || contact_count < 0 ||
        contact_count > s->limits.contacts || bound_count < 0 || bound_count > s->limits.bounds)
        return HR_ERR_CAPACITY;
    for (int i = 0; i < block_count; i++) {
        if (blocks[i].size <= 0 || blocks[i].size > s->limits.block_size)
            return HR_ERR_CAPACITY;
        unknowns += blocks[i].size;
    }
    for (int c = 0; c < contact_count; c++) {
        const qp_contact *contact = &contacts[c];
        for (int k = 0; k < 2; k++)
            if (contact->block[k] >= block_count)
                return HR_ERR_ARGUMENT;
        if (contact->key == 0 || contact->key >> 59)
            return HR_ERR_ARGUMENT;
        if (!vec3_is_finite(contact->normal) || !isfinite(contact->clearance) ||
            !vec3_is_finite(contact->point[0].velocity) ||
            !vec3_is_finite(contact->point[1].velocity))
            return HR_ERR_NOT_FINITE;
    }
    for (int k = 0; k < bound_count; k++)
        if (bounds[k].block < 0 || bounds[k].block >= block_count || bounds[k].unknown < 0 ||
            bounds[k].unknown >= blocks[bounds[k].block].size)
            return HR_ERR_ARGUMENT;
    return unknowns > s->limits.unknowns ? HR_ERR_CAPACITY : HR_OK;
}

/* K, b and the stop of the island's blocks, one after another. Returns how many unknowns. */
static int gather(qp_blocks *s, const qp_block *blocks, int block_count, int root, int *members)
{
    int unknowns = 0, count = 0;
    double *k = s->k;
    for (int i = 0; i < block_count; i++) {
        if (s->island[i] != root)
            continue;
        const qp_block *block = &blocks[i];
        size_t size = (size_t)block->size;
        s->members[count] = i;
        s->sizes[count++] = block->size;
        s->first[i] = unknowns;
        memcpy(k, block->k, size * size * sizeof *k);
        memcpy(s->b + unknowns, block->b, size * sizeof *k);
        for (size_t u = 0; u < size; u++)
            s->stop[unknowns + (int)u] = -block->v[u];
        k += size * size;
        unknowns += block->size;
    }
    *members = count;
    return unknowns;
}

/* Rows of the relative velocity of the first point against the second: normal, two tangents. */
static hr_status add_contact(qp_blocks *s, const qp_blocks_settings *settings,
                             const qp_contact *contact)
{
    vec3 axes[3] = {contact->normal, vec3_any_perpendicular(contact->normal), {0, 0, 0}};
    axes[2] = vec3_cross(axes[0], axes[1]);
    contact_row parts[3];
    friction_row rows[3];
    for (int k = 0; k < 3; k++) {
        contact_row_begin(&parts[k], contact->key);
        for (int side = 0; side < 2; side++) {
            row_point p = contact->point[side];
            if (contact->block[side] < 0)
                p.owner = ROW_SCRIPTED;
            else
                p.first += s->first[contact->block[side]];
            contact_row_point(&parts[k], &p, side ? -1.0 : 1.0, axes[k]);
        }
        if (parts[k].is_full)
            return HR_ERR_CAPACITY;
        rows[k] = (friction_row){parts[k].count, parts[k].index, parts[k].value, parts[k].rate};
    }
    double deepest = -settings->dt * settings->recovery;
    double clearance = contact->clearance > deepest ? contact->clearance : deepest;
    return friction_add(s->friction, contact->key, contact->mu, rows, clearance / settings->dt);
}

static hr_status add_bounds(qp_blocks *s, const qp_bound *bounds, int count, int root)
{
    const double one = 1.0;
    for (int k = 0; k < count; k++) {
        if (s->island[bounds[k].block] != root)
            continue;
        int unknown = s->first[bounds[k].block] + bounds[k].unknown;
        hr_status status = qp_row_add(s->qp, &(qp_row){.key = bounds[k].key | (1ULL << 63),
                                                       .count = 1,
                                                       .index = &unknown,
                                                       .value = &one,
                                                       .low = bounds[k].low,
                                                       .high = bounds[k].high,
                                                       .softness = bounds[k].softness});
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
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

/* Passes of friction. QP_OPTIMAL where the last one was solved. */
static qp_status run_passes(qp_blocks *s, const task *t, int root, int from, int to)
{
    qp_status status = QP_REFUSED;
    int used = 0;
    for (int pass = 0; pass < t->settings->passes; pass++) {
        qp_info info;
        qp_rows_begin(s->qp);
        if (add_bounds(s, t->bounds, t->bound_count, root) != HR_OK ||
            friction_emit(s->friction, s->qp, from, to) != HR_OK)
            return QP_REFUSED;
        if (pass == 0)
            qp_warm_keys(s->qp, s->held_key[0], s->held_sign[0], s->held_count[0]);
        qp_budget budget = t->settings->budget;
        if (budget.iterations >= 0)
            budget.iterations = budget.iterations > used ? budget.iterations - used : 0;
        status = qp_solve(s->qp, budget, &info);
        used += info.iterations;
        t->info->passes = pass + 1 > t->info->passes ? pass + 1 : t->info->passes;
        if (status != QP_OPTIMAL)
            break;
        double change = friction_update(s->friction, s->qp, from, to, s->impulse);
        if (change < t->settings->tolerance)
            break;
    }
    t->info->iterations += used;
    t->info->most_iterations = used > t->info->most_iterations ? used : t->info->most_iterations;
    return status;
}

/* How much of the solution the true skin and the bounds allow, 1 for all of it. */
static double safe_blend(const qp_blocks *s, const task *t, int root, int from)
{
    const double *x = qp_x(s->qp);
    double reserve = t->settings->skin / t->settings->dt;
    double blend =
        friction_safe_blend(s->friction, from, friction_count(s->friction), x, s->stop, reserve);
    for (int k = 0; k < t->bound_count && blend > 0; k++) {
        const qp_bound *bound = &t->bounds[k];
        if (s->island[bound->block] != root || bound->softness > 0)
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

static void remember(qp_blocks *s)
{
    int at = s->held_count[1];
    s->held_count[1] +=
        qp_held(s->qp, s->held_key[1] + at, s->held_sign[1] + at, s->held_room - at);
}

static void give_back(qp_blocks *s, const task *t, int members, int from, double blend)
{
    const double *x = qp_x(s->qp);
    for (int i = 0; i < members; i++) {
        const qp_block *block = &t->blocks[s->members[i]];
        int first = s->first[s->members[i]];
        for (int u = 0; u < block->size; u++) {
            double stop = s->stop[first + u];
            block->dv[u] = blend >= 1.0 ? x[first + u] : stop + blend * (x[first + u] - stop);
        }
    }
    for (int c = 0; c < friction_count(s->friction) - from; c++) {
        qp_contact *contact = &t->contacts[s->in_island[c]];
        vec3 n = contact->normal, t1 = vec3_any_perpendicular(n), t2 = vec3_cross(n, t1);
        const double *r = s->impulse + 3L * c;
        contact->impulse =
            vec3_add_scaled(vec3_add_scaled(vec3_scale(r[0], n), r[1], t1), r[2], t2);
        if (contact->clearance < 0)
            t->info->recovery_energy += r[0] * t->settings->recovery;
    }
}

static hr_status solve_island(qp_blocks *s, const task *t, int root)
{
    int members, from = friction_count(s->friction), count = 0;
    gather(s, t->blocks, t->block_count, root, &members);
    hr_status status = qp_set_blocks(s->qp, members, s->sizes, s->k);
    if (status == HR_OK)
        status = qp_set_b(s->qp, s->b);
    for (int c = 0; c < t->contact_count && status == HR_OK; c++) {
        const qp_contact *contact = &t->contacts[c];
        int block = contact->block[0] >= 0 ? contact->block[0] : contact->block[1];
        if (block < 0 || s->island[block] != root)
            continue;
        s->in_island[count++] = c;
        status = add_contact(s, t->settings, contact);
    }
    if (status != HR_OK)
        return status;
    memset(s->impulse, 0, 3 * (size_t)count * sizeof *s->impulse);
    bool is_solved = run_passes(s, t, root, from, from + count) == QP_OPTIMAL;
    double blend = safe_blend(s, t, root, from);
    if (!is_solved || blend < 1.0) {
        t->info->fallbacks++;
        t->info->blend = blend < t->info->blend ? blend : t->info->blend;
    }
    remember(s);
    give_back(s, t, members, from, blend > 0 ? blend : 0.0);
    t->info->islands++;
    return HR_OK;
}

static void stop_all(const task *t)
{
    for (int i = 0; i < t->block_count; i++)
        for (int u = 0; u < t->blocks[i].size; u++)
            t->blocks[i].dv[u] = -t->blocks[i].v[u];
}

hr_status qp_blocks_solve(qp_blocks *s, const qp_blocks_settings *settings, const qp_block *blocks,
                          int block_count, qp_contact *contacts, int contact_count,
                          const qp_bound *bounds, int bound_count, qp_blocks_info *info)
{
    *info = (qp_blocks_info){.blend = 1.0};
    task t = {settings, blocks, block_count, contacts, contact_count, bounds, bound_count, info};
    hr_status status = check(s, blocks, block_count, contacts, contact_count, bounds, bound_count);
    if (status == HR_ERR_CAPACITY)
        return status;
    if (status == HR_OK) {
        find_islands(s, block_count, contacts, contact_count);
        friction_begin(s->friction);
        s->held_count[1] = 0;
    }
    for (int i = 0; i < block_count && status == HR_OK; i++)
        if (s->island[i] == i)
            status = solve_island(s, &t, i);
    if (status != HR_OK) {
        stop_all(&t);
        return status;
    }
    uint64_t *keys = s->held_key[0];
    int *signs = s->held_sign[0];
    s->held_key[0] = s->held_key[1];
    s->held_sign[0] = s->held_sign[1];
    s->held_count[0] = s->held_count[1];
    s->held_key[1] = keys;
    s->held_sign[1] = signs;
    return HR_OK;
}
