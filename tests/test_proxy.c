/* The proxy among bodies: outside all of them, nearest to the tool, held by friction, carried,
 * never pushed by a body that was not there before. */
#include "tests/test.h"

#include "server/proxy.h"

enum { BODIES_MAX = 4 };

typedef struct stage {
    shape shapes[BODIES_MAX];
    proxy proxy;
    contact_frame frame;
    int64_t time_ns;
} stage;

static void stage_init(stage *s, double radius)
{
    *s = (stage){0};
    proxy_init(&s->proxy, s->shapes, BODIES_MAX, radius, 0.05);
}

static frame_body *stage_add(stage *s, shape solid, pose at)
{
    uint32_t i = s->frame.body_count++;
    s->shapes[i] = solid;
    s->frame.bodies[i] = (frame_body){.key = i + 1, .shape = i, .world_from_body = at};
    s->frame.bodies[i].material.stiffness = 1500;
    return &s->frame.bodies[i];
}

static void stage_tell(stage *s)
{
    s->frame.time_ns = s->time_ns;
    s->frame.sequence++;
    assert_int_equal(proxy_frame(&s->proxy, &s->frame), 0);
}

static void stage_tick(stage *s, vec3 tool)
{
    s->time_ns += 1000000;
    proxy_move(&s->proxy, tool, s->time_ns, 1e-3);
}

/* Straight from one place to another at no more than 0.5 mm per tick, then 2 s of rest, for the
 * proxy that does not run. */
static void stage_drag(stage *s, vec3 from, vec3 to)
{
    int n = 1 + (int)(vec3_distance(from, to) / 5e-4);
    for (int i = 1; i <= n; i++)
        stage_tick(s, vec3_lerp(from, to, (double)i / n));
    for (int i = 0; i < 2000; i++)
        stage_tick(s, to);
}

static shape random_solid(test_random *r)
{
    double a = test_random_between(r, 0.005, 0.02), b = test_random_between(r, 0.005, 0.02);
    double c = test_random_between(r, 0.003, 0.02);
    switch (test_random_index(r, 4)) {
    case 0:
        return (shape){.kind = SHAPE_SPHERE, .radius = a};
    case 1:
        return (shape){.kind = SHAPE_ELLIPSOID, .half_size = {a, b, c}};
    case 2:
        return (shape){.kind = SHAPE_CAPSULE, .radius = c, .half_length = a};
    default:
        return (shape){.kind = SHAPE_BOX, .half_size = {a, b, c}};
    }
}

/* Signed distance by a fresh search, in the world. */
static double true_gap(const stage *s, uint32_t i, vec3 at, vec3 *normal)
{
    const frame_body *b = &s->frame.bodies[i];
    shape_tracker tracker;
    shape_contact c;
    vec3 local = pose_apply_inverse(b->world_from_body, at);
    shape_seed(&s->shapes[i], local, 10, &tracker);
    assert_int_equal(shape_follow(&s->shapes[i], &tracker, local, (vec3){0, 0, 0}, 0, 10, &c, 1),
                     1);
    *normal = pose_rotate(b->world_from_body, c.normal);
    return c.gap;
}

/* The push must be a sum of touched normals with shares that are not negative: what is left of it
 * after taking out each normal's part again and again (projection on a cone) must vanish. */
static double outside_cone(vec3 push, const vec3 *normals, int count)
{
    double share[BODIES_MAX] = {0};
    vec3 rest = push;
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < count; i++) {
            double more = fmax(-share[i], vec3_dot(rest, normals[i]));
            share[i] += more;
            rest = vec3_add_scaled(rest, -more, normals[i]);
        }
    }
    return vec3_length(rest);
}

