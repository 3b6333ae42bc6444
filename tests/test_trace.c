/* threads: the servo pushes, the writer writes. */
#include "tests/support/recording.h"

#include <string.h>
#include <time.h>

#include "server/trace_hash.h"
#include "server/trace_read.h"

static trace_reader *open_reader(const char *path)
{
    trace_reader *r;
    hr_error error = {""};
    if (trace_reader_open(path, &r, &error) != HR_OK)
        print_error("%s\n", error.text);
    assert_string_equal(error.text, "");
    return r;
}

/* A second pass over the same made-up numbers, compared with what the file gives. */
static void expect_recording(const char *path, uint64_t seed, int hands, int ticks)
{
    trace_reader *reader = open_reader(path);
    test_random r = {seed};
    for (uint64_t tick = 0; tick < (uint64_t)ticks; tick++) {
        servo_command c = recording_command(&r, tick);
        const trace_message *m;
        if (tick % 100 == 0) {
            m = trace_next_message(reader);
            assert_non_null(m);
            assert_int_equal(m->kind, TRACE_COMMAND);
            assert_int_equal(m->sequence, tick / 100);
            assert_memory_equal(&m->command, &c, sizeof c);
        }
        contact_frame frames[HANDS_MAX];
        tick_record records[HANDS_MAX];
        for (int hand = 0; hand < hands; hand++) {
            frames[hand] = recording_frame(&r, tick / 4 + 1, hand, test_random_index(&r, 4));
            records[hand] = recording_tick(&r, tick, hand);
        }
        for (int hand = 0; tick % 4 == 0 && hand < hands; hand++) {
            m = trace_next_message(reader);
            assert_non_null(m);
            assert_int_equal(m->kind, TRACE_FRAME);
            assert_int_equal(m->hand, hand);
            assert_int_equal(m->arrival_tick, tick);
            assert_memory_equal(&m->frame, &frames[hand], contact_frame_used(&frames[hand]));
        }
        if (tick % 200 == 0) {
            m = trace_next_message(reader);
            assert_int_equal(m->kind, TRACE_EVENT);
            assert_string_equal(m->event.text, "two hundred more");
        }
        for (int hand = 0; hand < hands; hand++) {
            m = trace_next_message(reader);
            assert_non_null(m);
            assert_int_equal(m->kind, TRACE_TICK);
            assert_int_equal(m->sequence, tick);
            assert_memory_equal(&m->tick, &records[hand], sizeof records[hand]);
        }
    }
    assert_null(trace_next_message(reader));
    assert_true(trace_is_complete(reader));
    trace_reader_close(reader);
}

/* Nothing between two fields and nothing outside: what is described is what is on disk. */
static void fields_cover_every_byte(void **state)
{
    (void)state;
    const trace_field *lists[] = {trace_tick_fields, trace_body_fields};
    const int counts[] = {trace_tick_field_count, trace_body_field_count};
    const size_t sizes[] = {sizeof(tick_record), offsetof(frame_body, seed.tracks)};
    for (int k = 0; k < 2; k++) {
        size_t end = 0;
        for (int i = 0; i < counts[k]; i++) {
            assert_int_equal(lists[k][i].offset, end);
            /* CDR aligns a number to its own size: no padding appears there either */
            assert_int_equal(end % trace_type_size(lists[k][i].type), 0);
            end += trace_type_size(lists[k][i].type) * (size_t)lists[k][i].count;
        }
        assert_int_equal(end, sizes[k]);
    }
    assert_int_equal(trace_tick_fields[trace_tick_compared_count].offset,
                     offsetof(tick_record, lateness_ns));
}

static void reasons_have_the_names_of_their_bits(void **state)
{
    (void)state;
    assert_string_equal(trace_reason_name(1), "clamp");
    assert_int_equal(REASON_CLAMP, 1 << 1);
    assert_string_equal(trace_reason_name(9), "estop");
    assert_int_equal(REASON_ESTOP, 1 << 9);
    assert_string_equal(trace_reason_name(17), "degraded");
    assert_int_equal(REASON_DEGRADED, 1 << 17);
    assert_null(trace_reason_name(18));
}

static void two_hands_come_back_as_they_were(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("two-hands.mcap"));
    int ticks = test_effort(2000);
    recording_write(path, 11, 2, ticks);
    expect_recording(path, 11, 2, ticks);
}

