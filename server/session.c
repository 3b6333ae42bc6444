#include "server/session.h"

#include <string.h>

enum { NS_PER_S = 1000000000 };

/* --- the lease -------------------------------------------------------------------------------- */

void lease_desk_init(lease_desk *d)
{
    *d = (lease_desk){0};
    pthread_mutex_init(&d->lock, NULL);
}

void lease_desk_destroy(lease_desk *d)
{
    pthread_mutex_destroy(&d->lock);
}

uint32_t lease_desk_new_client(lease_desk *d)
{
    pthread_mutex_lock(&d->lock);
    uint32_t client = ++d->clients;
    pthread_mutex_unlock(&d->lock);
    return client;
}

bool lease_desk_take(lease_desk *d, uint32_t client, int64_t now_ns, int64_t end_ns)
{
    pthread_mutex_lock(&d->lock);
    bool is_free = d->holder == 0 || d->holder == client || now_ns >= d->end_ns;
    if (is_free) {
        d->holder = client;
        d->end_ns = end_ns;
    }
    pthread_mutex_unlock(&d->lock);
    return is_free;
}

bool lease_desk_holds(lease_desk *d, uint32_t client, int64_t now_ns)
{
    pthread_mutex_lock(&d->lock);
    bool holds = d->holder == client && now_ns < d->end_ns;
    pthread_mutex_unlock(&d->lock);
    return holds;
}

bool lease_desk_drop(lease_desk *d, uint32_t client)
{
    pthread_mutex_lock(&d->lock);
    bool held = d->holder == client;
    if (held)
        d->holder = 0;
    pthread_mutex_unlock(&d->lock);
    return held;
}

bool lease_desk_expire(lease_desk *d, uint32_t client, int64_t now_ns)
{
    pthread_mutex_lock(&d->lock);
    bool has_ended = d->holder == client && now_ns >= d->end_ns;
    if (has_ended)
        d->holder = 0;
    pthread_mutex_unlock(&d->lock);
    return has_ended;
}

/* --- outbox ----------------------------------------------------------------------------------- */

static bool put(session *s, const char *bytes, size_t length)
{
    if (length > sizeof s->outbox - s->outbox_used)
        return false;
    memcpy(s->outbox + s->outbox_used, bytes, length);
    s->outbox_used += length;
    return true;
}

/* An answer is owed: a client that has no room for it does not read, and is closed. */
static void answer(session *s, const char *bytes, int length)
{
    if (length <= 0 || !put(s, bytes, (size_t)length))
        s->is_broken = true;
}

static void answer_error(session *s, const protocol_request *request, const char *message)
{
    char text[PROTOCOL_REPLY_MAX];
    answer(s, text, protocol_print_error(request, message, text, sizeof text));
}

static void answer_done(session *s, const protocol_request *request, uint64_t tick)
{
    char text[PROTOCOL_REPLY_MAX];
    answer(s, text, protocol_print_done(request, tick, text, sizeof text));
}

void session_sent(session *s, size_t n)
{
    memmove(s->outbox, s->outbox + n, s->outbox_used - n);
    s->outbox_used -= n;
}

/* --- clients ---------------------------------------------------------------------------------- */

session *session_open(session_hub *h)
{
    for (int i = 0; i < SESSIONS_MAX; i++) {
        session *s = &h->sessions[i];
        if (s->client != 0)
            continue;
        memset(s, 0, sizeof *s);
        s->client = lease_desk_new_client(h->desk);
        return s;
    }
    return NULL;
}

/* Without an answer: the client is gone or did not ask. */
static void end_lease(session_hub *h, const session *s)
{
    servo_command end = {.kind = COMMAND_LEASE, .hand = HANDS_MAX, .client = s->client};
    /* A full ring means that the servo stands still; the force then ends by its own deadline. */
    door_send(h->door, &end);
}

void session_close(session_hub *h, session *s)
{
    if (lease_desk_drop(h->desk, s->client))
        end_lease(h, s);
    s->client = 0;
}

/* Sends to the servo and remembers who asked; the answer follows when it has been applied. */
static void send_command(session_hub *h, session *s, const protocol_request *request)
{
    servo_command command = request->command;
    command.client = s->client;
    if (s->pending_count == SESSION_PENDING_MAX || !door_send(h->door, &command)) {
        answer_error(s, request, "too many commands on their way");
        return;
    }
    int last = (s->pending_first + s->pending_count) % SESSION_PENDING_MAX;
    s->pending[last] = *request;
    s->pending[last].command.client = s->client;
    s->pending_count++;
}

