/* Free bodies of meshes and patches: mass properties by formula, and the same motion as the simple
 * shape that they copy. */
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#include "geometry/mesh.h"
#include "server/actor_kinds.h"
#include "server/actor_mass.h"
#include "server/world.h"

static scene *empty_scene(void)
{
    static scene s; /* large */
    memset(&s, 0, sizeof s);
    snprintf(s.file, sizeof s.file, "inline.scene");
    return &s;
}

static scene_body *add(scene *s, scene_shape kind, const char *file)
{
    scene_body *b = &s->bodies[s->body_count++];
    *b = (scene_body){.shape = kind,
                      .motion = SCENE_FREE,
                      .mass_kg = 0.3,
                      .scale = 1,
                      .world_from_body = pose_identity(),
                      .line = 7};
    snprintf(b->file, sizeof b->file, "%s", file);
    snprintf(b->name, sizeof b->name, "thing");
    return b;
}

/* A box in a file, away from the origin of the file and turned about no axis. */
static void write_box(const char *path, vec3 size, vec3 offset)
{
    mesh m;
    hr_error error;
    assert_int_equal(mesh_make_box(size, &m), HR_OK);
    for (int i = 0; i < m.vertex_count; i++)
        m.vertices[i] = vec3_add(m.vertices[i], offset);
    assert_int_equal(mesh_save_stl(&m, path, &error), HR_OK);
    mesh_free(&m);
}

static void mass_of(scene *s, const scene_body *b, actor_mass *out)
{
    shape solid;
    hr_error error;
    if (actor_shape_load(s, b, &solid, &error) != HR_OK ||
        actor_mass_of(s, b, &solid, out, &error) != HR_OK)
        fail_msg("%s", error.text);
    actor_shape_free(&solid);
}

/* A ball of six patches: 2/5 m r^2 about every axis; radius 1 in the file. */
static void a_ball_of_patches_has_the_inertia_of_a_ball(void **state)
{
    (void)state;
    scene *s = empty_scene();
    scene_body *b = add(s, SCENE_BODY, "config/bodies/sphere-six.json");
    b->scale = 0.02;
    actor_mass m;
    mass_of(s, b, &m);
    double exact = 0.4 * b->mass_kg * 0.02 * 0.02;
    assert_near(m.inertia.x, exact, 2e-3 * exact);
    assert_near(m.inertia.y, exact, 2e-3 * exact);
    assert_near(m.inertia.z, exact, 2e-3 * exact);
    assert_vec3_near(m.shape_from_centre.origin, ((vec3){0, 0, 0}), 1e-6);
}

/* A box mesh beside the origin: m/12 (b^2 + c^2) about its own middle, in its own axes. */
static void a_box_mesh_has_the_inertia_of_a_box(void **state)
{
    (void)state;
    char path[] = "/tmp/hapticd-mass-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    char stl[64];
    snprintf(stl, sizeof stl, "%s.stl", path);
    vec3 size = {0.02, 0.04, 0.06}, offset = {0.5, -0.25, 0.125};
    write_box(stl, size, offset);
    scene *s = empty_scene();
    scene_body *b = add(s, SCENE_MESH, stl);
    actor_mass m;
    mass_of(s, b, &m);
    assert_vec3_near(m.shape_from_centre.origin, offset, 1e-7);
    mat3 axes = quat_to_mat3(m.shape_from_centre.rotation);
    for (int i = 0; i < 3; i++) {
        vec3 axis = mat3_column(axes, i);
        double about = size.y * size.y * (1 - axis.y * axis.y) +
                       size.x * size.x * (1 - axis.x * axis.x) +
                       size.z * size.z * (1 - axis.z * axis.z);
        double exact = b->mass_kg / 12 * about;
        assert_near((&m.inertia.x)[i], exact, 1e-5 * exact);
    }
    unlink(stl);
    unlink(path);
}

/* A world of one free body. */
static world *world_of(scene *s)
{
    static config settings;
    hr_error error;
    world *w = NULL;
    config_default(&settings);
    if (world_create(s, &settings, &w, &error) != HR_OK)
        fail_msg("%s", error.text);
    return w;
}

/* The same box once as a formula and once as a mesh beside its origin: pushed off its middle, both
 * fly the same way. Compared at a corner of the box. */
static void a_box_mesh_flies_like_a_box(void **state)
{
    (void)state;
    char path[] = "/tmp/hapticd-mass-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    char stl[64];
    snprintf(stl, sizeof stl, "%s.stl", path);
    vec3 half = {0.01, 0.02, 0.03}, offset = {0.05, -0.02, 0.01};
    write_box(stl, vec3_scale(2, half), offset);
    world *worlds[2];
    for (int i = 0; i < 2; i++) {
        scene *s = empty_scene();
        s->gravity = (vec3){0, 0, -9.81};
        scene_body *b = add(s, i ? SCENE_MESH : SCENE_BOX, i ? stl : "");
        b->half_size_m = half;
        b->world_from_body.origin = i ? vec3_negate(offset) : (vec3){0, 0, 0};
        worlds[i] = world_of(s);
    }
    vec3 corner = {0.01, -0.02, 0.03}, corners[2] = {corner, vec3_add(corner, offset)};
    tool_sample push = {.tick = 1, .is_touching = 1, .body_key = 1, .force = {0.5, 1, 2}};
    push.tool = push.proxy = corner;
    for (int step = 0; step < 100; step++) {
        vec3 place[2], speed[2];
        static contact_frame frame[2];
        push.point = (vec3){0.008, 0.004, 0.003 + 0.001 * step};
        for (int i = 0; i < 2; i++) {
            actor_body b;
            world_step(worlds[i], &push, 1, 2000000LL * step, 2e-3);
            world_body(worlds[i], 0, &b);
            place[i] = pose_apply(b.world_from_body, corners[i]);
            speed[i] = twist_at(b.velocity, b.world_from_body, place[i]);
            world_frame(worlds[i], 0, &frame[i]);
            assert_int_equal(frame[i].body_count, 1);
        }
        push.tool = push.proxy = place[0];
        assert_vec3_near(place[0], place[1], 1e-6);
        assert_vec3_near(speed[0], speed[1], 1e-4);
        for (int i = 0; i < 9; i++)
            assert_near(frame[0].bodies[0].inverse_mass.m[i / 3][i % 3],
                        frame[1].bodies[0].inverse_mass.m[i / 3][i % 3], 1e-3);
    }
    for (int i = 0; i < 2; i++)
        world_destroy(worlds[i]);
    unlink(stl);
    unlink(path);
}

static void an_open_body_cannot_be_free(void **state)
{
    (void)state;
    scene *s = empty_scene();
    scene_body *b = add(s, SCENE_BODY, "config/bodies/va-patch.json");
    actor *a = NULL;
    hr_error error;
    assert_int_equal(actor_free.create(s, b, &a, &error), HR_ERR_FORMAT);
    assert_non_null(
        strstr(error.text, "inline.scene:7: body \"thing\": expected a closed surface"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_of_patches_has_the_inertia_of_a_ball),
        cmocka_unit_test(a_box_mesh_has_the_inertia_of_a_box),
        cmocka_unit_test(a_box_mesh_flies_like_a_box),
        cmocka_unit_test(an_open_body_cannot_be_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
