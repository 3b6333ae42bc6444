/* The sub-commands of `haptic`: one function per command, one file per function (server/cmd_*.c).
 */
#ifndef SERVER_COMMAND_H
#define SERVER_COMMAND_H

#include <stdbool.h>

#include "geometry/error.h"

/* Exit codes of every command. */
enum { COMMAND_OK = 0, COMMAND_FAILED = 1, COMMAND_BAD_INPUT = 2 };

/* argv[0] is the name of the sub-command, as getopt expects. */
typedef int (*command_function)(int argc, char **argv);

typedef struct command {
    const char *name;
    command_function run;
    const char *summary; /* one line for `haptic --help` */
} command;

int cmd_devices(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_ccd(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_dynamics(int argc, char **argv);
int cmd_make_model(int argc, char **argv);
int cmd_scenes(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_estop(int argc, char **argv);
int cmd_arm(int argc, char **argv);
int cmd_disarm(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_trial(int argc, char **argv);
int cmd_qp(int argc, char **argv);
int cmd_closest(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_import(int argc, char **argv);

/* All commands in the order of the help text, ended by a NULL name. */
extern const command command_table[];

/* Prints "haptic NAME: message" and a pointer to --help on stderr; returns COMMAND_BAD_INPUT. */
int command_usage_error(const char *name, const char *format, ...) HR_PRINTF(2, 3);

/* Prints the error's text alone on stderr; returns COMMAND_BAD_INPUT. */
int command_input_error(const hr_error *error);

#endif
