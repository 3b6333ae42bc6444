/* Once, at load: links that touch where their body starts are never tested against each other, and
 * bodies that start in touch are moved apart as far as bodies at rest are. */
#include "server/mechanics_internal.h"

enum { FILTER_WORK = 40000000, LIFTS = 6 };

/* All joints are moved by next to nothing, which makes collision detection look at every pair. */
static void nudge(member *b)
{
    const model *links = ccd_body_model(b->body);
    ccd_body_coordinates_at(b->body, 0, b->q1);
    for (int i = 1; i < links->body_count; i++) {
        const model_joint *joint = &links->joints[links->bodies[i].link];
        double v[JOINT_V_MAX] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
        joint_integrate(joint->type, b->q1 + joint->q, v, 1);
    }
    mechanics_tell(b);
}

static int filter_pairs(mechanics *m)
{
    int filtered = 0, before = -1;
    ccd_limits limits = {.separation = REST_GAP,
                         .tolerance = PROOF_TOLERANCE,
                         .time_tolerance = 0x1p-20,
                         .budget = FILTER_WORK};
    for (int i = 0; i < m->count; i++)
        nudge(&m->members[i]);
    while (filtered != before) {
        before = filtered;
        if (ccd_step_each(m->scene, &limits, &m->found) != HR_OK)
            break;
        for (int i = 0; i < m->found.count; i++) {
            const ccd_finding *f = &m->found.list[i];
            if (f->body[0] == f->body[1] &&
                ccd_scene_filter(m->scene, f->body[0], f->link[0], f->body[1], f->link[1], false) ==
                    HR_OK)
                filtered++;
        }
    }
    for (int i = 0; i < m->count; i++) {
        ccd_body_coordinates_at(m->members[i].body, 0, m->members[i].q1);
        mechanics_tell(&m->members[i]);
    }
    return filtered;
}

/* Forces act for no time at all, then rows alone move the bodies, for one second. Where bodies are
 * put is no motion: nothing is proven. */
static void lift(mechanics *m)
{
    const double no_time = 1e-9, second = 1;
    mover_step step = {.dt = no_time};
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (!b->is_pushed)
            continue;
        step.first_key = b->first_key;
        b->class->propose(b->actor, &step, b->q1);
        b->freedom = b->class->freedom(b->actor);
        mechanics_tell(b);
    }
    (void)mechanics_find_rows(m);
    if (m->contact_count > 0)
        mechanics_solve(m, second);
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (!b->is_pushed)
            continue;
        if (b->is_moving)
            ccd_body_stop(b->body, 1);
        b->is_moving = false;
        b->class->accept(b->actor, ccd_body_coordinates(b->body), NULL, 1, no_time);
        b->class->rest(b->actor);
    }
}

static bool is_clear(const mechanics *m)
{
    for (int i = 0; i < m->contact_count; i++)
        if (m->contacts[i].clearance < -1e-6)
            return false;
    return true;
}

void mechanics_start(mechanics *m)
{
    m->counts.filtered_pairs = (uint64_t)filter_pairs(m);
    m->recover_share = 1;
    for (int i = 0; i < LIFTS && (i == 0 || !is_clear(m)); i++)
        lift(m);
    m->recover_share = RECOVER_SHARE;
    m->counts = (mechanics_counts){.filtered_pairs = m->counts.filtered_pairs};
}
