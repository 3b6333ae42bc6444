/* The whole way from a device sample to a force, in lockstep. */
#include "tests/test.h"

#include "tests/support/rig.h"

static void plane_pushes_back_with_its_stiffness(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_PLANE);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});

    for (int i = 0; i <= 1000; i++)
        rig_tick(&r, (vec3){0, 0, 0.01 - 0.012 * i / 1000.0});
    for (int i = 0; i < 50; i++)
        rig_tick(&r, (vec3){0, 0, -0.002});

    assert_vec3_near(r.record.proxy, ((vec3){0, 0, 0}), 1e-9);
    assert_vec3_near(r.record.force, ((vec3){0, 0, 1500 * 0.002}), 1e-6); /* k times depth */
    assert_int_equal(r.record.reasons, 0);
    assert_int_equal(r.record.contact_count, 1);
    assert_near(r.record.gap, -0.002, 1e-9);
    rig_stop(&r);
}

static void sphere_pushes_along_its_radius(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_SPHERE)->radius_m = 0.024;
    r.settings.coupling.tool_radius_m = 0.002;
    rig_start(&r);
    vec3 u = vec3_normalize_or((vec3){1, 2, 3}, (vec3){1, 0, 0});
    rig_open_gate(&r, vec3_scale(0.035, u));

    for (int i = 0; i <= 1000; i++)
        rig_tick(&r, vec3_scale(0.035 - 0.011 * i / 1000.0, u));
    for (int i = 0; i < 50; i++)
        rig_tick(&r, vec3_scale(0.024, u));

    assert_vec3_near(r.record.proxy, vec3_scale(0.026, u), 1e-8);
    assert_vec3_near(r.record.force, vec3_scale(3.0, u), 1e-4); /* 2 mm at 1500 N/m */
    rig_stop(&r);
}

/* A replay is a second hand that gets the same inputs: every result must be the same to the bit. */
static void the_same_inputs_give_the_same_bits(void **state)
{
    (void)state;
    test_random r = test_random_seed(51);
    rig a, b;
    rig *both[2] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        rig_init(both[k]);
        scene_body *floor = rig_body(both[k], SCENE_PLANE);
        floor->material.static_friction = 0.5;
        floor->material.kinetic_friction = 0.3;
        scene_body *ball = rig_body(both[k], SCENE_ELLIPSOID);
        ball->half_size_m = (vec3){0.01, 0.015, 0.008};
        ball->motion = SCENE_OSCILLATE;
        ball->amplitude_m = (vec3){0.005, 0, 0.003};
        ball->turn_rad = (vec3){0.3, 0.2, 0};
        ball->frequency_hz = 1.3;
        rig_start(both[k]);
    }
    int touched = 0;
    vec3 at = {0, 0, 0.03}, to = at;
    for (int i = 0; i < test_effort(20000); i++) {
        if (i % 100 == 0)
            to = vec3_add(test_random_vec3(&r, 0.02), (vec3){0, 0, 0.008});
        at = vec3_lerp(at, to, 0.02);
        for (int k = 0; k < 2; k++)
            rig_tick(both[k], at);
        touched += a.record.contact_count > 0;
        assert_memory_equal(&a.record, &b.record, sizeof a.record);
        assert_memory_equal(&a.tool, &b.tool, sizeof a.tool);
    }
    assert_true(touched > test_effort(20000) / 20);
    rig_stop(&a);
    rig_stop(&b);
}

/* With twice the scale the scene is twice as large and the felt stiffness is capped at the
 * device, not in the scene. */
static void scale_keeps_the_felt_stiffness_bounded(void **state)
{
    (void)state;
    for (int is_capped = 0; is_capped < 2; is_capped++) {
        rig r;
        rig_init(&r);
        rig_body(&r, SCENE_PLANE);
        r.settings.coupling.scale = 2;
        r.settings.coupling.stiffness_n_per_m = is_capped ? 2000 : 5000;
        r.settings.coupling.scene_from_base_m = (vec3){0, 0, 0.01};
        rig_start(&r);
        rig_open_gate(&r, (vec3){0, 0, 0.005});
        for (int i = 0; i <= 1000; i++)
            rig_tick(&r, (vec3){0, 0, 0.005 - 0.011 * i / 1000.0});
        for (int i = 0; i < 50; i++)
            rig_tick(&r, (vec3){0, 0, -0.006});

        /* 6 mm below the middle is 2 mm below the plane in the scene, 1 mm at the device. */
        assert_vec3_near(r.record.tool, ((vec3){0, 0, -0.002}), 1e-12);
        assert_near(r.record.force.z, is_capped ? 2.0 : 3.0, 1e-6);
        rig_stop(&r);
    }
}

static void parameters_and_commands_are_obeyed(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_PLANE);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});
    for (int i = 0; i <= 500; i++)
        rig_tick(&r, (vec3){0, 0, 0.01 - 0.012 * i / 500.0});

    servo_command set = {.kind = COMMAND_SET, .key = PARAMETER_STIFFNESS, .values = {500}};
    rig_command(&r, set);
    for (int i = 0; i < 50; i++)
        rig_tick(&r, (vec3){0, 0, -0.002});
    assert_near(r.record.force.z, 1.0, 1e-6);

    set = (servo_command){.kind = COMMAND_SET, .key = PARAMETER_MAX_FORCE, .values = {0.4}};
    rig_command(&r, set);
    rig_tick(&r, (vec3){0, 0, -0.002});
    assert_near(r.record.force.z, 0.4, 1e-12);
    assert_true(r.record.reasons & REASON_CLAMP);

    /* It cannot be raised above what the device and the settings allow. */
    set.values[0] = 1000;
    rig_command(&r, set);
    set = (servo_command){.kind = COMMAND_SET, .key = PARAMETER_STIFFNESS, .values = {1e5}};
    rig_command(&r, set);
    for (int i = 0; i < 50; i++) {
        rig_tick(&r, (vec3){0, 0, -0.010});
        assert_true(vec3_length(r.record.force) <= 8);
    }
    rig_stop(&r);
}

