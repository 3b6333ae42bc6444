#include "tests/test.h"

#include <string.h>

#include "devices/falcon/host.h"
#include "devices/falcon/link.h"
#include "tests/emulated/falcon_arms.h"
#include "tests/emulated/model_transport.h"

static falcon_firmware firmware;
static falcon_model model;
static model_transport transport;
static falcon_link connection;

static const int64_t ms = 1000000;

static void make_firmware(void)
{
    static uint8_t bytes[8492];
    hr_error error = {""};
    int size = model_make_firmware(bytes, sizeof bytes, 5);
    assert_int_equal(falcon_firmware_check(bytes, (size_t)size, "made.bin", &firmware, &error),
                     HR_OK);
}

static void start(const model_faults *faults, uint64_t seed)
{
    if (firmware.size == 0)
        make_firmware();
    falcon_link_settings settings = falcon_link_settings_default();
    model_init(&model, faults, NULL, seed);
    model_transport_init(&transport, &model, 1000 * ms);
    falcon_link_init(&connection, &transport.base, &settings, &firmware, NULL);
}

/* Runs until the time, or until the link is homed where asked for. */
static void run_until(int64_t end_ns, bool until_homed)
{
    while (transport.now_ns < end_ns) {
        int64_t next = falcon_link_step(&connection);
        if (until_homed && (falcon_link_is_homed(&connection) || connection.has_given_up))
            return;
        transport.base.calls->wait(&transport.base, next);
    }
}

static void a_healthy_falcon_is_uploaded_homed_and_exchanges(void **state)
{
    (void)state;
    start(&(model_faults){0}, 1);

    run_until(20000 * ms, true);

    assert_true(falcon_link_is_homed(&connection));
    assert_int_equal(model.uploads, 1);
    assert_int_equal(model.image_size, firmware.size);
    assert_memory_equal(model.image, firmware.bytes, firmware.size);
    int64_t from = transport.now_ns;
    uint64_t before = connection.counts.reports;
    run_until(from + 1000 * ms, false);
    /* one exchange per latency tick of 1 ms; the model's clock has steps of 250 us */
    assert_true(connection.counts.reports - before >= 790);
    assert_int_equal(connection.counts.lost, 0);
    assert_int_equal(connection.counts.garbage, 0);
    falcon_link_close(&connection);
}

static void firmware_that_runs_already_is_not_sent_again(void **state)
{
    (void)state;
    start(&(model_faults){0}, 2);
    run_until(20000 * ms, true);
    falcon_link_close(&connection);
    falcon_link_settings settings = falcon_link_settings_default();

    falcon_link_init(&connection, &transport.base, &settings, NULL, "none was found");
    run_until(transport.now_ns + 5000 * ms, true);

    assert_true(falcon_link_is_homed(&connection));
    assert_int_equal(model.uploads, 1);
}

