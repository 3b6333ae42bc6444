/* A convex body as the tool: against the sphere tool that it must equal, and through the hand. */
#include <string.h>

#include "collide/tool_shape.h"
#include "geometry/parametric_body.h"
#include "tests/support/rig.h"
#include "tests/test.h"

static parametric_body load(const char *path, double scale)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    parametric_body_scale(&b, scale);
    return b;
}

/* A ball of patches as the tool, turned anyhow, is the sphere tool: the distance is that of its
 * middle, less the radius, in contact and a little inside too. */
static void a_ball_of_patches_is_a_sphere_tool(void **state)
{
    (void)state;
    parametric_body egg = load("config/bodies/egg.json", 0.001);
    parametric_body ball = load("config/bodies/sphere-six.json", 0.006);
    shape s = {.kind = SHAPE_PARAMETRIC, .surface = &egg};
    shape with_tool = s;
    with_tool.tool = &ball;
    vec3 centre = vec3_lerp(egg.box_low, egg.box_high, 0.5);
    shape_tracker a;
    shape_tracker b = {0};
    test_random r = test_random_seed(51);
    quat turn = quat_from_rotation_vector(test_random_vec3(&r, 2.0));
    double worst = 0;
    for (int k = 0; k < 3000; k++) {
        double t = k * 1e-3;
        vec3 u = {cos(2 * t) * cos(t), sin(2 * t) * cos(t), sin(t)};
        vec3 p = vec3_add_scaled(centre, 0.030, u);
        shape_contact c;
        shape_contact d;
        shape_seed(&s, p, 1.0, &a);
        assert_int_equal(shape_follow(&s, &a, p, (vec3){0, 0, 0}, 0, 1.0, &c, 1), 1);
        /* slide so that the ball goes from 3 mm apart to 1 mm deep and back */
        p = vec3_add_scaled(p, 0.006 + 0.001 + 0.002 * sin(9 * t) - c.gap, c.normal);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(shape_follow(&s, &a, p, (vec3){0, 0, 0}, 0, 1.0, &c, 1), 1);
            assert_int_equal(tool_shape_follow(&with_tool, &b, p, turn, 1.0, &d, 1), 1);
        }
        if (k < 5)
            continue;
        worst = fmax(worst, fabs(d.gap - (c.gap - 0.006)));
        assert_vec3_near(d.normal, c.normal, 1e-6);
        assert_near(vec3_dot(d.normal, vec3_sub(p, d.point)), d.gap, 1e-15);
    }
    print_message("largest difference %.1e m\n", worst);
    assert_true(worst < 1e-9);
    parametric_body_free(&egg);
    parametric_body_free(&ball);
}

/* Pressed through the whole hand: force = stiffness times depth along the common normal. */
static void a_tool_body_presses_like_what_it_is(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    scene_body *body = rig_body(&r, SCENE_SPHERE);
    body->radius_m = 0.020;
    snprintf(r.scene.tool_file, sizeof r.scene.tool_file, "config/bodies/sphere-six.json");
    r.scene.tool_scale = 0.006;
    r.settings.safety.max_force_n = r.device.max_force = 20;
    rig_start(&r);
    vec3 u = vec3_normalize_or((vec3){0.3, -0.5, 0.8}, (vec3){0, 0, 1});
    rig_open_gate(&r, vec3_scale(0.030, u));
    for (int i = 1; i <= 400; i++)
        rig_tick(&r, vec3_scale(0.030 - 0.006 * i / 400.0, u));
    for (int i = 0; i < 100; i++)
        rig_tick(&r, vec3_scale(0.024, u));

    vec3 expected = vec3_scale(1500 * 0.002, u); /* radii 20 + 6 mm, centres 24 mm apart */
    assert_vec3_near(r.record.force, expected, 1e-3);
    assert_near(vec3_length(r.record.proxy), 0.026, 1e-8);
    rig_stop(&r);
}

