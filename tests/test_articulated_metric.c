/* Metrics and selection: the bottom-up metric against the brute-force sum over the joints of the
 * fully articulated body (dense accelerations), after any history of set changes. */
#include <string.h>

#include "tests/test.h"

#include "solver/articulated.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/models.h"

enum { ROOM = 400 };

static const vec3 GRAVITY = {0.4, -0.3, -9.81};

/* Sum of r^2 over all joints, r = s0 qd + s1 qdd, by the dense solution; r into out. */
static double brute_metric(const model *m, const articulated *a, const double *tau,
                           const vec6 *external, articulated_metric metric, double *out)
{
    dense_dynamics d = dense_create(m);
    double qdd[ROOM], sum = 0;
    const double *qd = articulated_qd(a);
    dense_update(&d, articulated_q(a), qd, external, GRAVITY);
    dense_accelerations(&d, NULL, NULL, tau, qdd);
    for (int i = 0; i < m->v_count; i++) {
        out[i] = metric.s0 * qd[i] + metric.s1 * qdd[i];
        sum += out[i] * out[i];
    }
    dense_free(&d);
    return sum;
}

/* The part of the sum that belongs to joints which are not active. */
static double brute_left(const model *m, const articulated *a, const double *r)
{
    double sum = 0;
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        for (int i = 0; i < joint_v_count(joint->type); i++)
            if (!articulated_is_active(a, b))
                sum += r[joint->v + i] * r[joint->v + i];
    }
    return sum;
}

static bool set_is_closed(const articulated *a)
{
    const assembly_tree *t = articulated_tree(a);
    for (int p = 1; p < t->part_count; p++) {
        if (t->parts[p].is_welded || !articulated_is_active(a, t->parts[p].body))
            continue;
        for (int n = t->nodes[t->parts[p].node].parent; n >= 0; n = t->nodes[n].parent) {
            int q = t->nodes[n].joint;
            if (!t->parts[q].is_welded && !articulated_is_active(a, t->parts[q].body))
                return false;
        }
    }
    return true;
}

/* Every few steps: new forces, a selection with another budget; total and rest must be the brute
 * ones each time although passive nodes were never swept again. */
static void run_history(test_random *r, int joints, int reach, bool floats,
                        articulated_metric metric)
{
    model m = models_random(r, joints, reach, MODELS_ALL_TYPES, floats);
    articulated_options options = {.gravity = GRAVITY, .step_s = 2e-3};
    articulated *a = articulated_create(&m, &options);
    double q[ROOM], qd[ROOM] = {0}, tau[ROOM] = {0}, brute[ROOM];
    vec6 external[ROOM];
    models_random_coordinates(r, &m, q);
    for (int i = 0; i < m.v_count; i++)
        qd[i] = test_random_between(r, -1, 1);
    articulated_set_state(a, q, qd);
    articulated_use_metric(a, metric);
    for (int turn = 0; turn < 6; turn++) {
        articulated_clear_wrenches(a);
        memset(external, 0, sizeof external);
        for (int k = 0; k < 3; k++) {
            int b = 1 + test_random_index(r, m.body_count - 1);
            vec6 w = vec6_make(test_random_vec3(r, 1), test_random_vec3(r, 3));
            external[b] = vec6_add(external[b], w);
            articulated_add_wrench(a, b, w);
        }
        for (int k = 0; k < 3; k++) {
            int v = test_random_index(r, m.v_count);
            tau[v] = test_random_between(r, -5, 5);
            articulated_set_force(a, v, tau[v]);
        }
        double total = brute_metric(&m, a, tau, external, metric, brute);
        int budget = 1 + test_random_index(r, m.body_count - 1);
        articulated_selected s = articulated_select(a, (articulated_selection){.budget = budget});

        assert_near(s.total / total, 1, 1e-9);
        assert_near(s.left / total, brute_left(&m, a, brute) / total, 1e-9);
        assert_true(s.left >= -1e-9 * total && s.left <= s.total * (1 + 1e-12));
        assert_true(set_is_closed(a));
        assert_int_equal(s.active, articulated_active_count(a));
        assert_true(s.active <= budget || floats);

        /* move on: random speeds of the active joints through impulses, then new places */
        articulated_accelerate(a);
        for (int k = 0; k < 3; k++) {
            int b = 1 + test_random_index(r, m.body_count - 1);
            vec6 hit = vec6_make(test_random_vec3(r, 0.3), test_random_vec3(r, 1));
            articulated_apply_impulses(a, &b, &hit, 1);
        }
        for (int k = 0; k < 5; k++)
            articulated_step(a);
    }
    articulated_destroy(a);
    model_free(&m);
}

