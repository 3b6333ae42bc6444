#include "server/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace_hash.h"

enum { COMPARED = offsetof(tick_record, lateness_ns), PAUSE_MAX_NS = 1000000000 };

/* The world of another scene, stepped on the recorded clock. */
typedef struct side_world {
    int64_t time_ns, planned_ns, period_ns;
    tool_sample tools[HANDS_MAX];
    contact_frame frame; /* scratch */
} side_world;

typedef struct replay {
    replay_stage *stage;
    replay_result *out;
    bool has_own_world; /* frames come from the stage's world, not from the recording */
    side_world world;
    const replay_observer *observer;
    replay_follow *follow; /* where there is an observer */
    trace *output;
    uint32_t next[TRACE_KIND_COUNT][HANDS_MAX]; /* number that should come next on a channel */
    int64_t first_ns, last_ns;
} replay;

/* --- comparing ---------------------------------------------------------------------------------
 */

static void print_element(const trace_field *f, const uint8_t *at, char *out, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, at, trace_type_size(f->type));
    switch (f->type) {
    case TRACE_F64: {
        double value;
        memcpy(&value, at, sizeof value);
        snprintf(out, size, "%.17g", value);
        return;
    }
    case TRACE_I32:
        snprintf(out, size, "%" PRId32, (int32_t)bits);
        return;
    case TRACE_I64:
        snprintf(out, size, "%" PRId64, (int64_t)bits);
        return;
    default:
        snprintf(out, size, "%" PRIu64, bits);
        return;
    }
}

/* The first element of the first field whose bits differ. */
static void find_difference(const tick_record *recorded, const tick_record *computed,
                            replay_difference *out)
{
    out->tick = recorded->tick;
    out->hand = (int)recorded->hand;
    for (int i = 0; i < trace_tick_compared_count; i++) {
        const trace_field *f = &trace_tick_fields[i];
        size_t size = trace_type_size(f->type);
        for (int k = 0; k < f->count; k++) {
            const uint8_t *a = (const uint8_t *)recorded + f->offset + (size_t)k * size;
            const uint8_t *b = (const uint8_t *)computed + f->offset + (size_t)k * size;
            if (memcmp(a, b, size) == 0)
                continue;
            if (f->count == 1)
                snprintf(out->field, sizeof out->field, "%s", f->name);
            else
                snprintf(out->field, sizeof out->field, "%s[%d]", f->name, k);
            print_element(f, a, out->recorded, sizeof out->recorded);
            print_element(f, b, out->computed, sizeof out->computed);
            return;
        }
    }
}

static void compare(replay *p, const tick_record *recorded, const tick_record *computed)
{
    replay_hand *h = &p->out->hands[recorded->hand];
    h->recorded_force_max = fmax(h->recorded_force_max, vec3_length(recorded->force));
    h->force_max = fmax(h->force_max, vec3_length(computed->force));
    h->recorded_contact_ticks += recorded->contact_count > 0;
    h->contact_ticks += computed->contact_count > 0;
    if (p->out->records == 0)
        p->first_ns = recorded->time_ns;
    p->last_ns = recorded->time_ns;
    p->out->records++;
    h->ticks++;
    if (h->ticks > p->out->ticks)
        p->out->ticks = h->ticks;
    if (memcmp(recorded, computed, COMPARED) == 0)
        return;
    if (p->out->different_ticks++ == 0)
        find_difference(recorded, computed, &p->out->first);
}

/* --- running -----------------------------------------------------------------------------------
 */

