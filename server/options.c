#include "server/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devices/registry.h"

const char options_help[] =
    "usage: hapticd [-c FILE] [--scene FILE] [--device NAME[:ADDRESS]]... [--record FILE]\n"
    "               [--for SECONDS] [--lockstep] [--disarmed] [--check] [--print-config]\n"
    "               [--list-devices]\n"
    "\n"
    "The haptic server. With no arguments: the shipped default, a simulated Falcon held by a\n"
    "simulated hand.\n"
    "\n"
    "  -c, --config FILE         settings; --print-config shows every one of them\n"
    "      --scene NAME|FILE     what can be touched, instead of the configured scene\n"
    "      --device NAME[:ADDRESS]\n"
    "                            driver (sim, falcon, replay, the path of a plug-in) and what it\n"
    "                            is to open, instead of the configured devices; give it twice\n"
    "                            for two hands\n"
    "      --record FILE         record every tick (MCAP)\n"
    "      --for SECONDS         stop after this time\n"
    "      --lockstep            virtual time, one thread, as fast as the machine allows, always\n"
    "                            the same result\n"
    "      --disarmed            forces stay off until 'haptic arm'; for services that restart\n"
    "      --check               read everything, say whether it is valid, touch no device\n"
    "      --print-config        print the settings in force\n"
    "      --list-devices        print the drivers and how many devices each one sees\n"
    "      --version, --help\n"
    "\n"
    "Ctrl-C and SIGTERM stop it safely; SIGUSR1 is an emergency stop. 'haptic status' and its\n"
    "companions talk to it while it runs.\n"
    "Exit code: 0 success, 1 failed run, 2 bad input or usage.\n";

enum { DAY_S = 86400 };

/* What the command line says, before it is put over the configuration. */
typedef struct arguments {
    const char *config, *scene, *record;
    const char *devices[CONFIG_DEVICES_MAX];
    int device_count;
} arguments;

static hr_status read_seconds(const char *text, double *out, hr_error *error)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= 365.0 * DAY_S))
        return error_set(error, HR_ERR_ARGUMENT,
                         "hapticd: --for: expected seconds above 0, got \"%s\"", text);
    *out = value;
    return HR_OK;
}

enum {
    FOR = 256,
    SCENE,
    DEVICE,
    RECORD,
    LOCKSTEP,
    DISARMED,
    CHECK,
    PRINT_CONFIG,
    LIST_DEVICES,
    VERSION
};

static const struct option long_options[] = {{"config", required_argument, NULL, 'c'},
                                             {"scene", required_argument, NULL, SCENE},
                                             {"device", required_argument, NULL, DEVICE},
                                             {"record", required_argument, NULL, RECORD},
                                             {"for", required_argument, NULL, FOR},
                                             {"lockstep", no_argument, NULL, LOCKSTEP},
                                             {"disarmed", no_argument, NULL, DISARMED},
                                             {"check", no_argument, NULL, CHECK},
                                             {"print-config", no_argument, NULL, PRINT_CONFIG},
                                             {"list-devices", no_argument, NULL, LIST_DEVICES},
                                             {"version", no_argument, NULL, VERSION},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static hr_status take_value(int option, const char *value, arguments *a, server_options *out,
                            hr_error *error)
{
    switch (option) {
    case 'c':
        a->config = value;
        return HR_OK;
    case SCENE:
        a->scene = value;
        return HR_OK;
    case RECORD:
        a->record = value;
        return HR_OK;
    case FOR:
        return read_seconds(value, &out->run_s, error);
    default:
        if (a->device_count == CONFIG_DEVICES_MAX)
            return error_set(error, HR_ERR_ARGUMENT, "hapticd: expected at most %d devices",
                             CONFIG_DEVICES_MAX);
        a->devices[a->device_count++] = value;
        return HR_OK;
    }
}

static hr_status read_arguments(int argc, char **argv, arguments *a, options_action *action,
                                server_options *out, hr_error *error)
{
    static const options_action actions[] = {OPTIONS_CHECK, OPTIONS_PRINT_CONFIG,
                                             OPTIONS_LIST_DEVICES, OPTIONS_VERSION};
    optind = 1;
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, "c:h", long_options, NULL)) != -1) {
        hr_status status = HR_OK;
        if (option == '?')
            return error_set(error, HR_ERR_ARGUMENT,
                             "hapticd: expected an option of 'hapticd --help' and its value, got "
                             "\"%s\"",
                             argv[optind - 1]);
        if (option == 'h')
            *action = OPTIONS_HELP;
        else if (option == LOCKSTEP)
            out->is_lockstep = true;
        else if (option == DISARMED)
            out->is_disarmed = true;
        else if (option >= CHECK && option <= VERSION)
            *action = actions[option - CHECK];
        else
            status = take_value(option, optarg, a, out, error);
        if (status != HR_OK)
            return status;
    }
    if (optind < argc)
        return error_set(error, HR_ERR_ARGUMENT, "hapticd: expected options only, got \"%s\"",
                         argv[optind]);
    return HR_OK;
}

