/* Scripted motion against finite differences, and the frames that tell a hand what is near. */
#include "tests/test.h"

#include <string.h>

#include "server/actor.h"
#include "server/script_motion.h"
#include "server/world.h"

static scene_body random_mover(test_random *r)
{
    scene_body b = {.shape = SCENE_SPHERE, .radius_m = 0.01};
    b.world_from_body = test_random_pose(r, 0.05);
    if (test_random_index(r, 2)) {
        b.motion = SCENE_OSCILLATE;
        b.amplitude_m = test_random_vec3(r, 0.02);
        b.turn_rad = test_random_vec3(r, 1);
        b.frequency_hz = test_random_between(r, 0.1, 3);
        return b;
    }
    b.motion = SCENE_KEYFRAMES;
    b.key_count = 2 + test_random_index(r, SCENE_KEYS_MAX - 1);
    for (int i = 0; i < b.key_count; i++) {
        double before = i ? b.keys[i - 1].time_s : 0;
        b.keys[i] =
            (scene_key){i ? before + test_random_between(r, 0.2, 1) : 0, test_random_pose(r, 0.02)};
    }
    b.keys[b.key_count - 1].world_from_body = b.keys[0].world_from_body;
    return b;
}

static vec3 turned(pose a, pose b, double h)
{
    quat q = quat_multiply(b.rotation, quat_conjugate(a.rotation));
    return vec3_scale(1 / h, quat_to_rotation_vector(q));
}

/* Central differences, step 1e-5 s: their error is h^2/6 times the third derivative. */
static void velocities_and_accelerations_are_exact(void **state)
{
    (void)state;
    test_random r = test_random_seed(41);
    for (int i = 0; i < test_effort(20000); i++) {
        scene_body b = random_mover(&r);
        double t = test_random_between(&r, 0.01, 5), h = 1e-5;
        motion_state m = script_motion_at(&b, t);
        motion_state before = script_motion_at(&b, t - h), after = script_motion_at(&b, t + h);

        vec3 v = vec3_scale(0.5 / h,
                            vec3_sub(after.world_from_body.origin, before.world_from_body.origin));
        vec3 a = vec3_scale(0.5 / h, vec3_sub(after.velocity.linear, before.velocity.linear));
        vec3 w = turned(before.world_from_body, after.world_from_body, 2 * h);
        vec3 c = vec3_scale(0.5 / h, vec3_sub(after.velocity.angular, before.velocity.angular));

        assert_vec3_near(m.velocity.linear, v, 1e-6);
        assert_vec3_near(m.velocity.angular, w, 2e-5);
        assert_vec3_near(m.acceleration.linear, a, 2e-3);
        assert_vec3_near(m.acceleration.angular, c, 2e-1); /* keys: jumps of the third derivative */
    }
}

/* What the servo does with a frame: 16 ms ahead it must be where the script is. The error is
 * t^3/6 times the jerk, (2 pi f)^3 A = 0.4 m/s^3 here. */
static void a_frame_predicts_the_next(void **state)
{
    (void)state;
    scene_body b = {.motion = SCENE_OSCILLATE, .frequency_hz = 0.8};
    b.world_from_body = pose_identity();
    b.amplitude_m = (vec3){0.003, 0, 0.001};
    for (double t = 0; t < 2; t += 0.01) {
        motion_state now = script_motion_at(&b, t), later = script_motion_at(&b, t + 0.016);
        pose shown = pose_advance(now.world_from_body, now.velocity, now.acceleration, 0.016);
        assert_vec3_near(shown.origin, later.world_from_body.origin,
                         pow(0.016, 3) / 6 * pow(2 * M_PI * 0.8, 3) * 0.0032 * 1.01);
    }
}

static void settle(scene *s, config *c)
{
    *s = (scene){0};
    *c = (config){0};
    c->world.near_distance_m = 0.02;
    snprintf(s->file, sizeof s->file, "test.scene");
}

static scene_body *add_ball(scene *s, vec3 at, double radius)
{
    scene_body *b = &s->bodies[s->body_count++];
    *b = (scene_body){.shape = SCENE_SPHERE, .radius_m = radius};
    b->world_from_body = (pose){quat_identity(), at};
    snprintf(b->name, sizeof b->name, "ball %d", s->body_count);
    return b;
}

