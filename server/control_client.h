/* The client's side of the control socket, for the `haptic` commands. Blocking; one conversation
 * per process. */
#ifndef SERVER_CONTROL_CLIENT_H
#define SERVER_CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "geometry/error.h"

typedef struct control_client {
    int fd; /* -1: not connected */
    size_t used, start;
    char bytes[65536]; /* received, not yet taken */
} control_client;

/* socket_path NULL or empty: the default place. */
HR_MUST_USE hr_status control_client_open(control_client *c, const char *socket_path,
                                          hr_error *error);
void control_client_close(control_client *c);

/* Sends an object as one line and lets go of it. */
HR_MUST_USE hr_status control_client_send(control_client *c, json_t *request, hr_error *error);

/* The next line as an object that belongs to the caller; NULL with a message when the server is
 * gone, silent for timeout_ms, or sends something else. */
json_t *control_client_receive(control_client *c, int timeout_ms, hr_error *error);

/* The options that every command of this kind has. */
typedef struct control_arguments {
    const char *socket;
    bool is_json;
    int hand;       /* -1: all */
    double rate_hz; /* --rate, 0: not given */
    long count;     /* --count, 0: not given */
    bool is_list;   /* --list */
    int argc;       /* what is left */
    char **argv;
} control_arguments;

/* Reads options; `allowed` lists the letters of those that apply: j(son) h(and) r(ate) c(ount)
 * l(ist). Prints help or a usage error and returns false with *code set where the command is over.
 */
bool control_arguments_read(int argc, char **argv, const char *allowed, const char *help,
                            control_arguments *out, int *code);

/* Asks and prints: connects, sends, waits for the answer; prints "NAME: applied at tick N" or the
 * answer itself with --json. Takes the request over. Returns the exit code. */
int control_ask(const char *name, const control_arguments *a, json_t *request);

#endif
