#include "solver/friction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solver/key_table.h"
#include "solver/qp_vector.h"

enum {
    DIRECTIONS = FRICTION_PYRAMID + FRICTION_CUTS,
    ROWS_MAX = DIRECTIONS + FRICTION_CUTS /* of a contact: some cuts may be out of use by now */
};

/* Violation that is rounding, relative to the numbers it is made of. */
#define ROUNDING 1e-13
/* The same for a sliding speed. */
#define STICKING 1e-13
/* Cosine above which two cuts are the same: 1.4e-7 rad. */
#define SAME_CUT (1.0 - 1e-14)

typedef struct memory {
    uint64_t key;
    double speed;                  /* s, m/s */
    double speed_before;           /* a step ago */
    double offset[3];              /* what tells steps apart */
    double cuts[FRICTION_CUTS][2]; /* unit directions */
    int cut_count, oldest;
    unsigned held; /* bit k: the row of direction k */
    vec3 tangent;
} memory;

typedef struct contact {
    double mu, slack;
    long start; /* of its columns */
    int count;
    double offset[3];
    double reach; /* sum of what its columns hold */
    memory now;
    unsigned emitted; /* directions that have a row */
    double change;    /* of the speed in the last pass */
    int newest;       /* direction of the cut of the last pass; -1: none */
    int row_count;
} contact;

/* A row of the programme. */
typedef struct emitted {
    int contact, row;
    int which; /* direction; -1: a cut that has been replaced */
    double d[2];
    double base; /* bound without mu s */
} emitted;

struct friction {
    int dimension, room, unknowns;
    int contacts;
    long entry_room, entries;
    contact *contact;
    int *index;
    double *value; /* d values per column */
    memory *last;
    int last_count;
    key_table by_key;
    /* the contact that is open */
    int *where; /* of an unknown: its column + 1 */
    uint64_t open_key;
    long open_start;
    /* the programme */
    int from, to;
    emitted *rows;
    int row_count;
    double *row_value;
};