/* A client's force goes through the same safety, only with the lease, only until its deadline. */
static void client_needs_the_lease(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});
    servo_command push = {.kind = COMMAND_CLIENT_FORCE, .client = 3, .values = {1, 0, 0}};
    rig_command(&r, push);
    rig_tick(&r, (vec3){0, 0, 0.01});
    assert_true(vec3_length(r.record.force) == 0);

    rig_command(&r, (servo_command){.kind = COMMAND_LEASE, .client = 3, .values = {1}});
    push.deadline_ns = r.record.time_ns + 10500000;
    rig_command(&r, push);
    servo_command other = {.kind = COMMAND_CLIENT_FORCE, .client = 4, .values = {0, 5, 0}};
    rig_command(&r, other);
    for (int i = 0; i < 10; i++) {
        rig_tick(&r, (vec3){0, 0, 0.01});
        assert_vec3_near(r.record.force, ((vec3){1, 0, 0}), 1e-12);
        assert_int_equal(r.record.reasons, 0);
    }
    double last = 1;
    for (int i = 0; i < 51; i++) { /* past the deadline: 50 ms of fading */
        rig_tick(&r, (vec3){0, 0, 0.01});
        assert_true(r.record.force.x < last);
        last = r.record.force.x;
        if (last == 0)
            break;
        assert_true(r.record.reasons & REASON_CLIENT);
    }
    assert_true(last == 0);
    rig_stop(&r);
}

/* The desk gave the lease to another: the first one's force fades from that tick on, and its
 * further wishes count for nothing. */
static void a_new_lease_ends_the_force_of_the_one_before(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});
    rig_command(&r, (servo_command){.kind = COMMAND_LEASE, .client = 3, .values = {1}});
    servo_command first = {.kind = COMMAND_CLIENT_FORCE, .client = 3, .values = {1, 0, 0}};
    servo_command second = {.kind = COMMAND_CLIENT_FORCE, .client = 4, .values = {0, 1, 0}};
    rig_command(&r, first);
    rig_tick(&r, (vec3){0, 0, 0.01});
    assert_vec3_near(r.record.force, ((vec3){1, 0, 0}), 1e-12);

    rig_command(&r, (servo_command){.kind = COMMAND_LEASE, .client = 4, .values = {1}});
    rig_command(&r, first);
    rig_tick(&r, (vec3){0, 0, 0.01});
    assert_true(r.record.force.x < 1);
    assert_true(r.record.reasons & REASON_CLIENT);
    rig_command(&r, second);
    rig_tick(&r, (vec3){0, 0, 0.01});
    assert_vec3_near(r.record.force, ((vec3){0, 1, 0}), 1e-12);
    rig_stop(&r);
}

/* A client that asks for what is no number is not believed any more: its force fades at once. */
static void a_force_that_is_no_number_ends_the_clients_force(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});
    rig_command(&r, (servo_command){.kind = COMMAND_LEASE, .client = 3, .values = {1}});
    servo_command push = {.kind = COMMAND_CLIENT_FORCE, .client = 3, .values = {1, 0, 0}};
    rig_command(&r, push);
    rig_tick(&r, (vec3){0, 0, 0.01});

    push.values[1] = (double)NAN;
    rig_command(&r, push);
    rig_tick(&r, (vec3){0, 0, 0.01});
    assert_true(r.record.force.x < 1);
    assert_int_equal(r.record.reasons, REASON_NOT_FINITE | REASON_CLIENT);
    for (int i = 0; i < 51; i++)
        rig_tick(&r, (vec3){0, 0, 0.01});
    assert_true(vec3_length(r.record.force) == 0);
    rig_stop(&r);
}

/* The button stops at once, also when it is let go again, until somebody arms. */
static void the_estop_button_of_the_device_stops_it(void **state)
{
    (void)state;
    rig *r = calloc(1, sizeof *r);
    rig_init(r);
    r->settings.safety.estop_button = 1;
    (void)rig_body(r, SCENE_PLANE);
    rig_start(r);
    rig_open_gate(r, (vec3){0, 0, 0.01});
    for (int i = 0; i < 300; i++)
        rig_tick(r, (vec3){0, 0, 0.01 - 4e-5 * i});
    assert_true(vec3_length(r->record.force) > 1);

    rig_prepare(r, (vec3){0, 0, -0.002});
    r->record.sample.buttons = 1u << 1;
    r->record.sample.valid |= DEVICE_HAS_BUTTONS;
    rig_run(r);
    assert_near(vec3_length(r->record.force), 0, 0);
    assert_true(r->record.reasons & REASON_ESTOP);
    for (int i = 0; i < 50; i++)
        rig_tick(r, (vec3){0, 0, -0.002});
    assert_near(vec3_length(r->record.force), 0, 0);

    rig_stop(r);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_pushes_back_with_its_stiffness),
        cmocka_unit_test(sphere_pushes_along_its_radius),
        cmocka_unit_test(the_same_inputs_give_the_same_bits),
        cmocka_unit_test(scale_keeps_the_felt_stiffness_bounded),
        cmocka_unit_test(parameters_and_commands_are_obeyed),
        cmocka_unit_test(client_needs_the_lease),
        cmocka_unit_test(a_new_lease_ends_the_force_of_the_one_before),
        cmocka_unit_test(a_force_that_is_no_number_ends_the_clients_force),
        cmocka_unit_test(the_estop_button_of_the_device_stops_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
