#include "tests/test.h"

#include <string.h>

#include "devices/replay.h"
#include "devices/text_file.h"

static const int64_t tick_ns = 1000000;

static device *open_replay(const char *file, const device_setting *items, int count)
{
    device_settings settings = {items, count};
    device *dev = NULL;
    hr_error error = {""};
    hr_status status = device_replay.open(file, &settings, &dev, &error);
    if (status != HR_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, HR_OK);
    return dev;
}

typedef struct recording {
    const char *file;
    int breaks;        /* as tests/data/traces/README.md counts them */
    double speed_most; /* m/s, of the raw samples outside breaks, before scaling */
} recording;

static const recording recordings[] = {
    {"tests/data/traces/haptic-stylus-cataract-62hz.csv", 11, 0.168},
    {"tests/data/traces/arm-leader-follower-1khz.csv", 0, 1.98},
    {"tests/data/traces/baton-handover-120hz.csv", 0, 1.29},
    {"tests/data/traces/pen-tablet-133hz.csv", 7, 0.135},
    {"tests/data/traces/hand-mocap-100hz.csv", 0, 0.444},
};

/* No matter what is in the file, the handle moves like a hand: inside the workspace, no faster than
 * the recorded hand plus the glide, and flagged wherever the recording is broken. */
static void play(const recording *r, const char *mode)
{
    device *dev = open_replay(r->file, (device_setting[]){{"mode", mode, NULL}}, 1);
    const replay_path *path = replay_path_of(dev);
    bool is_imposed = strcmp(mode, "imposed") == 0;
    assert_int_equal(path->break_count, r->breaks);
    /* a Hermite piece is at most 1.5 times (here 3 times, slopes being limited) its secant */
    double speed_limit = 3 * path->scale * r->speed_most + 0.1 + (is_imposed ? 0.04 : 0.1);
    double length = path->length;
    int ticks = (int)(length * 1000) + 500;
    device_sample sample;
    sim_truth before = {0};
    double fastest = 0;
    int flagged = 0;
    assert_int_equal(device_replay.enable(dev, true), HR_OK);
    for (int n = 0; n < ticks; n++) {
        assert_int_equal(device_replay.read(dev, n * tick_ns, &sample), HR_OK);
        assert_true(vec3_is_finite(sample.position) && vec3_is_finite(sample.velocity));
        vec3 falcon = falcon_from_base(sample.position, FALCON_CENTRE_Z);
        assert_vec3_near(falcon, falcon_clamp_to_workspace(falcon), 1e-4);
        sim_truth truth;
        replay_truth_of(dev, &truth);
        if (n > 0)
            fastest = fmax(fastest, vec3_distance(truth.position, before.position) / 1e-3);
        before = truth;
        bool is_flagged = (sample.flags & DEVICE_HAS_JUMPED) != 0;
        flagged += is_flagged;
        for (int b = 0; b < path->break_count; b++)
            if (n * 1e-3 >= path->breaks[b].start + 1e-9 &&
                n * 1e-3 < path->breaks[b].end + path->breaks[b].glide - 1e-9)
                assert_true(is_flagged);
        /* a wall at the middle, rendered as the servo would: nothing where the position jumped */
        device_command c = {.force = {sample.position.x < 0 ? -500 * sample.position.x : 0, 0, 0}};
        if (is_flagged)
            c.force = (vec3){0, 0, 0};
        hr_status written = device_replay.write(dev, n * tick_ns, &c);
        assert_int_equal(written, HR_OK);
    }
    print_message("%-46s %-8s scale %.3f fastest %.3f m/s flagged %.1f %% held %d\n", r->file, mode,
                  path->scale, fastest, 100.0 * flagged / ticks, path->held);
    assert_true(fastest <= speed_limit);
    device_replay.close(dev);
}

