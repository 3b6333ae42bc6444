#include "server/control_client.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/command.h"
#include "server/control_connect.h"

enum { ANSWER_MS = 3000 };

hr_status control_client_open(control_client *c, const char *socket_path, hr_error *error)
{
    char path[512];
    c->fd = -1;
    c->used = c->start = 0;
    hr_status status = control_path(socket_path, path, sizeof path, error);
    if (status != HR_OK)
        return status;
    c->fd = control_connect(path, error);
    return c->fd >= 0 ? HR_OK : HR_ERR_IO;
}

void control_client_close(control_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

hr_status control_client_send(control_client *c, json_t *request, hr_error *error)
{
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!text)
        return error_set(error, HR_ERR_FORMAT, "expected text in UTF-8");
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the end */
    ssize_t sent = send(c->fd, text, length + 1, MSG_NOSIGNAL);
    free(text);
    if (sent == (ssize_t)length + 1)
        return HR_OK;
    return error_set(error, HR_ERR_LOST, "hapticd went away: %s", strerror(errno));
}

static json_t *take_line(control_client *c, hr_error *error)
{
    char *from = c->bytes + c->start;
    char *end = memchr(from, '\n', c->used - c->start);
    if (!end)
        return NULL;
    json_error_t where;
    json_t *object = json_loadb(from, (size_t)(end - from), 0, &where);
    c->start = (size_t)(end + 1 - c->bytes);
    if (!object)
        error_set(error, HR_ERR_PROTOCOL, "expected JSON from hapticd, got: %s", where.text);
    return object;
}

/* False where nothing more comes. */
static bool receive_some(control_client *c, int timeout_ms, hr_error *error)
{
    memmove(c->bytes, c->bytes + c->start, c->used - c->start);
    c->used -= c->start;
    c->start = 0;
    struct pollfd watched = {.fd = c->fd, .events = POLLIN};
    int ready = poll(&watched, 1, timeout_ms);
    if (ready < 0 && errno == EINTR)
        return true;
    if (ready <= 0) {
        error_set(error, HR_ERR_DEADLINE, "hapticd does not answer");
        return false;
    }
    ssize_t n = recv(c->fd, c->bytes + c->used, sizeof c->bytes - c->used, 0);
    if (n <= 0) {
        error_set(error, HR_ERR_LOST, "hapticd has ended");
        return false;
    }
    c->used += (size_t)n;
    return true;
}

json_t *control_client_receive(control_client *c, int timeout_ms, hr_error *error)
{
    error->text[0] = '\0';
    for (;;) {
        json_t *object = take_line(c, error);
        if (object || error->text[0])
            return object;
        if (!receive_some(c, timeout_ms, error))
            return NULL;
    }
}

/* --- the command line ---------------------------------------------------------------------------
 */

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'H'},       {"socket", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},       {"hand", required_argument, NULL, 'h'},
    {"rate", required_argument, NULL, 'r'}, {"count", required_argument, NULL, 'c'},
    {"list", no_argument, NULL, 'l'},       {NULL, 0, NULL, 0}};

static bool take_number(const char *text, double low, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= low && *out <= high;
}

/* False where the value is no good. */
static bool take_option(int option, control_arguments *out)
{
    double number;
    switch (option) {
    case 's':
        out->socket = optarg;
        return true;
    case 'j':
        out->is_json = true;
        return true;
    case 'l':
        out->is_list = true;
        return true;
    case 'h':
        if (!take_number(optarg, 0, 3, &number) || number != (int)number)
            return false;
        out->hand = (int)number;
        return true;
    case 'r':
        return take_number(optarg, 0.1, 100, &out->rate_hz);
    default:
        if (!take_number(optarg, 1, 1e9, &number))
            return false;
        out->count = (long)number;
        return true;
    }
}

bool control_arguments_read(int argc, char **argv, const char *allowed, const char *help,
                            control_arguments *out, int *code)
{
    *out = (control_arguments){.hand = -1};
    optind = 1;
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == 'H') {
            fputs(help, stdout);
            *code = COMMAND_OK;
            return false;
        }
        if (option == '?' || (option != 's' && !strchr(allowed, option))) {
            *code = command_usage_error(argv[0], "expected one of its options, got \"%s\"",
                                        argv[optind - 1]);
            return false;
        }
        if (!take_option(option, out)) {
            *code =
                command_usage_error(argv[0], "\"%s\" is outside what this option takes", optarg);
            return false;
        }
    }
    out->argc = argc - optind;
    out->argv = argv + optind;
    return true;
}

int control_ask(const char *name, const control_arguments *a, json_t *request)
{
    static control_client c;
    hr_error error = {""};
    if (a->hand >= 0)
        json_object_set_new(request, "hand", json_integer(a->hand));
    if (control_client_open(&c, a->socket, &error) != HR_OK) {
        json_decref(request);
        fprintf(stderr, "haptic %s: %s\n", name, error.text);
        return COMMAND_FAILED;
    }
    json_t *answer = NULL;
    if (control_client_send(&c, request, &error) == HR_OK)
        answer = control_client_receive(&c, ANSWER_MS, &error);
    control_client_close(&c);
    if (!answer) {
        fprintf(stderr, "haptic %s: %s\n", name, error.text);
        return COMMAND_FAILED;
    }
    int code = COMMAND_OK;
    if (!json_is_true(json_object_get(answer, "ok"))) {
        const char *message = json_string_value(json_object_get(answer, "error"));
        fprintf(stderr, "haptic %s: %s\n", name, message ? message : "refused");
        code = COMMAND_BAD_INPUT;
    } else if (a->is_json) {
        json_dumpf(answer, stdout, JSON_COMPACT);
        printf("\n");
    } else {
        printf("%s: applied at tick %lld\n", name,
               (long long)json_integer_value(json_object_get(answer, "tick")));
    }
    json_decref(answer);
    return code;
}