static void frames_hold_the_nearest_bodies(void **state)
{
    (void)state;
    test_random r = test_random_seed(42);
    scene s;
    config c;
    for (int trial = 0; trial < test_effort(200); trial++) {
        settle(&s, &c);
        for (int i = 0; i < 100; i++)
            add_ball(&s, test_random_vec3(&r, 0.06), test_random_between(&r, 0.001, 0.005));
        world *w = NULL;
        assert_int_equal(world_create(&s, &c, &w, NULL), HR_OK);
        tool_sample hand = {.tool = test_random_vec3(&r, 0.03), .tick = 7};
        hand.proxy = hand.tool;
        contact_frame f;

        world_step(w, &hand, 1, 0, 0.002);
        world_frame(w, 0, &f);

        assert_int_equal(f.time_ns, 2000000);
        assert_int_equal(f.tool_tick, 7);
        double last = -1;
        bool is_in[100] = {false};
        for (uint32_t i = 0; i < f.body_count; i++) {
            const scene_body *b = &s.bodies[f.bodies[i].key - 1];
            double gap = vec3_distance(b->world_from_body.origin, hand.tool) - b->radius_m;
            assert_true(gap <= 0.02 && gap >= last);
            last = gap;
            is_in[f.bodies[i].key - 1] = true;
        }
        for (int i = 0; i < 100; i++) {
            const scene_body *b = &s.bodies[i];
            double gap = vec3_distance(b->world_from_body.origin, hand.tool) - b->radius_m;
            if (!is_in[i])
                assert_true(gap > 0.02 || (f.body_count == FRAME_BODIES_MAX && gap >= last));
        }
        world_destroy(w);
    }
}

/* Two worlds from one scene, the same calls: the same bytes. */
static void the_same_calls_give_the_same_frames(void **state)
{
    (void)state;
    test_random r = test_random_seed(43);
    scene s;
    config c;
    settle(&s, &c);
    for (int i = 0; i < 12; i++)
        s.bodies[s.body_count++] = random_mover(&r);
    world *w[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++)
        assert_int_equal(world_create(&s, &c, &w[k], NULL), HR_OK);
    for (int i = 0; i < 500; i++) {
        tool_sample hand = {.tool = test_random_vec3(&r, 0.03)};
        contact_frame f[2];
        for (int k = 0; k < 2; k++) {
            world_step(w[k], &hand, 1, 1000000000 + 2000000L * i, 0.002);
            world_frame(w[k], 0, &f[k]);
        }
        assert_memory_equal(&f[0], &f[1], contact_frame_used(&f[0]));
    }
    world_destroy(w[0]);
    world_destroy(w[1]);
}

/* A loop of keys whose ends differ jumps there, and says so. */
static void jumps_are_flagged(void **state)
{
    (void)state;
    scene s;
    config c;
    settle(&s, &c);
    c.world.near_distance_m = 1;
    scene_body *b = add_ball(&s, (vec3){0, 0, 0}, 0.01);
    b->motion = SCENE_KEYFRAMES;
    b->key_count = 2;
    b->keys[0] = (scene_key){0, pose_identity()};
    b->keys[1] = (scene_key){0.5, {quat_identity(), {0.05, 0, 0}}};
    world *w = NULL;
    assert_int_equal(world_create(&s, &c, &w, NULL), HR_OK);
    int flagged = 0, at = 0;
    for (int i = 0; i < 375; i++) {
        contact_frame f;
        world_step(w, &(tool_sample){.tick = 1}, 1, 2000000L * i, 0.002);
        world_frame(w, 0, &f);
        if (f.bodies[0].flags & FRAME_BODY_TELEPORTED) {
            flagged++;
            at = i;
        }
    }
    assert_int_equal(flagged, 1);
    assert_int_equal(at, 249); /* the step that ends at 0.5 s */
    world_destroy(w);
}

static void what_cannot_be_played_is_refused(void **state)
{
    (void)state;
    scene s;
    config c;
    settle(&s, &c);
    add_ball(&s, (vec3){0, 0, 0}, 0.01);
    scene_body *b = add_ball(&s, (vec3){0, 0, 0}, 0.01);
    b->shape = SCENE_MESH;
    snprintf(b->file, sizeof b->file, "/nowhere/nothing.obj");
    b->line = 12;
    world *w = NULL;
    hr_error error = {{0}};
    assert_int_not_equal(world_create(&s, &c, &w, &error), HR_OK);
    assert_null(w);
    assert_true(strlen(error.text) > 0);
    print_message("%s\n", error.text);
}

/* --- bodies that move freely ------------------------------------------------------------------ */

static world *play(scene *s, config *c)
{
    hr_error error = {{0}};
    world *w = NULL;
    c->world.near_distance_m = 1;
    if (world_create(s, c, &w, &error) != HR_OK)
        fail_msg("%s", error.text);
    return w;
}

static scene_body *add_free(scene *s, scene_shape kind, double mass, vec3 at)
{
    scene_body *b = add_ball(s, at, 0.01);
    b->shape = kind;
    b->half_size_m = (vec3){0.01, 0.015, 0.02};
    b->half_length_m = 0.02;
    b->motion = SCENE_FREE;
    b->mass_kg = mass;
    return b;
}

static actor_body run_world(world *w, const tool_sample *hand, int body, int from, int steps)
{
    actor_body out;
    for (int i = from; i < from + steps; i++)
        world_step(w, hand, 1, 2000000L * i, 0.002);
    world_body(w, body, &out);
    return out;
}

/* v = g / c (1 - exp(-c t)) with the air's c = 0.5 / s; Euler's error is g h / 2. */
static void free_bodies_fall(void **state)
{
    (void)state;
    scene s;
    config c;
    settle(&s, &c);
    s.gravity = (vec3){0, 0, -9.81};
    add_free(&s, SCENE_ELLIPSOID, 0.1, (vec3){0, 0, 1});
    world *w = play(&s, &c);
    actor_body b = run_world(w, &(tool_sample){0}, 0, 0, 150);
    assert_near(b.velocity.linear.z, -9.81 / 0.5 * (1 - exp(-0.5 * 0.3)), 0.01);
    assert_near(b.acceleration.linear.z, -9.81 * exp(-0.5 * 0.3), 0.05);
    world_destroy(w);
}

