/* One programme over all bodies that are in rows. */
#include "server/mechanics_internal.h"

enum { PASSES = 8, ITERATIONS = 1500 };

/* Of the sliding speeds: passes of friction end when they change by less, m/s. */
static const double tolerance = 1e-4;

/* Limits give way before contacts do: velocity past a limit per impulse on it, 1/(kg m^2). */
static const double limit_softness = 1e-3;

static void add_bounds(mechanics *m, int index, double dt)
{
    const member *b = &m->members[index];
    mover_bound list[MOVER_BOUNDS_MAX];
    int count = b->class->bounds ? b->class->bounds(b->actor, dt, list) : 0;
    for (int i = 0; i < count && m->bound_count < m->bound_room; i++)
        m->bounds[m->bound_count++] =
            (qp_bound){.key = ((uint64_t)index << 16 | (uint64_t)list[i].unknown) + 1,
                       .block = b->block,
                       .unknown = list[i].unknown,
                       .low = list[i].low,
                       .high = list[i].high,
                       .softness = limit_softness};
}

void mechanics_solve(mechanics *m, double dt)
{
    qp_blocks_settings settings = qp_blocks_settings_default(dt);
    settings.skin = 0.5 * (REST_GAP - PROOF_GAP - PROOF_TOLERANCE);
    settings.passes = PASSES;
    settings.tolerance = tolerance;
    settings.budget.iterations = ITERATIONS;
    m->bound_count = 0;
    for (int i = 0; i < m->block_count; i++) {
        const member *b = &m->members[m->block_member[i]];
        m->blocks[i] = (qp_block){b->freedom, b->k, m->zeros, b->v, b->dv};
        add_bounds(m, m->block_member[i], dt);
    }
    qp_blocks_info info;
    hr_status status =
        qp_blocks_solve(m->programme, &settings, m->blocks, m->block_count, m->contacts,
                        m->contact_count, m->bounds, m->bound_count, &info);
    m->counts.solves_cut += status == HR_OK ? (uint64_t)info.fallbacks : 1;
    m->counts.recovery_energy += info.recovery_energy;
    for (int i = 0; i < m->block_count; i++) {
        member *b = &m->members[m->block_member[i]];
        b->class->correct(b->actor, b->dv, dt, b->q1);
        mechanics_tell(b);
    }
}