static void every_single_fault_ends_homed_or_with_its_cause(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        model_faults faults;
        bool is_homed;
        const char *cause; /* part of it */
    } cases[] = {
        {"stale bytes", {.has_stale_bytes = true}, true, ""},
        {"greets once", {.greets_once = true}, true, ""},
        {"leading zero", {.greets_with_zero = true}, true, ""},
        {"greetings lost", {.greeting_lost = 0.8}, true, ""},
        {"wrong echo", {.echo_wrong = 1e-4}, true, ""},
        {"every echo wrong", {.echo_wrong = 1}, false, "the echo of byte"},
        {"echo lost", {.echo_lost = 1}, false, "no echo of byte 0"},
        {"no wall supply", {.is_unpowered = true}, false, "wall supply"},
        {"busy", {.refused_opens = 3}, true, ""},
        {"always busy", {.refused_opens = 1000}, false, "another program"},
        {"not plugged in", {.unplug_at = 1e-9}, false, "no Falcon is plugged in"},
        {"requests refused", {.control_fails = 0.02}, true, ""},
        {"runts", {.report_runt = 0.2}, true, ""},
        {"garbage", {.report_garbage = 0.2}, true, ""},
        {"losses", {.report_lost = 0.3}, true, ""},
        {"late", {.report_late = 0.3}, true, ""},
        {"stalls", {.in_stalls = 0.2}, true, ""},
        {"hangs for a second", {.hang_at = 0.3, .hang_for = 1}, true, ""},
        {"unplugged for a second", {.unplug_at = 0.5, .replug_at = 1.5}, true, ""},
    };
    for (int i = 0; i < HR_COUNT(cases); i++) {
        start(&cases[i].faults, (uint64_t)i + 10);
        run_until(90000 * ms, true);
        print_message("%-24s %s after %.2f s, %d attempts: %s\n", cases[i].name,
                      falcon_link_is_homed(&connection) ? "homed" : "not homed",
                      (double)(transport.now_ns - 1000 * ms) / 1e9, (int)connection.counts.attempts,
                      connection.cause);
        assert_int_equal(falcon_link_is_homed(&connection), cases[i].is_homed);
        if (!cases[i].is_homed) {
            assert_true(connection.has_given_up);
            assert_non_null(strstr(connection.cause, cases[i].cause));
        }
        assert_int_equal(model.pushes_before_homing, 0);
        assert_int_equal(model.motor_largest, 0);
    }
}

static model_faults random_faults(test_random *r)
{
    model_faults f = {0};
    double *probabilities[] = {&f.greeting_lost,  &f.report_lost,   &f.report_runt, &f.report_late,
                               &f.report_garbage, &f.control_fails, &f.in_stalls};
    for (int i = 0; i < HR_COUNT(probabilities); i++)
        if (test_random_index(r, 3) == 0)
            *probabilities[i] = test_random_between(r, 0, i == 5 ? 0.05 : 0.4);
    if (test_random_index(r, 5) == 0) {
        f.hang_at = test_random_between(r, 0.01, 4);
        f.hang_for = test_random_between(r, 0.01, 2);
    }
    if (test_random_index(r, 4) == 0)
        f.echo_wrong = test_random_between(r, 0, 2e-4);
    if (test_random_index(r, 4) == 0)
        f.echo_lost = test_random_between(r, 0, 2e-4);
    f.has_stale_bytes = test_random_index(r, 2) == 0;
    f.greets_once = test_random_index(r, 3) == 0;
    f.greets_with_zero = test_random_index(r, 2) == 0;
    f.is_unpowered = test_random_index(r, 20) == 0;
    f.loses_firmware = test_random_index(r, 2) == 0;
    f.refused_opens = test_random_index(r, 4) == 0 ? test_random_index(r, 6) : 0;
    if (test_random_index(r, 4) == 0) {
        f.unplug_at = test_random_between(r, 0.01, 4);
        f.replug_at = f.unplug_at + test_random_between(r, 0.05, 2);
    }
    return f;
}

/* Wherever the servo writes a force, motors stay at zero unless homed, running and enabled. */
static void a_thousand_cold_starts_reach_force_or_name_the_cause(void **state)
{
    (void)state;
    test_random r = test_random_seed(2026);
    int ready = 0;
    int named = 0;
    for (int n = 0; n < test_effort(1000); n++) {
        uint64_t seed = test_random_u64(&r);
        model_faults faults = random_faults(&r);
        start(&faults, seed);
        int64_t end = transport.now_ns + 120000 * ms;
        bool is_done = false;
        while (!is_done && transport.now_ns < end) {
            int64_t next = falcon_link_step(&connection);
            /* a client that pushes from the first moment */
            connection.command = (falcon_link_command){.values = {500, -500, 500},
                                                       .is_enabled = true,
                                                       .deadline_ns = transport.now_ns + 20 * ms};
            is_done = connection.has_given_up ||
                      (falcon_link_is_homed(&connection) && model.motors[0] == 500);
            transport.base.calls->wait(&transport.base, next);
        }
        if (!is_done)
            print_error("start %d with seed %llu hangs: %s, %s\n", n, (unsigned long long)seed,
                        falcon_state_text(connection.state), connection.cause);
        assert_true(is_done);
        assert_int_equal(model.pushes_before_homing, 0);
        if (connection.has_given_up) {
            assert_true(connection.cause[0] != '\0');
            for (int i = 0; i < 3; i++)
                assert_int_equal(model.motors[i], 0);
            named++;
        } else {
            ready++;
        }
        falcon_link_close(&connection);
        for (int i = 0; i < 3; i++)
            assert_int_equal(connection.sent_values[i], 0);
    }
    print_message("%d force-ready, %d with a named cause\n", ready, named);
    assert_true(ready > named);
}