static void what_a_replay_needs_is_attached(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("attached.mcap"));
    char other[512];
    snprintf(other, sizeof other, "%s", recording_path("attached.txt"));
    FILE *f = fopen(other, "w");
    fputs("a mesh", f);
    fclose(f);
    trace_meta meta = recording_meta(2, true);
    trace_attachment file = {"meshes/a.obj", other};
    meta.files = &file;
    meta.file_count = 1;
    trace *t;
    hr_error error;
    assert_int_equal(trace_open(path, &meta, &t, &error), HR_OK);
    const char *pairs[] = {"subject", "7"};
    trace_add_metadata(t, "experiment", pairs, 1);
    assert_int_equal(trace_close(t, &error), HR_OK);

    trace_reader *r = open_reader(path);

    assert_true(trace_is_ours(r));
    assert_int_equal(trace_hand_count(r), 2);
    assert_string_equal(trace_hand_name(r, 1), "left");
    assert_string_equal(trace_value(r, TRACE_RUN, "degraded"), "true");
    assert_string_equal(trace_value(r, "experiment", "subject"), "7");
    assert_string_equal(trace_attached(r, TRACE_CONFIG, NULL), meta.config_text);
    assert_string_equal(trace_attached(r, TRACE_SCENE, NULL), meta.scene_text);
    assert_string_equal(trace_attached(r, TRACE_FILE "meshes/a.obj", NULL), "a mesh");
    /* printf "a mesh" | sha256sum */
    assert_string_equal(trace_value(r, TRACE_HASHES, TRACE_FILE "meshes/a.obj"),
                        "ea6d019cdf0366e3328a79498db060f98b3f25822c5e4cf13ff53b13dc2d0d34");
    for (int hand = 0; hand < 2; hand++) {
        device_description d;
        assert_int_equal(trace_device(r, hand, &d), HR_OK);
        assert_memory_equal(&d.max_force, &meta.devices[hand].max_force, sizeof(double));
        assert_memory_equal(&d.workspace_centre, &meta.devices[hand].workspace_centre,
                            sizeof(vec3));
        assert_string_equal(d.model, "Falcon");
        assert_int_equal(d.button_count, 4);
        assert_true(d.has_motors);
        assert_false(d.senses_rotation);
    }
    trace_reader_close(r);

    trace_attachment missing = {"x", "/nowhere/x"};
    meta.files = &missing;
    assert_int_equal(trace_open(path, &meta, &t, &error), HR_ERR_NOT_FOUND);
}

/* Far faster than real time: the ring overflows whenever the writer is slow, and every loss shows
 * as a gap in the numbers and in the count. */
static void a_writer_thread_loses_nothing_uncounted(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("threaded.mcap"));
    trace_meta meta = recording_meta(1, false);
    trace *t;
    hr_error error;
    test_random r = test_random_seed(3);
    assert_int_equal(trace_open(path, &meta, &t, &error), HR_OK);
    tick_record record = recording_tick(&r, 0, 0);
    uint64_t pushed = (uint64_t)test_effort(100000), refused = 0;
    for (uint64_t tick = 0; tick < pushed; tick++) {
        record.tick = tick;
        record.time_ns = (int64_t)tick * 1000000;
        refused += !trace_push_tick(t, &record);
        if (tick % 1000 == 999)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    trace_state now;
    trace_status(t, &now);
    assert_int_equal(now.dropped, refused);
    assert_false(now.has_failed);
    assert_int_equal(trace_close(t, &error), HR_OK);

    trace_reader *reader = open_reader(path);
    uint64_t found = 0, gaps = 0, next = 0;
    double told = 0;
    const trace_message *m;
    while ((m = trace_next_message(reader))) {
        if (m->kind == TRACE_EVENT)
            told = m->event.value;
        if (m->kind != TRACE_TICK)
            continue;
        assert_int_equal(m->sequence, m->tick.tick);
        gaps += m->sequence - next;
        next = m->sequence + 1;
        found++;
    }
    print_message("%llu pushed, %llu refused\n", (unsigned long long)pushed,
                  (unsigned long long)refused);
    assert_true(trace_is_complete(reader));
    assert_int_equal(found, pushed - refused);
    assert_int_equal(gaps + (pushed - next), refused);
    assert_true(told == (double)refused);
    assert_true(trace_number(reader, TRACE_COUNTS, "ticks", 0) == (double)found);
    assert_true(trace_number(reader, TRACE_TIMING "lateness", "count", 0) == (double)found);
    trace_reader_close(reader);
}

static void a_full_disk_stops_the_recording_alone(void **state)
{
    (void)state;
    trace_meta meta = recording_meta(1, true);
    trace *t = NULL;
    hr_error error = {""};
    assert_int_equal(trace_open("/dev/full", &meta, &t, &error), HR_ERR_IO);
    assert_int_equal(trace_open("/nowhere/x.mcap", &meta, &t, &error), HR_ERR_IO);
    assert_non_null(strstr(error.text, "/nowhere/x.mcap"));
}

static void no_trace_is_a_trace_that_forgets(void **state)
{
    (void)state;
    tick_record record = {0};
    assert_true(trace_push_tick(NULL, &record));
    trace_drain(NULL);
    trace_state now;
    trace_status(NULL, &now);
    assert_int_equal(now.ticks, 0);
    assert_int_equal(trace_close(NULL, NULL), HR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_cover_every_byte),
        cmocka_unit_test(reasons_have_the_names_of_their_bits),
        cmocka_unit_test(two_hands_come_back_as_they_were),
        cmocka_unit_test(what_a_replay_needs_is_attached),
        cmocka_unit_test(a_writer_thread_loses_nothing_uncounted),
        cmocka_unit_test(a_full_disk_stops_the_recording_alone),
        cmocka_unit_test(no_trace_is_a_trace_that_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
