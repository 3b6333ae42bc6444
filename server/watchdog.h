/* The second and third watchdog layer. A heartbeat that must change: a servo that hangs is noticed
 * by another thread, and the trip latches until the operator re-arms. The service manager's
 * watchdog is fed only while that one is content. */
#ifndef SERVER_WATCHDOG_H
#define SERVER_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watchdog {
    int64_t limit_ns;       /* longest time without a change */
    int64_t last_change_ns; /* when the heartbeat last changed */
    uint64_t last_beat;
    bool has_started; /* the first beat has been seen */
    bool is_tripped;  /* until watchdog_arm */
} watchdog;

void watchdog_init(watchdog *w, int64_t limit_ns);

/* Looks at the heartbeat; true at the moment of the trip, and only then. Time comes from the
 * caller. Nothing trips before the first beat. */
bool watchdog_check(watchdog *w, uint64_t heartbeat, int64_t now_ns);

/* The operator has looked: starts watching anew. */
void watchdog_arm(watchdog *w, int64_t now_ns);

/* --- service manager ----------------------------------------------------------------------------
 */

/* Where the service manager listens, from the environment; a caller that has none sends nothing. */
typedef struct notifier {
    int fd;              /* -1: nobody listens */
    int64_t feed_ns;     /* time between two feedings, half of what is allowed; 0: none wanted */
    int64_t last_fed_ns; /* -1: never */
} notifier;

/* Reads NOTIFY_SOCKET and WATCHDOG_USEC; both are optional. */
void notifier_open(notifier *n);
void notifier_close(notifier *n);

/* One datagram such as "READY=1" or "STOPPING=1". */
void notifier_send(notifier *n, const char *text);

/* Sends "WATCHDOG=1" where it is due and is_healthy. True where it was sent. */
bool notifier_feed(notifier *n, bool is_healthy, int64_t now_ns);

#endif