static void a_unit_that_is_pulled_out_comes_back_ten_times(void **state)
{
    (void)state;
    for (int loses = 0; loses < 2; loses++) {
        start(&(model_faults){.unplug_every = 6, .unplug_for = 0.5, .loses_firmware = loses == 1},
              3);
        int times = 0;
        bool was_homed = false;
        while (transport.now_ns < 70000 * ms) {
            int64_t next = falcon_link_step(&connection);
            bool is_homed = falcon_link_is_homed(&connection);
            if (was_homed && !is_homed)
                assert_false(connection.command.is_enabled); /* back only with forces off */
            times += !was_homed && is_homed;
            if (is_homed)
                connection.command =
                    (falcon_link_command){.values = {100, 100, 100},
                                          .is_enabled = true,
                                          .deadline_ns = transport.now_ns + 20 * ms};
            was_homed = is_homed;
            transport.base.calls->wait(&transport.base, next);
        }
        assert_true(times >= 11);
        assert_int_equal(model.pushes_before_homing, 0);
        assert_int_equal(connection.counts.losses, model.unplugs);
    }
}

/* Somebody needs the cable for longer than all attempts take: attempts are counted for the first
 * start only. */
static void a_unit_that_ran_once_is_waited_for_without_end(void **state)
{
    (void)state;
    start(&(model_faults){.unplug_at = 10, .replug_at = 110, .loses_firmware = true}, 5);
    run_until(20000 * ms, true);
    assert_true(falcon_link_is_homed(&connection));

    run_until(100000 * ms, false);
    assert_false(connection.has_given_up);
    assert_false(falcon_link_is_homed(&connection));
    run_until(130000 * ms, true);

    assert_true(falcon_link_is_homed(&connection));
    assert_int_equal(connection.counts.losses, 1);
}

static void a_force_is_not_held_beyond_its_deadline(void **state)
{
    (void)state;
    start(&(model_faults){0}, 4);
    run_until(20000 * ms, true);
    int64_t deadline = transport.now_ns + 10 * ms;
    connection.command = (falcon_link_command){
        .values = {300, 300, 300}, .is_enabled = true, .deadline_ns = deadline};

    run_until(deadline - ms, false);
    assert_int_equal(model.motors[0], 300);
    run_until(deadline + 4 * ms, false);

    assert_int_equal(model.motors[0], 0);
}

/* The whole chain of force: base-frame force, our kinematics, packet, wire, the emulator's own
 * geometry. Motor values are whole numbers: half a unit of 10 000 per N m is allowed for as well.
 */
