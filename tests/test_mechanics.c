/* Bodies that move together: what they must never do (pass through each other, gain energy), what
 * they must do (rest, stack, pass on momentum, sleep and wake), each checked by formulas that the
 * mechanics does not use. */
#include <string.h>

#include "collide/touch_mesh.h"
#include "server/actor.h"
#include "server/mechanics.h"
#include "server/world.h"
#include "tests/conformance/allocations.h"
#include "tests/test.h"

static const double h = 0.004; /* s */

typedef struct play {
    scene scene;
    config settings;
    world *world;
    int step;
} play;

static void play_init(play *p)
{
    memset(p, 0, sizeof *p);
    p->settings.world.near_distance_m = 1;
    snprintf(p->scene.file, sizeof p->scene.file, "test.scene");
}

static scene_body *add(play *p, scene_shape kind, vec3 at)
{
    scene_body *b = &p->scene.bodies[p->scene.body_count++];
    *b = (scene_body){.shape = kind, .radius_m = 0.008, .half_length_m = 0.01, .scale = 1};
    b->half_size_m = (vec3){0.01, 0.012, 0.008};
    b->world_from_body = (pose){quat_identity(), at};
    b->material.static_friction = 0.5;
    snprintf(b->name, sizeof b->name, "body %d", p->scene.body_count);
    return b;
}

static scene_body *add_free(play *p, scene_shape kind, vec3 at, double mass)
{
    scene_body *b = add(p, kind, at);
    b->motion = SCENE_FREE;
    b->mass_kg = mass;
    return b;
}

static scene_body *add_plate(play *p, vec3 at, vec3 half)
{
    scene_body *b = add(p, SCENE_BOX, at);
    b->half_size_m = half;
    return b;
}

static void play_start(play *p)
{
    hr_error error = {{0}};
    if (world_create(&p->scene, &p->settings, &p->world, &error) != HR_OK)
        fail_msg("%s", error.text);
}

static void play_step(play *p, const tool_sample *hands, int count)
{
    static const tool_sample none;
    world_step(p->world, count ? hands : &none, count ? count : 1, (int64_t)(p->step * h * 1e9), h);
    p->step++;
}

static void play_steps(play *p, int count)
{
    for (int i = 0; i < count; i++)
        play_step(p, NULL, 0);
}

static actor_body body_of(const play *p, int index)
{
    actor_body b;
    world_body(p->world, index, &b);
    return b;
}

/* One step that gives a body the velocity and spin by a push at its centre and a pair of pushes. */
static void throw_body(play *p, int index, double mass, vec3 velocity)
{
    actor_body b = body_of(p, index);
    tool_sample hand = {.is_touching = 1,
                        .body_key = b.key,
                        .force = vec3_scale(mass / h, velocity),
                        .point = b.world_from_body.origin};
    hand.tool = hand.proxy = hand.point;
    play_step(p, &hand, 1);
}

/* --- nothing passes through --------------------------------------------------------------------
 */

/* m, outside positive. */
static double distance_to_box(vec3 half, vec3 x)
{
    vec3 d = {fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z};
    vec3 out = {fmax(d.x, 0), fmax(d.y, 0), fmax(d.z, 0)};
    return vec3_length(out) + fmin(0, fmax(d.x, fmax(d.y, d.z)));
}

/* Points of the body's surface or core, and how far the others must stay from them. */
static int sample_body(const scene_body *b, vec3 *out, double *radius)
{
    int count = 0;
    *radius = 0;
    if (b->shape == SCENE_SPHERE || b->shape == SCENE_CAPSULE) {
        double l = b->shape == SCENE_CAPSULE ? b->half_length_m : 0;
        *radius = b->radius_m;
        for (int i = -4; i <= 4; i++)
            out[count++] = (vec3){0, 0, l * i / 4};
        return count;
    }
    for (int i = 0; i < 343; i++) { /* a grid of 7 x 7 x 7 */
        vec3 g = {i % 7 / 3.0 - 1, i / 7 % 7 / 3.0 - 1, i / 49 / 3.0 - 1};
        double largest = fmax(fabs(g.x), fmax(fabs(g.y), fabs(g.z)));
        if (largest < 0.99)
            continue;
        if (b->shape == SCENE_ELLIPSOID) /* 1 % inside: facets cut corners */
            g = vec3_scale(0.99 / vec3_length(g), g);
        out[count++] =
            (vec3){g.x * b->half_size_m.x, g.y * b->half_size_m.y, g.z * b->half_size_m.z};
    }
    return count;
}