/* World steps that are due before a tick, and the newest frame of each hand. */
static void step_world(replay *p, int64_t tick_ns, uint64_t tick)
{
    side_world *w = &p->world;
    world *stage_world = p->stage->world;
    bool has_stepped = false;
    /* after a long pause (over a second) the world goes on from where it was */
    if (tick_ns - w->planned_ns > PAUSE_MAX_NS) {
        w->time_ns = tick_ns - w->period_ns;
        w->planned_ns = tick_ns;
    }
    while (w->planned_ns <= tick_ns) {
        world_step(stage_world, w->tools, p->stage->hand_count, w->time_ns,
                   (double)w->period_ns * 1e-9);
        w->time_ns += w->period_ns;
        w->planned_ns += w->period_ns;
        has_stepped = true;
    }
    for (int i = 0; has_stepped && i < p->stage->hand_count; i++) {
        world_frame(stage_world, i, &w->frame);
        hand_frame(p->stage->hands[i], &w->frame);
        trace_push_frame(p->output, tick, &w->frame);
    }
}

static void replay_command(replay *p, const servo_command *command)
{
    for (int i = 0; i < p->stage->hand_count; i++)
        if (command->hand == (uint32_t)i || command->hand >= HANDS_MAX)
            hand_command(p->stage->hands[i], command);
    trace_push_command(p->output, command);
}

static void replay_tick(replay *p, const tick_record *recorded)
{
    int index = (int)recorded->hand;
    if (index >= p->stage->hand_count)
        return;
    if (p->has_own_world)
        step_world(p, recorded->time_ns, recorded->tick);
    tick_record computed = {0};
    memcpy(&computed, recorded, offsetof(tick_record, tool)); /* the inputs alone */
    hand_tick(p->stage->hands[index], &computed);
    if (p->has_own_world)
        hand_tool(p->stage->hands[index], &computed, &p->world.tools[index]);
    compare(p, recorded, &computed);
    if (p->follow) {
        tool_sample tool;
        hand_tool(p->stage->hands[index], &computed, &tool);
        replay_follow_tool(p->follow, &tool);
        p->observer->tick(p->observer->context, p->stage, p->follow, &computed);
    }
    computed.lateness_ns = recorded->lateness_ns;
    computed.compute_ns = recorded->compute_ns;
    computed.device_ns = recorded->device_ns;
    trace_push_tick(p->output, &computed);
    trace_drain(p->output);
}

/* Inputs are numbered per channel; a number left out means that the state is not known any more. */
static bool follows(replay *p, const trace_message *m)
{
    if (m->kind == TRACE_EVENT)
        return true;
    uint32_t *next = &p->next[m->kind][m->hand >= 0 ? m->hand : 0];
    bool is_next = m->sequence == *next;
    *next = m->sequence + 1;
    return is_next;
}

static void feed(replay *p, const trace_message *m)
{
    switch (m->kind) {
    case TRACE_COMMAND:
        replay_command(p, &m->command);
        return;
    case TRACE_FRAME:
        if (!p->has_own_world && m->hand < p->stage->hand_count) {
            hand_frame(p->stage->hands[m->hand], &m->frame);
            if (p->follow)
                replay_follow_frame(p->follow, &m->frame);
            trace_push_frame(p->output, m->arrival_tick, &m->frame);
        }
        return;
    case TRACE_TICK:
        replay_tick(p, &m->tick);
        return;
    case TRACE_EVENT:
        trace_push_event(p->output, &m->event);
        return;
    }
}

static void run(replay *p, trace_reader *r)
{
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (!follows(p, m) && !p->out->has_gap) {
            p->out->has_gap = true;
            p->out->gap_tick = m->kind == TRACE_TICK      ? m->tick.tick
                               : m->kind == TRACE_COMMAND ? m->command.tick
                                                          : m->arrival_tick;
            if (!p->has_own_world)
                break; /* what follows cannot be compared */
        }
        feed(p, m);
    }
}

/* --- the new recording -------------------------------------------------------------------------
 */

