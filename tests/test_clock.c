#include "tests/test.h"

#include "server/clock.h"

static void virtual_time_moves_only_when_somebody_waits(void **state)
{
    (void)state;
    servo_clock c = servo_clock_lockstep(1000);

    assert_int_equal(servo_clock_now(&c), 1000);
    assert_int_equal(servo_clock_now(&c), 1000);
    assert_int_equal(servo_clock_wait(&c, 5000), 5000);
    assert_int_equal(servo_clock_now(&c), 5000);
}

static void a_wait_for_the_past_returns_at_once(void **state)
{
    (void)state;
    servo_clock c = servo_clock_lockstep(1000);

    assert_int_equal(servo_clock_wait(&c, 10), 1000);

    servo_clock live = servo_clock_live();
    int64_t before = servo_clock_now(&live);
    assert_true(servo_clock_wait(&live, before - 1000000) >= before);
}

static void work_and_planned_lateness_move_virtual_time(void **state)
{
    (void)state;
    const int64_t delays[] = {30, 0, 700};
    servo_clock c = servo_clock_lockstep(0);
    c.delays_ns = delays;
    c.delay_count = HR_COUNT(delays);

    assert_int_equal(servo_clock_wait(&c, 1000), 1030);
    servo_clock_spend(&c, 500);
    assert_int_equal(servo_clock_now(&c), 1530);
    assert_int_equal(servo_clock_wait(&c, 2000), 2000);
    assert_int_equal(servo_clock_wait(&c, 3000), 3700);
    assert_int_equal(servo_clock_wait(&c, 4000), 4000);
}

static void the_live_clock_never_goes_backwards_nor_wakes_early(void **state)
{
    (void)state;
    servo_clock c = servo_clock_live();
    int64_t last = servo_clock_now(&c);
    for (int i = 0; i < 1000; i++) {
        int64_t now = servo_clock_now(&c);
        assert_true(now >= last);
        last = now;
    }
    for (int i = 1; i <= 5; i++) {
        int64_t until = last + (int64_t)i * 200000;
        assert_true(servo_clock_wait(&c, until) >= until);
    }
    servo_clock_spend(&c, 1000000000000);
    assert_true(servo_clock_now(&c) < last + 1000000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_time_moves_only_when_somebody_waits),
        cmocka_unit_test(a_wait_for_the_past_returns_at_once),
        cmocka_unit_test(work_and_planned_lateness_move_virtual_time),
        cmocka_unit_test(the_live_clock_never_goes_backwards_nor_wakes_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
