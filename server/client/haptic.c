#include "server/client/haptic.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server/client/board.h"

static const double lease_s = 1.0;
static const int64_t renew_ns = 300000000; /* three renewals per lease */
static const int64_t silence_ns = 200000000;

struct haptic_client {
    int fd;
    int hand;
    board *shared;
    uint64_t client; /* 0: no lease */
    unsigned asked;  /* number of the last request */
    int64_t renewed_ns;
    uint64_t seen_tick;
    haptic_state last;
    char error[160];
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int fail(haptic_client *c, const char *text)
{
    snprintf(c->error, sizeof c->error, "%s", text);
    return -1;
}

/* --- the socket: only for the lease -------------------------------------------------------------
 */

static int send_line(haptic_client *c, const char *line)
{
    size_t length = strlen(line);
    return send(c->fd, line, length, MSG_NOSIGNAL) == (ssize_t)length
               ? 0
               : fail(c, "the server has ended");
}

/* One line of an answer; waits up to two seconds. */
static int receive_line(haptic_client *c, char *out, size_t size)
{
    size_t used = 0;
    while (used + 1 < size) {
        struct pollfd input = {.fd = c->fd, .events = POLLIN};
        if (poll(&input, 1, 2000) <= 0)
            return fail(c, "the server does not answer");
        if (recv(c->fd, out + used, 1, 0) != 1)
            return fail(c, "the server has ended");
        if (out[used] == '\n') {
            out[used] = '\0';
            return 0;
        }
        used++;
    }
    return fail(c, "the server's answer is too long");
}

/* Asks for the lease or renews it; its answer carries the number. */
static int ask_lease(haptic_client *c)
{
    char line[128];
    snprintf(line, sizeof line, "{\"op\":\"lease\",\"id\":%u,\"seconds\":%g,\"hand\":%d}\n",
             ++c->asked, lease_s, c->hand);
    c->renewed_ns = now_ns();
    return send_line(c, line);
}

/* The text between the quotes that follow `key` in an answer, or all of it. */
static int fail_with_answer(haptic_client *c, const char *line)
{
    const char *text = strstr(line, "\"error\":\"");
    text = text ? text + 9 : line;
    size_t length = text == line ? strlen(line) : strcspn(text, "\"");
    snprintf(c->error, sizeof c->error, "%.*s", (int)length, text);
    return -1;
}

/* The answer to the last request. Answers of earlier ones may still come first; only the one with
 * its number counts. A refusal without any number is the server's last word: it takes no more
 * clients. */
static int await_answer(haptic_client *c, char *line, size_t size)
{
    char mark[32];
    snprintf(mark, sizeof mark, "\"id\":%u,", c->asked);
    do {
        if (receive_line(c, line, size) != 0)
            return -1;
    } while (strstr(line, "\"id\":") && !strstr(line, mark));
    return 0;
}

static int take_lease(haptic_client *c)
{
    char line[1024];
    if (ask_lease(c) != 0 || await_answer(c, line, sizeof line) != 0)
        return -1;
    const char *number = strstr(line, "\"client\":");
    if (!strstr(line, "\"ok\":true") || !number)
        return fail_with_answer(c, line);
    c->client = strtoull(number + 9, NULL, 10);
    return 0;
}

/* A few times per lease: renews it without waiting for the answer (the board tells who holds it),
 * and notices a server that was killed. */
static int keep_alive(haptic_client *c)
{
    char waste[4096];
    ssize_t count;
    if (now_ns() - c->renewed_ns < renew_ns)
        return 0;
    c->renewed_ns = now_ns();
    while ((count = recv(c->fd, waste, sizeof waste, MSG_DONTWAIT)) > 0)
        ;
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        return fail(c, "the server has ended");
    return c->client ? ask_lease(c) : 0;
}

/* --- opening ------------------------------------------------------------------------------------
 */

static void default_path(char *out, size_t size)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (folder && folder[0])
        snprintf(out, size, "%s/hapticd.sock", folder);
    else
        snprintf(out, size, "/tmp/hapticd-%u.sock", (unsigned)getuid());
}

