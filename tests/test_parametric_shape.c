/* Parametric bodies under the proxy: the nearest points that it is told, and how they feel through
 * the whole hand. */
#include <string.h>

#include "collide/parametric_shape.h"
#include "collide/witness_point.h"
#include "tests/support/feel_body.h"
#include "tests/support/rig.h"
#include "tests/support/witness_reference.h"
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

static void a_sphere_of_patches_is_a_sphere(void **state)
{
    (void)state;
    parametric_body b = load("config/bodies/sphere-six.json", 0.024);
    shape s = {.kind = SHAPE_PARAMETRIC, .surface = &b};
    test_random r = test_random_seed(41);
    shape_tracker t = {0};
    for (int k = 0; k < 2000; k++) {
        vec3 u = vec3_normalize_or(test_random_vec3(&r, 1.0), (vec3){1, 0, 0});
        double distance = test_random_between(&r, 0.012, 0.05);
        shape_contact c;
        int count = 0;
        shape_seed(&s, vec3_scale(distance, u), 1.0, &t);
        for (int i = 0; i < 3; i++)
            count = shape_follow(&s, &t, vec3_scale(distance, u), (vec3){0, 0, 0}, 0, 1.0, &c, 1);
        assert_int_equal(count, 1);
        assert_near(c.gap, distance - 0.024, 1e-14);
        assert_vec3_near(c.normal, u, 1e-10);
        assert_vec3_near(c.point, vec3_scale(0.024, u), 1e-12);
    }
    parametric_body_free(&b);
}

/* Every shipped body: what the seed finds is never farther than brute force. */
static void seeds_are_globally_nearest(void **state)
{
    (void)state;
    const char *files[] = {"egg", "sphere-six", "teapot", "blob", "hills", "roof"};
    test_random r = test_random_seed(42);
    for (int f = 0; f < HR_COUNT(files); f++) {
        char path[128];
        snprintf(path, sizeof path, "config/bodies/%s.json", files[f]);
        parametric_body b = load(path, 1.0);
        witness_body w = witness_body_parametric(&b);
        vec3 centre = vec3_lerp(b.box_low, b.box_high, 0.5);
        for (int k = 0; k < test_effort(40); k++) {
            vec3 p = vec3_add(centre, test_random_vec3(&r, 0.6 * b.size));
            witness_place found;
            witness_point_seek(&w, p, &found);
            double truth = reference_nearest(&b, p, NULL);
            assert_true(vec3_distance(found.at.p, p) <= truth + 1e-9 * b.size);
        }
        parametric_body_free(&b);
    }
}

static void broken_trackers_and_points_do_no_harm(void **state)
{
    (void)state;
    parametric_body b = load("config/bodies/teapot.json", 0.0055);
    shape s = {.kind = SHAPE_PARAMETRIC, .surface = &b};
    test_random r = test_random_seed(43);
    for (int k = 0; k < 2000; k++) {
        shape_tracker t;
        shape_contact c[SHAPE_CONTACTS_MAX];
        unsigned char *bytes = (unsigned char *)&t;
        for (size_t i = 0; i < sizeof t; i++)
            bytes[i] = (unsigned char)test_random_u64(&r);
        if (k % 2)
            t.track_count %= 6;
        vec3 p = test_random_vec3(&r, 0.03);
        int count = shape_follow(&s, &t, p, (vec3){0, 0, 0}, 1e-3, 0.01, c, SHAPE_CONTACTS_MAX);
        assert_true(count >= 0 && count <= SHAPE_TRACKS_MAX);
        for (int i = 0; i < count; i++)
            assert_true(vec3_is_finite(c[i].point) && isfinite(c[i].gap));
        shape_tracker kept = t;
        p.y = (double)NAN;
        assert_int_equal(shape_follow(&s, &t, p, p, 1e-3, 0.01, c, SHAPE_CONTACTS_MAX), 0);
        assert_true(t.flags & SHAPE_TRACK_HELD);
        assert_memory_equal(t.tracks, kept.tracks, sizeof kept.tracks);
    }
    parametric_body_free(&b);
}

/* Where the tracker comes to rest for a point next to the one it rested at. */
static bool rest_at(const shape *s, shape_tracker t, vec3 p, shape_contact *out)
{
    uint32_t feature = t.tracks[0].feature;
    for (int i = 0; i < 6; i++)
        (void)shape_follow(s, &t, p, (vec3){0, 0, 0}, 0, 1e3, out, 1);
    return t.tracks[0].feature == feature;
}

