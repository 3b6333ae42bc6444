#include "tests/support/recorded_run.h"
#include "tests/support/recording.h"

#include <string.h>

#include "server/mcap_writer.h"
#include "server/replay.h"

static void make(char *path, const char *name, recorded_run run)
{
    snprintf(path, 512, "%s", recording_path(name));
    recorded_run_write(path, run);
}

static replay_result run_again(const char *path, replay_options options)
{
    replay_result result;
    hr_error error = {""};
    if (replay_run(path, &options, &result, &error) != HR_OK)
        fail_msg("%s", error.text);
    return result;
}

static void two_hands_on_moving_bodies_replay_identical(void **state)
{
    (void)state;
    char path[512];
    int ticks = test_effort(4000);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        make(path, "replay-two.mcap", (recorded_run){"moving", seed, 2, ticks});

        replay_result result = run_again(path, (replay_options){0});

        assert_int_equal(result.records, 2 * ticks);
        assert_int_equal(result.different_ticks, 0);
        assert_true(result.is_complete);
        assert_false(result.has_gap);
        if (ticks < 4000)
            continue;
        /* the recording is worth something: both hands touched and were pushed back */
        for (int i = 0; i < 2; i++) {
            assert_true(result.hands[i].contact_ticks > 300);
            assert_true(result.hands[i].force_max > 0.5);
            assert_true(result.hands[i].force_max == result.hands[i].recorded_force_max);
        }
    }
}

/* Copies a recording message by message; `change` may alter one, with its CRC made anew. */
static void copy_changed(const char *from, const char *to, void (*change)(trace_message *m))
{
    hr_error error = {""};
    trace_reader *r;
    mcap_writer *w;
    assert_int_equal(trace_reader_open(from, &r, &error), HR_OK);
    assert_int_equal(mcap_writer_open(to, "hapticd", "test", &w, &error), HR_OK);
    uint16_t schemas[TRACE_KIND_COUNT];
    for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        mcap_bytes text = {0};
        trace_schema_text((trace_kind)kind, &text);
        mcap_put_u8(&text, 0);
        schemas[kind] = mcap_add_schema(w, trace_schema_name((trace_kind)kind), "ros2msg",
                                        (const char *)text.data);
        mcap_bytes_free(&text);
    }
    mcap_add_channel(w, schemas[TRACE_COMMAND], "/command", "cdr", NULL, 0);
    mcap_add_channel(w, schemas[TRACE_EVENT], "/event", "cdr", NULL, 0);
    for (int i = 0; i < trace_hand_count(r); i++) {
        mcap_add_channel(w, schemas[TRACE_TICK], "/tick", "cdr", NULL, 0);
        mcap_add_channel(w, schemas[TRACE_FRAME], "/frame", "cdr", NULL, 0);
    }
    int count;
    const trace_note *notes = trace_notes(r, &count);
    for (int i = 0; i < count; i++) {
        const char *pairs[2 * 64];
        for (size_t k = 0; k < 2 * notes[i].count; k++)
            pairs[k] = notes[i].pairs[k];
        mcap_add_metadata(w, notes[i].name, pairs, (int)notes[i].count);
    }
    const trace_blob *blobs = trace_blobs(r, &count);
    for (int i = 0; i < count; i++)
        mcap_add_attachment(w, 0, blobs[i].name, blobs[i].media_type, blobs[i].data, blobs[i].size);
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        static trace_message changed;
        changed = *m;
        if (change)
            change(&changed);
        uint16_t channel = trace_channel(m->kind, m->hand);
        trace_encode(&changed, mcap_begin_message(w, channel, changed.sequence, 0, 0));
        mcap_end_message(w);
    }
    assert_int_equal(mcap_writer_close(w, &error), HR_OK);
    trace_reader_close(r);
}

static uint64_t next_up(double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    bits++; /* the neighbouring number: the smallest change there is */
    memcpy(value, &bits, sizeof bits);
    return bits;
}

static void change_result(trace_message *m)
{
    if (m->kind == TRACE_TICK && m->hand == 1 && m->tick.tick == 321)
        next_up(&m->tick.wanted_force.z);
}

static void change_input(trace_message *m)
{
    if (m->kind == TRACE_TICK && m->hand == 0 && m->tick.tick == 321)
        next_up(&m->tick.sample.position.y);
}