static void forces_arrive_within_a_percent(void **state)
{
    (void)state;
    test_random r = test_random_seed(77);
    falcon_calibration calibration = falcon_calibration_default();
    falcon_host host;
    falcon_host_init(&host, &calibration);
    double worst = 0;
    double worst_angle = 0;
    int saturated = 0;
    for (int n = 0; n < test_effort(100000); n++) {
        double radius = 0.045 * sqrt(test_random_between(&r, 0, 1));
        double angle = test_random_between(&r, -M_PI, M_PI);
        vec3 p = falcon_clamp_to_workspace((vec3){radius * cos(angle), radius * sin(angle),
                                                  test_random_between(&r, 0.075, 0.170)});
        double angles[3];
        falcon_report report = {.homed = 7};
        assert_true(arms_angles(p, angles));
        for (int i = 0; i < 3; i++)
            report.counts[i] = (int16_t)arms_counts(angles[i]);
        device_sample sample;
        host.is_enabled = host.is_armed = true;
        assert_int_equal(falcon_host_report(&host, n * ms, &report, &sample), HR_OK);
        assert_vec3_near(host.tracker.position, p,
                         150e-6); /* half a count each arm, worst near the rim */

        vec3 unit = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0});
        double size = test_random_between(&r, 1, 12);
        int16_t values[3];
        assert_int_equal(falcon_host_force(&host, vec3_scale(size, unit), values), HR_OK);
        uint8_t packet[FALCON_PACKET];
        int16_t decoded[3];
        uint8_t flags;
        falcon_encode_command(values, 0, packet);
        assert_true(falcon_decode_command(packet, decoded, &flags));
        double torque[3] = {-decoded[0] / 1e4, -decoded[1] / 1e4, -decoded[2] / 1e4};
        vec3 made;
        assert_true(arms_force(p, torque, &made));
        made = falcon_to_base_direction(made);
        double sine = vec3_length(vec3_cross(vec3_normalize_or(made, unit), unit));
        worst_angle = fmax(worst_angle, sine);
        saturated += host.is_saturated;
        if (!host.is_saturated)
            worst = fmax(worst, fabs(vec3_length(made) - size) / size);
        else
            assert_true(vec3_length(made) < size + 0.02);
    }
    print_message("largest error of force %.2e, of direction %.2e; %d saturated\n", worst,
                  worst_angle, saturated);
    assert_true(worst < 0.01);
    assert_true(worst_angle < 0.01);
    assert_true(saturated > 0);
}

static uint8_t lights_of(const falcon_model *m)
{
    return m->flags & (FALCON_LED_RED | FALCON_LED_GREEN | FALCON_LED_BLUE);
}

/* Red until homed, blue while forces are off, green while they are on, or what the command asks
 * for.
 */
static void lights_tell_the_state(void **state)
{
    (void)state;
    start(&(model_faults){0}, 6);
    bool was_red = false;
    while (!falcon_link_is_homed(&connection) && transport.now_ns < 20000 * ms) {
        transport.base.calls->wait(&transport.base, falcon_link_step(&connection));
        was_red |= connection.state == FALCON_RUNNING && lights_of(&model) == FALCON_LED_RED;
        assert_true(model.commands == 0 || lights_of(&model) == FALCON_LED_RED ||
                    falcon_link_is_homed(&connection));
    }
    assert_true(was_red);
    run_until(transport.now_ns + 5 * ms, false);
    assert_int_equal(lights_of(&model), FALCON_LED_BLUE);
    connection.command = (falcon_link_command){.is_enabled = true};
    run_until(transport.now_ns + 5 * ms, false);
    assert_int_equal(lights_of(&model), FALCON_LED_GREEN);
    connection.command.leds = 1 | 4;
    run_until(transport.now_ns + 5 * ms, false);
    assert_int_equal(lights_of(&model), FALCON_LED_RED | FALCON_LED_BLUE);
    assert_int_equal(model.flags & FALCON_HOMING, FALCON_HOMING);
    falcon_link_close(&connection);
}

/* Units that differ from what most sources say: other bits, another block size, the homing bit
 * cleared after homing. */
