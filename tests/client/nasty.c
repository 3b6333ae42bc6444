/* usage: nasty SOCKET
 * Clients that nobody wants: garbage, endless lines, floods, crowds, forces that are none, programs
 * that die or fall asleep with a force on. Each must get a clear answer or lose its force, and the
 * server must go on serving the others. Prints "ok" and "not ok". */
#include <errno.h>
#include <fcntl.h>
#include <haptic.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/client/board.h"

static const char *path;
static haptic_client *watcher;
static int failures;

static void check(int is_good, const char *name, const char *found)
{
    printf("%s %s%s%s\n", is_good ? "ok" : "not ok", name, is_good ? "" : ": ",
           is_good ? "" : found);
    fflush(stdout);
    failures += !is_good;
}

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void say(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

/* The next line, or "" where none comes. */
static const char *hear(int fd)
{
    static char line[20000];
    size_t used = 0;
    while (used + 1 < sizeof line) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        if (poll(&input, 1, 5000) <= 0 || recv(fd, line + used, 1, 0) != 1)
            break;
        if (line[used] == '\n')
            break;
        used++;
    }
    line[used] = '\0';
    return line;
}

static const char *ask(int fd, const char *line)
{
    say(fd, line, strlen(line));
    say(fd, "\n", 1);
    return hear(fd);
}

static int is_refusal(const char *answer)
{
    return strncmp(answer, "{\"ok\":false,", 12) == 0 && strstr(answer, "\"error\":\"") != NULL;
}

static int is_served(int fd)
{
    return strncmp(ask(fd, "{\"op\":\"status\"}"), "{\"ok\":true,", 11) == 0;
}

/* Waits for ticks of the servo, however long they take. */
static haptic_state after_ticks(int count)
{
    haptic_state s = {0};
    if (haptic_read(watcher, &s) != 0)
        return s;
    for (uint64_t end = s.tick + (uint64_t)count; s.tick < end;)
        if (haptic_wait(watcher, &s) != 0)
            break;
    return s;
}

static double size_of(const haptic_state *s)
{
    return sqrt(s->force[0] * s->force[0] + s->force[1] * s->force[1] + s->force[2] * s->force[2]);
}

static void wrong_lines_are_refused_one_by_one(void)
{
    static const char *const lines[] = {
        "hello",
        "{",
        "[]",
        "null",
        "\"op\"",
        "{\"op\":1}",
        "{\"op\":\"fly\"}",
        "{\"op\":\"status\",\"colour\":1}",
        "{\"op\":\"status\",\"op\":\"arm\"}",
        "{\"op\":\"estop\",\"hand\":7}",
        "{\"op\":\"estop\",\"hand\":-1}",
        "{\"op\":\"estop\",\"hand\":0.5}",
        "{\"op\":\"lease\"}{\"op\":\"lease\"}",
        "{\"op\":\"lease\",\"seconds\":0}",
        "{\"op\":\"lease\",\"seconds\":1e99}",
        "{\"op\":\"lease\",\"seconds\":\"1\"}",
        "{\"op\":\"release\"}",
        "{\"op\":\"force\",\"force_n\":[0,0,1]}", /* without a lease */
        "{\"op\":\"force\",\"force_n\":[NaN,0,0]}",
        "{\"op\":\"force\",\"force_n\":[1e999,0,0]}",
        "{\"op\":\"force\",\"force_n\":[0,0]}",
        "{\"op\":\"force\",\"force_n\":[0,0,0,0]}",
        "{\"op\":\"force\",\"force_n\":\"up\"}",
        "{\"op\":\"set\",\"key\":\"safety.max_force_n\",\"value\":-1}",
        "{\"op\":\"set\",\"key\":\"no.such\",\"value\":1}",
        "{\"op\":\"mark\",\"text\":7}",
        "{\"op\":\"watch\",\"rate_hz\":1000000}",
        "{\"op\":\"status\",\"id\":\"x\"}",
        "\xff\xfe\x80 not UTF-8",
        "{\"op\":\"mark\",\"text\":\"\xc3\x28\"}",
    };
    int fd = dial();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *answer = ask(fd, lines[i]);
        if (!is_refusal(answer)) {
            check(0, lines[i], answer);
            close(fd);
            return;
        }
    }
    check(is_served(fd), "every wrong line is refused with its reason, the next one is served", "");
    close(fd);
}

static void bytes_without_sense_do_not_matter(void)
{
    char bytes[4096];
    int fd = dial();
    srand(7);
    for (int n = 0; n < 200; n++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)rand();
        say(fd, bytes, sizeof bytes);
        while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            ;
    }
    close(fd);
    fd = dial();
    say(fd, "{\"op\":\"estop\"", 13); /* half a line, then gone */
    close(fd);
    haptic_state s = after_ticks(50);
    fd = dial();
    check(is_served(fd) && s.state == 4 /* running */,
          "random bytes and half a line change nothing", "");
    close(fd);
}

