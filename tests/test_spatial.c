#include "geometry/spatial.h"
#include "tests/test.h"

static vec6 random_vec6(test_random *r)
{
    return vec6_make(test_random_vec3(r, 1), test_random_vec3(r, 1));
}

static double vec6_distance(vec6 a, vec6 b)
{
    vec6 d = vec6_sub(a, b);
    return sqrt(vec6_dot(d, d));
}

static void power_does_not_depend_on_the_frame(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    for (int i = 0; i < 500; i++) {
        rigid a_from_b = rigid_from_pose(test_random_pose(&r, 2));
        vec6 motion_a = random_vec6(&r);
        vec6 force_b = random_vec6(&r);
        double in_b = vec6_dot(rigid_motion_to_b(&a_from_b, motion_a), force_b);
        double in_a = vec6_dot(motion_a, rigid_force_to_a(&a_from_b, force_b));
        assert_near(in_a, in_b, 1e-13);
    }
}

static void the_motion_matrix_equals_the_motion_map(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    for (int i = 0; i < 500; i++) {
        rigid a_from_b = rigid_from_pose(test_random_pose(&r, 2));
        mat6 x;
        rigid_motion_matrix(&a_from_b, &x);
        vec6 v = random_vec6(&r);
        vec6 in_b = rigid_motion_to_b(&a_from_b, v);
        assert_near(vec6_distance(mat6_apply(&x, v), in_b), 0, 1e-13);
        assert_near(vec6_distance(rigid_motion_to_a(&a_from_b, in_b), v), 0, 1e-13);
    }
}

static void cross_products_are_dual(void **state)
{
    (void)state;
    test_random r = test_random_seed(13);
    for (int i = 0; i < 500; i++) {
        vec6 v = random_vec6(&r);
        vec6 m = random_vec6(&r);
        vec6 f = random_vec6(&r);
        /* (v x m) . f = - m . (v x* f) */
        assert_near(vec6_dot(vec6_cross_motion(v, m), f), -vec6_dot(m, vec6_cross_force(v, f)),
                    1e-14);
    }
}

static void the_inverse_of_an_inertia_undoes_it_and_a_negative_mass_is_refused(void **state)
{
    (void)state;
    test_random r = test_random_seed(14);
    for (int i = 0; i < 200; i++) {
        mat3 about_centre = {{{0.2, 0, 0}, {0, 0.3, 0}, {0, 0, 0.4}}};
        mat6 inertia =
            mat6_inertia(test_random_between(&r, 0.1, 5), test_random_vec3(&r, 1), about_centre);
        mat6 inverse;
        assert_int_equal(mat6_inverse_spd(&inertia, &inverse), HR_OK);
        vec6 v = random_vec6(&r);
        assert_near(vec6_distance(mat6_apply(&inverse, mat6_apply(&inertia, v)), v), 0, 1e-11);
    }
    mat6 bad = mat6_inertia(-1, (vec3){0, 0, 0}, mat3_identity());
    mat6 untouched = mat6_identity();
    assert_int_equal(mat6_inverse_spd(&bad, &untouched), HR_ERR_SINGULAR);
    assert_near(untouched.m[0][0], 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_does_not_depend_on_the_frame),
        cmocka_unit_test(the_motion_matrix_equals_the_motion_map),
        cmocka_unit_test(cross_products_are_dual),
        cmocka_unit_test(the_inverse_of_an_inertia_undoes_it_and_a_negative_mass_is_refused),
    };
    return cmocka_run_group_tests_name("spatial", tests, NULL, NULL);
}
