/* Forward dynamics on the assembly tree against the dense mass matrix, the golden robots and
 * numbers of an independent solution. */
#include <string.h>

#include "tests/test.h"

#include "solver/articulated.h"
#include "solver/articulated_internal.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/golden.h"
#include "tests/support/models.h"

enum { ROOM = 400 };

/* A model in a random state with random forces on it. */
typedef struct scene {
    model model;
    articulated *body;
    dense_dynamics dense;
    double q[ROOM], qd[ROOM], tau[ROOM], k[ROOM], expected[ROOM];
    bool active[ROOM]; /* by velocity coordinate */
    vec6 external[ROOM];
} scene;

static const vec3 GRAVITY = {0.4, -0.3, -9.81};

static void scene_make(scene *s, test_random *r, int joints, int reach, bool floats,
                       assembly_options tree)
{
    s->model = models_random(r, joints, reach, MODELS_ALL_TYPES, floats);
    models_random_coordinates(r, &s->model, s->q);
    articulated_options options = {.tree = tree, .gravity = GRAVITY, .step_s = 1e-3};
    s->body = articulated_create(&s->model, &options);
    assert_non_null(s->body);
    s->dense = dense_create(&s->model);
    for (int i = 0; i < s->model.v_count; i++) {
        s->qd[i] = test_random_between(r, -2, 2);
        s->tau[i] = test_random_between(r, -5, 5);
        s->k[i] = 0;
        s->active[i] = true;
        articulated_set_force(s->body, i, s->tau[i]);
    }
    for (int b = 0; b < s->model.body_count; b++)
        s->external[b] = (vec6){{0}};
    articulated_set_state(s->body, s->q, s->qd);
}

static void scene_push(scene *s, test_random *r, double share)
{
    for (int b = 1; b < s->model.body_count; b++) {
        if (test_random_between(r, 0, 1) > share)
            continue;
        s->external[b] = vec6_make(test_random_vec3(r, 1), test_random_vec3(r, 3));
        articulated_add_wrench(s->body, b, s->external[b]);
    }
}

static void scene_free(scene *s)
{
    articulated_destroy(s->body);
    dense_free(&s->dense);
    model_free(&s->model);
}

/* 1e-10 of the largest acceleration, as the golden files ask; observed 1e-12 and less. */
static void scene_assert(scene *s)
{
    articulated_accelerate(s->body);
    dense_update(&s->dense, s->q, s->qd, s->external, GRAVITY);
    dense_accelerations(&s->dense, s->k, s->active, s->tau, s->expected);
    const double *qdd = articulated_qdd(s->body);
    double size = 1;
    for (int i = 0; i < s->model.v_count; i++)
        size = fmax(size, fabs(s->expected[i]));
    for (int i = 0; i < s->model.v_count; i++)
        assert_near(s->active[i] ? qdd[i] / size : 0, s->expected[i] / size, 1e-10);
}

static void the_full_body_equals_the_dense_solution_on_every_tree(void **state)
{
    (void)state;
    test_random r = test_random_seed(31);
    for (int round = 0; round < test_effort(90); round++) {
        scene s = {0};
        assembly_options tree = {(assembly_shape)(round % 3), round % 5 ? 0 : 1};
        scene_make(&s, &r, 1 + test_random_index(&r, 40), 1 + round % 5, round % 2, tree);
        scene_push(&s, &r, 0.4);
        for (int i = 0; i < s.model.v_count; i++)
            if (test_random_index(&r, 3) == 0) {
                s.k[i] = test_random_between(&r, 0, 0.2);
                articulated_set_armature(s.body, i, s.k[i]);
            }
        scene_assert(&s);
        scene_free(&s);
    }
}

/* A hub of many limbs is split into welded parts; the answer must not show it. */
static void a_star_of_limbs_equals_the_dense_solution(void **state)
{
    (void)state;
    test_random r = test_random_seed(32);
    for (int round = 0; round < test_effort(6); round++) {
        scene s = {0};
        scene_make(&s, &r, 63, 63, round % 2, (assembly_options){.hub_limit = round < 3 ? 0 : 100});
        scene_push(&s, &r, 0.4);
        scene_assert(&s);
        scene_free(&s);
    }
}

