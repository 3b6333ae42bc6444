/* Taylor models against the same motions in long double: every sampled matrix lies inside, and what
 * is lost shrinks with the cube of the half-width. */
#include "tests/test.h"

#include "geometry/taylor.h"

typedef struct exact {
    long double m[3][4];
} exact;

/* One joint of the reference: a fixed transform, then a screw. */
typedef struct joint {
    rigid fixed;
    vec3 axis;
    double angle0, angle1; /* rad at t = 0 and t = 1 */
    vec3 slide0, slide1;   /* m */
} joint;

static exact exact_product(const exact *a, const exact *b)
{
    exact out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            out.m[i][j] = j == 3 ? a->m[i][3] : 0;
            for (int k = 0; k < 3; k++)
                out.m[i][j] += a->m[i][k] * b->m[k][j];
        }
    return out;
}

static exact exact_inverse(const exact *a)
{
    exact out;
    for (int i = 0; i < 3; i++) {
        out.m[i][3] = 0;
        for (int k = 0; k < 3; k++) {
            out.m[i][k] = a->m[k][i];
            out.m[i][3] -= a->m[k][i] * a->m[k][3];
        }
    }
    return out;
}

static exact exact_joint(const joint *j, long double t)
{
    long double angle = j->angle0 + t * ((long double)j->angle1 - j->angle0);
    long double c = cosl(angle), s = sinl(angle);
    long double a[3] = {j->axis.x, j->axis.y, j->axis.z};
    long double length = sqrtl(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    long double k[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
    const double *p0 = &j->slide0.x, *p1 = &j->slide1.x;
    exact fixed, moved;
    for (int i = 0; i < 3; i++) {
        for (int n = 0; n < 3; n++) {
            fixed.m[i][n] = j->fixed.rotation.m[i][n];
            moved.m[i][n] = a[i] * a[n] + c * ((i == n) - a[i] * a[n]) + s * k[i][n];
        }
        fixed.m[i][3] = (&j->fixed.origin.x)[i];
        moved.m[i][3] = p0[i] + t * ((long double)p1[i] - p0[i]);
    }
    return exact_product(&fixed, &moved);
}

static joint random_joint(test_random *r, double travel)
{
    joint j = {.fixed = rigid_from_pose(test_random_pose(r, 1))};
    j.axis = vec3_normalize_or(test_random_vec3(r, 1), (vec3){1, 0, 0});
    j.angle0 = test_random_between(r, -3, 3);
    j.angle1 = j.angle0 + test_random_between(r, -travel, travel);
    j.slide0 = test_random_vec3(r, 0.5);
    j.slide1 = vec3_add(j.slide0, test_random_vec3(r, travel));
    return j;
}

static void model_joint(const joint *j, double middle, double half, taylor *out)
{
    taylor screw;
    double angle = j->angle0 + middle * (j->angle1 - j->angle0);
    vec3 rate = vec3_sub(j->slide1, j->slide0);
    taylor_screw(j->axis, angle, j->angle1 - j->angle0, 1e-15,
                 vec3_add_scaled(j->slide0, middle, rate), rate, half, &screw);
    taylor_rigid_compose(&j->fixed, &screw, out);
}

static void assert_inside(const taylor *a, double s, const exact *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            long double p = a->c[0].m[i][j] +
                            s * ((long double)a->c[1].m[i][j] + (long double)s * a->c[2].m[i][j]);
            if (!(fabsl(m->m[i][j] - p) <= a->r.m[i][j])) {
                print_error("entry %d %d at %g: off by %Lg, radius %g\n", i, j, s, m->m[i][j] - p,
                            a->r.m[i][j]);
                fail();
            }
        }
}

static void every_sampled_product_lies_inside(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    for (int trial = 0; trial < 60; trial++) {
        int count = 1 + test_random_index(&r, 8);
        double half = 0.5 * pow(2, -test_random_index(&r, 30)), travel = trial % 3 ? 0.4 : 4;
        double middle = test_random_between(&r, half, 1 - half);
        joint joints[8];
        taylor chain, next, scratch, back, other, relative;
        for (int i = 0; i < count; i++) {
            joints[i] = random_joint(&r, travel);
            model_joint(&joints[i], middle, half, i ? &next : &chain);
            if (i) {
                taylor_compose(&chain, &next, &scratch);
                chain = scratch;
            }
        }
        joint side = random_joint(&r, travel);
        model_joint(&side, middle, half, &other);
        taylor_inverse(&chain, &back);
        taylor_relative(&other, &chain, &relative);
        taylor fixed_after;
        taylor_compose_rigid(&chain, &side.fixed, &fixed_after);
        taylor part;
        double centre = 0.3 * half;
        taylor_shift(&chain, centre, 0.5 * half, &part);

        for (int sample = 0; sample <= 50; sample++) {
            double s = half * (sample / 25.0 - 1);
            long double t = (long double)middle + s;
            exact m = exact_joint(&joints[0], t);
            for (int i = 1; i < count; i++) {
                exact link = exact_joint(&joints[i], t);
                m = exact_product(&m, &link);
            }
            exact inverse = exact_inverse(&m), aside = exact_joint(&side, t);
            exact aside_inverse = exact_inverse(&aside), apart = exact_product(&aside_inverse, &m);
            exact fixed = {{{0}}};
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++)
                    fixed.m[i][j] = side.fixed.rotation.m[i][j];
                fixed.m[i][3] = (&side.fixed.origin.x)[i];
            }
            exact behind = exact_product(&m, &fixed);

            assert_inside(&chain, s, &m);
            assert_inside(&back, s, &inverse);
            assert_inside(&relative, s, &apart);
            assert_inside(&fixed_after, s, &behind);
            if (fabs(s - centre) <= 0.5 * half)
                assert_inside(&part, s - centre, &m);
        }
    }
}

