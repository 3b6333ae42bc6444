/* The URDF reader: what robots that others wrote contain, and located errors for broken files. */
#include <string.h>

#include "tests/test.h"

#include "geometry/urdf.h"

#define LINK(name)                                                                                 \
    "<link name='" name "'><inertial><mass value='1'/>"                                            \
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
#define JOINT(name, type, parent, child, more)                                                     \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child        \
    "'/>" more "</joint>\n"

static hr_status parse(const char *text, model *m, hr_error *error)
{
    error->text[0] = '\0';
    return urdf_parse(text, strlen(text), "robot.urdf", (urdf_options){0}, m, error);
}

static void assert_refused(const char *text, const char *message)
{
    model m = {0};
    hr_error error;
    assert_int_not_equal(parse(text, &m, &error), HR_OK);
    if (!strstr(error.text, message))
        fail_msg("expected \"%s\" in \"%s\"", message, error.text);
    assert_int_equal(m.link_count, 0);
}

static void a_robot_with_every_joint_type_is_read(void **state)
{
    (void)state;
    model m;
    hr_error error;
    static const char text[] = "<?xml version='1.0'?>\n<robot name='all'>\n" LINK("a") LINK("b")
        LINK("c") LINK("d") LINK("e") LINK("f") LINK("g")
            LINK("h") "<transmission name='t'><joint name='unrelated'/></transmission>"
                      "<gazebo reference='a'><material>Red</material></gazebo>" JOINT(
                          "j7", "screw", "a", "h", "<axis xyz='0 0 2'/><screw pitch='0.01'/>")
                          JOINT("j1", "revolute", "a", "b",
                                "<axis xyz='0 3 4'/><limit lower='-1' upper='2' effort='inf' "
                                "velocity='3'/>"
                                "<dynamics damping='0.5' friction='0.25' armature='0.125'/>")
                              JOINT("j2", "continuous", "b", "c",
                                    "<origin xyz=' 1 2  3 ' rpy='0 0 1.5707963267948966'/>")
                                  JOINT("j3", "prismatic", "c", "d",
                                        "<mimic joint='j1' multiplier='2' offset='0.5'/>")
                                      JOINT("j4", "fixed", "d", "e", "")
                                          JOINT("j5", "floating", "e", "f", "")
                                              JOINT("j6", "spherical", "f", "g", "") "</robot>\n";
    if (parse(text, &m, &error) != HR_OK)
        fail_msg("%s", error.text);

    assert_int_equal(m.link_count, 8);
    assert_int_equal(m.body_count, 7);
    assert_int_equal(m.q_count, 1 + 1 + 1 + 1 + 7 + 4);
    assert_int_equal(m.v_count, 1 + 1 + 1 + 1 + 6 + 3);
    int j1 = model_find_joint(&m, "j1"), j2 = model_find_joint(&m, "j2");
    int j3 = model_find_joint(&m, "j3"), j7 = model_find_joint(&m, "j7");
    assert_vec3_near(m.joints[j1].axis, ((vec3){0, 0.6, 0.8}), 1e-15);
    assert_true(m.joints[j1].has_limits && isinf(m.joints[j1].effort));
    assert_near(m.joints[j1].damping, 0.5, 0);
    assert_near(m.joints[j1].armature, 0.125, 0);
    assert_vec3_near(m.joints[j2].axis, ((vec3){1, 0, 0}), 0); /* the default of the format */
    assert_vec3_near(pose_apply(m.joints[j2].parent_from_joint, (vec3){1, 0, 0}), ((vec3){1, 3, 3}),
                     1e-15);
    assert_int_equal(m.joints[j3].mimic, j1);
    assert_near(m.joints[j3].mimic_multiplier, 2, 0);
    assert_near(m.joints[j7].pitch, 0.01, 0);
    assert_int_equal(m.joints[j7].file_order, 0);
    assert_int_equal(j7, 1); /* children in file order, depth first */
    assert_int_equal(j1, 2);
    assert_near(m.bodies[m.links[model_find_link(&m, "e")].body].mass, 2, 0); /* d and e */
    model_free(&m);
}

