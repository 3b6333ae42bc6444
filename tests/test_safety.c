/* The safety layer alone: what it promises whatever comes in. */
#include "tests/test.h"

#include "server/safety.h"

static const safety_limits usual = {
    .period = 1e-3,
    .max_force = 8,
    .max_slew = 4000,
    .max_speed = 1.5,
    .workspace_radius = 0.04,
    .workspace_margin = 0.005,
    .ramp_s = 0.25,
    .clear_s = 0.1,
    .world_fade_s = 0.05,
    .world_zero_s = 0.2,
    .device_fade_s = 0.005,
    .device_zero_s = 0.02,
    .overrun_reduce = 3,
    .overrun_fault_s = 0.01,
    .passivity_damping_max = 12,
    .stale_damping = 2,
    .resolution = 40e-6,
    .latency = 1e-3,
    .is_actuated = true,
};

/* A tick in which nothing is wrong and nothing is touched. */
static safety_input good(int64_t tick)
{
    return (safety_input){.time_ns = tick * 1000000,
                          .dt = 1e-3,
                          .has_report = true,
                          .is_homed = true,
                          .is_clear = true,
                          .has_world = true,
                          .world_age = 0.001,
                          .position = {1e-6 * (double)(tick % 7), 0, 0}};
}

/* Runs until the gate is open; returns the next tick. */
static int64_t open_gate(safety *s, safety_output *out)
{
    int64_t tick = 0;
    safety_init(s, &usual);
    do {
        safety_input in = good(++tick);
        safety_apply(s, &in, out);
    } while (out->state != SERVO_RUNNING && tick < 1000);
    assert_int_equal(out->state, SERVO_RUNNING);
    return tick + 1;
}

static double messy(test_random *r, double size)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -1e-300};
    if (test_random_index(r, 12) == 0)
        return bad[test_random_index(r, HR_COUNT(bad))];
    return test_random_between(r, -size, size);
}

/* Whatever is wanted: finite, no longer than the limit, rising no faster than the slew, and equal
 * to what was wanted where no reason is given. Positions and velocities are finite by contract. */
static void promises_hold_for_any_input(void **state)
{
    (void)state;
    test_random r = test_random_seed(21);
    safety s;
    safety_init(&s, &usual);
    double last = 0;
    int64_t time_ns = 0;
    int pushed = 0;
    for (int i = 0; i < test_effort(1000000); i++) {
        safety_input in = good(i);
        bool is_wild = test_random_index(&r, 400) == 0;
        time_ns += is_wild ? (int64_t)test_random_between(&r, -1e7, 3e7) : 1000000;
        in.time_ns = time_ns;
        in.dt = is_wild ? test_random_between(&r, 1e-4, 0.02) : 1e-3;
        in.missed_periods = is_wild ? (uint32_t)test_random_index(&r, 12) : 0;
        in.read_status = is_wild && test_random_index(&r, 4) == 0 ? HR_ERR_LOST : HR_OK;
        in.has_report = test_random_index(&r, 10) > 0;
        in.is_homed = test_random_index(&r, 2000) > 0;
        in.has_jumped = test_random_index(&r, 3000) == 0;
        in.is_clear = test_random_index(&r, 50) > 0;
        in.world_age = is_wild ? test_random_between(&r, 0, 0.3) : 0.002;
        in.position = test_random_vec3(&r, 0.026);
        in.velocity = test_random_vec3(&r, is_wild ? 3 : 0.1);
        double size = test_random_index(&r, 20) ? 6 : 2000;
        in.wall = (vec3){messy(&r, size), messy(&r, size), messy(&r, size)};
        in.client = test_random_index(&r, 3) ? (vec3){0, 0, 0}
                                             : (vec3){messy(&r, 3), messy(&r, 3), messy(&r, 3)};
        in.stored = fabs(messy(&r, 0.01));
        safety_output out;
        safety_apply(&s, &in, &out);

        double length = vec3_length(out.force);
        assert_true(vec3_is_finite(out.force));
        assert_true(length <= usual.max_force * (1 + 1e-15));
        assert_true(length - last <= usual.max_slew * in.dt * (1 + 1e-12));
        assert_true(out.fade >= 0 && out.fade <= 1);
        if (out.reasons == 0)
            assert_true(vec3_distance(out.force, vec3_add(in.wall, in.client)) == 0);
        last = length;
        pushed += length > 0;
        if (out.state == SERVO_FAULT && test_random_index(&r, 100) == 0)
            safety_arm(&s);
    }
    print_message("%d ticks with force\n", pushed);
    assert_true(pushed > 100);
}

