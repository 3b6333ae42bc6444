#include "server/trace_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static vec3 least(vec3 a, vec3 b)
{
    return (vec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static vec3 most(vec3 a, vec3 b)
{
    return (vec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

static void count_tick(trace_summary *s, const tick_record *t)
{
    trace_hand_summary *h = &s->hands[t->hand];
    if (h->ticks == 0)
        h->low = h->high = t->sample.position;
    if (s->tick_records == 0 || t->time_ns < s->first_ns)
        s->first_ns = t->time_ns;
    if (s->tick_records == 0 || t->time_ns > s->last_ns)
        s->last_ns = t->time_ns;
    s->tick_records++;
    h->ticks++;
    h->contact_ticks += t->contact_count > 0;
    h->read_failures += t->read_status != HR_OK;
    for (int bit = 0; bit < TRACE_REASONS; bit++)
        h->reason_ticks[bit] += t->reasons >> bit & 1;
    h->force_max = fmax(h->force_max, vec3_length(t->force));
    h->wanted_max = fmax(h->wanted_max, vec3_length(t->wanted_force));
    h->depth_max = fmax(h->depth_max, -t->gap);
    h->speed_max = fmax(h->speed_max, vec3_length(t->sample.velocity));
    h->low = least(h->low, t->sample.position);
    h->high = most(h->high, t->sample.position);
    if (t->hand == 0)
        s->missed_periods += t->missed_periods;
    histogram_add(&s->lateness, t->lateness_ns);
    histogram_add(&s->compute, t->compute_ns);
    histogram_add(&s->device_time, t->device_ns);
}

static void keep_mark(trace_summary *s, int64_t time_ns, const char *text)
{
    if (s->mark_count == TRACE_MARKS_MAX)
        return;
    trace_mark *mark = &s->marks[s->mark_count++];
    mark->time_ns = time_ns;
    snprintf(mark->text, sizeof mark->text, "%s", text);
}

static void count(trace_summary *s, const trace_message *m)
{
    s->messages++;
    switch (m->kind) {
    case TRACE_TICK:
        if (m->tick.hand < HANDS_MAX)
            count_tick(s, &m->tick);
        return;
    case TRACE_FRAME:
        s->hands[m->hand].frames++;
        return;
    case TRACE_COMMAND:
        s->commands++;
        if (m->command.kind == COMMAND_MARK || m->command.kind == COMMAND_TRIAL)
            keep_mark(s, m->time_ns, m->command.text);
        return;
    case TRACE_EVENT:
        s->events++;
        if (m->event.kind == TRACE_EVENT_DROP)
            s->dropped = (uint64_t)fmax(0, m->event.value);
        return;
    }
}

trace_summary *trace_summarize(trace_reader *r)
{
    trace_summary *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    uint64_t last[HANDS_MAX] = {0}, first[HANDS_MAX] = {0};
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (m->kind == TRACE_TICK && m->tick.hand < HANDS_MAX) {
            if (s->hands[m->tick.hand].ticks == 0)
                first[m->tick.hand] = m->sequence;
            last[m->tick.hand] = m->sequence;
        }
        count(s, m);
    }
    s->hand_count = trace_hand_count(r);
    for (int i = 0; i < HANDS_MAX; i++) {
        trace_hand_summary *h = &s->hands[i];
        if (h->ticks > s->ticks)
            s->ticks = h->ticks;
        if (h->ticks > 0 && i >= s->hand_count)
            s->hand_count = i + 1;
        if (h->ticks > 0 && last[i] - first[i] + 1 > h->ticks)
            h->lost = last[i] - first[i] + 1 - h->ticks;
    }
    double rate = trace_number(r, TRACE_RUN, "rate_hz", 0);
    if (s->tick_records > 0)
        s->duration_s = (double)(s->last_ns - s->first_ns) * 1e-9 + (rate > 0 ? 1 / rate : 0);
    s->is_complete = trace_is_complete(r);
    int kept;
    trace_problems(r, &kept, &s->problem_count);
    return s;
}

void trace_device_names(const trace_reader *r, int hand_count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < hand_count && used + 1 < size; i++) {
        device_description d;
        bool is_known = trace_device(r, i, &d) == HR_OK;
        bool has_maker = is_known && d.manufacturer[0] && !strstr(d.model, d.manufacturer);
        int n = snprintf(out + used, size - used, "%s%s%s%s", i ? ", " : "",
                         has_maker ? d.manufacturer : "", has_maker ? " " : "",
                         is_known ? d.model : "unknown");
        used += n > 0 ? (size_t)n : 0;
    }
}