/* The path from one state to the next at some times in between. */
static pose between(pose a, pose b, double t)
{
    vec3 turn = quat_to_rotation_vector(quat_multiply(b.rotation, quat_conjugate(a.rotation)));
    return (pose){quat_multiply(quat_from_rotation_vector(vec3_scale(t, turn)), a.rotation),
                  vec3_lerp(a.origin, b.origin, t)};
}

static double clearance_over_plate(const scene_body *b, pose from, pose to, const scene_body *plate)
{
    vec3 samples[343];
    double radius, least = (double)INFINITY;
    int count = sample_body(b, samples, &radius);
    for (int k = 0; k <= 8; k++) {
        pose at = between(from, to, k / 8.0);
        for (int i = 0; i < count; i++) {
            vec3 x = pose_apply_inverse(plate->world_from_body, pose_apply(at, samples[i]));
            least = fmin(least, distance_to_box(plate->half_size_m, x) - radius);
        }
    }
    return least;
}

/* Thrown at 1 to 5 m/s at a plate of half a millimetre: a step is up to 20 mm. */
static void nothing_passes_a_thin_plate(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    const scene_shape kinds[] = {SCENE_SPHERE, SCENE_CAPSULE, SCENE_BOX, SCENE_ELLIPSOID};
    double least = (double)INFINITY;
    for (int trial = 0; trial < test_effort(12); trial++) {
        play p;
        play_init(&p);
        scene_body *b = add_free(&p, kinds[trial % 4], (vec3){0, 0, 0.05}, 0.1);
        b->world_from_body.rotation = quat_from_rotation_vector(test_random_vec3(&r, 2));
        add_plate(&p, (vec3){0, 0, 0}, (vec3){0.5, 0.5, 0.00025});
        play_start(&p);
        vec3 velocity = test_random_vec3(&r, 1);
        velocity.z = -test_random_between(&r, 1, 5);
        throw_body(&p, 0, 0.1, velocity);
        actor_body before = body_of(&p, 0);
        for (int i = 0; i < 25; i++) {
            play_step(&p, NULL, 0);
            actor_body after = body_of(&p, 0);
            double gap = clearance_over_plate(&p.scene.bodies[0], before.world_from_body,
                                              after.world_from_body, &p.scene.bodies[1]);
            least = fmin(least, gap);
            if (!(gap > 0) || after.world_from_body.origin.z < 0)
                fail_msg("trial %d step %d: a clearance of %g m", trial, i, gap);
            before = after;
        }
        world_destroy(p.world);
    }
    print_message("least clearance %.1f um\n", 1e6 * least);
}

