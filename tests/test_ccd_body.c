#include <string.h>

#include "collide/ccd_body.h"
#include "tests/support/ccd_models.h"

enum { Q_MAX = 512 };

static double rigid_error(const rigid *a, const rigid *b)
{
    double worst = vec3_distance(a->origin, b->origin);
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(a->rotation.m[i / 3][i % 3] - b->rotation.m[i / 3][i % 3]));
    return worst;
}

/* Is the exact transform within C0 + C1 s + C2 s^2 +- R? 1e-13 is what the reference, evaluated in
 * double precision over a dozen products, may itself be off by. */
static void assert_encloses(const motion *m, double s, const rigid *exact)
{
    if (m->is_constant) {
        assert_true(rigid_error(&m->constant, exact) < 1e-12);
        return;
    }
    rigid polynomial = taylor_at(&m->varying, s);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            assert_true(fabs(polynomial.rotation.m[i][j] - exact->rotation.m[i][j]) <=
                        m->varying.r.m[i][j] + 1e-13);
        assert_true(fabs((&polynomial.origin.x)[i] - (&exact->origin.x)[i]) <=
                    m->varying.r.m[i][3] + 1e-12);
    }
}

/* Every leaf of random trees, by the recursion on the assembly tree, against the plain product of
 * joints from the base. */
static void every_leaf_is_where_the_plain_product_puts_it(void **state)
{
    (void)state;
    test_random r = test_random_seed(41);
    for (int round = 0; round < test_effort(60); round++) {
        model m;
        double q0[Q_MAX], q1[Q_MAX];
        pose bodies[64];
        pose base = test_random_pose(&r, 2);
        ccd_model_random(&r, 2 + test_random_index(&r, 20), &m);
        ccd_model_random_q(&r, &m, 1, q0);
        ccd_model_random_q(&r, &m, 1, q1);
        ccd_body *body = ccd_body_create(&m, (assembly_shape)(round % 3), base);
        assert_int_equal(ccd_body_place(body, q0), HR_OK);
        assert_int_equal(ccd_body_move(body, q1), HR_OK);
        ccd_counters counters = {0};
        const assembly_tree *t = ccd_body_tree(body);
        for (int k = 0; k < 4; k++) {
            double start = 0.25 * k, middle = start + 0.125;
            ccd_body_enclose(body, middle, 0.125, &counters);
            for (int p = 0; p < t->part_count; p++) {
                const motion *got = ccd_body_from_node(body, t->root, t->parts[p].leaf, &counters);
                for (int i = 0; i <= 8; i++) {
                    double at = start + 0.25 * i / 8;
                    rigid exact = ccd_body_part_at(body, p, at);
                    assert_encloses(got, at - middle, &exact);
                }
            }
        }
        /* and the ends are the coordinates that were asked for */
        for (int end = 0; end < 2; end++) {
            model_body_poses(&m, end ? q1 : q0, bodies);
            for (int p = 0; p < t->part_count; p++) {
                rigid got = ccd_body_part_at(body, p, end);
                rigid want = rigid_from_pose(pose_compose(base, bodies[t->parts[p].body]));
                assert_true(rigid_error(&got, &want) < 1e-12);
            }
        }
        ccd_body_destroy(body);
        model_free(&m);
    }
}

static void relative_motion_goes_through_the_common_ancestor(void **state)
{
    (void)state;
    test_random r = test_random_seed(42);
    model m;
    double q1[Q_MAX];
    ccd_model_random(&r, 16, &m);
    ccd_model_random_q(&r, &m, 0.5, q1);
    ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, test_random_pose(&r, 100));
    assert_int_equal(ccd_body_move(body, q1), HR_OK);
    ccd_counters counters = {0};
    ccd_body_enclose(body, 0.5, 0.5, &counters);
    const assembly_tree *t = ccd_body_tree(body);
    for (int i = 0; i < t->part_count * t->part_count; i++) {
        int a = i / t->part_count, b = i % t->part_count;
        int top = assembly_tree_common(t, t->parts[a].leaf, t->parts[b].leaf);
        motion to_a = *ccd_body_from_node(body, top, t->parts[a].leaf, &counters);
        motion to_b = *ccd_body_from_node(body, top, t->parts[b].leaf, &counters);
        motion got;
        motion_relative(&to_a, &to_b, &got);
        for (int k = 0; k <= 4; k++) {
            rigid wa = ccd_body_part_at(body, a, 0.25 * k),
                  wb = ccd_body_part_at(body, b, 0.25 * k);
            rigid back = rigid_inverse(&wa), exact = rigid_compose(&back, &wb);
            if (got.is_constant)
                assert_true(rigid_error(&got.constant, &exact) < 1e-10);
            else
                assert_true(
                    vec3_distance(taylor_at(&got.varying, 0.25 * k - 0.5).origin, exact.origin) <=
                    sqrt(3) * taylor_radius(&got.varying, 0) + 1e-10);
        }
    }
    ccd_body_destroy(body);
    model_free(&m);
}

