#include "tests/support/fake_device.h"

#include <string.h>

static int count(void)
{
    return 0;
}

static hr_status open_fake(const char *address, const device_settings *settings, device **out,
                           hr_error *error)
{
    (void)address;
    (void)settings;
    (void)out;
    return error_set(error, HR_ERR_NOT_FOUND, "a fake device is made by the test");
}

static void close_fake(device *dev)
{
    if (dev)
        dev->closes++;
}

static void describe(const device *dev, device_description *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->model, "Fake", 5);
    out->max_force = 10;
    out->peak_force = 10;
    out->max_stiffness = 3000;
    out->max_damping = 20;
    out->workspace_radius = 1;
    out->native_rate_hz = 1000;
    out->senses_position = out->actuates_position = true;
    out->has_motors = dev->has_motors;
}

static hr_status calibrate(device *dev, bool force)
{
    (void)force;
    dev->calibrations++;
    return HR_OK;
}

static double progress(const device *dev)
{
    (void)dev;
    return 1.0;
}

static hr_status enable(device *dev, bool on)
{
    dev->is_enabled = on;
    return HR_OK;
}

HR_RT static hr_status read_fake(device *dev, int64_t now_ns, device_sample *out)
{
    dev->reads++;
    dev->last_read_ns = now_ns;
    if (dev->read_fails_with != HR_OK)
        return dev->read_fails_with;
    memset(out, 0, sizeof *out);
    out->time_ns = now_ns;
    out->sequence = ++dev->sequence;
    out->valid = DEVICE_HAS_POSITION | DEVICE_HAS_VELOCITY;
    out->flags = DEVICE_IS_HOMED | (dev->is_enabled ? DEVICE_IS_ENABLED : 0u);
    out->position = dev->position;
    out->position.x += (double)(dev->sequence % 7) * 1e-6; /* a real hand is never quite still */
    out->rotation = quat_identity();
    return HR_OK;
}

HR_RT static hr_status write_fake(device *dev, int64_t now_ns, const device_command *command)
{
    dev->writes++;
    dev->last_write_ns = now_ns;
    dev->last = *command;
    double length = vec3_length(command->force);
    dev->zero_writes = length > 0 ? 0 : dev->zero_writes + 1;
    if (length > dev->largest)
        dev->largest = length;
    return dev->write_fails_with;
}

static const char *last_error(const device *dev)
{
    (void)dev;
    return "as the test wanted";
}

const device_driver fake_driver = {.size = sizeof(device_driver),
                                   .version = DEVICE_ABI_VERSION,
                                   .name = "fake",
                                   .help = "for tests",
                                   .count = count,
                                   .open = open_fake,
                                   .close = close_fake,
                                   .describe = describe,
                                   .calibrate = calibrate,
                                   .calibration_progress = progress,
                                   .enable = enable,
                                   .read = read_fake,
                                   .write = write_fake,
                                   .last_error = last_error};