/* Springs and dampers are implicit: (M + h d + h^2 k) qdd = tau - d qd - k (q + h qd - ref). */
static void springs_and_dampers_are_implicit(void **state)
{
    (void)state;
    test_random r = test_random_seed(33);
    const double h = 1e-3;
    for (int round = 0; round < test_effort(20); round++) {
        scene s = {0};
        scene_make(&s, &r, 20, 3, round % 2, (assembly_options){0});
        for (int i = 1; i < s.model.link_count; i++) {
            const model_joint *joint = &s.model.joints[i];
            if (joint_v_count(joint->type) != 1)
                continue;
            double d = test_random_between(&r, 0, 3), k = test_random_between(&r, 0, 2000);
            double ref = test_random_between(&r, -1, 1);
            articulated_set_damping(s.body, joint->v, d);
            articulated_set_spring(s.body, joint->v, k, ref);
            s.k[joint->v] = h * d + h * h * k;
            s.tau[joint->v] -= d * s.qd[joint->v] + k * (s.q[joint->q] + h * s.qd[joint->v] - ref);
        }
        scene_assert(&s);
        scene_free(&s);
    }
}

/* Random sets, closed upward by the solver; passive joints at rest, active ones moving. */
static void hybrid_bodies_equal_the_restricted_dense_solution(void **state)
{
    (void)state;
    test_random r = test_random_seed(34);
    for (int round = 0; round < test_effort(80); round++) {
        scene s = {0};
        bool wanted[ROOM];
        assembly_options tree = {(assembly_shape)(round % 3), round % 7 ? 0 : 1};
        scene_make(&s, &r, 5 + test_random_index(&r, 58), 1 + round % 5, round % 2, tree);
        double share = test_random_between(&r, 0, 0.5);
        for (int b = 0; b < s.model.body_count; b++)
            wanted[b] = test_random_between(&r, 0, 1) < share;
        for (int i = 0; i < s.model.v_count; i++)
            s.qd[i] = 0;
        articulated_set_state(s.body, s.q, s.qd);
        articulated_set_active(s.body, wanted);
        for (int b = 1; b < s.model.body_count; b++) {
            const model_joint *joint = &s.model.joints[s.model.bodies[b].link];
            assert_true(articulated_is_active(s.body, b) || !wanted[b]);
            for (int i = 0; i < joint_v_count(joint->type); i++) {
                s.active[joint->v + i] = articulated_is_active(s.body, b);
                if (s.active[joint->v + i]) /* an impulse gives the active joints speed */
                    s.qd[joint->v + i] = 0;
            }
        }
        /* speeds by impulses on bodies, the only way to give speed without starting all joints */
        articulated_accelerate(s.body);
        for (int k = 0; k < 3; k++) {
            int b = 1 + test_random_index(&r, s.model.body_count - 1);
            vec6 hit = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 3));
            articulated_apply_impulses(s.body, &b, &hit, 1);
        }
        memcpy(s.qd, articulated_qd(s.body), sizeof(double) * (size_t)s.model.v_count);
        scene_push(&s, &r, 0.4);
        scene_assert(&s);
        scene_free(&s);
    }
}

