#include "devices/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const device_setting *settings_find(const device_settings *settings, const char *key)
{
    for (int i = 0; settings && i < settings->count; i++)
        if (strcmp(settings->items[i].key, key) == 0)
            return &settings->items[i];
    return NULL;
}

static const char *place_of(const device_setting *s)
{
    return s->place && s->place[0] ? s->place : "device settings";
}

static bool is_known(const char *key, const char *const *known)
{
    for (; *known; known++)
        if (strcmp(key, *known) == 0)
            return true;
    return false;
}

hr_status settings_check(const device_settings *settings, const char *driver,
                         const char *const *known, hr_error *error)
{
    for (int i = 0; settings && i < settings->count; i++) {
        const device_setting *s = &settings->items[i];
        if (!is_known(s->key, known))
            return error_set(error, HR_ERR_ARGUMENT,
                             "%s: expected a setting of driver %s, found \"%s\"", place_of(s),
                             driver, s->key);
        if (settings_find(settings, s->key) != s)
            return error_set(error, HR_ERR_ARGUMENT,
                             "%s: expected each setting once, found \"%s\" again", place_of(s),
                             s->key);
    }
    return HR_OK;
}

hr_status settings_number(const device_settings *settings, const char *key, double low, double high,
                          double *out, hr_error *error)
{
    const device_setting *s = settings_find(settings, key);
    if (!s)
        return HR_OK;
    char *end = NULL;
    double value = strtod(s->value, &end);
    if (end == s->value || *end || !(value >= low && value <= high))
        return error_set(error, HR_ERR_ARGUMENT,
                         "%s: %s: expected a number from %g to %g, found \"%s\"", place_of(s), key,
                         low, high, s->value);
    *out = value;
    return HR_OK;
}

hr_status settings_integer(const device_settings *settings, const char *key, int64_t low,
                           int64_t high, int64_t *out, hr_error *error)
{
    const device_setting *s = settings_find(settings, key);
    if (!s)
        return HR_OK;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(s->value, &end, 10);
    if (end == s->value || *end || errno || value < low || value > high)
        return error_set(error, HR_ERR_ARGUMENT,
                         "%s: %s: expected a whole number from %lld to %lld, found \"%s\"",
                         place_of(s), key, (long long)low, (long long)high, s->value);
    *out = value;
    return HR_OK;
}

hr_status settings_bool(const device_settings *settings, const char *key, bool *out,
                        hr_error *error)
{
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};
    const device_setting *s = settings_find(settings, key);
    if (!s)
        return HR_OK;
    for (int value = 0; value < 2; value++)
        for (int i = 0; i < 4; i++)
            if (strcmp(s->value, words[value][i]) == 0) {
                *out = value == 1;
                return HR_OK;
            }
    return error_set(error, HR_ERR_ARGUMENT, "%s: %s: expected true or false, found \"%s\"",
                     place_of(s), key, s->value);
}
