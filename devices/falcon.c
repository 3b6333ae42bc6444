#include "devices/falcon.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/falcon/mailbox.h"
#include "devices/falcon/usb.h"
#include "devices/settings.h"
#include "devices/text_file.h"

/* What the I/O thread tells the servo. */
typedef struct from_link {
    falcon_report report;
    int64_t time_ns;
    uint64_t number; /* rises with every report */
    uint32_t epoch;  /* rises with every new start of the connection */
    bool is_running;
} from_link;

/* What other threads may ask for; never touched by the servo. */
typedef struct front {
    pthread_mutex_t lock;
    falcon_status status;
} front;

struct device {
    falcon_host host; /* servo thread */
    from_link newest;
    uint64_t seen;
    atomic_ullong late_reads; /* servo adds, anybody reads */
    uint32_t seen_epoch;
    bool has_sample, is_lost;

    from_link report_slots[3]; /* I/O thread to servo */
    mailbox reports;
    falcon_link_command command_slots[3]; /* servo to I/O thread */
    mailbox commands;

    falcon_link link; /* I/O thread */
    falcon_firmware firmware;
    falcon_transport *transport;
    uint64_t report_number;
    uint32_t epoch;
    bool was_running;

    pthread_t thread;
    bool has_thread;
    atomic_bool is_closing;
    front *front;
    char serial[32];
};

static const int64_t deadline_default_ns = 100000000;

/* --- I/O thread ---------------------------------------------------------------------------------
 */

static void publish(device *dev)
{
    falcon_link *link = &dev->link;
    bool is_running = link->state == FALCON_RUNNING;
    if (is_running && !dev->was_running)
        dev->epoch++;
    if (!link->has_report && is_running == dev->was_running)
        return;
    dev->was_running = is_running;
    dev->report_number += link->has_report;
    dev->report_slots[dev->reports.back] = (from_link){.report = link->report,
                                                       .time_ns = link->report_ns,
                                                       .number = dev->report_number,
                                                       .epoch = dev->epoch,
                                                       .is_running = is_running};
    mailbox_publish(&dev->reports);
}

static void publish_status(device *dev)
{
    const falcon_link *link = &dev->link;
    pthread_mutex_lock(&dev->front->lock);
    dev->front->status.state = link->state;
    dev->front->status.counts = link->counts;
    dev->front->status.homed = link->report.homed;
    memcpy(dev->front->status.cause, link->cause, sizeof dev->front->status.cause);
    memcpy(dev->front->status.loss, link->loss, sizeof dev->front->status.loss);
    falcon_link_health(link, dev->front->status.health, sizeof dev->front->status.health);
    int kept = link->log_count < FALCON_LOG_LINES ? link->log_count : FALCON_LOG_LINES;
    for (int i = 0; i < kept; i++)
        memcpy(dev->front->status.log[i],
               link->log[(link->log_count - kept + i) % FALCON_LOG_LINES], FALCON_LOG_WIDTH);
    dev->front->status.log_lines = kept;
    pthread_mutex_unlock(&dev->front->lock);
}

static void *io_thread(void *argument)
{
    device *dev = argument;
    falcon_link *link = &dev->link;
    falcon_state told = FALCON_WAITING;
    int64_t tell_ns = 0;
    while (!atomic_load_explicit(&dev->is_closing, memory_order_acquire)) {
        if (mailbox_take(&dev->commands))
            link->command = dev->command_slots[dev->commands.front];
        int64_t next = falcon_link_step(link);
        publish(dev);
        int64_t now = dev->transport->calls->now(dev->transport);
        if (link->state != told || now >= tell_ns || link->has_given_up) {
            told = link->state;
            tell_ns = now + 50000000;
            publish_status(dev);
        }
        if (!link->has_report)
            dev->transport->calls->wait(dev->transport, next);
    }
    falcon_link_close(link);
    return NULL;
}

