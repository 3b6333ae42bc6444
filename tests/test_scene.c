#include <glob.h>
#include <string.h>

#include "config/scene.h"
#include "tests/test.h"

#define BALL "body \"b\" { shape = sphere radius_m = 0.02 }"

typedef struct broken {
    const char *text;
    const char *message;
} broken;

static const broken broken_scenes[] = {
    {"", "t:1: expected at least one body, found none"},
    {"body \"b\" { radius_m = 1 }", "t:1: body \"b\": expected shape"},
    {"body \"b\" { shape = cube }", "t:1: shape: expected one of plane, sphere, ellipsoid"},
    {"body \"b\" { shape = sphere }", "t:1: body \"b\": expected radius_m"},
    {"body \"b\" { shape = sphere radius_m = 0 }", "t:1: radius_m: expected a number"},
    {"body \"b\" { shape = sphere radius_m = -1 }", "t:1: radius_m"},
    {"body \"b\" { shape = sphere radius_m = 1e400 }", "t:1: radius_m"},
    {"body \"b\" { shape = sphere radius = 1 }", "t:1: expected a known key, found \"radius\""},
    {"\n\nbody \"b\" { shape = capsule half_length_m = 1 }", "t:3: body \"b\": expected radius_m"},
    {"body \"b\" { shape = box }", "t:1: body \"b\": expected half_size_m"},
    {"body \"b\" { shape = box half_size_m = {1, 1} }", "t:1: half_size_m: expected {x, y, z}"},
    {"body \"b\" { shape = box half_size_m = {1, 0, 1} }", "t:1: half_size_m"},
    {"body \"b\" { shape = ellipsoid }", "t:1: body \"b\": expected half_size_m"},
    {"body \"b\" { shape = mesh }", "t:1: body \"b\": expected file"},
    {"body \"b\" { shape = body }", "t:1: body \"b\": expected file"},
    {"body \"b\" { shape = articulated }", "t:1: body \"b\": expected file"},
    {BALL "\n" BALL, "t:2: "},
    {"body { shape = sphere radius_m = 0.02 }", "t:1: "},
    {"body \"\" { shape = plane }", "t:1: body \"\": expected a name"},
    {"body \"b\" { shape = plane free = true }", "t:1: body \"b\": expected a plane to be fixed"},
    {"body \"b\" { shape = sphere radius_m = 1 free = true }", "t:1: body \"b\": expected mass_kg"},
    {"body \"b\" { shape = plane free = maybe }", "t:1: free: expected true or false"},
    {"body \"b\" { shape = plane material { stiffness_n_per_m = 1e9 } }", "t:1: stiffness_n_per_m"},
    {"body \"b\" { shape = plane material { static_friction = 0.1 kinetic_friction = 0.2 } }",
     "expected kinetic_friction at most static_friction"},
    {"body \"b\" { shape = plane material { static_friction = -0.1 } }", "t:1: static_friction"},
    {"body \"b\" { shape = plane material { } material { } }", "t:1: expected \"material\" once"},
    {"body \"b\" { shape = plane\n key { time_s = 0 } }",
     "t:1: body \"b\": expected at least two keys"},
    {"body \"b\" { shape = plane key { time_s = 1 } key { time_s = 2 } }",
     "expected the first key at time_s = 0"},
    {"body \"b\" { shape = plane key { time_s = 0 } key { time_s = 0 } }",
     "expected keys with rising time_s"},
    {"body \"b\" { shape = plane key { time_s = 0 } key { time_s = nan } }", "t:1: time_s"},
    {"body \"b\" { shape = plane key { time_s = 0 } key { time_s = 1 } oscillate { frequency_hz = "
     "1 } }",
     "expected one of keys, oscillate and free"},
    {"body \"b\" { shape = plane oscillate { frequency_hz = 51 } }", "t:1: frequency_hz"},
    {"body \"b\" { shape = plane oscillate { amplitude_m = 3 } }", "t:1: amplitude_m"},
    {"gravity_m_per_s2 = {0, 0, down}\n" BALL, "t:1: gravity_m_per_s2"},
    {"tool_radius_m = 1\n" BALL, "t:1: tool_radius_m"},
    {"colour = red\n" BALL, "t:1: expected a known key, found \"colour\""},
    {"hand { script = \"a\" } hand { script = \"b\" }\n" BALL, "t:1: expected \"script\" once"},
    {"body \"b\" { shape = sphere radius_m = 0.02", "t:1: "},
    {"body \"b\" shape = sphere }", "t:1: "},
    {"name = \"a name that is much too long for the field that is to hold it, really\"\n" BALL,
     "t:1: name: expected at most 47 characters"},
};

