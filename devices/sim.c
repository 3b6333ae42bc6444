#include "devices/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/text_file.h"

struct device {
    sim_falcon falcon; /* first: what the shared entries of the table see */
    sim_hand hand;
};

static int count_devices(void)
{
    return 1;
}

static hr_status read_script(const device_settings *settings, sim_script *out, hr_error *error)
{
    const device_setting *text = settings_find(settings, "script");
    const device_setting *file = settings_find(settings, "script_file");
    if (text && file)
        return error_set(error, HR_ERR_ARGUMENT, "%s: expected script or script_file, found both",
                         file->place ? file->place : "device settings");
    if (file) {
        char *read = NULL;
        size_t size = 0;
        hr_status status = text_file_read(file->value, &read, &size, error);
        if (status == HR_OK)
            status = sim_script_parse(read, size, file->value, out, error);
        free(read);
        return status;
    }
    const char *script = text ? text->value : sim_default_script;
    const char *name = text && text->place ? text->place : "device settings";
    return sim_script_parse(script, strlen(script), name, out, error);
}

static hr_status open_sim(const char *address, const device_settings *settings, device **out,
                          hr_error *error)
{
    static const char *const known[] = {SIM_FALCON_SETTINGS, "script", "script_file", "imposed",
                                        NULL};
    sim_falcon_settings wanted;
    sim_grip grip = sim_grip_default();
    hr_status status;
    if ((status = settings_check(settings, "sim", known, error)) ||
        (status = sim_falcon_settings_read(settings, &wanted, error)) ||
        (status = settings_bool(settings, "imposed", &wanted.is_imposed, error)) ||
        (status = sim_grip_settings(settings, &grip, error)))
        return status;
    device *dev = calloc(1, sizeof *dev);
    sim_script *script = calloc(1, sizeof *script);
    if (!dev || !script) {
        free(script);
        free(dev);
        return error_set(error, HR_ERR_MEMORY, "sim: out of memory");
    }
    status = read_script(settings, script, error);
    if (status == HR_OK) {
        wanted.senses_rotation = script->turns;
        sim_falcon_init(&dev->falcon, &wanted, &grip);
        sim_hand_init(&dev->hand, grip, script, wanted.seed);
        snprintf(dev->falcon.serial, sizeof dev->falcon.serial, "SIM-%.20s",
                 address && *address ? address : "0");
        *out = dev;
        dev = NULL;
    }
    free(script);
    free(dev);
    return status;
}

static void close_sim(device *dev)
{
    free(dev);
}

HR_RT static hr_status read_sim(device *dev, int64_t now_ns, device_sample *out)
{
    sim_intent intent;
    sim_hand_intent(&dev->hand, sim_falcon_time(&dev->falcon, now_ns), &intent);
    return sim_falcon_read(&dev->falcon, now_ns, &intent, 0, out);
}

const device_driver device_sim = {
    .size = sizeof(device_driver),
    .version = DEVICE_ABI_VERSION,
    .name = "sim",
    .help = "simulated Falcon held by a simulated hand; the address is any name",
    .count = count_devices,
    .open = open_sim,
    .close = close_sim,
    .describe = sim_falcon_describe,
    .calibrate = sim_falcon_calibrate,
    .calibration_progress = sim_falcon_progress,
    .enable = sim_falcon_enable,
    .read = read_sim,
    .write = sim_falcon_write,
    .last_error = sim_falcon_last_error,
};

void sim_truth_of(const device *dev, sim_truth *out)
{
    sim_falcon_truth(&dev->falcon, out);
}

double sim_energy(const device *dev)
{
    return dev->falcon.energy;
}
