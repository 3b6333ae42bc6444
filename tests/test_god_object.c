#include "tests/test.h"

#include "solver/god_object.h"

static const vec3 zero = {0, 0, 0};

static half_space plane(double x, double y, double z, double clearance)
{
    return (half_space){vec3_normalize_or((vec3){x, y, z}, (vec3){0, 0, 1}), clearance};
}

static void a_free_proxy_follows_the_hand_exactly(void **state)
{
    (void)state;
    half_space floor = plane(0, 1, 0, 0.02);
    vec3 moved;
    int active[3];

    int count = god_object_move((vec3){0.3, -0.01, 0.1}, &floor, 1, &moved, active);

    assert_int_equal(count, 0);
    assert_vec3_near(moved, ((vec3){0.3, -0.01, 0.1}), 0.0);
    assert_int_equal(god_object_move((vec3){1, 2, 3}, NULL, 0, &moved, active), 0);
    assert_vec3_near(moved, ((vec3){1, 2, 3}), 0.0);
}

/* Planes with normals (+-1, 1, 0)/sqrt 2, proxy at the edge: by symmetry a push at less than 45
 * degrees from the vertical ends in the edge, a steeper one on one flank. */
static void a_groove_holds_the_proxy_in_its_edge_or_on_one_flank(void **state)
{
    (void)state;
    half_space groove[2] = {plane(1, 1, 0, 0), plane(-1, 1, 0, 0)};
    vec3 moved;
    int active[3];

    int count = god_object_move((vec3){0.1, -1, 0.5}, groove, 2, &moved, active);
    assert_int_equal(count, 2);
    assert_vec3_near(moved, ((vec3){0, 0, 0.5}), 1e-15);

    count = god_object_move((vec3){1, -0.5, 0.5}, groove, 2, &moved, active);
    assert_int_equal(count, 1);
    assert_int_equal(active[0], 1);
    assert_vec3_near(moved, ((vec3){0.25, 0.25, 0.5}), 1e-15);
}

static void a_corner_of_three_planes_stops_the_proxy(void **state)
{
    (void)state;
    half_space corner[4] = {plane(0, 0, 1, 0.1), plane(1, 0, 0, 0.2), plane(0, 1, 0, 0.3),
                            plane(1, 1, 1, 5.0)};
    vec3 moved;
    int active[3];

    int count = god_object_move((vec3){-1, -1, -1}, corner, 4, &moved, active);

    assert_int_equal(count, 3);
    assert_vec3_near(moved, ((vec3){-0.2, -0.3, -0.1}), 1e-15);
    for (int i = 0; i < 3; i++)
        assert_int_equal(active[i], i);
}

static void a_proxy_inside_a_solid_is_brought_to_its_surface(void **state)
{
    (void)state;
    half_space floor = plane(0, 1, 0, -0.01);
    vec3 moved;
    int active[3];

    assert_int_equal(god_object_move(zero, &floor, 1, &moved, active), 1);

    assert_vec3_near(moved, ((vec3){0, 0.01, 0}), 1e-16);
}

static void planes_without_a_common_point_leave_the_proxy_where_it_is(void **state)
{
    (void)state;
    half_space slit[2] = {plane(0, 1, 0, -0.01), plane(0, -1, 0, -0.01)};
    half_space cage[4] = {plane(1, 1, 1, -1), plane(-1, -1, 1, -1), plane(1, -1, -1, -1),
                          plane(-1, 1, -1, -1)};
    vec3 moved = {9, 9, 9};
    int active[3];

    assert_int_equal(god_object_move((vec3){1, 0, 0}, slit, 2, &moved, active), HR_ERR_INFEASIBLE);
    assert_vec3_near(moved, zero, 0.0);
    assert_int_equal(god_object_move((vec3){1, 0, 0}, cage, 4, &moved, active), HR_ERR_INFEASIBLE);
}

