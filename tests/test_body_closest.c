/* Globally nearest points: against dense sampling with zooming, closed formulas, all triangles. */
#include "tests/test.h"

#include <string.h>

#include "collide/closest.h"
#include "collide/mesh_closest.h"
#include "geometry/body_closest.h"
#include "geometry/body_draft.h"

static const char *const shipped[] = {
    "config/bodies/egg.json",         "config/bodies/quarter-sphere.json",
    "config/bodies/cylinder.json",    "config/bodies/roof.json",
    "config/bodies/sphere-six.json",  "config/bodies/teapot.json",
    "config/bodies/saddle.json",      "config/bodies/tube.json",
    "config/bodies/waves.json",       "config/bodies/hills.json",
    "tests/data/bodies/lemon_a.json", "tests/data/bodies/lemon_b.json",
    "tests/data/bodies/va_patch.json"};

static parametric_body load(const char *path)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    return b;
}

static parametric_body parse(const char *text)
{
    parametric_body b;
    hr_error error = {""};
    if (body_parse_json(text, "test", &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    return b;
}

static vec3 point_near(test_random *r, const parametric_body *b)
{
    vec3 size = vec3_sub(b->box_high, b->box_low);
    return (vec3){b->box_low.x + size.x * test_random_between(r, -0.6, 1.6),
                  b->box_low.y + size.y * test_random_between(r, -0.6, 1.6),
                  b->box_low.z + size.z * test_random_between(r, -0.6, 1.6)};
}

/* --- the second method --------------------------------------------------------------------------
 */

enum { DENSE = 33, KEPT = 6 };

typedef struct dense_sample {
    vec3 p;
    int surface;
    double u, v;
} dense_sample;

static dense_sample *sample_densely(const parametric_body *b, int *count)
{
    dense_sample *out = calloc((size_t)b->surface_count * DENSE * DENSE, sizeof *out);
    assert_non_null(out);
    *count = 0;
    for (int s = 0; s < b->surface_count; s++)
        for (int k = 0; k < DENSE * DENSE; k++) {
            const nurbs_surface *n = &b->surfaces[s];
            int row = k / DENSE, column = k % DENSE;
            double u = nurbs_surface_low(n, 0) +
                       (nurbs_surface_high(n, 0) - nurbs_surface_low(n, 0)) * row / (DENSE - 1);
            double v = nurbs_surface_low(n, 1) +
                       (nurbs_surface_high(n, 1) - nurbs_surface_low(n, 1)) * column / (DENSE - 1);
            out[(*count)++] = (dense_sample){nurbs_surface_point(n, u, v), s, u, v};
        }
    return out;
}

/* Shrinking 5 x 5 grids around a start: slow, without derivatives, nothing shared with the search.
 */
static double zoom(const nurbs_surface *s, double u, double v, vec3 q)
{
    double hu = 1.5 * (nurbs_surface_high(s, 0) - nurbs_surface_low(s, 0)) / (DENSE - 1);
    double hv = 1.5 * (nurbs_surface_high(s, 1) - nurbs_surface_low(s, 1)) / (DENSE - 1);
    double best = vec3_distance(nurbs_surface_point(s, u, v), q);
    for (int round = 0; round < 36; round++, hu *= 0.6, hv *= 0.6) {
        double cu = u, cv = v;
        for (int k = 0; k < 25; k++) {
            int row = k / 5, column = k % 5;
            double x = fmin(fmax(cu + hu * (row - 2) / 2, nurbs_surface_low(s, 0)),
                            nurbs_surface_high(s, 0));
            double y = fmin(fmax(cv + hv * (column - 2) / 2, nurbs_surface_low(s, 1)),
                            nurbs_surface_high(s, 1));
            double d = vec3_distance(nurbs_surface_point(s, x, y), q);
            if (d < best) {
                best = d;
                u = x;
                v = y;
            }
        }
    }
    return best;
}

static double brute_distance(const parametric_body *b, const dense_sample *samples, int count,
                             vec3 q)
{
    int kept[KEPT];
    double near[KEPT];
    for (int i = 0; i < KEPT; i++)
        near[i] = HUGE_VAL;
    for (int i = 0; i < count; i++) {
        double d = vec3_length_squared(vec3_sub(samples[i].p, q));
        if (d >= near[KEPT - 1])
            continue;
        int k = KEPT - 1;
        for (; k > 0 && near[k - 1] > d; k--) {
            near[k] = near[k - 1];
            kept[k] = kept[k - 1];
        }
        near[k] = d;
        kept[k] = i;
    }
    double best = HUGE_VAL;
    for (int i = 0; i < KEPT; i += 2) {
        const dense_sample *s = &samples[kept[i]];
        best = fmin(best, zoom(&b->surfaces[s->surface], s->u, s->v, q));
    }
    return best;
}

static void nothing_is_nearer_than_the_nearest_point(void **state)
{
    (void)state;
    test_random r = test_random_seed(21);
    for (int k = 0; k < HR_COUNT(shipped); k++) {
        parametric_body b = load(shipped[k]);
        body_finder *f = body_finder_create(&b);
        int count;
        dense_sample *samples = sample_densely(&b, &count);
        double worst = -HUGE_VAL;
        for (int i = 0; i < test_effort(1000); i++) {
            vec3 q = point_near(&r, &b);
            body_nearest n;
            assert_int_equal(body_find_nearest(f, q, &n), HR_OK);
            assert_vec3_near(nurbs_surface_point(&b.surfaces[n.patch], n.u, n.v), n.p,
                             1e-14 * b.size);
            assert_near(fabs(n.distance), vec3_distance(n.p, q), 1e-14 * b.size);
            double brute = brute_distance(&b, samples, count, q);
            worst = fmax(worst, fabs(n.distance) - brute);
            assert_true(fabs(n.distance) <= brute + 1e-9 * b.size);
        }
        print_message("%s: never farther than by %.1e of the size\n", shipped[k], worst / b.size);
        free(samples);
        body_finder_destroy(f);
        parametric_body_free(&b);
    }
}

/* --- closed formulas
 * ------------------------------------------------------------------------------ */

static double sphere_distance(vec3 q)
{
    return vec3_length(q) - 0.7;
}

static double torus_distance(vec3 q)
{
    return hypot(hypot(q.x, q.y) - 1.0, q.z) - 0.3;
}

/* A cylinder of radius 0.5, height 2, with its two discs. */
static double can_distance(vec3 q)
{
    double radial = hypot(q.x, q.y) - 0.5, axial = fabs(q.z) - 1.0;
    if (radial <= 0 && axial <= 0)
        return fmax(radial, axial);
    return hypot(fmax(radial, 0), fmax(axial, 0));
}

static void shapes_give_their_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double (*distance)(vec3);
    } cases[] = {
        {"{\"kind\":\"body\",\"patches\":[{\"shape\":\"sphere\",\"radius\":0.7}]}",
         sphere_distance},
        {"{\"kind\":\"body\",\"convex\":false,\"patches\":[{\"shape\":\"torus\",\"radius\":1,"
         "\"tube\":0.3}]}",
         torus_distance},
        {"{\"kind\":\"body\",\"patches\":[{\"shape\":\"cylinder\",\"radius\":0.5,\"height\":2},"
         "{\"shape\":\"disc\",\"radius\":0.5,\"origin\":[0,0,-1]},"
         "{\"shape\":\"disc\",\"radius\":0.5,\"origin\":[0,0,1]}]}",
         can_distance},
    };
    test_random r = test_random_seed(22);
    for (int k = 0; k < HR_COUNT(cases); k++) {
        parametric_body b = parse(cases[k].text);
        body_finder *f = body_finder_create(&b);
        assert_true(b.is_closed);
        for (int i = 0; i < test_effort(2000); i++) {
            vec3 q = point_near(&r, &b);
            body_nearest n;
            assert_int_equal(body_find_nearest(f, q, &n), HR_OK);
            assert_near(n.distance, cases[k].distance(q), 1e-9);
        }
        body_finder_destroy(f);
        parametric_body_free(&b);
    }
}