static int connect_socket(haptic_client *c, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path)
        return fail(c, "the socket's path is too long");
    memcpy(address.sun_path, path, length + 1);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        snprintf(c->error, sizeof c->error, "%.100s: no hapticd: %s", path, strerror(errno));
        return -1;
    }
    return 0;
}

static int map_board(haptic_client *c, const char *path)
{
    char file[700];
    snprintf(file, sizeof file, "%s.board", path);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    void *memory = MAP_FAILED;
    if (fd >= 0)
        memory = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return fail(c, "the server shares no board");
    c->shared = memory;
    if (__atomic_load_n(&c->shared->magic, __ATOMIC_ACQUIRE) != BOARD_MAGIC ||
        c->shared->version != BOARD_VERSION || c->shared->size != sizeof(board))
        return fail(c, "the server's board has another version");
    if (c->hand < 0 || (uint64_t)c->hand >= c->shared->hand_count)
        return fail(c, "the server has no such hand");
    return 0;
}

haptic_client *haptic_open(const char *socket, int hand, char *message, size_t size)
{
    char path[512];
    if (socket && socket[0])
        snprintf(path, sizeof path, "%s", socket);
    else
        default_path(path, sizeof path);
    haptic_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->fd = -1;
    c->hand = hand;
    if (connect_socket(c, path) == 0 && map_board(c, path) == 0)
        return c;
    if (message && size > 0)
        snprintf(message, size, "%s", c->error);
    haptic_close(c);
    return NULL;
}

void haptic_close(haptic_client *c)
{
    if (!c)
        return;
    haptic_release(c);
    if (c->shared)
        munmap(c->shared, sizeof(board));
    if (c->fd >= 0)
        close(c->fd);
    free(c);
}

void haptic_describe(const haptic_client *c, haptic_description *out)
{
    const board_device *d = &c->shared->devices[c->hand];
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%.31s", d->name);
    snprintf(out->model, sizeof out->model, "%.31s", d->model);
    snprintf(out->manufacturer, sizeof out->manufacturer, "%.31s", d->manufacturer);
    snprintf(out->serial, sizeof out->serial, "%.31s", d->serial);
    out->max_force = d->max_force;
    out->max_stiffness = d->max_stiffness;
    out->max_damping = d->max_damping;
    out->workspace_radius = d->workspace_radius;
    out->period = (double)c->shared->period_ns * 1e-9;
    out->button_count = (int)d->button_count;
    out->senses_rotation = d->senses_rotation != 0;
    out->senses_gripper = d->senses_gripper != 0;
    out->actuates_position = d->actuates_position != 0;
    out->actuates_rotation = d->actuates_rotation != 0;
    out->actuates_gripper = d->actuates_gripper != 0;
}

/* --- reading ------------------------------------------------------------------------------------
 */

static int copy_state(haptic_client *c, board_state *out)
{
    const board_slot *slot = &c->shared->states[c->hand];
    uint64_t words[BOARD_STATE_WORDS];
    for (int tries = 0; tries < 1000; tries++) {
        uint64_t before = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
        if (before & 1)
            continue;
        for (int i = 0; i < BOARD_STATE_WORDS; i++)
            words[i] = __atomic_load_n(&slot->words[i], __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == before) {
            memcpy(out, words, sizeof *out);
            return 0;
        }
    }
    return fail(c, "the server writes without end");
}

/* Fields that are not valid keep their last good value. */
static void take_over(haptic_client *c, const board_state *b)
{
    haptic_state *s = &c->last;
    s->tick = b->tick;
    s->time_ns = b->time_ns;
    s->has_position = (b->valid & 1) != 0;
    s->has_rotation = (b->valid >> 2 & 1) != 0;
    s->has_gripper = (b->valid >> 3 & 1) != 0;
    if (s->has_position)
        memcpy(s->position, b->position, sizeof s->position);
    if (b->valid >> 1 & 1)
        memcpy(s->velocity, b->velocity, sizeof s->velocity);
    if (s->has_rotation || s->tick == 0 || s->rotation[0] == 0) {
        memcpy(s->rotation, b->rotation, sizeof s->rotation);
        memcpy(s->angular_velocity, b->angular_velocity, sizeof s->angular_velocity);
    }
    s->gripper_angle = b->gripper_angle;
    s->gripper_speed = b->gripper_speed;
    memcpy(s->proxy, b->proxy, sizeof s->proxy);
    memcpy(s->tool, b->tool, sizeof s->tool);
    memcpy(s->force, b->force, sizeof s->force);
    s->buttons = (uint32_t)b->buttons;
    s->is_homed = (int)(b->flags & 1);
    s->is_enabled = (int)(b->flags >> 1 & 1);
    s->reasons = (uint32_t)b->reasons;
    s->state = (uint32_t)b->state;
}