static hr_status start_thread(device *dev, int64_t priority, hr_error *error)
{
    pthread_attr_t attributes;
    struct sched_param parameters = {.sched_priority = (int)priority};
    pthread_attr_init(&attributes);
    if (priority > 0) {
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &parameters);
    }
    int code = pthread_create(&dev->thread, &attributes, io_thread, dev);
    if (code != 0 && priority > 0) /* no right to real-time scheduling: run without */
        code = pthread_create(&dev->thread, NULL, io_thread, dev);
    pthread_attr_destroy(&attributes);
    dev->has_thread = code == 0;
    return code == 0 ? HR_OK
                     : error_set(error, HR_ERR_MEMORY, "falcon: no thread: %s", strerror(code));
}

/* --- opening ------------------------------------------------------------------------------------
 */

static hr_status read_link_settings(const device_settings *settings, falcon_link_settings *out,
                                    hr_error *error)
{
    falcon_link_settings s = falcon_link_settings_default();
    struct {
        const char *key;
        int64_t low, high, value;
    } numbers[] = {
        {"block_size", 1, 200, s.block_size},
        {"greetings", 1, 1000, s.greetings},
        {"attempts", 0, 1000, s.attempts},
        {"latency_run_ms", 1, 255, s.latency_run_ms},
        {"latency_upload_ms", 1, 255, s.latency_upload_ms},
        {"divisor_run", 0, 65535, s.divisor_run},
        {"homing_bit", 0, 255, s.homing_bit},
        {"led_red", 0, 255, s.led_red},
        {"led_green", 0, 255, s.led_green},
        {"led_blue", 0, 255, s.led_blue},
    };
    hr_status status;
    for (int i = 0; i < HR_COUNT(numbers); i++)
        if ((status = settings_integer(settings, numbers[i].key, numbers[i].low, numbers[i].high,
                                       &numbers[i].value, error)))
            return status;
    s.block_size = (int)numbers[0].value;
    s.greetings = (int)numbers[1].value;
    s.attempts = (int)numbers[2].value;
    s.latency_run_ms = (int)numbers[3].value;
    s.latency_upload_ms = (int)numbers[4].value;
    s.divisor_run = (int)numbers[5].value;
    s.homing_bit = (uint8_t)numbers[6].value;
    s.led_red = (uint8_t)numbers[7].value;
    s.led_green = (uint8_t)numbers[8].value;
    s.led_blue = (uint8_t)numbers[9].value;
    if ((status = settings_bool(settings, "event_character", &s.has_event_character, error)) ||
        (status = settings_bool(settings, "keep_homing_bit", &s.keeps_homing_bit, error)) ||
        (status =
             settings_number(settings, "answer_timeout_s", 0.002, 1, &s.answer_timeout_s, error)) ||
        (status =
             settings_number(settings, "silence_timeout_s", 0.02, 10, &s.silence_timeout_s, error)))
        return status;
    *out = s;
    return HR_OK;
}

static const char *value_of(const device_settings *settings, const char *key)
{
    const device_setting *s = settings_find(settings, key);
    return s ? s->value : NULL;
}

/* A named file must be good; a missing one of its own accord is a fact to report later, because
 * firmware may be running already. */
static hr_status load_firmware(device *dev, const device_settings *settings, char *problem,
                               size_t size, bool *has_firmware, hr_error *error)
{
    char path[512];
    const char *wanted = value_of(settings, "firmware");
    hr_error why = {""};
    hr_status status = falcon_firmware_find(wanted, path, sizeof path, &why);
    if (status == HR_OK)
        status = falcon_firmware_load(path, &dev->firmware, &why);
    *has_firmware = status == HR_OK;
    snprintf(problem, size, "%.250s", why.text);
    if (status != HR_OK && wanted)
        return error_set(error, status, "%s", why.text);
    return HR_OK;
}