/* f = f0 - H a on a body: the dense system gets J^T H J, the right side f0 - H (drift). */
static void couplings_on_bodies_are_implicit(void **state)
{
    (void)state;
    test_random r = test_random_seed(35);
    for (int round = 0; round < test_effort(30); round++) {
        scene s = {0};
        scene_make(&s, &r, 15, 3, round % 2, (assembly_options){0});
        int b = 1 + test_random_index(&r, s.model.body_count - 1), n = s.model.v_count;
        mat6 root, stiff;
        for (int i = 0; i < 36; i++)
            root.m[i / 6][i % 6] = test_random_between(&r, -1, 1);
        mat6 flipped;
        mat6_transpose(&root, &flipped);
        mat6_multiply(&root, &flipped, &stiff);
        vec6 f0 = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 3));
        articulated_add_coupling(s.body, b, &stiff, f0);
        articulated_accelerate(s.body);
        const double *qdd = articulated_qdd(s.body);

        /* check the balance itself: M qdd + bias = tau + J^T (f0 - H a) with a of the body */
        vec6 a = articulated_body_acceleration(s.body, b);
        s.external[b] = vec6_sub(f0, mat6_apply(&stiff, a));
        dense_update(&s.dense, s.q, s.qd, s.external, GRAVITY);
        double size = 1, left[ROOM];
        for (int i = 0; i < n; i++) {
            left[i] = s.dense.bias[i] - s.tau[i];
            for (int k = 0; k < n; k++)
                left[i] += s.dense.mass[i * n + k] * qdd[k];
            size = fmax(size, fabs(s.dense.bias[i]));
        }
        for (int i = 0; i < n; i++)
            assert_near(left[i] / size, 0, 1e-9);
        scene_free(&s);
    }
}

static void golden_robots_agree_on_every_tree(void **state)
{
    (void)state;
    for (int i = 0; i < GOLDEN_COUNT; i++)
        for (int shape = 0; shape < 3; shape++) {
            golden g = golden_load(i);
            articulated_options options = {.tree = {(assembly_shape)shape, 0},
                                           .gravity = {0, 0, -9.81}};
            articulated *a = articulated_create(&g.model, &options);
            articulated_set_state(a, g.q, g.qd);
            articulated_accelerate(a);
            golden_assert(&g, articulated_qdd(a), g.qdd);
            mat6 inverse;
            articulated_inverse_inertia(a, g.model.body_count - 1, &inverse);
            double size = 0;
            for (int k = 0; k < 36; k++)
                size = fmax(size, fabs(g.inverse_inertia[k / 6][k % 6]));
            for (int k = 0; k < 36; k++)
                assert_near(inverse.m[k / 6][k % 6] / size, g.inverse_inertia[k / 6][k % 6] / size,
                            1e-10);

            /* the half set, with locked joints in active nodes */
            articulated_set_state(a, g.q, g.qd_half);
            for (int b = 1; b < g.model.body_count; b++)
                articulated_lock(a, b, g.is_locked[b]);
            articulated_accelerate(a);
            golden_assert(&g, articulated_qdd(a), g.qdd_half);
            articulated_destroy(a);
            golden_free(&g);
        }
}

/* The tree heights of the three robots by the heavy-path construction: 3, 6, 8. */
static void golden_robots_have_shallow_trees(void **state)
{
    (void)state;
    static const int heights[GOLDEN_COUNT] = {3, 6, 8};
    for (int i = 0; i < GOLDEN_COUNT; i++) {
        golden g = golden_load(i);
        assembly_tree t;
        assert_int_equal(assembly_tree_build(&g.model, (assembly_options){0}, &t), HR_OK);
        assert_int_equal(t.height, heights[i]);
        assembly_tree_free(&t);
        golden_free(&g);
    }
}

/* Experiments A1 to A3 with the digits of an independent solution. */
static void pendulums_swing_as_computed_elsewhere(void **state)
{
    (void)state;
    for (int shape = 0; shape < 3; shape++) {
        articulated_options options = {.tree = {(assembly_shape)shape, 0},
                                       .gravity = {0, 0, -9.81}};
        model m = models_pendulum(2);
        articulated *a = articulated_create(&m, &options);
        articulated_set_state(a, (double[]){1.2, 0}, (double[]){0, 0});
        articulated_accelerate(a);
        assert_near(articulated_qdd(a)[0], -88.35893468, 5e-9);
        assert_near(articulated_qdd(a)[1], 85.39165702, 5e-9);
        articulated_set_state(a, (double[]){1.2, -0.7}, (double[]){1.5, -2});
        articulated_accelerate(a);
        assert_near(articulated_qdd(a)[0], -101.52311368, 5e-9);
        assert_near(articulated_qdd(a)[1], 132.47582101, 5e-9);
        articulated_destroy(a);
        model_free(&m);

        double q[30] = {1}, qd[30] = {0};
        m = models_pendulum(30);
        a = articulated_create(&m, &options);
        articulated_set_state(a, q, qd);
        articulated_accelerate(a);
        assert_near(articulated_qdd(a)[0], -79.773026, 5e-7);
        assert_near(articulated_qdd(a)[1], 77.091053, 5e-7);
        assert_near(articulated_qdd(a)[2], 2.591805, 5e-7);
        for (int i = 10; i < 30; i++)
            assert_near(articulated_qdd(a)[i], 0, 1e-6);
        if (shape == ASSEMBLY_BALANCED) {
            const assembly_tree *t = articulated_tree(a);
            int joint = t->nodes[t->root].joint;
            assert_true(joint == 15 || joint == 16);
            assert_int_equal(t->height, 5);
        }
        articulated_destroy(a);
        model_free(&m);
    }
}

