#include "server/trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/ring.h"
#include "server/trace_begin.h"
#include "server/trace_schema.h"
#include "server/version.h"

/* What waits in the rings: the record, and its number on its channel with lost ones counted. */
typedef struct tick_slot {
    uint64_t number;
    tick_record record;
} tick_slot;

typedef struct frame_slot {
    uint64_t number;
    uint64_t arrival_tick;
    contact_frame frame;
} frame_slot;

typedef struct command_slot {
    uint64_t number;
    servo_command command;
} command_slot;

typedef struct event_slot {
    uint64_t number;
    trace_event event;
} event_slot;

struct trace {
    ring ticks, frames, commands, events; /* the servo fills, the writer empties */

    /* servo thread only: records pushed so far, lost ones included */
    uint64_t tick_number[HANDS_MAX], frame_number[HANDS_MAX], command_number, event_number;

    /* whoever holds the lock: the writer thread, trace_add_metadata, or the lockstep loop */
    pthread_mutex_t lock;
    mcap_writer *file;
    histogram lateness, compute, device_time;
    uint64_t counts[TRACE_KIND_COUNT]; /* written */
    uint64_t drops_told;
    int64_t chunk_ns;                /* wanted length of a chunk */
    int64_t chunk_start_ns, last_ns; /* of the open chunk; of the last tick */
    uint64_t last_tick;
    trace_message message; /* scratch: frames are large */

    bool is_lockstep;
    pthread_t writer;
    _Atomic bool must_stop;   /* trace_close stores */
    _Atomic uint64_t written; /* writer stores: ticks */
    _Atomic uint64_t bytes;   /* writer stores */
    _Atomic bool has_failed;  /* writer stores */
};

enum {
    POLL_NS = 10 * 1000 * 1000, /* 10 ms: a twentieth of what the rings hold at least */
    CHUNK_BYTES_MAX = 8 << 20,  /* an early end for a chunk that grows fast */
    BUFFERED_S = 2,             /* the longest stall of the disk that loses nothing */
    COMMANDS_ROOM = 1024,
    EVENTS_ROOM = 1024
};

/* --- servo thread ----------------------------------------------------------------------------- */

HR_RT bool trace_push_tick(trace *t, const tick_record *record)
{
    if (!t || record->hand >= HANDS_MAX)
        return true;
    uint64_t number = t->tick_number[record->hand]++;
    tick_slot *slot = ring_reserve(&t->ticks);
    if (!slot)
        return false;
    slot->number = number;
    slot->record = *record;
    ring_commit(&t->ticks);
    return true;
}

HR_RT bool trace_push_frame(trace *t, uint64_t arrival_tick, const contact_frame *frame)
{
    if (!t || frame->hand >= HANDS_MAX || frame->body_count > FRAME_BODIES_MAX)
        return true;
    uint64_t number = t->frame_number[frame->hand]++;
    frame_slot *slot = ring_reserve(&t->frames);
    if (!slot)
        return false;
    slot->number = number;
    slot->arrival_tick = arrival_tick;
    memcpy(&slot->frame, frame, contact_frame_used(frame));
    ring_commit(&t->frames);
    return true;
}

HR_RT bool trace_push_command(trace *t, const servo_command *command)
{
    if (!t)
        return true;
    uint64_t number = t->command_number++;
    command_slot *slot = ring_reserve(&t->commands);
    if (!slot)
        return false;
    slot->number = number;
    slot->command = *command;
    ring_commit(&t->commands);
    return true;
}

HR_RT bool trace_push_event(trace *t, const trace_event *event)
{
    if (!t)
        return true;
    uint64_t number = t->event_number++;
    event_slot *slot = ring_reserve(&t->events);
    if (!slot)
        return false;
    slot->number = number;
    slot->event = *event;
    ring_commit(&t->events);
    return true;
}

/* --- writer ------------------------------------------------------------------------------------
 */

static void put_message(trace *t, uint64_t number, int64_t published_ns)
{
    const trace_message *m = &t->message;
    uint64_t time = t->last_ns > 0 ? (uint64_t)t->last_ns : 0;
    uint64_t published = published_ns > 0 ? (uint64_t)published_ns : 0;
    uint16_t channel = trace_channel(m->kind, m->hand);
    trace_encode(m, mcap_begin_message(t->file, channel, (uint32_t)number, time, published));
    mcap_end_message(t->file);
    t->counts[m->kind]++;
}

