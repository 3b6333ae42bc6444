#include "devices/falcon/link.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int64_t ms = 1000000;

const char *falcon_state_text(falcon_state state)
{
    switch (state) {
    case FALCON_WAITING:
        return "waiting to try again";
    case FALCON_OPENING:
        return "opening";
    case FALCON_PROBING:
        return "asking whether firmware runs";
    case FALCON_RESETTING:
        return "resetting the processor";
    case FALCON_GREETING:
        return "greeting the loader";
    case FALCON_SETTING_SPEED:
        return "setting the loader's speed";
    case FALCON_SENDING:
        return "sending firmware";
    case FALCON_RUNNING:
        return "running";
    }
    return "unknown";
}

falcon_link_settings falcon_link_settings_default(void)
{
    return (falcon_link_settings){.block_size = 62,
                                  .greetings = 20,
                                  .attempts = 12,
                                  .latency_run_ms = 1,
                                  .latency_upload_ms = 16,
                                  .divisor_run = FTDI_DIVISOR_RUN,
                                  .keeps_homing_bit = true,
                                  .homing_bit = FALCON_HOMING,
                                  .led_red = FALCON_LED_RED,
                                  .led_green = FALCON_LED_GREEN,
                                  .led_blue = FALCON_LED_BLUE,
                                  .answer_timeout_s = 0.020,
                                  .silence_timeout_s = 0.300};
}

void falcon_link_init(falcon_link *link, falcon_transport *transport,
                      const falcon_link_settings *settings, const falcon_firmware *firmware,
                      const char *firmware_problem)
{
    memset(link, 0, sizeof *link);
    link->transport = transport;
    link->settings = *settings;
    link->firmware = firmware;
    snprintf(link->firmware_problem, sizeof link->firmware_problem, "%s",
             firmware_problem ? firmware_problem : "");
    link->state = FALCON_OPENING;
    link->counts.round_trip_best_ns = 1e12;
}

void falcon_link_log(falcon_link *link, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *line = link->log[link->log_count++ % FALCON_LOG_LINES];
    vsnprintf(line, FALCON_LOG_WIDTH, format, values);
    va_end(values);
}

void falcon_link_enter(falcon_link *link, falcon_state state)
{
    link->state = state;
    link->state_since_ns = link->transport->calls->now(link->transport);
    link->next_ns = link->state_since_ns;
    link->tries = 0;
    link->collected_count = 0;
}

/* The pause grows from 50 ms to 1.6 s, so that a unit that is being powered up is found quickly and
 * a missing one costs nothing. */
void falcon_link_fail(falcon_link *link, hr_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(link->cause, sizeof link->cause, format, values);
    va_end(values);
    bool was_running = link->state == FALCON_RUNNING;
    falcon_link_log(link, "attempt %d, %s: %s", link->attempt, falcon_state_text(link->state),
                    link->cause);
    link->status = status;
    link->transport->calls->close(link->transport);
    link->report.homed = 0;
    link->is_awaiting = false;
    link->is_uploaded = false;
    link->command = (falcon_link_command){.is_enabled = false};
    memset(link->sent_values, 0, sizeof link->sent_values);
    if (was_running) {
        memcpy(link->loss, link->cause, sizeof link->loss);
        link->counts.losses++;
        link->attempt = 0;
    }
    if (link->settings.attempts > 0 && link->attempt >= link->settings.attempts && !link->has_run)
        link->has_given_up = true;
    int doublings = link->attempt < 5 ? link->attempt : 5;
    falcon_link_enter(link, FALCON_WAITING);
    link->retry_ns = link->state_since_ns + (50 * ms << doublings);
}

void falcon_link_fail_sending(falcon_link *link, hr_status status)
{
    if (status == HR_ERR_LOST)
        falcon_link_fail(link, status, "the device was unplugged or lost power");
    else
        falcon_link_fail(link, status, "sending failed: %s", status_text(status));
}

static bool control(falcon_link *link, int request, int value)
{
    hr_status status = link->transport->calls->control(link->transport, request, value);
    if (status != HR_OK)
        falcon_link_fail(link, status, "request %d with value 0x%04x failed: %s", request, value,
                         status_text(status));
    return status == HR_OK;
}

/* Latency and speed of the exchange; then nothing of the past may be left. */
static bool set_run_mode(falcon_link *link)
{
    const falcon_link_settings *s = &link->settings;
    bool is_good =
        control(link, FTDI_RESET, FTDI_PURGE_ONE) && control(link, FTDI_RESET, FTDI_PURGE_OTHER) &&
        control(link, FTDI_LATENCY, s->latency_run_ms) &&
        control(link, FTDI_DIVISOR, s->divisor_run) &&
        (!s->has_event_character || control(link, FTDI_EVENT_CHARACTER, 0x013e)) &&
        control(link, FTDI_RESET, FTDI_PURGE_ONE) && control(link, FTDI_RESET, FTDI_PURGE_OTHER);
    if (is_good && link->transport->calls->drain(link->transport) != HR_OK) {
        falcon_link_fail(link, HR_ERR_IO, "old transfers could not be ended");
        is_good = false;
    }
    memset(&link->parser, 0, sizeof link->parser);
    return is_good;
}

