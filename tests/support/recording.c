#include "tests/support/recording.h"

#include <string.h>

const char *recording_path(const char *name)
{
    static char path[512];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/tests/%s", build ? build : "build", name);
    return path;
}

trace_meta recording_meta(int hands, bool is_lockstep)
{
    trace_meta meta = {.config_text = "servo { rate_hz = 1000 }\n",
                       .scene_path = "made-up.scene",
                       .scene_text = "name = \"made up\"\n",
                       .hand_count = hands,
                       .hand_names = {"right", "left", "third", "fourth"},
                       .drivers = {"sim", "sim", "sim", "sim"},
                       .rate_hz = 1000,
                       .world_rate_hz = 250,
                       .is_lockstep = is_lockstep,
                       .is_degraded = true,
                       .scheduling = "normal",
                       .start_ns = 5,
                       .unix_ns = 1700000000000000000};
    for (int i = 0; i < hands; i++)
        meta.devices[i] = (device_description){.model = "Falcon",
                                               .manufacturer = "Novint",
                                               .serial = "0001",
                                               .max_force = 8.3 / 3, /* no short decimal */
                                               .workspace_centre = {0.1 / 3, -2e-17, 3},
                                               .native_rate_hz = 1000,
                                               .button_count = 4,
                                               .senses_position = true,
                                               .has_motors = true};
    return meta;
}

static void fill(test_random *r, double *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = test_random_between(r, -1, 1);
}

tick_record recording_tick(test_random *r, uint64_t tick, int hand)
{
    tick_record t = {.tick = tick,
                     .time_ns = (int64_t)tick * 1000000,
                     .elapsed_ns = 1000000,
                     .hand = (uint32_t)hand,
                     .read_status = HR_OK,
                     .write_status = HR_ERR_DISABLED,
                     .lateness_ns = test_random_index(r, 100000),
                     .compute_ns = test_random_index(r, 5000),
                     .device_ns = test_random_index(r, 2000)};
    t.sample.time_ns = t.time_ns;
    t.sample.sequence = tick;
    t.sample.valid = DEVICE_HAS_POSITION;
    t.sample.flags = DEVICE_IS_HOMED | DEVICE_IS_ENABLED;
    fill(r, &t.sample.position.x, 3 + 3 + 4 + 3 + 2 + DEVICE_JOINTS_MAX);
    fill(r, &t.tool.x, 18);
    t.contact_key = test_random_u64(r);
    t.frame_sequence = tick / 4;
    t.reasons = (uint32_t)test_random_u64(r) & 0x3ffff;
    t.state = SERVO_RUNNING;
    return t;
}

contact_frame recording_frame(test_random *r, uint64_t sequence, int hand, int bodies)
{
    contact_frame f = {.sequence = sequence,
                       .time_ns = (int64_t)sequence * 4000000,
                       .tool_tick = sequence * 4,
                       .hand = (uint32_t)hand,
                       .body_count = (uint32_t)bodies};
    for (int i = 0; i < bodies; i++) {
        frame_body *b = &f.bodies[i];
        b->key = (uint32_t)test_random_u64(r);
        b->shape = (uint32_t)i;
        fill(r, &b->world_from_body.rotation.w, 7 + 6 + 6 + 4 + 9);
        b->seed.track_count = 1;
        b->seed.tracks[0] = (shape_track){7, 1, 0.25, 0.75};
    }
    return f;
}

servo_command recording_command(test_random *r, uint64_t tick)
{
    servo_command c = {.tick = tick, .kind = COMMAND_MARK, .hand = HANDS_MAX, .client = 3};
    fill(r, c.values, 4);
    int length = test_random_index(r, 63);
    for (int i = 0; i < length; i++)
        c.text[i] = (char)('a' + i % 26);
    return c;
}

void recording_write(const char *path, uint64_t seed, int hands, int ticks)
{
    test_random r = {seed};
    trace_meta meta = recording_meta(hands, true);
    trace *t;
    hr_error error;
    assert_int_equal(trace_open(path, &meta, &t, &error), HR_OK);
    for (uint64_t tick = 0; tick < (uint64_t)ticks; tick++) {
        servo_command c = recording_command(&r, tick);
        if (tick % 100 == 0)
            assert_true(trace_push_command(t, &c));
        trace_event e = {.tick = tick, .kind = TRACE_EVENT_LOG, .text = "two hundred more"};
        if (tick % 200 == 0)
            assert_true(trace_push_event(t, &e));
        for (int hand = 0; hand < hands; hand++) {
            contact_frame f = recording_frame(&r, tick / 4 + 1, hand, test_random_index(&r, 4));
            if (tick % 4 == 0)
                assert_true(trace_push_frame(t, tick, &f));
            tick_record record = recording_tick(&r, tick, hand);
            assert_true(trace_push_tick(t, &record));
        }
        trace_drain(t);
    }
    assert_int_equal(trace_close(t, &error), HR_OK);
}
