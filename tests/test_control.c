/* threads: the control thread serves a client of this process. */
#include "tests/test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/control.h"

typedef struct fixture {
    door door;
    lease_desk desk;
    session_hub hub;
    control *control;
    char path[128];
    int64_t now_ns;
} fixture;

static json_t *status(void *context, const servo_report *newest)
{
    (void)context;
    return json_pack("{s:b}", "has_report", newest != NULL);
}

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_int_equal(door_init(&f->door, true), HR_OK);
    lease_desk_init(&f->desk);
    f->hub.door = &f->door;
    f->hub.desk = &f->desk;
    f->hub.hand_count = 1;
    f->hub.hold_ns = 50000000;
    f->hub.status = status;
    snprintf(f->path, sizeof f->path, "/tmp/hapticd-test-%d.sock", (int)getpid());
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    control_close(f->control);
    lease_desk_destroy(&f->desk);
    door_destroy(&f->door);
    free(f);
    return 0;
}

/* What the servo would do at a tick. Returns how many commands it applied; *last is the newest. */
static int apply(fixture *f, uint64_t tick, servo_command *last)
{
    int count = 0;
    servo_command c;
    while (ring_pop(&f->door.commands, &c)) {
        c.tick = tick;
        ring_push(&f->door.applied, &c);
        *last = c;
        count++;
    }
    return count;
}

static void say(fixture *f, session *s, const char *line)
{
    session_line(&f->hub, s, line, strlen(line), f->now_ns);
}

/* The session's outbox as text, which is then empty. */
static char *heard(session *s)
{
    static char text[SESSION_OUTBOX_BYTES + 1];
    memcpy(text, s->outbox, s->outbox_used);
    text[s->outbox_used] = '\0';
    session_sent(s, s->outbox_used);
    return text;
}

static void a_command_is_answered_with_the_tick_it_was_applied_at(void **state)
{
    fixture *f = *state;
    session *s = session_open(&f->hub);
    servo_command c;

    say(f, s, "{\"op\":\"estop\",\"id\":3}");
    session_poll(&f->hub, 0);
    assert_string_equal(heard(s), "");
    assert_int_equal(apply(f, 77, &c), 1);
    assert_int_equal(c.kind, COMMAND_ESTOP);
    session_poll(&f->hub, 0);

    assert_string_equal(heard(s), "{\"ok\":true,\"id\":3,\"tick\":77}\n");
}

static void answers_go_to_the_client_that_asked(void **state)
{
    fixture *f = *state;
    session *a = session_open(&f->hub);
    session *b = session_open(&f->hub);
    servo_command c;

    say(f, a, "{\"op\":\"mark\",\"text\":\"one\",\"id\":1}");
    say(f, b, "{\"op\":\"mark\",\"text\":\"two\",\"id\":2}");
    say(f, a, "{\"op\":\"mark\",\"text\":\"three\",\"id\":3}");
    assert_int_equal(apply(f, 5, &c), 3);
    session_poll(&f->hub, 0);

    assert_string_equal(heard(a),
                        "{\"ok\":true,\"id\":1,\"tick\":5}\n{\"ok\":true,\"id\":3,\"tick\":5}\n");
    assert_string_equal(heard(b), "{\"ok\":true,\"id\":2,\"tick\":5}\n");
}

static void only_the_holder_of_the_lease_may_push(void **state)
{
    fixture *f = *state;
    session *a = session_open(&f->hub);
    session *b = session_open(&f->hub);
    servo_command c = {0};

    say(f, a, "{\"op\":\"force\",\"force_n\":[0,0,1]}");
    assert_non_null(strstr(heard(a), "no lease"));
    assert_int_equal(apply(f, 1, &c), 0);

    say(f, a, "{\"op\":\"lease\",\"seconds\":1}");
    say(f, b, "{\"op\":\"lease\"}");
    assert_non_null(strstr(heard(b), "another client holds the lease"));
    say(f, b, "{\"op\":\"force\",\"force_n\":[0,0,1]}");
    assert_non_null(strstr(heard(b), "no lease"));
    say(f, a, "{\"op\":\"force\",\"force_n\":[0,0,1]}");
    assert_int_equal(apply(f, 2, &c), 2);
    assert_int_equal(c.kind, COMMAND_CLIENT_FORCE);
    assert_int_equal(c.client, a->client);
    assert_int_equal(c.deadline_ns, f->hub.hold_ns);

    /* given back: free for the other */
    say(f, a, "{\"op\":\"release\"}");
    say(f, b, "{\"op\":\"lease\"}");
    assert_int_equal(apply(f, 3, &c), 2);
    assert_int_equal(c.client, b->client);
    assert_near(c.values[0], 1.0, 0.0);
}

