#include "server/control.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/realtime.h"

enum { ROUND_MS = 10, BACKLOG = 8 };

/* A connection and the bytes of its unfinished line. */
typedef struct client {
    int fd; /* -1: free */
    session *session;
    size_t used;
    bool is_skipping; /* the line is too long: forget up to the newline */
    char line[PROTOCOL_LINE_MAX + 1];
} client;

struct control {
    session_hub hub;
    servo_clock clock;
    int listener;
    char path[CONFIG_PATH_MAX];
    client clients[SESSIONS_MAX];
    pthread_t thread;
    bool has_thread;
    _Atomic bool is_stopping; /* owner stores, thread reads */
};

static hr_status bind_to(control *c, const char *path, hr_error *error)
{
    int probe = control_connect(path, NULL);
    if (probe >= 0) {
        close(probe);
        return error_set(error, HR_ERR_BUSY,
                         "%s: another hapticd answers here; stop it or give control.socket another "
                         "path",
                         path);
    }
    struct stat about;
    if (lstat(path, &about) == 0) {
        if (!S_ISSOCK(about.st_mode))
            return error_set(error, HR_ERR_BUSY, "%s: expected a socket, got another file", path);
        unlink(path);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strnlen(path, sizeof address.sun_path - 1));
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->listener < 0)
        return error_set(error, HR_ERR_IO, "%s: %s", path, strerror(errno));
    mode_t before = umask(0177); /* owner only, from the first moment */
    int failed = bind(c->listener, (struct sockaddr *)&address, sizeof address);
    umask(before);
    if (failed || listen(c->listener, BACKLOG) != 0)
        return error_set(error, HR_ERR_IO, "%s: %s", path, strerror(errno));
    return HR_OK;
}

hr_status control_open(const char *path, const session_hub *hub, servo_clock clock, control **out,
                       hr_error *error)
{
    control *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(error, HR_ERR_MEMORY, "no memory for the control socket");
    c->hub = *hub;
    c->clock = clock;
    c->listener = -1;
    for (int i = 0; i < SESSIONS_MAX; i++)
        c->clients[i].fd = -1;
    hr_status status = bind_to(c, path, error);
    if (status != HR_OK) {
        if (c->listener >= 0)
            close(c->listener);
        free(c);
        return status;
    }
    snprintf(c->path, sizeof c->path, "%s", path);
    *out = c;
    return HR_OK;
}

/* --- clients ---------------------------------------------------------------------------------- */

static void drop_client(control *c, client *k)
{
    session_close(&c->hub, k->session);
    close(k->fd);
    k->fd = -1;
}

/* The file's mode keeps others out; the peer's user is checked as well, for a socket in a folder
 * where somebody changed it. */
static bool is_owner(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    return peer.uid == getuid() || peer.uid == 0;
}

/* Says why and hangs up; a client that does not listen loses nothing. */
static void refuse(int fd, const char *reason)
{
    char text[PROTOCOL_REPLY_MAX];
    int length = protocol_print_error(NULL, reason, text, sizeof text);
    if (length > 0)
        (void)!send(fd, text, (size_t)length, MSG_NOSIGNAL);
    close(fd);
}

static void accept_client(control *c)
{
    int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    bool is_known = is_owner(fd);
    for (int i = 0; i < SESSIONS_MAX && is_known; i++) {
        client *k = &c->clients[i];
        if (k->fd >= 0)
            continue;
        *k = (client){.fd = fd, .session = session_open(&c->hub)};
        if (k->session)
            return;
        k->fd = -1;
        break;
    }
    refuse(fd, is_known ? "too many clients: close one of the others"
                        : "only the user who runs hapticd may use its socket");
}

static void take_byte(control *c, client *k, char byte, int64_t now_ns)
{
    if (byte == '\n') {
        if (!k->is_skipping && k->used > 0)
            session_line(&c->hub, k->session, k->line, k->used, now_ns);
        k->used = 0;
        k->is_skipping = false;
        return;
    }
    if (k->used < sizeof k->line) {
        k->line[k->used++] = byte;
        return;
    }
    if (!k->is_skipping) /* longer than the protocol allows: its refusal says so */
        session_line(&c->hub, k->session, k->line, k->used, now_ns);
    k->is_skipping = true;
}

/* False where the client is gone. */
static bool read_client(control *c, client *k, int64_t now_ns)
{
    char bytes[4096];
    ssize_t n = recv(k->fd, bytes, sizeof bytes, 0);
    if (n == 0)
        return false;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    for (ssize_t i = 0; i < n; i++)
        take_byte(c, k, bytes[i], now_ns);
    return true;
}

static bool write_client(client *k)
{
    session *s = k->session;
    if (s->outbox_used == 0)
        return !s->is_broken;
    ssize_t n = send(k->fd, s->outbox, s->outbox_used, MSG_NOSIGNAL);
    if (n > 0)
        session_sent(s, (size_t)n);
    return !s->is_broken && (n > 0 || errno == EAGAIN || errno == EINTR);
}

void control_round(control *c, int wait_ms)
{
    struct pollfd watched[SESSIONS_MAX + 1] = {{.fd = c->listener, .events = POLLIN}};
    for (int i = 0; i < SESSIONS_MAX; i++) {
        const client *k = &c->clients[i];
        watched[i + 1].fd = k->fd;
        watched[i + 1].events = POLLIN;
    }
    poll(watched, SESSIONS_MAX + 1, wait_ms);
    int64_t now = servo_clock_now(&c->clock);
    if (watched[0].revents)
        accept_client(c);
    for (int i = 0; i < SESSIONS_MAX; i++) {
        client *k = &c->clients[i];
        bool is_ready = watched[i + 1].fd >= 0 && watched[i + 1].revents;
        if (is_ready && !read_client(c, k, now))
            drop_client(c, k);
    }
    session_poll(&c->hub, now);
    for (int i = 0; i < SESSIONS_MAX; i++)
        if (c->clients[i].fd >= 0 && !write_client(&c->clients[i]))
            drop_client(c, &c->clients[i]);
}

static void *run(void *argument)
{
    control *c = argument;
    while (!atomic_load_explicit(&c->is_stopping, memory_order_acquire))
        control_round(c, ROUND_MS);
    return NULL;
}

hr_status control_start(control *c, hr_error *error)
{
    if (realtime_start_normal(run, c, &c->thread) != HR_OK)
        return error_set(error, HR_ERR_IO, "cannot start the control thread");
    c->has_thread = true;
    return HR_OK;
}

void control_close(control *c)
{
    if (!c)
        return;
    atomic_store_explicit(&c->is_stopping, true, memory_order_release);
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    for (int i = 0; i < SESSIONS_MAX; i++)
        if (c->clients[i].fd >= 0)
            drop_client(c, &c->clients[i]);
    close(c->listener);
    unlink(c->path);
    free(c);
}