static void every_broken_scene_is_refused_at_its_place(void **state)
{
    (void)state;
    scene *s = calloc(1, sizeof(*s)), *before = calloc(1, sizeof(*s));
    for (int i = 0; i < HR_COUNT(broken_scenes); i++) {
        hr_error error = {{0}};
        hr_status status = scene_parse(broken_scenes[i].text, "t", s, &error);
        if (status == HR_OK || !strstr(error.text, broken_scenes[i].message))
            fail_msg("%s\ngave \"%s\"", broken_scenes[i].text, error.text);
        assert_memory_equal(s, before, sizeof(*s));
    }
    print_message("%d broken scenes refused\n", HR_COUNT(broken_scenes));
    free(s);
    free(before);
}

static void too_many_bodies_are_refused(void **state)
{
    (void)state;
    scene *s = calloc(1, sizeof(*s));
    char *text = calloc(1, 64 * (SCENE_BODIES_MAX + 1));
    hr_error error = {{0}};
    for (int i = 0, used = 0; i <= SCENE_BODIES_MAX; i++)
        used += sprintf(text + used, "body \"b%d\" { shape = plane }\n", i);

    assert_int_equal(scene_parse(text, "t", s, &error), HR_ERR_CAPACITY);

    assert_string_equal(error.text, "t:129: expected at most 128 bodies");
    free(text);
    free(s);
}

static void a_scene_reads_as_it_is_written(void **state)
{
    (void)state;
    scene *s = calloc(1, sizeof(*s));
    hr_error error = {{0}};
    hr_status status = scene_parse(
        "name = \"two\"\ntool_radius_m = 0.002\ngravity_m_per_s2 = {0, 0, -9.81}\n"
        "hand {\n script = \"hold 1\n hold 2\" }\n"
        "body \"a\" { shape = box half_size_m = {1, 2, 3} position_m = {4, 5, 6}\n"
        "  rotation_rad = {0, 0, 1.5707963267948966}\n"
        "  material { stiffness_n_per_m = 900 static_friction = 0.5 kinetic_friction = 0.4 }\n"
        "  oscillate { amplitude_m = {0, 0, 0.1} frequency_hz = 2 } }\n"
        "body \"b\" { shape = mesh file = \"blob.stl\" scale = 0.001 }\n",
        "some/where/t.scene", s, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, HR_OK);

    assert_int_equal(s->body_count, 2);
    assert_int_equal(s->bodies[0].shape, SCENE_BOX);
    assert_int_equal(s->bodies[0].motion, SCENE_OSCILLATE);
    assert_near(s->bodies[0].material.static_friction, 0.5, 0);
    assert_vec3_near(pose_apply(s->bodies[0].world_from_body, (vec3){1, 0, 0}), ((vec3){4, 6, 6}),
                     1e-15);
    assert_string_equal(s->bodies[1].file, "some/where/blob.stl");
    assert_near(s->bodies[1].scale, 0.001, 0);
    assert_int_equal(s->bodies[1].line, 11);
    assert_int_equal(s->hand_script_line, 5);
    assert_string_equal(s->hand_script, "hold 1\n hold 2");
    free(s);
}

static void every_shipped_scene_loads(void **state)
{
    (void)state;
    glob_t found;
    scene *s = calloc(1, sizeof(*s));
    assert_int_equal(glob("config/scenes/*.scene", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        hr_error error = {{0}};
        if (scene_load(found.gl_pathv[i], s, &error) != HR_OK)
            fail_msg("%s", error.text);
        assert_true(s->name[0] && s->sentence[0]);
    }
    print_message("%zu scenes\n", found.gl_pathc);
    globfree(&found);
    free(s);
}

static void a_shipped_scene_is_found_by_name(void **state)
{
    (void)state;
    char path[CONFIG_PATH_MAX];
    hr_error error = {{0}};
    assert_int_equal(scene_find("sphere", path, sizeof(path), &error), HR_OK);
    assert_non_null(strstr(path, "config/scenes/sphere.scene"));
    assert_int_equal(scene_find("nowhere", path, sizeof(path), &error), HR_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_scene_is_refused_at_its_place),
        cmocka_unit_test(too_many_bodies_are_refused),
        cmocka_unit_test(a_scene_reads_as_it_is_written),
        cmocka_unit_test(every_shipped_scene_loads),
        cmocka_unit_test(a_shipped_scene_is_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
