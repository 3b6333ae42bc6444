/* Nothing moves along a path that collision detection has not proven free. */
#include "server/mechanics_internal.h"

enum { PROOF_WORK = 100000, CUTS_MAX = 12, CUTS_GENTLE = 4 };

/* In steps: how much too early a contact may be reported. Finer costs more than it gains. */
#define PROOF_TIME 0x1p-8

/* A body that must stop on its way stops a little before. */
static const double stop_before = 0.95;

void mechanics_tell(member *b)
{
    if (ccd_body_move(b->body, b->q1) != HR_OK) {
        ccd_body_coordinates_at(b->body, 0, b->q1); /* no number: it stays */
        b->share = ccd_body_move(b->body, b->q1) == HR_OK ? 0 : b->share;
    }
    b->is_moving = ccd_body_dirty_count(b->body) > 0;
}

static bool is_still(const mechanics *m, const ccd_finding *f)
{
    return !m->members[f->body[0]].is_moving && !m->members[f->body[1]].is_moving;
}

bool mechanics_prove(mechanics *m)
{
    ccd_limits limits = {.separation = PROOF_GAP,
                         .tolerance = PROOF_TOLERANCE,
                         .time_tolerance = PROOF_TIME,
                         .budget = PROOF_WORK,
                         .lets_go = true};
    if (ccd_step_each(m->scene, &limits, &m->found) != HR_OK) {
        m->found.count = 0;
        m->found.is_cut_short = true;
    }
    bool is_free = !m->found.is_cut_short, is_cut = m->found.is_cut_short;
    for (int i = 0; i < m->found.count; i++) {
        const ccd_finding *f = &m->found.list[i];
        is_cut = is_cut || f->status == CCD_BUDGET;
        is_free = is_free && is_still(m, f);
    }
    m->counts.proofs_cut += is_cut;
    return is_free;
}

/* The member goes only `part` of the way that it was about to go. */
static void shorten(member *b, double part)
{
    if (!b->is_moving)
        return;
    b->share *= part;
    ccd_body_coordinates_at(b->body, part, b->q1);
    mechanics_tell(b);
}

static void shorten_all(mechanics *m)
{
    for (int i = 0; i < m->count; i++)
        shorten(&m->members[i], 0);
}

void mechanics_cut_back(mechanics *m)
{
    for (int cut = 0; cut < CUTS_MAX; cut++) {
        double part[MEMBERS_MAX];
        for (int i = 0; i < m->count; i++)
            part[i] = 1;
        for (int i = 0; i < m->found.count; i++) {
            const ccd_finding *f = &m->found.list[i];
            double toc = cut < CUTS_GENTLE ? stop_before * f->toc : 0;
            for (int k = 0; k < 2; k++)
                if (toc < part[f->body[k]])
                    part[f->body[k]] = toc;
        }
        for (int i = 0; i < m->count; i++)
            if (part[i] < 1)
                shorten(&m->members[i], part[i]);
        if (m->found.is_cut_short)
            shorten_all(m);
        if (mechanics_prove(m))
            return;
    }
    shorten_all(m); /* standing still needs no proof */
}