/* Dropped from 20 mm on a floor, every shape comes to rest on it, and stays. */
static void free_bodies_come_to_rest(void **state)
{
    (void)state;
    const scene_shape kinds[] = {SCENE_SPHERE, SCENE_ELLIPSOID, SCENE_CAPSULE, SCENE_BOX};
    for (int i = 0; i < HR_COUNT(kinds); i++) {
        scene s;
        config c;
        settle(&s, &c);
        s.gravity = (vec3){0, 0, -9.81};
        scene_body *b = add_free(&s, kinds[i], 0.1, (vec3){0, 0, 0.05});
        b->world_from_body.rotation = quat_from_rotation_vector((vec3){0.4, 0.2, 0});
        b->material.static_friction = 0.4;
        scene_body *floor = add_ball(&s, (vec3){0, 0, 0}, 0);
        floor->shape = SCENE_PLANE;
        world *w = play(&s, &c);
        actor_body rest = run_world(w, &(tool_sample){0}, 0, 0, 6000);
        double height[] = {0.01, 0.01, 0.01, 0.02}; /* the box stands on its end */
        assert_near(rest.world_from_body.origin.z, height[i], 2e-4);
        assert_true(fabs(rest.velocity.linear.z) < 1e-3);
        assert_true(world_energy(w) < 0.1 * 9.81 * (height[i] + 5e-4));
        world_destroy(w);
    }
}

/* On a slope of angle s a box stays if tan s < mu and else gains g (sin s - mu cos s). */
static void friction_decides_on_a_slope(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        double mu = 0.5, slope = atan(slides ? 0.7 : 0.4);
        scene s;
        config c;
        settle(&s, &c);
        /* The floor is level, gravity leans. */
        s.gravity = (vec3){9.81 * sin(slope), 0, -9.81 * cos(slope)};
        scene_body *b = add_free(&s, SCENE_BOX, 0.2, (vec3){0, 0, 0.005});
        b->half_size_m = (vec3){0.02, 0.02, 0.005};
        b->material.static_friction = mu;
        scene_body *floor = add_ball(&s, (vec3){0, 0, 0}, 0);
        floor->shape = SCENE_PLANE;
        world *w = play(&s, &c);
        actor_body end = run_world(w, &(tool_sample){0}, 0, 0, 100);
        double pull = slides ? 9.81 * (sin(slope) - mu * cos(slope)) : 0;
        assert_near(end.velocity.linear.x, pull / 0.5 * (1 - exp(-0.5 * 0.2)), 0.02 * pull + 1e-4);
        world_destroy(w);
    }
}

/* A push at a point for one step changes the point's velocity by the frame's inverse mass. */
static void inverse_mass_is_what_a_push_does(void **state)
{
    (void)state;
    test_random r = test_random_seed(44);
    const scene_shape kinds[] = {SCENE_SPHERE, SCENE_ELLIPSOID, SCENE_CAPSULE, SCENE_BOX};
    for (int i = 0; i < test_effort(200); i++) {
        scene s;
        config c;
        settle(&s, &c);
        scene_body *b = add_free(&s, kinds[i % 4], test_random_between(&r, 0.05, 1), (vec3){0});
        b->world_from_body = test_random_pose(&r, 0.05);
        world *w = play(&s, &c);
        vec3 point = vec3_add(b->world_from_body.origin, test_random_vec3(&r, 0.02));
        tool_sample hand = {.tool = point, .proxy = point, .point = point};
        contact_frame f;
        run_world(w, &hand, 0, 0, 1);
        world_frame(w, 0, &f);
        assert_true(f.bodies[0].flags & FRAME_BODY_MOVED_BY_HAND);

        hand.force = test_random_vec3(&r, 0.1);
        hand.body_key = f.bodies[0].key;
        hand.is_touching = 1;
        actor_body after = run_world(w, &hand, 0, 1, 1);

        vec3 expected = mat3_apply(f.bodies[0].inverse_mass, vec3_scale(0.002, hand.force));
        vec3 got = twist_at(after.velocity, b->world_from_body, point);
        assert_vec3_near(got, expected, 0.01 * vec3_length(expected));
        world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_and_accelerations_are_exact),
        cmocka_unit_test(a_frame_predicts_the_next),
        cmocka_unit_test(frames_hold_the_nearest_bodies),
        cmocka_unit_test(the_same_calls_give_the_same_frames),
        cmocka_unit_test(jumps_are_flagged),
        cmocka_unit_test(what_cannot_be_played_is_refused),
        cmocka_unit_test(free_bodies_fall),
        cmocka_unit_test(free_bodies_come_to_rest),
        cmocka_unit_test(friction_decides_on_a_slope),
        cmocka_unit_test(inverse_mass_is_what_a_push_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