static void a_sharp_tool_stays_outside(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    scene_body *body = rig_body(&r, SCENE_BODY);
    snprintf(body->file, sizeof body->file, "tests/data/bodies/lemon_a.json");
    body->scale = 0.012;
    snprintf(r.scene.tool_file, sizeof r.scene.tool_file, "tests/data/bodies/lemon_b.json");
    r.scene.tool_scale = 0.008;
    rig_start(&r);
    parametric_body a = load("tests/data/bodies/lemon_a.json", 0.012);
    parametric_body b = load("tests/data/bodies/lemon_b.json", 0.008);
    shape s = {.kind = SHAPE_PARAMETRIC, .surface = &a, .tool = &b};
    rig_open_gate(&r, (vec3){0.030, 0, 0});
    double worst = 0;
    double step = 0;
    vec3 last = r.record.force;
    for (int i = 0; i < 3000; i++) {
        double angle = i * 1e-3;
        double reach = 0.030 - 0.022 * fmin(1.0, i / 1000.0);
        rig_tick(&r, (vec3){reach * cos(angle), reach * sin(angle), 0.006 * sin(1.7 * angle)});
        shape_tracker fresh = {0};
        shape_contact c;
        assert_int_equal(tool_shape_follow(&s, &fresh, r.record.proxy, quat_identity(), 1.0, &c, 1),
                         1);
        worst = fmax(worst, -c.gap);
        step = fmax(step, vec3_distance(r.record.force, last));
        last = r.record.force;
    }
    print_message("deepest overlap of tool and body %.1e m, largest step %.3f N\n", worst, step);
    /* edges that cross at contact are resolved tick by tick, not at once */
    assert_true(worst < 1e-4);
    assert_true(r.record.contact_count > 0);
    rig_stop(&r);
    parametric_body_free(&a);
    parametric_body_free(&b);
}

/* A block pressed on top of a ball while the hand turns it by an eighth about y: it rests on its
 * face, a radius and half its height above the middle, and in the end on its edge, higher by the
 * root of two; on the way it never overlaps the ball. */
static void a_tool_that_turns_rests_on_its_edge(void **state)
{
    (void)state;
    const double radius = 0.020, half = 0.005, pi = 3.14159265358979323846;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_SPHERE)->radius_m = radius;
    snprintf(r.scene.tool_file, sizeof r.scene.tool_file, "tests/data/bodies/block.json");
    r.scene.tool_scale = half;
    r.settings.safety.max_force_n = r.device.max_force = 20;
    rig_start(&r);
    parametric_body block = load("tests/data/bodies/block.json", half);
    shape s = {.kind = SHAPE_SPHERE, .radius = radius, .tool = &block};
    r.record.sample.valid |= DEVICE_HAS_ROTATION;
    rig_open_gate(&r, (vec3){0, 0, 0.035});
    double worst = 0;
    for (int i = 0; i <= 2000; i++) {
        double angle = pi / 4 * fmin(fmax((i - 800) / 800.0, 0), 1);
        quat turn = quat_from_rotation_vector((vec3){0, angle, 0});
        r.record.sample.rotation = turn;
        rig_tick(&r, (vec3){0, 0, 0.035 - 0.011 * fmin(1, i / 500.0)});
        shape_tracker fresh = {0};
        shape_contact c;
        if (tool_shape_follow(&s, &fresh, r.record.proxy, turn, 1.0, &c, 1) == 1)
            worst = fmax(worst, -c.gap);
        if (i == 790)
            assert_vec3_near(r.record.proxy, ((vec3){0, 0, radius + half}), 1e-6);
    }
    print_message("deepest overlap while turning %.2e m\n", worst);
    assert_vec3_near(r.record.proxy, ((vec3){0, 0, radius + sqrt(2) * half}), 1e-5);
    assert_vec3_near(r.record.force, ((vec3){0, 0, 1500 * (radius + sqrt(2) * half - 0.024)}),
                     0.02);
    assert_true(worst < 0.05e-3);
    rig_stop(&r);
    parametric_body_free(&block);
}

static void shapes_that_a_tool_body_cannot_touch_are_refused(void **state)
{
    (void)state;
    scene s = {.file = "test.scene", .body_count = 1, .tool_scale = 1};
    config settings = {.world = {.rate_hz = 500}};
    hr_error error = {""};
    world *w = NULL;
    s.bodies[0] = (scene_body){.shape = SCENE_PLANE, .line = 9, .scale = 1, .name = "floor"};
    snprintf(s.tool_file, sizeof s.tool_file, "config/bodies/sphere-six.json");
    assert_int_equal(world_create(&s, &settings, &w, &error), HR_ERR_FORMAT);
    assert_non_null(strstr(error.text, "test.scene:9"));
    s.bodies[0] = (scene_body){.shape = SCENE_SPHERE, .radius_m = 0.01, .scale = 1};
    snprintf(s.tool_file, sizeof s.tool_file, "config/bodies/teapot.json");
    assert_int_equal(world_create(&s, &settings, &w, &error), HR_ERR_FORMAT);
    assert_non_null(strstr(error.text, "convex"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_of_patches_is_a_sphere_tool),
        cmocka_unit_test(a_tool_body_presses_like_what_it_is),
        cmocka_unit_test(a_sharp_tool_stays_outside),
        cmocka_unit_test(a_tool_that_turns_rests_on_its_edge),
        cmocka_unit_test(shapes_that_a_tool_body_cannot_touch_are_refused),
    };
    return cmocka_run_group_tests_name("tool_shape", tests, NULL, NULL);
}