static void random_scenes_are_never_entered(void **state)
{
    (void)state;
    test_random r = test_random_seed(31);
    int touched = 0;
    for (int trial = 0; trial < test_effort(600); trial++) {
        stage s;
        double radius = trial % 3 ? test_random_between(&r, 0, 0.003) : 0;
        stage_init(&s, radius);
        int count = 1 + test_random_index(&r, BODIES_MAX);
        for (int i = 0; i < count; i++)
            stage_add(&s, random_solid(&r), test_random_pose(&r, 0.02));
        vec3 from = vec3_scale(0.08, vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0}));
        vec3 to = test_random_vec3(&r, 0.02);
        stage_tell(&s);
        stage_drag(&s, from, to);

        vec3 push = vec3_sub(s.proxy.position, to), normals[BODIES_MAX];
        int near = 0;
        for (int i = 0; i < count; i++) {
            vec3 normal;
            double gap = true_gap(&s, (uint32_t)i, s.proxy.position, &normal) - radius;
            assert_true(gap > -1e-7);
            if (gap < 1e-6)
                normals[near++] = normal;
        }
        if (s.proxy.touch.flags & PROXY_INFEASIBLE)
            continue;
        /* A box's edge has more than one normal; those cases are left to the gap alone. */
        bool is_smooth = true;
        for (int i = 0; i < count; i++)
            is_smooth = is_smooth && (s.shapes[i].kind != SHAPE_BOX || radius > 0);
        touched += near > 0;
        double astray = outside_cone(push, normals, near);
        if (is_smooth && s.proxy.touch.count > 0 && astray > 2e-5)
            fail_msg("trial %d: %g m of %g m astray, %d near, %d hold, flags %x", trial, astray,
                     vec3_length(push), near, s.proxy.touch.count, s.proxy.touch.flags);
        if (near == 0)
            assert_true(vec3_length(push) < 1e-9);
    }
    print_message("%d touched\n", touched);
    assert_true(touched > test_effort(600) / 4);
}

/* Three planes make a corner: the proxy is its tip, moved out by the tool's radius. */
static void corner_holds_the_proxy(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 0.001);
    const shape plane = {.kind = SHAPE_PLANE};
    stage_add(&s, plane, pose_identity());
    stage_add(&s, plane, (pose){quat_from_rotation_vector((vec3){0, M_PI / 2, 0}), {0, 0, 0}});
    stage_add(&s, plane, (pose){quat_from_rotation_vector((vec3){-M_PI / 2, 0, 0}), {0, 0, 0}});
    stage_tell(&s);

    stage_drag(&s, (vec3){0.01, 0.02, 0.015}, (vec3){-0.002, -0.003, -0.001});

    assert_vec3_near(s.proxy.position, ((vec3){0.001, 0.001, 0.001}), 1e-9);
    assert_int_equal(s.proxy.touch.count, 3);
}

static void friction_carries_the_proxy_with_its_body(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 0);
    frame_body *b = stage_add(&s, (shape){.kind = SHAPE_PLANE}, pose_identity());
    b->material.static_friction = b->material.kinetic_friction = 5;
    stage_tell(&s);
    stage_drag(&s, (vec3){0, 0, 0.01}, (vec3){0, 0, -0.002});
    assert_true(s.proxy.touch.flags & PROXY_STICKS);

    /* The plane slides at 20 mm/s and turns at 1 rad/s under a tool at rest. */
    b->velocity = (twist){{0.02, 0, 0}, {0, 0, 1}};
    stage_tell(&s);
    for (int i = 0; i < 40; i++)
        stage_tick(&s, (vec3){0, 0, -0.002});

    pose moved = pose_advance(pose_identity(), b->velocity, (twist){0}, 0.040);
    assert_vec3_near(s.proxy.position, pose_apply(moved, (vec3){0, 0, 0}), 2e-6);
}

static void corrections_make_no_step(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 0);
    frame_body *b = stage_add(&s, (shape){.kind = SHAPE_PLANE}, pose_identity());
    stage_tell(&s);
    stage_drag(&s, (vec3){0, 0, 0.01}, (vec3){0, 0, -0.003});

    /* The next frame says that the plane is 1 mm higher. */
    b->world_from_body.origin.z = 0.001;
    stage_tell(&s);
    double last = s.proxy.position.z, largest = 0;
    for (int i = 0; i < 200; i++) {
        stage_tick(&s, (vec3){0, 0, -0.003});
        largest = fmax(largest, fabs(s.proxy.position.z - last));
        last = s.proxy.position.z;
    }

    assert_near(last, 0.001, 1e-9);
    assert_true(largest <= 0.00011); /* 1 mm with a time constant of 10 ms */
    assert_false(s.proxy.touch.was_teleported);
}