/* Commands and frames that were applied at or before a tick, in that order; then events. */
static void put_inputs(trace *t, uint64_t tick)
{
    const command_slot *c;
    while ((c = ring_peek(&t->commands)) && c->command.tick <= tick) {
        t->message.kind = TRACE_COMMAND;
        t->message.command = c->command;
        put_message(t, c->number, t->last_ns);
        ring_release(&t->commands);
    }
    const frame_slot *f;
    while ((f = ring_peek(&t->frames)) && f->arrival_tick <= tick) {
        t->message.kind = TRACE_FRAME;
        t->message.hand = (int)f->frame.hand;
        t->message.arrival_tick = f->arrival_tick;
        memcpy(&t->message.frame, &f->frame, contact_frame_used(&f->frame));
        put_message(t, f->number, f->frame.time_ns);
        ring_release(&t->frames);
    }
    const event_slot *e;
    while ((e = ring_peek(&t->events)) && e->event.tick <= tick) {
        t->message.kind = TRACE_EVENT;
        t->message.event = e->event;
        put_message(t, e->number, e->event.time_ns);
        ring_release(&t->events);
    }
}

static uint64_t count_drops(const trace *t)
{
    return ring_dropped(&t->ticks) + ring_dropped(&t->frames) + ring_dropped(&t->commands) +
           ring_dropped(&t->events);
}

/* Ends the open chunk; what was lost up to here is said in it. */
static void end_chunk(trace *t)
{
    uint64_t dropped = count_drops(t);
    if (dropped != t->drops_told) {
        t->message.kind = TRACE_EVENT;
        t->message.event = (trace_event){.tick = t->last_tick,
                                         .time_ns = t->last_ns,
                                         .kind = TRACE_EVENT_DROP,
                                         .hand = HANDS_MAX,
                                         .value = (double)dropped,
                                         .text = "records lost: a ring was full"};
        put_message(t, UINT32_MAX, t->last_ns); /* not one of the servo's: outside the count */
        t->drops_told = dropped;
    }
    mcap_end_chunk(t->file, !t->is_lockstep);
    atomic_store_explicit(&t->bytes, mcap_writer_bytes(t->file), memory_order_relaxed);
    if (mcap_writer_failed(t->file))
        atomic_store_explicit(&t->has_failed, true, memory_order_relaxed);
}

static void put_tick(trace *t, const tick_slot *slot)
{
    const tick_record *r = &slot->record;
    t->last_ns = r->time_ns;
    t->last_tick = r->tick;
    if (mcap_chunk_size(t->file) > 0 && (t->last_ns - t->chunk_start_ns >= t->chunk_ns ||
                                         mcap_chunk_size(t->file) > CHUNK_BYTES_MAX))
        end_chunk(t);
    if (mcap_chunk_size(t->file) == 0)
        t->chunk_start_ns = t->last_ns;
    put_inputs(t, r->tick);
    t->message.kind = TRACE_TICK;
    t->message.hand = (int)r->hand;
    t->message.tick = *r;
    put_message(t, slot->number, r->time_ns);
    histogram_add(&t->lateness, r->lateness_ns);
    histogram_add(&t->compute, r->compute_ns);
    histogram_add(&t->device_time, r->device_ns);
}

/* Everything in the rings into the open chunk; returns how many ticks. A tick in its ring proves
 * that its inputs are in theirs. */
static int drain(trace *t)
{
    int count = 0;
    const tick_slot *slot;
    while ((slot = ring_peek(&t->ticks))) {
        put_tick(t, slot);
        ring_release(&t->ticks);
        count++;
    }
    if (count > 0)
        atomic_store_explicit(&t->written, t->counts[TRACE_TICK], memory_order_relaxed);
    return count;
}