static void open_link(falcon_link *link)
{
    hr_error error = {""};
    link->attempt++;
    link->counts.attempts++;
    hr_status status = link->transport->calls->open(link->transport, &error);
    if (status != HR_OK)
        falcon_link_fail(link, status, "%s", error.text);
    else if (set_run_mode(link))
        falcon_link_enter(link, FALCON_PROBING);
}

static void send_packet(falcon_link *link, int64_t now_ns, const int16_t values[3], uint8_t flags)
{
    uint8_t packet[FALCON_PACKET];
    falcon_encode_command(values, flags, packet);
    hr_status status = link->transport->calls->write(link->transport, packet, sizeof packet);
    if (status == HR_ERR_BUSY) {
        link->next_ns = now_ns + ms / 5;
        return;
    }
    if (status != HR_OK) {
        falcon_link_fail_sending(link, status);
        return;
    }
    memcpy(link->sent_values, values, sizeof link->sent_values);
    link->counts.sent++;
    link->is_awaiting = true;
    link->sent_ns = now_ns;
    link->next_ns = now_ns + (int64_t)(link->settings.answer_timeout_s * 1e9);
}

static uint8_t lights(const falcon_link *link)
{
    const falcon_link_settings *s = &link->settings;
    uint8_t wanted = link->command.leds;
    if (!falcon_link_is_homed(link))
        wanted = 1;
    else if (wanted == 0)
        wanted = link->command.is_enabled ? 2 : 4;
    return (uint8_t)((wanted & 1 ? s->led_red : 0) | (wanted & 2 ? s->led_green : 0) |
                     (wanted & 4 ? s->led_blue : 0));
}

/* The newest command, or zero where forces are not allowed. */
static void send_command(falcon_link *link, int64_t now_ns)
{
    static const int16_t zero[3] = {0, 0, 0};
    bool is_homed = falcon_link_is_homed(link);
    bool may_push = is_homed && link->command.is_enabled && now_ns < link->command.deadline_ns;
    bool asks_homing = !is_homed || link->settings.keeps_homing_bit;
    uint8_t flags = (uint8_t)(lights(link) | (asks_homing ? link->settings.homing_bit : 0));
    send_packet(link, now_ns, may_push ? link->command.values : zero, flags);
}

/* Averages over some 256 exchanges; more than one in twenty is more than chance. */
static void note_exchange(falcon_link_counts *c, bool is_lost, bool has_garbage)
{
    const double weight = 1.0 / 256;
    c->lost_share += weight * (is_lost - c->lost_share);
    c->garbage_share += weight * (has_garbage - c->garbage_share);
}

void falcon_link_health(const falcon_link *link, char *out, size_t size)
{
    const falcon_link_counts *c = &link->counts;
    const double much = 0.05;
    out[0] = '\0';
    if (link->state != FALCON_RUNNING)
        return;
    /* no figures: the text stays the same while the trouble does */
    if (falcon_link_is_slow(link))
        snprintf(out, size,
                 "slow: round trips have grown more than threefold; is the hub or the "
                 "machine busy?");
    else if (c->lost_share > much)
        snprintf(out, size, "more than 5 %% of the exchanges are lost; check cable and hub");
    else if (c->garbage_share > much)
        snprintf(out, size, "more than 5 %% of the reports come broken; check cable and hub");
}

static void note_round_trip(falcon_link *link, int64_t now_ns, bool has_garbage)
{
    falcon_link_counts *c = &link->counts;
    c->reports++;
    note_exchange(c, false, has_garbage);
    link->report_ns = now_ns;
    if (!link->is_awaiting)
        return;
    link->is_awaiting = false;
    c->round_trip_ns = now_ns - link->sent_ns;
    if (c->round_trip_ns > c->round_trip_longest_ns)
        c->round_trip_longest_ns = c->round_trip_ns;
    c->round_trip_mean_ns += ((double)c->round_trip_ns - c->round_trip_mean_ns) /
                             (c->reports < 64 ? (double)c->reports : 64.0);
    if (c->reports >= 64 && c->round_trip_mean_ns < c->round_trip_best_ns)
        c->round_trip_best_ns = c->round_trip_mean_ns;
    int64_t bucket = c->round_trip_ns / 50000;
    c->round_trips[bucket < FALCON_BUCKETS ? bucket : FALCON_BUCKETS - 1]++;
    if (falcon_link_is_slow(link) && c->slow++ == 0)
        falcon_link_log(link, "round trips have grown from %.1f to %.1f ms",
                        c->round_trip_best_ns / 1e6, c->round_trip_mean_ns / 1e6);
}