static void take_lease(session_hub *h, session *s, const protocol_request *request, int64_t now_ns)
{
    int64_t end_ns = now_ns + (int64_t)(request->seconds * NS_PER_S);
    if (!lease_desk_take(h->desk, s->client, now_ns, end_ns)) {
        answer_error(s, request, "another client holds the lease");
        return;
    }
    protocol_request timed = *request;
    timed.command.deadline_ns = end_ns;
    send_command(h, s, &timed);
}

static void push_force(session_hub *h, session *s, const protocol_request *request, int64_t now_ns)
{
    if (!lease_desk_holds(h->desk, s->client, now_ns)) {
        answer_error(s, request, "no lease: ask for one with {\"op\":\"lease\"}");
        return;
    }
    protocol_request timed = *request;
    timed.command.deadline_ns = now_ns + h->hold_ns;
    send_command(h, s, &timed);
}

static void give_status(session_hub *h, session *s, const protocol_request *request)
{
    char text[PROTOCOL_REPLY_MAX];
    json_t *status = h->status(h->context, h->has_report ? &h->newest : NULL);
    answer(s, text, protocol_print_object(request, "status", status, text, sizeof text));
}

static void watch(session *s, const protocol_request *request, int64_t now_ns)
{
    s->is_watching = request->op == PROTOCOL_WATCH;
    if (s->is_watching) {
        s->watch_period_ns = (int64_t)(NS_PER_S / request->rate_hz);
        s->watch_next_ns = now_ns;
    }
    answer_done(s, request, 0);
}

void session_line(session_hub *h, session *s, const char *line, size_t length, int64_t now_ns)
{
    protocol_request request;
    hr_error error = {""};
    if (protocol_parse(line, length, h->hand_count, &request, &error) != HR_OK) {
        answer_error(s, &request, error.text);
        return;
    }
    switch (request.op) {
    case PROTOCOL_STATUS:
        give_status(h, s, &request);
        break;
    case PROTOCOL_WATCH:
    case PROTOCOL_UNWATCH:
        watch(s, &request, now_ns);
        break;
    case PROTOCOL_COMMAND:
        send_command(h, s, &request);
        break;
    case PROTOCOL_LEASE:
        take_lease(h, s, &request, now_ns);
        break;
    case PROTOCOL_RELEASE:
        if (lease_desk_drop(h->desk, s->client))
            send_command(h, s, &request);
        else
            answer_error(s, &request, "no lease to give back");
        break;
    case PROTOCOL_FORCE:
        push_force(h, s, &request, now_ns);
        break;
    }
}

/* --- what the servo sends --------------------------------------------------------------------- */

static session *find_client(session_hub *h, uint32_t client)
{
    for (int i = 0; i < SESSIONS_MAX; i++)
        if (client != 0 && h->sessions[i].client == client)
            return &h->sessions[i];
    return NULL;
}

/* Commands of one client come back in the order in which they were sent. A lease that ended by
 * itself was not asked for, so it has no answer: the kinds tell. */
static void take_applied(session_hub *h)
{
    servo_command command;
    while (ring_pop(&h->door->applied, &command)) {
        session *s = find_client(h, command.client);
        if (!s || s->pending_count == 0)
            continue;
        const protocol_request *request = &s->pending[s->pending_first];
        if (request->command.kind != command.kind ||
            request->command.values[0] != command.values[0])
            continue;
        answer_done(s, request, command.tick);
        s->pending_first = (s->pending_first + 1) % SESSION_PENDING_MAX;
        s->pending_count--;
    }
}

static void stream(session *s, const servo_report *report, int64_t now_ns)
{
    if (!s->is_watching || now_ns < s->watch_next_ns)
        return;
    s->watch_next_ns += s->watch_period_ns;
    if (s->watch_next_ns < now_ns)
        s->watch_next_ns = now_ns;
    char text[PROTOCOL_REPLY_MAX];
    int length = protocol_print_state(report, text, sizeof text);
    /* half of the outbox is kept for answers */
    bool has_room = s->outbox_used + (size_t)length <= sizeof s->outbox / 2;
    if (length <= 0 || !has_room || !put(s, text, (size_t)length))
        s->states_lost++;
}

void session_poll(session_hub *h, int64_t now_ns)
{
    take_applied(h);
    bool is_new = ring_take_latest(&h->door->reports, &h->newest);
    h->has_report |= is_new;
    for (int i = 0; i < SESSIONS_MAX; i++) {
        session *s = &h->sessions[i];
        if (s->client == 0)
            continue;
        if (lease_desk_expire(h->desk, s->client, now_ns))
            end_lease(h, s);
        if (is_new)
            stream(s, &h->newest, now_ns);
    }
}