static void every_recording_plays_safely(void **state)
{
    (void)state;
    for (int i = 0; i < HR_COUNT(recordings); i++) {
        play(&recordings[i], "pulled");
        play(&recordings[i], "imposed");
    }
}

/* Outside breaks the imposed handle is on the recorded samples, scaled and centred, to a count. */
static void the_imposed_handle_passes_through_the_samples(void **state)
{
    (void)state;
    const char *file = recordings[4].file;
    device *dev = open_replay(file, (device_setting[]){{"mode", "imposed", NULL}}, 1);
    const replay_path *path = replay_path_of(dev);
    char *text = NULL;
    size_t size = 0;
    hr_error error;
    replay_track track;
    assert_int_equal(text_file_read(file, &text, &size, &error), HR_OK);
    assert_int_equal(replay_track_parse(text, size, file, &track, &error), HR_OK);
    assert_int_equal(track.count, 6000);
    for (int n = 0; n < track.count; n++) {
        device_sample sample;
        assert_int_equal(device_replay.read(dev, n * 10 * tick_ns, &sample), HR_OK);
        vec3 expected = vec3_scale(path->scale, vec3_sub(track.points[n].position, path->centre));
        assert_vec3_near(sample.position, expected, 60e-6);
    }
    replay_track_free(&track);
    free(text);
    device_replay.close(dev);
}

static replay_path path_of(const char *csv, replay_shape shape)
{
    replay_track track;
    replay_path path;
    hr_error error = {""};
    hr_status status = replay_track_parse(csv, strlen(csv), "x.csv", &track, &error);
    if (status != HR_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, HR_OK);
    assert_int_equal(replay_path_build(&track, &shape, &path), HR_OK);
    replay_track_free(&track);
    return path;
}

static void a_jump_is_held_and_then_glided(void **state)
{
    (void)state;
    replay_shape shape = replay_shape_default();
    shape.is_centred = false;
    shape.scale = 1;
    replay_path path = path_of("time_s,x_m,y_m,z_m\n0,0,0,0\n0.01,0,0,0.0001\n0.02,0.03,0,0\n"
                               "0.03,0.03,0,0.0001\n5,0.03,0,0\n",
                               shape);
    assert_int_equal(path.break_count, 2);
    replay_place place;
    replay_path_at(&path, 0.015, &place);
    assert_true(place.is_broken);
    assert_vec3_near(place.position, ((vec3){0, 0, 0.0001}), 1e-12);
    /* 30 mm at 0.1 m/s in the middle of a minimum-jerk move: 1.875 * 0.03 / 0.1 s */
    double glide = path.breaks[0].glide;
    assert_near(glide, 1.875 * 0.03 / 0.1, 1e-4);
    double fastest = 0;
    vec3 before = {0, 0, 0};
    for (int n = 0; n < 5000; n++) {
        replay_path_at(&path, n * 1e-3, &place);
        fastest = fmax(fastest, vec3_distance(place.position, before) / 1e-3);
        before = place.position;
    }
    assert_true(fastest < 0.12);
    replay_path_at(&path, 5, &place);
    assert_true(place.is_broken); /* the second break has only just ended */
    replay_path_at(&path, 100, &place);
    assert_vec3_near(place.position, before, 0.03);
    replay_path_free(&path);
}

