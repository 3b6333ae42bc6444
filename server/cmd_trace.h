/* What the commands on recordings share: replay, info, check, recover, export, plot. */
#ifndef SERVER_CMD_TRACE_H
#define SERVER_CMD_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "server/command.h"

typedef struct cmd_trace_options {
    const char *file;         /* the one argument that is no option */
    const char *output;       /* -o, --output */
    const char *format;       /* --to */
    const char *scene;        /* --scene */
    const char *from, *until; /* --from, --until */
    bool wants_json, wants_verify;
} cmd_trace_options;

/* Reads the command line. `allowed` names the long options that the command has, separated by
 * blanks. Returns COMMAND_OK to go on; otherwise what the caller must return is in *code (help was
 * printed, or an error). */
bool cmd_trace_read(int argc, char **argv, const char *usage, const char *allowed,
                    cmd_trace_options *out, int *code);

/* Where to print: the output file or, without one, standard output. NULL and a message when it
 * cannot be written. */
FILE *cmd_trace_output(const cmd_trace_options *o, hr_error *error);

#endif
