/* The server's side of the board (server/client/board.h). */
#ifndef SERVER_BOARD_H
#define SERVER_BOARD_H

#include "devices/device.h"
#include "server/client/board.h"
#include "server/records.h"

typedef struct board_host {
    board *shared;
    char path[600];
    uint64_t seen[BOARD_HANDS]; /* sequence of the last command taken */
} board_host;

/* Makes the file at `socket_path` plus ".board" and maps it. */
HR_MUST_USE hr_status board_open(board_host *b, const char *socket_path, int64_t period_ns,
                                 hr_error *error);
void board_add_device(board_host *b, int hand, const char *name, const device_description *about);
void board_close(board_host *b); /* removes the file; accepts one of zeros */

/* Servo thread. All do nothing where the board is not open. */
HR_RT void board_publish(board_host *b, const tick_record *record);

/* A lease was given or taken back. */
HR_RT void board_lease(board_host *b, int hand, const servo_command *command);

/* The client's newest command for a hand, once; false where there is none. The deadline is cut to
 * hold_ns after now_ns. */
HR_RT bool board_take(board_host *b, int hand, int64_t now_ns, int64_t hold_ns, servo_command *out);

#endif