/* Third order: what the enclosure is too wide by shrinks eightfold when the interval is halved. */
static void the_radius_shrinks_with_the_cube_of_the_interval(void **state)
{
    (void)state;
    test_random r = test_random_seed(43);
    model m;
    double q1[Q_MAX];
    ccd_model_chain(&r, 9, (vec3){0.9, 0.1, 0.1}, &m);
    for (int i = 0; i < m.q_count; i++)
        q1[i] = 0.2;
    ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
    assert_int_equal(ccd_body_move(body, q1), HR_OK);
    const assembly_tree *t = ccd_body_tree(body);
    double before = 0;
    for (int k = 0; k < 6; k++) {
        ccd_counters counters = {0};
        ccd_body_enclose(body, 0.5, ldexp(0.5, -k), &counters);
        const motion *got = ccd_body_from_node(body, t->root, t->parts[8].leaf, &counters);
        double radius = taylor_radius(&got->varying, 1);
        if (k > 0)
            assert_in_range((int)(1000 * before / radius), 7000, 9000);
        before = radius;
    }
    ccd_body_destroy(body);
    model_free(&m);
}

/* node_updates is exactly the dirty set, world updates at most k (depth + 1), nothing grows with n.
 */
static void cost_follows_the_active_joints(void **state)
{
    (void)state;
    test_random r = test_random_seed(44);
    for (int n = 16; n <= 1024; n *= 4) {
        model m;
        ccd_model_chain(&r, n + 1, (vec3){0.9, 0.1, 0.1}, &m);
        ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
        const assembly_tree *t = ccd_body_tree(body);
        double *q1 = calloc((size_t)m.q_count, sizeof *q1);
        for (int active = 1; active <= n; active *= 4) {
            ccd_counters counters = {0};
            memset(q1, 0, (size_t)m.q_count * sizeof *q1);
            for (int i = 0; i < active; i++)
                q1[(int)((double)i * n / active)] = 0.01;
            assert_int_equal(ccd_body_move(body, q1), HR_OK);
            int dirty = ccd_body_dirty_count(body), wanted = 4;
            ccd_body_enclose(body, 0.5, 0.5, &counters);
            assert_int_equal(counters.node_updates, dirty);
            assert_int_equal(counters.joint_evals, active);
            assert_true(dirty <= active * (t->height + 1) && dirty <= n);
            for (int i = 0; i < wanted; i++)
                (void)ccd_body_from_node(body, t->root, t->parts[i * n / wanted].leaf, &counters);
            assert_true(counters.world_updates <= wanted * (t->height + 1));
            print_message("n %4d, active %4d: dirty %4d, world %3d, height %d\n", n, active, dirty,
                          (int)counters.world_updates, t->height);
        }
        free(q1);
        ccd_body_destroy(body);
        model_free(&m);
    }
}

static void a_stop_is_where_the_motion_was(void **state)
{
    (void)state;
    test_random r = test_random_seed(45);
    for (int round = 0; round < test_effort(40); round++) {
        model m;
        double q0[Q_MAX], q1[Q_MAX];
        ccd_model_random(&r, 12, &m);
        ccd_model_random_q(&r, &m, 1, q0);
        ccd_model_random_q(&r, &m, 1, q1);
        ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
        assert_int_equal(ccd_body_place(body, q0), HR_OK);
        assert_int_equal(ccd_body_move(body, q1), HR_OK);
        const assembly_tree *t = ccd_body_tree(body);
        rigid before[32];
        double at = test_random_between(&r, 0, 1);
        for (int p = 0; p < t->part_count; p++)
            before[p] = ccd_body_part_at(body, p, at);
        ccd_body_stop(body, at);
        ccd_counters counters = {0};
        ccd_body_enclose(body, 0.5, 0.5, &counters);
        for (int p = 0; p < t->part_count; p++) {
            const motion *now = ccd_body_from_node(body, t->root, t->parts[p].leaf, &counters);
            assert_true(now->is_constant);
            assert_true(rigid_error(&now->constant, &before[p]) < 1e-12);
        }
        assert_int_equal(counters.node_updates, 0);
        ccd_body_destroy(body);
        model_free(&m);
    }
}