/* All joints locked: one rigid body when floating, nothing moves on a fixed base. */
static void locked_bodies_are_rigid(void **state)
{
    (void)state;
    test_random r = test_random_seed(36);
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        bool floats = round % 2;
        scene_make(&s, &r, 12, 3, floats, (assembly_options){0});
        for (int i = 0; i < s.model.v_count; i++)
            s.qd[i] = floats && i < 6 ? s.qd[i] : 0;
        articulated_set_state(s.body, s.q, s.qd);
        for (int b = 1; b < s.model.body_count; b++)
            if (!floats || b > 1)
                articulated_lock(s.body, b, true);
        for (int i = 0; i < s.model.v_count; i++)
            s.active[i] = floats && i < 6;
        scene_push(&s, &r, 1);
        scene_assert(&s);
        scene_free(&s);
    }
}

/* K = 1e12 on a joint is as good as a lock; the lock's reaction is what holds it. */
static void a_huge_rotor_converges_to_a_lock(void **state)
{
    (void)state;
    test_random r = test_random_seed(37);
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        scene_make(&s, &r, 14, 2, round % 2, (assembly_options){0});
        int b = 2 + test_random_index(&r, s.model.body_count - 2), n = s.model.v_count;
        const model_joint *joint = &s.model.joints[s.model.bodies[b].link];
        int freedom = joint_v_count(joint->type);
        for (int i = 0; i < freedom; i++)
            s.qd[joint->v + i] = 0;
        articulated_set_state(s.body, s.q, s.qd);
        articulated_lock(s.body, b, true);
        articulated_accelerate(s.body);
        double locked[ROOM], hold[6];
        memcpy(locked, articulated_qdd(s.body), sizeof(double) * (size_t)n);
        articulated_lock_force(s.body, b, hold);

        articulated_lock(s.body, b, false);
        for (int i = 0; i < freedom; i++)
            articulated_set_armature(s.body, joint->v + i, 1e12);
        articulated_accelerate(s.body);
        for (int i = 0; i < n; i++)
            assert_close(articulated_qdd(s.body)[i], locked[i], 1e-8);

        for (int i = 0; i < freedom; i++) { /* the reaction as a motor force balances the joint */
            articulated_set_armature(s.body, joint->v + i, 0);
            articulated_set_force(s.body, joint->v + i, hold[i]);
        }
        articulated_accelerate(s.body);
        for (int i = 0; i < n; i++)
            assert_close(articulated_qdd(s.body)[i], locked[i], 1e-8);
        scene_free(&s);
    }
}

/* A constant velocity added to a floating body changes no joint acceleration. */
static void floating_bodies_are_galilean(void **state)
{
    (void)state;
    test_random r = test_random_seed(38);
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        scene_make(&s, &r, 15, 3, true, (assembly_options){0});
        double before[ROOM];
        articulated_accelerate(s.body);
        memcpy(before, articulated_qdd(s.body), sizeof(double) * (size_t)s.model.v_count);
        vec3 added = test_random_vec3(&r, 5);
        /* the base's velocity is in its own axes */
        vec3 own = pose_rotate_inverse(articulated_body_pose(s.body, 1), added);
        s.qd[3] += own.x;
        s.qd[4] += own.y;
        s.qd[5] += own.z;
        articulated_set_state(s.body, s.q, s.qd);
        articulated_accelerate(s.body);
        for (int i = 6; i < s.model.v_count; i++)
            assert_close(articulated_qdd(s.body)[i], before[i], 1e-10);
        scene_free(&s);
    }
}

