/* How it must feel, on analytic bodies: the bars are those of the benchmarks with the same names.
 */
#include "tests/test.h"

#include "tests/support/feel.h"

static void sphere_is_rendered_exactly(void **state)
{
    (void)state;
    const double radii[] = {0, 0.0004, 0.002};
    for (int i = 0; i < 3; i++) {
        for (int fast = 0; fast < 2; fast++) {
            feel_slide f = feel_sphere(fast ? 0.5 : 0.1, radii[i], test_effort(20000), 0);
            print_message("sphere, tool %.1f mm, %.1f m/s: error %.4f %%, step %.4f N (exact "
                          "%.4f), lost %.2f %%\n",
                          1e3 * radii[i], fast ? 0.5 : 0.1, 100 * f.error, f.step, f.ideal,
                          100 * f.lost);
            assert_true(f.error <= 0.0005);
            assert_true(f.step <= f.ideal + 0.007);
            assert_true(f.lost == 0);
        }
        feel_slide f = feel_sphere(0.1, radii[i], test_effort(20000), 1);
        print_message("sphere, tool %.1f mm, tap: step %.4f N (exact %.4f)\n", 1e3 * radii[i],
                      f.step, f.ideal);
        assert_true(f.lost == 0);
    }
}

static void no_plate_passes_through(void **state)
{
    (void)state;
    test_random r = test_random_seed(8);
    int passed = 0, trials = test_effort(80);
    for (int i = 0; i < trials; i++) {
        double speed = 0.05 * pow(40, test_random_between(&r, 0, 1)); /* 0.05 to 2 m/s */
        passed += feel_plate(speed, i % 2, i % 4 < 2 ? 0.0005 : 0, i % 3 ? 0.002 : 0,
                             (unsigned)test_random_u64(&r));
    }
    print_message("plate: %d of %d pass through\n", passed, trials);
    assert_int_equal(passed, 0);
}

static void hinge_squeezes_the_proxy_out(void **state)
{
    (void)state;
    double inside = feel_hinge();
    print_message("hinge: %.4f mm inside\n", 1e3 * inside);
    assert_true(inside <= 0.05e-3);
}

static void slow_worlds_feel_smooth(void **state)
{
    (void)state;
    const double rates[] = {1000, 250, 100, 60};
    for (int i = 0; i < 4; i++) {
        double inside, step = feel_slow_poses(0.2, rates[i], &inside);
        print_message("poses at %.0f Hz, 0.2 m/s: %.3f N per tick (exact 0.3), %.1e m inside\n",
                      rates[i], step, inside);
        assert_true(step <= 0.35);
        assert_true(inside <= 0.05e-3);
    }
}

static void edges_are_round(void **state)
{
    (void)state;
    for (double depth = 0.00025; depth <= 0.002; depth *= 2) {
        double step = feel_edge(0.03, depth);
        print_message("edge, 1 mm tool, %.2f mm deep at 0.03 m/s: %.3f N per tick\n", 1e3 * depth,
                      step);
        assert_true(step <= 0.07);
    }
}

static void nothing_pops_through_thin_parts(void **state)
{
    (void)state;
    int through = feel_thin(test_effort(30));
    print_message("thin parts: %d through\n", through);
    assert_int_equal(through, 0);
}

static void friction_breaks_and_slides_as_it_should(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double error = feel_friction(i ? 0.002 : 0);
        print_message("friction: %.3f %% off\n", 100 * error);
        assert_true(error <= 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_is_rendered_exactly),
        cmocka_unit_test(no_plate_passes_through),
        cmocka_unit_test(hinge_squeezes_the_proxy_out),
        cmocka_unit_test(slow_worlds_feel_smooth),
        cmocka_unit_test(edges_are_round),
        cmocka_unit_test(nothing_pops_through_thin_parts),
        cmocka_unit_test(friction_breaks_and_slides_as_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