/* Roll, then pitch, then yaw, about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll), written out. */
static void roll_pitch_yaw_turn_about_fixed_axes(void **state)
{
    (void)state;
    model m;
    hr_error error;
    assert_int_equal(parse("<robot name='r'>" LINK("a") LINK("b") JOINT(
                               "j", "fixed", "a", "b", "<origin rpy='0.3 -0.5 1.1'/>") "</robot>",
                           &m, &error),
                     HR_OK);
    double cr = cos(0.3), sr = sin(0.3), cp = cos(-0.5), sp = sin(-0.5), cy = cos(1.1),
           sy = sin(1.1);
    double expected[3][3] = {{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                             {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                             {-sp, cp * sr, cp * cr}};
    mat3 turn = quat_to_mat3(m.joints[1].parent_from_joint.rotation);
    for (int i = 0; i < 9; i++)
        assert_near(turn.m[i / 3][i % 3], expected[i / 3][i % 3], 1e-15);
    model_free(&m);
}

static void broken_files_get_located_errors(void **state)
{
    (void)state;
    assert_refused("", "robot.urdf:");
    assert_refused("<robot>", "robot.urdf:1: expected XML");
    assert_refused("<sdf/>", "robot.urdf:1: expected <robot>, found <sdf>");
    assert_refused("<robot name='r'/>", "robot.urdf:1: expected <link>");
    assert_refused("<robot>\n" LINK("a") JOINT("j", "fixed", "a", "b", "") "</robot>",
                   "robot.urdf:3: joint \"j\": expected the name of a link, found no link \"b\"");
    assert_refused("<robot>\n" LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "")
                       JOINT("k", "fixed", "b", "a", "") "</robot>",
                   "robot.urdf:2: expected a tree, found a loop");
    assert_refused("<robot>\n" LINK("r") LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "")
                       JOINT("k", "fixed", "b", "a", "") "</robot>",
                   "robot.urdf:3: expected a tree, found a loop through link \"a\"");
    assert_refused("<robot>\n" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "a", "c", "")
                       JOINT("k", "fixed", "b", "c", "") "</robot>",
                   "robot.urdf:6: joint \"k\": expected a tree, found a second parent");
    assert_refused("<robot>\n" LINK("a") LINK("b") "</robot>",
                   "robot.urdf:3: expected one link without a parent");
    assert_refused("<robot>\n" LINK("a") LINK("a") "</robot>", "robot.urdf:3: <link>: expected");
    assert_refused(
        "<robot>\n<link name='a'>\n<inertial><mass value='-2'/></inertial></link></robot>",
        "robot.urdf:3: link \"a\": expected a mass of at least 0 kg, found -2");
    assert_refused("<robot>\n" LINK("a") LINK("b")
                       JOINT("j", "revolute", "a", "b", "<mimic joint='x'/>") "</robot>",
                   "robot.urdf:4: joint \"j\": expected the name of a joint to mimic");
    assert_refused("<robot>\n" LINK("a") LINK("b")
                       JOINT("j", "revolute", "a", "b", "<mimic joint='j'/>") "</robot>",
                   "robot.urdf:4: joint \"j\": expected a joint that leads");
    assert_refused("<robot>\n" LINK("a") LINK("b") JOINT("j", "hinge", "a", "b", "") "</robot>",
                   "robot.urdf:4: joint \"j\": expected type fixed");
    assert_refused("<robot>\n" LINK("a") LINK("b")
                       JOINT("j", "revolute", "a", "b", "<axis xyz='0 0 0'/>") "</robot>",
                   "robot.urdf:4: joint \"j\": expected an axis");
    assert_refused("<robot>\n" LINK("a") LINK("b")
                       JOINT("j", "revolute", "a", "b", "<origin xyz='0 ${x} 0'/>") "</robot>",
                   "robot.urdf:4: <origin xyz>: expected 3 finite numbers, found \"0 ${x} 0\"");
    assert_refused("<robot>\n" LINK("a") "<joint name='j' type='fixed'><child link='a'/></joint>"
                                         "</robot>",
                   "robot.urdf:3: joint \"j\": expected <parent link=...>");
}