/* At rest without joint forces: every joint stays, the base falls with g. */
static void floating_bodies_fall_freely(void **state)
{
    (void)state;
    test_random r = test_random_seed(39);
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        scene_make(&s, &r, 15, 3, true, (assembly_options){0});
        for (int i = 0; i < s.model.v_count; i++) {
            s.qd[i] = 0;
            articulated_set_force(s.body, i, 0);
        }
        articulated_set_state(s.body, s.q, s.qd);
        articulated_accelerate(s.body);
        for (int i = 6; i < s.model.v_count; i++)
            assert_near(articulated_qdd(s.body)[i], 0, 1e-10);
        for (int b = 1; b < s.model.body_count; b++) {
            vec6 a = articulated_body_acceleration(s.body, b);
            vec3 fall = pose_rotate(articulated_body_pose(s.body, b), vec6_linear(a));
            assert_vec3_near(fall, GRAVITY, 1e-10);
        }
        scene_free(&s);
    }
}

/* Spatial accelerations of all bodies from the tree against the outward recursion
 * a = X a_parent + S qdd + v x S qd, with gravity put back. */
static void bodies_accelerate_as_their_joints_say(void **state)
{
    (void)state;
    test_random r = test_random_seed(40);
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        scene_make(&s, &r, 20, 3, round % 2, (assembly_options){0});
        articulated_accelerate(s.body);
        dense_update(&s.dense, s.q, s.qd, NULL, GRAVITY);
        vec6 a[ROOM] = {{{0}}};
        for (int b = 1; b < s.model.body_count; b++) {
            const model_joint *joint = &s.model.joints[s.model.bodies[b].link];
            rigid place = rigid_from_pose(model_body_joint_pose(&s.model, b, s.q));
            vec6 columns[JOINT_V_MAX], motion = {{0}}, push = {{0}};
            joint_subspace(joint, columns);
            for (int k = 0; k < joint_v_count(joint->type); k++) {
                motion = vec6_add(motion, vec6_scale(s.qd[joint->v + k], columns[k]));
                push =
                    vec6_add(push, vec6_scale(articulated_qdd(s.body)[joint->v + k], columns[k]));
            }
            a[b] = vec6_add(rigid_motion_to_b(&place, a[s.model.bodies[b].parent]), push);
            a[b] = vec6_add(a[b], vec6_cross_motion(s.dense.velocity[b], motion));
            vec6 found = articulated_body_acceleration(s.body, b);
            vec6 speed = articulated_body_velocity(s.body, b);
            for (int k = 0; k < 6; k++) {
                assert_near(found.v[k] - a[b].v[k], 0, 1e-8 * (1 + fabs(a[b].v[k])));
                assert_near(speed.v[k], s.dense.velocity[b].v[k], 1e-10);
            }
        }
        scene_free(&s);
    }
}

/* x^T Phi x over the handles of a node, for random x: never negative, and positive where the world
 * is not inside; the diagonal blocks symmetric to the bit. */