/* Where a whole family of points is equally near, and on the surface itself. */
static void degenerate_points_are_answered(void **state)
{
    (void)state;
    parametric_body b =
        parse("{\"kind\":\"body\",\"patches\":[{\"shape\":\"sphere\",\"radius\":0.7}]}");
    body_finder *f = body_finder_create(&b);
    static const vec3 points[] = {{0, 0, 0},    {1e-9, 0, 0}, {0, 0, 0.7},     {0, 0, 2.0},
                                  {0, 0, 1e-4}, {0.7, 0, 0},  {1e7, 2e7, -1e7}};
    for (int i = 0; i < HR_COUNT(points); i++) {
        body_nearest n;
        assert_int_equal(body_find_nearest(f, points[i], &n), HR_OK);
        assert_close(n.distance, sphere_distance(points[i]), 1e-9);
        assert_true(n.nodes < 20000);
    }
    body_nearest n;
    assert_int_equal(body_find_nearest(f, (vec3){(double)NAN, 0, 0}, &n), HR_ERR_NOT_FINITE);
    body_finder_destroy(f);
    parametric_body_free(&b);
}

/* Rings of equally near points: seen from the axis of a body of revolution. */
static void rings_of_nearest_points_are_closed_quickly(void **state)
{
    (void)state;
    parametric_body egg = load("config/bodies/egg.json");
    parametric_body torus = parse("{\"kind\":\"body\",\"convex\":false,\"patches\":[{\"shape\":"
                                  "\"torus\",\"radius\":1,\"tube\":0.3}]}");
    body_finder *finders[2] = {body_finder_create(&egg), body_finder_create(&torus)};
    body_nearest n;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(body_find_nearest(finders[0], (vec3){0, 0, i - 10}, &n), HR_OK);
        assert_true(n.nodes < 3000);
        vec3 q = {0, 0, 0.1 * (i - 10)};
        assert_int_equal(body_find_nearest(finders[1], q, &n), HR_OK);
        assert_near(n.distance, torus_distance(q), 1e-12);
        assert_true(n.nodes < 3000);
    }
    body_finder_destroy(finders[0]);
    body_finder_destroy(finders[1]);
    parametric_body_free(&egg);
    parametric_body_free(&torus);
}