static void teleported_bodies_wait_until_the_tool_is_out(void **state)
{
    (void)state;
    for (int by_flag = 0; by_flag < 2; by_flag++) {
        stage s;
        stage_init(&s, 0.001);
        frame_body *b = stage_add(&s, (shape){.kind = SHAPE_SPHERE, .radius = 0.01},
                                  (pose){quat_identity(), {0.1, 0, 0}});
        stage_tell(&s);
        stage_drag(&s, (vec3){0.01, 0, 0}, (vec3){0, 0, 0});

        b->world_from_body.origin = (vec3){by_flag ? 0.009 : 0.004, 0, 0};
        b->flags = by_flag ? FRAME_BODY_TELEPORTED : 0;
        stage_tell(&s);
        b->flags = 0;
        for (int i = 0; i < 100; i++) {
            stage_tick(&s, (vec3){0, 0, 0});
            assert_int_equal(s.proxy.touch.count, 0);
            assert_vec3_near(s.proxy.position, ((vec3){0, 0, 0}), 0);
            assert_true(s.proxy.touch.was_teleported);
            stage_tell(&s);
        }

        /* Out and in again: now it is a body like any other. */
        stage_drag(&s, (vec3){0, 0, 0}, (vec3){-0.02, 0, 0});
        assert_false(s.proxy.touch.was_teleported);
        stage_drag(&s, (vec3){-0.02, 0, 0}, (vec3){0, 0, 0});
        assert_int_equal(s.proxy.touch.count, 1);
    }
}

static void bodies_come_and_go(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 0);
    const shape ball = {.kind = SHAPE_SPHERE, .radius = 0.005};
    for (int i = 0; i < 3; i++)
        stage_add(&s, ball, (pose){quat_identity(), {0.02 * i, 0, 0}});
    stage_tell(&s);
    stage_drag(&s, (vec3){0.04, 0, 0.01}, (vec3){0.04, 0, 0.003});
    assert_int_equal(s.proxy.bodies[s.proxy.touch.body].key, 3);

    /* The first goes: the touched one keeps its contact though it changes place in the table. */
    s.frame.bodies[0] = s.frame.bodies[2];
    s.frame.body_count = 2;
    stage_tell(&s);
    stage_tick(&s, (vec3){0.04, 0, 0.003});
    assert_int_equal(s.proxy.body_count, 2);
    assert_int_equal(s.proxy.bodies[s.proxy.touch.body].key, 3);
    assert_vec3_near(s.proxy.position, ((vec3){0.04, 0, 0.005}), 1e-7);

    /* The touched one goes: the proxy is free at once. */
    s.frame.body_count = 0;
    stage_tell(&s);
    stage_tick(&s, (vec3){0.04, 0, 0.003});
    assert_int_equal(s.proxy.touch.count, 0);
    assert_vec3_near(s.proxy.position, ((vec3){0.04, 0, 0.003}), 0);

    /* What cannot be rendered is refused. */
    s.frame.body_count = 2;
    s.frame.bodies[0].shape = 99;
    s.frame.bodies[1].velocity.angular.x = (double)NAN;
    assert_int_equal(proxy_frame(&s.proxy, &s.frame), 2);
    assert_int_equal(s.proxy.body_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_scenes_are_never_entered),
        cmocka_unit_test(corner_holds_the_proxy),
        cmocka_unit_test(friction_carries_the_proxy_with_its_body),
        cmocka_unit_test(corrections_make_no_step),
        cmocka_unit_test(teleported_bodies_wait_until_the_tool_is_out),
        cmocka_unit_test(bodies_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
