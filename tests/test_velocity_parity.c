#include "tests/test.h"

#include "devices/velocity.h"

static const int64_t ms = 1000000;

/* A ramp of 3.3 counts per ms, seen in whole counts. */
static double ramp(int n)
{
    return floor(3.3 * n + 0.5);
}

/* CHAI3D's estimator: after its window of 15 ms the slope is right within one count per window, and
 * zero within a window after a stop. */
static void the_parity_estimate_follows_a_ramp_and_a_stop(void **state)
{
    (void)state;
    velocity_parity v;
    velocity_parity_init(&v);
    for (int n = 0; n < 100; n++) {
        double speed = velocity_parity_add(&v, n * ms, ramp(n));
        if (n > 15)
            assert_near(speed, 3300, 1 / 0.013);
    }
    for (int n = 100; n < 200; n++) {
        double speed = velocity_parity_add(&v, n * ms, ramp(99));
        if (n > 115)
            assert_near(speed, 0, 0);
    }
}

static void samples_less_than_a_tenth_of_a_millisecond_apart_change_nothing(void **state)
{
    (void)state;
    velocity_parity v;
    velocity_parity_init(&v);
    for (int n = 0; n < 50; n++)
        velocity_parity_add(&v, n * ms, ramp(n));
    double before = v.estimate;
    assert_near(velocity_parity_add(&v, 49 * ms + 99000, 1e6), before, 0);
    assert_true(velocity_parity_add(&v, 49 * ms + 101000, 1e6) > before);
}

/* The adaptive window: on a ramp the error is at most two counts over its longest window; a stop
 * shows at once in a shorter one. */
static void the_window_adapts(void **state)
{
    (void)state;
    velocity_window v;
    velocity_window_init(&v, 1);
    for (int n = 0; n < 100; n++) {
        double speed = velocity_window_add(&v, n * ms, ramp(n));
        if (n > VELOCITY_WINDOW_MAX)
            assert_near(speed, 3300, 2 / (1e-3 * (VELOCITY_WINDOW_MAX - 1)));
    }
    double speed = 0;
    for (int n = 100; n < 105; n++)
        speed = velocity_window_add(&v, n * ms, ramp(99));
    assert_near(speed, 0, 400);
    for (int n = 105; n < 130; n++)
        speed = velocity_window_add(&v, n * ms, ramp(99));
    assert_near(speed, 0, 0);
}

static void jittered_stamps_and_gaps_are_survived(void **state)
{
    (void)state;
    test_random r = test_random_seed(5);
    velocity_window w;
    velocity_alpha_beta a;
    velocity_parity p;
    velocity_window_init(&w, 1);
    velocity_alpha_beta_init(&a, 0.25);
    velocity_parity_init(&p);
    int64_t t = 0;
    for (int n = 0; n < test_effort(100000); n++) {
        t += test_random_index(&r, 100) == 0 ? test_random_index(&r, 1000) * ms
                                             : test_random_index(&r, 2000000);
        double x = floor(1000 * sin((double)t * 1e-9));
        assert_true(isfinite(velocity_window_add(&w, t, x)));
        assert_true(isfinite(velocity_alpha_beta_add(&a, t, x)));
        assert_true(isfinite(velocity_parity_add(&p, t, x)));
    }
}

/* Critically damped: on a ramp the tracker's error dies away as n r^n with r = sqrt(1 - alpha), and
 * overshoots by no more than a seventh on the way. */
static void the_tracker_settles_on_a_ramp(void **state)
{
    (void)state;
    velocity_alpha_beta v;
    velocity_alpha_beta_init(&v, 0.25);
    double speed = 0;
    for (int n = 0; n < 200; n++) {
        speed = velocity_alpha_beta_add(&v, n * ms, 3.3 * n);
        assert_true(speed < 3300 * 1.15);
    }
    assert_near(speed, 3300, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parity_estimate_follows_a_ramp_and_a_stop),
        cmocka_unit_test(samples_less_than_a_tenth_of_a_millisecond_apart_change_nothing),
        cmocka_unit_test(the_window_adapts),
        cmocka_unit_test(jittered_stamps_and_gaps_are_survived),
        cmocka_unit_test(the_tracker_settles_on_a_ramp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
