/* Drivers by name, and plug-ins by path. Not for the servo thread. */
#ifndef DEVICES_REGISTRY_H
#define DEVICES_REGISTRY_H

#include "devices/device.h"

/* The built-in drivers, ended by NULL. */
extern const device_driver *const device_drivers[];

/* `name` is a built-in driver's name or, where it contains a '/', the path of a plug-in: a shared
 * object that exports DEVICE_PLUGIN_SYMBOL. A plug-in stays loaded for the life of the process. The
 * driver's table is checked: size, version, no function missing. */
HR_MUST_USE hr_status registry_find(const char *name, const device_driver **out, hr_error *error);

/* Checks a table; the message starts with `place`. */
HR_MUST_USE hr_status registry_check(const device_driver *driver, const char *place,
                                     hr_error *error);

/* Splits "DRIVER" or "DRIVER:ADDRESS" as the command line has it. A plug-in's path may not contain
 * a ':'. HR_ERR_CAPACITY where a part does not fit. */
HR_MUST_USE hr_status registry_split(const char *text, char *driver, int driver_size, char *address,
                                     int address_size, hr_error *error);

#endif
