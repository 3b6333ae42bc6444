/* The running server: devices, hands, world, rings, recording, control and the threads that drive
 * them. Live, or in lockstep: one thread, virtual time, always the same result. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <semaphore.h>

#include "config/config.h"
#include "config/scene.h"
#include "server/control.h"
#include "server/door.h"
#include "server/realtime.h"
#include "server/servo.h"
#include "server/session.h"
#include "server/trace.h"
#include "server/watchdog.h"
#include "server/world_loop.h"

typedef struct server_options {
    config settings; /* complete and valid */
    scene scene;     /* the same */
    bool is_lockstep;
    bool is_disarmed;              /* forces stay off until somebody arms */
    double run_s;                  /* 0: until it is stopped */
    char program[CONFIG_PATH_MAX]; /* how it was called, for messages */
} server_options;

/* One device with what belongs to it. */
typedef struct server_device {
    const device_driver *driver;
    device *dev; /* NULL: not open */
    device_description description;
    hand *hand;
    ring frames; /* contact_frame */
    ring tools;  /* tool_sample */
} server_device;

/* Plain to read; changed by the functions below and the threads they start. */
typedef struct server {
    server_options options;
    world *world;
    world_loop loop;
    servo servo;
    int device_count;
    server_device devices[HANDS_MAX];
    char *config_text, *scene_text; /* as they go into the recording */
    trace *recording;               /* NULL: none */
    control *control;               /* NULL: none */
    board_host board;               /* of zeros: none */
    lease_desk desk;
    door main_door, watchdog_door, control_door;
    realtime_state realtime;
    char scheduling[256]; /* realtime_describe */

    notifier notifier;
    watchdog watchdog;
    _Atomic bool watchdog_is_tripped; /* watchdog thread stores */

    sem_t gate; /* the servo thread waits here until everything is valid and recorded */
    pthread_t servo_thread, world_thread, watchdog_thread;
    bool has_servo_thread, has_world_thread, has_watchdog_thread;
    _Atomic bool watchdog_is_stopping;
    _Atomic bool is_done;        /* the servo has let go of the devices */
    _Atomic int64_t page_faults; /* of the servo thread after warm-up; -1: not known yet */
} server;

/* Opens everything that can fail: world, devices, hands, control socket. Nothing is powered. NULL
 * out on failure, and nothing stays open. The options are copied. */
HR_MUST_USE hr_status server_open(const server_options *options, server **out, hr_error *error);

/* Live: locks memory, starts the threads (the servo waits at its gate), opens the recording, powers
 * the devices, lets the servo go. Lockstep: the same without threads. */
HR_MUST_USE hr_status server_start(server *s, hr_error *error);

/* Lockstep: at most this many ticks, with the world's steps in between. False at the end. */
bool server_step(server *s, uint64_t ticks);

/* Live: is the servo still running? */
bool server_is_running(const server *s);

/* Asks for the safe stop; any thread, any number of times. */
void server_stop(server *s);

/* Safe stop where it has not happened, waits for it, flushes the recording, closes the devices.
 * Reports what went wrong on the way (the recording could not be written). */
hr_status server_finish(server *s, hr_error *error);

/* Releases the memory; after server_finish. Accepts NULL. */
void server_destroy(server *s);

/* Bit i: device i is lost. */
uint32_t server_lost_hands(const server *s);

/* For `status`: the whole state as an object; newest may be NULL. Any thread of normal priority. */
json_t *server_status(void *server_pointer, const servo_report *newest);

/* Handlers for signals that end a process with forces on (a fault in our own code): zero force
 * first, then what the signal does. One server per process. NULL takes them away. */
void server_guard_signals(server *s);

#endif
