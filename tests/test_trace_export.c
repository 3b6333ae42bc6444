#include "tests/support/recorded_run.h"
#include "tests/support/recording.h"

#include <hdf5.h>
#include <libxml/parser.h>
#include <string.h>

#include "server/trace_export.h"
#include "server/trace_plot.h"

enum { TICKS = 60 };

typedef struct fixture {
    char path[512];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s", recording_path("export.mcap"));
    recording_write(f->path, 31, 2, TICKS);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static trace_reader *open_reader(const char *path)
{
    trace_reader *r;
    hr_error error;
    assert_int_equal(trace_reader_open(path, &r, &error), HR_OK);
    return r;
}

/* The recorded ticks, made again from the seed. */
static void make_ticks(tick_record records[TICKS][2])
{
    test_random r = {31};
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        recording_command(&r, tick);
        for (int hand = 0; hand < 2; hand++) {
            recording_frame(&r, tick / 4 + 1, hand, test_random_index(&r, 4));
            records[tick][hand] = recording_tick(&r, tick, hand);
        }
    }
}

/* Column by its name in a CSV line, as text. */
static const char *cell(const char *header, const char *line, const char *name)
{
    static char text[128];
    size_t length = strlen(name);
    while (!(strncmp(header, name, length) == 0 && strchr(",\n", header[length]))) {
        header = strchr(header, ',');
        line = strchr(line, ',');
        assert_non_null(header);
        assert_non_null(line);
        header++;
        line++;
    }
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, ",\n"), line);
    return text;
}

static void csv_gives_the_same_bits_back(void **state)
{
    const fixture *f = *state;
    static tick_record expected[TICKS][2];
    make_ticks(expected);
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("export.csv"));
    trace_reader *r = open_reader(f->path);
    hr_error error;
    FILE *out = fopen(path, "w");
    assert_int_equal(trace_export_csv(r, out, &error), HR_OK);
    fclose(out);
    trace_reader_close(r);

    FILE *in = fopen(path, "r");
    static char header[16384], line[65536];
    assert_non_null(fgets(header, sizeof header, in));
    for (int tick = 0; tick < TICKS; tick++) {
        assert_non_null(fgets(line, sizeof line, in));
        const tick_record *e = expected[tick];
        assert_int_equal(atoi(cell(header, line, "tick")), tick);
        assert_near(atof(cell(header, line, "time_s")), 0.001 * tick, 1e-12);
        double z = strtod(cell(header, line, "left_force_z_n"), NULL);
        assert_memory_equal(&z, &e[1].force.z, sizeof z);
        double x = strtod(cell(header, line, "right_sample_position_x_m"), NULL);
        assert_memory_equal(&x, &e[0].sample.position.x, sizeof x);
        double joint = strtod(cell(header, line, "right_sample_joints_7"), NULL);
        assert_memory_equal(&joint, &e[0].sample.joints[7], sizeof joint);
        assert_true(strtoull(cell(header, line, "left_contact_key"), NULL, 10) == e[1].contact_key);
        assert_int_equal(atoi(cell(header, line, "right_write_status")), HR_ERR_DISABLED);
        bool is_clamped = strstr(cell(header, line, "right_reason_names"), "clamp") != NULL;
        assert_int_equal(is_clamped, (e[0].reasons & REASON_CLAMP) != 0);
    }
    assert_null(fgets(line, sizeof line, in));
    fclose(in);
}

