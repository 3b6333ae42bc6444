/* Articulated bodies as the world plays them: limbs, pushes, rest poses; shapes fitted to clouds.
 */
#include <string.h>

#include "tests/test.h"

#include "collide/shape_fit.h"
#include "geometry/model_make.h"
#include "server/actor_kinds.h"
#include "server/frame.h"

static actor *make_actor(const char *text)
{
    static scene s; /* large */
    hr_error error;
    actor *a = NULL;
    if (scene_parse(text, "tests/inline.scene", &s, &error) != HR_OK)
        fail_msg("%s", error.text);
    const actor_class *class = actor_class_for(&s.bodies[0]);
    assert_ptr_equal(class, &actor_articulated);
    if (class->create(&s, &s.bodies[0], &a, &error) != HR_OK)
        fail_msg("%s", error.text);
    return a;
}

static const char MAN[] = "name = \"man\"\n"
                          "body \"man\" { shape = articulated file = \"wooden-man\" scale = 0.07 "
                          "mass_kg = 1.5 active_joints = 12 }\n";
static const char CHAIN[] = "name = \"chain\"\ngravity_m_per_s2 = {0, 0, -9.81}\n"
                            "body \"chain\" { shape = articulated file = \"pendulum-spherical\" "
                            "free = true scale = 0.1 mass_kg = 0.6 active_joints = 10 }\n";

/* Pushes limb `index` (or none: -1) along `force` at its middle for some steps of 2 ms. */
static void play(actor *a, int index, vec3 force, int steps, int64_t *time_ns)
{
    for (int i = 0; i < steps; i++) {
        actor_body b = {0};
        tool_sample hand = {.rotation = {1, 0, 0, 0}};
        if (index >= 0) {
            actor_articulated.body_state(a, index, &b);
            hand.is_touching = 1;
            hand.body_key = 7 + (uint32_t)index;
            hand.force = force;
            hand.point = b.world_from_body.origin;
        }
        actor_articulated.step(a, 7, &hand, 1, *time_ns, 2e-3);
        *time_ns += 2000000;
    }
}

static void a_pushed_limb_gives_way_and_comes_back(void **state)
{
    (void)state;
    actor *a = make_actor(MAN);
    int64_t time = 0;
    actor_body before, pushed, after;
    assert_int_equal(actor_articulated.body_count(a), 29);
    int arm = 9; /* some limb that moves */
    actor_articulated.body_state(a, arm, &before);

    play(a, arm, (vec3){-0.3, 0, 0}, 150, &time);
    actor_articulated.body_state(a, arm, &pushed);
    play(a, -1, (vec3){0, 0, 0}, 1500, &time);
    actor_articulated.body_state(a, arm, &after);

    assert_true(pushed.world_from_body.origin.x < before.world_from_body.origin.x - 1e-3);
    assert_vec3_near(after.world_from_body.origin, before.world_from_body.origin, 1e-3);
    actor_articulated.destroy(a);
}

/* The published velocity and acceleration carry the pose to the next step. */
static void states_extrapolate_to_the_next_step(void **state)
{
    (void)state;
    actor *a = make_actor(CHAIN);
    int64_t time = 0;
    play(a, 20, (vec3){0.2, 0.1, 0}, 100, &time);
    int count = actor_articulated.body_count(a);
    actor_body now[64], next;
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < count; i++)
            actor_articulated.body_state(a, i, &now[i]);
        play(a, -1, (vec3){0, 0, 0}, 1, &time);
        for (int i = 0; i < count; i++) {
            actor_articulated.body_state(a, i, &next);
            pose guess =
                pose_advance(now[i].world_from_body, now[i].velocity, now[i].acceleration, 2e-3);
            assert_vec3_near(guess.origin, next.world_from_body.origin, 2e-4);
        }
    }
    actor_articulated.destroy(a);
}

/* A hanging chain that nobody touches keeps its energy and its place. */
static void a_hanging_chain_hangs(void **state)
{
    (void)state;
    actor *a = make_actor(CHAIN);
    int64_t time = 0;
    actor_body before, after;
    double energy = actor_articulated.energy(a);
    actor_articulated.body_state(a, 30, &before);
    play(a, -1, (vec3){0, 0, 0}, 500, &time);
    actor_articulated.body_state(a, 30, &after);
    assert_vec3_near(after.world_from_body.origin, before.world_from_body.origin, 1e-9);
    assert_near(actor_articulated.energy(a), energy, 1e-9);

    /* pushed for a while and left alone it never has more energy than the push gave */
    play(a, 15, (vec3){0.3, 0, 0}, 100, &time);
    double given = actor_articulated.energy(a);
    for (int i = 0; i < 20; i++) {
        play(a, -1, (vec3){0, 0, 0}, 25, &time);
        assert_true(actor_articulated.energy(a) <= given + 0.02 * (given - energy) + 1e-9);
    }
    actor_articulated.destroy(a);
}