static hr_status load_calibration(device *dev, const device_settings *settings,
                                  falcon_calibration *out, hr_error *error)
{
    const char *wanted = value_of(settings, "calibration");
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char places[2][600] = {"", ""};
    if (config && *config)
        snprintf(places[0], sizeof places[0], "%s/hapticd/falcon-%s.conf", config, dev->serial);
    else if (home && *home)
        snprintf(places[0], sizeof places[0], "%s/.config/hapticd/falcon-%s.conf", home,
                 dev->serial);
    snprintf(places[1], sizeof places[1], "/etc/hapticd/falcon-%s.conf", dev->serial);
    *out = falcon_calibration_default();
    for (int i = 0; i < (wanted ? 1 : 2); i++) {
        const char *path = wanted ? wanted : places[i];
        char *text = NULL;
        size_t size = 0;
        hr_status status = path[0] ? text_file_read(path, &text, &size, error) : HR_ERR_NOT_FOUND;
        if (status == HR_ERR_NOT_FOUND && !wanted)
            continue;
        if (status == HR_OK)
            status = falcon_calibration_parse(text, size, path, out, error);
        free(text);
        return status;
    }
    return HR_OK;
}

/* Every attempt's failure, equal ones in a row together: "attempts 1 to 3, opening: ...". */
static void tell_attempts(const falcon_status *s, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < s->log_lines;) {
        int first = 0;
        int length = 0;
        const char *line = s->log[i++];
        if (sscanf(line, "attempt %d%n", &first, &length) != 1)
            continue;
        int last = first;
        for (; i < s->log_lines; i++, last++) {
            int next = 0;
            int skip = 0;
            if (sscanf(s->log[i], "attempt %d%n", &next, &skip) != 1 ||
                strcmp(line + length, s->log[i] + skip) != 0)
                break;
        }
        int n = snprintf(out + used, size - used,
                         first == last ? "%sattempt %d%.0d%s" : "%sattempts %d to %d%s",
                         used ? "; " : "", first, last, line + length);
        if (n < 0 || used + (size_t)n >= size)
            return;
        used += (size_t)n;
    }
}

/* Waits until the link runs, has given up or the time is over. */
static hr_status await_running(device *dev, double timeout, hr_error *error)
{
    const struct timespec pause = {0, 2000000};
    falcon_status now = {0};
    for (int n = 0; n < (int)(timeout / 0.002); n++) {
        falcon_get_status(dev, &now);
        if (now.state == FALCON_RUNNING)
            return HR_OK;
        if (now.state == FALCON_WAITING && now.cause[0] && dev->link.settings.attempts > 0 &&
            (int)now.counts.attempts >= dev->link.settings.attempts)
            break;
        nanosleep(&pause, NULL);
    }
    char attempts[400];
    tell_attempts(&now, attempts, sizeof attempts);
    return error_set(error, HR_ERR_NOT_FOUND, "falcon: %s%s",
                     attempts[0] ? attempts : "no answer in time while ",
                     attempts[0] ? "" : falcon_state_text(now.state));
}

static void close_falcon(device *dev);

static hr_status start_device(device *dev, const device_settings *settings, hr_error *error)
{
    static const char *const known[] = {"firmware",
                                        "calibration",
                                        "open_timeout_s",
                                        "io_priority",
                                        "attempts",
                                        "block_size",
                                        "greetings",
                                        "latency_run_ms",
                                        "divisor_run",
                                        "event_character",
                                        "keep_homing_bit",
                                        "latency_upload_ms",
                                        "homing_bit",
                                        "led_red",
                                        "led_green",
                                        "led_blue",
                                        "answer_timeout_s",
                                        "silence_timeout_s",
                                        NULL};
    falcon_link_settings link_settings;
    falcon_calibration calibration;
    int64_t priority = 81;
    double timeout = 20;
    char problem[256] = "";
    bool has_firmware = false;
    hr_status status;
    if ((status = settings_check(settings, "falcon", known, error)) ||
        (status = read_link_settings(settings, &link_settings, error)) ||
        (status = settings_integer(settings, "io_priority", 0, 98, &priority, error)) ||
        (status = settings_number(settings, "open_timeout_s", 0.1, 600, &timeout, error)) ||
        (status = load_firmware(dev, settings, problem, sizeof problem, &has_firmware, error)))
        return status;
    falcon_link_init(&dev->link, dev->transport, &link_settings,
                     has_firmware ? &dev->firmware : NULL, problem);
    if ((status = start_thread(dev, priority, error)) ||
        (status = await_running(dev, timeout, error)))
        return status;
    snprintf(dev->serial, sizeof dev->serial, "%s", dev->transport->calls->serial(dev->transport));
    status = load_calibration(dev, settings, &calibration, error);
    if (status == HR_OK)
        falcon_host_init(&dev->host, &calibration);
    return status;
}

