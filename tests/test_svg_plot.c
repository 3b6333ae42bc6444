#include "tests/test.h"

#include <libxml/parser.h>
#include <string.h>

#include "server/svg_axis.h"
#include "server/svg_plot.h"

static const char *output(const char *name)
{
    static char path[512];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/tests/%s", build ? build : "build", name);
    return path;
}

/* The document, parsed by a real XML parser; NULL if it is not well formed. */
static xmlDoc *parse(const char *path)
{
    return xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR);
}

static int count_elements(const xmlNode *node, const char *name)
{
    int count = 0;
    for (; node; node = node->next) {
        count += node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
        count += count_elements(node->children, name);
    }
    return count;
}

static long file_size(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    return size;
}

static void ticks_are_round_and_inside_the_range(void **state)
{
    (void)state;
    test_random r = test_random_seed(7);
    for (int k = 0; k < 2000; k++) {
        double low = test_random_between(&r, -1, 1) * pow(10, test_random_between(&r, -9, 9));
        double size = pow(10, test_random_between(&r, -3, 9)) * fmax(1e-6, fabs(low));
        svg_span_map m = {.low = low, .high = low + size, .from = 0, .to = 100};
        svg_tick ticks[SVG_TICKS_MAX];

        int count = svg_ticks(&m, 6, ticks);

        /* a 1-2-5 step is at most 2.5 times what was asked for */
        assert_in_range(count, 2, 7);
        for (int i = 0; i < count; i++) {
            assert_true(ticks[i].value >= m.low - 1e-6 * size);
            assert_true(ticks[i].value <= m.high + 1e-6 * size);
        }
    }
    svg_span_map tenths = {.low = 0, .high = 0.5, .from = 0, .to = 100};
    svg_tick ticks[SVG_TICKS_MAX];
    assert_int_equal(svg_ticks(&tenths, 5, ticks), 6);
    assert_string_equal(ticks[3].text, "0.3");
}

static void decades_are_labelled_on_a_logarithmic_axis(void **state)
{
    (void)state;
    svg_span_map m = {.low = 1e-9, .high = 1e3, .from = 0, .to = 100, .is_log = true};
    svg_tick ticks[SVG_TICKS_MAX];

    int count = svg_ticks(&m, 20, ticks);

    assert_int_equal(count, 13);
    assert_int_equal(ticks[0].exponent, -9);
    assert_string_equal(ticks[9].text, "1");
    assert_near(svg_map(&m, 1e-3), 50, 1e-9); /* half way in the exponent */
    assert_near(svg_unmap(&m, 50), 1e-3, 1e-12);
    assert_true(isnan(svg_map(&m, 0)));
}

static void every_kind_of_item_makes_well_formed_svg(void **state)
{
    (void)state;
    enum { N = 200 };
    double t[N + 1];
    double a[N];
    double b[N];
    double c[N];
    for (int i = 0; i < N; i++) {
        t[i] = 0.01 * i;
        a[i] = sin(6 * t[i]) + (i == 50 ? (double)NAN : 0);
        b[i] = a[i] - 0.2;
        c[i] = a[i] + 0.3;
    }
    t[N] = 0.01 * N;
    svg_figure *f = svg_create("Everything <at> once & more", 2);
    svg_panel *p = svg_add_panel(f, "lines", (svg_axis){.label = "time (s)"},
                                 (svg_axis){.label = "force (N)"});
    svg_span(p, 0.5, 0.7, "clamped", (svg_style){.color = "#d55e00"});
    svg_band(p, t, b, c, N, "range", (svg_style){0});
    svg_line(p, t, a, N, "applied \"x\"", (svg_style){0});
    svg_mark_y(p, 0.9, "limit", (svg_style){.color = "#aa0000", .is_dashed = true});
    p = svg_add_panel(f, "log", (svg_axis){.label = "error (m)", .is_log = true},
                      (svg_axis){.label = "count", .is_log = true});
    double edges[6] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
    svg_bars(p, edges, (double[5]){3, 90, 1200, 40, 1}, 5, "all", (svg_style){0});
    svg_mark_x(p, 3e-6, "bound", (svg_style){0});
    p = svg_add_panel(f, "space", (svg_axis){.label = "x (m)"}, (svg_axis){.label = "y (m)"});
    svg_equal_aspect(p);
    svg_circle(p, 0, 0, 0.05, "ball", (svg_style){0});
    svg_polygon(p, (double[3]){0.06, 0.1, 0.08}, (double[3]){0, 0, 0.05}, 3, "wedge",
                (svg_style){0});
    svg_arrow(p, 0, 0.05, 0.02, 0.03, "force", (svg_style){.width = 2});
    svg_points(p, t, b, 20, "samples", (svg_style){0});
    svg_text(p, 0.02, 0.09, "here");
    p = svg_add_panel(f, "map", (svg_axis){.label = "stiffness (N/m)", .is_log = true},
                      (svg_axis){.label = "grip (N)"});
    svg_heat(p, (svg_grid){10, 1000, 0, 20, 20, 10}, a, "energy (J)");

    hr_error error = {{0}};
    assert_int_equal(svg_write(f, output("everything.svg"), &error), HR_OK);
    svg_destroy(f);

    xmlDoc *doc = parse(output("everything.svg"));
    assert_non_null(doc);
    /* background, 4 frames, 4 clips, span and 4 keys (range, clamped, bars, ball, wedge), 200
     * cells, 48 parts of the colour bar */
    assert_true(count_elements(xmlDocGetRootElement(doc), "rect") >= 200 + 48 + 4 + 4 + 1);
    assert_int_equal(count_elements(xmlDocGetRootElement(doc), "circle"), 20 + 1);
    xmlFreeDoc(doc);
}