static void count_macros(void *context, const char *text)
{
    int *count = context;
    if (strstr(text, "found <xacro:") && strstr(text, "run xacro"))
        (*count)++;
}

/* What xacro left is told about; names with a prefix are not taken for URDF's own. */
static void macros_are_warned_about_and_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "<robot name='r' xmlns:xacro='http://ros.org/xacro'>" LINK(
            "a") "<xacro:link name='a'/><xacro:arm/></robot>",
        "<robot name='r'>" LINK("a") "<xacro:link name='a'/><xacro:arm/></robot>"};
    for (int i = 0; i < HR_COUNT(texts); i++) {
        model m;
        hr_error error;
        int count = 0;
        urdf_options options = {.warn = count_macros, .context = &count};
        assert_int_equal(urdf_parse(texts[i], strlen(texts[i]), "robot.urdf", options, &m, &error),
                         HR_OK);
        assert_int_equal(count, 2);
        assert_int_equal(m.link_count, 1);
        model_free(&m);
    }
}

static void ten_thousand_nested_elements_are_refused_at_their_line(void **state)
{
    (void)state;
    enum { DEPTH = 10000 };
    char *text = malloc(DEPTH * 24 + 64);
    size_t used = (size_t)sprintf(text, "<robot>\n");
    for (int i = 0; i < DEPTH; i++)
        used += (size_t)sprintf(text + used, "<link name='l%d'>\n", i);
    assert_refused(text, "robot.urdf:");
    free(text);
}