static void *write_until_stopped(void *argument)
{
    trace *t = argument;
    struct timespec pause = {0, POLL_NS};
    int64_t idle_ns = 0;
    while (!atomic_load_explicit(&t->must_stop, memory_order_acquire)) {
        pthread_mutex_lock(&t->lock);
        idle_ns = drain(t) > 0 ? 0 : idle_ns + POLL_NS;
        if (idle_ns >= t->chunk_ns) { /* the servo stands still: what there is goes to disk */
            end_chunk(t);
            idle_ns = 0;
        }
        pthread_mutex_unlock(&t->lock);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void trace_drain(trace *t)
{
    if (t && t->is_lockstep)
        drain(t);
}

/* --- life --------------------------------------------------------------------------------------
 */

static void release(trace *t)
{
    ring_destroy(&t->ticks);
    ring_destroy(&t->frames);
    ring_destroy(&t->commands);
    ring_destroy(&t->events);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static hr_status make_rings(trace *t, const trace_meta *meta)
{
    double hands = meta->hand_count;
    double world_rate = meta->world_rate_hz > 0 ? meta->world_rate_hz : meta->rate_hz;
    uint64_t ticks = (uint64_t)(BUFFERED_S * meta->rate_hz * hands) + 64;
    uint64_t frames = (uint64_t)(BUFFERED_S * fmin(world_rate, meta->rate_hz) * hands) + 64;
    hr_status status = ring_init(&t->ticks, ticks, sizeof(tick_slot));
    if (status == HR_OK)
        status = ring_init(&t->frames, frames, sizeof(frame_slot));
    if (status == HR_OK)
        status = ring_init(&t->commands, COMMANDS_ROOM, sizeof(command_slot));
    if (status == HR_OK)
        status = ring_init(&t->events, EVENTS_ROOM, sizeof(event_slot));
    return status;
}

/* The writer takes no signals: they belong to the main thread. */
static bool start_writer(trace *t)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool has_started = pthread_create(&t->writer, NULL, write_until_stopped, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_started)
        pthread_setname_np(t->writer, "trace");
    return has_started;
}

hr_status trace_open(const char *path, const trace_meta *meta, trace **out, hr_error *error)
{
    if (meta->hand_count < 1 || meta->hand_count > HANDS_MAX || !(meta->rate_hz > 0))
        return error_set(error, HR_ERR_ARGUMENT, "%s: expected 1 to %d hands and a rate", path,
                         HANDS_MAX);
    trace *t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, HR_ERR_MEMORY, "%s: no memory for the recording", path);
    pthread_mutex_init(&t->lock, NULL);
    t->is_lockstep = meta->is_lockstep;
    t->chunk_ns = (int64_t)(1e9 * (meta->chunk_s > 0 ? meta->chunk_s : 0.25));
    t->last_ns = meta->start_ns;
    hr_status status = make_rings(t, meta);
    if (status != HR_OK) {
        release(t);
        return error_set(error, status, "%s: no memory for the recording's rings", path);
    }
    status = mcap_writer_open(path, "hapticd", "hapticd " HR_VERSION, &t->file, error);
    if (status == HR_OK)
        status = trace_write_begin(t->file, meta, error);
    if (status == HR_OK && mcap_writer_failed(t->file))
        status = error_set(error, HR_ERR_IO, "%s: could not be written", path);
    if (status == HR_OK && !t->is_lockstep && !start_writer(t))
        status = error_set(error, HR_ERR_BUSY, "%s: no thread for the recording", path);
    if (status != HR_OK) {
        hr_error ignored;
        if (t->file && mcap_writer_close(t->file, &ignored) != HR_OK)
            status = HR_ERR_IO;
        release(t);
        return status;
    }
    atomic_store_explicit(&t->bytes, mcap_writer_bytes(t->file), memory_order_relaxed);
    *out = t;
    return HR_OK;
}

void trace_status(const trace *t, trace_state *out)
{
    *out = (trace_state){0};
    if (!t)
        return;
    out->ticks = atomic_load_explicit(&t->written, memory_order_relaxed) + ring_waiting(&t->ticks);
    out->bytes = atomic_load_explicit(&t->bytes, memory_order_relaxed);
    out->dropped = count_drops(t);
    out->has_failed = atomic_load_explicit(&t->has_failed, memory_order_relaxed);
}

void trace_add_metadata(trace *t, const char *name, const char *const *pairs, int count)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    mcap_add_metadata(t->file, name, pairs, count);
    pthread_mutex_unlock(&t->lock);
}

static void write_end(trace *t)
{
    static const char *const names[] = {"ticks", "frames", "commands", "events", "dropped"};
    char values[HR_COUNT(names)][24];
    const char *pairs[2 * HR_COUNT(names)];
    for (size_t i = 0; i < HR_COUNT(names); i++) {
        uint64_t value = i < TRACE_KIND_COUNT ? t->counts[i] : count_drops(t);
        snprintf(values[i], sizeof values[i], "%llu", (unsigned long long)value);
        pairs[2 * i] = names[i];
        pairs[2 * i + 1] = values[i];
    }
    mcap_add_metadata(t->file, TRACE_COUNTS, pairs, HR_COUNT(names));
    trace_write_timing(t->file, "lateness", &t->lateness);
    trace_write_timing(t->file, "compute", &t->compute);
    trace_write_timing(t->file, "device", &t->device_time);
}

hr_status trace_close(trace *t, hr_error *error)
{
    if (!t)
        return HR_OK;
    if (!t->is_lockstep) {
        atomic_store_explicit(&t->must_stop, true, memory_order_release);
        pthread_join(t->writer, NULL);
    }
    drain(t);
    put_inputs(t, UINT64_MAX); /* what came after the last tick */
    end_chunk(t);
    write_end(t);
    hr_status status = mcap_writer_close(t->file, error);
    release(t);
    return status;
}
