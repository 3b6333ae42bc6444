/* Starting and stopping joints: momentum, energy, poses, buried nodes; impulses and limits. */
#include <string.h>

#include "tests/test.h"

#include "solver/articulated.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/models.h"

enum { ROOM = 400 };

static const vec3 GRAVITY = {0.4, -0.3, -9.81};

typedef struct scene {
    model model;
    articulated *body;
    dense_dynamics dense;
    double q[ROOM], qd[ROOM];
} scene;

static scene scene_make(test_random *r, int joints, int reach, bool floats, unsigned types)
{
    scene s = {.model = models_random(r, joints, reach, types, floats)};
    articulated_options options = {.gravity = GRAVITY, .step_s = 1e-3};
    s.body = articulated_create(&s.model, &options);
    assert_non_null(s.body);
    models_random_coordinates(r, &s.model, s.q);
    for (int i = 0; i < s.model.v_count; i++)
        s.qd[i] = test_random_between(r, -2, 2);
    articulated_set_state(s.body, s.q, s.qd);
    return s;
}

/* The dense matrix needs the address of the model, so it is made where the scene rests. */
static void scene_settle(scene *s)
{
    s->dense = dense_create(&s->model);
    dense_update(&s->dense, s->q, s->qd, NULL, GRAVITY);
}

static void scene_free(scene *s)
{
    articulated_destroy(s->body);
    dense_free(&s->dense);
    model_free(&s->model);
}

static void random_set(test_random *r, const model *m, double share, bool *wanted)
{
    for (int b = 0; b < m->body_count; b++)
        wanted[b] = test_random_between(r, 0, 1) < share;
}

/* Total momentum of a floating body, base frame. */
static vec6 momentum_of(articulated *a, const model *m)
{
    vec6 sum = {{0}};
    for (int b = 1; b < m->body_count; b++) {
        rigid at = rigid_from_pose(articulated_body_pose(a, b));
        vec6 h = mat6_apply(&m->bodies[b].inertia, articulated_body_velocity(a, b));
        sum = vec6_add(sum, rigid_force_to_a(&at, h));
    }
    return sum;
}

/* qd+ = M_LL^-1 (M qd)_L over the joints that stay, with rotor inertias on the diagonal; kinetic
 * energy falls by exactly half dq^T M dq; a second call changes nothing. */
static void stopping_joints_keeps_the_momentum_of_the_others(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    for (int round = 0; round < test_effort(60); round++) {
        scene s = scene_make(&r, 4 + test_random_index(&r, 40), 1 + round % 4, round % 2,
                             MODELS_ALL_TYPES);
        scene_settle(&s);
        int n = s.model.v_count;
        double rotor[ROOM] = {0}, right[ROOM] = {0}, expected[ROOM], dq[ROOM];
        bool active[ROOM], wanted[ROOM];
        for (int i = 0; i < n; i++)
            if (round % 3 == 0) {
                rotor[i] = test_random_between(&r, 0, 0.1);
                articulated_set_armature(s.body, i, rotor[i]);
                s.dense.mass[i * n + i] += rotor[i];
            }
        vec6 before = momentum_of(s.body, &s.model);
        random_set(&r, &s.model, 0.2, wanted);
        articulated_set_active(s.body, wanted);

        for (int b = 1; b < s.model.body_count; b++) {
            const model_joint *joint = &s.model.joints[s.model.bodies[b].link];
            for (int i = 0; i < joint_v_count(joint->type); i++)
                active[joint->v + i] = articulated_is_active(s.body, b);
        }
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                right[i] += s.dense.mass[i * n + k] * s.qd[k];
        dense_solve(&s.dense, NULL, active, right, expected);
        const double *qd = articulated_qd(s.body);
        for (int i = 0; i < n; i++) {
            assert_near(qd[i], expected[i], 1e-9);
            dq[i] = s.qd[i] - qd[i];
        }
        double lost = dense_kinetic_energy(&s.dense, dq);
        double total = dense_kinetic_energy(&s.dense, s.qd);
        assert_near(articulated_energy_lost(s.body) / total, lost / total, 1e-10);
        assert_near(articulated_kinetic_energy(s.body) / total, 1 - lost / total, 1e-10);
        if (round % 2 && round % 3) { /* a rotor on a free base is no part of the body */
            vec6 after = momentum_of(s.body, &s.model);
            for (int k = 0; k < 6; k++)
                assert_near(after.v[k], before.v[k], 1e-9 * (1 + fabs(before.v[k])));
        }
        double again[ROOM];
        memcpy(again, qd, sizeof(double) * (size_t)n);
        articulated_set_active(s.body, wanted);
        assert_memory_equal(again, articulated_qd(s.body), sizeof(double) * (size_t)n);
        scene_free(&s);
    }
}