/* The whole matrix of a chain of 6 joints: radius(h) / radius(h/2) tends to 8, down to rounding. */
static void the_radius_shrinks_with_the_cube(void **state)
{
    (void)state;
    test_random r = test_random_seed(4);
    joint joints[6];
    for (int i = 0; i < 6; i++)
        joints[i] = random_joint(&r, 1);
    double last = 0;
    for (int level = 0; level < 9; level++) {
        double half = 0.1 * pow(0.5, level);
        taylor chain, next, scratch;
        model_joint(&joints[0], 0.5, half, &chain);
        for (int i = 1; i < 6; i++) {
            model_joint(&joints[i], 0.5, half, &next);
            taylor_compose(&chain, &next, &scratch);
            chain = scratch;
        }
        double radius = taylor_radius(&chain, 1);
        if (level > 1)
            assert_near(last / radius, 8, 1.0);
        last = radius;
    }
}

static void ranges_are_tight_and_hold_all_samples(void **state)
{
    (void)state;
    test_random r = test_random_seed(5);
    for (int trial = 0; trial < 300; trial++) {
        joint j = random_joint(&r, 2);
        double half = 0.25;
        taylor a;
        model_joint(&j, 0.5, half, &a);
        vec3 d = test_random_vec3(&r, 1), x = test_random_vec3(&r, 2), y = test_random_vec3(&r, 2);
        interval range = taylor_range(&a, d, x, y);
        interval_rigid entries;
        taylor_bound(&a, &entries);
        long double low = (long double)INFINITY, high = -(long double)INFINITY;
        for (int sample = 0; sample <= 200; sample++) {
            exact m = exact_joint(&j, 0.25L + 0.5L * sample / 200);
            long double value = 0;
            for (int i = 0; i < 3; i++) {
                long double p = m.m[i][0] * x.x + m.m[i][1] * x.y + m.m[i][2] * x.z + m.m[i][3];
                value += (&d.x)[i] * (p - (&y.x)[i]);
                for (int k = 0; k < 4; k++)
                    assert_true((long double)entries.m[i][k].low <= m.m[i][k] &&
                                m.m[i][k] <= (long double)entries.m[i][k].high);
            }
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        assert_true((long double)range.low <= low && high <= (long double)range.high);
        double slack = 2 * 2 * taylor_radius(&a, 2 * 1.75) * 3 + 1e-3;
        assert_true((double)low - range.low < slack && range.high - (double)high < slack);
    }
}

static void many_turns_within_the_interval_stay_enclosed(void **state)
{
    (void)state;
    joint j = {
        .fixed = rigid_identity(), .axis = {0, 0, 1}, .angle0 = 0.3, .angle1 = 0.3 + 40 * 3.14159};
    taylor a;
    model_joint(&j, 0.5, 0.5, &a);
    for (int sample = 0; sample <= 1000; sample++) {
        exact m = exact_joint(&j, sample / 1000.0L);
        assert_inside(&a, sample / 1000.0 - 0.5, &m);
    }
    assert_true(taylor_radius(&a, 1) < 4); /* the circle, not a divergent series */
}

static void a_quadratic_takes_its_vertex_into_account(void **state)
{
    (void)state;
    interval range = taylor_quadratic(1, -1, 1, 0, 2); /* 1 - s + s^2: 3/4 at 1/2, 3 at 2 */
    assert_near(range.low, 0.75, 1e-15);
    assert_near(range.high, 3, 1e-15);
    interval unknown = taylor_quadratic((double)NAN, 0, 0, -1, 1);
    assert_true(interval_may_vanish(unknown));
}

/* A model that was multiplied by its own inverse keeps a width of second order only: the interval
 * product of the same motion is wider by a factor of more than a hundred. */
static void correlation_survives_where_intervals_lose_it(void **state)
{
    (void)state;
    taylor a, same;
    taylor_screw((vec3){0, 0, 1}, 0.4, 0.2, 0, (vec3){1, 0, 0}, (vec3){0, 0, 0}, 0.5, &a);
    taylor_relative(&a, &a, &same);
    interval_rigid width, plain, back, product;
    taylor_bound(&same, &width);
    plain = interval_rigid_screw((vec3){0, 0, 1}, (interval){0.3, 0.5}, (interval){0, 0});
    interval_rigid_inverse(&plain, &back);
    interval_rigid_compose(&back, &plain, &product);
    assert_true(interval_width(product.m[0][1]) > 100 * interval_width(width.m[0][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sampled_product_lies_inside),
        cmocka_unit_test(the_radius_shrinks_with_the_cube),
        cmocka_unit_test(ranges_are_tight_and_hold_all_samples),
        cmocka_unit_test(many_turns_within_the_interval_stay_enclosed),
        cmocka_unit_test(a_quadratic_takes_its_vertex_into_account),
        cmocka_unit_test(correlation_survives_where_intervals_lose_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
