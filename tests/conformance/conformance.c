/* usage: device-conformance [--live|--virtual] [--slow] [--seconds S] [--set KEY=VALUE]...
 *                           DRIVER[:ADDRESS]
 *
 * Runs any driver through the contract of devices/device.h and prints "ok NAME" or "not ok NAME"
 * with the reason. DRIVER is that of the configuration, a plug-in's path, or falcon-emulated, the
 * Falcon's driver on the model of tests/emulated. Real motors get forces of at most 0.5 N. Devices
 * with real motors run live (1 kHz by CLOCK_MONOTONIC), others on virtual time. */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/falcon.h"
#include "devices/registry.h"
#include "tests/conformance/allocations.h"
#include "tests/emulated/model_transport.h"

enum { SETTINGS_MAX = 32 };

typedef struct run {
    const device_driver *driver;
    const char *address;
    device_settings settings;
    device *dev;
    device_description about;
    bool is_live, is_live_forced, is_virtual_forced;
    bool is_slow; /* a link that cannot keep up: nothing that depends on the rate is checked */
    double seconds;
    int64_t now_ns;
    device_sample sample;
    int failures;
} run;

static void result(run *r, bool is_good, const char *name, const char *format, ...) HR_PRINTF(4, 5);

static void result(run *r, bool is_good, const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    printf("%s %s", is_good ? "ok" : "not ok", name);
    if (!is_good) {
        printf(": ");
        vprintf(format, values);
        r->failures++;
    }
    printf("\n");
    va_end(values);
    fflush(stdout);
}

