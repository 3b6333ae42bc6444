#include "tests/test.h"

#include <libxml/parser.h>
#include <string.h>

#include "server/trace_hash.h"
#include "server/trace_scene.h"
#include "tests/support/recorded_run.h"

static const char *output(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof paths[0], "%s/tests/%s", build ? build : "build", name);
    return path;
}

static char *draw(const char *trace, const trace_scene_options *o, const char *name)
{
    hr_error error = {""};
    char *text = NULL;
    size_t size = 0;
    const char *path = output(name);
    double off = -1;
    if (trace_scene_plot(trace, o, path, &off, &error) != HR_OK)
        fail_msg("%s", error.text);
    assert_true(off >= 0 && off < 0.02);
    assert_int_equal(trace_read_file(path, 1 << 26, &text, &size, &error), HR_OK);
    xmlDoc *doc = xmlReadMemory(text, (int)size, name, NULL, XML_PARSE_NOERROR | XML_PARSE_HUGE);
    assert_non_null(doc);
    xmlFreeDoc(doc);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static int make_recording(void **state)
{
    const char *path = output("trace_scene.mcap");
    *state = strdup(path);
    recorded_run_write(path,
                       (recorded_run){.scene = "moving", .seed = 5, .hands = 2, .ticks = 1500});
    return 0;
}

static int drop_recording(void **state)
{
    remove(*state);
    free(*state);
    return 0;
}

static void every_chosen_time_has_its_picture(void **state)
{
    trace_scene_options o = {.time_count = 4, .times = {0.2, 0.7, 1.0, 1.4}};
    char *text = draw(*state, &o, "trace_scene_four.svg");

    assert_int_equal(count(text, "<clipPath"), 4);
    assert_int_equal(count(text, "fill=\"#0072b2\" stroke=\"#ffffff\""),
                     8); /* two proxies in each */
    assert_non_null(strstr(text, ">2   0.70 s<"));
    assert_true(count(text, "<path color=") > 400); /* bodies: a ball, a box and a floor */
    free(text);
}

static void without_times_the_strongest_moments_are_shown(void **state)
{
    trace_scene_options o = {.from = 0};
    char *text = draw(*state, &o, "trace_scene_own.svg");

    int panels = count(text, "<clipPath");
    assert_in_range(panels, 1, 3);
    assert_int_equal(count(text, "touching nothing"), 0);
    assert_true(count(text, ", touching ") == panels);
    free(text);
}

static void the_same_recording_gives_the_same_bytes(void **state)
{
    trace_scene_options o = {.time_count = 1, .times = {0.9}};
    char *first = draw(*state, &o, "trace_scene_a.svg"),
         *second = draw(*state, &o, "trace_scene_b.svg");

    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* x and y of the first circle with this look. */
static void find_dot(const char *text, const char *look, double *x, double *y)
{
    const char *at = strstr(text, look);
    assert_non_null(at);
    while (strncmp(at, "<circle", 7) != 0)
        at--;
    assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", x, y), 2);
}

/* The front view shows y to the right and z up, to the scale of its ruler; the side view y into the
 * paper and -x to the right. What moved is the first hand, whose path is imposed: recorded_run.c.
 */
static void the_ruler_measures_the_picture(void **state)
{
    trace_scene_options o = {.time_count = 2, .times = {0.3, 1.2}};
    assert_true(trace_scene_view("front", &o));
    o.has_view = true;
    char *text = draw(*state, &o, "trace_scene_front.svg");
    double x[2], y[2], length, ruler;
    find_dot(text, "fill=\"#ffffff\" stroke=\"#d55e00\"", &x[0], &y[0]);
    const char *second = strstr(text, "url(#space1)");
    find_dot(second, "fill=\"#ffffff\" stroke=\"#d55e00\"", &x[1], &y[1]);
    const char *bar = strstr(text, "v6m0 -3h");
    assert_non_null(bar);
    assert_int_equal(sscanf(bar, "v6m0 -3h%lf", &length), 1);
    const char *words = strstr(bar, " mm<");
    while (*words != '>')
        words--;
    assert_int_equal(sscanf(words, ">%lf mm", &ruler), 1);
    double mm_per_px = ruler / length;

    /* tool of hand 0 at t: y = in 20 mm sin(0.17 p), z = 30 mm - in (34 + 12 sin(0.9 p)) mm with
     * p = 2 pi t, in = min(1, 2 (t - 0.3)); ticks begin 1 ms after the first tick's zero */
    double p = 2 * M_PI * 1.2;
    double dy = 20 * sin(0.17 * p), dz = -(34 + 12 * sin(0.9 * p));
    assert_near((x[1] - 454 - x[0]) * mm_per_px, dy, 0.5);
    assert_near((y[0] - y[1]) * mm_per_px, dz, 0.8);
    free(text);
}

static void bad_wishes_are_refused(void **state)
{
    hr_error error = {""};
    trace_scene_options late = {.time_count = 1, .times = {99}}, o = {.from = 50};
    const char *path = output("trace_scene_bad.svg");
    assert_int_not_equal(trace_scene_plot(*state, &late, path, NULL, &error), HR_OK);
    assert_non_null(strstr(error.text, "expected times before 1.500 s, found 99"));
    assert_int_not_equal(trace_scene_plot(*state, &o, path, NULL, &error), HR_OK);
    assert_non_null(strstr(error.text, "expected a start before"));
    assert_false(trace_scene_view("left", &o));
    assert_false(trace_scene_view("10", &o));
    assert_false(trace_scene_view("10,", &o));
    assert_false(trace_scene_view("10,91", &o));
    assert_true(trace_scene_view("-20,15.5", &o));
    assert_near(o.azimuth, -20, 0);
    assert_near(o.elevation, 15.5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chosen_time_has_its_picture),
        cmocka_unit_test(without_times_the_strongest_moments_are_shown),
        cmocka_unit_test(the_same_recording_gives_the_same_bytes),
        cmocka_unit_test(the_ruler_measures_the_picture),
        cmocka_unit_test(bad_wishes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_recording, drop_recording);
}