int friction_rows_per_contact(int dimension)
{
    return dimension == 2 ? 2 : ROWS_MAX;
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
    size_t rows = (size_t)contacts * (size_t)friction_rows_per_contact(dimension);
    f->contact = calloc((size_t)contacts + 1, sizeof *f->contact);
    f->last = calloc((size_t)contacts + 1, sizeof *f->last);
    f->index = calloc((size_t)entries + 1, sizeof *f->index);
    f->value = calloc((size_t)entries + 1, (size_t)dimension * sizeof *f->value);
    f->where = calloc((size_t)unknowns, sizeof *f->where);
    f->rows = calloc(rows + 1, sizeof *f->rows);
    f->row_value = calloc((size_t)unknowns, sizeof *f->row_value);
    if (!key_table_create(&f->by_key, contacts) || !f->contact || !f->last || !f->index ||
        !f->value || !f->where || !f->rows || !f->row_value) {
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
    free(f->where);
    free(f->rows);
    free(f->row_value);
    key_table_free(&f->by_key);
    free(f);
}

void friction_begin(friction *f)
{
    if (f->contacts > 0) {
        key_table_clear(&f->by_key);
        for (int i = 0; i < f->contacts; i++) {
            f->last[i] = f->contact[i].now;
            key_table_put(&f->by_key, f->last[i].key, i);
        }
        f->last_count = f->contacts;
    }
    f->contacts = 0;
    f->entries = 0;
    f->row_count = 0;
    f->open_key = 0;
}

bool friction_tangent(const friction *f, uint64_t key, vec3 *tangent)
{
    int at = key_table_find(&f->by_key, key);
    if (at >= 0)
        *tangent = f->last[at].tangent;
    return at >= 0;
}

hr_status friction_open(friction *f, uint64_t key)
{
    if (f->contacts >= f->room)
        return HR_ERR_CAPACITY;
    f->open_key = key;
    f->open_start = f->entries;
    return HR_OK;
}

hr_status friction_column(friction *f, int unknown, const double *components)
{
    if (unknown < 0 || unknown >= f->unknowns)
        return HR_ERR_ARGUMENT;
    int d = f->dimension;
    long at = f->open_start + f->where[unknown] - 1;
    if (f->where[unknown] == 0 || at >= f->entries || f->index[at] != unknown) {
        if (f->entries >= f->entry_room)
            return HR_ERR_CAPACITY;
        at = f->entries++;
        f->where[unknown] = (int)(at - f->open_start) + 1;
        f->index[at] = unknown;
        memset(f->value + at * d, 0, (size_t)d * sizeof *f->value);
    }
    for (int k = 0; k < d; k++)
        f->value[at * d + k] += components[k];
    return HR_OK;
}

/* A speed that grew goes on growing: one pass less in steady sliding. The same velocities as last
 * time are the same step asked again. */
static void predict_speed(contact *c)
{
    memory *m = &c->now;
    const double *was = m->offset, *is = c->offset;
    if (was[0] == is[0] && was[1] == is[1] && was[2] == is[2])
        return;
    memcpy(m->offset, c->offset, sizeof m->offset);
    double now = m->speed, next = 2 * now - m->speed_before;
    m->speed_before = now;
    if (now > 0 && next > 0.5 * now && next < 2 * now)
        m->speed = next;
}

hr_status friction_close(friction *f, double mu, const double *offset, double slack, vec3 tangent)
{
    if (!isfinite(mu) || !isfinite(slack))
        return HR_ERR_NOT_FINITE;
    if (mu < 0)
        return HR_ERR_ARGUMENT;
    int known = key_table_find(&f->by_key, f->open_key);
    contact *c = &f->contact[f->contacts++];
    *c = (contact){.mu = mu,
                   .slack = slack,
                   .start = f->open_start,
                   .count = (int)(f->entries - f->open_start)};
    c->now = known >= 0 ? f->last[known] : (memory){.key = f->open_key};
    c->now.tangent = tangent;
    for (int k = 0; k < f->dimension; k++)
        c->offset[k] = offset[k];
    for (long e = c->start * f->dimension; e < f->entries * f->dimension; e++)
        c->reach += fabs(f->value[e]);
    predict_speed(c);
    return HR_OK;
}

int friction_count(const friction *f)
{
    return f->contacts;
}

/* Direction k of the rows of a contact: the pyramid, then the cuts. */
static void direction_of(const friction *f, const contact *c, int k, double *d)
{
    static const double half = 0.70710678118654752440;
    static const double pyramid[FRICTION_PYRAMID][2] = {{1, 0},        {half, half}, {0, 1},
                                                        {-half, half}, {-1, 0},      {-half, -half},
                                                        {0, -1},       {half, -half}};
    bool is_flat = c->mu == 0.0;
    if (f->dimension == 2 || is_flat) {
        d[0] = is_flat ? 0.0 : k == 0 ? 1.0 : -1.0;
        d[1] = 0.0;
        return;
    }
    const double *from = k < FRICTION_PYRAMID ? pyramid[k] : c->now.cuts[k - FRICTION_PYRAMID];
    d[0] = from[0];
    d[1] = from[1];
}

static int direction_count(const friction *f, const contact *c)
{
    if (c->mu == 0.0)
        return 1;
    return f->dimension == 2 ? 2 : FRICTION_PYRAMID + c->now.cut_count;
}

/* (-n + mu d) . u <= slack + mu s */
static hr_status emit_row(friction *f, qp *q, int which_contact, int which)
{
    contact *c = &f->contact[which_contact];
    if (c->row_count >= friction_rows_per_contact(f->dimension))
        return HR_ERR_CAPACITY;
    emitted *e = &f->rows[f->row_count];
    *e = (emitted){.contact = which_contact, .row = qp_row_count(q), .which = which};
    direction_of(f, c, which, e->d);
    double a = c->mu * e->d[0], b = c->mu * e->d[1];
    e->base = c->slack + c->offset[0] - a * c->offset[1];
    const double *value = f->value + c->start * f->dimension;
    if (f->dimension == 3) {
        e->base -= b * c->offset[2];
        for (int i = 0; i < c->count; i++, value += 3)
            f->row_value[i] = a * value[1] - value[0] + b * value[2];
    } else {
        for (int i = 0; i < c->count; i++, value += 2)
            f->row_value[i] = a * value[1] - value[0];
    }
    hr_status status = qp_row_add(q, &(qp_row){.count = c->count,
                                               .index = f->index + c->start,
                                               .value = f->row_value,
                                               .low = -(double)INFINITY,
                                               .high = e->base + c->mu * c->now.speed});
    if (status != HR_OK)
        return status;
    c->emitted |= 1u << which;
    c->row_count++;
    f->row_count++;
    return HR_OK;
}

int friction_emit(friction *f, qp *q, int from, int to, int *held, int room)
{
    int count = 0;
    f->from = from;
    f->to = to < f->contacts ? to : f->contacts;
    f->row_count = 0;
    for (int i = from; i < f->to; i++) {
        contact *c = &f->contact[i];
        c->emitted = 0;
        c->row_count = 0;
        for (int k = 0; k < direction_count(f, c); k++) {
            if (!(c->now.held >> k & 1u))
                continue;
            if (count < room)
                held[count++] = qp_row_count(q);
            hr_status status = emit_row(f, q, i, k);
            if (status != HR_OK)
                return (int)status;
        }
    }
    return count;
}

/* u = G x + g */
static void relative_velocity(const friction *f, const contact *c, const double *x, double *u)
{
    const double *value = f->value + c->start * f->dimension;
    const int *index = f->index + c->start;
    double n = c->offset[0], a = c->offset[1], b = c->offset[2];
    if (f->dimension == 3) {
        for (int i = 0; i < c->count; i++, value += 3) {
            double at = x[index[i]];
            n += value[0] * at;
            a += value[1] * at;
            b += value[2] * at;
        }
    } else {
        for (int i = 0; i < c->count; i++, value += 2) {
            n += value[0] * x[index[i]];
            a += value[1] * x[index[i]];
        }
    }
    u[0] = n;
    u[1] = a;
    u[2] = b;
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* The size of the numbers that u is made of, at most: rounding is relative to this. */
static double size_of_parts(const contact *c, double x_most)
{
    return fabs(c->offset[0]) + fabs(c->offset[1]) + fabs(c->offset[2]) + c->reach * x_most;
}

static double tangential(const double *u)
{
    return sqrt(u[1] * u[1] + u[2] * u[2]);
}

/* The direction that the solution breaks most and that has no row yet; -1: none. */
static int most_broken(const friction *f, const contact *c, const double *x, double x_most)
{
    double u[3], bound = c->slack + c->mu * c->now.speed;
    relative_velocity(f, c, x, u);
    double outside = c->mu * tangential(u) - u[0] - bound; /* of the round cone */
    double most = ROUNDING * size_of_parts(c, x_most);
    int worst = -1, count = outside > most ? direction_count(f, c) : 0;
    for (int k = 0; k < count; k++) {
        double d[2];
        direction_of(f, c, k, d);
        double excess = c->mu * (d[0] * u[1] + d[1] * u[2]) - u[0] - bound;
        if (excess > most && !(c->emitted >> k & 1u)) {
            most = excess;
            worst = k;
        }
    }
    return worst;
}

/* One more row for every contact that the solution breaks; how many, or a negative status. */
static int add_broken(friction *f, qp *q)
{
    int count = 0;
    double x_most = largest(qp_x(q), qp_variables(q));
    for (int i = f->from; i < f->to; i++) {
        int k = most_broken(f, &f->contact[i], qp_x(q), x_most);
        if (k < 0)
            continue;
        hr_status status = emit_row(f, q, i, k);
        if (status != HR_OK && status != HR_ERR_CAPACITY)
            return (int)status;
        count += status == HR_OK;
    }
    return count;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

qp_status friction_solve_pass(friction *f, qp *q, qp_budget budget, qp_info *info)
{
    int used = 0, added;
    int64_t deadline_ns = budget.time_ns > 0 ? now_ns() + budget.time_ns : 0;
    do {
        qp_budget left = budget;
        if (budget.iterations >= 0)
            left.iterations = budget.iterations - used;
        if (deadline_ns && used > 0) {
            int64_t rest = deadline_ns - now_ns();
            left.time_ns = rest > 0 ? rest : 1;
        }
        qp_status status = qp_solve(q, left, info);
        used += info->iterations;
        info->iterations = used;
        if (status != QP_OPTIMAL && status != QP_DEGRADED)
            return status;
        added = add_broken(f, q);
    } while (added > 0);
    if (added < 0)
        info->status = QP_REFUSED;
    return info->status;
}

/* The slot for a new cut in this direction: a free one, or that of the oldest cut that does not
 * hold; -1 where there is such a cut already. */
static int slot_for_cut(memory *m, double d1, double d2)
{
    for (int i = 0; i < m->cut_count; i++)
        if (m->cuts[i][0] * d1 + m->cuts[i][1] * d2 > SAME_CUT)
            return -1;
    if (m->cut_count < FRICTION_CUTS)
        return m->cut_count++;
    int slot = m->oldest;
    for (int i = 0; i < FRICTION_CUTS; i++) {
        int other = (m->oldest + i) % FRICTION_CUTS;
        if (!(m->held >> (FRICTION_PYRAMID + other) & 1u)) {
            slot = other;
            break;
        }
    }
    m->oldest = (slot + 1) % FRICTION_CUTS;
    return slot;
}

/* A cut in the direction of sliding; one that it replaces keeps its row but loses its name. */
static void add_cut(friction *f, int which_contact, double d1, double d2)
{
    contact *c = &f->contact[which_contact];
    int slot = slot_for_cut(&c->now, d1, d2), which = FRICTION_PYRAMID + slot;
    if (slot < 0)
        return;
    c->newest = which;
    c->now.cuts[slot][0] = d1;
    c->now.cuts[slot][1] = d2;
    c->now.held &= ~(1u << which);
    if (!(c->emitted >> which & 1u))
        return;
    c->emitted &= ~(1u << which);
    for (int i = 0; i < f->row_count; i++)
        if (f->rows[i].contact == which_contact && f->rows[i].which == which)
            f->rows[i].which = -1;
}

static void read_impulses(friction *f, const qp *q, double *impulses)
{
    int d = f->dimension;
    for (int i = f->from; i < f->to; i++) {
        f->contact[i].now.held = 0;
        for (int k = 0; k < d; k++)
            impulses[(long)(i - f->from) * d + k] = 0.0;
    }
    for (int i = 0; i < f->row_count; i++) {
        const emitted *e = &f->rows[i];
        if (qp_side(q, e->row) == 0)
            continue;
        contact *c = &f->contact[e->contact];
        double *impulse = impulses + (long)(e->contact - f->from) * d;
        double lambda = qp_lambda(q, e->row);
        impulse[0] += lambda;
        for (int k = 1; k < d; k++)
            impulse[k] -= c->mu * lambda * e->d[k - 1];
        if (e->which >= 0)
            c->now.held |= 1u << e->which;
    }
}

/* The speed for the next pass. From pass to pass it comes nearer by about the same ratio, so two
 * changes tell where it ends (Aitken). */
static double accelerate(contact *c, double speed)
{
    double change = speed - c->now.speed, ratio = change / c->change;
    c->change = change;
    return ratio > 0.02 && ratio < 0.7 ? speed + change * ratio / (1.0 - ratio) : speed;
}

double friction_update(friction *f, const qp *q, double *impulses)
{
    double change = 0, x_most = largest(qp_x(q), qp_variables(q));
    read_impulses(f, q, impulses);
    for (int i = f->from; i < f->to; i++) {
        contact *c = &f->contact[i];
        double u[3];
        relative_velocity(f, c, qp_x(q), u);
        double speed = tangential(u);
        if (speed <= STICKING * size_of_parts(c, x_most))
            speed = 0.0;
        double one = fabs(speed - c->now.speed) / (1.0 + speed);
        change = one > change && c->mu > 0 ? one : change;
        c->now.speed = accelerate(c, speed);
        c->newest = -1;
        if (f->dimension == 3 && c->mu > 0 && speed > 0)
            add_cut(f, i, u[1] / speed, u[2] / speed);
    }
    return change;
}

hr_status friction_tighten(friction *f, qp *q)
{
    for (int i = 0; i < f->row_count; i++) {
        const emitted *e = &f->rows[i];
        const contact *c = &f->contact[e->contact];
        hr_status status =
            qp_row_bounds(q, e->row, -(double)INFINITY, e->base + c->mu * c->now.speed);
        if (status != HR_OK)
            return status;
    }
    for (int i = f->from; i < f->to; i++) {
        const contact *c = &f->contact[i];
        if (c->newest < 0 || c->emitted >> c->newest & 1u || c->now.held == 0)
            continue;
        hr_status status = emit_row(f, q, i, c->newest);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

double friction_safe_blend(const friction *f, int from, int to, const double *x, const double *stop,
                           double reserve)
{
    double most = 1.0, least = 0.0; /* of x: what else asks for room, and what pushes */
    for (int i = from; i < to && i < f->contacts; i++) {
        const contact *c = &f->contact[i];
        double room = c->slack + reserve, at_x[3], at_stop[3];
        relative_velocity(f, c, x, at_x);
        relative_velocity(f, c, stop, at_stop);
        bool is_x_good = -at_x[0] <= room, is_stop_good = -at_stop[0] <= room;
        if (!is_x_good && !is_stop_good)
            return -1.0;
        double there = (room + at_stop[0]) / (at_stop[0] - at_x[0]);
        if (!is_x_good)
            most = fmin(most, there * (1.0 - 1e-12));
        if (!is_stop_good)
            least = fmax(least, there);
    }
    return least > most ? -1.0 : most;
}