/* Twenty balls thrown together: no two ever overlap, also between the states. */
static void balls_never_overlap(void **state)
{
    (void)state;
    enum { BALLS = 20 };
    test_random r = test_random_seed(62);
    double least = (double)INFINITY;
    for (int trial = 0; trial < test_effort(3); trial++) {
        play p;
        play_init(&p);
        for (int i = 0; i < BALLS; i++) {
            vec3 at = {0.03 * (i % 3) - 0.03, 0.03 * (i / 3 % 3) - 0.03, 0.03 * (i / 9) - 0.03};
            add_free(&p, SCENE_SPHERE, vec3_add(at, test_random_vec3(&r, 0.004)), 0.05);
        }
        play_start(&p);
        for (int i = 0; i < BALLS; i++) {
            vec3 in = vec3_scale(-40, body_of(&p, i).world_from_body.origin);
            throw_body(&p, i, 0.05, in);
        }
        for (int step = 0; step < 100; step++) {
            vec3 before[BALLS];
            for (int i = 0; i < BALLS; i++)
                before[i] = body_of(&p, i).world_from_body.origin;
            play_step(&p, NULL, 0);
            for (int i = 0; i < BALLS; i++)
                for (int j = 0; j < i; j++)
                    for (int k = 0; k <= 8; k++) {
                        vec3 a =
                            vec3_lerp(before[i], body_of(&p, i).world_from_body.origin, k / 8.0);
                        vec3 b =
                            vec3_lerp(before[j], body_of(&p, j).world_from_body.origin, k / 8.0);
                        least = fmin(least, vec3_distance(a, b) - 0.016);
                    }
        }
        world_destroy(p.world);
    }
    print_message("least clearance %.1f um\n", 1e6 * least);
    assert_true(least > 15e-6); /* the proof keeps 20 um; states are rounded */
}

/* A limp wooden man falls on a floor and a post: none of his vertices is ever below the floor or in
 * the post. */
static void a_falling_man_stays_outside(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    scene_body *man = add_free(&p, SCENE_ARTICULATED, (vec3){0, 0, 0.045}, 0.6);
    snprintf(man->file, sizeof man->file, "wooden-man-free");
    man->scale = 0.05;
    man->active_joints = 12;
    man->world_from_body.rotation = quat_from_rotation_vector((vec3){0.4, 1.0, 0.2});
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    add_plate(&p, (vec3){0.005, 0.002, 0.01}, (vec3){0.004, 0.004, 0.01});
    play_start(&p);
    int count, vertices = 0;
    const shape *shapes = world_shapes(p.world, &count);
    double floor = (double)INFINITY, post = (double)INFINITY;
    for (int step = 0; step < 40; step++) {
        play_step(&p, NULL, 0);
        for (int i = 0; i < count - 2; i++) {
            if (shapes[i].kind != SHAPE_MESH)
                continue;
            pose at = body_of(&p, i).world_from_body;
            for (int k = 0; k < 3 * shapes[i].mesh->triangle_count; k++, vertices++) {
                vec3 x = pose_apply(at, shapes[i].mesh->triangles[k / 3].corners[k % 3]);
                floor = fmin(floor, x.z);
                post = fmin(post, distance_to_box((vec3){0.004, 0.004, 0.01},
                                                  vec3_sub(x, (vec3){0.005, 0.002, 0.01})));
            }
        }
    }
    print_message("%d places, least above the floor %.1f um, off the post %.1f um\n", vertices,
                  1e6 * floor, 1e6 * post);
    assert_true(vertices > 100000);
    assert_true(floor > 0 && floor < 1e-3); /* he has arrived */
    assert_true(post > 0);
    world_destroy(p.world);
}

/* --- rest ---------------------------------------------------------------------------------------
 */

/* Five boxes on each other for ten seconds. */
static void a_stack_stays(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    for (int i = 0; i < 5; i++)
        add_free(&p, SCENE_BOX, (vec3){0.0005 * (i % 2), 0, 0.008 + 0.0161 * i}, 0.1);
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    play_start(&p);
    play_steps(&p, 250);
    vec3 start[5];
    for (int i = 0; i < 5; i++)
        start[i] = body_of(&p, i).world_from_body.origin;
    play_steps(&p, 2500);
    for (int i = 0; i < 5; i++) {
        actor_body b = body_of(&p, i);
        assert_vec3_near(b.world_from_body.origin, start[i], 1e-5);
        assert_near(b.world_from_body.origin.z, 0.008 + 0.016 * i, 4e-4);
    }
    world_destroy(p.world);
}

