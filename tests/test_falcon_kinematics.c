#include "tests/test.h"

#include "devices/falcon/kinematics.h"

enum { POSES = 100000 };

static vec3 random_position(test_random *r)
{
    double radius = FALCON_RADIUS_MAX * sqrt(test_random_between(r, 0, 1));
    double angle = test_random_between(r, -M_PI, M_PI);
    vec3 p = {radius * cos(angle), radius * sin(angle),
              test_random_between(r, FALCON_Z_MIN, FALCON_Z_MAX)};
    return falcon_clamp_to_workspace(p);
}

/* Published check values: position, arm angles in degrees, counts. */
static void published_poses_give_published_angles_and_counts(void **state)
{
    (void)state;
    static const struct {
        vec3 p;
        double degrees[3];
        int counts[3];
    } known[] = {
        {{0, 0, 0.075}, {-18.32, -18.32, -18.32}, {-1463, -1463, -1463}},
        {{0, 0, 0.110}, {16.19, 16.19, 16.19}, {-516, -516, -516}},
        {{0, 0, 0.150}, {47.24, 47.24, 47.24}, {336, 336, 336}},
        {{0, 0, 0.170}, {66.76, 66.76, 66.76}, {872, 872, 872}},
        {{0.02, 0.01, 0.12}, {23.87, 14.82, 38.60}, {-305, -554, 99}},
        {{-0.03, 0.02, 0.10}, {-7.74, 37.65, 10.58}, {-1173, 73, -670}},
        {{0, 0.04, 0.13}, {13.74, 44.34, 54.28}, {-583, 256, 529}},
    };
    falcon_geometry g = falcon_geometry_default();
    for (int n = 0; n < HR_COUNT(known); n++) {
        falcon_angles angles;
        int16_t counts[3];
        assert_int_equal(falcon_inverse(&g, known[n].p, &angles), HR_OK);
        falcon_counts_from_angles(&g, &angles, counts);
        for (int i = 0; i < 3; i++) {
            assert_near(angles.arm[i] * 180 / M_PI, known[n].degrees[i], 0.0051);
            assert_int_equal(counts[i], known[n].counts[i]);
        }
    }
    falcon_angles angles;
    mat3 j;
    assert_int_equal(falcon_inverse(&g, (vec3){0, 0, 0.110}, &angles), HR_OK);
    assert_int_equal(falcon_jacobian(&g, (vec3){0, 0, 0.110}, &angles, &j), HR_OK);
    assert_near(j.m[0][0], 3.515, 0.001);
    assert_near(j.m[0][1], -11.787, 0.001);
    assert_near(j.m[0][2], 13.785, 0.001);
}

static void forward_undoes_inverse_from_a_nearby_seed(void **state)
{
    (void)state;
    test_random r = test_random_seed(101);
    falcon_geometry g = falcon_geometry_default();
    int most = 0;
    for (int n = 0; n < test_effort(POSES); n++) {
        vec3 p = random_position(&r);
        vec3 away = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0});
        vec3 seed = vec3_add_scaled(p, FALCON_NEWTON_START * test_random_between(&r, 0, 1), away);
        falcon_angles angles;
        vec3 found;
        int steps;
        assert_int_equal(falcon_inverse(&g, p, &angles), HR_OK);
        assert_int_equal(falcon_forward_counted(&g, &angles, seed, &found, &steps), HR_OK);
        assert_vec3_near(found, p, 1e-12);
        most = steps > most ? steps : most;
    }
    print_message("most Newton steps from up to 5 mm away: %d\n", most);
    assert_true(most <= FALCON_NEWTON_STEPS);
}

static void forward_finds_every_pose_without_a_seed(void **state)
{
    (void)state;
    test_random r = test_random_seed(102);
    falcon_geometry g = falcon_geometry_default();
    int most = 0;
    for (int n = 0; n < test_effort(20000); n++) {
        vec3 p = random_position(&r);
        vec3 seed = test_random_vec3(&r, 0.2);
        falcon_angles angles;
        vec3 found;
        int steps;
        assert_int_equal(falcon_inverse(&g, p, &angles), HR_OK);
        assert_int_equal(falcon_forward_counted(&g, &angles, seed, &found, &steps), HR_OK);
        assert_vec3_near(found, p, 1e-12);
        most = steps > most ? steps : most;
    }
    print_message("most Newton steps from anywhere: %d\n", most);
    assert_true(most <= (FALCON_WALK_STEPS + 1) * FALCON_NEWTON_STEPS);
}

