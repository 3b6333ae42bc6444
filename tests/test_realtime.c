/* threads: starts threads with and without real-time scheduling. */
#include "tests/test.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>

#include "server/realtime.h"

static void the_highest_cpu_of_a_list_is_found(void **state)
{
    (void)state;
    assert_int_equal(realtime_highest_cpu(""), -1);
    assert_int_equal(realtime_highest_cpu("\n"), -1);
    assert_int_equal(realtime_highest_cpu("3\n"), 3);
    assert_int_equal(realtime_highest_cpu("2-5\n"), 5);
    assert_int_equal(realtime_highest_cpu("1,4-7,3"), 7);
    assert_int_equal(realtime_highest_cpu("rubbish"), -1);
    assert_int_equal(realtime_highest_cpu("99999999999"), -1);
}

static void *report_policy(void *argument)
{
    realtime_touch_stack();
    struct sched_param parameters;
    int policy = -1;
    pthread_getschedparam(pthread_self(), &policy, &parameters);
    *(int *)argument = policy;
    return NULL;
}

/* Whatever this machine grants: the thread runs, and what is said of it is true. */
static void a_thread_starts_with_what_is_granted_and_says_so(void **state)
{
    (void)state;
    realtime_state s = {.cpu = -1, .latency_fd = -1};
    int policy = -1;
    pthread_t thread;

    assert_int_equal(realtime_start(&s, 5, report_policy, &policy, &thread), HR_OK);
    pthread_join(thread, NULL);

    assert_int_equal(policy, s.has_fifo ? SCHED_FIFO : SCHED_OTHER);
    assert_int_equal(s.has_fifo, s.fifo_error == 0);
    print_message("SCHED_FIFO %s, CAP_SYS_NICE %d\n", s.has_fifo ? "granted" : "refused",
                  realtime_has_capability(CAP_SYS_NICE));
}

static void a_cpu_that_does_not_exist_is_no_reason_not_to_run(void **state)
{
    (void)state;
    realtime_state s = {.cpu = 1000, .latency_fd = -1};
    int policy = -1;
    pthread_t thread;

    assert_int_equal(realtime_start(&s, 5, report_policy, &policy, &thread), HR_OK);
    pthread_join(thread, NULL);

    assert_int_equal(s.cpu, -1);
    assert_int_not_equal(policy, -1);
}

static void a_refusal_is_explained_with_the_command_that_mends_it(void **state)
{
    (void)state;
    realtime_state s = {.fifo_error = EPERM, .lock_error = ENOMEM, .cpu = -1};
    char text[2048];

    assert_true(realtime_is_degraded(&s));
    realtime_explain(&s, "/opt/hapticd", text, sizeof text);

    const char *parts[] = {"SCHED_FIFO refused: Operation not permitted",
                           "locking memory refused: Cannot allocate memory",
                           "CAP_SYS_NICE ",
                           "CAP_IPC_LOCK ",
                           "rtprio ",
                           "memlock ",
                           "RT group scheduling",
                           "sudo setcap cap_sys_nice,cap_ipc_lock=ep /opt/hapticd",
                           "servo.allow_degraded"};
    for (int i = 0; i < HR_COUNT(parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is missing in:\n%s", parts[i], text);
    realtime_describe(&s, text, sizeof text);
    assert_string_equal(text, "normal scheduling (Operation not permitted), memory not locked "
                              "(Cannot allocate memory)");
}

static void what_is_granted_needs_no_explanation(void **state)
{
    (void)state;
    realtime_state s = {.has_fifo = true,
                        .priority = 80,
                        .has_locked_memory = true,
                        .cpu = 3,
                        .cpu_is_isolated = true};
    char text[256];

    assert_false(realtime_is_degraded(&s));
    realtime_explain(&s, "hapticd", text, sizeof text);
    assert_string_equal(text, "");
    realtime_describe(&s, text, sizeof text);
    assert_string_equal(text, "SCHED_FIFO 80, memory locked, cpu 3 isolated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_cpu_of_a_list_is_found),
        cmocka_unit_test(a_thread_starts_with_what_is_granted_and_says_so),
        cmocka_unit_test(a_cpu_that_does_not_exist_is_no_reason_not_to_run),
        cmocka_unit_test(a_refusal_is_explained_with_the_command_that_mends_it),
        cmocka_unit_test(what_is_granted_needs_no_explanation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