/* On convex bodies there is one minimum outside: downhill from anywhere must find it. */
static void descent_on_convex_bodies_ends_at_the_nearest_point(void **state)
{
    (void)state;
    static const char *const files[] = {"config/bodies/egg.json", "config/bodies/sphere-six.json",
                                        "tests/data/bodies/lemon_a.json"};
    test_random r = test_random_seed(23);
    for (int k = 0; k < HR_COUNT(files); k++) {
        parametric_body b = load(files[k]);
        body_finder *f = body_finder_create(&b);
        for (int i = 0; i < test_effort(2000); i++) {
            vec3 q = point_near(&r, &b);
            body_nearest n, m;
            assert_int_equal(body_find_nearest(f, q, &n), HR_OK);
            const body_sample *s = &b.samples[test_random_index(&r, b.sample_count)];
            if (n.distance < 0)
                continue;
            assert_int_equal(body_descend(&b, s->face, s->u, s->v, q, &m), HR_OK);
            assert_near(m.distance, n.distance, 1e-7 * b.size);
        }
        body_finder_destroy(f);
        parametric_body_free(&b);
    }
}

static void planar_distances_have_a_sign_in_the_plane(void **state)
{
    (void)state;
    parametric_body b = load("tests/data/bodies/planar_a.json");
    body_finder *f = body_finder_create(&b);
    test_random r = test_random_seed(24);
    for (int i = 0; i < test_effort(1000); i++) {
        vec3 q = {test_random_between(&r, -2, 2), test_random_between(&r, -2, 2), 0};
        double brute = HUGE_VAL;
        bool is_inside = true;
        for (int k = 0; k < 3 * 4001; k++) {
            jet j;
            body_edge_jet(&b, k / 4001, (k % 4001) / 4000.0, NULL, &j);
            brute = fmin(brute, vec3_distance(j.p, q));
            vec3 away = vec3_sub(q, j.p);
            is_inside = is_inside && away.x * j.d1[0].y - away.y * j.d1[0].x < 0;
        }
        body_nearest n;
        assert_int_equal(body_find_nearest(f, q, &n), HR_OK);
        assert_near(fabs(n.distance), brute, 2e-4);
        assert_true(fabs(n.distance) <= brute + 1e-12);
        if (brute > 1e-3)
            assert_int_equal(n.distance < 0, is_inside);
    }
    body_finder_destroy(f);
    parametric_body_free(&b);
}

/* --- meshes
 * --------------------------------------------------------------------------------------- */

static void mesh_search_equals_a_look_at_every_triangle(void **state)
{
    (void)state;
    test_random r = test_random_seed(25);
    mesh m;
    assert_int_equal(mesh_make_capsule(0.3, 1.0, 12, 17, &m), HR_OK);
    mesh_finder *f = mesh_finder_create(&m);
    assert_non_null(f);
    assert_true(mesh_finder_is_closed(f));
    for (int i = 0; i < test_effort(2000); i++) {
        vec3 q = test_random_vec3(&r, 1.0);
        double least = HUGE_VAL;
        for (int t = 0; t < m.triangle_count; t++)
            least = fmin(least, closest_point_triangle(q, m.vertices[m.triangles[t][0]],
                                                       m.vertices[m.triangles[t][1]],
                                                       m.vertices[m.triangles[t][2]])
                                    .distance_squared);
        mesh_nearest n;
        assert_int_equal(mesh_find_nearest(f, q, &n), HR_OK);
        assert_near(fabs(n.distance), sqrt(least), 1e-15);
        const int *t = m.triangles[n.triangle];
        vec3 p = vec3_add(
            vec3_scale(1 - n.u - n.v, m.vertices[t[0]]),
            vec3_add(vec3_scale(n.u, m.vertices[t[1]]), vec3_scale(n.v, m.vertices[t[2]])));
        assert_vec3_near(p, n.p, 1e-14);
        /* The true capsule: the mesh lies within its sagitta, 0.3 (1 - cos(pi/12)), of it. */
        double z = fmin(fmax(q.z, -0.5), 0.5);
        double exact = vec3_length((vec3){q.x, q.y, q.z - z}) - 0.3;
        if (fabs(exact) > 0.02)
            assert_int_equal(n.distance < 0, exact < 0);
    }
    mesh_finder_destroy(f);
    mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nearer_than_the_nearest_point),
        cmocka_unit_test(shapes_give_their_formulas),
        cmocka_unit_test(degenerate_points_are_answered),
        cmocka_unit_test(rings_of_nearest_points_are_closed_quickly),
        cmocka_unit_test(descent_on_convex_bodies_ends_at_the_nearest_point),
        cmocka_unit_test(planar_distances_have_a_sign_in_the_plane),
        cmocka_unit_test(mesh_search_equals_a_look_at_every_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
