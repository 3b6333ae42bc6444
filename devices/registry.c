#include "devices/registry.h"

#include <dlfcn.h>
#include <string.h>

#include "devices/falcon.h"
#include "devices/replay.h"
#include "devices/sim.h"

const device_driver *const device_drivers[] = {&device_sim, &device_falcon, &device_replay, NULL};

hr_status registry_check(const device_driver *driver, const char *place, hr_error *error)
{
    if (!driver)
        return error_set(error, HR_ERR_PROTOCOL, "%s: expected a driver's table, found none",
                         place);
    if (driver->version != DEVICE_ABI_VERSION)
        return error_set(error, HR_ERR_PROTOCOL,
                         "%s: expected a driver built for version %d of device.h, found version %u",
                         place, DEVICE_ABI_VERSION, driver->version);
    if (driver->size != sizeof(device_driver))
        return error_set(error, HR_ERR_PROTOCOL,
                         "%s: expected a driver's table of %zu bytes, found %u", place,
                         sizeof(device_driver), driver->size);
    if (!driver->name || !driver->help || !driver->count || !driver->open || !driver->close ||
        !driver->describe || !driver->calibrate || !driver->calibration_progress ||
        !driver->enable || !driver->read || !driver->write || !driver->last_error)
        return error_set(error, HR_ERR_PROTOCOL,
                         "%s: expected every function of a driver, found one missing", place);
    return HR_OK;
}

static hr_status load(const char *path, const device_driver **out, hr_error *error)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *reason = dlerror();
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a plug-in, found: %s", path,
                         reason ? reason : "nothing that can be loaded");
    }
    const device_driver *(*get)(void) = NULL;
    void *symbol = dlsym(object, DEVICE_PLUGIN_SYMBOL);
    memcpy(&get, &symbol, sizeof get); /* POSIX lets the two kinds of pointer be the same */
    const device_driver *driver = get ? get() : NULL;
    hr_status status = HR_OK;
    if (!get)
        status =
            error_set(error, HR_ERR_PROTOCOL, "%s: expected a plug-in that exports %s, found none",
                      path, DEVICE_PLUGIN_SYMBOL);
    else
        status = registry_check(driver, path, error);
    if (status == HR_OK)
        *out = driver;
    else
        dlclose(object);
    return status;
}

hr_status registry_find(const char *name, const device_driver **out, hr_error *error)
{
    for (int i = 0; device_drivers[i]; i++)
        if (strcmp(device_drivers[i]->name, name) == 0) {
            *out = device_drivers[i];
            return HR_OK;
        }
    if (strchr(name, '/'))
        return load(name, out, error);
    char known[128] = "";
    for (int i = 0; device_drivers[i]; i++) {
        if (i > 0)
            strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, device_drivers[i]->name, sizeof known - strlen(known) - 1);
    }
    return error_set(error, HR_ERR_NOT_FOUND,
                     "device driver: expected %s or a plug-in's path with a '/', found \"%s\"",
                     known, name);
}

hr_status registry_split(const char *text, char *driver, int driver_size, char *address,
                         int address_size, hr_error *error)
{
    const char *colon = strchr(text, ':');
    size_t name = colon ? (size_t)(colon - text) : strlen(text);
    size_t rest = colon ? strlen(colon + 1) : 0;
    if (name == 0)
        return error_set(error, HR_ERR_ARGUMENT,
                         "device: expected DRIVER or DRIVER:ADDRESS, found \"%s\"", text);
    if (name >= (size_t)driver_size || rest >= (size_t)address_size)
        return error_set(error, HR_ERR_CAPACITY,
                         "device: expected at most %d and %d characters, found \"%.80s...\"",
                         driver_size - 1, address_size - 1, text);
    memcpy(driver, text, name);
    driver[name] = '\0';
    memcpy(address, colon ? colon + 1 : "", rest);
    address[rest] = '\0';
    return HR_OK;
}