static void a_line_of_a_megabyte_is_refused_once(void)
{
    size_t size = 1 << 20;
    char *line = malloc(size);
    int fd = dial();
    memset(line, 'a', size);
    line[size - 1] = '\n';
    say(fd, line, size);
    const char *answer = hear(fd);
    check(is_refusal(answer) && strstr(answer, "4096"), "a line of a megabyte is refused", answer);
    check(is_served(fd), "once, and the connection goes on", "");
    memset(line, '[', 4000);
    line[4000] = '\0';
    check(is_refusal(ask(fd, line)), "four thousand brackets are refused", "");
    close(fd);
    free(line);
}

static void a_crowd_is_told_that_it_is_too_big(void)
{
    enum { CROWD = 100 };
    int fds[CROWD];
    int served = 0;
    int refused = 0;
    for (int i = 0; i < CROWD; i++)
        fds[i] = dial();
    for (int i = 0; i < CROWD; i++) {
        const char *answer = fds[i] >= 0 ? ask(fds[i], "{\"op\":\"status\"}") : "";
        served += strncmp(answer, "{\"ok\":true,", 11) == 0;
        refused += is_refusal(answer) && strstr(answer, "too many clients");
    }
    char found[64];
    snprintf(found, sizeof found, "%d served, %d refused", served, refused);
    check(served >= 30 && served + refused == CROWD,
          "of a hundred connections some are served, the "
          "others told why not",
          found);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    (void)after_ticks(100);
    int fd = dial();
    check(is_served(fd), "after the crowd has gone a newcomer is served", "");
    close(fd);
}

static void who_never_reads_is_dropped(void)
{
    static const char request[] = "{\"op\":\"status\"}\n";
    int fd = dial();
    int other = dial();
    ssize_t sent = 1;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (long n = 0; n < 3000000 && (sent > 0 || errno == EAGAIN); n++)
        sent = send(fd, request, sizeof request - 1, MSG_NOSIGNAL);
    check(sent < 0 && errno == EPIPE, "a client that floods and never reads is dropped", "");
    check(is_served(other), "while the others are served", "");
    close(fd);
    close(other);
}

static void the_lease_is_one_clients(void)
{
    int a = dial();
    int b = dial();
    check(strstr(ask(a, "{\"op\":\"lease\",\"seconds\":0.2}"), "\"ok\":true") != NULL,
          "the first client gets the lease", "");
    const char *answer = ask(b, "{\"op\":\"lease\",\"seconds\":1}");
    check(is_refusal(answer) && strstr(answer, "another client"), "the second is told who has it",
          answer);
    check(is_refusal(ask(b, "{\"op\":\"force\",\"force_n\":[1,0,0]}")), "and may not push", "");
    (void)ask(a, "{\"op\":\"force\",\"force_n\":[1,0,0]}");
    (void)after_ticks(500); /* a says nothing more: its lease runs out */
    check(strstr(ask(b, "{\"op\":\"lease\",\"seconds\":60}"), "\"ok\":true") != NULL,
          "a lease that runs out goes to the next", "");
    check(is_refusal(ask(a, "{\"op\":\"force\",\"force_n\":[1,0,0]}")),
          "the first may no longer push", "");
    haptic_state s = after_ticks(1);
    check(size_of(&s) == 0, "and its force is gone", "");
    close(b); /* with a lease of a minute: it ends with the connection */
    (void)after_ticks(100);
    check(strstr(ask(a, "{\"op\":\"lease\",\"seconds\":0.2}"), "\"ok\":true") != NULL,
          "a lease ends with its connection", "");
    close(a);
    (void)after_ticks(100);
}

static void too_much_is_cut(void)
{
    haptic_client *c = haptic_open(path, 0, NULL, 0);
    haptic_state s = {0};
    const double force[3] = {1000, 0, 0};
    double largest = 0;
    uint32_t reasons = 0;
    for (int n = 0; n < 300 && haptic_wait(c, &s) == 0 && haptic_force(c, force, 0.005) == 0; n++) {
        largest = fmax(largest, size_of(&s));
        reasons |= s.reasons;
    }
    char found[64];
    snprintf(found, sizeof found, "%.3f N, reasons %x", largest, reasons);
    check(largest > 1 && largest <= 8.0001 && reasons & 2, "1000 N become the limit, with a reason",
          found);
    haptic_close(c);
    s = after_ticks(300);
    check(size_of(&s) == 0, "and nothing when its client has closed", "");
}

static void what_is_no_force_is_refused(void)
{
    haptic_client *c = haptic_open(path, 0, NULL, 0);
    const double good[3] = {0.5, 0, 0};
    const double bad[3][3] = {
        {(double)NAN, 0, 0}, {0, (double)INFINITY, 0}, {0, 0, -(double)INFINITY}};
    int refused = 0;
    for (int i = 0; i < 3; i++)
        refused += haptic_force(c, bad[i], 0.005) != 0 && haptic_error(c)[0];
    refused += haptic_force(c, good, 0) != 0;
    refused += haptic_force(c, good, -1) != 0;
    refused += haptic_force(c, good, (double)NAN) != 0;
    check(refused == 6, "the library refuses forces and times that are none", "");
    check(haptic_force(c, good, 1e300) == 0, "and cuts a time without end", "");
    haptic_close(c);
    (void)after_ticks(200);
}

