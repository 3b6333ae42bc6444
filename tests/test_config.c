#include <locale.h>
#include <string.h>

#include "config/config.h"
#include "tests/test.h"

typedef struct broken {
    const char *text;
    const char *message; /* must occur in the error */
} broken;

/* Each is refused with the place, the rule and what was found. */
static const broken broken_files[] = {
    {"servo { rate_hz = fast }",
     "t:1: rate_hz: expected a whole number from 500 to 4000, found \"fast\""},
    {"servo {\n rate_hz = 499 }", "t:2: rate_hz: expected a whole number from 500 to 4000"},
    {"servo { rate_hz = 4001 }", "t:1: rate_hz"},
    {"servo { rate_hz = 1000.5 }", "t:1: rate_hz: expected a whole number"},
    {"servo { rate_hz = nan }", "t:1: rate_hz"},
    {"servo { rate_hz = inf }", "t:1: rate_hz"},
    {"servo { rate_hz = \"\" }", "t:1: rate_hz"},
    {"servo { rate_hz = 1000 rate_hz = 2000 }", "t:1: expected \"rate_hz\" once"},
    {"servo { rate_hz = 1000 }\nservo { priority = 3 }", "t:2: expected \"servo\" once"},
    {"servo { rate = 1000 }", "t:1: expected a known key, found \"rate\""},
    {"motor { }", "t:1: expected a known key, found \"motor\""},
    {"servo { rate_hz 1000 }", "t:1: "},
    {"servo rate_hz = 1000", "t:1: "},
    {"servo { rate_hz = 1000", "t:1: "},
    {"}", "t:1: "},
    {"servo { allow_degraded = yes }",
     "t:1: allow_degraded: expected true or false, found \"yes\""},
    {"servo { priority = 0 }", "t:1: priority"},
    {"servo { cpu = -2 }", "t:1: cpu"},
    {"world { rate_hz = 5 }", "t:1: rate_hz: expected a whole number from 10 to 1000"},
    {"world { stale_fade_s = 0.3 stale_zero_s = 0.2 }", "expected stale_fade_s below stale_zero_s"},
    {"\nworld { rate_hz = 1000 }\nservo { rate_hz = 500 }",
     "t:2: world: expected rate_hz below servo.rate_hz"},
    {"coupling { stiffness_n_per_m = -1 }", "t:1: stiffness_n_per_m"},
    {"coupling { scene_from_base_m = {0, 0} }",
     "t:1: scene_from_base_m: expected {x, y, z}, found 2 values"},
    {"coupling { scene_from_base_m = {0, 0, a} }", "t:1: scene_from_base_m: expected a number"},
    {"coupling { scene_from_base_m = {0, 0, 11} }", "t:1: scene_from_base_m"},
    {"coupling { scale = 0 }", "t:1: scale"},
    {"safety { max_force_n = 51 }",
     "t:1: max_force_n: expected a number from 0 to 50, found \"51\""},
    {"safety { max_force_n = 8,5 }", "t:1: "},
    {"safety { max_force_n = 8N }", "t:1: max_force_n"},
    {"safety { max_speed_m_per_s = 0 }", "t:1: max_speed_m_per_s"},
    {"safety { device_stale_fade_s = 0.5 device_stale_zero_s = 0.1 }",
     "expected device_stale_fade_s below"},
    {"device { driver = \"sim\" }", "t:1: "},
    {"device \"a\" { }", "t:1: device \"a\": expected driver"},
    {"device \"\" { driver = \"sim\" }", "t:1: device: expected a name"},
    {"device \"a\" { driver = \"sim\" }\ndevice \"a\" { driver = \"sim\" }", "t:2: "},
    {"device \"a\" { driver = \"sim\" }\ndevice \"b\" { driver = \"sim\" }\n"
     "device \"c\" { driver = \"sim\" }\ndevice \"d\" { driver = \"sim\" }\n"
     "device \"e\" { driver = \"sim\" }",
     "t:5: expected at most 4 devices"},
    {"device \"a\" { driver = \"a driver with far too long a name for the field\" }",
     "driver: expected at most 31 characters"},
    {"device \"a\" { driver = \"sim\" grip = firm }", "t:1: expected a known key, found \"grip\""},
    {"trace { chunk_s = 0 }", "t:1: chunk_s"},
    {"control { enabled = 1 }", "t:1: enabled"},
    {"scene = {a, b}", "t:1: "},
    {"scene = \"sphere", "t:1: "},
    {"@", "t:1: "},
};

