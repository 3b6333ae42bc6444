/* Where the control socket is, and how to reach it; both sides use it. */
#ifndef SERVER_CONTROL_CONNECT_H
#define SERVER_CONTROL_CONNECT_H

#include <stddef.h>

#include "geometry/error.h"

/* The path in use: `configured`, or where it is NULL or empty $XDG_RUNTIME_DIR/hapticd.sock or
 * (where that folder cannot be used) /tmp/hapticd-UID.sock. HR_ERR_CAPACITY where it is too long
 * for a socket. */
HR_MUST_USE hr_status control_path(const char *configured, char *out, size_t size, hr_error *error);

/* Connects; the descriptor, or -1 with a message. */
int control_connect(const char *path, hr_error *error);

#endif