/* Straight into the shared memory, past the library. */
static void post(board *b, uint64_t client, int64_t deadline_ns, double x)
{
    board_command command = {.client = client, .deadline_ns = deadline_ns, .force = {x, 0, 0}};
    uint64_t words[BOARD_COMMAND_WORDS];
    memcpy(words, &command, sizeof words);
    for (int i = 0; i < BOARD_COMMAND_WORDS; i++)
        __atomic_store_n(&b->orders[0].words[i], words[i], __ATOMIC_RELEASE);
    __atomic_store_n(&b->orders[0].sequence, (b->orders[0].sequence & ~1ull) + 2, __ATOMIC_RELEASE);
}

static uint64_t lease_of(int fd)
{
    const char *answer = ask(fd, "{\"op\":\"lease\",\"seconds\":5}");
    const char *number = strstr(answer, "\"client\":");
    return number ? strtoull(number + 9, NULL, 10) : 0;
}

static void the_board_is_not_trusted(void)
{
    char file[200];
    snprintf(file, sizeof file, "%s.board", path);
    int memory = open(file, O_RDWR);
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    int fd = dial();
    uint64_t client = lease_of(fd);
    check(memory >= 0 && b != MAP_FAILED && client != 0, "the board can be written to", "");
    uint32_t reasons = 0;
    double largest = 0;
    haptic_state s = {0};
    for (int n = 0; n < 300; n++) {
        s = after_ticks(1);
        reasons |= s.reasons;
        largest = fmax(largest, size_of(&s));
        post(b, client, s.time_ns + 5000000, n % 2 ? (double)NAN : (double)INFINITY);
    }
    check(largest == 0 && reasons & 1, "a force that is no number stays zero and is said", "");
    for (int n = 0; n < 100; n++) {
        post(b, client + 1, INT64_MAX, 5); /* somebody else's number */
        s = after_ticks(1);
        largest = fmax(largest, size_of(&s));
        post(b, client, INT64_MIN, 5); /* long over */
        s = after_ticks(1);
        largest = fmax(largest, size_of(&s));
        post(b, client, 1, 5);
        s = after_ticks(1);
        largest = fmax(largest, size_of(&s));
    }
    check(largest < 5, "a wrong number and a time that is over do not push on", "");
    post(b, client, INT64_MAX, 2);
    s = after_ticks(5);
    double pushed = size_of(&s);
    s = after_ticks(200);
    check(pushed > 0 && size_of(&s) == 0, "a force without an end is let go", "");
    __atomic_store_n(&b->orders[0].sequence, b->orders[0].sequence | 1, __ATOMIC_RELEASE);
    close(fd);
    (void)after_ticks(100);
    haptic_client *next = haptic_open(path, 0, NULL, 0);
    const double force[3] = {1, 0, 0};
    for (int n = 0; n < 100 && haptic_wait(next, &s) == 0; n++)
        (void)haptic_force(next, force, 0.02);
    check(s.force[0] > 0.9, "a client that died while writing does not stop the next", "");
    haptic_close(next);
    munmap(b, sizeof *b);
    close(memory);
    (void)after_ticks(100);
}

/* A child pushes; it is killed, or stopped, and its force must go. */
static void push_for_ever(void)
{
    haptic_client *c = haptic_open(path, 0, NULL, 0);
    const double force[3] = {1.5, 0, 0};
    haptic_state s;
    while (c && haptic_wait(c, &s) == 0)
        if (haptic_force(c, force, 0.02) != 0)
            _exit(3);
    _exit(0);
}

static void until_it_pushes(void)
{
    haptic_state s = {0};
    for (int n = 0; n < 3000 && s.force[0] < 1.4; n++)
        s = after_ticks(1);
}

static void death_and_sleep_end_a_force(void)
{
    pid_t child = fork();
    if (child == 0)
        push_for_ever();
    until_it_pushes();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    haptic_state s = after_ticks(150);
    check(size_of(&s) == 0, "a killed client's force is gone", "");

    child = fork();
    if (child == 0)
        push_for_ever();
    until_it_pushes();
    kill(child, SIGSTOP);
    s = after_ticks(150); /* 20 ms of deadline and the fade */
    check(size_of(&s) == 0, "a sleeping client's force is gone", "");
    (void)after_ticks(1200); /* its lease of a second too */
    haptic_client *c = haptic_open(path, 0, NULL, 0);
    check(haptic_lease(c) == 0, "its lease as well", c ? haptic_error(c) : "");
    kill(child, SIGCONT);
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3,
          "awake again it is told that another has the lease", "");
    haptic_close(c);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    path = argv[1];
    watcher = haptic_open(path, 0, NULL, 0);
    if (!watcher)
        return 1;
    wrong_lines_are_refused_one_by_one();
    bytes_without_sense_do_not_matter();
    a_line_of_a_megabyte_is_refused_once();
    a_crowd_is_told_that_it_is_too_big();
    who_never_reads_is_dropped();
    the_lease_is_one_clients();
    too_much_is_cut();
    what_is_no_force_is_refused();
    the_board_is_not_trusted();
    death_and_sleep_end_a_force();
    haptic_close(watcher);
    return failures != 0;
}
