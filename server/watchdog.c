#include "server/watchdog.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void watchdog_init(watchdog *w, int64_t limit_ns)
{
    *w = (watchdog){.limit_ns = limit_ns};
}

bool watchdog_check(watchdog *w, uint64_t heartbeat, int64_t now_ns)
{
    if (heartbeat != w->last_beat) {
        w->last_beat = heartbeat;
        w->last_change_ns = now_ns;
        w->has_started = true;
        return false;
    }
    if (!w->has_started || w->is_tripped || now_ns - w->last_change_ns <= w->limit_ns)
        return false;
    w->is_tripped = true;
    return true;
}

void watchdog_arm(watchdog *w, int64_t now_ns)
{
    w->is_tripped = false;
    w->last_change_ns = now_ns;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return -1;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* Linux: a name outside the file system */
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void notifier_open(notifier *n)
{
    *n = (notifier){.fd = -1, .last_fed_ns = -1};
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path)
        return;
    n->fd = connect_to(path);
    const char *limit = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    if (!limit || (pid && strtol(pid, NULL, 10) != (long)getpid()))
        return;
    long long microseconds = strtoll(limit, NULL, 10);
    if (microseconds > 0 && microseconds < INT64_MAX / 1000)
        n->feed_ns = microseconds * 1000 / 2;
}

void notifier_close(notifier *n)
{
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
}

void notifier_send(notifier *n, const char *text)
{
    if (n->fd < 0)
        return;
    /* a service manager that does not read is its own problem */
    ssize_t sent = send(n->fd, text, strlen(text), MSG_NOSIGNAL);
    (void)sent;
}

bool notifier_feed(notifier *n, bool is_healthy, int64_t now_ns)
{
    if (n->feed_ns == 0 || !is_healthy)
        return false;
    if (n->last_fed_ns >= 0 && now_ns - n->last_fed_ns < n->feed_ns)
        return false;
    n->last_fed_ns = now_ns;
    notifier_send(n, "WATCHDOG=1");
    return true;
}