static void force_ramps_only_from_outside_contact(void **state)
{
    (void)state;
    safety s;
    safety_init(&s, &usual);
    safety_output out;
    int64_t tick = 0;

    /* In contact from the start: nothing, however long. */
    for (int i = 0; i < 2000; i++) {
        safety_input in = good(++tick);
        in.is_clear = false;
        in.wall = (vec3){0, 0, 3};
        safety_apply(&s, &in, &out);
        assert_true(vec3_length(out.force) == 0);
        assert_true(out.reasons & REASON_STARTUP);
        assert_int_equal(out.state, SERVO_WAITING);
    }

    /* Clear for 0.1 s, then touching again: the ramp of 0.25 s is what is felt. */
    for (int i = 0; i < 101; i++) {
        safety_input in = good(++tick);
        safety_apply(&s, &in, &out);
    }
    double last = 0;
    for (int i = 0; i < 300; i++) {
        safety_input in = good(++tick);
        in.is_clear = false;
        in.wall = (vec3){0, 0, 3};
        safety_apply(&s, &in, &out);
        assert_true(out.force.z >= last);
        last = out.force.z;
        if (i == 100)
            assert_near(out.force.z, 3 * 0.101 / 0.25, 0.05);
    }
    assert_near(last, 3, 1e-12);
    assert_int_equal(out.reasons, 0);
}

static void nothing_before_homing(void **state)
{
    (void)state;
    safety s;
    safety_init(&s, &usual);
    safety_output out;
    for (int i = 0; i < 1000; i++) {
        safety_input in = good(i);
        in.is_homed = false;
        in.client = (vec3){1, 0, 0};
        safety_apply(&s, &in, &out);
        assert_true(vec3_length(out.force) == 0);
        assert_int_equal(out.state, SERVO_HOMING);
    }
}

static void estop_is_immediate_and_stays(void **state)
{
    (void)state;
    safety s;
    safety_output out;
    int64_t tick = open_gate(&s, &out);
    for (int i = 0; i < 10; i++) {
        safety_input in = good(tick++);
        in.wall = (vec3){0, 0, 7.5};
        safety_apply(&s, &in, &out);
    }
    assert_near(out.force.z, 7.5, 1e-12);

    safety_estop(&s);

    for (int i = 0; i < 1000; i++) {
        safety_input in = good(tick++);
        in.wall = (vec3){0, 0, 7.5};
        safety_apply(&s, &in, &out);
        assert_true(vec3_length(out.force) == 0);
        assert_true(out.reasons & REASON_ESTOP);
    }
    safety_arm(&s);
    safety_input in = good(tick++);
    in.wall = (vec3){0, 0, 7.5};
    in.is_clear = false;
    safety_apply(&s, &in, &out);
    assert_true(vec3_length(out.force) == 0); /* still in contact: the gate is shut */
}

static void slew_limits_rises_and_turns_but_no_fall(void **state)
{
    (void)state;
    safety s;
    safety_output out;
    int64_t tick = open_gate(&s, &out);
    safety_input in = good(tick++);
    in.wall = (vec3){0, 0, 7};
    safety_apply(&s, &in, &out);
    assert_near(out.force.z, 4, 1e-12); /* 4000 N/s for 1 ms */
    assert_true(out.reasons & REASON_SLEW);
    in = good(tick++);
    in.wall = (vec3){0, 0, 7};
    safety_apply(&s, &in, &out);
    assert_near(out.force.z, 7, 1e-12);

    /* A reversal falls to zero at once and rises by the slew on the other side. */
    in = good(tick++);
    in.wall = (vec3){0, 0, -7};
    safety_apply(&s, &in, &out);
    assert_near(out.force.z, -4, 1e-12);

    in = good(tick++);
    safety_apply(&s, &in, &out);
    assert_true(vec3_length(out.force) == 0);
}