/* A box that is nudged all the time cannot sleep; friction holds it on its slope all the same. */
static void a_restless_box_does_not_drift(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){2.5, 0, -9.4}; /* a slope of 15 degrees, friction holds up to 27 */
    add_free(&p, SCENE_BOX, (vec3){0, 0, 0.0081}, 0.1);
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    play_start(&p);
    play_steps(&p, 20);
    vec3 start = body_of(&p, 0).world_from_body.origin;
    for (int i = 0; i < 2500; i++) {
        actor_body b = body_of(&p, 0);
        tool_sample hand = {.is_touching = 1, .body_key = b.key, .force = {0, 0, -0.01}};
        hand.point = hand.tool = hand.proxy = b.world_from_body.origin;
        play_step(&p, &hand, 1);
    }
    vec3 end = body_of(&p, 0).world_from_body.origin;
    print_message("drift in 10 s: %.2f um\n", 1e6 * vec3_distance(end, start));
    assert_true(vec3_distance(end, start) < 1e-4);
    world_destroy(p.world);
}

static void what_rests_sleeps_and_wakes(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    add_free(&p, SCENE_BOX, (vec3){0, 0, 0.0081}, 0.1);
    add_free(&p, SCENE_BOX, (vec3){0, 0, 0.0243}, 0.1);
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    play_start(&p);
    const mechanics_counts *counts = mechanics_counted(world_mechanics(p.world));
    play_step(&p, NULL, 0);
    assert_int_equal(counts->awake, 2);
    play_steps(&p, 300);
    assert_int_equal(counts->awake, 0);
    vec3 rest = body_of(&p, 1).world_from_body.origin;

    /* the lower one is pushed away: the upper one wakes and comes down */
    for (int i = 0; i < 20; i++) {
        actor_body b = body_of(&p, 0);
        tool_sample hand = {.is_touching = 1, .body_key = b.key, .force = {3, 0, 0}};
        hand.point = hand.tool = hand.proxy = b.world_from_body.origin;
        play_step(&p, &hand, 1);
    }
    play_steps(&p, 400);
    assert_true(body_of(&p, 1).world_from_body.origin.z < rest.z - 0.01);
    assert_int_equal(counts->awake, 0);
    world_destroy(p.world);
}

/* --- momentum and energy ------------------------------------------------------------------------
 */

static vec3 momentum_of(const play *p, int count)
{
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++)
        sum = vec3_add_scaled(sum, p->scene.bodies[i].mass_kg, body_of(p, i).velocity.linear);
    return sum;
}

/* Without gravity only the air takes momentum: 1 - 0.5 h of it every step. */
static void collisions_keep_momentum(void **state)
{
    (void)state;
    test_random r = test_random_seed(63);
    int touched = 0;
    for (int trial = 0; trial < test_effort(10); trial++) {
        play p;
        play_init(&p);
        const scene_shape kinds[] = {SCENE_SPHERE, SCENE_CAPSULE, SCENE_BOX, SCENE_BOX};
        for (int i = 0; i < 4; i++) {
            scene_body *b = add_free(&p, kinds[i], (vec3){0.04 * (i % 2), 0.04 * (i / 2), 0},
                                     test_random_between(&r, 0.02, 0.3));
            b->world_from_body.rotation = quat_from_rotation_vector(test_random_vec3(&r, 2));
        }
        play_start(&p);
        for (int i = 0; i < 4; i++) {
            vec3 in = vec3_sub((vec3){0.02, 0.02, 0}, body_of(&p, i).world_from_body.origin);
            throw_body(&p, i, p.scene.bodies[i].mass_kg, vec3_scale(15, in));
        }
        const mechanics_counts *counts = mechanics_counted(world_mechanics(p.world));
        for (int i = 0; i < 60; i++) {
            vec3 before = momentum_of(&p, 4);
            play_step(&p, NULL, 0);
            assert_vec3_near(momentum_of(&p, 4), vec3_scale(1 - 0.5 * h, before), 1e-9);
            touched += counts->contacts > 0;
        }
        world_destroy(p.world);
    }
    assert_true(touched > 10 * test_effort(10));
}

/* Two hands push and let go of a heap and an articulated body at random. What the world holds never
 * exceeds what it held and what the hands gave: so no hand can ever be given back more. */
