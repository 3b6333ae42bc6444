#include "tests/test.h"

static void rotation_by_quaternion_equals_rotation_by_its_matrix(void **state)
{
    (void)state;
    test_random r = test_random_seed(1);
    for (int i = 0; i < 1000; i++) {
        quat q = quat_from_rotation_vector(test_random_vec3(&r, 6.0));
        vec3 v = test_random_vec3(&r, 2.0);
        assert_vec3_near(quat_rotate(q, v), mat3_apply(quat_to_mat3(q), v), 1e-14);
    }
}

static void matrix_and_quaternion_convert_both_ways(void **state)
{
    (void)state;
    test_random r = test_random_seed(2);
    for (int i = 0; i < 1000; i++) {
        quat q = quat_from_rotation_vector(test_random_vec3(&r, 3.0));
        quat back = quat_from_mat3(quat_to_mat3(q));
        double dot = q.w * back.w + q.x * back.x + q.y * back.y + q.z * back.z;
        assert_near(fabs(dot), 1.0, 1e-14);
    }
}

static void a_pose_times_its_inverse_is_the_identity(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    for (int i = 0; i < 1000; i++) {
        pose a_from_b = test_random_pose(&r, 5.0);
        vec3 p = test_random_vec3(&r, 1.0);
        assert_vec3_near(pose_apply(pose_compose(a_from_b, pose_inverse(a_from_b)), p), p, 1e-13);
        assert_vec3_near(pose_apply_inverse(a_from_b, pose_apply(a_from_b, p)), p, 1e-13);
    }
}

static void an_advanced_pose_follows_the_constant_screw(void **state)
{
    (void)state;
    pose start = {quat_identity(), {1, 2, 3}};
    twist velocity = {{0.5, 0, 0}, {0, 0, 2}};
    twist acceleration = {{0, -1, 0}, {0, 0, 4}};

    pose end = pose_advance(start, velocity, acceleration, 0.3);

    /* x = x0 + v t + a t^2 / 2 by hand: 1 + 0.15, 2 - 0.045; angle 0.6 + 0.18 */
    assert_vec3_near(end.origin, ((vec3){1.15, 1.955, 3.0}), 1e-15);
    assert_near(quat_to_rotation_vector(end.rotation).z, 0.78, 1e-14);
}

static void the_inverse_of_a_singular_matrix_is_refused(void **state)
{
    (void)state;
    mat3 out = mat3_identity();
    assert_int_equal(mat3_inverse(mat3_outer((vec3){1, 2, 3}, (vec3){1, 2, 3}), &out),
                     HR_ERR_SINGULAR);
    assert_near(out.m[0][0], 1.0, 0.0);

    test_random r = test_random_seed(4);
    for (int i = 0; i < 100; i++) {
        mat3 a = mat3_from_columns(test_random_vec3(&r, 1), test_random_vec3(&r, 1),
                                   test_random_vec3(&r, 1));
        if (fabs(mat3_determinant(a)) < 1e-2)
            continue;
        assert_int_equal(mat3_inverse(a, &out), HR_OK);
        vec3 v = test_random_vec3(&r, 1);
        assert_vec3_near(mat3_apply(out, mat3_apply(a, v)), v, 1e-11);
    }
}

static void a_perpendicular_is_unit_and_at_right_angles(void **state)
{
    (void)state;
    test_random r = test_random_seed(5);
    for (int i = 0; i < 100; i++) {
        vec3 n = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0});
        vec3 p = vec3_any_perpendicular(n);
        assert_near(vec3_dot(n, p), 0.0, 1e-15);
        assert_near(vec3_length(p), 1.0, 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotation_by_quaternion_equals_rotation_by_its_matrix),
        cmocka_unit_test(matrix_and_quaternion_convert_both_ways),
        cmocka_unit_test(a_pose_times_its_inverse_is_the_identity),
        cmocka_unit_test(an_advanced_pose_follows_the_constant_screw),
        cmocka_unit_test(the_inverse_of_a_singular_matrix_is_refused),
        cmocka_unit_test(a_perpendicular_is_unit_and_at_right_angles),
    };
    return cmocka_run_group_tests_name("vec3", tests, NULL, NULL);
}
