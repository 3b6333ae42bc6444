#include "server/status_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

status_figures status_figures_of(const server *s, const servo_report *newest)
{
    const servo_counts *c = &s->servo.counts;
    status_figures f = {.run_s = s->options.run_s,
                        .is_lockstep = s->options.is_lockstep,
                        .hand_count = s->device_count};
    f.ticks = atomic_load_explicit(&c->ticks, memory_order_relaxed);
    f.missed_periods = atomic_load_explicit(&c->missed_periods, memory_order_relaxed);
    f.lateness_p99_ns = histogram_quantile(&s->servo.lateness, 0.99);
    f.lateness_max_ns = histogram_max(&s->servo.lateness);
    f.compute_p99_ns = histogram_quantile(&s->servo.compute, 0.99);
    f.is_degraded = !f.is_lockstep && realtime_is_degraded(&s->realtime);
    f.time_s = (double)(f.ticks + f.missed_periods) * (double)s->servo.period_ns * 1e-9;
    f.rate_hz = f.time_s > 0 ? (double)f.ticks / f.time_s : 0.0;
    if (s->recording) {
        trace_state t;
        trace_status(s->recording, &t);
        f.is_recording = true;
        f.recording_has_failed = t.has_failed;
        f.recorded_bytes = t.bytes;
        f.dropped = t.dropped;
    }
    for (int i = 0; newest && i < f.hand_count; i++) {
        const tick_record *r = &newest->hands[i];
        f.hands[i].force = vec3_length(r->force);
        f.hands[i].energy = r->energy;
        f.hands[i].gap = r->gap;
        f.hands[i].contacts = r->contact_count;
        f.hands[i].state = r->state;
        f.hands[i].reasons = r->reasons;
    }
    return f;
}

/* Text that grows and never overruns. */
typedef struct writer {
    char *out;
    size_t size, used;
} writer;

static void say(writer *w, const char *format, ...) HR_PRINTF(2, 3);

static void say(writer *w, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(w->out + w->used, w->size - w->used, format, values);
    va_end(values);
    if (n > 0)
        w->used += (size_t)n < w->size - w->used ? (size_t)n : w->size - w->used - 1;
}

static void say_duration(writer *w, int64_t ns)
{
    if (ns < 10000)
        say(w, "%.1f us", (double)ns * 1e-3);
    else if (ns < 10000000)
        say(w, "%.0f us", (double)ns * 1e-3);
    else
        say(w, "%.1f ms", (double)ns * 1e-6);
}

static void say_hand(writer *w, const status_figures *f, int i)
{
    say(w, " | %s %5.2f N %s", protocol_state_name(f->hands[i].state), f->hands[i].force,
        f->hands[i].contacts ? "touching" : "free    ");
    say(w, " %+.1f mJ", 1e3 * f->hands[i].energy);
}

int status_line_print(const status_figures *f, int width, char *out, size_t size)
{
    writer w = {out, size, 0};
    out[0] = '\0';
    say(&w, "%s", f->is_lockstep ? "lockstep" : f->is_degraded ? "DEGRADED" : "real-time");
    say(&w, " %.1f", f->time_s);
    if (f->run_s > 0)
        say(&w, "/%g", f->run_s);
    say(&w, " s %.0f Hz late p99 ", f->rate_hz);
    say_duration(&w, f->lateness_p99_ns);
    say(&w, " missed %llu", (unsigned long long)f->missed_periods);
    for (int i = 0; i < f->hand_count; i++)
        say_hand(&w, f, i);
    if (f->recording_has_failed)
        say(&w, " | RECORDING FAILED");
    else if (f->is_recording)
        say(&w, " | rec %.1f MB", (double)f->recorded_bytes * 1e-6);
    if (f->dropped)
        say(&w, " %llu lost", (unsigned long long)f->dropped);
    if (width > 0 && w.used > (size_t)width) {
        w.used = (size_t)width;
        out[width] = '\0';
    }
    return (int)w.used;
}

static void say_histogram(writer *w, const char *name, const histogram *h)
{
    const double shares[] = {0.5, 0.99, 0.999};
    say(w, "  %-22s", name);
    for (int i = 0; i < HR_COUNT(shares); i++)
        say(w, "%11.1f", (double)histogram_quantile(h, shares[i]) * 1e-3);
    say(w, "%11.1f\n", (double)histogram_max(h) * 1e-3);
}

static void say_hands(writer *w, const server *s, const status_figures *f)
{
    for (int i = 0; i < f->hand_count; i++) {
        char reasons[256];
        protocol_reason_names(f->hands[i].reasons, reasons, sizeof reasons);
        say(w, "  hand \"%s\": %s %s, %s, energy %+.2f mJ%s%s\n",
            s->options.settings.devices[i].name, s->devices[i].description.model,
            s->devices[i].description.serial, protocol_state_name(f->hands[i].state),
            1e3 * f->hands[i].energy, reasons[0] ? ", " : "", reasons);
    }
}

static unsigned long long counted(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

int status_table_print(const server *s, const status_figures *f, char *out, size_t size)
{
    writer w = {out, size, 0};
    const servo_counts *c = &s->servo.counts;
    out[0] = '\0';
    say(&w, "run: %.3f s, %llu ticks at %d Hz, %s\n", f->time_s, (unsigned long long)f->ticks,
        s->options.settings.servo.rate_hz, s->scheduling);
    say(&w, "  missed periods %llu in %llu overruns, failed reads %llu, failed writes %llu\n",
        (unsigned long long)f->missed_periods,
        (unsigned long long)atomic_load_explicit(&c->overruns, memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&c->read_failures, memory_order_relaxed),
        (unsigned long long)atomic_load_explicit(&c->write_failures, memory_order_relaxed));
    int64_t faults = atomic_load_explicit(&s->page_faults, memory_order_relaxed);
    if (faults >= 0)
        say(&w, "  page faults of the servo after warm-up: %lld\n", (long long)faults);
    if (!f->is_lockstep) {
        say(&w, "  %-22s%11s%11s%11s%11s\n", "microseconds", "p50", "p99", "p99.9", "max");
        say_histogram(&w, "wake-up lateness", &s->servo.lateness);
        say_histogram(&w, "tick without device", &s->servo.compute);
        say_histogram(&w, "device exchange", &s->servo.exchange);
        say_histogram(&w, "world step", &s->loop.compute);
    }
    say(&w, "  world: %llu steps at %d Hz, %llu missed; scene \"%s\"\n",
        (unsigned long long)atomic_load_explicit(&s->loop.steps, memory_order_relaxed),
        s->options.settings.world.rate_hz,
        (unsigned long long)atomic_load_explicit(&s->loop.missed_steps, memory_order_relaxed),
        s->options.scene.name);
    if (world_mechanics(s->world))
        say(&w, "  cut short: rows %llu, solves %llu, proofs %llu; bodies stopped short %llu\n",
            counted(&s->loop.mechanics.rows_cut), counted(&s->loop.mechanics.solves_cut),
            counted(&s->loop.mechanics.proofs_cut), counted(&s->loop.mechanics.stopped_short));
    say_hands(&w, s, f);
    if (f->is_recording)
        say(&w, "  recording: %s, %.2f MB, %llu records lost%s\n", s->options.settings.trace.record,
            (double)f->recorded_bytes * 1e-6, (unsigned long long)f->dropped,
            f->recording_has_failed ? ", FAILED" : "");
    return (int)w.used;
}