/* Smallest singular value: square root of the smallest eigenvalue of A A^T, by the trigonometric
 * formula for a symmetric 3x3 matrix (O. K. Smith, CACM 1961). */
static double smallest_singular_value(mat3 a)
{
    mat3 s = mat3_multiply(a, mat3_transpose(a));
    double mean = (s.m[0][0] + s.m[1][1] + s.m[2][2]) / 3;
    mat3 b = mat3_add(s, mat3_scale(-mean, mat3_identity()));
    double p = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            p += b.m[i][j] * b.m[i][j];
    p = sqrt(p / 6);
    double half = fmin(fmax(mat3_determinant(mat3_scale(1 / p, b)) / 2, -1), 1);
    return sqrt(mean + 2 * p * cos(acos(half) / 3 + 2 * M_PI / 3));
}

/* beta and L of the theorem quoted in kinematics.h. L needs no sampling: its rows are
 * 2 max(1, 1 + D b^2 / S^3), largest where |q| is; stacking three rows multiplies by sqrt 3 at
 * most. beta = 1 / sigma_min is sampled on a 1 mm grid; between grid points sigma_min can fall by
 * at most half the largest difference between neighbours along each axis; it is steepest along z.
 */
static void newton_converges_by_the_stated_bound(void **state)
{
    (void)state;
    falcon_geometry g = falcon_geometry_default();
    double step = 0.001;
    double lowest = INFINITY;
    double steepest = 0;
    double q_most = 0;
    double before = 0;
    for (double x = -0.045; x <= 0.0451; x += step)
        for (double y = -0.045; y <= 0.0451; y += step) {
            if (hypot(x, y) > FALCON_RADIUS_MAX)
                continue;
            for (double z = FALCON_Z_MIN; z <= FALCON_Z_MAX + 1e-9; z += step) {
                falcon_angles angles;
                vec3 p = falcon_clamp_to_workspace((vec3){x, y, z});
                assert_int_equal(falcon_inverse(&g, p, &angles), HR_OK);
                double sigma = smallest_singular_value(falcon_loop_derivative(&g, p, &angles));
                lowest = fmin(lowest, sigma);
                if (z > FALCON_Z_MIN)
                    steepest = fmax(steepest, fabs(sigma - before));
                before = sigma;
                for (int i = 0; i < 3; i++)
                    q_most = fmax(q_most, fabs(-g.sin_phi[i] * x + g.cos_phi[i] * y + g.v_offset));
            }
        }
    double beta = 1 / (lowest - 1.5 * steepest);
    /* the ball of starting points reaches 5 mm further out */
    double s = sqrt(g.b * g.b - pow(q_most + FALCON_NEWTON_START, 2));
    double lipschitz = sqrt(3) * 2 * (1 + g.d_plus_e * g.b * g.b / (s * s * s));
    print_message("sigma_min %.5f, steepest %.5f per mm, beta L = %.2f\n", lowest, steepest,
                  beta * lipschitz);
    assert_true(beta * lipschitz <= FALCON_NEWTON_BETA_L);

    double error = FALCON_NEWTON_START;
    assert_true(error < 2 / (3 * FALCON_NEWTON_BETA_L));
    for (int k = 0; k < 4; k++)
        error = FALCON_NEWTON_BETA_L * error * error / (2 * (1 - FALCON_NEWTON_BETA_L * error));
    print_message("error after four steps at most %.2g m\n", error);
    assert_true(error < 1e-12);
}

static void the_jacobian_is_the_slope_of_the_inverse(void **state)
{
    (void)state;
    test_random r = test_random_seed(103);
    falcon_geometry g = falcon_geometry_default();
    double h =
        1e-6; /* the tolerance is h^2 times the largest third derivative, seen near the rim */
    for (int n = 0; n < test_effort(POSES); n++) {
        vec3 p = random_position(&r);
        falcon_angles at;
        mat3 j;
        assert_int_equal(falcon_inverse(&g, p, &at), HR_OK);
        assert_int_equal(falcon_jacobian(&g, p, &at, &j), HR_OK);
        static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int c = 0; c < 3; c++) {
            falcon_angles up;
            falcon_angles down;
            assert_int_equal(falcon_inverse(&g, vec3_add_scaled(p, h, axes[c]), &up), HR_OK);
            assert_int_equal(falcon_inverse(&g, vec3_add_scaled(p, -h, axes[c]), &down), HR_OK);
            for (int i = 0; i < 3; i++)
                assert_close((up.arm[i] - down.arm[i]) / (2 * h), j.m[i][c], 1e-6);
        }
    }
}

