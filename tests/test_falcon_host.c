#include "tests/test.h"

#include "devices/falcon/host.h"
#include "tests/emulated/falcon_arms.h"

static const int64_t ms = 1000000;

static falcon_report at(vec3 p)
{
    falcon_report report = {.homed = 7};
    double angles[3];
    assert_true(arms_angles(p, angles));
    for (int i = 0; i < 3; i++)
        report.counts[i] = (int16_t)arms_counts(angles[i]);
    return report;
}

static void start(falcon_host *h, double arm_depth)
{
    falcon_calibration c = falcon_calibration_default();
    c.arm_depth = arm_depth;
    falcon_host_init(h, &c);
    h->is_enabled = true;
}

/* Before homing counts mean nothing: no position, no force; the first homed report is a jump. */
static void nothing_is_known_before_homing(void **state)
{
    (void)state;
    falcon_host h;
    device_sample s = {0};
    int16_t values[3];
    start(&h, 0);
    falcon_report report = at((vec3){0, 0, 0.12});
    report.homed = 3;
    assert_int_equal(falcon_host_report(&h, ms, &report, &s), HR_OK);
    assert_false(s.valid & (DEVICE_HAS_POSITION | DEVICE_HAS_VELOCITY));
    assert_true(s.valid & DEVICE_HAS_BUTTONS);
    assert_int_equal(falcon_host_force(&h, (vec3){1, 0, 0}, values), HR_ERR_DISABLED);
    assert_true(values[0] == 0 && values[1] == 0 && values[2] == 0);

    report.homed = 7;
    assert_int_equal(falcon_host_report(&h, 2 * ms, &report, &s), HR_OK);
    assert_true(s.flags & DEVICE_HAS_JUMPED);
    assert_true(vec3_length(s.velocity) == 0);
    assert_int_equal(falcon_host_force(&h, (vec3){1, 0, 0}, values), HR_OK);
    assert_true(values[0] != 0);
}

/* "Pull out to arm", where the calibration asks for it. */
static void forces_may_wait_until_the_grip_was_pulled_out(void **state)
{
    (void)state;
    falcon_host h;
    device_sample s = {0};
    int16_t values[3];
    start(&h, 0.155);
    falcon_report in = at((vec3){0, 0, 0.12});
    falcon_report out = at((vec3){0, 0, 0.157});
    (void)!falcon_host_report(&h, ms, &in, &s);
    assert_int_equal(falcon_host_force(&h, (vec3){1, 0, 0}, values), HR_ERR_DISABLED);
    (void)!falcon_host_report(&h, 200 * ms, &out, &s);
    (void)!falcon_host_report(&h, 400 * ms, &in, &s);
    assert_int_equal(falcon_host_force(&h, (vec3){1, 0, 0}, values), HR_OK);
}

/* Moves at 0.2 m/s along y, then the encoders stand still from one report to the next. */
static void encoders_that_freeze_in_motion_are_seen(void **state)
{
    (void)state;
    falcon_host h;
    device_sample s = {0};
    start(&h, 0);
    falcon_report report = at((vec3){0, 0, 0.12});
    int n = 0;
    for (; n < 100; n++) {
        report = at((vec3){0, -0.01 + 0.2e-3 * n, 0.12});
        assert_int_equal(falcon_host_report(&h, n * ms, &report, &s), HR_OK);
        assert_false(s.flags & DEVICE_IS_FROZEN);
    }
    int frozen_after = 0;
    for (; n < 160 && !frozen_after; n++) {
        assert_int_equal(falcon_host_report(&h, n * ms, &report, &s), HR_OK);
        frozen_after = s.flags & DEVICE_IS_FROZEN ? n - 99 : 0;
    }
    assert_true(frozen_after >= 20 && frozen_after <= 21);
    report = at((vec3){0, 0.011, 0.12}); /* alive again */
    assert_int_equal(falcon_host_report(&h, n * ms, &report, &s), HR_OK);
    assert_false(s.flags & DEVICE_IS_FROZEN);
}

