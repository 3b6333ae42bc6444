#include "server/servo.h"

#include <string.h>

enum {
    NS_PER_S = 1000000000,
    /* dt of one tick never exceeds this: past it a fault is latched anyway (10 ms by default), and
     * no algorithm has to stay stable over longer steps */
    ELAPSED_MAX_NS = 20000000,
    RELEASE_TICKS = 400, /* longest way to zero force through the safety layer */
    /* a driver may hold a force for this many periods without a new one */
    HOLD_PERIODS = 10
};

void servo_init(servo *s, servo_clock clock, int rate_hz)
{
    memset(s, 0, sizeof *s);
    s->clock = clock;
    s->period_ns = NS_PER_S / rate_hz;
    s->elapsed_max_ns = ELAPSED_MAX_NS;
    s->report_every = rate_hz > SERVO_REPORT_HZ ? (uint64_t)(rate_hz / SERVO_REPORT_HZ) : 1;
    s->last_wake_ns = servo_clock_now(&s->clock);
    s->planned_ns = s->last_wake_ns + s->period_ns;
}

HR_RT static void count_up(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + by, memory_order_relaxed);
}

HR_RT static int32_t saturate(int64_t ns)
{
    if (ns > INT32_MAX)
        return INT32_MAX;
    return ns < INT32_MIN ? INT32_MIN : (int32_t)ns;
}

servo_timing servo_plan(servo *s, int64_t wake_ns)
{
    servo_timing t = {.wake_ns = wake_ns, .planned_ns = s->planned_ns};
    t.lateness_ns = wake_ns - s->planned_ns;
    if (t.lateness_ns >= s->period_ns) {
        int64_t missed = t.lateness_ns / s->period_ns;
        t.planned_ns += missed * s->period_ns;
        t.missed_periods = missed > UINT32_MAX ? UINT32_MAX : (uint32_t)missed;
    }
    /* A tick right after a late one would see a dt near zero and divide encoder steps by it. */
    t.elapsed_ns = wake_ns - s->last_wake_ns;
    if (t.elapsed_ns < s->period_ns / 2)
        t.elapsed_ns = s->period_ns / 2;
    if (t.elapsed_ns > s->elapsed_max_ns)
        t.elapsed_ns = s->elapsed_max_ns;
    s->last_wake_ns = wake_ns;
    s->planned_ns = t.planned_ns + s->period_ns;
    return t;
}

/* --- devices: the only indirect calls of the servo ---------------------------------------------
 */

/* The first tick has no sample yet; a failed read keeps the last good one. */
HR_RT static __attribute__((noinline)) hr_status read_device(servo_hand *h, int64_t now_ns)
{
    return h->driver->read(h->dev, now_ns, &h->sample);
}

/* Last guard before the driver: what is not finite becomes zero (NaN slips past every clamp). */
HR_RT static __attribute__((noinline)) hr_status write_device(servo_hand *h, int64_t now_ns,
                                                              int64_t hold_ns, vec3 force)
{
    device_command c = {.sequence = ++h->write_sequence, .deadline_ns = now_ns + hold_ns};
    if (vec3_is_finite(force))
        c.force = force;
    return h->driver->write(h->dev, now_ns, &c);
}

/* A device that was lost comes back with its motors off; arming is what switches them on again. */
HR_RT static __attribute__((noinline)) void enable_device(servo_hand *h)
{
    if (h->is_powered)
        (void)h->driver->enable(h->dev, true);
}

/* --- the tick -----------------------------------------------------------------------------------
 */

HR_RT static void apply_command(servo *s, servo_command *command)
{
    command->tick = s->tick;
    for (int i = 0; i < s->hand_count; i++) {
        if (command->hand != (uint32_t)i && command->hand < HANDS_MAX)
            continue;
        hand_command(s->hands[i].hand, command);
        if (command->kind == COMMAND_ARM)
            enable_device(&s->hands[i]);
        if (command->kind == COMMAND_LEASE && s->board)
            board_lease(s->board, i, command);
    }
    count_up(&s->counts.arms, command->kind == COMMAND_ARM);
    trace_push_command(s->recording, command);
}

