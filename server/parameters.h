/* The settings that can change while the server runs: `haptic set KEY VALUE`. */
#ifndef SERVER_PARAMETERS_H
#define SERVER_PARAMETERS_H

#include <stdbool.h>

#include "server/records.h"

typedef struct parameter {
    servo_parameter key;
    const char *name; /* as in the configuration file, e.g. "coupling.stiffness_n_per_m" */
    double low, high; /* inclusive */
    bool is_public;   /* may be set by a client; otherwise by the server's own threads only */
    const char *help; /* one line */
} parameter;

/* All of them, in the order of their keys. */
const parameter *parameter_list(int *count);

/* By name or by key; NULL for one that does not exist. */
const parameter *parameter_find(const char *name);
const parameter *parameter_for(servo_parameter key);

#endif