static void every_broken_file_is_refused_at_its_place(void **state)
{
    (void)state;
    config before, c;
    config_default(&before);
    for (int i = 0; i < HR_COUNT(broken_files); i++) {
        hr_error error = {{0}};
        c = before;
        hr_status status = config_parse(broken_files[i].text, "t", &c, &error);
        if (status == HR_OK || !strstr(error.text, broken_files[i].message))
            fail_msg("%s\ngave \"%s\"", broken_files[i].text, error.text);
        assert_memory_equal(&c, &before, sizeof(c)); /* nothing changed */
    }
    print_message("%d broken configurations refused\n", HR_COUNT(broken_files));
}

static void an_empty_file_gives_the_defaults(void **state)
{
    (void)state;
    config expected, c;
    config_default(&expected);
    snprintf(expected.file, sizeof(expected.file), "t");

    assert_int_equal(config_parse("# nothing\n", "t", &c, NULL), HR_OK);

    assert_memory_equal(&c, &expected, sizeof(c));
}

static void what_is_printed_reads_back_the_same(void **state)
{
    (void)state;
    static const char text[] =
        "scene = \"moving\"\nservo { rate_hz = 2000 cpu = 1 }\ncoupling { scale = 0.1 }\n"
        "device \"left\" { driver = \"sim\" scene_offset_m = {0.01, -0.02, 0.3333333333333333} }\n"
        "device \"right\" { driver = \"replay\" address = \"a \\\"b\\\" \\\\ c\"\n"
        "  settings { seed = 7\n  script = \"move 0 0 0 in 1\nhold 2\" } }\n";
    char printed[16384];
    config first, second;
    hr_error error = {{0}};
    if (config_parse(text, "t", &first, &error) != HR_OK)
        fail_msg("%s", error.text);

    int length = config_print(&first, printed, sizeof(printed));
    assert_in_range(length, 1, sizeof(printed) - 1);
    if (config_parse(printed, "t", &second, &error) != HR_OK)
        fail_msg("%s\n%s", error.text, printed);

    for (int i = 0; i < second.devices[1].setting_count; i++) /* lines may differ */
        memcpy(second.devices[1].settings[i].place, first.devices[1].settings[i].place,
               sizeof(first.devices[1].settings[i].place));
    assert_memory_equal(&first, &second, sizeof(first));
    assert_string_equal(first.devices[1].address, "a \"b\" \\ c");
}

static void settings_know_their_lines(void **state)
{
    (void)state;
    config c;
    assert_int_equal(config_parse("device \"a\" {\n driver = \"sim\"\n settings {\n  seed = 7\n"
                                  "  # grip = 1\n  grip = firm\n }\n}\n"
                                  "device \"b\" {\n driver = \"sim\"\n settings { seed = 8 } }",
                                  "f.conf", &c, NULL),
                     HR_OK);

    assert_string_equal(c.devices[0].settings[0].place, "f.conf:4");
    assert_string_equal(c.devices[0].settings[1].place, "f.conf:6");
    assert_string_equal(c.devices[1].settings[0].place, "f.conf:11");
    assert_string_equal(c.devices[1].settings[0].value, "8");
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    config c;
    const char *german = setlocale(LC_ALL, "de_DE.UTF-8"); /* NULL where it is not installed */
    hr_status status = config_parse("coupling { scale = 0.5 }", "t", &c, NULL);
    setlocale(LC_ALL, "C");

    print_message("locale %s\n", german ? german : "not installed; run in C");
    assert_int_equal(status, HR_OK);
    assert_near(c.coupling.scale, 0.5, 0);
}

static void the_shipped_file_states_the_defaults(void **state)
{
    (void)state;
    config shipped, expected;
    hr_error error = {{0}};
    if (config_load("config/default.conf", &shipped, &error) != HR_OK)
        fail_msg("%s", error.text);
    config_default(&expected);
    snprintf(expected.file, sizeof(expected.file), "config/default.conf");
    assert_memory_equal(&shipped, &expected, sizeof(shipped));
}

static void a_missing_or_binary_file_is_refused(void **state)
{
    (void)state;
    config c;
    hr_error error = {{0}};
    assert_int_not_equal(config_load("no/such.conf", &c, &error), HR_OK);
    assert_non_null(strstr(error.text, "no/such.conf: expected a readable file"));
    assert_int_not_equal(config_load("/proc/self/exe", &c, &error), HR_OK);
    assert_non_null(strstr(error.text, "expected a text file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_file_is_refused_at_its_place),
        cmocka_unit_test(an_empty_file_gives_the_defaults),
        cmocka_unit_test(what_is_printed_reads_back_the_same),
        cmocka_unit_test(settings_know_their_lines),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(the_shipped_file_states_the_defaults),
        cmocka_unit_test(a_missing_or_binary_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