int haptic_read(haptic_client *c, haptic_state *out)
{
    board_state now;
    if (!__atomic_load_n(&c->shared->is_open, __ATOMIC_ACQUIRE))
        return fail(c, "the server has ended");
    if (keep_alive(c) != 0 || copy_state(c, &now) != 0)
        return -1;
    take_over(c, &now);
    c->seen_tick = now.tick;
    *out = c->last;
    return 0;
}

int haptic_wait(haptic_client *c, haptic_state *out)
{
    uint64_t seen = c->seen_tick;
    int64_t end = now_ns() + silence_ns;
    int64_t wake = c->last.time_ns + c->shared->period_ns;
    do {
        /* sleep to the planned tick, then look every 50 us until the servo has written */
        int64_t now = now_ns();
        int64_t until = wake > now && wake < now + 20000000 ? wake : now + 50000;
        struct timespec when = {until / 1000000000, until % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
        if (haptic_read(c, out) != 0)
            return -1;
        if (out->tick != seen)
            return 0;
        wake = 0;
    } while (now_ns() < end);
    return fail(c, "the servo stands still");
}

/* --- force --------------------------------------------------------------------------------------
 */

int haptic_lease(haptic_client *c)
{
    if (!__atomic_load_n(&c->shared->is_open, __ATOMIC_ACQUIRE))
        return fail(c, "the server has ended");
    uint64_t holder = __atomic_load_n(&c->shared->holders[c->hand], __ATOMIC_ACQUIRE);
    if (c->client != 0 && holder == c->client)
        return keep_alive(c);
    if (c->client != 0 && holder != 0) { /* this program slept and somebody else came */
        c->client = 0;
        return fail(c, "another client has taken the lease");
    }
    c->client = 0;
    return take_lease(c);
}

int haptic_force(haptic_client *c, const double force[3], double seconds)
{
    if (!isfinite(force[0]) || !isfinite(force[1]) || !isfinite(force[2]))
        return fail(c, "the force is not a finite number");
    if (!(seconds > 0))
        return fail(c, "the time of a force must be more than zero");
    if (haptic_lease(c) != 0)
        return -1;
    int64_t now = now_ns();
    if (seconds > lease_s)
        seconds = lease_s;
    board_command command = {.client = c->client,
                             .deadline_ns = now + (int64_t)(seconds * 1e9),
                             .force = {force[0], force[1], force[2]}};
    uint64_t words[BOARD_COMMAND_WORDS];
    memcpy(words, &command, sizeof words);
    board_order *order = &c->shared->orders[c->hand];
    uint64_t sequence = __atomic_load_n(&order->sequence, __ATOMIC_RELAXED) & ~1ull;
    __atomic_store_n(&order->sequence, sequence + 1, __ATOMIC_RELAXED);
    for (int i = 0; i < BOARD_COMMAND_WORDS; i++)
        __atomic_store_n(&order->words[i], words[i], __ATOMIC_RELEASE);
    __atomic_store_n(&order->sequence, sequence + 2, __ATOMIC_RELEASE);
    return 0;
}

void haptic_release(haptic_client *c)
{
    char line[1024];
    if (c->client == 0)
        return;
    c->client = 0;
    snprintf(line, sizeof line, "{\"op\":\"release\",\"id\":%u,\"hand\":%d}\n", ++c->asked,
             c->hand);
    /* Who asks for the hand after this call must find it free. */
    if (send_line(c, line) == 0)
        (void)await_answer(c, line, sizeof line);
}

const char *haptic_error(const haptic_client *c)
{
    return c->error;
}
