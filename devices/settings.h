/* Reading a driver's "key = value" settings, with located errors. Not for the servo thread. */
#ifndef DEVICES_SETTINGS_H
#define DEVICES_SETTINGS_H

#include <stdint.h>

#include "devices/device.h"

/* HR_ERR_ARGUMENT where a key is not among `known` (ended by NULL) or occurs twice. */
HR_MUST_USE hr_status settings_check(const device_settings *settings, const char *driver,
                                     const char *const *known, hr_error *error);

/* Value of a key, or NULL. settings may be NULL: then there are none. */
const device_setting *settings_find(const device_settings *settings, const char *key);

/* The whole value as a number from low to high; *out stays as it is where the key is absent. */
HR_MUST_USE hr_status settings_number(const device_settings *settings, const char *key, double low,
                                      double high, double *out, hr_error *error);
HR_MUST_USE hr_status settings_integer(const device_settings *settings, const char *key,
                                       int64_t low, int64_t high, int64_t *out, hr_error *error);

/* true, yes, on, 1 or false, no, off, 0. */
HR_MUST_USE hr_status settings_bool(const device_settings *settings, const char *key, bool *out,
                                    hr_error *error);

#endif