HR_RT static void apply_commands(servo *s)
{
    for (int i = 0; i < s->door_count; i++) {
        servo_command command;
        for (int k = 0; k < SERVO_COMMANDS_PER_TICK; k++) {
            if (!ring_pop(&s->doors[i]->commands, &command))
                break;
            apply_command(s, &command);
            ring_push(&s->doors[i]->applied, &command);
        }
    }
    servo_command command;
    int64_t now = s->last_wake_ns;
    for (int i = 0; s->board && i < s->hand_count; i++)
        if (board_take(s->board, i, now, s->client_hold_ns, &command))
            apply_command(s, &command);
}

HR_RT static void take_frame(servo *s, servo_hand *h)
{
    const contact_frame *frame = ring_peek_latest(h->frames);
    if (!frame)
        return;
    hand_frame(h->hand, frame);
    trace_push_frame(s->recording, s->tick, frame);
    ring_release(h->frames);
    count_up(&s->counts.frames_taken, 1);
}

HR_RT static void tell_world(servo_hand *h)
{
    tool_sample *tool = ring_reserve(h->tools);
    if (!tool)
        return;
    hand_tool(h->hand, &h->record, tool);
    ring_commit(h->tools);
}

HR_RT static void note_event(servo *s, trace_event_kind kind, int index, double value)
{
    trace_event e = {.tick = s->tick, .kind = (uint32_t)kind, .hand = (uint32_t)index};
    e.time_ns = s->hands[0].record.time_ns;
    e.value = value;
    trace_push_event(s->recording, &e);
}

/* What a reader of the recording looks for first. */
HR_RT static void note_changes(servo *s, int index, uint32_t state_before)
{
    const tick_record *r = &s->hands[index].record;
    if (index == 0 && r->missed_periods > 0)
        note_event(s, TRACE_EVENT_OVERRUN, HANDS_MAX, r->missed_periods);
    if (r->state != state_before)
        note_event(s, TRACE_EVENT_STATE, index, r->state);
}

HR_RT static void note_loss(servo *s, int index)
{
    const tick_record *r = &s->hands[index].record;
    count_up(&s->counts.read_failures, r->read_status != HR_OK);
    count_up(&s->counts.write_failures, s->hands[index].write_status != HR_OK);
    bool is_lost = r->read_status == HR_ERR_LOST || s->hands[index].write_status == HR_ERR_LOST;
    uint32_t lost = atomic_load_explicit(&s->counts.lost_hands, memory_order_relaxed);
    uint32_t bit = 1u << index;
    if (is_lost != ((lost & bit) != 0))
        atomic_store_explicit(&s->counts.lost_hands, lost ^ bit, memory_order_relaxed);
}

/* Read, compute, write, record: one hand. */
HR_RT static void tick_hand(servo *s, int index, const servo_timing *t)
{
    servo_hand *h = &s->hands[index];
    int64_t start = servo_clock_now(&s->clock);
    hr_status read_status = read_device(h, start);
    int64_t has_read = servo_clock_now(&s->clock);

    take_frame(s, h);
    tick_record *r = &h->record;
    uint32_t state_before = r->state;
    *r = (tick_record){.tick = s->tick,
                       .time_ns = t->planned_ns,
                       .elapsed_ns = t->elapsed_ns,
                       .hand = (uint32_t)index,
                       .missed_periods = t->missed_periods,
                       .read_status = read_status,
                       .write_status = h->write_status,
                       .sample = h->sample};
    hand_tick(h->hand, r);
    int64_t has_computed = servo_clock_now(&s->clock);

    h->write_status = write_device(h, has_computed, HOLD_PERIODS * s->period_ns, r->force);
    int64_t has_written = servo_clock_now(&s->clock);
    r->lateness_ns = saturate(t->lateness_ns);
    r->compute_ns = saturate(has_computed - has_read);
    r->device_ns = saturate(has_read - start + has_written - has_computed);
    histogram_add(&s->exchange, r->device_ns);

    tell_world(h);
    trace_push_tick(s->recording, r);
    if (s->board)
        board_publish(s->board, r);
    note_changes(s, index, state_before);
    note_loss(s, index);
}