hr_status falcon_open_transport(falcon_transport *transport, const device_settings *settings,
                                device **out, hr_error *error)
{
    device *dev = calloc(1, sizeof *dev);
    front *shown = calloc(1, sizeof *shown);
    if (!dev || !shown) {
        free(dev);
        free(shown);
        transport->calls->destroy(transport);
        return error_set(error, HR_ERR_MEMORY, "falcon: out of memory");
    }
    falcon_calibration calibration = falcon_calibration_default();
    dev->transport = transport;
    dev->front = shown;
    mailbox_init(&dev->reports);
    mailbox_init(&dev->commands);
    atomic_init(&dev->is_closing, false);
    atomic_init(&dev->late_reads, 0);
    pthread_mutex_init(&dev->front->lock, NULL);
    falcon_host_init(&dev->host, &calibration);
    hr_status status = start_device(dev, settings, error);
    if (status != HR_OK) {
        close_falcon(dev);
        return status;
    }
    *out = dev;
    return HR_OK;
}

static hr_status open_falcon(const char *address, const device_settings *settings, device **out,
                             hr_error *error)
{
    falcon_transport *transport = NULL;
    hr_status status = falcon_usb_create(address, &transport, error);
    return status == HR_OK ? falcon_open_transport(transport, settings, out, error) : status;
}

static void close_falcon(device *dev)
{
    if (!dev)
        return;
    atomic_store_explicit(&dev->is_closing, true, memory_order_release);
    if (dev->has_thread)
        pthread_join(dev->thread, NULL);
    dev->transport->calls->destroy(dev->transport);
    pthread_mutex_destroy(&dev->front->lock);
    free(dev->front);
    free(dev);
}

static int count_devices(void)
{
    falcon_unit units[FALCON_UNITS_MAX];
    int count = falcon_usb_list(units, FALCON_UNITS_MAX, NULL);
    return count > 0 ? count : 0;
}

static void describe(const device *dev, device_description *out)
{
    falcon_describe(out);
    out->latency = 0.001;
    out->watchdog = 0; /* nobody knows */
    out->has_motors = true;
    out->workspace_centre = (vec3){FALCON_CENTRE_Z - dev->host.calibration.centre_z, 0, 0};
    memcpy(out->serial, dev->serial, sizeof out->serial);
}

/* --- servo thread -------------------------------------------------------------------------------
 */

HR_RT static void send_command(device *dev, int64_t deadline_ns, const int16_t values[3],
                               uint32_t leds)
{
    falcon_link_command *c = &dev->command_slots[dev->commands.back];
    for (int i = 0; i < 3; i++)
        c->values[i] = values[i];
    c->is_enabled = dev->host.is_enabled;
    c->leds = (uint8_t)(leds & 7);
    c->deadline_ns = deadline_ns;
    mailbox_publish(&dev->commands);
}

static hr_status calibrate(device *dev, bool force)
{
    if (dev->is_lost)
        return HR_ERR_LOST;
    (void)force; /* the homing bit is always set; the unit homes when it passes its marks */
    return HR_OK;
}

static double calibration_progress(const device *dev)
{
    int arms = 0;
    for (int i = 0; i < FALCON_ARMS; i++)
        arms += dev->host.homed >> i & 1;
    return arms / 3.0;
}

HR_RT static hr_status enable(device *dev, bool on)
{
    static const int16_t zero[3] = {0, 0, 0};
    if (dev->is_lost)
        return HR_ERR_LOST;
    dev->host.is_enabled = on;
    if (!on)
        send_command(dev, 0, zero, 0);
    return HR_OK;
}

/* The connection starts anew: what was known is no longer true. */
HR_RT static void forget(device *dev)
{
    falcon_host_reset(&dev->host);
    dev->has_sample = false;
}