/* Reads what came; true when at least one report was among it. */
static bool take_reports(falcon_link *link, int64_t now_ns)
{
    uint8_t bytes[512];
    bool is_new = false;
    for (int n = 0; n < 8; n++) { /* what is left after 4 kB waits for the next step */
        int count = link->transport->calls->read(link->transport, bytes, sizeof bytes);
        if (count < 0) {
            falcon_link_fail(link, (hr_status)count, "the device was unplugged or lost power");
            return false;
        }
        for (int i = 0; i < count; i++)
            if (falcon_parser_add(&link->parser, bytes[i], &link->report))
                is_new = true;
        if (count < (int)sizeof bytes)
            break;
    }
    bool has_garbage = link->parser.garbage > 0;
    link->counts.garbage += link->parser.garbage;
    link->parser.garbage = 0;
    if (is_new)
        note_round_trip(link, now_ns, has_garbage);
    return is_new;
}

/* A neutral packet every 10 ms until a report comes. After an upload the program may need a moment
 * to start. */
static void probe(falcon_link *link, int64_t now_ns)
{
    static const int16_t zero[3] = {0, 0, 0};
    bool is_answered = take_reports(link, now_ns);
    if (link->state != FALCON_PROBING)
        return;
    if (is_answered) {
        link->cause[0] = link->loss[0] = '\0';
        falcon_link_log(link, "attempt %d: %s", link->attempt,
                        link->is_uploaded ? "firmware uploaded and running"
                                          : "firmware is already running");
        link->is_uploaded = false;
        link->has_run = true;
        link->attempt = 0;
        link->counts.round_trip_longest_ns = 0;
        falcon_link_enter(link, FALCON_RUNNING);
        send_command(link, now_ns);
        return;
    }
    int limit = link->is_uploaded ? 60 : 25;
    if (now_ns < link->next_ns)
        return;
    if (link->tries++ < limit) {
        send_packet(link, now_ns, zero, link->settings.led_red);
        link->next_ns = now_ns + 10 * ms;
    } else if (link->is_uploaded) {
        falcon_link_fail(link, HR_ERR_PROTOCOL,
                         "the firmware was sent but does not answer; wrong image?");
    } else if (!link->firmware) {
        falcon_link_fail(link, HR_ERR_NOT_FOUND, "no firmware runs and none can be sent: %s",
                         link->firmware_problem);
    } else {
        falcon_link_enter(link, FALCON_RESETTING);
    }
}

static void run(falcon_link *link, int64_t now_ns)
{
    link->has_report = take_reports(link, now_ns);
    if (link->state != FALCON_RUNNING)
        return;
    if (link->has_report) {
        send_command(link, now_ns);
        return;
    }
    int64_t silence =
        now_ns - (link->report_ns > link->state_since_ns ? link->report_ns : link->state_since_ns);
    if (silence > (int64_t)(link->settings.silence_timeout_s * 1e9)) {
        falcon_link_fail(link, HR_ERR_LOST, "no report for %.0f ms; is the wall supply connected?",
                         (double)silence / 1e6);
    } else if (now_ns >= link->next_ns) {
        if (link->is_awaiting) {
            link->counts.lost++;
            note_exchange(&link->counts, true, false);
        }
        send_command(link, now_ns);
    }
}

int64_t falcon_link_step(falcon_link *link)
{
    int64_t now_ns = link->transport->calls->now(link->transport);
    link->has_report = false;
    switch (link->state) {
    case FALCON_WAITING:
        if (link->has_given_up)
            return now_ns + 1000 * ms;
        if (now_ns < link->retry_ns)
            return link->retry_ns;
        falcon_link_enter(link, FALCON_OPENING);
        return now_ns;
    case FALCON_OPENING:
        open_link(link);
        return link->next_ns;
    case FALCON_PROBING:
        probe(link, now_ns);
        break;
    case FALCON_RESETTING:
    case FALCON_GREETING:
    case FALCON_SETTING_SPEED:
    case FALCON_SENDING:
        falcon_boot_step(link, now_ns);
        break;
    case FALCON_RUNNING:
        run(link, now_ns);
        break;
    }
    return link->next_ns;
}

void falcon_link_close(falcon_link *link)
{
    static const int16_t zero[3] = {0, 0, 0};
    falcon_transport *t = link->transport;
    for (int n = 0; n < 3 && link->state == FALCON_RUNNING; n++) {
        send_packet(link, t->calls->now(t), zero, link->settings.led_red);
        if (link->state == FALCON_RUNNING)
            t->calls->wait(t, t->calls->now(t) + 3 * ms);
    }
    t->calls->close(t);
    falcon_link_enter(link, FALCON_WAITING);
    link->has_given_up = true;
}