/* Effective inverse mass: symmetric, positive, and what an impulse does; none for the stand. */
static void the_inverse_mass_is_that_of_a_moving_body(void **state)
{
    (void)state;
    actor *a = make_actor(MAN);
    int64_t time = 0;
    for (int i = 0; i < actor_articulated.body_count(a); i++) {
        actor_body b;
        play(a, i, (vec3){0, 0.01, 0}, 6, &time); /* a touched limb is active within 10 ms */
        actor_articulated.body_state(a, i, &b);
        vec3 point = pose_apply(b.world_from_body, (vec3){0.001, 0.002, -0.001});
        mat3 m = actor_articulated.inverse_mass(a, i, point);
        double trace = m.m[0][0] + m.m[1][1] + m.m[2][2];
        if (i == 0) {
            assert_near(trace, 0, 0);
            continue;
        }
        assert_true(trace > 0 && isfinite(trace));
        for (int k = 0; k < 3; k++) {
            assert_true(m.m[k][k] >= -1e-9 * trace);
            for (int e = 0; e < k; e++)
                assert_near(m.m[k][e], m.m[e][k], 1e-9 * trace);
        }
    }
    actor_articulated.destroy(a);
}

static void bad_files_are_refused_with_their_place(void **state)
{
    (void)state;
    static scene s;
    hr_error error;
    actor *a = NULL;
    assert_int_equal(scene_parse("body \"x\" { shape = articulated file = \"none.urdf\" }\n",
                                 "inline.scene", &s, &error),
                     HR_OK);
    assert_int_not_equal(actor_articulated.create(&s, &s.bodies[0], &a, &error), HR_OK);
    assert_non_null(strstr(error.text, "none.urdf: expected a URDF file"));
}

/* Clouds on known shapes, turned and moved, give those shapes back. */
static void fitted_shapes_hold_their_clouds(void **state)
{
    (void)state;
    test_random r = test_random_seed(71);
    for (int kind = 0; kind < 3; kind++) {
        mesh m;
        if (kind == 0)
            assert_int_equal(mesh_make_sphere(0.3, 16, 24, &m), HR_OK);
        else if (kind == 1)
            assert_int_equal(mesh_make_capsule(0.2, 0.9, 16, 24, &m), HR_OK);
        else
            assert_int_equal(mesh_make_box((vec3){0.4, 1.0, 2.0}, &m), HR_OK);
        pose place = test_random_pose(&r, 2);
        for (int i = 0; i < m.vertex_count; i++)
            m.vertices[i] = pose_apply(place, m.vertices[i]);
        shape s;
        pose at;
        shape_fit(m.vertices, m.vertex_count, &s, &at);
        static const shape_kind kinds[] = {SHAPE_SPHERE, SHAPE_CAPSULE, SHAPE_BOX};
        assert_int_equal(s.kind, kinds[kind]);
        assert_vec3_near(at.origin, place.origin, 0.02);
        if (kind == 0)
            assert_near(s.radius, 0.3, 0.01);
        if (kind == 1) {
            assert_near(s.radius, 0.2, 0.01);
            assert_near(s.half_length, 0.45, 0.01);
        }
        if (kind == 2)
            assert_near(s.half_size.x * s.half_size.y * s.half_size.z, 0.1, 1e-6);
        mesh_free(&m);
    }
}

/* Half the size, a third of the mass: inertia a twelfth. */
static void scaled_models_keep_their_build(void **state)
{
    (void)state;
    model m;
    assert_int_equal(model_make_wooden_man((wooden_man_options){.damping = 0.5}, &m), HR_OK);
    model_link before = m.links[7];
    double damping = m.joints[7].damping;
    vec3 origin = m.joints[7].parent_from_joint.origin;
    assert_int_equal(model_scale(&m, 0.5, 1.0 / 3), HR_OK);
    assert_near(m.links[7].mass, before.mass / 3, 1e-15);
    assert_vec3_near(m.links[7].centre, vec3_scale(0.5, before.centre), 1e-15);
    assert_near(m.links[7].inertia.m[0][0], before.inertia.m[0][0] / 12, 1e-15);
    assert_near(m.joints[7].damping, damping / 12, 1e-15);
    assert_vec3_near(m.joints[7].parent_from_joint.origin, vec3_scale(0.5, origin), 1e-15);
    assert_int_equal(model_scale(&m, 0, 1), HR_ERR_ARGUMENT);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pushed_limb_gives_way_and_comes_back),
        cmocka_unit_test(states_extrapolate_to_the_next_step),
        cmocka_unit_test(a_hanging_chain_hangs),
        cmocka_unit_test(the_inverse_mass_is_that_of_a_moving_body),
        cmocka_unit_test(bad_files_are_refused_with_their_place),
        cmocka_unit_test(fitted_shapes_hold_their_clouds),
        cmocka_unit_test(scaled_models_keep_their_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