static void phi_is_symmetric_and_positive_in_every_node(void **state)
{
    (void)state;
    test_random r = test_random_seed(41);
    for (int round = 0; round < test_effort(20); round++) {
        scene s = {0};
        scene_make(&s, &r, 30, 3, round % 2, (assembly_options){0});
        articulated_accelerate(s.body);
        for (int n = 0; n < s.body->tree.node_count; n++) {
            const assembly_node *node = &s.body->tree.nodes[n];
            const join_data *d = &s.body->joins[n];
            bool has_0 = node->handle[0] >= 0, has_1 = node->handle[1] >= 0;
            for (int i = 0; i < 36; i++) {
                if (has_0)
                    assert_true(d->phi_00.m[i / 6][i % 6] == d->phi_00.m[i % 6][i / 6]);
                if (has_1)
                    assert_near(d->phi_11.m[i / 6][i % 6], d->phi_11.m[i % 6][i / 6],
                                1e-12 * (1 + fabs(d->phi_11.m[i / 6][i % 6])));
            }
            for (int k = 0; (has_0 || has_1) && k < 20; k++) {
                vec6 x = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 1));
                vec6 y = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 1));
                double sum = has_0 ? vec6_dot(x, mat6_apply(&d->phi_00, x)) : 0;
                sum += has_1 ? vec6_dot(y, mat6_apply(&d->phi_11, y)) : 0;
                double size = sum;
                sum += has_0 && has_1 ? 2 * vec6_dot(x, mat6_apply(&d->phi_01, y)) : 0;
                assert_true(s.body->nodes[n].has_world ? sum >= -1e-10 * size : sum > 0);
            }
        }
        scene_free(&s);
    }
}

/* The joins for processors with AVX give the same bits as the plain ones: what a machine computes
 * another one replays. */
static void both_kinds_of_joins_give_the_same_bits(void **state)
{
    (void)state;
    test_random r = test_random_seed(42);
#if JOIN_HAS_AVX
    if (!__builtin_cpu_supports("avx"))
        skip();
#endif
    for (int round = 0; round < test_effort(10); round++) {
        scene s = {0};
        scene_make(&s, &r, 30, 3, round % 2, (assembly_options){0});
        scene_push(&s, &r, 0.4);
        articulated_accelerate(s.body);
        const articulated *a = s.body;
        for (int i = 0; i < a->active_count; i++) {
            int n = a->active[i];
            const assembly_node *from = &a->tree.nodes[n];
            const join_joint *j = &a->nodes[n].join;
            const join_data *left = &a->joins[from->child[0]], *right = &a->joins[from->child[1]];
            const art_part *part = &a->parts[from->joint];
            join_data plain = a->joins[n], wide = a->joins[n];
            vec6 forces[2][4];
            double qdd[2][6];
            memset(forces, 0, sizeof forces);
            memset(qdd, 0, sizeof qdd);
            join_factor_plain(j, left, right, &plain);
            join_bias_plain(j, left, right, &part->coriolis, a->total_tau + part->v, &plain);
            vec6 f = join_solve_plain(j, &plain, qdd[0], forces[0], forces[0] + 2);
            join_factor_avx(j, left, right, &wide);
            join_bias_avx(j, left, right, &part->coriolis, a->total_tau + part->v, &wide);
            vec6 g = join_solve_avx(j, &wide, qdd[1], forces[1], forces[1] + 2);
            assert_memory_equal(&plain, &wide, sizeof plain);
            assert_memory_equal(&f, &g, sizeof f);
            assert_memory_equal(qdd[0], qdd[1], sizeof qdd[0]);
            assert_memory_equal(forces[0], forces[1], sizeof forces[0]);
        }
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_full_body_equals_the_dense_solution_on_every_tree),
        cmocka_unit_test(a_star_of_limbs_equals_the_dense_solution),
        cmocka_unit_test(springs_and_dampers_are_implicit),
        cmocka_unit_test(hybrid_bodies_equal_the_restricted_dense_solution),
        cmocka_unit_test(couplings_on_bodies_are_implicit),
        cmocka_unit_test(golden_robots_agree_on_every_tree),
        cmocka_unit_test(golden_robots_have_shallow_trees),
        cmocka_unit_test(pendulums_swing_as_computed_elsewhere),
        cmocka_unit_test(locked_bodies_are_rigid),
        cmocka_unit_test(a_huge_rotor_converges_to_a_lock),
        cmocka_unit_test(floating_bodies_are_galilean),
        cmocka_unit_test(floating_bodies_fall_freely),
        cmocka_unit_test(bodies_accelerate_as_their_joints_say),
        cmocka_unit_test(phi_is_symmetric_and_positive_in_every_node),
        cmocka_unit_test(both_kinds_of_joins_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
