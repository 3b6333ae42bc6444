/* Intervals against the same operations in long double, and sine and cosine where they turn. */
#include "tests/test.h"

#include "geometry/interval.h"

static interval random_interval(test_random *r, double size)
{
    double a = test_random_between(r, -size, size), b = test_random_between(r, -size, size);
    return a < b ? (interval){a, b} : (interval){b, a};
}

static long double inside(test_random *r, interval a)
{
    long double f = (long double)test_random_between(r, 0, 1);
    return (long double)a.low + f * ((long double)a.high - (long double)a.low);
}

static void assert_holds(interval a, long double x)
{
    assert_true((long double)a.low <= x && x <= (long double)a.high);
}

static void operations_hold_every_exact_result(void **state)
{
    (void)state;
    test_random r = test_random_seed(1);
    for (int trial = 0; trial < 20000; trial++) {
        double size = pow(10, test_random_between(&r, -12, 12));
        interval a = random_interval(&r, size), b = random_interval(&r, 1);
        long double x = inside(&r, a), y = inside(&r, b);

        assert_holds(interval_add(a, b), x + y);
        assert_holds(interval_sub(a, b), x - y);
        assert_holds(interval_multiply(a, b), x * y);
        assert_holds(interval_square(a), x * x);
        assert_holds(interval_scale(b.low, a), (long double)b.low * x);
        assert_true(interval_square(a).low >= 0);
    }
}

static void operations_on_points_widen_by_units_only(void **state)
{
    (void)state;
    interval third = interval_multiply(interval_point(1.0 / 3), interval_point(3));
    assert_true(interval_contains(third, 1));
    assert_true(third.high - third.low < 1e-15);
    interval tiny = interval_multiply(interval_point(1e-200), interval_point(1e-200));
    assert_true(tiny.low < 0 && tiny.high > 0); /* 1e-400 underflows: zero with a denormal around */
}

static void an_unknown_number_never_looks_separated(void **state)
{
    (void)state;
    interval unknown = interval_multiply(interval_point((double)INFINITY), interval_point(0));
    assert_true(interval_may_vanish(unknown));
    assert_true(interval_may_overlap(unknown, interval_point(7)));
    interval overflow = interval_multiply(interval_point(1e300), interval_point(1e300));
    assert_true(interval_may_overlap(overflow, interval_point(7)));
    interval everything = interval_sin(interval_point((double)NAN));
    assert_true(everything.low == -1 && everything.high == 1);
}

static void sine_and_cosine_hold_random_angles(void **state)
{
    (void)state;
    test_random r = test_random_seed(2);
    for (int trial = 0; trial < 20000; trial++) {
        double size = pow(10, test_random_between(&r, -3, 8));
        double start = test_random_between(&r, -size, size);
        interval a = {start, start + pow(10, test_random_between(&r, -9, 0.9))};
        long double x = inside(&r, a);

        assert_holds(interval_sin(a), sinl(x));
        assert_holds(interval_cos(a), cosl(x));
    }
}

/* At multiples of a quarter turn, one to three units to either side: the extremum may or may not
 * lie inside, and must never be lost. The true extremum is found from cosl and sinl around it. */
static void extrema_survive_near_quarter_turns(void **state)
{
    (void)state;
    for (int k = -400; k <= 400; k++) {
        double centre = k * 1.57079632679489661923;
        for (int ulps = -3; ulps <= 3; ulps++) {
            double x = centre;
            for (int i = 0; i < abs(ulps); i++)
                x = nextafter(x, ulps > 0 ? 1e9 : -1e9);
            const interval parts[3] = {{x - 0.1, x}, {x, x + 0.1}, {x, x}};
            for (int p = 0; p < 3; p++) {
                for (int j = 0; j <= 20; j++) {
                    long double t =
                        (long double)parts[p].low +
                        j * ((long double)parts[p].high - (long double)parts[p].low) / 20;
                    assert_holds(interval_sin(parts[p]), sinl(t));
                    assert_holds(interval_cos(parts[p]), cosl(t));
                }
                assert_true(interval_sin(parts[p]).high <= 1 && interval_cos(parts[p]).low >= -1);
            }
        }
    }
}

static void sine_of_a_short_interval_is_tight(void **state)
{
    (void)state;
    interval s = interval_sin((interval){0.5, 0.6});
    assert_near(s.low, sin(0.5), 1e-15);
    assert_near(s.high, sin(0.6), 1e-15);
    interval c = interval_cos((interval){-0.1, 0.2});
    assert_near(c.high, 1, 0);
    assert_near(c.low, cos(0.2), 1e-15);
    interval all = interval_cos((interval){0, 6.3});
    assert_true(all.low == -1 && all.high == 1);
}

/* Width of inv(M) M against the identity: the lost correlation that Taylor models cure. */
static void matrices_hold_and_lose_correlation(void **state)
{
    (void)state;
    vec3 axis = {0.6, 0, 0.8};
    interval_rigid m = interval_rigid_screw(axis, (interval){0.3, 0.5}, (interval){0.1, 0.2}), back,
                   one;
    interval_rigid_inverse(&m, &back);
    interval_rigid_compose(&back, &m, &one);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            assert_true(interval_contains(one.m[i][j], i == j ? 1 : 0));
    assert_true(interval_width(one.m[0][0]) > 0.05);

    long double angle = 0.4L, slide = 0.15L;
    long double turned = 0.36L + cosl(angle) * (1 - 0.36L); /* entry xx by Rodrigues */
    assert_holds(m.m[0][0], turned);
    assert_holds(m.m[2][3], 0.8L * slide);
    const interval point[3] = {interval_point(1), interval_point(2), interval_point(3)};
    interval image[3];
    interval_rigid_apply(&m, point, image);
    long double y = sinl(angle) * 0.8L * 1 + cosl(angle) * 2 - sinl(angle) * 0.6L * 3;
    assert_holds(image[1], y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_hold_every_exact_result),
        cmocka_unit_test(operations_on_points_widen_by_units_only),
        cmocka_unit_test(an_unknown_number_never_looks_separated),
        cmocka_unit_test(sine_and_cosine_hold_random_angles),
        cmocka_unit_test(extrema_survive_near_quarter_turns),
        cmocka_unit_test(sine_of_a_short_interval_is_tight),
        cmocka_unit_test(matrices_hold_and_lose_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
