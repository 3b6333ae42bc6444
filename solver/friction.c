#include "solver/friction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct memory {
    uint64_t key;
    double speed;                  /* s, m/s */
    double cuts[FRICTION_CUTS][2]; /* unit directions, newest first */
    int cut_count;
    double angle; /* of the first pyramid direction */
} memory;

typedef struct contact {
    double mu, slack;
    long row[3]; /* where the rows of G start; row k ends where the next begins */
    int count[3];
    double offset[3];
    memory now;
    int first_row, row_count; /* in the programme */
} contact;

struct friction {
    int dimension, room, unknowns;
    int contacts;
    long entry_room, entries;
    contact *contact;
    int *index;
    double *value;
    memory *last;
    int last_count;
    /* one programme row under construction */
    int *row_index, *where;
    double *row_value;
};

int friction_rows_per_contact(int dimension)
{
    return dimension == 2 ? 2 : FRICTION_PYRAMID + FRICTION_CUTS;
}

friction *friction_create(int dimension, int contacts, int unknowns, long entries)
{
    friction *f = calloc(1, sizeof *f);
    if (!f || dimension < 2 || dimension > 3 || contacts < 0 || unknowns <= 0) {
        free(f);
        return NULL;
    }
    f->dimension = dimension;
    f->room = contacts;
    f->unknowns = unknowns;
    f->entry_room = entries;
    f->contact = calloc((size_t)contacts + 1, sizeof *f->contact);
    f->last = calloc((size_t)contacts + 1, sizeof *f->last);
    f->index = calloc((size_t)entries + 1, sizeof *f->index);
    f->value = calloc((size_t)entries + 1, sizeof *f->value);
    f->row_index = calloc((size_t)unknowns, sizeof *f->row_index);
    f->where = calloc((size_t)unknowns, sizeof *f->where);
    f->row_value = calloc((size_t)unknowns, sizeof *f->row_value);
    if (!f->contact || !f->last || !f->index || !f->value || !f->row_index || !f->where ||
        !f->row_value) {
        friction_destroy(f);
        return NULL;
    }
    return f;
}

void friction_destroy(friction *f)
{
    if (!f)
        return;
    free(f->contact);
    free(f->last);
    free(f->index);
    free(f->value);
    free(f->row_index);
    free(f->where);
    free(f->row_value);
    free(f);
}

void friction_begin(friction *f)
{
    for (int i = 0; i < f->contacts; i++)
        f->last[i] = f->contact[i].now;
    if (f->contacts > 0)
        f->last_count = f->contacts;
    f->contacts = 0;
    f->entries = 0;
}

static memory recall(const friction *f, uint64_t key)
{
    for (int i = 0; i < f->last_count && key; i++)
        if (f->last[i].key == key)
            return f->last[i];
    return (memory){.key = key};
}

hr_status friction_add(friction *f, uint64_t key, double mu, const friction_row *rows, double slack)
{
    if (f->contacts >= f->room)
        return HR_ERR_CAPACITY;
    if (!isfinite(mu) || !isfinite(slack))
        return HR_ERR_NOT_FINITE;
    if (mu < 0)
        return HR_ERR_ARGUMENT;
    contact *c = &f->contact[f->contacts];
    *c = (contact){.mu = mu, .slack = slack, .now = recall(f, key)};
    for (int k = 0; k < f->dimension; k++) {
        if (rows[k].count < 0 || f->entries + rows[k].count > f->entry_room)
            return HR_ERR_CAPACITY;
        c->row[k] = f->entries;
        c->count[k] = rows[k].count;
        c->offset[k] = rows[k].offset;
        size_t count = (size_t)rows[k].count;
        memcpy(f->index + f->entries, rows[k].index, count * sizeof *f->index);
        memcpy(f->value + f->entries, rows[k].value, count * sizeof *f->value);
        f->entries += rows[k].count;
    }
    f->contacts++;
    return HR_OK;
}

/* Adds factor times the entry e of G to the row under construction; returns its new length. */
static int add_entry(friction *f, int count, double factor, long e)
{
    int at = f->index[e], place = f->where[at] - 1;
    if (place < 0 || place >= count || f->row_index[place] != at) {
        place = count++;
        f->where[at] = place + 1;
        f->row_index[place] = at;
        f->row_value[place] = 0.0;
    }
    f->row_value[place] += factor * f->value[e];
    return count;
}

/* factors[k] times row k of G, summed; returns how many entries that has. */
static int combine(friction *f, const contact *c, const double *factors)
{
    int count = 0, d = f->dimension < 3 ? 2 : 3;
    for (int k = 0; k < d; k++)
        for (long e = c->row[k]; factors[k] != 0.0 && e < c->row[k] + c->count[k]; e++)
            count = add_entry(f, count, factors[k], e);
    return count;
}

/* (-n + mu d) . u <= slack + mu s */
static hr_status emit_row(friction *f, qp *q, contact *c, int which, double d1, double d2)
{
    double factors[3] = {-1.0, c->mu * d1, c->mu * d2};
    double bound = c->slack + c->mu * c->now.speed;
    bound -= factors[0] * c->offset[0] + factors[1] * c->offset[1];
    if (f->dimension == 3)
        bound -= factors[2] * c->offset[2];
    int count = combine(f, c, factors);
    c->row_count++;
    return qp_row_add(q, &(qp_row){.key = c->now.key ? c->now.key * 16 + (uint64_t)which + 1 : 0,
                                   .count = count,
                                   .index = f->row_index,
                                   .value = f->row_value,
                                   .low = -(double)INFINITY,
                                   .high = bound});
}