static void bits_and_sizes_are_settings(void **state)
{
    (void)state;
    start(&(model_faults){0}, 7);
    connection.settings.led_red = 2;
    connection.settings.led_green = 4;
    connection.settings.led_blue = 8;
    connection.settings.keeps_homing_bit = false;
    connection.settings.block_size = 128;
    connection.settings.has_event_character = true;
    run_until(20000 * ms, true);
    assert_true(falcon_link_is_homed(&connection));
    run_until(transport.now_ns + 5 * ms, false);
    assert_int_equal(model.flags, 8);
    assert_int_equal(model.uploads, 1);
    assert_true(model.has_event_character);

    start(&(model_faults){0},
          8); /* the bit of a source that is wrong for this model: never homes */
    connection.settings.homing_bit = 0x10;
    run_until(20000 * ms, true);
    assert_false(falcon_link_is_homed(&connection));
    assert_int_equal(connection.state, FALCON_RUNNING);
}

static void run_for(double seconds)
{
    run_until(transport.now_ns + (int64_t)(seconds * 1e9), false);
}

static void a_link_that_grows_bad_says_how(void **state)
{
    (void)state;
    char text[120];
    start(&(model_faults){0}, 9);
    run_until(20000 * ms, true);
    run_for(1);
    falcon_link_health(&connection, text, sizeof text);
    assert_string_equal(text, "");

    model.latency_ms = 16; /* what a forgotten latency timer does */
    run_for(2);
    falcon_link_health(&connection, text, sizeof text);
    assert_non_null(strstr(text, "slow: round trips have grown"));
    assert_true(connection.counts.slow > 0);
    model.latency_ms = 1;
    model.faults.report_lost = 0.2;
    run_for(10);
    falcon_link_health(&connection, text, sizeof text);
    assert_non_null(strstr(text, "5 % of the exchanges are lost"));
    assert_true(connection.counts.lost > 0);
    model.faults.report_lost = 0;
    model.faults.report_runt = 0.2;
    run_for(10);
    model.faults.report_runt = 0;
    model.faults.report_garbage = 0.2;
    run_for(5);
    falcon_link_health(&connection, text, sizeof text);
    assert_non_null(strstr(text, "5 % of the reports come broken"));
    model.faults.report_garbage = 0;
    run_for(5);
    falcon_link_health(&connection, text, sizeof text);
    assert_string_equal(text, "");
    assert_true(falcon_link_is_homed(&connection));
}

static void the_two_geometries_agree(void **state)
{
    (void)state;
    test_random r = test_random_seed(78);
    falcon_geometry g = falcon_geometry_default();
    for (int n = 0; n < 10000; n++) {
        vec3 p = falcon_clamp_to_workspace((vec3){test_random_between(&r, -0.04, 0.04),
                                                  test_random_between(&r, -0.04, 0.04),
                                                  test_random_between(&r, 0.075, 0.170)});
        double angles[3];
        double rows[3][3];
        falcon_angles ours;
        mat3 j;
        assert_true(arms_angles(p, angles) && arms_jacobian(p, rows));
        assert_int_equal(falcon_inverse(&g, p, &ours), HR_OK);
        assert_int_equal(falcon_jacobian(&g, p, &ours, &j), HR_OK);
        for (int i = 0; i < 3; i++) {
            assert_near(ours.arm[i], angles[i], 1e-12);
            for (int c = 0; c < 3; c++)
                assert_close(j.m[i][c], rows[i][c], 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_falcon_is_uploaded_homed_and_exchanges),
        cmocka_unit_test(firmware_that_runs_already_is_not_sent_again),
        cmocka_unit_test(every_single_fault_ends_homed_or_with_its_cause),
        cmocka_unit_test(a_thousand_cold_starts_reach_force_or_name_the_cause),
        cmocka_unit_test(a_unit_that_is_pulled_out_comes_back_ten_times),
        cmocka_unit_test(a_unit_that_ran_once_is_waited_for_without_end),
        cmocka_unit_test(a_force_is_not_held_beyond_its_deadline),
        cmocka_unit_test(forces_arrive_within_a_percent),
        cmocka_unit_test(lights_tell_the_state),
        cmocka_unit_test(bits_and_sizes_are_settings),
        cmocka_unit_test(a_link_that_grows_bad_says_how),
        cmocka_unit_test(the_two_geometries_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
