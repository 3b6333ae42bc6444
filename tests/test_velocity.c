/* The adaptive window, against its definition tried out on every window. */
#include "tests/test.h"

#include "devices/velocity.h"

enum { SAMPLES = 400 };

/* The longest window whose line passes all samples between within the noise. */
static double by_definition(const double *x, const int64_t *t, int newest, double noise)
{
    double best = 0;
    for (int age = 1; age < VELOCITY_WINDOW_MAX && age <= newest; age++) {
        double slope =
            (x[newest] - x[newest - age]) / (1e-9 * (double)(t[newest] - t[newest - age]));
        for (int k = 1; k < age; k++) {
            double back = 1e-9 * (double)(t[newest] - t[newest - k]);
            if (fabs(x[newest] - slope * back - x[newest - k]) > 1.001 * noise)
                return best;
        }
        best = slope;
    }
    return best;
}

static void window_is_the_longest_that_fits(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    for (int trial = 0; trial < test_effort(300); trial++) {
        double x[SAMPLES], step = 40e-6;
        int64_t t[SAMPLES];
        double amplitude = test_random_between(&r, 1e-4, 0.02),
               hz = test_random_between(&r, 0.2, 8);
        velocity_window v;
        velocity_window_init(&v, step);
        int differ = 0;
        for (int i = 0; i < SAMPLES; i++) {
            t[i] = (i ? t[i - 1] : 0) + (int64_t)test_random_between(&r, 0.9e6, 1.1e6);
            double true_x = amplitude * sin(2 * M_PI * hz * 1e-9 * (double)t[i]);
            x[i] = true_x + test_random_between(&r, -step, step);
            double got = velocity_window_add(&v, t[i], x[i]);
            double expected = by_definition(x, t, i, step);
            differ += fabs(got - expected) > 1e-9 * (1 + fabs(expected)) && i > 0;
        }
        assert_int_equal(differ, 0);
    }
}

/* Encoder steps of 40 um at 1 kHz: one count is 40 mm/s for a plain difference. */
static void slow_motion_is_quiet_and_fast_motion_is_prompt(void **state)
{
    (void)state;
    velocity_window v;
    velocity_window_init(&v, 40e-6);
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        double x = 40e-6 * rint(0.01 * i * 1e-3 / 40e-6); /* 10 mm/s */
        double got = velocity_window_add(&v, i * 1000000L, x);
        if (i > 50)
            worst = fmax(worst, fabs(got - 0.01));
    }
    print_message("10 mm/s: %.2f mm/s off\n", 1e3 * worst);
    assert_true(worst <= 2 * 40e-6 / 0.019); /* both ends a step off, over the longest window */

    /* A sudden stop from 0.5 m/s is seen within two samples. */
    velocity_window_reset(&v);
    for (int i = 0; i < 50; i++)
        velocity_window_add(&v, i * 1000000L, 0.5e-3 * i);
    velocity_window_add(&v, 50000000L, 0.5e-3 * 49);
    assert_near(velocity_window_add(&v, 51000000L, 0.5e-3 * 49), 0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_is_the_longest_that_fits),
        cmocka_unit_test(slow_motion_is_quiet_and_fast_motion_is_prompt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