static void bad_input_is_refused_and_moves_nothing(void **state)
{
    (void)state;
    half_space many[GOD_OBJECT_PLANES_MAX + 1];
    for (int i = 0; i < HR_COUNT(many); i++)
        many[i] = plane(0, 1, 0, 1);
    vec3 moved;
    int active[3];

    assert_int_equal(god_object_move(zero, many, HR_COUNT(many), &moved, active), HR_ERR_CAPACITY);
    assert_int_equal(god_object_move((vec3){(double)NAN, 0, 0}, many, 1, &moved, active),
                     HR_ERR_NOT_FINITE);
    many[0].clearance = (double)INFINITY;
    assert_int_equal(god_object_move(zero, many, 1, &moved, active), HR_ERR_NOT_FINITE);
    many[0] = (half_space){{0, 2, 0}, 1};
    assert_int_equal(god_object_move(zero, many, 1, &moved, active), HR_ERR_ARGUMENT);
    assert_int_equal(god_object_move(zero, many, -1, &moved, active), HR_ERR_ARGUMENT);
    assert_vec3_near(moved, zero, 0.0);
}

/* Second method: every subset of one, two and three planes solved by
 * inverting its Gram matrix, the nearest one that all planes allow. */
static double nearest_by_enumeration(vec3 wanted, const half_space *planes, int count)
{
    double best = (double)INFINITY;
    for (int mask = 0; mask < 1 << count; mask++) {
        if (__builtin_popcount((unsigned)mask) > 3)
            continue;
        mat3 gram = mat3_identity();
        vec3 normal[3] = {zero, zero, zero};
        double depth[3] = {0, 0, 0};
        int k = 0;
        for (int i = 0; i < count; i++)
            if (mask >> i & 1) {
                normal[k] = planes[i].normal;
                depth[k++] = -vec3_dot(planes[i].normal, wanted) - planes[i].clearance;
            }
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                gram.m[i][j] = vec3_dot(normal[i], normal[j]);
        mat3 inverse;
        if (mat3_determinant(gram) < 1e-8 || mat3_inverse(gram, &inverse) != HR_OK)
            continue;
        vec3 push = mat3_apply(inverse, (vec3){depth[0], depth[1], depth[2]});
        vec3 move = vec3_scale(push.x, normal[0]);
        move = vec3_add(move, vec3_scale(push.y, normal[1]));
        move = vec3_add(move, vec3_scale(push.z, normal[2]));
        vec3 point = vec3_add(wanted, move);
        int fits = 1;
        for (int i = 0; i < count; i++)
            fits &= vec3_dot(planes[i].normal, point) + planes[i].clearance >= -1e-9;
        if (fits)
            best = fmin(best, vec3_length(move));
    }
    return best;
}

static void random_planes_agree_with_the_enumeration_of_all_subsets(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    int held[4] = {0}, infeasible = 0;
    for (int trial = 0; trial < 4000; trial++) {
        int count = 1 + test_random_index(&r, 8);
        half_space planes[8];
        for (int i = 0; i < count; i++) {
            vec3 n = test_random_vec3(&r, 1.0);
            planes[i] = plane(n.x, n.y, n.z, test_random_between(&r, trial % 2 ? 0 : -0.1, 0.2));
            if (i > 1 && trial % 4 == 0) /* a plane through the same line, and a copy */
                planes[i] = trial % 8 ? planes[0] : planes[i];
        }
        vec3 wanted = test_random_vec3(&r, 2.0), moved;
        int active[3];

        int found = god_object_move(wanted, planes, count, &moved, active);

        double expected = nearest_by_enumeration(wanted, planes, count);
        if (found == HR_ERR_INFEASIBLE) {
            assert_true(isinf(expected));
            infeasible++;
            continue;
        }
        assert_in_range(found, 0, 3);
        held[found]++;
        /* Allowed and not farther is optimal. The enumeration does not refine, so that it may
         * miss a corner in a thin wedge, and errs far away. */
        assert_true(vec3_distance(wanted, moved) <= expected * (1 + 1e-9) + 2e-9);
        for (int i = 0; i < count; i++)
            assert_true(vec3_dot(planes[i].normal, moved) + planes[i].clearance >= -1e-9);
    }
    assert_true(held[0] > 50 && held[1] > 200 && held[2] > 200 && held[3] > 100);
    assert_true(infeasible > 10);
}

