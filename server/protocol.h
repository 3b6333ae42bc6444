/* The control protocol: one JSON object per line, both ways. Only text and structs; sockets and
 * threads are elsewhere, so that every door (Unix socket, WebSocket, a library) speaks the same.
 *
 *   {"op":"status"}                       {"op":"watch","rate_hz":20}      {"op":"unwatch"}
 *   {"op":"estop"}   {"op":"arm"}         {"op":"disarm"}
 *   {"op":"set","key":"coupling.stiffness_n_per_m","value":800}
 *   {"op":"mark","text":"pressed"}        {"op":"trial","text":"block 2 trial 5"}
 *   {"op":"lease","seconds":1}            {"op":"force","force_n":[0,0,1]} {"op":"release"}
 *
 * Every request may carry "id" (an integer, given back with the answer) and, where it concerns a
 * device, "hand" (index; all hands unless given). Unknown members are errors. */
#ifndef SERVER_PROTOCOL_H
#define SERVER_PROTOCOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry/error.h"
#include "server/door.h"

typedef enum protocol_op {
    PROTOCOL_STATUS,
    PROTOCOL_WATCH,
    PROTOCOL_UNWATCH,
    PROTOCOL_COMMAND, /* goes to the servo; answered with the tick at which it was applied */
    PROTOCOL_LEASE,   /* asks for the right to command forces, or renews it */
    PROTOCOL_RELEASE,
    PROTOCOL_FORCE
} protocol_op;

typedef struct protocol_request {
    protocol_op op;
    bool has_id;
    int64_t id;
    double rate_hz;        /* PROTOCOL_WATCH: 0.1 .. 100 */
    double seconds;        /* PROTOCOL_LEASE: 0.05 .. 60 */
    servo_command command; /* PROTOCOL_COMMAND, PROTOCOL_FORCE, and hand for a lease */
} protocol_request;

enum {
    PROTOCOL_RATE_MAX = 100,  /* Hz */
    PROTOCOL_LINE_MAX = 4096, /* bytes of a request without its newline */
    PROTOCOL_REPLY_MAX = 16384
};

/* Reads one line (without its newline). HR_ERR_FORMAT with a message for the client where it is not
 * a request; *out then holds at most the id. */
HR_MUST_USE hr_status protocol_parse(const char *line, size_t length, int hand_count,
                                     protocol_request *out, hr_error *error);

/* Answers, each a line with its newline; return the length, or 0 where it does not fit. */
int protocol_print_done(const protocol_request *request, uint64_t tick, char *out, size_t size);
int protocol_print_error(const protocol_request *request, const char *message, char *out,
                         size_t size);

/* {"ok":true,"NAME":content}; takes the content over. */
int protocol_print_object(const protocol_request *request, const char *name, json_t *content,
                          char *out, size_t size);

/* The state as an object of its own, and as streamed to watchers: {"state":{...}}. */
json_t *protocol_state_object(const servo_report *report);
int protocol_print_state(const servo_report *report, char *out, size_t size);

/* Words for the state and the reasons of a record: "running", "clamp, slew". */
const char *protocol_state_name(uint32_t state);
int protocol_reason_names(uint32_t reasons, char *out, size_t size);

#endif