static void the_metric_equals_the_brute_force_sum(void **state)
{
    (void)state;
    test_random r = test_random_seed(51);
    for (int round = 0; round < test_effort(60); round++) {
        articulated_metric metric =
            round % 2 ? (articulated_metric){.s0 = 1, .s1 = 0.02} : (articulated_metric){.s1 = 1};
        run_history(&r, 3 + test_random_index(&r, 40), 1 + round % 4, round % 3 == 0, metric);
    }
}

/* The incremental numbers (level 2) against a fresh sweep of everything (level 1) while the body
 * really moves and the set changes. */
static void incremental_numbers_equal_a_fresh_sweep(void **state)
{
    (void)state;
    model m = models_alternating(30);
    articulated_options options = {.gravity = {0, 0, -9.81}, .step_s = 2e-3};
    articulated_metric metric = {.s0 = 1, .s1 = 0.02};
    articulated *a = articulated_create(&m, &options), *fresh = articulated_create(&m, &options);
    double q[30] = {1, 0.3, -0.2}, qd[30] = {0};
    articulated_set_state(a, q, qd);
    articulated_use_metric(a, metric);
    for (int turn = 0; turn < test_effort(60); turn++) {
        articulated_selected s = articulated_select(a, (articulated_selection){.budget = 8});
        /* the same state, all joints active: every number anew */
        articulated_set_state(fresh, articulated_q(a), articulated_qd(a));
        articulated_use_metric(fresh, metric);
        articulated_selected t = articulated_select(fresh, (articulated_selection){.budget = 30});
        if (s.stopped == 0) /* else the speeds changed between the two */
            assert_near(s.total / t.total, 1, 1e-9);
        for (int k = 0; k < 5; k++)
            articulated_step(a);
    }
    articulated_destroy(a);
    articulated_destroy(fresh);
    model_free(&m);
}

/* Experiments A2 and A3: eta with identity weights, digits of an independent solution. */
static void pendulums_have_the_metric_computed_elsewhere(void **state)
{
    (void)state;
    articulated_options options = {.gravity = {0, 0, -9.81}};
    model m = models_pendulum(2);
    articulated *a = articulated_create(&m, &options);
    articulated_set_state(a, (double[]){1.2, -0.7}, (double[]){1.5, -2});
    articulated_use_metric(a, (articulated_metric){.s1 = 1});
    articulated_selected s = articulated_select(a, (articulated_selection){0});
    assert_near(s.total, 27856.78576, 5e-5);
    assert_near(s.left / s.total, 0, 1e-12);
    articulated_destroy(a);
    model_free(&m);

    double q[30] = {1}, qd[30] = {0};
    m = models_pendulum(30);
    a = articulated_create(&m, &options);
    articulated_set_state(a, q, qd);
    articulated_use_metric(a, (articulated_metric){.s1 = 1});
    s = articulated_select(a, (articulated_selection){0});
    assert_near(s.total, 12313.491104, 5e-6);
    articulated_destroy(a);
    model_free(&m);
}

