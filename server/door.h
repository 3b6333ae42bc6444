/* A door: one way into the running server for people and programs outside (control socket, console,
 * watchdog, signals). Each door belongs to one thread of normal priority and has rings of its own,
 * so that every ring keeps one producer and one consumer. */
#ifndef SERVER_DOOR_H
#define SERVER_DOOR_H

#include "server/records.h"
#include "server/ring.h"

/* The state of the servo after a tick; sent a hundred times a second. */
typedef struct servo_report {
    uint64_t tick;
    int64_t time_ns;
    uint64_t missed_periods; /* since the start */
    uint32_t hand_count;
    uint32_t reserved;
    tick_record hands[HANDS_MAX];
} servo_report;

typedef struct door {
    ring commands; /* servo_command, door to servo */
    ring applied;  /* servo_command, servo to door: what was applied, with its tick, in order */
    ring reports;  /* servo_report, servo to door */
} door;

enum { DOORS_MAX = 6 };

/* Allocates. `wants_reports` is false for a door that only gives commands. */
HR_MUST_USE hr_status door_init(door *d, bool wants_reports);
void door_destroy(door *d); /* accepts a door of zeros */

/* Door's thread: puts a command on its way; false where the servo does not take them. */
static inline bool door_send(door *d, const servo_command *command)
{
    return ring_push(&d->commands, command);
}

#endif
