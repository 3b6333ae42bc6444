#include "tests/support/models.h"

static model chain_of_balls(int balls, bool alternate)
{
    model m = {0};
    model_add_link(&m, "base", -1, NULL);
    for (int i = 1; i <= balls; i++) {
        char name[32];
        snprintf(name, sizeof name, "ball_%d", i);
        model_joint joint = {.name = name,
                             .type = JOINT_REVOLUTE,
                             .parent_from_joint = pose_identity(),
                             .axis = alternate && i % 2 ? (vec3){0, 1, 0} : (vec3){1, 0, 0},
                             .mimic = -1,
                             .file_order = i - 1};
        joint.parent_from_joint.origin.z = i > 1 ? -0.1 : 0;
        int link = model_add_link(&m, name, i - 1, &joint);
        m.links[link].mass = 0.1;
        m.links[link].centre = (vec3){0, 0, -0.1};
        m.links[link].has_own_inertia = true;
        m.links[link].inertia = mat3_scale(0.4 * 0.1 * 0.03 * 0.03, mat3_identity());
    }
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    return m;
}

model models_pendulum(int balls)
{
    return chain_of_balls(balls, false);
}

model models_alternating(int balls)
{
    return chain_of_balls(balls, true);
}

/* A positive definite rotational inertia whose principal axes are turned. */
static mat3 random_inertia(test_random *r, double mass)
{
    mat3 turn = quat_to_mat3(test_random_pose(r, 1).rotation);
    mat3 axes = {{{0}}};
    for (int i = 0; i < 3; i++)
        axes.m[i][i] = mass * test_random_between(r, 0.002, 0.02);
    return mat3_multiply(mat3_multiply(turn, axes), mat3_transpose(turn));
}

model models_random(test_random *r, int joints, int reach, unsigned types, bool floating_base)
{
    model m = {0};
    model_add_link(&m, "base", -1, NULL);
    for (int i = 1; i <= joints; i++) {
        joint_type type;
        do
            type = (joint_type)test_random_index(r, 7);
        while (!(types & 1u << type));
        if (i == 1)
            type = floating_base ? JOINT_FLOATING : JOINT_REVOLUTE;
        vec3 axis = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1});
        model_joint joint = {.type = type,
                             .parent_from_joint = test_random_pose(r, 0.3),
                             .axis = axis,
                             .pitch = 0.1,
                             .mimic = -1,
                             .file_order = i - 1};
        int back = 1 + test_random_index(r, reach < i ? reach : i);
        int parent = floating_base && i > 1 && i - back == 0 ? 1 : i - back;
        int link = model_add_link(&m, "part", parent, &joint);
        m.links[link].mass = test_random_between(r, 0.3, 3);
        m.links[link].centre = test_random_vec3(r, 0.1);
        m.links[link].has_own_inertia = true;
        m.links[link].inertia = random_inertia(r, m.links[link].mass);
    }
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    return m;
}

void models_random_coordinates(test_random *r, const model *m, double *q)
{
    for (int i = 1; i < m->link_count; i++) {
        const model_joint *joint = &m->joints[i];
        double *at = q + joint->q;
        int turn = joint->type == JOINT_SPHERICAL ? 0 : joint->type == JOINT_FLOATING ? 3 : -1;
        for (int k = 0; k < joint_q_count(joint->type); k++)
            at[k] = test_random_between(r, -1, 1);
        if (turn < 0)
            continue;
        quat u = test_random_pose(r, 1).rotation;
        at[turn] = u.w;
        at[turn + 1] = u.x;
        at[turn + 2] = u.y;
        at[turn + 3] = u.z;
    }
}