static void a_million_samples_stay_a_small_file(void **state)
{
    (void)state;
    enum { N = 1000000 };
    double *t = malloc(N * sizeof *t);
    double *y = malloc(N * sizeof *y);
    assert_true(t && y);
    for (int i = 0; i < N; i++) {
        t[i] = 1e-3 * i;
        y[i] = sin(t[i]) + (i == 123456 ? 9 : 0);
    }
    svg_figure *f = svg_create("", 1);
    svg_line(svg_add_panel(f, "", (svg_axis){0}, (svg_axis){0}), t, y, N, "", (svg_style){0});
    hr_error error = {{0}};

    assert_int_equal(svg_write(f, output("dense.svg"), &error), HR_OK);

    svg_destroy(f);
    free(t);
    free(y);
    /* at most four numbers per half pixel of 636: below 100 kB */
    assert_in_range(file_size(output("dense.svg")), 1000, 100000);
}

static void empty_and_odd_data_still_give_a_picture(void **state)
{
    (void)state;
    double nothing[2] = {(double)NAN, (double)INFINITY};
    double same[2] = {5, 5};
    double huge[2] = {-1e308, 1e308};
    svg_figure *f = svg_create(NULL, 3);
    svg_add_panel(f, NULL, (svg_axis){0}, (svg_axis){.is_log = true});
    svg_line(svg_add_panel(f, "", (svg_axis){.is_log = true}, (svg_axis){0}), nothing, nothing, 2,
             "none", (svg_style){0});
    svg_points(svg_add_panel(f, "", (svg_axis){0}, (svg_axis){.is_log = true}), same, same, 2,
               "one", (svg_style){0});
    svg_line(svg_add_panel(f, "", (svg_axis){0}, (svg_axis){0}), huge, same, 2, "huge",
             (svg_style){0});
    svg_heat(svg_add_panel(f, "", (svg_axis){0}, (svg_axis){0}), (svg_grid){0, 1, 0, 1, 2, 1},
             nothing, "J");
    svg_line(NULL, same, same, 2, "", (svg_style){0});
    hr_error error = {{0}};

    assert_int_equal(svg_write(f, output("odd.svg"), &error), HR_OK);

    xmlDoc *doc = parse(output("odd.svg"));
    assert_non_null(doc);
    xmlFreeDoc(doc);
    assert_int_equal(svg_write(f, "/nowhere/at/all.svg", &error), HR_ERR_IO);
    assert_non_null(strstr(error.text, "/nowhere/at/all.svg"));
    svg_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_inside_the_range),
        cmocka_unit_test(decades_are_labelled_on_a_logarithmic_axis),
        cmocka_unit_test(every_kind_of_item_makes_well_formed_svg),
        cmocka_unit_test(a_million_samples_stay_a_small_file),
        cmocka_unit_test(empty_and_odd_data_still_give_a_picture),
    };
    return cmocka_run_group_tests_name("svg_plot", tests, NULL, NULL);
}