static void hands_get_no_more_than_they_gave(void **state)
{
    (void)state;
    test_random r = test_random_seed(64);
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    const scene_shape kinds[] = {SCENE_BOX, SCENE_SPHERE, SCENE_CAPSULE, SCENE_BOX,
                                 SCENE_ELLIPSOID};
    for (int i = 0; i < 5; i++)
        add_free(&p, kinds[i], (vec3){0.025 * (i - 2), 0, 0.03}, 0.1);
    scene_body *chain = add(&p, SCENE_ARTICULATED, (vec3){0, 0.05, 0.2});
    snprintf(chain->file, sizeof chain->file, "pendulum");
    chain->scale = 0.05;
    chain->mass_kg = 0.3;
    chain->active_joints = 8;
    chain->motion = SCENE_FREE;
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    play_start(&p);
    int bodies = world_body_count(p.world) - 1;
    double start = world_energy(p.world), given = 0, most = -(double)INFINITY;
    tool_sample hands[2] = {{0}, {0}};
    for (int step = 0; step < test_effort(400); step++) {
        actor_body before[2], after[2];
        for (int k = 0; k < 2; k++) {
            tool_sample *hand = &hands[k];
            if (step % 40 == 20 * k) {
                hand->is_touching = test_random_index(&r, 3) > 0;
                hand->body_key = 1 + (uint32_t)test_random_index(&r, bodies);
                hand->force = test_random_vec3(&r, 1.5);
                hand->force.z = fabs(hand->force.z);
            }
            before[k] = body_of(&p, (int)hand->body_key - 1 < 0 ? 0 : (int)hand->body_key - 1);
            hand->point = hand->tool = hand->proxy = before[k].world_from_body.origin;
        }
        play_step(&p, hands, 2);
        for (int k = 0; k < 2; k++) {
            if (!hands[k].is_touching)
                continue;
            after[k] = body_of(&p, (int)hands[k].body_key - 1);
            vec3 way = vec3_sub(after[k].world_from_body.origin, before[k].world_from_body.origin);
            given += vec3_dot(hands[k].force, way);
        }
        most = fmax(most, world_energy(p.world) - start - given);
    }
    double recovered = mechanics_counted(world_mechanics(p.world))->recovery_energy;
    print_message("given %.4f J, largest excess %.2g J, recovery at most %.2g J\n", given, most,
                  recovered);
    assert_true(given > 0.01);
    assert_true(most < 2e-4);
    world_destroy(p.world);
}

/* --- scripts ------------------------------------------------------------------------------------
 */

/* A plate comes down on a ball on the floor: it stops on it, and goes on when its script turns. */
static void a_script_waits_for_what_it_would_crush(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    add_free(&p, SCENE_SPHERE, (vec3){0, 0, 0.0081}, 0.1);
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    scene_body *plate = add_plate(&p, (vec3){0, 0, 0.03}, (vec3){0.03, 0.03, 0.001});
    plate->motion = SCENE_OSCILLATE;
    plate->amplitude_m = (vec3){0, 0, -0.025};
    plate->frequency_hz = 0.5;
    play_start(&p);
    double lowest = 1;
    for (int i = 0; i < 400; i++) {
        play_step(&p, NULL, 0);
        actor_body ball = body_of(&p, 0), b = body_of(&p, 2);
        lowest = fmin(lowest, b.world_from_body.origin.z);
        assert_true(ball.world_from_body.origin.z > 0.008);
        if (fabs(ball.world_from_body.origin.x) < 0.03)
            assert_true(b.world_from_body.origin.z - 0.001 > ball.world_from_body.origin.z + 0.008);
    }
    assert_near(lowest, 0.017, 3e-4);
    world_destroy(p.world);
}