/* A resting hand gives the same counts for as long as it likes; only a force that changes and moves
 * nothing tells it from dead encoders. */
static void a_resting_hand_is_not_taken_for_dead_encoders(void **state)
{
    (void)state;
    falcon_host h;
    device_sample s = {0};
    int16_t values[3];
    start(&h, 0);
    falcon_report report = at((vec3){0, 0, 0.12});
    int n = 0;
    for (; n < 5000; n++) {
        assert_int_equal(falcon_host_report(&h, n * ms, &report, &s), HR_OK);
        assert_false(s.flags & DEVICE_IS_FROZEN);
        assert_int_equal(falcon_host_force(&h, (vec3){0.3, 0, 0}, values), HR_OK);
    }
    bool is_frozen = false;
    for (; n < 6000; n++) {
        assert_int_equal(falcon_host_force(&h, (vec3){2, 0, 0}, values), HR_OK);
        assert_int_equal(falcon_host_report(&h, n * ms, &report, &s), HR_OK);
        is_frozen |= (s.flags & DEVICE_IS_FROZEN) != 0;
    }
    assert_true(is_frozen);
}

/* Counts that fit no position: the sample stays as it was, the report is counted. */
static void impossible_counts_leave_the_last_pose(void **state)
{
    (void)state;
    falcon_host h;
    device_sample s = {0};
    start(&h, 0);
    falcon_report good = at((vec3){0.01, 0.02, 0.13});
    falcon_report bad = {.homed = 7, .counts = {30000, -30000, 12345}};
    assert_int_equal(falcon_host_report(&h, ms, &good, &s), HR_OK);
    device_sample before = s;
    assert_int_equal(falcon_host_report(&h, 2 * ms, &bad, &s), HR_ERR_PROTOCOL);
    assert_memory_equal(&before, &s, sizeof s);
    assert_int_equal(h.unreachable, 1);
}

/* Calibration: motor gain arm by arm, angle offsets, the origin. */
static void calibration_is_applied(void **state)
{
    (void)state;
    falcon_host plain;
    falcon_host own;
    device_sample s[2] = {{0}, {0}};
    int16_t values[2][3];
    falcon_calibration c = falcon_calibration_default();
    start(&plain, 0);
    for (int i = 0; i < 3; i++)
        c.units_per_newton_metre[i] = 8000;
    c.centre_z = 0.13;
    falcon_host_init(&own, &c);
    own.is_enabled = true;
    falcon_report report = at((vec3){0.01, 0.02, 0.13});
    assert_int_equal(falcon_host_report(&plain, ms, &report, &s[0]), HR_OK);
    assert_int_equal(falcon_host_report(&own, ms, &report, &s[1]), HR_OK);
    assert_near(s[1].position.x, s[0].position.x - 0.01, 1e-12);
    assert_int_equal(falcon_host_force(&plain, (vec3){1, 1, 1}, values[0]), HR_OK);
    assert_int_equal(falcon_host_force(&own, (vec3){1, 1, 1}, values[1]), HR_OK);
    for (int i = 0; i < 3; i++)
        assert_near(values[1][i], 0.8 * values[0][i], 1);

    const double radians_per_count = 2 * M_PI / 1280 * (0.01425 / 0.110);
    falcon_host_init(&own, &c);
    own.calibration.angle_offset[1] = 5 * radians_per_count;
    report.counts[1] = (int16_t)(report.counts[1] - 5);
    assert_int_equal(falcon_host_report(&own, ms, &report, &s[1]), HR_OK);
    assert_near(s[1].position.x, s[0].position.x - 0.01, 1e-9);
    assert_near(s[1].position.y, s[0].position.y, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_before_homing),
        cmocka_unit_test(forces_may_wait_until_the_grip_was_pulled_out),
        cmocka_unit_test(encoders_that_freeze_in_motion_are_seen),
        cmocka_unit_test(a_resting_hand_is_not_taken_for_dead_encoders),
        cmocka_unit_test(impossible_counts_leave_the_last_pose),
        cmocka_unit_test(calibration_is_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
