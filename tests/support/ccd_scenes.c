#include "tests/support/ccd_scenes.h"

#include <string.h>

#include "geometry/model_make.h"
#include "tests/support/ccd_models.h"

enum { Q_MAX = 512, PAIR_ROOM = 1 << 14, ITEM_ROOM = 1 << 19 };

static void add(ccd_stage *s, model *m, pose base)
{
    int i = s->count++;
    s->models[i] = *m;
    *m = (model){0};
    for (int k = 0; k < s->models[i].mesh_count; k++)
        s->triangles += s->models[i].meshes[k].triangle_count;
    s->bodies[i] = ccd_body_create(&s->models[i], ASSEMBLY_BALANCED, base);
    assert_non_null(s->bodies[i]);
    assert_int_equal(ccd_scene_add(s->scene, s->bodies[i]), i);
}

static void add_man(ccd_stage *s)
{
    model m;
    assert_int_equal(model_make_wooden_man((wooden_man_options){.is_floating = true}, &m), HR_OK);
    add(s, &m, pose_identity());
}

/* Four plates, three pots: 44 000 triangles in all. */
static void add_crockery(ccd_stage *s)
{
    for (int i = 0; i < 7; i++) {
        mesh part;
        model m;
        bool is_plate = i < 4;
        double angle = 0.9 * i;
        pose at = {{1, 0, 0, 0}, {0.45 * cos(angle), 0.45 * sin(angle), -1.6 + 0.05 * i}};
        assert_int_equal(mesh_make_sphere(is_plate ? 0.3 : 0.15, 40, 80, &part), HR_OK);
        for (int k = 0; k < part.vertex_count && is_plate; k++)
            part.vertices[k].z *= 0.05;
        ccd_model_single(&part, &m);
        add(s, &m, at);
    }
}

/* The stand of a man who hangs free is no part of the play. */
static void drop_stands(ccd_stage *s)
{
    for (int man = 0; man < s->moving; man++)
        for (int i = 0; i < s->count; i++)
            for (int link = 0; link < s->models[i].body_count; link++)
                assert_int_equal(ccd_scene_filter(s->scene, man, 0, i, link, false), HR_OK);
}

ccd_stage *ccd_stage_create(ccd_scene_kind kind)
{
    ccd_stage *s = calloc(1, sizeof *s);
    model m;
    s->kind = kind;
    s->limits = ccd_limits_default();
    s->scene = ccd_scene_create(PAIR_ROOM, ITEM_ROOM);
    if (kind == CCD_PENDULUM) {
        pendulum_options options = {.balls = 30, .joints = PENDULUM_ALTERNATING};
        assert_int_equal(model_make_pendulum(options, &m), HR_OK);
        add(s, &m, pose_identity());
        s->moving = 1;
        return s;
    }
    add_man(s);
    if (kind == CCD_MEN)
        add_man(s);
    s->moving = s->count;
    if (kind == CCD_FALLING)
        add_crockery(s);
    drop_stands(s);
    return s;
}

void ccd_stage_destroy(ccd_stage *s)
{
    for (int i = 0; i < s->count; i++) {
        ccd_body_destroy(s->bodies[i]);
        model_free(&s->models[i]);
    }
    ccd_scene_destroy(s->scene);
    free(s);
}

int ccd_stage_joints(const ccd_stage *s)
{
    return s->models[0].body_count - 1;
}

/* Where a body begins: random posture; men face each other 3 m apart, or hang above the plates. */
static void start_state(const ccd_stage *s, test_random *r, int body, double *q)
{
    const model *m = &s->models[body];
    ccd_model_random_q(r, m, s->kind == CCD_PENDULUM ? 0.2 : 0.1, q);
    if (s->kind == CCD_PENDULUM)
        return;
    bool is_falling = s->kind == CCD_FALLING;
    q[0] = is_falling ? 0 : body ? 1.5 : -1.5;
    q[1] = test_random_between(r, -0.1, 0.1);
    q[2] = is_falling ? 1 : test_random_between(r, -0.1, 0.1);
}

/* Far along the motion that the step is a part of: the root pulled or falling, `active` joints in
 * all moving. */
static void end_state(const ccd_stage *s, test_random *r, int body, int active, double *q)
{
    const model *m = &s->models[body];
    bool is_moving[Q_MAX] = {false};
    int joints = m->body_count - 1, left = active;
    if (s->kind != CCD_PENDULUM) { /* the root joint is the first of the active ones */
        is_moving[1] = true;
        left--;
        q[s->kind == CCD_FALLING ? 2 : 0] += s->kind == CCD_FALLING ? -3 : body ? -1.5 : 1.5;
    }
    while (left > 0) {
        int joint = 1 + test_random_index(r, joints);
        if (is_moving[joint])
            continue;
        is_moving[joint] = true;
        left--;
        const model_joint *j = &m->joints[m->bodies[joint].link];
        double v[JOINT_V_MAX], size = s->kind == CCD_PENDULUM ? 3.0 : 0.3;
        for (int k = 0; k < JOINT_V_MAX; k++)
            v[k] = test_random_between(r, -size, size);
        joint_integrate(j->type, q + j->q, v, 1);
    }
}

bool ccd_stage_before_contact(ccd_stage *s, test_random *r, int active, ccd_result *out)
{
    double from[2][Q_MAX], to[2][Q_MAX], before[2][Q_MAX];
    /* 4 ms of a motion that takes 1.5 s (men), 1 s (pendulum) or 3 s (the fall of 3 m) */
    const double share = s->kind == CCD_MEN        ? 0.004 / 1.5
                         : s->kind == CCD_PENDULUM ? 0.004
                                                   : 0.004 / 3;
    for (int i = 0; i < s->moving; i++) {
        start_state(s, r, i, from[i]);
        memcpy(to[i], from[i], sizeof to[i]);
        end_state(s, r, i, active, to[i]);
        assert_int_equal(ccd_body_place(s->bodies[i], from[i]), HR_OK);
        assert_int_equal(ccd_body_move(s->bodies[i], to[i]), HR_OK);
    }
    const ccd_contact *met = &out->contacts[0];
    if (ccd_step(s->scene, &s->limits, out) != HR_OK || out->status != CCD_CONTACT ||
        out->toc < share || (s->kind != CCD_PENDULUM && met->body[0] == met->body[1]))
        return false; /* men and plates must meet, not a man himself */
    double toc = out->toc;
    for (int i = 0; i < s->moving; i++) { /* the piece of that motion around the contact */
        ccd_body_stop(s->bodies[i], toc - 0.5 * share);
        memcpy(before[i], ccd_body_coordinates(s->bodies[i]),
               (size_t)s->models[i].q_count * sizeof **before);
        assert_int_equal(ccd_body_place(s->bodies[i], from[i]), HR_OK);
        assert_int_equal(ccd_body_move(s->bodies[i], to[i]), HR_OK);
        ccd_body_stop(s->bodies[i], toc + 0.5 * share);
        memcpy(to[i], ccd_body_coordinates(s->bodies[i]),
               (size_t)s->models[i].q_count * sizeof **to);
        assert_int_equal(ccd_body_place(s->bodies[i], before[i]), HR_OK);
        assert_int_equal(ccd_body_move(s->bodies[i], to[i]), HR_OK);
    }
    return true;
}