/* A plate moves sideways and carries a box along in front of it. */
static void a_script_pushes(void **state)
{
    (void)state;
    play p;
    play_init(&p);
    p.scene.gravity = (vec3){0, 0, -9.81};
    add_free(&p, SCENE_BOX, (vec3){0.02, 0, 0.0081}, 0.1);
    add(&p, SCENE_PLANE, (vec3){0, 0, 0});
    scene_body *plate = add_plate(&p, (vec3){0, 0, 0.011}, (vec3){0.001, 0.02, 0.01});
    plate->motion = SCENE_OSCILLATE;
    plate->amplitude_m = (vec3){0.04, 0, 0};
    plate->frequency_hz = 0.25;
    play_start(&p);
    play_steps(&p, 250);
    assert_near(body_of(&p, 2).world_from_body.origin.x, 0.04, 1e-4);
    assert_near(body_of(&p, 0).world_from_body.origin.x, 0.04 + 0.001 + 0.01, 5e-4);
    world_destroy(p.world);
}

/* --- the same bits, no memory -------------------------------------------------------------------
 */

static void fill(play *p)
{
    play_init(p);
    p->scene.gravity = (vec3){0, 0, -9.81};
    const scene_shape kinds[] = {SCENE_SPHERE, SCENE_CAPSULE, SCENE_BOX, SCENE_ELLIPSOID};
    for (int i = 0; i < 12; i++)
        add_free(p, kinds[i % 4], (vec3){0.03 * (i % 3), 0.03 * (i / 3 % 2), 0.02 + 0.03 * (i / 6)},
                 0.1);
    scene_body *man = add(p, SCENE_ARTICULATED, (vec3){0.03, 0.015, 0.1});
    snprintf(man->file, sizeof man->file, "wooden-man");
    man->scale = 0.05;
    man->mass_kg = 1;
    man->active_joints = 8;
    add(p, SCENE_PLANE, (vec3){0, 0, 0});
    play_start(p);
}

static tool_sample random_push(const play *p, test_random *r)
{
    int index = test_random_index(r, world_body_count(p->world) - 1);
    actor_body b = body_of(p, index);
    tool_sample hand = {.is_touching = 1, .body_key = b.key, .force = test_random_vec3(r, 1)};
    hand.point = hand.tool = hand.proxy = b.world_from_body.origin;
    return hand;
}

static void the_same_pushes_give_the_same_bits(void **state)
{
    (void)state;
    play p[2];
    test_random r = test_random_seed(65);
    fill(&p[0]);
    fill(&p[1]);
    for (int i = 0; i < 50; i++) {
        tool_sample hand = random_push(&p[0], &r);
        contact_frame f[2];
        for (int k = 0; k < 2; k++) {
            play_step(&p[k], &hand, 1);
            world_frame(p[k].world, 0, &f[k]);
        }
        assert_memory_equal(&f[0], &f[1], contact_frame_used(&f[0]));
    }
    world_destroy(p[0].world);
    world_destroy(p[1].world);
}

static void a_step_allocates_nothing(void **state)
{
    (void)state;
    play p;
    test_random r = test_random_seed(66);
    fill(&p);
    long before = allocations_of_this_thread();
    for (int i = 0; i < 30; i++) {
        tool_sample hand = random_push(&p, &r);
        play_step(&p, &hand, 1);
    }
    assert_int_equal(allocations_of_this_thread() - before, 0);
    world_destroy(p.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_passes_a_thin_plate),
        cmocka_unit_test(balls_never_overlap),
        cmocka_unit_test(a_falling_man_stays_outside),
        cmocka_unit_test(a_stack_stays),
        cmocka_unit_test(a_restless_box_does_not_drift),
        cmocka_unit_test(what_rests_sleeps_and_wakes),
        cmocka_unit_test(collisions_keep_momentum),
        cmocka_unit_test(hands_get_no_more_than_they_gave),
        cmocka_unit_test(a_script_waits_for_what_it_would_crush),
        cmocka_unit_test(a_script_pushes),
        cmocka_unit_test(the_same_pushes_give_the_same_bits),
        cmocka_unit_test(a_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The counting allocator becomes part of this program alone. */
#include "tests/conformance/allocations.c"
