/* How it must feel with a hand in the loop, on a few of the cases that the benchmark runs. */
#include "tests/test.h"

#include "tests/support/feel_grip.h"

static void walls_put_out_no_energy(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        grip_case c = grip_case_usual(i & 1 ? 2500 : 1500);
        c.axis = i >> 1 & 1;
        c.device_friction = i & 4 ? 0 : -1;
        const grip *how = &grips[(2 * i) % GRIPS];
        grip_energy e = feel_energy(&c, how);
        print_message("%.0f N/m, %s grip: %.2g J beyond the bound of %.2g J, %d contacts\n",
                      c.stiffness, how->name, e.worst, e.bound, e.episodes);
        assert_true(e.episodes >= 4);
        assert_true(e.worst <= 0);
    }
}

static void stiff_walls_are_held_by_any_grip(void **state)
{
    (void)state;
    for (int i = 0; i < GRIPS; i++) {
        grip_case c = grip_case_usual(2500);
        c.tremor = 0;
        double held = feel_swing(&c, &grips[i]);
        c.device_friction = 0;
        double free = feel_swing(&c, &grips[i]);
        print_message("2500 N/m, %s grip: %.1f um, %.1f um without friction in the device\n",
                      grips[i].name, 1e6 * held, 1e6 * free);
        assert_true(held <= GRIP_CYCLE_M);
        assert_true(free <= GRIP_CYCLE_M);
    }
    /* The measure can tell: the same wall without the layer swings in a light grip. */
    grip_case bare = grip_case_usual(2500);
    bare.tremor = 0;
    bare.device_friction = 0;
    bare.is_layer_off = 1;
    assert_true(feel_swing(&bare, &grips[0]) > 5 * GRIP_CYCLE_M);
}

static void a_steady_press_is_quiet(void **state)
{
    (void)state;
    for (int i = 0; i < GRIPS; i++) {
        grip_case c = grip_case_usual(1500);
        assert_true(feel_ripple(&c, &grips[i]) <= 0.03);
    }
}

static void friction_is_felt_as_it_is(void **state)
{
    (void)state;
    for (int i = 0; i < GRIPS; i += 2) {
        int breaks = 0;
        grip_case c = grip_case_usual(1500);
        double error = feel_grip_friction(&c, &grips[i], &breaks);
        print_message("%s grip: %.2f %% off, %d times broken away\n", grips[i].name, 100 * error,
                      breaks);
        assert_true(breaks > 0);
        assert_true(error <= 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_put_out_no_energy),
        cmocka_unit_test(stiff_walls_are_held_by_any_grip),
        cmocka_unit_test(a_steady_press_is_quiet),
        cmocka_unit_test(friction_is_felt_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
