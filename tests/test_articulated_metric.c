/* Metrics and selection: the bottom-up metric against the brute-force sum over the joints of the
 * fully articulated body (dense accelerations), after any history of set changes. */
#include <string.h>

#include "tests/test.h"

#include "solver/articulated.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/models.h"

enum { ROOM = 400 };

static const vec3 GRAVITY = {0.4, -0.3, -9.81};

/* What acts at the joints of a run. Springs only where one coordinate is one velocity. */
typedef struct joint_forces {
    double tau[ROOM], armature[ROOM], damping[ROOM], stiffness[ROOM], reference[ROOM];
    int q_of[ROOM]; /* by velocity coordinate */
} joint_forces;

static const double STEP = 2e-3;

static joint_forces random_forces(test_random *r, const model *m, articulated *a)
{
    joint_forces f = {.tau = {0}};
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        for (int i = 0; i < joint_v_count(joint->type); i++) {
            int v = joint->v + i;
            f.q_of[v] = joint->q;
            f.armature[v] = test_random_between(r, 0, 0.02);
            f.damping[v] = test_random_between(r, 0, 0.5);
            f.stiffness[v] = joint_v_count(joint->type) == 1 ? test_random_between(r, 0, 20) : 0;
            f.reference[v] = test_random_between(r, -1, 1);
            articulated_set_armature(a, v, f.armature[v]);
            articulated_set_damping(a, v, f.damping[v]);
            articulated_set_spring(a, v, f.stiffness[v], f.reference[v]);
        }
    }
    return f;
}

/* The metric by the dense solution: what each coordinate adds into share, the sum returned. */
static double brute_metric(const model *m, const articulated *a, const joint_forces *f,
                           const vec6 *external, articulated_metric metric, double *share)
{
    dense_dynamics d = dense_create(m);
    double qdd[ROOM], tau[ROOM], k[ROOM], sum = 0;
    const double *q = articulated_q(a), *qd = articulated_qd(a);
    for (int i = 0; i < m->v_count; i++) {
        double offset = f->stiffness[i] > 0 ? q[f->q_of[i]] - f->reference[i] : 0;
        k[i] = f->armature[i] + STEP * f->damping[i] + STEP * STEP * f->stiffness[i];
        tau[i] = f->tau[i] - f->damping[i] * qd[i] - f->stiffness[i] * (offset + STEP * qd[i]);
    }
    dense_update(&d, q, qd, external, GRAVITY);
    dense_accelerations(&d, k, NULL, tau, qdd);
    for (int i = 0; i < m->v_count; i++) {
        double r = metric.s0 * qd[i] + metric.s1 * qdd[i], rest = metric.s2 * qdd[i];
        share[i] = r * r + rest * rest;
        sum += share[i];
    }
    dense_free(&d);
    return sum;
}

/* The part of the sum that belongs to joints which are not active. */
static double brute_left(const model *m, const articulated *a, const double *share)
{
    double sum = 0;
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        for (int i = 0; i < joint_v_count(joint->type); i++)
            if (!articulated_is_active(a, b))
                sum += share[joint->v + i];
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

/* The choice by brute force: open the node with the largest sum of shares below it (times the
 * factor where it is active now) until the budget is used up; floating joints first. */
static void brute_choice(const model *m, const articulated *a, const double *share, int budget,
                         double factor, bool *chosen)
{
    const assembly_tree *t = articulated_tree(a);
    bool is_open[2 * ROOM] = {false};
    double value[2 * ROOM] = {0};
    for (int n = 0; n < t->node_count; n++) {
        if (assembly_node_is_leaf(&t->nodes[n]))
            continue;
        const model_joint *joint = &m->joints[m->bodies[t->parts[t->nodes[n].joint].body].link];
        for (int i = 0; i < joint_v_count(joint->type); i++)
            value[n] += share[joint->v + i];
        value[n] += value[t->nodes[n].child[0]] + value[t->nodes[n].child[1]];
    }
    for (int round = 0; round < budget; round++) {
        int best = -1;
        double most = -1;
        for (int n = 0; n < t->node_count; n++) {
            int up = t->nodes[n].parent, part = t->nodes[n].joint;
            if (assembly_node_is_leaf(&t->nodes[n]) || is_open[n] || (up >= 0 && !is_open[up]))
                continue;
            int body = t->parts[part].body;
            bool must = m->joints[m->bodies[body].link].type == JOINT_FLOATING;
            double v = must ? 1e300 : value[n] * (articulated_is_active(a, body) ? factor : 1);
            if (v > most) {
                most = v;
                best = n;
            }
        }
        if (best < 0)
            return;
        is_open[best] = true;
        chosen[t->parts[t->nodes[best].joint].body] = true;
    }
}

/* Every few steps: new forces, a selection with another budget; total and rest must be the brute
 * ones each time although passive nodes were never swept again. */
static void run_history(test_random *r, int joints, int reach, bool floats,
                        articulated_metric metric)
{
    model m = models_random(r, joints, reach, MODELS_ALL_TYPES, floats);
    articulated_options options = {.gravity = GRAVITY, .step_s = STEP};
    articulated *a = articulated_create(&m, &options);
    double q[ROOM], qd[ROOM] = {0}, brute[ROOM];
    vec6 external[ROOM];
    joint_forces forces = random_forces(r, &m, a);
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
            forces.tau[v] = test_random_between(r, -5, 5);
            articulated_set_force(a, v, forces.tau[v]);
        }
        double total = brute_metric(&m, a, &forces, external, metric, brute);
        int budget = 1 + test_random_index(r, m.body_count - 1);
        double factor = turn % 2 ? 2 : 1;
        bool chosen[ROOM] = {false};
        brute_choice(&m, a, brute, budget, factor, chosen);
        articulated_selected s =
            articulated_select(a, (articulated_selection){.budget = budget, .hysteresis = factor});

        for (int b = 1; b < m.body_count; b++)
            assert_int_equal(articulated_is_active(a, b), chosen[b]);
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
        const articulated_metric metrics[] = {
            {.s1 = 1}, {.s0 = 1, .s1 = 0.02}, articulated_metric_over(0.02)};
        run_history(&r, 3 + test_random_index(&r, 40), 1 + round % 5, round % 4 == 0,
                    metrics[round % 3]);
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