static void hdf5_holds_every_field(void **state)
{
    const fixture *f = *state;
    static tick_record expected[TICKS][2];
    make_ticks(expected);
    char path[512];
    snprintf(path, sizeof path, "%s", recording_path("export.h5"));
    trace_reader *r = open_reader(f->path);
    hr_error error;
    assert_int_equal(trace_export_hdf5(r, path, &error), HR_OK);
    trace_reader_close(r);

    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    for (int i = 0; i < trace_tick_field_count; i++) {
        const trace_field *field = &trace_tick_fields[i];
        if (strcmp(field->name, "reserved") == 0)
            continue;
        char name[96];
        snprintf(name, sizeof name, "/hands/left/tick/%s", field->name);
        hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
        assert_true(set >= 0);
        size_t size = trace_type_size(field->type) * (size_t)field->count;
        uint8_t *values = malloc(size * TICKS);
        hid_t type = H5Dget_type(set);
        assert_int_equal(H5Dget_storage_size(set) > 0, true);
        assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        for (int tick = 0; tick < TICKS; tick++)
            assert_memory_equal(values + (size_t)tick * size,
                                (uint8_t *)&expected[tick][1] + field->offset, size);
        free(values);
        H5Tclose(type);
        H5Dclose(set);
    }
    hid_t set = H5Dopen2(file, "/hands/right/frame/arrival_tick", H5P_DEFAULT);
    uint64_t arrivals[TICKS / 4];
    assert_true(H5Dread(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, arrivals) >= 0);
    for (int i = 0; i < TICKS / 4; i++)
        assert_int_equal(arrivals[i], 4 * i);
    H5Dclose(set);
    H5Fclose(file);

    r = open_reader(f->path);
    assert_int_equal(trace_export_hdf5(r, "/nowhere/x.h5", &error), HR_ERR_IO);
    trace_reader_close(r);
}

static void bids_has_a_column_for_every_channel(void **state)
{
    const fixture *f = *state;
    char base[512], path[600];
    snprintf(base, sizeof base, "%s", recording_path("export"));
    trace_reader *r = open_reader(f->path);
    hr_error error;
    assert_int_equal(trace_export_bids(r, base, &error), HR_OK);
    trace_reader_close(r);

    static char line[65536];
    int channels = -1, rows = 0; /* the channels table has a header */
    snprintf(path, sizeof path, "%s_channels.tsv", base);
    FILE *in = fopen(path, "r");
    while (fgets(line, sizeof line, in))
        channels++;
    fclose(in);
    snprintf(path, sizeof path, "%s_motion.tsv", base);
    in = fopen(path, "r");
    while (fgets(line, sizeof line, in)) {
        int columns = 1;
        for (const char *c = line; *c; c++)
            columns += *c == '\t';
        assert_int_equal(columns, channels);
        rows++;
    }
    fclose(in);
    assert_int_equal(channels, 1 + 2 * 13);
    assert_int_equal(rows, TICKS);
}

static void a_picture_is_drawn(void **state)
{
    const fixture *f = *state;
    char run[512], path[512];
    hr_error error = {""};
    snprintf(run, sizeof run, "%s", recording_path("plot.mcap"));
    snprintf(path, sizeof path, "%s", recording_path("plot.svg"));
    recorded_run_write(run, (recorded_run){"moving", 2, 2, 1500});

    assert_int_equal(trace_plot(run, 0, 0, path, &error), HR_OK);
    xmlDoc *document = xmlReadFile(path, NULL, XML_PARSE_NONET);
    assert_non_null(document);
    xmlChar *text = xmlNodeGetContent(xmlDocGetRootElement(document));
    static const char *const expected[] = {"right: where the handle is",
                                           "startup",
                                           "in contact",
                                           "wanted",
                                           "applied",
                                           "left1: distance"};
    for (int i = 0; i < HR_COUNT(expected); i++)
        if (!strstr((const char *)text, expected[i]))
            fail_msg("the picture does not say \"%s\"", expected[i]);
    xmlFree(text);
    xmlFreeDoc(document);

    assert_int_equal(trace_plot(run, 0.5, 0.6, path, &error), HR_OK);
    assert_int_equal(trace_plot(run, 99, 0, path, &error), HR_ERR_ARGUMENT);
    assert_int_equal(trace_plot(f->path, 0, 0, "/nowhere/x.svg", &error), HR_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_gives_the_same_bits_back),
        cmocka_unit_test(hdf5_holds_every_field),
        cmocka_unit_test(bids_has_a_column_for_every_channel),
        cmocka_unit_test(a_picture_is_drawn),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
