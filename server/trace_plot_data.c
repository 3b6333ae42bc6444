#include "server/trace_plot_data.h"

#include <stdlib.h>

double plot_time(const plot_data *d, int column)
{
    return d->from + (column + 0.5) * (d->until - d->from) / d->column_count;
}

static void measure(const tick_record *t, double *values)
{
    values[PLOT_X] = 1e3 * t->sample.position.x;
    values[PLOT_Y] = 1e3 * t->sample.position.y;
    values[PLOT_Z] = 1e3 * t->sample.position.z;
    values[PLOT_WANTED] = vec3_length(t->wanted_force);
    values[PLOT_FORCE] = vec3_length(t->force);
    values[PLOT_GAP] = t->gap < 0.5 ? 1e3 * t->gap : (double)NAN; /* 1 m stands for nothing near */
    values[PLOT_LATENESS] = 1e-3 * t->lateness_ns;
    values[PLOT_COMPUTE] = 1e-3 * t->compute_ns;
    values[PLOT_ENERGY] = 1e3 * t->energy;
    values[PLOT_AGE] = t->frame_sequence > 0 ? 1e-6 * (double)t->frame_age_ns : (double)NAN;
}

static void add_tick(plot_hand *h, plot_column *c, const tick_record *t)
{
    double values[PLOT_SERIES];
    measure(t, values);
    for (int i = 0; i < PLOT_SERIES; i++) {
        if (c->count == 0 || values[i] < c->low[i] || isnan(c->low[i])) {
            c->low[i] = values[i];
            c->low_is_first[i] = c->count == 0;
        }
        if (c->count == 0 || values[i] > c->high[i] || isnan(c->high[i])) {
            c->high[i] = values[i];
            c->low_is_first[i] = true;
        }
    }
    c->count++;
    c->reasons |= t->reasons;
    c->is_touching |= t->contact_count > 0;
    c->tool = t->tool;
    c->force = t->force;
    h->ticks++;
    histogram_add(&h->lateness, t->lateness_ns);
}

plot_data *plot_gather(const char *path, const trace_summary *s, double from, double until,
                       hr_error *error)
{
    trace_reader *r;
    if (trace_reader_open(path, &r, error) != HR_OK)
        return NULL;
    plot_data *d = calloc(1, sizeof *d);
    if (!d) {
        trace_reader_close(r);
        error_set(error, HR_ERR_MEMORY, "%s: no memory to plot it", path);
        return NULL;
    }
    d->from = fmax(0, from);
    d->until = until > d->from ? fmin(until, s->duration_s) : s->duration_s;
    d->hand_count = s->hand_count;
    double share = s->duration_s > 0 ? (d->until - d->from) / s->duration_s : 0;
    double ticks = share * (double)s->ticks;
    d->column_count = ticks < PLOT_COLUMNS ? (int)fmax(1, ticks) : PLOT_COLUMNS;
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (m->kind != TRACE_TICK || m->tick.hand >= HANDS_MAX)
            continue;
        double time = 1e-9 * (double)(m->tick.time_ns - s->first_ns);
        double place = (time - d->from) / (d->until - d->from) * d->column_count;
        if (!(place >= 0 && place < d->column_count))
            continue;
        plot_hand *h = &d->hands[m->tick.hand];
        add_tick(h, &h->columns[(int)place], &m->tick);
    }
    trace_reader_close(r);
    return d;
}
