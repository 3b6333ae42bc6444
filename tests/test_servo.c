#include "tests/test.h"

#include <string.h>

#include "server/servo.h"
#include "tests/support/fake_device.h"

enum { MS = 1000000, FRAMES = 8, TOOLS = 4096 };

/* Two fake devices over one plane (z <= 0 is solid), virtual time. */
typedef struct fixture {
    servo servo;
    config settings;
    device devices[2];
    ring frames[2], tools[2];
    door door;
    shape plane;
    uint64_t sequence;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    config_default(&f->settings);
    f->plane = (shape){.kind = SHAPE_PLANE};
    servo_init(&f->servo, servo_clock_lockstep(0), 1000);
    f->servo.hand_count = 2;
    for (int i = 0; i < 2; i++) {
        f->devices[i].position = (vec3){0, 0, 0.05};
        f->devices[i].is_enabled = true;
        device_description about;
        fake_driver.describe(&f->devices[i], &about);
        assert_int_equal(ring_init(&f->frames[i], FRAMES, sizeof(contact_frame)), HR_OK);
        assert_int_equal(ring_init(&f->tools[i], TOOLS, sizeof(tool_sample)), HR_OK);
        f->servo.hands[i] = (servo_hand){.driver = &fake_driver,
                                         .dev = &f->devices[i],
                                         .hand = hand_create(&f->settings, i, &about, &f->plane, 1),
                                         .frames = &f->frames[i],
                                         .tools = &f->tools[i]};
        assert_non_null(f->servo.hands[i].hand);
    }
    assert_int_equal(door_init(&f->door, true), HR_OK);
    f->servo.doors[0] = &f->door;
    f->servo.door_count = 1;
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        hand_destroy(f->servo.hands[i].hand);
        ring_destroy(&f->frames[i]);
        ring_destroy(&f->tools[i]);
    }
    door_destroy(&f->door);
    free(f);
    return 0;
}

/* What the world would send: the plane, at rest, 2000 N/m, for the coming tick. */
static void send_plane(fixture *f)
{
    contact_frame frame = {.sequence = ++f->sequence, .time_ns = f->servo.planned_ns};
    frame.body_count = 1;
    frame.bodies[0] = (frame_body){.key = 1, .world_from_body = pose_identity()};
    frame.bodies[0].material = (frame_material){.stiffness = 2000, .damping = 1};
    for (uint32_t i = 0; i < 2; i++) {
        frame.hand = i;
        shape_seed(&f->plane, f->devices[i].position, 0.1, &frame.bodies[0].seed);
        assert_true(ring_push(&f->frames[i], &frame));
    }
}

static void run(fixture *f, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        send_plane(f);
        servo_tick(&f->servo);
    }
}

/* Free long enough to be let in, then down to z at 0.1 m/s. */
static void press(fixture *f, double z)
{
    run(f, 600);
    while (f->devices[0].position.z > z) {
        f->devices[0].position.z -= 1e-4;
        f->devices[1].position.z -= 1e-4;
        run(f, 1);
    }
}

/* --- time ---------------------------------------------------------------------------------------
 */

static void an_undisturbed_servo_keeps_its_period(void **state)
{
    fixture *f = *state;
    for (int i = 1; i <= 1000; i++) {
        servo_tick(&f->servo);
        assert_int_equal(f->servo.hands[0].record.time_ns, (int64_t)i * MS);
        assert_int_equal(f->servo.hands[0].record.elapsed_ns, MS);
        assert_int_equal(f->servo.hands[0].record.missed_periods, 0);
    }
    assert_int_equal(servo_heartbeat(&f->servo), 1000);
}