/* Not broken, only long: a chain of 10 000 links. */
static void ten_thousand_links_in_a_row_are_read(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    char *text = malloc(COUNT * 400);
    size_t used = (size_t)sprintf(text, "<robot>\n");
    for (int i = COUNT - 1; i >= 0; i--)
        used += (size_t)sprintf(text + used, "<link name='l%d'/>\n", i);
    for (int i = COUNT - 1; i > 0; i--)
        used += (size_t)sprintf(text + used,
                                "<joint name='j%d' type='revolute'><parent link='l%d'/>"
                                "<child link='l%d'/></joint>\n",
                                i, i - 1, i);
    sprintf(text + used, "</robot>");
    model m;
    hr_error error;
    assert_int_equal(parse(text, &m, &error), HR_OK);
    assert_int_equal(m.body_count, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(m.links[i].parent, i - 1);
    model_free(&m);
    free(text);
}

static void collect(void *context, const char *text)
{
    char *all = context;
    strncat(all, text, 4000 - strlen(all));
    strncat(all, "\n", 4000 - strlen(all));
}

static void a_missing_mesh_is_a_warning_or_an_error_as_asked(void **state)
{
    (void)state;
    static const char text[] = "<robot>\n<link name='hand'>\n<visual><geometry>\n"
                               "<mesh filename='package://no/such.stl'/></geometry></visual>\n"
                               "<collision><geometry><box size='1 2 3'/></geometry></collision>\n"
                               "</link></robot>";
    char heard[4096] = "";
    urdf_options options = {URDF_LOAD_MESHES, collect, heard};
    model m;
    hr_error error;
    assert_int_equal(urdf_parse(text, strlen(text), "robot.urdf", options, &m, &error), HR_OK);
    assert_non_null(strstr(heard, "robot.urdf:4: link \"hand\": expected mesh file"));
    assert_int_equal(m.visual_count, 0);
    assert_int_equal(m.collision_count, 1);
    assert_int_equal(m.meshes[m.collisions[0].mesh].triangle_count, 12);
    model_free(&m);

    options.meshes = URDF_REQUIRE_MESHES;
    assert_int_equal(urdf_parse(text, strlen(text), "robot.urdf", options, &m, &error),
                     HR_ERR_NOT_FOUND);
    assert_non_null(strstr(error.text, "robot.urdf:4: link \"hand\": expected mesh file"));
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A package that does not exist by name: the tail of the path is found beside the robot; a file
 * used twice is loaded once, another scale makes another mesh. */
static void meshes_are_found_by_every_suffix_and_shared(void **state)
{
    (void)state;
    char folder[] = "/tmp/urdf-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    mesh box;
    assert_int_equal(mesh_make_box((vec3){1, 1, 1}, &box), HR_OK);
    snprintf(path, sizeof path, "%s/box.stl", folder);
    assert_int_equal(mesh_save_stl(&box, path, NULL), HR_OK);
    mesh_free(&box);
    char urdf[128];
    snprintf(urdf, sizeof urdf, "%s/r.urdf", folder);
#define VISUAL(name, more)                                                                         \
    "<visual><geometry><mesh filename='" name "'" more "/></geometry></visual>"
    write_file(urdf, "<robot><link name='a'>" VISUAL("package://gone/meshes/box.stl", "") VISUAL(
                         "box.stl", "") VISUAL("box.stl", " scale='2 2 -2'") "</link></robot>");
    model m;
    hr_error error;
    urdf_options options = {.meshes = URDF_REQUIRE_MESHES};
    if (urdf_load(urdf, options, &m, &error) != HR_OK)
        fail_msg("%s", error.text);
    assert_int_equal(m.visual_count, 3);
    assert_int_equal(m.mesh_count, 2);
    assert_int_equal(m.meshes[1].triangle_count, 12);
    double volume = 0; /* a mirrored mesh must still be the right way out */
    for (int i = 0; i < 12; i++) {
        const int *t = m.meshes[1].triangles[i];
        const vec3 *v = m.meshes[1].vertices;
        volume += vec3_dot(v[t[0]], vec3_cross(v[t[1]], v[t[2]])) / 6;
    }
    assert_near(volume, 8, 1e-12);
    model_free(&m);
    remove(path);
    remove(urdf);
    remove(folder);
}

/* What the golden data's own description says of the three robots. */
static void robots_that_others_wrote_have_the_stated_links(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int links, bodies;
    } robots[] = {{"tests/data/urdf/kuka_iiwa/model.urdf", 8, 8},
                  {"tests/data/urdf/allegro_hand_description/urdf/allegro_right_hand.urdf", 21, 17},
                  {"tests/data/urdf/pr2_description/urdf/pr2.urdf", 82, 31}};
    for (int i = 0; i < HR_COUNT(robots); i++) {
        model m;
        hr_error error;
        if (urdf_load(robots[i].path, (urdf_options){0}, &m, &error) != HR_OK)
            fail_msg("%s", error.text);
        assert_int_equal(m.link_count, robots[i].links);
        assert_int_equal(m.body_count, robots[i].bodies);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_robot_with_every_joint_type_is_read),
        cmocka_unit_test(roll_pitch_yaw_turn_about_fixed_axes),
        cmocka_unit_test(broken_files_get_located_errors),
        cmocka_unit_test(macros_are_warned_about_and_passed_over),
        cmocka_unit_test(ten_thousand_nested_elements_are_refused_at_their_line),
        cmocka_unit_test(ten_thousand_links_in_a_row_are_read),
        cmocka_unit_test(a_missing_mesh_is_a_warning_or_an_error_as_asked),
        cmocka_unit_test(meshes_are_found_by_every_suffix_and_shared),
        cmocka_unit_test(robots_that_others_wrote_have_the_stated_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
