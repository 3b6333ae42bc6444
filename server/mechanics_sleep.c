/* Islands that have come to rest sleep. */
#include "server/mechanics_internal.h"

static const double calm_speed = 4e-3; /* m/s */
static const double calm_time = 0.4;   /* s */

int mechanics_wake(mechanics *m, int index)
{
    int bed = m->members[index].bed, woken = 0;
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (!b->is_asleep || b->bed != bed)
            continue;
        b->is_asleep = false;
        b->calm_s = 0;
        woken++;
    }
    return woken;
}

static int root_of(int *island, int i)
{
    while (island[i] != i) {
        island[i] = island[island[i]];
        i = island[i];
    }
    return i;
}

static void find_islands(mechanics *m)
{
    for (int i = 0; i < m->count; i++)
        m->island[i] = i;
    for (int c = 0; c < m->contact_count; c++) {
        const int *pair = m->contact_members[c];
        if (!m->members[pair[0]].is_pushed || !m->members[pair[1]].is_pushed)
            continue;
        int a = root_of(m->island, pair[0]), b = root_of(m->island, pair[1]);
        m->island[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < m->count; i++)
        m->island[i] = root_of(m->island, i);
}

void mechanics_put_to_sleep(mechanics *m, double dt)
{
    bool is_restless[MEMBERS_MAX] = {false};
    int bed[MEMBERS_MAX];
    find_islands(m);
    m->counts.awake = 0;
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        if (!b->is_pushed || b->is_asleep)
            continue;
        m->counts.awake++;
        b->calm_s = b->class->speed(b->actor) < calm_speed ? b->calm_s + dt : 0;
        if (b->calm_s < calm_time)
            is_restless[m->island[i]] = true;
    }
    for (int i = 0; i < m->count; i++) {
        member *b = &m->members[i];
        int root = m->island[i];
        if (i == root)
            bed[i] = m->next_bed++;
        if (!b->is_pushed || b->is_asleep || is_restless[root])
            continue;
        b->is_asleep = true;
        b->bed = bed[root];
        b->class->rest(b->actor);
    }
}