/* Stop and start: no place changes, and the speeds of what went on moving stay. */
static void places_do_not_change_when_the_set_does(void **state)
{
    (void)state;
    test_random r = test_random_seed(62);
    for (int round = 0; round < test_effort(20); round++) {
        scene s = scene_make(&r, 30, 3, round % 2, MODELS_ALL_TYPES);
        scene_settle(&s);
        bool wanted[ROOM];
        pose before[ROOM];
        for (int turn = 0; turn < 6; turn++) {
            for (int b = 1; b < s.model.body_count; b++)
                before[b] = articulated_body_pose(s.body, b);
            random_set(&r, &s.model, 0.3, wanted);
            articulated_set_active(s.body, turn % 2 ? NULL : wanted);
            for (int b = 1; b < s.model.body_count; b++) {
                pose after = articulated_body_pose(s.body, b);
                assert_vec3_near(after.origin, before[b].origin, 1e-12);
                assert_vec3_near(pose_rotate(after, (vec3){1, 2, 3}),
                                 pose_rotate(before[b], (vec3){1, 2, 3}), 1e-12);
            }
            double speeds[ROOM];
            memcpy(speeds, articulated_qd(s.body), sizeof(double) * (size_t)s.model.v_count);
            articulated_set_active(s.body, NULL); /* starting is free */
            assert_memory_equal(speeds, articulated_qd(s.body),
                                sizeof(double) * (size_t)s.model.v_count);
        }
        scene_free(&s);
    }
}

/* Poses by the tree against plain forward kinematics, through random set changes and steps. */
static void poses_equal_forward_kinematics_at_all_times(void **state)
{
    (void)state;
    test_random r = test_random_seed(63);
    for (int round = 0; round < test_effort(20); round++) {
        scene s = scene_make(&r, 5 + test_random_index(&r, 50), 1 + round % 4, round % 2,
                             MODELS_ALL_TYPES);
        scene_settle(&s);
        bool wanted[ROOM];
        pose expected[ROOM];
        for (int turn = 0; turn < 8; turn++) {
            random_set(&r, &s.model, test_random_between(&r, 0, 0.5), wanted);
            articulated_set_active(s.body, wanted);
            for (int k = 0; k < 3; k++)
                articulated_step(s.body);
            model_body_poses(&s.model, articulated_q(s.body), expected);
            for (int b = 1; b < s.model.body_count; b++) {
                pose at = articulated_body_pose(s.body, b);
                double size = 1 + vec3_length(expected[b].origin);
                assert_vec3_near(at.origin, expected[b].origin, 1e-11 * size);
                assert_vec3_near(pose_rotate(at, (vec3){1, 2, 3}),
                                 pose_rotate(expected[b], (vec3){1, 2, 3}), 1e-11);
            }
        }
        scene_free(&s);
    }
}

/* Steps of a body whose buried nodes are filled with NaN are the same to the bit. */
static void a_step_touches_no_buried_node(void **state)
{
    (void)state;
    test_random r = test_random_seed(64);
    for (int round = 0; round < test_effort(30); round++) {
        test_random again = r;
        scene s = scene_make(&r, 40, 3, round % 2, MODELS_ALL_TYPES);
        scene t = scene_make(&again, 40, 3, round % 2, MODELS_ALL_TYPES);
        scene_settle(&s);
        scene_settle(&t);
        bool wanted[ROOM];
        for (int turn = 0; turn < 3; turn++) {
            random_set(&r, &s.model, 0.15, wanted);
            int pushed = 1 + test_random_index(&r, s.model.body_count - 1);
            vec6 push = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 1));
            scene *both[2] = {&s, &t};
            for (int k = 0; k < 2; k++) {
                articulated_set_active(both[k]->body, wanted);
                articulated_clear_wrenches(both[k]->body);
                articulated_add_wrench(both[k]->body, pushed, push);
            }
            articulated_poison_buried(t.body, true);
            for (int k = 0; k < 4; k++) {
                articulated_step(s.body);
                articulated_step(t.body);
                vec6 hit = articulated_impulse_response(s.body, pushed, push, pushed);
                vec6 same = articulated_impulse_response(t.body, pushed, push, pushed);
                assert_memory_equal(&hit, &same, sizeof hit);
            }
            articulated_poison_buried(t.body, false);
            assert_memory_equal(articulated_q(s.body), articulated_q(t.body),
                                sizeof(double) * (size_t)s.model.q_count);
            assert_memory_equal(articulated_qd(s.body), articulated_qd(t.body),
                                sizeof(double) * (size_t)s.model.v_count);
        }
        scene_free(&s);
        scene_free(&t);
    }
}

