#include "tests/test.h"

#include <libxml/parser.h>
#include <string.h>

#include "server/svg_depth.h"
#include "server/svg_space.h"

static void the_paper_is_right_handed(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    for (int i = 0; i < 1000; i++) {
        space_view v =
            space_view_from(test_random_between(&r, -180, 180), test_random_between(&r, -90, 90));
        assert_vec3_near(vec3_cross(v.right, v.up), v.toward, 1e-12);
        assert_near(vec3_length(v.right), 1, 1e-12);
        assert_near(vec3_dot(v.right, v.up), 0, 1e-12);
    }
    space_view front = space_view_from(0, 0);
    assert_vec3_near(front.toward, ((vec3){1, 0, 0}), 1e-12); /* the operator is at +x */
    assert_vec3_near(front.right, ((vec3){0, 1, 0}), 1e-12);
    assert_vec3_near(space_view_from(0, 90).toward, ((vec3){0, 0, 1}), 1e-12);
}

/* Depth of a triangle's plane under a pixel by Cramer's rule, if the pixel is inside: the second
 * method. */
static bool depth_under(const depth_corner *c, double x, double y, double *out)
{
    double ax = c[1].x - c[0].x, ay = c[1].y - c[0].y, bx = c[2].x - c[0].x, by = c[2].y - c[0].y;
    double det = ax * by - ay * bx, px = x - c[0].x, py = y - c[0].y;
    double s = (px * by - py * bx) / det, t = (ax * py - ay * px) / det;
    *out = c[0].depth + s * (c[1].depth - c[0].depth) + t * (c[2].depth - c[0].depth);
    return s > 1e-9 && t > 1e-9 && s + t < 1 - 1e-9;
}

static void the_nearest_triangle_owns_the_pixel(void **state)
{
    (void)state;
    enum { SIZE = 40, TRIANGLES = 60 };
    test_random r = test_random_seed(11);
    depth_corner all[TRIANGLES][3];
    depth_picture *d = depth_create(SIZE, SIZE);
    assert_non_null(d);
    for (int i = 0; i < TRIANGLES; i++) {
        for (int k = 0; k < 3; k++)
            all[i][k] =
                (depth_corner){test_random_between(&r, -10, 50), test_random_between(&r, -10, 50),
                               test_random_between(&r, -1, 1)};
        depth_fill(d, all[i], 3, i);
    }
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double nearest = -HUGE_VAL;
            int owner = -1;
            for (int i = 0; i < TRIANGLES; i++) {
                double depth;
                if (depth_under(all[i], x + 0.5, y + 0.5, &depth) && depth > nearest) {
                    nearest = depth;
                    owner = i;
                }
            }
            if (owner >= 0)
                assert_near(depth_at(d, x, y), nearest, 1e-9);
            assert_int_equal(depth_owner_at(d, x, y), owner);
        }
    assert_true(isinf(depth_at(d, -1, 5)));
    depth_destroy(d);
}

/* A square of side 2 half at height z, seen from above. */
static void add_square(space *s, double half, double z, space_color color, int body)
{
    vec3 c[4] = {{-half, -half, z}, {half, -half, z}, {half, half, z}, {-half, half, z}};
    space_add_piece(s, c, 4, (vec3){0, 0, 1}, (space_paint){.color = color, .body = body});
}

static void what_is_behind_is_not_seen(void **state)
{
    (void)state;
    space *s = space_create();
    add_square(s, 0.01, 0, (space_color){1, 0, 0}, 0);
    space_view top = space_view_from(0, 90), below = space_view_from(0, -90);
    space_window w = {.width = 100, .height = 100};
    space_fit((const space *const[]){s}, 1, &top, 10, &w);
    vec3 points[3] = {{0, 0, 0.001}, {0, 0, -0.001}, {0.0105, 0, -0.001}};

    assert_int_equal(space_count_visible(s, &top, &w, points, 3, 0), 2);
    assert_int_equal(space_count_visible(s, &top, &w, points, 3, 0.002), 3);
    /* from below the square has its back to us: not drawn, hides nothing */
    assert_int_equal(space_count_visible(s, &below, &w, points, 3, 0), 3);
    space_destroy(s);
}

static void the_fit_leaves_the_margin(void **state)
{
    (void)state;
    space *s = space_create();
    add_square(s, 0.02, 0, (space_color){1, 1, 1}, 0);
    space_view top = space_view_from(0, 90);
    space_window w = {.left = 7, .top = 3, .width = 200, .height = 120};

    space_fit((const space *const[]){s}, 1, &top, 20, &w);

    assert_near(w.scale, 80 / 0.04, 1e-6); /* the height decides: 120 - 2 * 20 px for 40 mm */
    double x, y;
    space_project(&top, &w, (vec3){0, 0, 0}, &x, &y);
    assert_near(x, 107, 1e-9);
    assert_near(y, 63, 1e-9);
    space_destroy(s);
}

static char *written(const space *s, const space_view *v, const space_window *w)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fputs("<svg>", f);
    space_write(s, v, w, f);
    fputs("</svg>", f);
    fclose(f);
    return text;
}

static void the_nearer_piece_is_painted_last(void **state)
{
    (void)state;
    space *s = space_create();
    /* added nearest first; red is lower and larger */
    add_square(s, 0.005, 0.01, (space_color){0, 1, 0}, 0);
    add_square(s, 0.01, 0, (space_color){1, 0, 0}, 1);
    add_square(s, 0.004, -0.01, (space_color){0, 0, 1}, 2); /* hidden altogether */
    vec3 path[2] = {{0, 0, -0.02}, {0.001, 0, -0.02}};
    space_add_line(s, path, 2, (space_pen){.color = "#123456", .width = 1, .hidden = 0.25});
    space_add_arrow(s, path[0], (vec3){0, 0.01, 0.01}, (space_pen){.color = "#654321", .width = 2});
    space_add_dot(s, path[0], 0, 3, "#fff", "#000");
    space_view top = space_view_from(0, 90);
    space_window w = {.width = 100, .height = 100};
    space_fit((const space *const[]){s}, 1, &top, 10, &w);

    char *text = written(s, &top, &w);

    xmlDoc *doc = xmlReadMemory(text, (int)strlen(text), "x", NULL, XML_PARSE_NOERROR);
    assert_non_null(doc);
    xmlFreeDoc(doc);
    const char *green = strstr(text, "color=\"#00"), *red = strstr(text, "0000\"");
    assert_non_null(green);
    assert_non_null(red);
    assert_true(red < green);
    assert_null(strstr(text, "color=\"#0000"));
    assert_non_null(strstr(text, "stroke=\"#123456\" stroke-width=\"1\" stroke-opacity=\"0.25\""));
    assert_non_null(strstr(text, "#654321"));
    assert_non_null(strstr(text, "<circle"));
    free(text);
    space_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_is_right_handed),
        cmocka_unit_test(the_nearest_triangle_owns_the_pixel),
        cmocka_unit_test(what_is_behind_is_not_seen),
        cmocka_unit_test(the_fit_leaves_the_margin),
        cmocka_unit_test(the_nearer_piece_is_painted_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