static hr_status open_output(replay *p, const trace_reader *r, const char *path, hr_error *error)
{
    const replay_stage *s = p->stage;
    int length = config_print(&s->settings, NULL, 0);
    char *text = malloc((size_t)length + 1);
    char *scene_text = NULL;
    size_t size = 0;
    hr_status status = text ? HR_OK : HR_ERR_MEMORY;
    if (p->has_own_world && status == HR_OK)
        status = trace_read_file(s->scene.file, TRACE_ATTACHMENT_MAX, &scene_text, &size, error);
    trace_meta meta = {.config_text = text,
                       .scene_path = s->scene.file,
                       .scene_text = scene_text ? scene_text : trace_attached(r, TRACE_SCENE, NULL),
                       .hand_count = s->hand_count,
                       .rate_hz = s->settings.servo.rate_hz,
                       .world_rate_hz = s->settings.world.rate_hz,
                       .chunk_s = s->settings.trace.chunk_s,
                       .is_lockstep = true,
                       .scheduling = "replay",
                       .start_ns = (int64_t)trace_number(r, TRACE_RUN, "start_ns", 0)};
    trace_attachment files[SCENE_BODIES_MAX];
    for (int i = 0; i < s->scene.body_count; i++)
        if (scene_body_has_file(&s->scene.bodies[i]))
            files[meta.file_count++] =
                (trace_attachment){s->scene.bodies[i].file, s->scene.bodies[i].file};
    meta.files = files;
    for (int i = 0; i < s->hand_count; i++) {
        meta.hand_names[i] = trace_hand_name(r, i);
        meta.drivers[i] = "replay";
        meta.devices[i] = s->devices[i];
    }
    if (status == HR_OK) {
        config_print(&s->settings, text, length + 1);
        status = trace_open(path, &meta, &p->output, error);
    }
    free(text);
    free(scene_text);
    return status;
}

static hr_status prepare(replay *p, const trace_reader *r, const replay_options *options,
                         hr_error *error)
{
    p->stage = replay_build(r, options->scene, error);
    if (!p->stage)
        return HR_ERR_FORMAT;
    p->out->hand_count = p->stage->hand_count;
    p->has_own_world = options->scene != NULL;
    p->world.period_ns = 1000000000 / p->stage->settings.world.rate_hz;
    p->world.time_ns = (int64_t)trace_number(r, TRACE_RUN, "start_ns", 0);
    p->world.planned_ns = p->world.time_ns + p->world.period_ns;
    p->observer = options->scene ? NULL : options->observer;
    if (p->observer)
        p->follow = replay_follow_create(p->stage->world, p->stage->hand_count,
                                         p->stage->settings.world.rate_hz);
    if (p->observer && !p->follow)
        return error_set(error, HR_ERR_MEMORY, "no memory to follow the world");
    return options->output ? open_output(p, r, options->output, error) : HR_OK;
}

hr_status replay_run(const char *path, const replay_options *options, replay_result *out,
                     hr_error *error)
{
    *out = (replay_result){0};
    trace_reader *r;
    hr_status status = trace_reader_open(path, &r, error);
    if (status != HR_OK)
        return status;
    replay *p = calloc(1, sizeof *p);
    hr_error reason = {""};
    status = p ? HR_OK : HR_ERR_MEMORY;
    if (p) {
        p->out = out;
        status = prepare(p, r, options, &reason);
    }
    if (status == HR_OK)
        run(p, r);
    if (status == HR_OK && trace_is_other_version(r))
        status = error_set(&reason, HR_ERR_FORMAT,
                           "expected a recording of this version, found one whose messages "
                           "another defines");
    if (status == HR_OK) {
        if (out->ticks > 0)
            out->duration_s =
                (double)(p->last_ns - p->first_ns) * 1e-9 + 1.0 / p->stage->settings.servo.rate_hz;
        out->is_complete = trace_is_complete(r);
        out->world_off = p->follow ? p->follow->off : 0;
        status = trace_close(p->output, &reason);
        p->output = NULL;
    }
    if (status != HR_OK)
        error_set(error, status, "%s: %s", path, reason.text);
    if (p) {
        trace_close(p->output, NULL);
        free(p->follow);
        replay_clear(p->stage);
    }
    free(p);
    trace_reader_close(r);
    return status;
}
