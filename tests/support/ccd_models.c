#include "tests/support/ccd_models.h"

static void put_mesh(model *m, int link, mesh *part)
{
    int index = model_add_mesh(m, part);
    (void)model_add_collision(m, (model_shape){link, index, pose_identity()});
}

void ccd_model_single(mesh *part, model *out)
{
    *out = (model){0};
    (void)model_add_link(out, "base", -1, NULL);
    put_mesh(out, 0, part);
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

void ccd_model_jointed(joint_type type, vec3 axis, double pitch, mesh *part, model *out)
{
    model_joint joint = {.type = type,
                         .axis = axis,
                         .pitch = pitch,
                         .mimic = -1,
                         .parent_from_joint = pose_identity()};
    *out = (model){0};
    (void)model_add_link(out, "base", -1, NULL);
    (void)model_add_link(out, "link", 0, &joint);
    put_mesh(out, 1, part);
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

void ccd_model_chain(test_random *r, int links, vec3 box, model *out)
{
    *out = (model){0};
    for (int i = 0; i < links; i++) {
        vec3 axis = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1});
        model_joint joint = {.type = JOINT_REVOLUTE,
                             .axis = axis,
                             .mimic = -1,
                             .parent_from_joint = {{1, 0, 0, 0}, {i == 1 ? 0 : 1, 0, 0}}};
        mesh part;
        assert_int_equal(mesh_make_box(box, &part), HR_OK);
        for (int k = 0; k < part.vertex_count; k++)
            part.vertices[k].x += 0.5;
        (void)model_add_link(out, "link", i - 1, &joint);
        if (i > 0)
            put_mesh(out, i, &part);
        else
            mesh_free(&part);
    }
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

void ccd_model_random(test_random *r, int links, model *out)
{
    static const joint_type types[] = {JOINT_REVOLUTE,  JOINT_PRISMATIC, JOINT_SCREW,
                                       JOINT_SPHERICAL, JOINT_FLOATING,  JOINT_FIXED};
    *out = (model){0};
    for (int i = 0; i < links; i++) {
        model_joint joint = {.type = types[test_random_index(r, 6)],
                             .axis = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1}),
                             .pitch = 0.2,
                             .mimic = -1,
                             .parent_from_joint = test_random_pose(r, 1)};
        mesh part;
        vec3 size = {test_random_between(r, 0.2, 0.6), test_random_between(r, 0.2, 0.6),
                     test_random_between(r, 0.2, 0.6)};
        assert_int_equal(mesh_make_box(size, &part), HR_OK);
        (void)model_add_link(out, "link", i == 0 ? -1 : test_random_index(r, i), &joint);
        put_mesh(out, i, &part);
    }
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

void ccd_model_random_q(test_random *r, const model *m, double size, double *q)
{
    model_zero_coordinates(m, q);
    for (int i = 1; i < m->link_count; i++) {
        const model_joint *j = &m->joints[i];
        double v[JOINT_V_MAX];
        for (int k = 0; k < JOINT_V_MAX; k++)
            v[k] = test_random_between(r, -size, size);
        joint_integrate(j->type, q + j->q, v, 1);
    }
}
