/* The command line of `hapticd`, and all that is read before anything is opened. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "server/server.h"

typedef enum options_action {
    OPTIONS_RUN,
    OPTIONS_CHECK,
    OPTIONS_PRINT_CONFIG,
    OPTIONS_LIST_DEVICES,
    OPTIONS_VERSION,
    OPTIONS_HELP
} options_action;

/* Reads the command line, the configuration and the scene. On failure the message is complete and
 * the exit code is 2. */
HR_MUST_USE hr_status options_read(int argc, char **argv, options_action *action,
                                   server_options *out, hr_error *error);

/* The text of --help. */
extern const char options_help[];

#endif