static void the_kept_proxy_force_never_pulls_into_a_plane(void **state)
{
    (void)state;
    test_random r = test_random_seed(62);
    for (int trial = 0; trial < 20000; trial++) {
        half_space planes[GOD_OBJECT_PLANES_MAX];
        for (int i = 0; i < GOD_OBJECT_PLANES_MAX; i++) {
            vec3 n = test_random_vec3(&r, 1.0);
            planes[i] = plane(n.x, n.y, n.z + 1.2, test_random_between(&r, 0, 0.1));
        }
        vec3 wanted = test_random_vec3(&r, 1.0), moved;
        int active[3];

        int found = god_object_move(wanted, planes, GOD_OBJECT_PLANES_MAX, &moved, active);

        /* Nearest point of a convex set that holds 0: (wanted - moved) . (0 - moved) <= 0. */
        assert_in_range(found, 0, 3);
        assert_true(vec3_dot(vec3_sub(wanted, moved), vec3_negate(moved)) <= 1e-12);
        for (int i = 0; i < GOD_OBJECT_PLANES_MAX; i++)
            assert_true(vec3_dot(planes[i].normal, moved) + planes[i].clearance >= -1e-10);
    }
}

/* A device of 0.1 kg with damping b, pressed against a wall by 1 N through a spring k to the proxy
 * that is sampled and held for 1 ms: passive while b > k T / 2 (Colgate and Schenkel 1997). Returns
 * how far it still swings after `seconds`. */
static double swing(double stiffness, double damping, double seconds)
{
    const double mass = 0.1, period = 1e-3, push = -1.0;
    const half_space floor = {{0, 0, 1}, 0};
    double x = 2e-3, v = 0, low = 1, high = -1;
    int ticks = (int)lround(seconds / period);
    for (int tick = 0; tick < ticks; tick++) {
        vec3 moved, wanted = {0, 0, x};
        int active[3];
        assert_true(god_object_move(wanted, &floor, 1, &moved, active) >= 0);
        double force = stiffness * (moved.z - x) + push;
        /* exact motion under a constant force and linear damping */
        double rate = damping / mass, end = force / damping, decay = exp(-rate * period);
        x += end * period + (v - end) * (1 - decay) / rate;
        v = end + (v - end) * decay;
        if (tick > ticks - 1000) {
            low = fmin(low, x);
            high = fmax(high, x);
        }
    }
    return high - low;
}

/* The two tangent planes at the seam of a smooth surface: they differ by rounding. */
static void almost_equal_planes_always_give_an_answer(void **state)
{
    (void)state;
    test_random r = test_random_seed(71);
    for (int k = 0; k < test_effort(200000); k++) {
        vec3 a = vec3_normalize_or(test_random_vec3(&r, 1.0), (vec3){1, 0, 0});
        double apart = pow(10, test_random_between(&r, -12, -3));
        vec3 b = vec3_normalize_or(vec3_add(a, test_random_vec3(&r, apart)), a);
        const half_space planes[2] = {{a, test_random_between(&r, -1e-11, 1e-11)},
                                      {b, test_random_between(&r, -1e-11, 1e-11)}};
        vec3 wanted = vec3_add_scaled(test_random_vec3(&r, 1e-4), -0.002, a);
        vec3 moved;
        int active[3];
        int count = god_object_move(wanted, planes, 2, &moved, active);
        assert_true(count >= 1);
        for (int i = 0; i < 2; i++)
            assert_true(vec3_dot(planes[i].normal, moved) + planes[i].clearance > -1e-10);
    }
}

static void a_held_spring_is_quiet_up_to_its_limit(void **state)
{
    (void)state;
    for (double damping = 0.5; damping <= 2.0; damping *= 4) {
        double limit = 2 * damping / 1e-3; /* 1000 and 4000 N/m */
        double below = swing(0.95 * limit, damping, 200), above = swing(1.05 * limit, damping, 200);
        print_message("b %.1f: %.3g mm at 0.95, %.3g mm at 1.05 of %g N/m\n", damping, 1e3 * below,
                      1e3 * above, limit);
        assert_true(below < 1e-7);
        assert_true(above > 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_proxy_follows_the_hand_exactly),
        cmocka_unit_test(a_groove_holds_the_proxy_in_its_edge_or_on_one_flank),
        cmocka_unit_test(a_corner_of_three_planes_stops_the_proxy),
        cmocka_unit_test(a_proxy_inside_a_solid_is_brought_to_its_surface),
        cmocka_unit_test(planes_without_a_common_point_leave_the_proxy_where_it_is),
        cmocka_unit_test(bad_input_is_refused_and_moves_nothing),
        cmocka_unit_test(random_planes_agree_with_the_enumeration_of_all_subsets),
        cmocka_unit_test(the_kept_proxy_force_never_pulls_into_a_plane),
        cmocka_unit_test(almost_equal_planes_always_give_an_answer),
        cmocka_unit_test(a_held_spring_is_quiet_up_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
