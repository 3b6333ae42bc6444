/* The articulated-body algorithm against the dense mass matrix, golden robots and hand-made
 * pendulums. Golden files: independent dense solutions for robots that others described. */
#include <string.h>

#include "tests/test.h"

#include "geometry/urdf.h"
#include "solver/articulated_body.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/golden.h"
#include "tests/support/models.h"

static void random_mechanisms_agree_with_the_dense_mass_matrix(void **state)
{
    (void)state;
    test_random r = test_random_seed(21);
    for (int round = 0; round < test_effort(60); round++) {
        model m = models_random(&r, 1 + test_random_index(&r, 30), round % 4 ? 3 : 1,
                                MODELS_ALL_TYPES, round % 2);
        double q[256], qd[256], tau[256], qdd[256], expected[256];
        vec6 external[64];
        models_random_coordinates(&r, &m, q);
        for (int i = 0; i < m.v_count; i++) {
            qd[i] = test_random_between(&r, -2, 2);
            tau[i] = test_random_between(&r, -5, 5);
        }
        for (int b = 0; b < m.body_count; b++)
            external[b] = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 3));
        vec3 gravity = {0.3, -0.2, -9.81};
        dense_dynamics d = dense_create(&m);
        articulated_body *a = articulated_body_create(&m);

        dense_update(&d, q, qd, external, gravity);
        dense_accelerations(&d, NULL, NULL, tau, expected);
        articulated_body_input in = {
            .q = q, .qd = qd, .tau = tau, .external = external, .gravity = gravity};
        assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);

        double size = 1;
        for (int i = 0; i < m.v_count; i++)
            size = fmax(size, fabs(expected[i]));
        for (int i = 0; i < m.v_count; i++)
            assert_near(qdd[i] / size, expected[i] / size, 1e-11);
        articulated_body_destroy(a);
        dense_free(&d);
        model_free(&m);
    }
}

static void golden_robots_agree(void **state)
{
    (void)state;
    for (int i = 0; i < GOLDEN_COUNT; i++) {
        golden g = golden_load(i);
        double qdd[64];
        articulated_body *a = articulated_body_create(&g.model);
        articulated_body_input in = {.q = g.q, .qd = g.qd, .gravity = {0, 0, -9.81}};
        assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);
        golden_assert(&g, qdd, g.qdd);

        in.qd = g.qd_half;
        in.locked = g.is_locked;
        assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);
        golden_assert(&g, qdd, g.qdd_half);
        articulated_body_destroy(a);
        golden_free(&g);
    }
}

/* Two balls, values of an independent solution, to the digits stated. */
static void two_balls_swing_as_computed_by_hand(void **state)
{
    (void)state;
    model m = models_pendulum(2);
    articulated_body *a = articulated_body_create(&m);
    double qdd[2];
    articulated_body_input in = {
        .q = (double[]){1.2, 0}, .qd = (double[]){0, 0}, .gravity = {0, 0, -9.81}};
    assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);
    assert_near(qdd[0], -88.35893468, 5e-9);
    assert_near(qdd[1], 85.39165702, 5e-9);
    in.q = (double[]){1.2, -0.7};
    in.qd = (double[]){1.5, -2};
    assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);
    assert_near(qdd[0], -101.52311368, 5e-9);
    assert_near(qdd[1], 132.47582101, 5e-9);
    articulated_body_destroy(a);
    model_free(&m);
}

/* A universal joint as others write it: a link without mass between two hinges. The dense matrix
 * needs no mass there, so neither may we: the answer must not feel the mended gram. */
static void a_massless_link_between_hinges_weighs_nothing(void **state)
{
    (void)state;
    model m = models_alternating(2);
    m.links[1].mass = 0;
    m.links[1].inertia = (mat3){{{0}}};
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    assert_true(m.bodies[1].mass > 0); /* mended for the solvers that need it */
    model stated = m;
    model_body bodies[3];
    memcpy(bodies, m.bodies, sizeof bodies);
    bodies[1].inertia = bodies[1].stated_inertia;
    stated.bodies = bodies;
    double q[2] = {0.4, -0.7}, qd[2] = {1, 2}, qdd[2], expected[2];
    dense_dynamics d = dense_create(&stated);
    articulated_body *a = articulated_body_create(&m);

    dense_update(&d, q, qd, NULL, (vec3){0, 0, -9.81});
    dense_accelerations(&d, NULL, NULL, NULL, expected);
    articulated_body_input in = {.q = q, .qd = qd, .gravity = {0, 0, -9.81}};
    assert_int_equal(articulated_body_accelerations(a, &in, qdd), HR_OK);

    for (int i = 0; i < 2; i++)
        assert_close(qdd[i], expected[i], 1e-12);
    articulated_body_destroy(a);
    dense_free(&d);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_mechanisms_agree_with_the_dense_mass_matrix),
        cmocka_unit_test(golden_robots_agree),
        cmocka_unit_test(two_balls_swing_as_computed_by_hand),
        cmocka_unit_test(a_massless_link_between_hinges_weighs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