static void stale_world_fades_to_damping_then_nothing(void **state)
{
    (void)state;
    safety s;
    safety_output out;
    int64_t tick = open_gate(&s, &out);
    double spring[301], damper[301];
    for (int age = 0; age <= 300; age++) {
        for (int moving = 0; moving < 2; moving++) {
            safety copy = s;
            safety_input in = good(tick);
            in.world_age = 1e-3 * age;
            in.wall = (vec3){0, 0, 3};
            in.velocity = (vec3){moving ? 0.1 : 0, 0, 0};
            safety_apply(&copy, &in, &out);
            if (moving)
                damper[age] = -out.force.x / 0.1;
            else
                spring[age] = out.force.z;
            assert_int_equal((out.reasons & REASON_STALE_WORLD) != 0, age > 50);
        }
    }
    assert_near(spring[50], 3, 1e-12);
    assert_near(spring[87], 1.5, 0.05); /* half way to the middle of 50 and 200 ms */
    assert_near(spring[126], 0, 1e-12);
    assert_near(damper[125], 2, 0.02);
    assert_near(damper[200], 0, 1e-12);
    assert_near(spring[300], 0, 0);
}

static void overruns_reduce_then_latch(void **state)
{
    (void)state;
    safety s;
    safety_output out;
    int64_t tick = open_gate(&s, &out);
    for (int i = 0; i < 3; i++) {
        safety_input in = good(tick++);
        in.wall = (vec3){0, 0, 2};
        in.missed_periods = 1;
        safety_apply(&s, &in, &out);
        assert_near(out.force.z, i < 2 ? 2.0 : 1.0, 1e-12);
    }
    assert_true(out.reasons & REASON_OVERRUN);

    /* 100 ms of good cycles bring it back. */
    for (int i = 0; i < 100; i++) {
        safety_input in = good(tick++);
        in.wall = (vec3){0, 0, 2};
        safety_apply(&s, &in, &out);
    }
    assert_near(out.force.z, 2, 1e-12);

    safety_input in = good(tick++);
    in.wall = (vec3){0, 0, 2};
    in.missed_periods = 10;
    safety_apply(&s, &in, &out);
    assert_true(vec3_length(out.force) == 0);
    assert_int_equal(out.state, SERVO_FAULT);
}

/* A spring of 1500 N/m rendered with two ticks of delay gives out energy on a pure tone of motion:
 * without control by k A^2 pi sin(w d) per cycle. The observer must see that to 5 %, and the
 * controller must make the sum harmless. */
static void observer_sees_and_controller_removes_energy(void **state)
{
    (void)state;
    const double k = 1500, amplitude = 0.001, omega = 2 * M_PI * 12;
    for (int is_on = 0; is_on < 2; is_on++) {
        safety s;
        safety_output out;
        int64_t tick = open_gate(&s, &out);
        s.limits.passivity_damping_max = is_on ? 20 : 0;
        double true_energy = 0, sent[2] = {0, 0}, before = 0.002;
        for (int i = 0; i < 1000; i++) {
            double t = i * 1e-3, x = 0.002 + amplitude * sin(omega * t);
            safety_input in = good(tick++);
            in.position = (vec3){0, 0, -x};
            in.velocity = (vec3){0, 0, -amplitude * omega * cos(omega * t)};
            in.is_clear = false;
            in.wall = (vec3){0, 0, k * x};
            in.stored = 0.5 * k * x * x;
            true_energy += sent[1] * (x - before); /* put in by the hand */
            before = x;
            safety_apply(&s, &in, &out);
            sent[1] = sent[0];
            sent[0] = out.force.z;
        }
        double cycles = 12, delay = 1.5e-3; /* a tick, and half a tick of hold */
        double expected = -cycles * M_PI * k * amplitude * amplitude * sin(omega * delay);
        double stored = 0.5 * k * pow(before, 2) - 0.5 * k * pow(0.002, 2);
        print_message("controller %s: energy %.3g J, observed %.3g J\n", is_on ? "on" : "off",
                      true_energy - stored, out.energy - stored);
        /* The observer begins with nothing in the spring; the hand began 2 mm deep. */
        if (!is_on)
            assert_near(true_energy - stored, expected, 0.05 * fabs(expected));
        else
            assert_true(true_energy - stored > 0.1 * expected);
        assert_near(out.energy, true_energy, 0.003);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_hold_for_any_input),
        cmocka_unit_test(force_ramps_only_from_outside_contact),
        cmocka_unit_test(nothing_before_homing),
        cmocka_unit_test(estop_is_immediate_and_stays),
        cmocka_unit_test(slew_limits_rises_and_turns_but_no_fall),
        cmocka_unit_test(stale_world_fades_to_damping_then_nothing),
        cmocka_unit_test(overruns_reduce_then_latch),
        cmocka_unit_test(observer_sees_and_controller_removes_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
