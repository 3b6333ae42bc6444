/* Clients of a door: what each one asked for, what it is owed, and the one lease on forces. No
 * sockets here: whoever owns the connection feeds lines in and takes bytes out. One hub per door,
 * used by the door's thread only; the lease desk is shared by all doors. */
#ifndef SERVER_SESSION_H
#define SERVER_SESSION_H

#include <jansson.h>
#include <pthread.h>

#include "server/door.h"
#include "server/protocol.h"

/* Who may command forces: one client at a time for each hand, until its lease runs out. Threads of
 * normal priority only; the servo never looks here, it gets COMMAND_LEASE. `hands` are
 * bits. */
typedef struct lease_desk {
    pthread_mutex_t lock;
    uint32_t holder[HANDS_MAX]; /* client; 0: nobody */
    int64_t end_ns[HANDS_MAX];
    uint32_t clients; /* numbers given out so far, over all doors */
} lease_desk;

void lease_desk_init(lease_desk *d);
void lease_desk_destroy(lease_desk *d);
uint32_t lease_desk_new_client(lease_desk *d);

/* Takes or renews; false, and nothing is changed, where another client holds one of them. */
bool lease_desk_take(lease_desk *d, uint32_t client, uint32_t hands, int64_t now_ns,
                     int64_t end_ns);

/* Does this client hold them at this time? */
bool lease_desk_holds(lease_desk *d, uint32_t client, uint32_t hands, int64_t now_ns);

/* Gives back what this client holds of them (run out or not); returns which. */
uint32_t lease_desk_drop(lease_desk *d, uint32_t client, uint32_t hands);

/* Gives back what has run out, once; returns which. */
uint32_t lease_desk_expire(lease_desk *d, uint32_t client, int64_t now_ns);

enum {
    SESSIONS_MAX = 32, /* clients of one door */
    SESSION_PENDING_MAX = 16,
    SESSION_OUTBOX_BYTES = 64 * 1024
};

typedef struct session {
    uint32_t client; /* 0: free */
    bool is_watching;
    bool is_broken; /* does not read its answers: to be closed */
    int64_t watch_period_ns, watch_next_ns;
    uint64_t states_lost; /* not streamed because the client reads too slowly */
    protocol_request pending[SESSION_PENDING_MAX]; /* sent to the servo, not yet applied */
    int pending_first, pending_count;
    size_t outbox_used;
    char outbox[SESSION_OUTBOX_BYTES]; /* bytes that the client has to get */
} session;

/* What `status` answers; the caller takes the object over. */
typedef json_t *(*session_status)(void *context, const servo_report *newest);

typedef struct session_hub {
    door *door; /* borrowed, as all pointers here */
    lease_desk *desk;
    int hand_count;
    int64_t hold_ns; /* how long a client's force lives without renewal */
    session_status status;
    void *context;
    int in_flight; /* commands at the servo whose answer has not come: never more than fit back */
    bool has_report;
    servo_report newest;
    session sessions[SESSIONS_MAX];
} session_hub;

/* NULL where all places are taken. */
session *session_open(session_hub *h);

/* The client went away: what it leased is given back and its force fades. */
void session_close(session_hub *h, session *s);

/* One line without its newline. */
void session_line(session_hub *h, session *s, const char *line, size_t length, int64_t now_ns);

/* Takes what the servo sent, answers, streams, ends leases that ran out. Often: 100 times a second.
 */
void session_poll(session_hub *h, int64_t now_ns);

/* n bytes of the outbox are on their way. */
void session_sent(session *s, size_t n);

#endif