/* Examples of the fact sheet: 1 N at (0, 0, 0.110), 10 000 units per N m. */
static void one_newton_gives_the_published_motor_values(void **state)
{
    (void)state;
    falcon_geometry g = falcon_geometry_default();
    falcon_motors m = falcon_motors_default();
    vec3 p = {0, 0, 0.110};
    falcon_angles angles;
    mat3 j;
    int16_t values[3];
    bool is_saturated;
    assert_int_equal(falcon_inverse(&g, p, &angles), HR_OK);
    assert_int_equal(falcon_jacobian(&g, p, &angles, &j), HR_OK);

    assert_int_equal(falcon_motors_from_force(&m, j, (vec3){1, 0, 0}, values, &is_saturated), 0);
    assert_int_equal(values[0], -155);
    assert_int_equal(values[1], 527);
    assert_int_equal(values[2], -372);
    assert_int_equal(falcon_motors_from_force(&m, j, (vec3){0, 0, 1}, values, &is_saturated), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(values[i], -242);
    assert_false(is_saturated);
}

static void a_saturated_force_keeps_its_direction(void **state)
{
    (void)state;
    test_random r = test_random_seed(104);
    falcon_geometry g = falcon_geometry_default();
    falcon_motors m = falcon_motors_default();
    for (int n = 0; n < test_effort(20000); n++) {
        vec3 p = random_position(&r);
        vec3 unit = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){0, 0, 1});
        falcon_angles angles;
        mat3 j;
        int16_t values[3];
        bool is_saturated;
        assert_int_equal(falcon_inverse(&g, p, &angles), HR_OK);
        assert_int_equal(falcon_jacobian(&g, p, &angles, &j), HR_OK);
        assert_int_equal(
            falcon_motors_from_force(&m, j, vec3_scale(1000, unit), values, &is_saturated), HR_OK);
        assert_true(is_saturated);
        int largest = 0;
        for (int i = 0; i < 3; i++)
            largest = abs(values[i]) > largest ? abs(values[i]) : largest;
        assert_int_equal(largest, FALCON_MOTOR_MAX);
        vec3 made = falcon_force_from_motors(&m, j, values);
        assert_vec3_near(vec3_normalize_or(made, unit), unit, 2e-3); /* half a unit in 4095 */
    }
}

static void impossible_input_gives_zero_and_a_status(void **state)
{
    (void)state;
    falcon_geometry g = falcon_geometry_default();
    falcon_motors m = falcon_motors_default();
    falcon_angles angles = {{9, 9, 9}};
    vec3 p = {7, 7, 7};
    int16_t values[3] = {1, 1, 1};
    bool is_saturated;

    assert_int_equal(falcon_inverse(&g, (vec3){0.5, 0, 0.1}, &angles), HR_ERR_INFEASIBLE);
    assert_near(angles.arm[0], 9, 0);
    assert_int_equal(falcon_inverse(&g, (vec3){(double)NAN, 0, 0.1}, &angles), HR_ERR_INFEASIBLE);
    assert_int_equal(falcon_forward(&g, &angles, (vec3){0, 0, 0.125}, &p), HR_ERR_MAX_ITER);
    angles.arm[1] = (double)NAN;
    assert_int_equal(falcon_forward(&g, &angles, (vec3){0, 0, 0.125}, &p), HR_ERR_MAX_ITER);
    assert_near(p.x, 7, 0);
    assert_int_equal(falcon_motors_from_force(&m, mat3_identity(), (vec3){(double)NAN, 0, 0},
                                              values, &is_saturated),
                     HR_ERR_NOT_FINITE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(values[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_poses_give_published_angles_and_counts),
        cmocka_unit_test(forward_undoes_inverse_from_a_nearby_seed),
        cmocka_unit_test(forward_finds_every_pose_without_a_seed),
        cmocka_unit_test(newton_converges_by_the_stated_bound),
        cmocka_unit_test(the_jacobian_is_the_slope_of_the_inverse),
        cmocka_unit_test(one_newton_gives_the_published_motor_values),
        cmocka_unit_test(a_saturated_force_keeps_its_direction),
        cmocka_unit_test(impossible_input_gives_zero_and_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
