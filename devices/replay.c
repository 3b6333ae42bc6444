#include "devices/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/text_file.h"

struct device {
    sim_falcon falcon; /* first: what the shared entries of the table see */
    replay_path path;
};

static replay_loader loader;

void replay_set_loader(replay_loader load)
{
    loader = load;
}

static int count_devices(void)
{
    return 0;
}

static const char *place_of(const device_setting *s)
{
    return s->place && s->place[0] ? s->place : "device settings";
}

/* "xyz" in any order, each with an optional '-'. */
static hr_status read_axes(const device_settings *settings, replay_shape *shape, hr_error *error)
{
    const device_setting *s = settings_find(settings, "axes");
    if (!s)
        return HR_OK;
    const char *at = s->value;
    unsigned used = 0;
    for (int i = 0; i < 3; i++) {
        shape->sign[i] = *at == '-' ? -1 : 1;
        at += *at == '-';
        shape->axis[i] = *at - 'x';
        if (*at < 'x' || *at > 'z')
            break;
        used |= 1u << shape->axis[i];
        at++;
    }
    if (used != 7 || *at)
        return error_set(error, HR_ERR_ARGUMENT,
                         "%s: axes: expected x, y and z in some order, each with an optional '-', "
                         "found \"%s\"",
                         place_of(s), s->value);
    return HR_OK;
}

static hr_status read_centre(const device_settings *settings, replay_shape *shape, hr_error *error)
{
    const device_setting *s = settings_find(settings, "centre");
    if (!s)
        return HR_OK;
    shape->is_centred = strcmp(s->value, "box") == 0;
    shape->origin = (vec3){0, 0, 0};
    if (shape->is_centred || strcmp(s->value, "none") == 0)
        return HR_OK;
    double *part[3] = {&shape->origin.x, &shape->origin.y, &shape->origin.z};
    const char *at = s->value;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        *part[i] = strtod(at, &end);
        if (end == at || !(fabs(*part[i]) <= 1e6))
            return error_set(error, HR_ERR_ARGUMENT,
                             "%s: centre: expected box, none or three lengths in m, found \"%s\"",
                             place_of(s), s->value);
        at = end;
    }
    if (*at)
        return error_set(error, HR_ERR_ARGUMENT,
                         "%s: centre: expected the end after three lengths, found \"%s\"",
                         place_of(s), at);
    return HR_OK;
}

static hr_status read_mode(const device_settings *settings, bool *is_imposed, hr_error *error)
{
    const device_setting *s = settings_find(settings, "mode");
    if (!s)
        return HR_OK;
    *is_imposed = strcmp(s->value, "imposed") == 0;
    if (!*is_imposed && strcmp(s->value, "pulled") != 0)
        return error_set(error, HR_ERR_ARGUMENT,
                         "%s: mode: expected pulled or imposed, found \"%s\"", place_of(s),
                         s->value);
    return HR_OK;
}

static hr_status read_shape(const device_settings *settings, replay_shape *shape, hr_error *error)
{
    hr_status status;
    const device_setting *scale = settings_find(settings, "scale");
    bool fits = scale && strcmp(scale->value, "fit") == 0;
    if (fits)
        shape->scale = 0;
    if ((status = read_axes(settings, shape, error)) ||
        (status = read_centre(settings, shape, error)) ||
        (!fits && (status = settings_number(settings, "scale", 1e-6, 1e6, &shape->scale, error))) ||
        (status = settings_number(settings, "gap_s", 0.001, 1e6, &shape->gap_s, error)) ||
        (status = settings_number(settings, "jump_speed_m_per_s", 0.01, 100, &shape->jump_speed,
                                  error)) ||
        (status = settings_number(settings, "glide_speed_m_per_s", 0.001, 10, &shape->glide_speed,
                                  error)))
        return status;
    return settings_bool(settings, "loop", &shape->is_looped, error);
}