/* Direction k of the rows of a contact: the pyramid, then the cuts. */
static void direction_of(const friction *f, const contact *c, int k, double *d)
{
    d[0] = 0.0;
    d[1] = 0.0;
    if (c->mu == 0.0)
        return;
    if (f->dimension == 2) {
        d[0] = k == 0 ? 1.0 : -1.0;
        return;
    }
    if (k < FRICTION_PYRAMID) {
        double angle = c->now.angle + k * (2.0 * 3.14159265358979323846 / FRICTION_PYRAMID);
        d[0] = cos(angle);
        d[1] = sin(angle);
        return;
    }
    d[0] = c->now.cuts[k - FRICTION_PYRAMID][0];
    d[1] = c->now.cuts[k - FRICTION_PYRAMID][1];
}

static int direction_count(const friction *f, const contact *c)
{
    if (c->mu == 0.0)
        return 1;
    return f->dimension == 2 ? 2 : FRICTION_PYRAMID + c->now.cut_count;
}

int friction_count(const friction *f)
{
    return f->contacts;
}

hr_status friction_emit(friction *f, qp *q, int from, int to)
{
    for (int i = from; i < to && i < f->contacts; i++) {
        contact *c = &f->contact[i];
        c->first_row = qp_row_count(q);
        c->row_count = 0;
        for (int k = 0; k < direction_count(f, c); k++) {
            double d[2];
            direction_of(f, c, k, d);
            hr_status status = emit_row(f, q, c, k, d[0], d[1]);
            if (status != HR_OK)
                return status;
        }
    }
    return HR_OK;
}

static double relative_velocity(const friction *f, const contact *c, int k, const double *x)
{
    double u = c->offset[k];
    for (long e = c->row[k]; e < c->row[k] + c->count[k]; e++)
        u += f->value[e] * x[f->index[e]];
    return u;
}

/* The newest cut goes first; one that nearly repeats an older cut takes its place. */
static void add_cut(memory *m, double d1, double d2)
{
    int drop = m->cut_count < FRICTION_CUTS ? m->cut_count++ : FRICTION_CUTS - 1;
    for (int i = drop; i > 0; i--)
        memcpy(m->cuts[i], m->cuts[i - 1], sizeof m->cuts[i]);
    m->cuts[0][0] = d1;
    m->cuts[0][1] = d2;
}

static double update_contact(friction *f, contact *c, const qp *q, double *impulse)
{
    for (int k = 0; k < f->dimension; k++)
        impulse[k] = 0.0;
    for (int k = 0; k < c->row_count; k++) {
        double d[2], lambda = qp_lambda(q, c->first_row + k);
        direction_of(f, c, k, d);
        impulse[0] += lambda;
        for (int t = 1; t < f->dimension; t++)
            impulse[t] -= c->mu * lambda * d[t - 1];
    }
    double ut[2] = {0, 0};
    for (int t = 1; t < f->dimension; t++)
        ut[t - 1] = relative_velocity(f, c, t, qp_x(q));
    double speed = hypot(ut[0], ut[1]), change = fabs(speed - c->now.speed) / (1.0 + speed);
    c->now.speed = speed;
    if (f->dimension == 3 && c->mu > 0 && speed > 1e-14)
        add_cut(&c->now, ut[0] / speed, ut[1] / speed);
    return change;
}

double friction_update(friction *f, const qp *q, int from, int to, double *impulses)
{
    double change = 0;
    for (int i = from; i < to && i < f->contacts; i++) {
        double *impulse = impulses + (long)(i - from) * f->dimension;
        double one = update_contact(f, &f->contact[i], q, impulse);
        change = one > change ? one : change;
    }
    return change;
}

double friction_safe_blend(const friction *f, int from, int to, const double *x, const double *stop,
                           double reserve)
{
    double most = 1.0, least = 0.0; /* of x: what else asks for room, and what pushes */
    for (int i = from; i < to && i < f->contacts; i++) {
        const contact *c = &f->contact[i];
        double room = c->slack + reserve;
        double at_x = -relative_velocity(f, c, 0, x), at_stop = -relative_velocity(f, c, 0, stop);
        if (at_x > room && at_stop > room)
            return -1.0;
        if (at_x > room)
            most = fmin(most, (room - at_stop) / (at_x - at_stop) * (1.0 - 1e-12));
        if (at_stop > room)
            least = fmax(least, (at_stop - room) / (at_stop - at_x));
    }
    return least > most ? -1.0 : most;
}

qp_status friction_solve(friction *f, qp *q, friction_run run, double *impulses, qp_info *info)
{
    qp_status status = QP_REFUSED;
    int used = 0;
    for (int pass = 0; pass < run.passes; pass++) {
        qp_rows_begin(q);
        if (friction_emit(f, q, 0, f->contacts) != HR_OK)
            return QP_REFUSED;
        qp_budget budget = run.budget;
        if (budget.iterations >= 0)
            budget.iterations = budget.iterations > used ? budget.iterations - used : 0;
        status = qp_solve(q, budget, info);
        used += info->iterations;
        info->iterations = used;
        if (status != QP_OPTIMAL && status != QP_DEGRADED)
            return status;
        if (friction_update(f, q, 0, f->contacts, impulses) < run.tolerance && pass > 0)
            break;
    }
    return status;
}