/* J_to M^-1 J_on^T from the dense matrix, restricted to the active joints. */
static vec6 dense_response(const scene *s, const bool *active, int on, vec6 impulse, int to)
{
    int n = s->model.v_count;
    double right[ROOM] = {0}, dq[ROOM];
    const double *j = s->dense.jacobian + (size_t)on * 6 * (size_t)n;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++)
            right[i] += j[k * n + i] * impulse.v[k];
    dense_solve(&s->dense, NULL, active, right, dq);
    vec6 out = {{0}};
    const double *l = s->dense.jacobian + (size_t)to * 6 * (size_t)n;
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < n; i++)
            out.v[k] += l[k * n + i] * dq[i];
    return out;
}

static void impulses_answer_as_the_dense_matrix(void **state)
{
    (void)state;
    test_random r = test_random_seed(65);
    for (int round = 0; round < test_effort(40); round++) {
        scene s = scene_make(&r, 4 + test_random_index(&r, 40), 1 + round % 4, round % 2,
                             MODELS_ALL_TYPES);
        scene_settle(&s);
        bool wanted[ROOM], active[ROOM];
        random_set(&r, &s.model, round % 3 ? 0.2 : 1, wanted);
        articulated_set_active(s.body, wanted);
        for (int b = 1; b < s.model.body_count; b++) {
            const model_joint *joint = &s.model.joints[s.model.bodies[b].link];
            for (int i = 0; i < joint_v_count(joint->type); i++)
                active[joint->v + i] = articulated_is_active(s.body, b);
        }
        articulated_accelerate(s.body);
        for (int k = 0; k < 10; k++) {
            int on = 1 + test_random_index(&r, s.model.body_count - 1);
            int to = k % 3 ? 1 + test_random_index(&r, s.model.body_count - 1) : on;
            vec6 hit = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 1));
            vec6 back = vec6_make(test_random_vec3(&r, 1), test_random_vec3(&r, 1));
            vec6 found = articulated_impulse_response(s.body, on, hit, to);
            vec6 expected = dense_response(&s, active, on, hit, to);
            double size = 1;
            for (int i = 0; i < 6; i++)
                size = fmax(size, fabs(expected.v[i]));
            for (int i = 0; i < 6; i++)
                assert_near(found.v[i] / size, expected.v[i] / size, 1e-10);
            /* reciprocity */
            vec6 other = articulated_impulse_response(s.body, to, back, on);
            double there = vec6_dot(found, back), here = vec6_dot(other, hit);
            assert_near(there, here, 1e-9 * (1 + fabs(here)));
        }
        scene_free(&s);
    }
}

/* A column of M^-1 per joint impulse. */
static void joint_impulses_answer_as_the_dense_matrix(void **state)
{
    (void)state;
    test_random r = test_random_seed(66);
    for (int round = 0; round < test_effort(30); round++) {
        scene s = scene_make(&r, 4 + test_random_index(&r, 30), 1 + round % 4, round % 2,
                             MODELS_ALL_TYPES);
        scene_settle(&s);
        articulated_accelerate(s.body);
        for (int k = 0; k < 10; k++) {
            int on = 1 + test_random_index(&r, s.model.body_count - 1);
            int to = k % 3 ? 1 + test_random_index(&r, s.model.body_count - 1) : on;
            const model_joint *a = &s.model.joints[s.model.bodies[on].link];
            const model_joint *b = &s.model.joints[s.model.bodies[to].link];
            double hit[6], right[ROOM] = {0}, expected[ROOM], found[6];
            for (int i = 0; i < joint_v_count(a->type); i++)
                right[a->v + i] = hit[i] = test_random_between(&r, -1, 1);
            dense_solve(&s.dense, NULL, NULL, right, expected);
            articulated_joint_response(s.body, on, hit, to, found);
            for (int i = 0; i < joint_v_count(b->type); i++)
                assert_near(found[i], expected[b->v + i], 1e-9 * (1 + fabs(expected[b->v + i])));
        }
        scene_free(&s);
    }
}

/* Contacts between links and with the world: J M^-1 J^T, symmetric, positive semi-definite; and
 * applying the impulses changes the normal velocities by the matrix. */
