/* threads: a killed writer has two. */
#include "tests/support/recorded_run.h"
#include "tests/support/recording.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/trace_check.h"
#include "server/trace_recover.h"

typedef struct place {
    uint64_t end;       /* of the message's record, in the file */
    uint64_t chunk_end; /* of the chunk it is in */
} place;

typedef struct fixture {
    char path[512];
    uint8_t *data;
    size_t size;
    place *places;
    int count;
    uint64_t data_start; /* of the first chunk */
} fixture;

static void save(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

/* A run of two hands, and where each of its messages ends. */
static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s", recording_path("rescue.mcap"));
    recorded_run_write(f->path, (recorded_run){"moving", 21, 2, test_effort(900) + 300});
    FILE *file = fopen(f->path, "rb");
    fseek(file, 0, SEEK_END);
    f->size = (size_t)ftell(file);
    f->data = malloc(f->size);
    rewind(file);
    assert_int_equal(fread(f->data, 1, f->size, file), f->size);
    fclose(file);
    mcap_reader *r;
    assert_int_equal(mcap_reader_open(f->path, &r, NULL), HR_OK);
    f->places = malloc(sizeof(place) * f->size / 100);
    uint64_t chunk_end = 0;
    mcap_item item;
    while ((item = mcap_next(r)).kind != MCAP_ITEM_END) {
        uint64_t end = item.offset + MCAP_RECORD_HEAD + item.size;
        if (item.opcode == MCAP_CHUNK) {
            f->data_start = f->data_start ? f->data_start : item.offset;
            chunk_end = end;
        }
        if (item.opcode == MCAP_MESSAGE)
            f->places[f->count++] = (place){end, chunk_end};
    }
    mcap_reader_close(r);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    free(f->data);
    free(f->places);
    free(f);
    return 0;
}

static uint64_t count_messages(const char *path)
{
    trace_reader *r;
    hr_error error;
    if (trace_reader_open(path, &r, &error) != HR_OK)
        return 0;
    uint64_t count = 0;
    while (trace_next_message(r))
        count++;
    trace_reader_close(r);
    return count;
}

static uint64_t count_findings(const char *path)
{
    trace_report *report;
    hr_error error;
    if (trace_check(path, &report, &error) != HR_OK)
        return UINT64_MAX;
    uint64_t findings = report->findings;
    if (findings > 0)
        print_message("byte %llu: %s\n", (unsigned long long)report->kept[0].offset,
                      report->kept[0].text);
    free(report);
    return findings;
}

static void a_whole_recording_is_good(void **state)
{
    const fixture *f = *state;
    assert_true(f->count > 0);
    assert_int_equal(count_findings(f->path), 0);
    assert_int_equal(count_messages(f->path), f->count);
}

static void cut_anywhere_nothing_on_disk_is_lost(void **state)
{
    const fixture *f = *state;
    test_random r = test_random_seed(77);
    char cut[512], saved[512];
    snprintf(cut, sizeof cut, "%s", recording_path("rescue-cut.mcap"));
    snprintf(saved, sizeof saved, "%s", recording_path("rescue-saved.mcap"));
    for (int i = 0; i < test_effort(200); i++) {
        size_t size = (size_t)(test_random_u64(&r) % f->size);
        save(cut, f->data, size);
        uint64_t in_chunks = 0, on_disk = 0;
        for (int k = 0; k < f->count; k++) {
            in_chunks += f->places[k].chunk_end <= size;
            on_disk += f->places[k].end <= size;
        }

        assert_int_equal(count_messages(cut), in_chunks); /* every whole chunk */
        trace_rescue rescue = {0};
        hr_error error = {""};
        hr_status status = trace_recover(cut, saved, &rescue, &error);

        if (size == 0) {
            assert_int_not_equal(status, HR_OK);
            continue;
        }
        assert_int_equal(status, HR_OK);
        assert_int_equal(rescue.messages, on_disk); /* every whole record */
        assert_int_equal(count_messages(saved), on_disk);
        if (size >= f->data_start)
            assert_int_equal(count_findings(saved), 0);
    }
}

static void flipped_bits_are_caught_and_cost_one_record(void **state)
{
    fixture *f = *state;
    test_random r = test_random_seed(78);
    char hurt[512], saved[512];
    snprintf(hurt, sizeof hurt, "%s", recording_path("rescue-hurt.mcap"));
    snprintf(saved, sizeof saved, "%s", recording_path("rescue-saved.mcap"));
    for (int i = 0; i < test_effort(100); i++) {
        size_t byte = (size_t)(test_random_u64(&r) % f->size);
        if (i % 4 == 0) /* the header and the metadata at the start */
            byte = (size_t)test_random_index(&r, (int)f->data_start);
        uint8_t bit = (uint8_t)(1 << test_random_index(&r, 8));
        f->data[byte] ^= bit;
        save(hurt, f->data, f->size);
        f->data[byte] ^= bit;

        trace_report *report = NULL;
        hr_error error = {""};
        hr_status status = trace_check(hurt, &report, &error);
        assert_true(status != HR_OK || report->findings > 0);
        free(report);
        trace_rescue rescue = {0};
        assert_int_equal(trace_recover(hurt, saved, &rescue, &error), HR_OK);
        assert_in_range(rescue.messages, f->count - 1, f->count);
    }
}