static void a_looped_path_comes_round_without_a_step(void **state)
{
    (void)state;
    replay_shape shape = replay_shape_default();
    shape.is_looped = true;
    replay_path path = path_of("0,0,0,0\n0.05,0.01,0,0\n0.1,0.02,0.01,0\n", shape);
    replay_place before;
    replay_path_at(&path, 0, &before);
    for (int n = 1; n < 3000; n++) {
        replay_place now;
        replay_path_at(&path, n * 1e-3, &now);
        assert_vec3_near(now.position, before.position, 0.6e-3);
        before = now;
    }
    assert_true(path.rewind >= 0.2);
    replay_path_free(&path);
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf# made by hand\r\n"
                               "hand.position_z_m, \"hand.position_y_m\",note,hand.position_x_m,"
                               "time_s,buttons\r\n"
                               "3,2,hello,1,0.5,5\r\n"
                               "\r\n"
                               "nan,2,hello,1,0.6,5\r\n"
                               "3,2,hello,1,0.4,5\r\n"
                               "3,2,hello,4,0.7,0\r\n";
    replay_track track;
    hr_error error = {""};
    assert_int_equal(replay_track_parse(text, strlen(text), "x.csv", &track, &error), HR_OK);
    assert_int_equal(track.count, 2);
    assert_int_equal(track.missing, 1);
    assert_int_equal(track.out_of_order, 1);
    assert_vec3_near(track.points[0].position, ((vec3){1, 2, 3}), 0);
    assert_int_equal(track.points[0].buttons, 5);
    assert_near(track.points[1].time, 0.7, 0);
    replay_track_free(&track);
}

static void broken_files_are_located(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "x.csv:1: expected a line time_s,x_m,y_m,z_m, found an empty file"},
        {"time,x,y\n1,2,3\n", "x.csv:1:1: expected a column time_s, found \"time,x,y\""},
        {"time_s,x_m,y_m,z_m\n", "x.csv:1: expected at least one sample, found none"},
        {"time_s,x_m,y_m,z_m\n0,1,2,3\n1,2,three,4\n",
         "x.csv:3:3: expected a finite number, found \"three\""},
        {"time_s,x_m,y_m,z_m\n0,1,2\n", "x.csv:2:4: expected a finite number, found nothing"},
        {"time_s,x_m,y_m,z_m\ninf,1,2,3\n", "x.csv:2:1: expected a time in s, found \"inf\""},
        {"time_s,x_m,y_m,z_m\n0,1,2,1e300\n", "x.csv:2:4: expected a finite number, found "
                                              "\"1e300\""},
        {"0,1,2,3\n0,1,2,3\n0,1,2,3\n",
         "x.csv: expected times that rise, found 2 rows of 3 that do not"},
    };
    for (int i = 0; i < HR_COUNT(wrong); i++) {
        replay_track track = {0};
        hr_error error = {""};
        assert_int_equal(
            replay_track_parse(wrong[i].text, strlen(wrong[i].text), "x.csv", &track, &error),
            HR_ERR_FORMAT);
        assert_string_equal(error.text, wrong[i].message);
        assert_null(track.points);
    }
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"mode", "both"},         {"axes", "xyy"},  {"axes", "xy"},   {"axes", "xyzz"},
        {"centre", "left"},       {"scale", "big"}, {"gap_s", "0"},   {"loop", "perhaps"},
        {"centre", "1 2 3 four"}, {"script", "x"},  {"scale", "1e9"}, {"jump_speed_m_per_s", "0"},
    };
    for (int i = 0; i < HR_COUNT(wrong); i++) {
        device_setting setting = {wrong[i][0], wrong[i][1], "my.conf:3"};
        device_settings settings = {&setting, 1};
        device *dev = NULL;
        hr_error error = {""};
        assert_int_not_equal(device_replay.open(recordings[3].file, &settings, &dev, &error),
                             HR_OK);
        assert_int_equal(strncmp(error.text, "my.conf:3: ", 11), 0);
        assert_null(dev);
    }
    device *dev = NULL;
    hr_error error = {""};
    assert_int_equal(device_replay.open("/no/such.csv", NULL, &dev, &error), HR_ERR_NOT_FOUND);
    assert_int_equal(device_replay.open("", NULL, &dev, &error), HR_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recording_plays_safely),
        cmocka_unit_test(the_imposed_handle_passes_through_the_samples),
        cmocka_unit_test(a_jump_is_held_and_then_glided),
        cmocka_unit_test(a_looped_path_comes_round_without_a_step),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(broken_files_are_located),
        cmocka_unit_test(wrong_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