/* Two programs, each with a hand of its own; a third one may not have both. */
static void every_hand_has_its_own_lease(void **state)
{
    fixture *f = *state;
    f->hub.hand_count = 2;
    session *a = session_open(&f->hub);
    session *b = session_open(&f->hub);
    session *both = session_open(&f->hub);
    servo_command c = {0};
    say(f, a, "{\"op\":\"lease\",\"hand\":0}");
    say(f, b, "{\"op\":\"lease\",\"hand\":1}");
    say(f, both, "{\"op\":\"lease\"}");
    assert_non_null(strstr(heard(both), "another client holds the lease"));
    say(f, a, "{\"op\":\"force\",\"force_n\":[0,0,1],\"hand\":0}");
    assert_int_equal(apply(f, 1, &c), 3);
    assert_int_equal(c.hand, 0);
    say(f, a, "{\"op\":\"force\",\"force_n\":[0,0,1]}"); /* both hands */
    session_poll(&f->hub, 0);
    assert_non_null(strstr(heard(a), "no lease"));

    uint32_t client = a->client;
    session_close(&f->hub, a);
    assert_int_equal(apply(f, 2, &c), 1);
    assert_int_equal(c.kind, COMMAND_LEASE);
    assert_int_equal(c.client, client);
    assert_int_equal(c.hand, 0);
    say(f, b, "{\"op\":\"lease\"}");
    say(f, b, "{\"op\":\"force\",\"force_n\":[0,0,1]}");
    assert_int_equal(apply(f, 3, &c), 2);
    assert_int_equal(c.kind, COMMAND_CLIENT_FORCE);
}

/* Clients that ask for more than the servo can answer at once are told so; every answer comes. */
static void no_answer_is_lost_when_many_ask_at_once(void **state)
{
    fixture *f = *state;
    session *asking[SESSIONS_MAX];
    int sent = 0;
    int answered = 0;
    for (int i = 0; i < SESSIONS_MAX; i++)
        asking[i] = session_open(&f->hub);
    for (int round = 0; round < 20; round++) {
        servo_command c = {0};
        for (int i = 0; i < SESSIONS_MAX; i++)
            for (int n = 0; n < 8; n++, sent++)
                say(f, asking[i], "{\"op\":\"arm\"}");
        (void)apply(f, 1, &c); /* twice between two looks at the answers */
        for (int i = 0; i < SESSIONS_MAX; i++, sent++)
            say(f, asking[i], "{\"op\":\"arm\"}");
        (void)apply(f, 2, &c);
        session_poll(&f->hub, 0);
        for (int i = 0; i < SESSIONS_MAX; i++)
            for (const char *at = heard(asking[i]); (at = strchr(at, '\n')); at++)
                answered++;
    }
    assert_int_equal(answered, sent);
    assert_int_equal(f->hub.in_flight, 0);
}

static void a_lease_that_runs_out_ends_at_the_servo(void **state)
{
    fixture *f = *state;
    session *a = session_open(&f->hub);
    servo_command c = {0};
    say(f, a, "{\"op\":\"lease\",\"seconds\":1}");
    assert_int_equal(apply(f, 1, &c), 1);

    session_poll(&f->hub, 999999999);
    assert_int_equal(apply(f, 2, &c), 0);
    session_poll(&f->hub, 1000000000);
    assert_int_equal(apply(f, 3, &c), 1);
    assert_int_equal(c.kind, COMMAND_LEASE);
    assert_near(c.values[0], 0.0, 0.0);
    session_poll(&f->hub, 5000000000);
    assert_int_equal(apply(f, 4, &c), 0);

    f->now_ns = 5000000000;
    say(f, a, "{\"op\":\"force\",\"force_n\":[0,0,1]}");
    assert_non_null(strstr(heard(a), "no lease"));
}

