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

bool lease_desk_take(lease_desk *d, uint32_t client, uint32_t hands, int64_t now_ns, int64_t end_ns)
{
    pthread_mutex_lock(&d->lock);
    bool is_free = true;
    for (int i = 0; i < HANDS_MAX; i++)
        if (hands >> i & 1)
            is_free &= d->holder[i] == 0 || d->holder[i] == client || now_ns >= d->end_ns[i];
    for (int i = 0; i < HANDS_MAX && is_free; i++) {
        if (!(hands >> i & 1))
            continue;
        d->holder[i] = client;
        d->end_ns[i] = end_ns;
    }
    pthread_mutex_unlock(&d->lock);
    return is_free;
}

bool lease_desk_holds(lease_desk *d, uint32_t client, uint32_t hands, int64_t now_ns)
{
    pthread_mutex_lock(&d->lock);
    bool holds = true;
    for (int i = 0; i < HANDS_MAX; i++)
        if (hands >> i & 1)
            holds &= d->holder[i] == client && now_ns < d->end_ns[i];
    pthread_mutex_unlock(&d->lock);
    return holds;
}

/* Gives back what the client holds of these hands and whose lease ends by then. */
static uint32_t give_back(lease_desk *d, uint32_t client, uint32_t hands, int64_t end_ns)
{
    uint32_t given = 0;
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < HANDS_MAX; i++) {
        if (!(hands >> i & 1) || d->holder[i] != client || d->end_ns[i] > end_ns)
            continue;
        d->holder[i] = 0;
        given |= 1u << i;
    }
    pthread_mutex_unlock(&d->lock);
    return given;
}

uint32_t lease_desk_drop(lease_desk *d, uint32_t client, uint32_t hands)
{
    return give_back(d, client, hands, INT64_MAX);
}

uint32_t lease_desk_expire(lease_desk *d, uint32_t client, int64_t now_ns)
{
    return give_back(d, client, ~0u, now_ns);
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

/* Every command comes back through a ring of the same size. No more are sent than fit into that
 * one, or an answer could be lost and its client would wait for ever. */
static bool send_to_servo(session_hub *h, const servo_command *command)
{
    if ((uint64_t)h->in_flight >= h->door->applied.capacity || !door_send(h->door, command))
        return false;
    h->in_flight++;
    return true;
}

/* Without an answer: the client is gone or did not ask. */
static void end_leases(session_hub *h, const session *s, uint32_t hands)
{
    for (uint32_t i = 0; i < HANDS_MAX; i++) {
        servo_command end = {.kind = COMMAND_LEASE, .hand = i, .client = s->client};
        /* A full ring means that the servo stands still; the force then ends by its own deadline.
         */
        if (hands >> i & 1 && i < (uint32_t)h->hand_count)
            (void)send_to_servo(h, &end);
    }
}

void session_close(session_hub *h, session *s)
{
    end_leases(h, s, lease_desk_drop(h->desk, s->client, ~0u));
    s->client = 0;
}

/* Sends to the servo and remembers who asked; the answer follows when it has been applied. */
static void send_command(session_hub *h, session *s, const protocol_request *request)
{
    servo_command command = request->command;
    command.client = s->client;
    if (s->pending_count == SESSION_PENDING_MAX || !send_to_servo(h, &command)) {
        answer_error(s, request, "too many commands on their way");
        return;
    }
    int last = (s->pending_first + s->pending_count) % SESSION_PENDING_MAX;
    s->pending[last] = *request;
    s->pending[last].command.client = s->client;
    s->pending_count++;
}

/* The hands that a request means, as bits. */
static uint32_t hands_of(const session_hub *h, const protocol_request *request)
{
    uint32_t hand = request->command.hand;
    return hand < HANDS_MAX ? 1u << hand : (1u << h->hand_count) - 1;
}

static void take_lease(session_hub *h, session *s, const protocol_request *request, int64_t now_ns)
{
    int64_t end_ns = now_ns + (int64_t)(request->seconds * NS_PER_S);
    if (!lease_desk_take(h->desk, s->client, hands_of(h, request), now_ns, end_ns)) {
        answer_error(s, request, "another client holds the lease of this hand");
        return;
    }
    protocol_request timed = *request;
    timed.command.deadline_ns = end_ns;
    send_command(h, s, &timed);
}

static void push_force(session_hub *h, session *s, const protocol_request *request, int64_t now_ns)
{
    if (!lease_desk_holds(h->desk, s->client, hands_of(h, request), now_ns)) {
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
        if (lease_desk_drop(h->desk, s->client, hands_of(h, &request)))
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
        h->in_flight--;
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
        end_leases(h, s, lease_desk_expire(h->desk, s->client, now_ns));
        if (is_new)
            stream(s, &h->newest, now_ns);
    }
}