/* Faces, edges and vertices against central differences. */
static void bend_and_lead_are_derivatives(void **state)
{
    (void)state;
    const char *files[] = {"config/bodies/egg.json", "config/bodies/blob.json",
                           "tests/data/bodies/block.json", "tests/data/bodies/lemon_a_cubic.json"};
    test_random r = test_random_seed(44);
    int compared[3] = {0};
    for (int k = 0; k < 4 * test_effort(200); k++) {
        static parametric_body b;
        if (k % test_effort(200) == 0) {
            parametric_body_free(&b);
            b = load(files[k / test_effort(200)], 1.0);
        }
        shape s = {.kind = SHAPE_PARAMETRIC, .surface = &b};
        vec3 p =
            vec3_add(vec3_lerp(b.box_low, b.box_high, 0.5), test_random_vec3(&r, 0.6 * b.size));
        shape_tracker t;
        shape_contact c, low, high;
        shape_seed(&s, p, 1e3, &t);
        if (!rest_at(&s, t, p, &c) || c.gap < 0.02 * b.size || vec3_length(c.lead[0]) > 1e3)
            continue;
        double h = 1e-5 * b.size;
        for (int axis = 0; axis < 3; axis++) {
            vec3 step = {axis == 0 ? h : 0, axis == 1 ? h : 0, axis == 2 ? h : 0};
            if (!rest_at(&s, t, vec3_sub(p, step), &low) ||
                !rest_at(&s, t, vec3_add(p, step), &high))
                continue;
            vec3 turn = vec3_scale(0.5 / h, vec3_sub(high.normal, low.normal));
            double scale = 1.0 / b.size + vec3_length(turn);
            if (mat3_determinant(c.bend) == 0 && c.bend.m[0][0] == 0 && c.bend.m[1][1] == 0)
                continue; /* it does not tell */
            assert_vec3_near(vec3_scale(1.0 / h, mat3_apply(c.bend, step)), turn, 1e-4 * scale);
            compared[t.tracks[0].feature >> 28]++;
        }
    }
    print_message("%d, %d and %d derivatives at vertices, edges and faces\n", compared[0],
                  compared[1], compared[2]);
    assert_true(compared[0] > test_effort(20) && compared[1] > test_effort(20) &&
                compared[2] > test_effort(500));
}

/* The forecast starts the next step next to its answer. */
static void a_forecast_saves_the_first_step(void **state)
{
    (void)state;
    parametric_body b = load("config/bodies/blob.json", 1.0);
    shape s = {.kind = SHAPE_PARAMETRIC, .surface = &b};
    test_random r = test_random_seed(45);
    double worst = 0, without = 0;
    for (int k = 0; k < 300; k++) {
        vec3 p = vec3_scale(0.028, vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0}));
        vec3 step = test_random_vec3(&r, 1e-4);
        shape_tracker t, truth;
        shape_contact c, exact;
        shape_seed(&s, p, 1, &t);
        if (!rest_at(&s, t, p, &c) || shape_follow(&s, &t, p, (vec3){0, 0, 0}, 0, 1, &c, 1) < 1)
            continue;
        truth = t;
        if (!rest_at(&s, truth, vec3_add(p, step), &exact))
            continue;
        witness_body w = witness_body_parametric(&b);
        witness_place before, after;
        const shape_track *now = &t.tracks[0];
        witness_place_set(&w, WITNESS_FACE, parametric_feature_index(now->feature), now->u, now->v,
                          &before);
        shape_predict(&s, &t, &c, 1, step);
        witness_place_set(&w, WITNESS_FACE, parametric_feature_index(now->feature), now->u, now->v,
                          &after);
        without = fmax(without, vec3_distance(before.at.p, exact.point));
        worst = fmax(worst, vec3_distance(after.at.p, exact.point));
    }
    print_message("0.1 mm steps: the forecast is off by %.1e m, standing still by %.1e m\n", worst,
                  without);
    assert_true(worst < 0.1 * without);
    parametric_body_free(&b);
}

static void the_parametric_sphere_feels_exact(void **state)
{
    (void)state;
    feel_path path = {.file = "config/bodies/sphere-six.json",
                      .scale = 0.024,
                      .speed = 0.5,
                      .ticks = test_effort(4000) + 200};
    feel_path_result r = feel_path_run(&path);
    print_message("sphere at 0.5 m/s: error %.1e, step %.4f N (ideal %.4f)\n", r.error, r.step,
                  r.ideal);
    assert_true(r.error < 1e-5);
    assert_true(r.step < 0.07); /* the exact force changes by 0.063 N */
    assert_true(r.lost == 0);
}