/* Wake-ups: on time, 0.4 ms late, 3.2 ms late (3 periods gone), on time, ... */
static void missed_periods_are_skipped_and_the_phase_is_kept(void **state)
{
    fixture *f = *state;
    const int64_t delays[] = {0, 400000, 3200000, 0, 0};
    f->servo.clock.delays_ns = delays;
    f->servo.clock.delay_count = HR_COUNT(delays);
    const int64_t times[] = {1 * MS, 2 * MS, 6 * MS, 7 * MS, 8 * MS};
    const uint32_t missed[] = {0, 0, 3, 0, 0};
    /* true time between two wake-ups: 1, 1.4, 6.2 - 2.4, 7 - 6.2, 1 ms */
    const int64_t elapsed[] = {1000000, 1400000, 3800000, 800000, 1000000};
    const int32_t lateness[] = {0, 400000, 3200000, 0, 0};

    for (int i = 0; i < HR_COUNT(times); i++) {
        servo_tick(&f->servo);
        const tick_record *r = &f->servo.hands[0].record;
        assert_int_equal(r->time_ns, times[i]);
        assert_int_equal(r->missed_periods, missed[i]);
        assert_int_equal(r->elapsed_ns, elapsed[i]);
        assert_int_equal(r->lateness_ns, lateness[i]);
        assert_int_equal(r->tick, i);
    }
    assert_int_equal(f->servo.counts.missed_periods, 3);
    assert_int_equal(f->servo.counts.overruns, 1);
    assert_int_equal(f->devices[0].writes, HR_COUNT(times)); /* no burst to catch up */
}

static void elapsed_time_has_a_floor_and_a_cap(void **state)
{
    fixture *f = *state;
    servo *s = &f->servo;

    servo_timing late = servo_plan(s, s->planned_ns + 990000);
    servo_timing close = servo_plan(s, s->planned_ns);
    servo_timing stall = servo_plan(s, s->planned_ns + 5000 * (int64_t)MS + 7);
    servo_timing after = servo_plan(s, s->planned_ns);

    assert_int_equal(late.missed_periods, 0);
    assert_int_equal(close.elapsed_ns, MS / 2); /* 10 us in truth */
    assert_int_equal(stall.missed_periods, 5000);
    assert_int_equal(stall.elapsed_ns, 20 * MS);
    assert_int_equal(after.planned_ns, stall.planned_ns + MS);
    assert_int_equal(after.missed_periods, 0);
}

static void every_rate_from_500_to_4000_hz_is_kept(void **state)
{
    (void)state;
    static servo s;
    const int rates[] = {500, 1000, 1333, 2000, 4000};
    for (int i = 0; i < HR_COUNT(rates); i++) {
        servo_init(&s, servo_clock_lockstep(0), rates[i]);
        s.end_ns = 2000 * (int64_t)MS;
        servo_loop(&s, 0);
        assert_int_equal(servo_heartbeat(&s), 2 * rates[i]);
    }
}

static void overruns_fade_the_force_and_ten_milliseconds_latch_a_fault(void **state)
{
    fixture *f = *state;
    press(f, -0.001);
    assert_true(vec3_length(f->servo.hands[0].record.force) > 0.5);

    const int64_t delays[] = {12 * MS};
    f->servo.clock.delays_ns = delays;
    f->servo.clock.delay_count = 1;
    run(f, 1);
    assert_int_equal(f->servo.hands[0].record.missed_periods, 12);
    run(f, 300);

    const tick_record *r = &f->servo.hands[0].record;
    assert_int_equal(r->state, SERVO_FAULT);
    assert_true(r->reasons & REASON_FAULT);
    assert_near(vec3_length(r->force), 0.0, 0.0);
}

/* --- devices ------------------------------------------------------------------------------------
 */

static void both_hands_feel_the_plane(void **state)
{
    fixture *f = *state;
    f->devices[1].position.x = 0.03;
    press(f, -0.001);
    run(f, 50);

    for (int i = 0; i < 2; i++) {
        /* 1 mm deep in 2000 N/m: 2 N upward; the safety layer may take a little */
        assert_near(f->devices[i].last.force.z, 2.0, 0.3);
        assert_int_equal(f->servo.hands[i].record.hand, i);
        tool_sample newest;
        assert_true(ring_take_latest(&f->tools[i], &newest));
        assert_int_equal(newest.tick, f->servo.tick - 1);
        assert_int_equal(newest.hand, i);
    }
}

static void a_lost_device_is_told_and_the_other_hand_goes_on(void **state)
{
    fixture *f = *state;
    press(f, -0.001);
    f->devices[0].read_fails_with = HR_ERR_LOST;
    run(f, 50);

    assert_int_equal(f->servo.counts.lost_hands, 1);
    assert_int_equal(f->servo.hands[0].record.read_status, HR_ERR_LOST);
    assert_near(vec3_length(f->devices[0].last.force), 0.0, 0.0);
    assert_true(f->devices[1].last.force.z > 1.0);
    assert_int_equal(f->servo.counts.read_failures, 50);
}