static hr_status load_track(const char *path, replay_track *out, hr_error *error)
{
    static const char mcap_magic[] = "\x89MCAP0\r\n";
    char *text = NULL;
    size_t size = 0;
    hr_status status = text_file_read(path, &text, &size, error);
    if (status != HR_OK)
        return status;
    bool is_mcap = size >= 8 && memcmp(text, mcap_magic, 8) == 0;
    if (is_mcap && loader)
        status = loader(path, out, error);
    else if (is_mcap)
        status = error_set(error, HR_ERR_FORMAT,
                           "%s:1: expected CSV, found a recording; export it with --to csv", path);
    else
        status = replay_track_parse(text, size, path, out, error);
    free(text);
    if (status == HR_OK && out->count < 1) {
        replay_track_free(out);
        status =
            error_set(error, HR_ERR_FORMAT, "%s: expected at least one sample, found none", path);
    }
    return status;
}

static hr_status open_path(const char *address, const device_settings *settings, replay_path *out,
                           hr_error *error)
{
    replay_track track = {0};
    hr_status status = load_track(address, &track, error);
    if (status != HR_OK)
        return status;
    replay_shape shape = replay_shape_default();
    if (track.is_base_frame) {
        shape.is_centred = false;
        shape.scale = 1;
    }
    status = read_shape(settings, &shape, error);
    if (status == HR_OK)
        status = replay_path_build(&track, &shape, out);
    if (status == HR_ERR_MEMORY)
        status = error_set(error, status, "%s: out of memory", address);
    replay_track_free(&track);
    return status;
}

static hr_status open_replay(const char *address, const device_settings *settings, device **out,
                             hr_error *error)
{
    static const char *const known[] = {
        SIM_FALCON_SETTINGS,   "mode", "axes", "centre", "scale", "gap_s", "jump_speed_m_per_s",
        "glide_speed_m_per_s", "loop", NULL};
    sim_falcon_settings wanted;
    /* A firm grip that keeps up with the recording, without a tremor of its own. */
    sim_grip grip = {.mass = 0.25, .damping = 20, .stiffness = 800, .tremor = 0};
    hr_status status;
    if (!address || !*address)
        return error_set(error, HR_ERR_ARGUMENT,
                         "replay: expected the path of a recording after \"replay:\", found none");
    if ((status = settings_check(settings, "replay", known, error)) ||
        (status = sim_falcon_settings_read(settings, &wanted, error)) ||
        (status = read_mode(settings, &wanted.is_imposed, error)) ||
        (status = sim_grip_settings(settings, &grip, error)))
        return status;
    device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return error_set(error, HR_ERR_MEMORY, "replay: out of memory");
    status = open_path(address, settings, &dev->path, error);
    if (status != HR_OK) {
        free(dev);
        return status;
    }
    sim_falcon_init(&dev->falcon, &wanted, &grip);
    const char *slash = strrchr(address, '/');
    snprintf(dev->falcon.serial, sizeof dev->falcon.serial, "%.31s", slash ? slash + 1 : address);
    *out = dev;
    return HR_OK;
}

static void close_replay(device *dev)
{
    if (!dev)
        return;
    replay_path_free(&dev->path);
    free(dev);
}

HR_RT static hr_status read_replay(device *dev, int64_t now_ns, device_sample *out)
{
    replay_place place;
    replay_path_at(&dev->path, sim_falcon_time(&dev->falcon, now_ns), &place);
    vec3 inside = falcon_clamp_to_workspace(falcon_from_base(place.position, FALCON_CENTRE_Z));
    sim_intent intent = {.target = falcon_to_base(inside, FALCON_CENTRE_Z),
                         .target_velocity = place.velocity,
                         .holding = 1,
                         .buttons = place.buttons};
    uint32_t flags = place.is_broken ? DEVICE_HAS_JUMPED : 0;
    return sim_falcon_read(&dev->falcon, now_ns, &intent, flags, out);
}

const device_driver device_replay = {
    .size = sizeof(device_driver),
    .version = DEVICE_ABI_VERSION,
    .name = "replay",
    .help = "a simulated Falcon whose hand follows a recording; the address is its file",
    .count = count_devices,
    .open = open_replay,
    .close = close_replay,
    .describe = sim_falcon_describe,
    .calibrate = sim_falcon_calibrate,
    .calibration_progress = sim_falcon_progress,
    .enable = sim_falcon_enable,
    .read = read_replay,
    .write = sim_falcon_write,
    .last_error = sim_falcon_last_error,
};

void replay_truth_of(const device *dev, sim_truth *out)
{
    sim_falcon_truth(&dev->falcon, out);
}

const replay_path *replay_path_of(const device *dev)
{
    return &dev->path;
}