static void coordinates_that_are_no_numbers_change_nothing(void **state)
{
    (void)state;
    test_random r = test_random_seed(46);
    model m;
    double q[Q_MAX] = {0};
    ccd_model_chain(&r, 4, (vec3){0.9, 0.1, 0.1}, &m);
    ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
    q[1] = (double)NAN;
    assert_int_equal(ccd_body_move(body, q), HR_ERR_NOT_FINITE);
    assert_int_equal(ccd_body_place(body, q), HR_ERR_NOT_FINITE);
    assert_int_equal(ccd_body_dirty_count(body), 0);
    assert_near(ccd_body_coordinates(body)[1], 0, 0);
    ccd_body_destroy(body);
    model_free(&m);
}

/* The paper's interval matrices along the chain, as the second method: they enclose the same
 * motion, and are wider (the specification measured 5.9 for 8 links and 0.2 rad). */
static void intervals_enclose_the_same_motion_and_are_wider(void **state)
{
    (void)state;
    test_random r = test_random_seed(47);
    double ratio = 0;
    const int chains = 8;
    for (int round = 0; round < chains; round++) {
        model m;
        double q0[Q_MAX] = {0}, q1[Q_MAX];
        ccd_model_chain(&r, 9, (vec3){0.9, 0.1, 0.1}, &m);
        for (int i = 0; i < m.q_count; i++)
            q1[i] = 0.2;
        ccd_body *body = ccd_body_create(&m, ASSEMBLY_BALANCED, pose_identity());
        assert_int_equal(ccd_body_move(body, q1), HR_OK);
        rigid start = rigid_identity();
        interval_rigid product = interval_rigid_constant(&start), next, joint;
        for (int b = 1; b < m.body_count; b++) {
            const model_joint *j = &m.joints[m.bodies[b].link];
            joint_path path;
            assert_int_equal(joint_path_make(j, m.bodies[b].parent_from_joint, q0 + j->q, q1 + j->q,
                                             (vec3){0, 0, 0}, &path),
                             HR_OK);
            joint_path_interval(&path, 0.5, 0.5, &joint);
            interval_rigid_compose(&product, &joint, &next);
            product = next;
        }
        ccd_counters counters = {0};
        const assembly_tree *t = ccd_body_tree(body);
        ccd_body_enclose(body, 0.5, 0.5, &counters);
        interval_rigid taylor_range;
        taylor_bound(&ccd_body_from_node(body, t->root, t->parts[8].leaf, &counters)->varying,
                     &taylor_range);
        for (int i = 0; i <= 64; i++) {
            rigid exact = ccd_body_part_at(body, 8, i / 64.0);
            for (int k = 0; k < 3; k++)
                assert_true(interval_contains(interval_widen(product.m[k][3], 1e-13),
                                              (&exact.origin.x)[k]));
        }
        for (int k = 0; k < 3; k++)
            ratio +=
                interval_width(product.m[k][3]) / interval_width(taylor_range.m[k][3]) / 3 / chains;
        ccd_body_destroy(body);
        model_free(&m);
    }
    print_message("interval product / Taylor tree: %.1f times wider\n", ratio);
    assert_true(ratio > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_leaf_is_where_the_plain_product_puts_it),
        cmocka_unit_test(relative_motion_goes_through_the_common_ancestor),
        cmocka_unit_test(the_radius_shrinks_with_the_cube_of_the_interval),
        cmocka_unit_test(cost_follows_the_active_joints),
        cmocka_unit_test(a_stop_is_where_the_motion_was),
        cmocka_unit_test(coordinates_that_are_no_numbers_change_nothing),
        cmocka_unit_test(intervals_enclose_the_same_motion_and_are_wider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
