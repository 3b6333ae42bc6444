/* The servo makes no system call but its sleep, and touches no new page: shown on a complete live
 * server by a seccomp filter on the servo's thread and by the kernel's count of page faults. Every
 * check has controls that must fail. (What makes no system call, a small malloc or a free mutex, is
 * for the real-time sanitizer: make check-rtsan.) Not among the TSan programs: that runtime makes
 * system calls of its own. */
#include "tests/test.h"

#include <seccomp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clean_run.h"

enum { WARM_UP = 300, TICKS = 700, CODE_FAULTS = 10, CODE_NO_FILTER = 11 };

static clean_run run;
static offence wanted;
static _Atomic bool is_over;
static int64_t new_faults;

static int64_t faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* From here on this thread may sleep to an absolute time, and do nothing else. */
static void forbid_system_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter || seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clock_nanosleep), 0) != 0 ||
        seccomp_load(filter) != 0)
        _exit(CODE_NO_FILTER);
}

static void *filtered(void *unused)
{
    realtime_touch_stack();
    clean_run_ticks(&run, WARM_UP);
    clean_run_offend();
    forbid_system_calls();
    clean_run_ticks(&run, TICKS);
    atomic_store(&is_over, true);
    for (;;) /* even ending a thread is a system call: the main thread ends the process */
        servo_clock_wait(&run.server->servo.clock, INT64_MAX / 4);
    return unused;
}

static void *counted(void *unused)
{
    realtime_touch_stack();
    clean_run_ticks(&run, WARM_UP);
    clean_run_offend();
    int64_t before = faults();
    clean_run_ticks(&run, TICKS);
    new_faults = faults() - before;
    atomic_store(&is_over, true);
    return unused;
}

/* Runs the servo in a thread of a child process; the child's wait status. */
static int in_child(void *(*body)(void *), offence o)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wanted = o;
        clean_run_open(&run, wanted);
        pthread_t thread;
        if (realtime_start_normal(body, NULL, &thread) != HR_OK)
            _exit(3);
        while (!atomic_load(&is_over))
            usleep(2000);
        unlink(run.path);
        if (body == counted)
            fprintf(stderr, "page faults of the servo in %d ticks: %lld\n", TICKS,
                    (long long)new_faults);
        _exit(new_faults == 0 ? 0 : CODE_FAULTS);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    char path[64]; /* of a child that was killed */
    snprintf(path, sizeof path, "/tmp/hapticd-clean-%d.mcap", (int)child);
    unlink(path);
    return status;
}

static void assert_killed(int status)
{
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void assert_exit(int status, int code)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

static void the_servo_makes_no_system_call_but_its_sleep(void **state)
{
    (void)state;
    assert_exit(in_child(filtered, OFFENCE_NONE), 0);
}

static void control_a_driver_that_prints_is_killed(void **state)
{
    (void)state;
    assert_killed(in_child(filtered, OFFENCE_PRINT));
}

static void control_a_driver_that_allocates_much_is_killed(void **state)
{
    (void)state;
    assert_killed(in_child(filtered, OFFENCE_MAP));
}

static void the_servo_meets_no_new_page_after_warm_up(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* that sanitizer's shadow memory is met page by page */
#endif
    assert_exit(in_child(counted, OFFENCE_NONE), 0);
}

static void control_a_driver_that_touches_new_pages_is_noticed(void **state)
{
    (void)state;
    assert_exit(in_child(counted, OFFENCE_TOUCH_PAGES), CODE_FAULTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_servo_makes_no_system_call_but_its_sleep),
        cmocka_unit_test(control_a_driver_that_prints_is_killed),
        cmocka_unit_test(control_a_driver_that_allocates_much_is_killed),
        cmocka_unit_test(the_servo_meets_no_new_page_after_warm_up),
        cmocka_unit_test(control_a_driver_that_touches_new_pages_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