HR_RT static void send_reports(servo *s, const servo_timing *t)
{
    if (s->tick % s->report_every != 0)
        return;
    for (int i = 0; i < s->door_count; i++) {
        if (!s->doors[i]->reports.slots)
            continue;
        servo_report *report = ring_reserve(&s->doors[i]->reports);
        if (!report)
            continue;
        report->tick = s->tick;
        report->time_ns = t->planned_ns;
        report->missed_periods =
            atomic_load_explicit(&s->counts.missed_periods, memory_order_relaxed);
        report->hand_count = (uint32_t)s->hand_count;
        for (int k = 0; k < s->hand_count; k++)
            report->hands[k] = s->hands[k].record;
        ring_commit(&s->doors[i]->reports);
    }
}

void servo_tick(servo *s)
{
    servo_timing t = servo_plan(s, servo_clock_wait(&s->clock, s->planned_ns));

    apply_commands(s);
    int64_t exchange_ns = 0;
    for (int i = 0; i < s->hand_count; i++) {
        tick_hand(s, i, &t);
        exchange_ns += s->hands[i].record.device_ns;
    }
    send_reports(s, &t);

    histogram_add(&s->lateness, t.lateness_ns);
    histogram_add(&s->compute, servo_clock_now(&s->clock) - t.wake_ns - exchange_ns);
    count_up(&s->counts.missed_periods, t.missed_periods);
    count_up(&s->counts.overruns, t.missed_periods > 0);
    s->tick++;
    atomic_store_explicit(&s->counts.ticks, s->tick, memory_order_release);
}

/* --- the end ------------------------------------------------------------------------------------
 */

HR_RT static bool any_force(const servo *s)
{
    for (int i = 0; i < s->hand_count; i++)
        if (vec3_length(s->hands[i].record.force) > 0.0)
            return true;
    return false;
}

static HR_RT void send_zeros(servo *s)
{
    for (int i = 0; i < SERVO_ZERO_WRITES; i++) {
        int64_t now = servo_clock_wait(&s->clock, s->planned_ns);
        s->planned_ns += s->period_ns;
        for (int k = 0; k < s->hand_count; k++)
            s->hands[k].write_status = write_device(&s->hands[k], now, 0, (vec3){0, 0, 0});
    }
}

bool servo_release_step(servo *s)
{
    if (atomic_load_explicit(&s->is_released, memory_order_relaxed))
        return false;
    if (s->release_ticks == 0) {
        servo_command disarm = {.kind = COMMAND_DISARM, .hand = HANDS_MAX, .text = "stop"};
        apply_command(s, &disarm);
    }
    if (s->release_ticks == 0 || (s->release_ticks < RELEASE_TICKS && any_force(s))) {
        servo_tick(s);
        s->release_ticks++;
        return true;
    }
    send_zeros(s);
    atomic_store_explicit(&s->is_released, true, memory_order_release);
    return false;
}

void servo_release(servo *s)
{
    while (servo_release_step(s))
        ;
}

void servo_loop(servo *s, uint64_t tick_limit)
{
    while (!atomic_load_explicit(&s->is_stopping, memory_order_acquire)) {
        bool is_over = s->end_ns != 0 && s->planned_ns > s->end_ns;
        if (is_over || (tick_limit != 0 && s->tick >= tick_limit))
            break;
        servo_tick(s);
    }
}

void servo_emergency(servo *s)
{
    atomic_store_explicit(&s->is_stopping, true, memory_order_release);
    int64_t now = servo_clock_now(&s->clock);
    for (int k = 0; k < s->hand_count; k++)
        for (int i = 0; i < SERVO_ZERO_WRITES; i++)
            s->hands[k].write_status = write_device(&s->hands[k], now, 0, (vec3){0, 0, 0});
}