static void the_contact_matrix_predicts_the_impulses(void **state)
{
    (void)state;
    test_random r = test_random_seed(67);
    enum { COUNT = 4 };
    for (int round = 0; round < test_effort(30); round++) {
        scene s = scene_make(&r, 20, 3, round % 2, MODELS_ALL_TYPES);
        scene_settle(&s);
        bool wanted[ROOM];
        random_set(&r, &s.model, 0.3, wanted);
        articulated_set_active(s.body, wanted);
        articulated_accelerate(s.body);
        articulated_contact contacts[COUNT];
        double matrix[COUNT * COUNT], impulse[COUNT], before[COUNT];
        int bodies[2 * COUNT];
        vec6 wrenches[2 * COUNT];
        for (int i = 0; i < COUNT; i++) {
            articulated_contact *c = &contacts[i];
            c->body_a = 1 + test_random_index(&r, s.model.body_count - 1);
            c->body_b = i % 2 ? -1 : 1 + test_random_index(&r, s.model.body_count - 1);
            c->point = test_random_vec3(&r, 0.5);
            c->normal = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){0, 0, 1});
        }
        articulated_contact_matrix(s.body, contacts, COUNT, matrix);
        for (int i = 0; i < COUNT; i++) {
            impulse[i] = test_random_between(&r, 0, 1);
            for (int side = 0; side < 2; side++) {
                int body = side ? contacts[i].body_b : contacts[i].body_a;
                bodies[2 * i + side] = body < 0 ? 0 : body;
                pose at = articulated_body_pose(s.body, body < 0 ? 0 : body);
                vec3 f = vec3_scale(side ? -impulse[i] : impulse[i], contacts[i].normal);
                vec3 own = pose_rotate_inverse(at, f);
                wrenches[2 * i + side] =
                    vec6_make(vec3_cross(pose_apply_inverse(at, contacts[i].point), own), own);
            }
        }
        for (int apply = 0; apply < 2; apply++) {
            for (int i = 0; i < COUNT; i++) {
                double speed = 0;
                for (int side = 0; side < 2; side++) {
                    int body = side ? contacts[i].body_b : contacts[i].body_a;
                    if (body < 0)
                        continue;
                    pose at = articulated_body_pose(s.body, body);
                    vec6 v = articulated_body_velocity(s.body, body);
                    vec3 arm = pose_apply_inverse(at, contacts[i].point);
                    vec3 u = vec3_add(vec6_linear(v), vec3_cross(vec6_angular(v), arm));
                    speed += (side ? -1 : 1) * vec3_dot(pose_rotate(at, u), contacts[i].normal);
                }
                if (apply == 0) {
                    before[i] = speed;
                    continue;
                }
                double expected = 0;
                for (int k = 0; k < COUNT; k++) {
                    expected += matrix[i * COUNT + k] * impulse[k];
                    assert_near(matrix[i * COUNT + k], matrix[k * COUNT + i], 1e-9);
                }
                assert_near(speed - before[i], expected, 1e-8 * (1 + fabs(expected)));
                assert_true(matrix[i * COUNT + i] >= 0);
            }
            if (apply == 0)
                articulated_apply_impulses(s.body, bodies, wrenches, 2 * COUNT);
        }
        scene_free(&s);
    }
}

/* A pendulum that falls onto its limits rests there and neither passes nor gains energy. */
static void joints_stop_at_their_limits(void **state)
{
    (void)state;
    model m = models_pendulum(6);
    for (int i = 1; i <= 6; i++) {
        m.joints[i].has_limits = true;
        m.joints[i].lower = -0.2;
        m.joints[i].upper = 0.3;
    }
    articulated_options options = {.gravity = {0, 9.81, -2}, .step_s = 1e-3, .use_limits = true};
    articulated *a = articulated_create(&m, &options);
    double q[6] = {0}, qd[6] = {0}, top = 0;
    articulated_set_state(a, q, qd);
    for (int i = 0; i < 6; i++)
        articulated_set_damping(a, i, 1e-3);
    double start = articulated_kinetic_energy(a) + articulated_potential_energy(a);
    for (int step = 0; step < 4000; step++) {
        articulated_step(a);
        for (int i = 0; i < 6; i++) {
            assert_true(articulated_q(a)[i] <= 0.3 + 1e-6);
            assert_true(articulated_q(a)[i] >= -0.2 - 1e-6);
            top = fmax(top, articulated_q(a)[i]);
        }
        double energy = articulated_kinetic_energy(a) + articulated_potential_energy(a);
        assert_true(energy <= start + 1e-3 * fabs(start));
    }
    assert_near(top, 0.3, 1e-6);
    assert_near(articulated_q(a)[0], 0.3, 1e-4); /* the pull is sideways: it rests on the stop */
    assert_near(articulated_qd(a)[0], 0, 1e-3);
    articulated_destroy(a);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopping_joints_keeps_the_momentum_of_the_others),
        cmocka_unit_test(places_do_not_change_when_the_set_does),
        cmocka_unit_test(poses_equal_forward_kinematics_at_all_times),
        cmocka_unit_test(a_step_touches_no_buried_node),
        cmocka_unit_test(impulses_answer_as_the_dense_matrix),
        cmocka_unit_test(joint_impulses_answer_as_the_dense_matrix),
        cmocka_unit_test(the_contact_matrix_predicts_the_impulses),
        cmocka_unit_test(joints_stop_at_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