static void next_tick(run *r)
{
    r->now_ns += 1000000;
    if (!r->is_live)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t current = now.tv_sec * 1000000000LL + now.tv_nsec;
    if (current > r->now_ns + 5000000) /* late: skip, keep going */
        r->now_ns = current;
    struct timespec until = {r->now_ns / 1000000000, r->now_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static hr_status tick(run *r, double force_x)
{
    next_tick(r);
    hr_status status = r->driver->read(r->dev, r->now_ns, &r->sample);
    device_command c = {.deadline_ns = r->now_ns + 20000000, .force = {force_x, 0, 0}};
    hr_status written = r->driver->write(r->dev, r->now_ns, &c);
    return status != HR_OK ? status : written;
}

static void check_opening(run *r)
{
    hr_error error = {""};
    device *dev = NULL;
    device_setting odd = {"no_such_setting", "1", "here:1"};
    device_settings settings = {&odd, 1};
    hr_status status = r->driver->open(r->address, &settings, &dev, &error);
    result(r, status != HR_OK && !dev && error.text[0], "unknown settings are refused",
           "open returned %d with message \"%s\"", status, error.text);
    if (dev)
        r->driver->close(dev);
    r->driver->close(NULL);
    result(r, true, "close accepts NULL", " ");
    result(r, r->driver->count() >= 0, "count is not negative", "found %d", r->driver->count());

    for (int n = 0; n < 2; n++) { /* once to close again, once to keep */
        error.text[0] = '\0';
        status = r->driver->open(r->address, &r->settings, &r->dev, &error);
        result(r, status == HR_OK && r->dev, n == 0 ? "opens" : "opens again after close",
               "open returned %d: %s", status, error.text);
        if (status != HR_OK)
            return;
        if (n == 0)
            r->driver->close(r->dev);
    }
}

static void check_description(run *r)
{
    device_description *d = &r->about;
    memset(d, 0x5a, sizeof *d);
    r->driver->describe(r->dev, d);
    bool has_text = memchr(d->model, 0, sizeof d->model) && d->model[0] &&
                    memchr(d->manufacturer, 0, sizeof d->manufacturer) &&
                    memchr(d->serial, 0, sizeof d->serial);
    result(r, has_text, "description names the device", "model, maker or serial is not a text");
    bool is_sane = d->max_force >= 0 && d->max_force < 1000 && d->peak_force >= d->max_force &&
                   d->peak_force < 1000 && d->workspace_radius > 0 && d->workspace_radius < 10 &&
                   vec3_is_finite(d->workspace_centre) && d->max_stiffness >= 0 &&
                   d->max_damping >= 0 && d->position_resolution >= 0 && d->latency >= 0 &&
                   d->watchdog >= 0 && d->native_rate_hz > 0 && d->button_count >= 0 &&
                   d->button_count <= 32;
    result(r, is_sane, "description holds sane numbers", "force %g peak %g radius %g rate %d",
           d->max_force, d->peak_force, d->workspace_radius, d->native_rate_hz);
    r->is_live = (d->has_motors || r->is_live_forced) && !r->is_virtual_forced;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    r->now_ns = r->is_live ? now.tv_sec * 1000000000LL + now.tv_nsec : 0;
}

static void check_start(run *r)
{
    hr_status status = HR_ERR_IO;
    for (int n = 0; n < 2000 && status != HR_OK; n++) {
        next_tick(r);
        status = r->driver->read(r->dev, r->now_ns, &r->sample);
    }
    result(r, status == HR_OK, "the first read succeeds", "it returned %d (%s)", status,
           r->driver->last_error(r->dev));
    result(r, !(r->sample.flags & DEVICE_IS_ENABLED), "forces are off after open",
           "the sample says enabled");
    device_command c = {.force = {0.2, 0, 0}};
    status = r->driver->write(r->dev, r->now_ns, &c);
    result(r, status == HR_ERR_DISABLED, "a force before enable is refused",
           "write returned %d, expected %d", status, HR_ERR_DISABLED);
    c.force.x = 0;
    status = r->driver->write(r->dev, r->now_ns, &c);
    result(r, status == HR_OK, "zero force is always accepted", "write returned %d", status);
}

static void check_homing(run *r)
{
    hr_status status = r->driver->calibrate(r->dev, false);
    result(r, status == HR_OK, "calibrate starts", "it returned %d", status);
    double progress = 0;
    bool is_rising = true;
    for (int n = 0; n < 60000 && progress < 1; n++) {
        (void)!tick(r, 0);
        double now = r->driver->calibration_progress(r->dev);
        is_rising = is_rising && now >= progress && now <= 1;
        progress = now;
    }
    for (int n = 0; n < 10; n++)
        (void)!tick(r, 0);
    result(r, is_rising && progress == 1, "calibration progress rises to 1", "it ended at %g (%s)",
           progress, r->driver->last_error(r->dev));
    result(r, r->sample.flags & DEVICE_IS_HOMED, "the sample says homed afterwards", "flags %x",
           r->sample.flags);
}

static const char *wrong_with(const device_sample *s, const device_sample *before,
                              const device_description *about)
{
    if (s->time_ns < before->time_ns)
        return "time went backwards";
    if (s->sequence < before->sequence)
        return "the sequence number fell";
    if (s->sequence == before->sequence && !(s->flags & DEVICE_IS_LATE))
        return "an old sample without DEVICE_IS_LATE";
    if (s->flags & ~0x3fu || s->valid & ~0x3fu)
        return "an unknown bit is set";
    if (s->joint_count > DEVICE_JOINTS_MAX)
        return "too many joints";
    if (!vec3_is_finite(s->position) || !vec3_is_finite(s->velocity))
        return "a position or velocity that is not finite";
    if (s->valid & DEVICE_HAS_POSITION &&
        vec3_distance(s->position, about->workspace_centre) > 3 * about->workspace_radius)
        return "a position far outside the workspace";
    if (about->senses_position && !(s->valid & DEVICE_HAS_POSITION))
        return "no position though the device senses it";
    double length = s->rotation.w * s->rotation.w + s->rotation.x * s->rotation.x +
                    s->rotation.y * s->rotation.y + s->rotation.z * s->rotation.z;
    if (s->valid & DEVICE_HAS_ROTATION && !(fabs(length - 1) < 1e-6))
        return "a rotation that is not of unit length";
    return NULL;
}

/* Reads for a while under a small force; velocity must be the slope of position. */
static void check_samples(run *r)
{
    const char *fault = NULL;
    vec3 travelled = {0, 0, 0};
    vec3 integrated = {0, 0, 0};
    double path = 0;
    int fresh = 0;
    int ticks = (int)(r->seconds * 1000);
    hr_status status = HR_OK;
    long allocations = 0;
    for (int n = 0; n < ticks && !fault && status == HR_OK; n++) {
        device_sample before = r->sample;
        next_tick(r);
        long start = allocations_of_this_thread();
        status = r->driver->read(r->dev, r->now_ns, &r->sample);
        device_command c = {.deadline_ns = r->now_ns + 20000000,
                            .force = {0.3 * sin(n * 0.01), 0.2 * cos(n * 0.02), 0}};
        hr_status written = r->driver->write(r->dev, r->now_ns, &c);
        allocations += allocations_of_this_thread() - start;
        status = status != HR_OK ? status : written;
        fault = wrong_with(&r->sample, &before, &r->about);
        if (r->sample.sequence == before.sequence || r->sample.flags & DEVICE_HAS_JUMPED)
            continue;
        fresh++;
        double dt = (double)(r->sample.time_ns - before.time_ns) * 1e-9;
        vec3 step = vec3_sub(r->sample.position, before.position);
        travelled = vec3_add(travelled, step);
        path += vec3_length(step);
        integrated = vec3_add_scaled(integrated, dt, r->sample.velocity);
    }
    result(r, status == HR_OK, "reads and writes succeed", "one returned %d (%s)", status,
           r->driver->last_error(r->dev));
    result(r, !fault, "every sample keeps the contract", "%s", fault ? fault : "");
    if (r->is_slow)
        fresh = ticks;
    result(r, fresh >= ticks / 10, "at least a tenth of the reads bring a new report", "%d of %d",
           fresh, ticks);
    double error = vec3_distance(travelled, integrated);
    double allowed = (r->is_slow ? 0.5 : 0.1) * path + 20 * r->about.position_resolution + 2e-4;
    result(r, error <= allowed, "velocity is the slope of position", "off by %g m over %g m", error,
           path);
    result(r, allocations == 0, "read and write allocate nothing", "%ld allocations", allocations);
}

static void check_forces(run *r)
{
    hr_status status = r->driver->enable(r->dev, true);
    for (int n = 0; n < 10; n++)
        (void)!tick(r, 0);
    result(r, status == HR_OK && r->sample.flags & DEVICE_IS_ENABLED, "enable shows in the sample",
           "enable returned %d, flags %x", status, r->sample.flags);
    check_samples(r);
    device_command c = {.force = {(double)NAN, 0, 0}};
    status = r->driver->write(r->dev, r->now_ns, &c);
    result(r, status == HR_ERR_NOT_FINITE, "a force that is no number is refused",
           "write returned %d", status);
    c.force = (vec3){0, (double)INFINITY, 0};
    status = r->driver->write(r->dev, r->now_ns, &c);
    result(r, status == HR_ERR_NOT_FINITE, "an infinite force is refused", "write returned %d",
           status);
    if (!r->about.has_motors && r->about.actuates_position) {
        bool is_saturated = false;
        for (int n = 0; n < 5; n++) {
            status = tick(r, 1000);
            is_saturated |= (r->sample.flags & DEVICE_IS_SATURATED) != 0;
        }
        result(r, status == HR_OK && is_saturated, "too large a force is cut and says so",
               "write returned %d, flags %x", status, r->sample.flags);
    }
    status = r->driver->enable(r->dev, false);
    for (int n = 0; n < 10; n++)
        (void)!tick(r, 0);
    result(r, status == HR_OK && !(r->sample.flags & DEVICE_IS_ENABLED),
           "disable shows in the sample", "flags %x", r->sample.flags);
    status = tick(r, 0.2);
    result(r, status == HR_ERR_DISABLED, "a force after disable is refused", "write returned %d",
           status);
    result(r, r->driver->last_error(r->dev) != NULL, "last_error is a text", "it is NULL");
}

/* Functions of the program itself that the servo calls must be in the real-time section. */
extern const char __start_rt_text[], __stop_rt_text[]; /* NOLINT: names that the linker chose */

static void check_section(run *r, const char *name)
{
    if (strchr(name, '/'))
        return;
    const char *read = NULL;
    const char *write = NULL;
    memcpy(&read, &r->driver->read, sizeof read);
    memcpy(&write, &r->driver->write, sizeof write);
    bool is_inside = read >= __start_rt_text && read < __stop_rt_text && write >= __start_rt_text &&
                     write < __stop_rt_text;
    result(r, is_inside, "read and write are in the real-time section", "they are elsewhere");
}

/* The falcon driver on the emulated device in this process: level 1 of the emulator. */
static hr_status open_emulated(const char *address, const device_settings *settings, device **out,
                               hr_error *error)
{
    (void)address;
    falcon_transport *transport = model_transport_live(&(model_faults){0}, NULL, 1);
    if (!transport)
        return error_set(error, HR_ERR_MEMORY, "out of memory");
    return falcon_open_transport(transport, settings, out, error);
}

static hr_status find_driver(const char *name, device_driver *emulated, const device_driver **out,
                             hr_error *error)
{
    if (strcmp(name, "falcon-emulated") != 0)
        return registry_find(name, out, error);
    *emulated = device_falcon;
    emulated->open = open_emulated;
    *out = emulated;
    return HR_OK;
}

static int usage(const char *problem)
{
    fprintf(stderr,
            "%s\nusage: device-conformance [--live|--virtual] [--slow] [--seconds S] "
            "[--set KEY=VALUE]... "
            "DRIVER[:ADDRESS]\n",
            problem);
    return 2;
}

static bool add_setting(device_setting *items, int *count, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || *count == SETTINGS_MAX)
        return false;
    *equals = '\0';
    items[(*count)++] = (device_setting){text, equals + 1, "command line:1"};
    return true;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"live", no_argument, NULL, 'l'},      {"virtual", no_argument, NULL, 'v'},
        {"slow", no_argument, NULL, 'w'},      {"seconds", required_argument, NULL, 's'},
        {"set", required_argument, NULL, 'k'}, {NULL, 0, NULL, 0}};
    static device_setting items[SETTINGS_MAX];
    run r = {.seconds = 3};
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (letter == 'l')
            r.is_live_forced = true;
        else if (letter == 'v')
            r.is_virtual_forced = true;
        else if (letter == 'w')
            r.is_slow = true;
        else if (letter == 's')
            r.seconds = atof(optarg);
        else if (letter != 'k' || !add_setting(items, &r.settings.count, optarg))
            return usage("unknown option");
    }
    char driver[512];
    char address[512];
    device_driver emulated;
    hr_error error = {""};
    if (optind + 1 != argc)
        return usage("expected one device");
    if (registry_split(argv[optind], driver, sizeof driver, address, sizeof address, &error) ||
        find_driver(driver, &emulated, &r.driver, &error))
        return usage(error.text);
    r.address = address;
    r.settings.items = items;
    check_section(&r, driver);
    check_opening(&r);
    if (r.failures == 0) {
        check_description(&r);
        check_start(&r);
        check_homing(&r);
        check_forces(&r);
    }
    r.driver->close(r.dev);
    printf("%s: %s\n", argv[optind], r.failures ? "does not conform" : "conforms");
    return r.failures ? 1 : 0;
}