/* No new report: the old sample, but what the host itself knows is current. */
HR_RT static hr_status repeat_sample(device *dev, device_sample *out)
{
    atomic_fetch_add_explicit(&dev->late_reads, 1, memory_order_relaxed);
    if (!dev->has_sample)
        return HR_ERR_BUSY;
    device_sample *s = &dev->host.sample;
    s->flags = (s->flags & ~(uint32_t)(DEVICE_IS_ENABLED | DEVICE_HAS_JUMPED)) | DEVICE_IS_LATE |
               (dev->host.is_enabled ? DEVICE_IS_ENABLED : 0);
    *out = *s;
    return HR_OK;
}

HR_RT static hr_status read_falcon(device *dev, int64_t now_ns, device_sample *out)
{
    if (mailbox_take(&dev->reports))
        dev->newest = dev->report_slots[dev->reports.front];
    const from_link *m = &dev->newest;
    if (!m->is_running) {
        if (!dev->is_lost)
            forget(dev);
        dev->is_lost = true;
        return HR_ERR_LOST;
    }
    if (m->epoch != dev->seen_epoch) { /* a new start that was too short to be seen as a loss */
        if (dev->seen_epoch != 0)
            forget(dev);
        dev->seen_epoch = m->epoch;
    }
    dev->is_lost = false;
    if (m->number == dev->seen)
        return repeat_sample(dev, out);
    dev->seen = m->number;
    int64_t time_ns = m->time_ns < now_ns ? m->time_ns : now_ns;
    if (time_ns < dev->host.sample.time_ns)
        time_ns = dev->host.sample.time_ns;
    hr_status status = falcon_host_report(&dev->host, time_ns, &m->report, out);
    dev->has_sample |= status == HR_OK;
    return status;
}

HR_RT static hr_status write_falcon(device *dev, int64_t now_ns, const device_command *command)
{
    int16_t values[3] = {0, 0, 0};
    if (dev->is_lost)
        return HR_ERR_LOST;
    hr_status status = falcon_host_force(&dev->host, command->force, values);
    int64_t deadline = command->deadline_ns ? command->deadline_ns : now_ns + deadline_default_ns;
    send_command(dev, deadline, values, command->leds);
    return status;
}

static const char *last_error(const device *dev)
{
    static _Thread_local char text[200]; /* the console and the control socket both ask */
    const size_t size = sizeof text;
    falcon_status now;
    falcon_get_status(dev, &now);
    if (now.loss[0] && strcmp(now.loss, now.cause) != 0)
        snprintf(text, size, "%.90s; now: %.90s", now.loss, now.cause);
    else
        snprintf(text, size, "%s", now.cause);
    if (now.state == FALCON_RUNNING && now.homed == 7)
        snprintf(text, size, "%s", now.health);
    else if (!now.cause[0] && now.state == FALCON_RUNNING)
        snprintf(text, size,
                 "not homed: arm%s%s%s missing; pull the grip fully out, then push it in",
                 now.homed & 1 ? "" : " 1 (top)", now.homed & 2 ? "" : " 2 (right)",
                 now.homed & 4 ? "" : " 3 (left)");
    return text;
}

void falcon_get_status(const device *dev, falcon_status *out)
{
    pthread_mutex_lock(&dev->front->lock);
    *out = dev->front->status;
    pthread_mutex_unlock(&dev->front->lock);
    out->late_reads = atomic_load_explicit(&dev->late_reads, memory_order_relaxed);
}

const falcon_host *falcon_host_of(const device *dev)
{
    return &dev->host;
}

const device_driver device_falcon = {
    .size = sizeof(device_driver),
    .version = DEVICE_ABI_VERSION,
    .name = "falcon",
    .help = "Novint Falcon over USB; the address is an index, serial:NUMBER or port:PATH",
    .count = count_devices,
    .open = open_falcon,
    .close = close_falcon,
    .describe = describe,
    .calibrate = calibrate,
    .calibration_progress = calibration_progress,
    .enable = enable,
    .read = read_falcon,
    .write = write_falcon,
    .last_error = last_error,
};
