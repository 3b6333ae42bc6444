/* The cable scenes as the world plays them. */
#include "tests/test.h"

#include <string.h>

#include "server/actor_kinds.h"

static actor *play(const char *name, const actor_class **class, scene *s)
{
    hr_error error = {""};
    char path[CONFIG_PATH_MAX];
    assert_int_equal(scene_find(name, path, sizeof path, &error), HR_OK);
    assert_int_equal(scene_load(path, s, &error), HR_OK);
    assert_int_equal(s->body_count, 1);
    *class = actor_class_for(&s->bodies[0]);
    assert_ptr_equal(*class, &actor_cable);
    actor *a = NULL;
    assert_int_equal((*class)->create(s, &s->bodies[0], &a, &error), HR_OK);
    return a;
}

static void every_element_is_a_capsule_between_its_particles(void **state)
{
    (void)state;
    static scene s;
    const actor_class *class;
    actor *a = play("cable-cylinder", &class, &s);
    assert_int_equal(class->body_count(a), 41);
    for (int step = 0; step < 50; step++)
        class->step(a, 1, NULL, 0, 0, 0.002);
    actor_body before = {0}, now = {0};
    for (int i = 0; i < 40; i++) {
        shape capsule;
        class->body_shape(a, i, &capsule);
        assert_int_equal(capsule.kind, SHAPE_CAPSULE);
        class->body_state(a, i, &now);
        vec3 axis = pose_rotate(now.world_from_body, (vec3){0, 0, capsule.half_length});
        vec3 start = vec3_sub(now.world_from_body.origin, axis);
        if (i > 0) {
            vec3 end =
                vec3_add(before.world_from_body.origin,
                         pose_rotate(before.world_from_body, (vec3){0, 0, capsule.half_length}));
            /* neighbours meet: elements are stretched by at most 2 % of 2.3 mm */
            assert_vec3_near(start, end, 1e-4);
        }
        before = now;
    }
    class->destroy(a);
}

/* The velocity that is published is the one that moves the body. */
static void published_velocity_is_the_motion(void **state)
{
    (void)state;
    static scene s;
    const actor_class *class;
    actor *a = play("cable-pulley", &class, &s);
    actor_body before[40];
    for (int step = 0; step < 100; step++)
        class->step(a, 1, NULL, 0, 0, 0.001);
    for (int i = 0; i < 40; i++)
        class->body_state(a, i, &before[i]);
    class->step(a, 1, NULL, 0, 0, 0.001);
    for (int i = 0; i < 40; i++) {
        actor_body now;
        class->body_state(a, i, &now);
        vec3 moved = vec3_sub(now.world_from_body.origin, before[i].world_from_body.origin);
        assert_vec3_near(moved, vec3_scale(0.001, now.velocity.linear), 1e-9);
        vec3 turn = quat_to_rotation_vector(quat_multiply(
            now.world_from_body.rotation, quat_conjugate(before[i].world_from_body.rotation)));
        assert_vec3_near(turn, vec3_scale(0.001, now.velocity.angular), 2e-3);
    }
    class->destroy(a);
}

static double height_after_push(double newton)
{
    static scene s;
    const actor_class *class;
    actor *a = play("cable-cylinder", &class, &s);
    for (int step = 0; step < 1000; step++) {
        actor_body b;
        class->body_state(a, 30, &b);
        tool_sample hand = {.body_key = 8 + 30,
                            .is_touching = 1,
                            .point = b.world_from_body.origin,
                            .force = {0, 0, newton}};
        class->step(a, 8, &hand, 1, 0, 0.002);
    }
    actor_body b;
    class->body_state(a, 30, &b);
    class->destroy(a);
    return b.world_from_body.origin.z;
}

static void a_hand_pushes_the_cable(void **state)
{
    (void)state;
    double rest = height_after_push(0.0), lifted = height_after_push(2.0);
    print_message("height %.2f mm at rest, %.2f mm lifted by 2 N\n", 1e3 * rest, 1e3 * lifted);
    assert_true(lifted > rest + 0.003);
}

static void the_inverse_mass_is_what_a_push_does(void **state)
{
    (void)state;
    static scene s;
    const actor_class *class;
    const double dt = 0.001, newton = 0.5;
    vec3 speed[2];
    mat3 inverse = {0};
    for (int pushed = 0; pushed < 2; pushed++) {
        actor *a = play("cable-cylinder", &class, &s);
        for (int step = 0; step < 20; step++)
            class->step(a, 1, NULL, 0, 0, dt);
        actor_body b;
        class->body_state(a, 8, &b);
        tool_sample hand = {.body_key = 9,
                            .is_touching = 1,
                            .point = b.world_from_body.origin,
                            .force = {pushed * newton, 0, 0}};
        class->step(a, 1, &hand, 1, 0, dt);
        class->body_state(a, 8, &b);
        speed[pushed] = b.velocity.linear;
        inverse = class->inverse_mass(a, 8, b.world_from_body.origin);
        class->destroy(a);
    }
    double expected = inverse.m[0][0] * newton * dt;
    assert_true(expected > 0);
    assert_near(speed[1].x - speed[0].x, expected, 0.02 * expected);
}

static void a_cable_that_has_fallen_is_laid_over_again(void **state)
{
    (void)state;
    static scene s;
    const actor_class *class;
    actor *a = play("cable-pulley", &class, &s);
    actor_body b;
    class->body_state(a, 0, &b);
    double first = b.world_from_body.origin.z, lowest = first;
    bool came_back = false;
    for (int step = 0; step < 2000 && !came_back; step++) {
        class->step(a, 1, NULL, 0, 0, 0.004);
        class->body_state(a, 0, &b);
        lowest = fmin(lowest, b.world_from_body.origin.z);
        came_back = lowest < first - 0.1 && fabs(b.world_from_body.origin.z - first) < 1e-3;
    }
    assert_true(came_back);
    class->destroy(a);
}

static void an_unknown_set_up_is_refused_with_its_line(void **state)
{
    (void)state;
    static scene s;
    hr_error error = {""};
    const char *text = "name = \"x\"\nbody \"c\" {\n shape = cable\n file = \"rope\"\n}\n";
    assert_int_equal(scene_parse(text, "x.scene", &s, &error), HR_OK);
    actor *a = NULL;
    assert_int_equal(actor_cable.create(&s, &s.bodies[0], &a, &error), HR_ERR_FORMAT);
    assert_non_null(strstr(error.text, "x.scene:"));
    assert_non_null(strstr(error.text, "rope"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_a_capsule_between_its_particles),
        cmocka_unit_test(published_velocity_is_the_motion),
        cmocka_unit_test(a_hand_pushes_the_cable),
        cmocka_unit_test(the_inverse_mass_is_what_a_push_does),
        cmocka_unit_test(a_cable_that_has_fallen_is_laid_over_again),
        cmocka_unit_test(an_unknown_set_up_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
