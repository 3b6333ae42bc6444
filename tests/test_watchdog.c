#include "tests/test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/watchdog.h"

enum { MS = 1000000 };

static void a_heartbeat_that_changes_never_trips(void **state)
{
    (void)state;
    watchdog w;
    watchdog_init(&w, 100 * MS);

    for (int i = 0; i < 1000; i++)
        assert_false(watchdog_check(&w, (uint64_t)i, (int64_t)i * 99 * MS));

    assert_false(w.is_tripped);
}

static void a_heartbeat_that_stands_still_trips_once_and_latches(void **state)
{
    (void)state;
    watchdog w;
    watchdog_init(&w, 100 * MS);
    assert_false(watchdog_check(&w, 5, 0));

    assert_false(watchdog_check(&w, 5, 100 * MS));
    assert_true(watchdog_check(&w, 5, 101 * MS));
    assert_false(watchdog_check(&w, 5, 102 * MS));

    /* the servo comes back: still tripped, until the operator says so */
    assert_false(watchdog_check(&w, 6, 103 * MS));
    assert_true(w.is_tripped);
    watchdog_arm(&w, 104 * MS);
    assert_false(w.is_tripped);
    assert_false(watchdog_check(&w, 6, 204 * MS));
    assert_true(watchdog_check(&w, 6, 205 * MS));
}

static void nothing_trips_before_the_first_beat(void **state)
{
    (void)state;
    watchdog w;
    watchdog_init(&w, 100 * MS);
    for (int i = 0; i < 100; i++)
        assert_false(watchdog_check(&w, 0, (int64_t)i * 1000 * MS));
}

/* A service manager of our own: a datagram socket that counts what it is fed. */
static int listen_at(char *path, size_t size)
{
    snprintf(path, size, "@hapticd-test-%d", (int)getpid());
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, path + 1, strlen(path) - 1);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    return fd;
}

static void the_service_manager_is_fed_only_while_healthy(void **state)
{
    (void)state;
    char path[64];
    char text[64] = "";
    int fd = listen_at(path, sizeof path);
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "200000", 1);
    notifier n;
    notifier_open(&n);
    assert_int_equal(n.feed_ns, 100 * MS);

    notifier_send(&n, "READY=1");
    assert_int_equal(recv(fd, text, sizeof text, 0), 7);
    assert_memory_equal(text, "READY=1", 7);
    assert_true(notifier_feed(&n, true, 0));
    assert_false(notifier_feed(&n, true, 99 * MS));
    assert_true(notifier_feed(&n, true, 100 * MS));
    assert_false(notifier_feed(&n, false, 200 * MS));
    assert_false(notifier_feed(&n, false, 900 * MS));

    int fed = 0;
    ssize_t length;
    while ((length = recv(fd, text, sizeof text, 0)) > 0)
        fed += length == 10 && memcmp(text, "WATCHDOG=1", 10) == 0;
    assert_int_equal(fed, 2);
    notifier_close(&n);
    close(fd);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
}

static void without_a_service_manager_nothing_is_sent(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    setenv("WATCHDOG_USEC", "1000", 1);
    notifier n;
    notifier_open(&n);
    notifier_send(&n, "READY=1");
    assert_int_equal(n.fd, -1);
    assert_false(notifier_feed(&n, true, 0));
    notifier_close(&n);
    setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
    notifier_open(&n);
    assert_int_equal(n.fd, -1);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_that_changes_never_trips),
        cmocka_unit_test(a_heartbeat_that_stands_still_trips_once_and_latches),
        cmocka_unit_test(nothing_trips_before_the_first_beat),
        cmocka_unit_test(the_service_manager_is_fed_only_while_healthy),
        cmocka_unit_test(without_a_service_manager_nothing_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
