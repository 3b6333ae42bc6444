/* `haptic devices`: which drivers there are and what is plugged in. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "devices/falcon/usb.h"
#include "devices/registry.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic devices [--driver PATH]... [--json]\n"
    "\n"
    "Lists the drivers, built in and plug-ins, and the devices that are plugged in.\n"
    "A device's address is what stands after the colon in --device DRIVER:ADDRESS.\n"
    "\n"
    "  --driver PATH      list this plug-in as well\n"
    "  --json             an object with \"drivers\" and \"devices\"\n"
    "  --help             this text\n";

static void add_driver(json_t *drivers, const device_driver *d, const char *path)
{
    json_array_append_new(drivers,
                          json_pack("{s:s, s:s, s:i, s:s}", "name", d->name, "path",
                                    path ? path : "", "present", d->count(), "help", d->help));
}

/* Falcons in detail. */
static void add_falcons(json_t *devices)
{
    falcon_unit units[FALCON_UNITS_MAX];
    int count = falcon_usb_list(units, FALCON_UNITS_MAX, NULL);
    for (int i = 0; i < count; i++) {
        char address[48];
        const falcon_unit *u = &units[i];
        if (u->serial[0])
            snprintf(address, sizeof address, "serial:%.31s", u->serial);
        else
            snprintf(address, sizeof address, "port:%.31s", u->port);
        json_array_append_new(
            devices, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "driver", "falcon", "address",
                               address, "model", "Novint Falcon", "serial", u->serial, "port",
                               u->port, "usable", u->may_open, "problem", u->problem));
    }
}

static json_t *collect(char **paths, int path_count, hr_error *error)
{
    json_t *drivers = json_array();
    json_t *devices = json_array();
    for (int i = 0; device_drivers[i]; i++)
        add_driver(drivers, device_drivers[i], NULL);
    json_array_append_new(devices, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "driver", "sim",
                                             "address", "0", "model", "simulated Falcon", "serial",
                                             "SIM-0", "port", "", "usable", 1, "problem", ""));
    add_falcons(devices);
    for (int i = 0; i < path_count; i++) {
        const device_driver *d = NULL;
        if (registry_find(paths[i], &d, error) != HR_OK) {
            json_decref(drivers);
            json_decref(devices);
            return NULL;
        }
        add_driver(drivers, d, paths[i]);
    }
    return json_pack("{s:o, s:o}", "drivers", drivers, "devices", devices);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void print_table(const json_t *all)
{
    size_t i;
    const json_t *item;
    printf("drivers\n");
    json_array_foreach(json_object_get(all, "drivers"), i, item)
        printf("  %-10s %s\n", text_of(item, "name"), text_of(item, "help"));
    printf("devices\n");
    json_array_foreach(json_object_get(all, "devices"), i, item)
    {
        const char *problem = text_of(item, "problem");
        printf("  %s:%-20s %s%s%s%s%s\n", text_of(item, "driver"), text_of(item, "address"),
               text_of(item, "model"), text_of(item, "port")[0] ? ", port " : "",
               text_of(item, "port"), problem[0] ? ": " : "", problem);
    }
}

int cmd_devices(int argc, char **argv)
{
    static const struct option names[] = {{"driver", required_argument, NULL, 'd'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    char *paths[16];
    int path_count = 0;
    bool is_json = false;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            return COMMAND_OK;
        }
        if (letter == 'j')
            is_json = true;
        else if (letter == 'd' && path_count < HR_COUNT(paths))
            paths[path_count++] = optarg;
        else
            return command_usage_error("devices", "unknown or incomplete option");
    }
    if (optind != argc)
        return command_usage_error("devices", "expected no argument, found \"%s\"", argv[optind]);
    hr_error error = {""};
    json_t *all = collect(paths, path_count, &error);
    if (!all)
        return command_input_error(&error);
    if (is_json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    } else {
        print_table(all);
    }
    json_decref(all);
    return COMMAND_OK;
}