static void a_driver_is_never_asked_to_hold_a_force_for_long(void **state)
{
    fixture *f = *state;
    run(f, 3);
    int64_t hold = f->devices[0].last.deadline_ns - f->devices[0].last_write_ns;
    assert_in_range(hold, 1, 20 * MS);
}

/* --- commands -----------------------------------------------------------------------------------
 */

static void a_command_is_applied_at_a_tick_and_given_back_with_it(void **state)
{
    fixture *f = *state;
    press(f, -0.001);
    servo_command stop = {.kind = COMMAND_ESTOP, .hand = 0, .client = 9};
    assert_true(door_send(&f->door, &stop));
    uint64_t tick = f->servo.tick;
    run(f, 200);

    servo_command applied;
    assert_true(ring_pop(&f->door.applied, &applied));
    assert_int_equal(applied.tick, tick);
    assert_int_equal(applied.client, 9);
    assert_int_equal(f->servo.hands[0].record.state, SERVO_ESTOP);
    assert_near(vec3_length(f->devices[0].last.force), 0.0, 0.0);
    assert_int_equal(f->servo.hands[1].record.state, SERVO_RUNNING); /* only hand 0 was meant */
}

static void more_commands_than_a_tick_takes_wait_for_the_next(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < SERVO_COMMANDS_PER_TICK + 4; i++) {
        servo_command mark = {.kind = COMMAND_MARK, .hand = HANDS_MAX};
        assert_true(door_send(&f->door, &mark));
    }
    run(f, 2);

    servo_command applied;
    for (int i = 0; i < SERVO_COMMANDS_PER_TICK + 4; i++) {
        assert_true(ring_pop(&f->door.applied, &applied));
        assert_int_equal(applied.tick, i < SERVO_COMMANDS_PER_TICK ? 0 : 1);
    }
}

static void reports_come_a_hundred_times_a_second(void **state)
{
    fixture *f = *state;
    int reports = 0;
    servo_report r;
    for (int i = 0; i < 1000; i++) {
        run(f, 1);
        reports += ring_pop(&f->door.reports, &r);
    }
    assert_int_equal(reports, 100);
    assert_int_equal(r.hand_count, 2);
    assert_int_equal(r.hands[1].hand, 1);
}

/* --- the end ------------------------------------------------------------------------------------
 */

static void letting_go_ends_with_several_zero_forces_and_happens_once(void **state)
{
    fixture *f = *state;
    press(f, -0.001);
    assert_true(f->devices[0].last.force.z > 1.0);

    servo_stop(&f->servo);
    servo_loop(&f->servo, 0); /* does nothing any more */
    servo_release(&f->servo);

    for (int i = 0; i < 2; i++)
        assert_true(f->devices[i].zero_writes >= SERVO_ZERO_WRITES);
    int writes = f->devices[0].writes;
    servo_release(&f->servo);
    servo_release(&f->servo);
    assert_int_equal(f->devices[0].writes, writes);
}

static void an_emergency_sends_zero_at_once(void **state)
{
    fixture *f = *state;
    press(f, -0.001);
    servo_emergency(&f->servo);
    assert_int_equal(f->devices[0].zero_writes, SERVO_ZERO_WRITES);
    assert_int_equal(f->devices[1].zero_writes, SERVO_ZERO_WRITES);
    assert_true(f->servo.is_stopping);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(an_undisturbed_servo_keeps_its_period),
        WITH_FIXTURE(missed_periods_are_skipped_and_the_phase_is_kept),
        WITH_FIXTURE(elapsed_time_has_a_floor_and_a_cap),
        cmocka_unit_test(every_rate_from_500_to_4000_hz_is_kept),
        WITH_FIXTURE(overruns_fade_the_force_and_ten_milliseconds_latch_a_fault),
        WITH_FIXTURE(both_hands_feel_the_plane),
        WITH_FIXTURE(a_lost_device_is_told_and_the_other_hand_goes_on),
        WITH_FIXTURE(a_driver_is_never_asked_to_hold_a_force_for_long),
        WITH_FIXTURE(a_command_is_applied_at_a_tick_and_given_back_with_it),
        WITH_FIXTURE(more_commands_than_a_tick_takes_wait_for_the_next),
        WITH_FIXTURE(reports_come_a_hundred_times_a_second),
        WITH_FIXTURE(letting_go_ends_with_several_zero_forces_and_happens_once),
        WITH_FIXTURE(an_emergency_sends_zero_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