static hr_status copy_text(char *out, size_t size, const char *text, const char *option,
                           hr_error *error)
{
    if (strlen(text) >= size)
        return error_set(error, HR_ERR_ARGUMENT, "hapticd: %s: expected at most %zu bytes", option,
                         size - 1);
    memcpy(out, text, strlen(text) + 1);
    return HR_OK;
}

/* Devices of the command line take the configured ones' places; a place with the same driver keeps
 * that device's settings. */
static hr_status put_devices(const arguments *a, config *c, hr_error *error)
{
    static const char *const names[CONFIG_DEVICES_MAX] = {"right", "left", "third", "fourth"};
    for (int i = 0; i < a->device_count; i++) {
        config_device *d = &c->devices[i];
        char driver[sizeof d->driver];
        char address[sizeof d->address];
        hr_status status = registry_split(a->devices[i], driver, (int)sizeof driver, address,
                                          (int)sizeof address, error);
        if (status != HR_OK)
            return status;
        bool is_same = i < c->device_count && strcmp(d->driver, driver) == 0;
        if (!is_same)
            d->setting_count = 0;
        if (i >= c->device_count)
            snprintf(d->name, sizeof d->name, "%s", names[i]);
        memcpy(d->driver, driver, sizeof driver);
        memcpy(d->address, address, sizeof address);
    }
    if (a->device_count > 0)
        c->device_count = a->device_count;
    return HR_OK;
}

static hr_status read_settings(const arguments *a, config *c, hr_error *error)
{
    hr_status status = HR_OK;
    config_default(c);
    if (a->config)
        status = config_load(a->config, c, error);
    if (status == HR_OK && a->scene)
        status = copy_text(c->scene, sizeof c->scene, a->scene, "--scene", error);
    if (status == HR_OK && a->record)
        status = copy_text(c->trace.record, sizeof c->trace.record, a->record, "--record", error);
    return status == HR_OK ? put_devices(a, c, error) : status;
}

static hr_status read_scene(server_options *o, hr_error *error)
{
    char path[CONFIG_PATH_MAX];
    hr_status status = scene_find(o->settings.scene, path, (int)sizeof path, error);
    return status == HR_OK ? scene_load(path, &o->scene, error) : status;
}

/* What can be known of the devices without touching one. */
static hr_status check_devices(const config *c, hr_error *error)
{
    for (int i = 0; i < c->device_count; i++) {
        const config_device *d = &c->devices[i];
        const device_driver *driver;
        hr_status status = registry_find(d->driver, &driver, error);
        if (status != HR_OK)
            return status;
        if (strcmp(d->driver, "replay") == 0 && access(d->address, R_OK) != 0)
            return error_set(error, HR_ERR_NOT_FOUND,
                             "hapticd: replay: expected a readable recording, got \"%s\": %s",
                             d->address, strerror(errno));
    }
    return HR_OK;
}

/* A recording that cannot be made is found out before anything is started. */
static hr_status check_recording(const config *c, hr_error *error)
{
    const char *path = c->trace.record;
    char folder[CONFIG_PATH_MAX + 2];
    struct stat about;
    if (!path[0])
        return HR_OK;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (stat(folder, &about) != 0 || access(folder, W_OK | X_OK) != 0)
        return error_set(
            error, HR_ERR_ARGUMENT,
            "hapticd: --record: expected a file in a folder that can be written to, got "
            "\"%s\": %s",
            path, strerror(errno));
    bool is_there = stat(path, &about) == 0;
    if (is_there && (S_ISDIR(about.st_mode) || access(path, W_OK) != 0))
        return error_set(error, HR_ERR_ARGUMENT,
                         "hapticd: --record: expected a file that can be written, got \"%s\": %s",
                         path, S_ISDIR(about.st_mode) ? strerror(EISDIR) : strerror(errno));
    return HR_OK;
}

hr_status options_read(int argc, char **argv, options_action *action, server_options *out,
                       hr_error *error)
{
    arguments a = {0};
    *action = OPTIONS_RUN;
    out->run_s = 0;
    out->is_lockstep = false;
    out->is_disarmed = false;
    snprintf(out->program, sizeof out->program, "%s", argv[0]);
    hr_status status = read_arguments(argc, argv, &a, action, out, error);
    if (status != HR_OK || *action == OPTIONS_HELP || *action == OPTIONS_VERSION ||
        *action == OPTIONS_LIST_DEVICES)
        return status;
    status = read_settings(&a, &out->settings, error);
    if (status == HR_OK)
        status = check_devices(&out->settings, error);
    if (status == HR_OK && *action != OPTIONS_PRINT_CONFIG)
        status = check_recording(&out->settings, error);
    return status == HR_OK ? read_scene(out, error) : status;
}
