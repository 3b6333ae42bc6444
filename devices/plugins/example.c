/* The smallest useful plug-in: a bead of 0.1 kg on three springs, the whole contract of
 * devices/device.h in one file. Copy it to start a driver of your own:
 *
 *     cc -std=c17 -fPIC -shared -I. -o mine.so mine.c
 *     hapticd --device ./mine.so:0
 *     build/device-conformance ./mine.so:0
 */
#include <stdlib.h>
#include <string.h>

#include "devices/device.h"

enum { BEADS = 2 };

static const double bead_mass = 0.1;     /* kg */
static const double bead_stiffness = 50; /* N/m, to the middle */
static const double bead_damping = 1.0;  /* N s/m */
static const double force_max = 5;       /* N */
static const double step_max = 0.001;    /* s */

struct device {
    int index;
    vec3 position, velocity, force;
    int64_t time_ns, deadline_ns;
    uint64_t sequence;
    bool is_started, is_enabled, is_saturated;
    const char *error;
};

static int bead_count(void)
{
    return BEADS;
}

static hr_status fail(hr_error *error, hr_status status, const char *text)
{
    if (error)
        strncpy(error->text, text, sizeof error->text - 1);
    return status;
}

static hr_status bead_open(const char *address, const device_settings *settings, device **out,
                           hr_error *error)
{
    int index = address && *address ? *address - '0' : 0;
    if (settings && settings->count > 0)
        return fail(error, HR_ERR_ARGUMENT, "example: expected no settings, found some");
    if (index < 0 || index >= BEADS || (address && strlen(address) > 1))
        return fail(error, HR_ERR_NOT_FOUND, "example: expected the address 0 or 1");
    device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return fail(error, HR_ERR_MEMORY, "example: out of memory");
    dev->index = index;
    dev->error = "";
    *out = dev;
    return HR_OK;
}

static void bead_close(device *dev)
{
    free(dev);
}

static void bead_describe(const device *dev, device_description *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->model, "Bead", sizeof "Bead");
    memcpy(out->manufacturer, "hapticd", sizeof "hapticd");
    out->serial[0] = (char)('0' + dev->index);
    out->max_force = out->peak_force = force_max;
    out->max_stiffness = 1000;
    out->max_damping = 5;
    out->workspace_radius = 0.1;
    out->position_resolution = 1e-6;
    out->latency = 0.001;
    out->native_rate_hz = 1000;
    out->senses_position = out->actuates_position = true;
    out->fits_left_hand = out->fits_right_hand = true;
}

static hr_status bead_calibrate(device *dev, bool force)
{
    (void)force;
    dev->error = "";
    return HR_OK;
}

static double bead_progress(const device *dev)
{
    (void)dev;
    return 1; /* nothing to home */
}

HR_RT static hr_status bead_enable(device *dev, bool on)
{
    dev->is_enabled = on;
    if (!on)
        dev->force = (vec3){0, 0, 0};
    return HR_OK;
}

HR_RT static void move(device *dev, double dt)
{
    vec3 force = vec3_add_scaled(dev->force, -bead_stiffness, dev->position);
    force = vec3_add_scaled(force, -bead_damping, dev->velocity);
    dev->velocity = vec3_add_scaled(dev->velocity, dt / bead_mass, force);
    dev->position = vec3_add_scaled(dev->position, dt, dev->velocity);
}

HR_RT static hr_status bead_read(device *dev, int64_t now_ns, device_sample *out)
{
    if (!dev->is_started)
        dev->time_ns = now_ns;
    dev->is_started = true;
    if (now_ns > dev->deadline_ns)
        dev->force = (vec3){0, 0, 0};
    double left = (double)(now_ns - dev->time_ns) * 1e-9;
    for (int n = 0; n < 100 && left > 0; n++) { /* longer pauses are cut */
        move(dev, left < step_max ? left : step_max);
        left -= step_max;
    }
    dev->time_ns = now_ns;
    dev->sequence++;
    memset(out, 0, sizeof *out);
    out->time_ns = now_ns;
    out->sequence = dev->sequence;
    out->valid = DEVICE_HAS_POSITION | DEVICE_HAS_VELOCITY;
    out->flags = DEVICE_IS_HOMED | (dev->is_enabled ? DEVICE_IS_ENABLED : 0) |
                 (dev->is_saturated ? DEVICE_IS_SATURATED : 0);
    out->position = dev->position;
    out->velocity = dev->velocity;
    out->rotation = quat_identity();
    return HR_OK;
}

HR_RT static hr_status bead_write(device *dev, int64_t now_ns, const device_command *command)
{
    dev->force = (vec3){0, 0, 0};
    dev->is_saturated = false;
    if (!vec3_is_finite(command->force))
        return HR_ERR_NOT_FINITE;
    if (!dev->is_enabled)
        return vec3_length(command->force) > 0 ? HR_ERR_DISABLED : HR_OK;
    dev->is_saturated = vec3_length(command->force) > force_max;
    dev->force = vec3_clamp_length(command->force, force_max);
    dev->deadline_ns = command->deadline_ns ? command->deadline_ns : now_ns + 100000000;
    return HR_OK;
}

static const char *bead_last_error(const device *dev)
{
    return dev->error;
}

static const device_driver driver = {
    .size = sizeof(device_driver),
    .version = DEVICE_ABI_VERSION,
    .name = "example",
    .help = "a bead on springs; the address is 0 or 1",
    .count = bead_count,
    .open = bead_open,
    .close = bead_close,
    .describe = bead_describe,
    .calibrate = bead_calibrate,
    .calibration_progress = bead_progress,
    .enable = bead_enable,
    .read = bead_read,
    .write = bead_write,
    .last_error = bead_last_error,
};

const device_driver *hapticd_device_driver(void);

const device_driver *hapticd_device_driver(void)
{
    return &driver;
}