static void a_client_that_goes_away_loses_its_lease(void **state)
{
    fixture *f = *state;
    session *a = session_open(&f->hub);
    servo_command c = {0};
    say(f, a, "{\"op\":\"lease\",\"seconds\":10}");
    apply(f, 1, &c);
    uint32_t client = a->client;

    session_close(&f->hub, a);

    assert_int_equal(apply(f, 2, &c), 1);
    assert_int_equal(c.kind, COMMAND_LEASE);
    assert_int_equal(c.client, client);
    assert_near(c.values[0], 0.0, 0.0);
    session *b = session_open(&f->hub);
    say(f, b, "{\"op\":\"lease\"}");
    assert_int_equal(apply(f, 3, &c), 1);
}

static void watchers_get_states_at_their_rate_and_slow_ones_lose_them(void **state)
{
    fixture *f = *state;
    session *fast = session_open(&f->hub);
    session *slow = session_open(&f->hub);
    say(f, fast, "{\"op\":\"watch\",\"rate_hz\":10}");
    say(f, slow, "{\"op\":\"watch\",\"rate_hz\":100}");
    int states = 0;

    /* 10 s of reports at 100 Hz */
    for (int i = 0; i < 1000; i++) {
        servo_report report = {.tick = (uint64_t)i, .hand_count = 1};
        assert_true(ring_push(&f->door.reports, &report));
        session_poll(&f->hub, (int64_t)i * 10000000);
        states += strstr(heard(fast), "\"state\"") != NULL;
    }

    assert_int_equal(states, 100);
    assert_true(slow->states_lost > 800);
    assert_true(slow->outbox_used <= SESSION_OUTBOX_BYTES / 2);
    assert_false(slow->is_broken);
    say(f, fast, "{\"op\":\"unwatch\"}");
    heard(fast);
    session_poll(&f->hub, 0);
    assert_int_equal(fast->outbox_used, 0);
}

static void a_client_that_never_reads_is_given_up(void **state)
{
    fixture *f = *state;
    session *s = session_open(&f->hub);
    for (int i = 0; i < 10000 && !s->is_broken; i++)
        say(f, s, "{\"op\":\"status\"}");
    assert_true(s->is_broken);
}

static void too_many_commands_and_clients_are_refused(void **state)
{
    fixture *f = *state;
    session *s = session_open(&f->hub);
    for (int i = 0; i < SESSION_PENDING_MAX; i++)
        say(f, s, "{\"op\":\"arm\"}");
    assert_string_equal(heard(s), "");
    say(f, s, "{\"op\":\"arm\"}");
    assert_non_null(strstr(heard(s), "too many commands"));
    for (int i = 1; i < SESSIONS_MAX; i++)
        assert_non_null(session_open(&f->hub));
    assert_null(session_open(&f->hub));
}

/* --- through the socket ------------------------------------------------------------------------
 */

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads up to and with a newline; the socket blocks. */
static const char *read_line(int fd)
{
    static char line[PROTOCOL_REPLY_MAX];
    size_t used = 0;
    while (used < sizeof line - 1 && recv(fd, line + used, 1, 0) == 1)
        if (line[used++] == '\n')
            break;
    line[used] = '\0';
    return line;
}

/* Waits for a command; 10 s, only against a test that hangs. */
static bool apply_soon(fixture *f, uint64_t tick, servo_command *last)
{
    for (int i = 0; i < 10000; i++) {
        if (apply(f, tick, last) > 0)
            return true;
        usleep(1000);
    }
    return false;
}

static void the_socket_is_the_owners_alone_and_gone_at_the_end(void **state)
{
    fixture *f = *state;
    hr_error error;
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &f->control, &error),
                     HR_OK);
    struct stat about;
    assert_int_equal(stat(f->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);

    control *second = NULL;
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &second, &error),
                     HR_ERR_BUSY);
    assert_non_null(strstr(error.text, "another hapticd"));
    assert_null(second);

    control_close(f->control);
    f->control = NULL;
    assert_int_not_equal(stat(f->path, &about), 0);
    assert_int_equal(control_connect(f->path, &error), -1);
    assert_non_null(strstr(error.text, f->path));
}

