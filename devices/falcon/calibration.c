/* Calibration files of single Falcons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/falcon/host.h"

typedef struct entry {
    const char *key;
    int count;
    double low, high;
    size_t offset;
} entry;

static const entry entries[] = {
    {"motor_units_per_newton_metre", 3, 100, 1e6,
     offsetof(falcon_calibration, units_per_newton_metre)},
    {"angle_offset_rad", 3, -0.5, 0.5, offsetof(falcon_calibration, angle_offset)},
    {"centre_z_m", 1, 0.05, 0.2, offsetof(falcon_calibration, centre_z)},
    {"arm_depth_m", 1, 0, 0.2, offsetof(falcon_calibration, arm_depth)},
};

/* "key = v [v v]"; `line` is ended by NUL and has no comment. */
static hr_status read_line(char *line, const char *name, int number, falcon_calibration *c,
                           hr_error *error)
{
    char *equals = strchr(line, '=');
    char *rest = NULL;
    if (!equals)
        return error_set(error, HR_ERR_FORMAT, "%s:%d: expected \"key = value\", found \"%.40s\"",
                         name, number, line);
    *equals = '\0';
    const char *key = strtok_r(line, " \t", &rest);
    for (int e = 0; key && e < HR_COUNT(entries); e++) {
        if (strcmp(entries[e].key, key) != 0)
            continue;
        double *values = (double *)((char *)c + entries[e].offset);
        char *at = equals + 1;
        for (int i = 0; i < entries[e].count; i++) {
            char *end = NULL;
            values[i] = strtod(at, &end);
            if (end == at || !(values[i] >= entries[e].low && values[i] <= entries[e].high))
                return error_set(error, HR_ERR_FORMAT,
                                 "%s:%d: %s: expected %d number(s) from %g to %g, found \"%.40s\"",
                                 name, number, key, entries[e].count, entries[e].low,
                                 entries[e].high, at);
            at = end;
        }
        if (at[strspn(at, " \t\r")] != '\0')
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: %s: expected the end of the line, found \"%.40s\"", name,
                             number, key, at);
        return HR_OK;
    }
    return error_set(error, HR_ERR_FORMAT,
                     "%s:%d: expected motor_units_per_newton_metre, angle_offset_rad, centre_z_m "
                     "or arm_depth_m, found \"%.40s\"",
                     name, number, key ? key : "");
}

hr_status falcon_calibration_parse(const char *text, size_t size, const char *name,
                                   falcon_calibration *out, hr_error *error)
{
    falcon_calibration c = falcon_calibration_default();
    const char *end = text + size;
    for (int number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        char line[256] = "";
        if (stop - text >= (long)sizeof line)
            return error_set(error, HR_ERR_FORMAT, "%s:%d: expected a short line, found %ld bytes",
                             name, number, (long)(stop - text));
        memcpy(line, text, (size_t)(stop - text));
        line[strcspn(line, "#")] = '\0';
        if (line[strspn(line, " \t\r")] != '\0') {
            hr_status status = read_line(line, name, number, &c, error);
            if (status != HR_OK)
                return status;
        }
        text = stop + 1;
    }
    *out = c;
    return HR_OK;
}

int falcon_calibration_print(const falcon_calibration *c, const char *serial, char *out,
                             size_t size)
{
    return snprintf(out, size,
                    "# Falcon %s\n"
                    "motor_units_per_newton_metre = %.9g %.9g %.9g\n"
                    "angle_offset_rad = %.9g %.9g %.9g\n"
                    "centre_z_m = %.9g\n"
                    "arm_depth_m = %.9g\n",
                    serial, c->units_per_newton_metre[0], c->units_per_newton_metre[1],
                    c->units_per_newton_metre[2], c->angle_offset[0], c->angle_offset[1],
                    c->angle_offset[2], c->centre_z, c->arm_depth);
}