static void the_blob_is_never_lost(void **state)
{
    (void)state;
    const double radii[3] = {0, 0.0004, 0.002};
    for (int i = 0; i < 3; i++) {
        feel_path path = {.file = "config/bodies/blob.json",
                          .scale = 1,
                          .is_blob = true,
                          .speed = 0.5,
                          .tool_radius = radii[i],
                          .ticks = test_effort(3000) + 200};
        feel_path_result r = feel_path_run(&path);
        print_message(
            "blob, tool %.1f mm: proxy at most %.2f mm away, %.1e m inside, step %.2f N\n",
            1e3 * radii[i], 1e3 * r.farthest, r.leak, r.step);
        assert_true(r.lost == 0);
        assert_true(r.step < 1.5);  /* a force that drops out for a tick makes 3 N */
        assert_true(r.leak < 1e-7); /* the body's own error against the formula */
    }
}

/* The side of the teapot, between spout and handle: up, down and across its seams, 2 mm deep. */
static void the_teapot_is_never_lost(void **state)
{
    (void)state;
    const double scale = 0.0055;
    const double radii[2] = {0, 0.0005};
    parametric_body b = load("config/bodies/teapot.json", scale);
    witness_body w = witness_body_parametric(&b);
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_init(&r);
        scene_body *body = rig_body(&r, SCENE_BODY);
        snprintf(body->file, sizeof body->file, "config/bodies/teapot.json");
        body->scale = scale;
        r.settings.coupling.tool_radius_m = radii[k];
        rig_start(&r);
        int lost = 0;
        double away = 0;
        int ticks = test_effort(6000) + 600;
        for (int i = 0; i < ticks; i++) {
            double t = i * 1e-3;
            double angle = 1.5708 + 0.9 * sin(2.2 * t);
            double height = 1.2 + 0.7 * sin(1.37 * t);
            vec3 q = {3 * scale * cos(angle), 3 * scale * sin(angle), height * scale};
            witness_place foot;
            witness_point_seek(&w, q, &foot);
            vec3 n = witness_place_normal(&w, &foot);
            double depth = i < 500 ? -0.004 + 0.006 * i / 500.0 : 0.002;
            vec3 tool = vec3_add_scaled(foot.at.p, -depth, n);
            if (i == 0)
                rig_open_gate(&r, tool);
            rig_tick(&r, tool);
            double d = vec3_distance(r.record.proxy, r.record.tool);
            away = fmax(away, d);
            lost += d > 0.004 + radii[k];
        }
        print_message("teapot, tool %.1f mm: proxy at most %.2f mm away\n", 1e3 * radii[k],
                      1e3 * away);
        assert_int_equal(lost, 0);
        rig_stop(&r);
    }
    parametric_body_free(&b);
}

static void a_missing_or_planar_body_is_refused_by_name(void **state)
{
    (void)state;
    scene s = {.file = "test.scene"};
    scene_body body = {.shape = SCENE_BODY, .line = 7, .scale = 1, .name = "thing"};
    hr_error error = {""};
    world *w = NULL;
    config settings = {.world = {.rate_hz = 500}};
    s.body_count = 1;
    snprintf(body.file, sizeof body.file, "tests/data/bodies/planar_a.json");
    s.bodies[0] = body;
    assert_int_equal(world_create(&s, &settings, &w, &error), HR_ERR_FORMAT);
    assert_non_null(strstr(error.text, "test.scene:7"));
    snprintf(s.bodies[0].file, sizeof body.file, "no-such-body.json");
    assert_int_not_equal(world_create(&s, &settings, &w, &error), HR_OK);
    assert_non_null(strstr(error.text, "no-such-body.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_of_patches_is_a_sphere),
        cmocka_unit_test(seeds_are_globally_nearest),
        cmocka_unit_test(broken_trackers_and_points_do_no_harm),
        cmocka_unit_test(bend_and_lead_are_derivatives),
        cmocka_unit_test(a_forecast_saves_the_first_step),
        cmocka_unit_test(the_parametric_sphere_feels_exact),
        cmocka_unit_test(the_blob_is_never_lost),
        cmocka_unit_test(the_teapot_is_never_lost),
        cmocka_unit_test(a_missing_or_planar_body_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("parametric_shape", tests, NULL, NULL);
}