/* One more joint never leaves more; all joints leave nothing; a threshold is met or all are in. */
static void what_is_left_falls_with_the_budget(void **state)
{
    (void)state;
    test_random r = test_random_seed(52);
    for (int round = 0; round < test_effort(10); round++) {
        model m = models_random(&r, 25, 3, MODELS_ALL_TYPES, false);
        articulated_options options = {.gravity = GRAVITY};
        articulated *a = articulated_create(&m, &options);
        double q[ROOM], qd[ROOM] = {0}, before = (double)INFINITY;
        models_random_coordinates(&r, &m, q);
        for (int budget = 1; budget < m.body_count; budget++) {
            articulated_set_state(a, q, qd);
            articulated_use_metric(a, (articulated_metric){.s1 = 1});
            articulated_selected s =
                articulated_select(a, (articulated_selection){.budget = budget});
            assert_int_equal(s.active, budget);
            assert_true(s.left <= before + 1e-9 * s.total);
            before = s.left;
            if (budget == m.body_count - 1)
                assert_near(s.left / s.total, 0, 1e-10);
        }
        articulated_set_state(a, q, qd);
        articulated_selected s = articulated_select(a, (articulated_selection){.threshold = 10});
        assert_true(s.left <= 10 && s.active < m.body_count);
        articulated_destroy(a);
        model_free(&m);
    }
}

static void pinned_joints_and_free_bases_stay_active(void **state)
{
    (void)state;
    test_random r = test_random_seed(53);
    for (int round = 0; round < test_effort(20); round++) {
        model m = models_random(&r, 30, 3, MODELS_ALL_TYPES, round % 2);
        articulated_options options = {.gravity = GRAVITY};
        articulated *a = articulated_create(&m, &options);
        double q[ROOM], qd[ROOM] = {0};
        models_random_coordinates(&r, &m, q);
        articulated_set_state(a, q, qd);
        int b = 1 + test_random_index(&r, m.body_count - 1);
        articulated_pin(a, b, true);
        articulated_select(a, (articulated_selection){.budget = 1});
        assert_true(articulated_is_active(a, b));
        assert_true(set_is_closed(a));
        if (round % 2)
            assert_true(articulated_is_active(a, 1));
        articulated_pin(a, b, false);
        articulated_selected s = articulated_select(a, (articulated_selection){.budget = 1});
        assert_int_equal(s.active, 1);
        articulated_destroy(a);
        model_free(&m);
    }
}

/* With a factor a set that is nearly as good is kept. */
static void hysteresis_keeps_the_set(void **state)
{
    (void)state;
    int changes[2] = {0, 0};
    for (int kind = 0; kind < 2; kind++) {
        model m = models_pendulum(30);
        articulated_options options = {
            .gravity = {0, 0, -9.81}, .step_s = 2e-3, .integrator = ARTICULATED_SEMI_EULER};
        articulated *a = articulated_create(&m, &options);
        double q[30] = {1}, qd[30] = {0};
        for (int i = 0; i < 30; i++)
            articulated_set_damping(a, i, 2e-3);
        articulated_set_state(a, q, qd);
        articulated_use_metric(a, (articulated_metric){.s0 = 1, .s1 = 0.02});
        for (int tick = 0; tick < 160; tick++) {
            articulated_selected s =
                articulated_select(a, (articulated_selection){.budget = 5, .hysteresis = 1 + kind});
            changes[kind] += s.started;
            for (int k = 0; k < 5; k++)
                articulated_step(a);
        }
        articulated_destroy(a);
        model_free(&m);
    }
    assert_true(changes[1] < changes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_metric_equals_the_brute_force_sum),
        cmocka_unit_test(incremental_numbers_equal_a_fresh_sweep),
        cmocka_unit_test(pendulums_have_the_metric_computed_elsewhere),
        cmocka_unit_test(what_is_left_falls_with_the_budget),
        cmocka_unit_test(pinned_joints_and_free_bases_stay_active),
        cmocka_unit_test(hysteresis_keeps_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