static void change_frame(trace_message *m)
{
    if (m->kind == TRACE_FRAME && m->arrival_tick > 700)
        m->frame.time_ns += 100000;
}

static void change_command(trace_message *m)
{
    if (m->kind == TRACE_COMMAND && m->command.tick == 500)
        m->command.values[0] = 499; /* softer than what the material asks for */
}

static void drop_frame(trace_message *m)
{
    if (m->kind == TRACE_FRAME && m->hand == 1 && m->arrival_tick > 800)
        m->sequence++;
}

static void change_timing(trace_message *m)
{
    if (m->kind == TRACE_TICK)
        m->tick.lateness_ns += 5;
}

static void a_planted_change_is_found(void **state)
{
    (void)state;
    char path[512], changed[512];
    make(path, "replay-plain.mcap", (recorded_run){"moving", 5, 2, 1500});
    snprintf(changed, sizeof changed, "%s", recording_path("replay-changed.mcap"));

    copy_changed(path, changed, NULL);
    replay_result result = run_again(changed, (replay_options){0});
    assert_int_equal(result.different_ticks, 0);
    assert_int_equal(result.ticks, 1500);

    copy_changed(path, changed, change_timing); /* recorded, not compared */
    assert_int_equal(run_again(changed, (replay_options){0}).different_ticks, 0);

    copy_changed(path, changed, change_result);
    result = run_again(changed, (replay_options){0});
    assert_int_equal(result.different_ticks, 1);
    assert_int_equal(result.first.tick, 321);
    assert_int_equal(result.first.hand, 1);
    assert_string_equal(result.first.field, "wanted_force[2]");
    assert_string_not_equal(result.first.recorded, result.first.computed);

    copy_changed(path, changed, change_input);
    result = run_again(changed, (replay_options){0});
    assert_true(result.different_ticks > 0);
    assert_int_equal(result.first.tick, 321);
    assert_int_equal(result.first.hand, 0);
    assert_string_equal(result.first.field, "tool[1]");

    copy_changed(path, changed, change_frame);
    result = run_again(changed, (replay_options){0});
    assert_true(result.different_ticks > 0);
    assert_true(result.first.tick > 700);
    assert_string_equal(result.first.field, "frame_age_ns");

    copy_changed(path, changed, change_command);
    result = run_again(changed, (replay_options){0});
    assert_true(result.different_ticks > 0);
    assert_true(result.first.tick >= 500);

    copy_changed(path, changed, drop_frame);
    result = run_again(changed, (replay_options){0});
    assert_true(result.has_gap);
    assert_in_range(result.gap_tick, 801, 850);
}

/* The same hand in another world: other forces, and a recording of it that verifies itself. */
static void another_scene_gives_another_force(void **state)
{
    (void)state;
    char path[512], copy[512], again[512];
    make(path, "replay-scene.mcap", (recorded_run){"moving", 9, 2, 2500});
    snprintf(copy, sizeof copy, "%s", recording_path("replay-sphere.mcap"));
    snprintf(again, sizeof again, "%s", recording_path("replay-again.mcap"));

    replay_result other = run_again(path, (replay_options){.scene = "sphere", .output = copy});
    assert_int_equal(other.records, 5000);
    assert_true(other.different_ticks > 1000);
    assert_true(other.hands[0].force_max > 0.1);
    assert_true(other.hands[0].contact_ticks != other.hands[0].recorded_contact_ticks);

    replay_result second = run_again(copy, (replay_options){.output = again});
    assert_int_equal(second.different_ticks, 0);
    assert_int_equal(second.ticks, 2500);
    assert_true(second.hands[0].force_max == other.hands[0].force_max);
    assert_int_equal(run_again(again, (replay_options){0}).different_ticks, 0);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("replay-empty.mcap"));
    recording_write(path, 1, 1, 10); /* its scene has no body */
    replay_result result;
    hr_error error = {""};
    replay_options options = {0};
    assert_int_not_equal(replay_run(path, &options, &result, &error), HR_OK);
    assert_non_null(strstr(error.text, "made-up.scene:1: expected at least one body"));
    options.scene = "no-such-scene";
    assert_int_not_equal(replay_run(path, &options, &result, &error), HR_OK);
    assert_non_null(strstr(error.text, "no-such-scene"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hands_on_moving_bodies_replay_identical),
        cmocka_unit_test(a_planted_change_is_found),
        cmocka_unit_test(another_scene_gives_another_force),
        cmocka_unit_test(what_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