/* Garbage over a stretch that holds whole chunks: what stands before and after survives. */
static void a_burnt_stretch_costs_only_itself(void **state)
{
    fixture *f = *state;
    test_random r = test_random_seed(79);
    char hurt[512], saved[512];
    snprintf(hurt, sizeof hurt, "%s", recording_path("rescue-hurt.mcap"));
    snprintf(saved, sizeof saved, "%s", recording_path("rescue-saved.mcap"));
    uint8_t *copy = malloc(f->size);
    for (int i = 0; i < test_effort(20); i++) {
        memcpy(copy, f->data, f->size);
        size_t begin = f->data_start + (size_t)(test_random_u64(&r) % (f->size - f->data_start));
        size_t length = (size_t)test_random_index(&r, 300000);
        size_t end = begin + length < f->size ? begin + length : f->size;
        for (size_t k = begin; k < end; k++)
            copy[k] = (uint8_t)test_random_u64(&r);
        save(hurt, copy, f->size);
        uint64_t outside = 0;
        for (int k = 0; k < f->count; k++)
            outside +=
                f->places[k].end <= begin || (k > 0 && f->places[k - 1].end >= end &&
                                              f->places[k - 1].chunk_end == f->places[k].chunk_end);

        trace_rescue rescue = {0};
        hr_error error = {""};
        assert_int_equal(trace_recover(hurt, saved, &rescue, &error), HR_OK);
        assert_true(rescue.messages >= outside);
        assert_true(rescue.messages <= (uint64_t)f->count);
    }
    free(copy);
}

/* Writes as fast as the ring takes it until it is killed. */
static void write_for_ever(const char *path)
{
    trace_meta meta = recording_meta(2, false);
    meta.chunk_s = 0.02;
    trace *t;
    hr_error error;
    test_random r = {1};
    if (trace_open(path, &meta, &t, &error) != HR_OK)
        _exit(1);
    tick_record record = recording_tick(&r, 0, 0);
    contact_frame frame = recording_frame(&r, 1, 0, 2);
    for (uint64_t tick = 0;; tick++) {
        record.tick = tick;
        record.time_ns = (int64_t)tick * 1000000;
        if (tick % 2 == 0)
            trace_push_frame(t, tick, &frame);
        for (uint32_t hand = 0; hand < 2; hand++) {
            record.hand = hand;
            trace_push_tick(t, &record);
        }
        if (tick % 50 == 49)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void wait_for_size(const char *path, long size)
{
    for (int i = 0; i < 2000; i++) {
        struct stat about;
        if (stat(path, &about) == 0 && about.st_size >= size)
            return;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

static void a_killed_writer_leaves_whole_chunks(void **state)
{
    (void)state;
    test_random r = test_random_seed((uint64_t)time(NULL));
    char path[512], saved[512];
    snprintf(path, sizeof path, "%s", recording_path("killed.mcap"));
    snprintf(saved, sizeof saved, "%s", recording_path("killed-saved.mcap"));
    uint64_t ticks = 0;
    for (int i = 0; i < test_effort(20); i++) {
        remove(path);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_for_ever(path);
        if (i % 2 == 0) /* every other time it has got somewhere before */
            wait_for_size(path, 200000);
        nanosleep(&(struct timespec){0, 1000000 * test_random_index(&r, 60)}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);

        trace_rescue rescue = {0};
        hr_error error = {""};
        hr_status status = trace_recover(path, saved, &rescue, &error);
        if (status != HR_OK) /* killed before the first byte */
            continue;
        trace_report *report;
        assert_int_equal(trace_check(saved, &report, &error), HR_OK);
        assert_int_equal(report->ticks, rescue.ticks);
        assert_int_equal(report->lost, 0); /* no hole: what is there is the whole beginning */
        ticks += report->ticks;
        free(report);
    }
    print_message("%llu tick records survived\n", (unsigned long long)ticks);
    assert_true(ticks > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_recording_is_good),
        cmocka_unit_test(cut_anywhere_nothing_on_disk_is_lost),
        cmocka_unit_test(flipped_bits_are_caught_and_cost_one_record),
        cmocka_unit_test(a_burnt_stretch_costs_only_itself),
        cmocka_unit_test(a_killed_writer_leaves_whole_chunks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
