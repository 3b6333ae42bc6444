/* The control socket: a Unix socket that only its owner may use, JSON lines as in
 * server/protocol.h. A thread of normal priority. */
#ifndef SERVER_CONTROL_H
#define SERVER_CONTROL_H

#include "config/config.h"
#include "server/clock.h"
#include "server/control_connect.h"
#include "server/session.h"

typedef struct control control;

/* Binds and listens; a socket file that nobody answers at is replaced, one that somebody does is
 * HR_ERR_BUSY. The hub's door, desk, status and so on are filled in; the hub is copied. */
HR_MUST_USE hr_status control_open(const char *path, const session_hub *hub, servo_clock clock,
                                   control **out, hr_error *error);

/* Starts the thread. */
HR_MUST_USE hr_status control_start(control *c, hr_error *error);

/* One round: at most wait_ms for something to happen, then lines in, answers out. The thread does
 * only this; tests call it directly. */
void control_round(control *c, int wait_ms);

/* Ends the thread, closes every client and removes the socket file. Accepts NULL. */
void control_close(control *c);

#endif