static void a_dead_socket_file_is_replaced_but_no_other_file(void **state)
{
    fixture *f = *state;
    hr_error error;
    control *dead = NULL;
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &dead, &error), HR_OK);
    char kept[160];
    snprintf(kept, sizeof kept, "%s.kept", f->path);
    assert_int_equal(rename(f->path, kept), 0);
    control_close(dead);
    assert_int_equal(rename(kept, f->path), 0);
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &f->control, &error),
                     HR_OK);
    control_close(f->control);
    f->control = NULL;

    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &f->control, &error),
                     HR_ERR_BUSY);
    unlink(f->path);
}

static void a_conversation_through_the_socket(void **state)
{
    fixture *f = *state;
    hr_error error;
    assert_int_equal(control_open(f->path, &f->hub, servo_clock_live(), &f->control, &error),
                     HR_OK);
    assert_int_equal(control_start(f->control, &error), HR_OK);
    int fd = control_connect(f->path, &error);
    assert_true(fd >= 0);

    /* two requests in pieces, an empty line, one that is too long */
    send_text(fd, "{\"op\":\"sta");
    send_text(fd, "tus\",\"id\":1}\n\n{\"op\":\"nothing\"}\n");
    assert_string_equal(read_line(fd),
                        "{\"ok\":true,\"id\":1,\"status\":{\"has_report\":false}}\n");
    assert_non_null(strstr(read_line(fd), "got \\\"nothing\\\""));
    static char longest[3 * PROTOCOL_LINE_MAX];
    memset(longest, 'x', sizeof longest - 2);
    longest[sizeof longest - 2] = '\n';
    send_text(fd, longest);
    assert_non_null(strstr(read_line(fd), "at most 4096 bytes"));
    send_text(fd, "{\"op\":\"lease\",\"seconds\":30,\"id\":2}\n");

    servo_command c = {0};
    assert_true(apply_soon(f, 9, &c));
    assert_int_equal(c.kind, COMMAND_LEASE);
    assert_string_equal(read_line(fd), "{\"ok\":true,\"id\":2,\"tick\":9,\"client\":1}\n");

    /* killed: the lease comes back without anybody asking */
    close(fd);
    assert_true(apply_soon(f, 10, &c));
    assert_int_equal(c.kind, COMMAND_LEASE);
    assert_near(c.values[0], 0.0, 0.0);
}

static void the_path_follows_the_environment(void **state)
{
    fixture *f = *state;
    (void)f;
    char path[CONFIG_PATH_MAX];
    char expected[64];
    hr_error error;
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(control_path("", path, sizeof path, &error), HR_OK);
    snprintf(expected, sizeof expected, "/tmp/hapticd-%u.sock", (unsigned)getuid());
    assert_string_equal(path, expected);
    setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1);
    assert_int_equal(control_path("", path, sizeof path, &error), HR_OK);
    assert_string_equal(path, expected);
    setenv("XDG_RUNTIME_DIR", "/tmp/", 1);
    assert_int_equal(control_path("", path, sizeof path, &error), HR_OK);
    assert_string_equal(path, "/tmp//hapticd.sock");
    assert_int_equal(control_path("/x/y", path, sizeof path, &error), HR_OK);
    assert_string_equal(path, "/x/y");
    char longest[200];
    memset(longest, 'p', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(control_path(longest, path, sizeof path, &error), HR_ERR_CAPACITY);
    unsetenv("XDG_RUNTIME_DIR");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(a_command_is_answered_with_the_tick_it_was_applied_at),
        WITH_FIXTURE(answers_go_to_the_client_that_asked),
        WITH_FIXTURE(only_the_holder_of_the_lease_may_push),
        WITH_FIXTURE(every_hand_has_its_own_lease),
        WITH_FIXTURE(no_answer_is_lost_when_many_ask_at_once),
        WITH_FIXTURE(a_lease_that_runs_out_ends_at_the_servo),
        WITH_FIXTURE(a_client_that_goes_away_loses_its_lease),
        WITH_FIXTURE(watchers_get_states_at_their_rate_and_slow_ones_lose_them),
        WITH_FIXTURE(a_client_that_never_reads_is_given_up),
        WITH_FIXTURE(too_many_commands_and_clients_are_refused),
        WITH_FIXTURE(the_socket_is_the_owners_alone_and_gone_at_the_end),
        WITH_FIXTURE(a_dead_socket_file_is_replaced_but_no_other_file),
        WITH_FIXTURE(a_conversation_through_the_socket),
        WITH_FIXTURE(the_path_follows_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
