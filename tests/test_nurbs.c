/* Curves and surfaces: against de Boor's triangle, finite differences and known shapes. */
#include "tests/test.h"

#include <string.h>

#include "geometry/nurbs_shapes.h"
#include "geometry/nurbs_surface.h"

enum { COUNT_MAX = 14 };

/* Random knots, inner ones repeated now and then, clamped at the ends or not. Returns how many. */
static int random_knots(test_random *r, int degree, int count, double *knots)
{
    int n = count + degree + 1, repeats = 1;
    knots[0] = test_random_between(r, -2, 2);
    for (int i = 1; i < n; i++) {
        bool is_inner = i > degree + 1 && i < count;
        bool is_repeated = is_inner && repeats < degree && test_random_index(r, 3) == 0;
        repeats = is_repeated ? repeats + 1 : 1;
        knots[i] = knots[i - 1] + (is_repeated ? 0.0 : test_random_between(r, 0.05, 1.0));
    }
    bool is_clamped = test_random_index(r, 2);
    for (int i = 0; is_clamped && i < degree; i++) {
        knots[i] = knots[degree];
        knots[n - 1 - i] = knots[count];
    }
    return n;
}

static void random_points(test_random *r, int count, bool is_rational, double *points)
{
    for (int i = 0; i < count; i++) {
        double w = is_rational ? test_random_between(r, 0.3, 3.0) : 1.0;
        vec3 p = test_random_vec3(r, 1.0);
        double h[4] = {w * p.x, w * p.y, w * p.z, w};
        memcpy(points + (ptrdiff_t)4 * i, h, sizeof h);
    }
}

static nurbs_surface random_surface(test_random *r)
{
    static double knots[2][2 * COUNT_MAX], points[COUNT_MAX * COUNT_MAX * 4];
    int degree[2], count[2], n[2];
    for (int d = 0; d < 2; d++) {
        degree[d] = 1 + test_random_index(r, NURBS_DEGREE_MAX);
        count[d] = degree[d] + 1 + test_random_index(r, COUNT_MAX - degree[d]);
        n[d] = random_knots(r, degree[d], count[d], knots[d]);
    }
    random_points(r, count[0] * count[1], test_random_index(r, 2), points);
    nurbs_surface s;
    hr_error error = {""};
    if (nurbs_surface_make(degree, count, knots[0], n[0], knots[1], n[1], points, &s, &error))
        fail_msg("%s", error.text);
    return s;
}

/* A parameter inside a piece, far enough from its ends for differences of step h. */
static double inside(test_random *r, const double *breaks, int spans, double *h)
{
    int i = test_random_index(r, spans);
    double width = breaks[i + 1] - breaks[i];
    *h = 1e-4 * width;
    return breaks[i] + width * test_random_between(r, 0.01, 0.99);
}

static vec3 difference(vec3 a, vec3 b, double h)
{
    return vec3_scale(1.0 / h, vec3_sub(a, b));
}

static double scale_of(const jet *j)
{
    double s = 1.0;
    for (int i = 0; i < 2; i++)
        s = fmax(s, vec3_length(j->d1[i]));
    for (int i = 0; i < 3; i++)
        s = fmax(s, vec3_length(j->d2[i]));
    return s;
}

static void surface_derivatives_equal_differences(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    for (int k = 0; k < test_effort(400); k++) {
        nurbs_surface s = random_surface(&r);
        for (int i = 0; i < 10; i++) {
            double hu, hv, u = inside(&r, s.breaks[0], s.span_count[0], &hu),
                           v = inside(&r, s.breaks[1], s.span_count[1], &hv);
            jet j, pu, mu, pv, mv;
            nurbs_surface_jet(&s, u, v, NULL, &j);
            nurbs_surface_jet(&s, u + hu, v, NULL, &pu);
            nurbs_surface_jet(&s, u - hu, v, NULL, &mu);
            nurbs_surface_jet(&s, u, v + hv, NULL, &pv);
            nurbs_surface_jet(&s, u, v - hv, NULL, &mv);
            /* Central differences of step 1e-4 of a piece: 1e-8 of the third derivative, which is
             * within degree^3 of the scale per piece. */
            double tolerance = 1e-4 * scale_of(&j);
            assert_vec3_near(j.d1[0], difference(pu.p, mu.p, 2 * hu), tolerance);
            assert_vec3_near(j.d1[1], difference(pv.p, mv.p, 2 * hv), tolerance);
            assert_vec3_near(j.d2[JET_UU], difference(pu.d1[0], mu.d1[0], 2 * hu), tolerance * 10);
            assert_vec3_near(j.d2[JET_UV], difference(pu.d1[1], mu.d1[1], 2 * hu), tolerance * 10);
            assert_vec3_near(j.d2[JET_VV], difference(pv.d1[1], mv.d1[1], 2 * hv), tolerance * 10);
        }
        nurbs_surface_free(&s);
    }
}

/* Against de Boor's triangle on the original knots: nothing shared with the Bezier pieces. */
static void surfaces_equal_de_boor(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    for (int k = 0; k < test_effort(300); k++) {
        nurbs_surface s = random_surface(&r);
        nurbs_span span = {0, 0};
        for (int i = 0; i < 20; i++) {
            double u = test_random_between(&r, nurbs_surface_low(&s, 0), nurbs_surface_high(&s, 0));
            double v = test_random_between(&r, nurbs_surface_low(&s, 1), nurbs_surface_high(&s, 1));
            if (i == 0)
                u = nurbs_surface_high(&s, 0);
            if (i == 1)
                v = nurbs_surface_low(&s, 1);
            double rows[COUNT_MAX * 4], h[4];
            for (int row = 0; row < s.count[0]; row++)
                nurbs_evaluate_homogeneous(s.degree[1], s.count[1], s.knots[1],
                                           s.points + (ptrdiff_t)4 * row * s.count[1], v,
                                           rows + (ptrdiff_t)4 * row);
            nurbs_evaluate_homogeneous(s.degree[0], s.count[0], s.knots[0], rows, u, h);
            vec3 expected = {h[0] / h[3], h[1] / h[3], h[2] / h[3]};
            jet j;
            nurbs_surface_jet(&s, u, v, &span, &j);
            assert_vec3_near(j.p, expected, 1e-12);
            assert_vec3_near(nurbs_surface_point(&s, u, v), expected, 1e-12);
        }
        nurbs_surface_free(&s);
    }
}

/* A recording made on one processor replays on another. */
static void wide_and_narrow_processors_agree_to_the_bit(void **state)
{
    (void)state;
    test_random r = test_random_seed(15);
    for (int k = 0; k < 200; k++) {
        nurbs_surface s = random_surface(&r);
        nurbs_surface narrow = s;
        narrow.is_wide = false;
        for (int i = 0; i < 20; i++) {
            double u = test_random_between(&r, nurbs_surface_low(&s, 0), nurbs_surface_high(&s, 0));
            double v = test_random_between(&r, nurbs_surface_low(&s, 1), nurbs_surface_high(&s, 1));
            jet a, b;
            nurbs_surface_jet(&s, u, v, NULL, &a);
            nurbs_surface_jet(&narrow, u, v, NULL, &b);
            assert_memory_equal(&a, &b, sizeof a);
        }
        nurbs_surface_free(&s);
    }
}

static void iso_curves_lie_on_their_surface(void **state)
{
    (void)state;
    test_random r = test_random_seed(13);
    for (int k = 0; k < test_effort(200); k++) {
        nurbs_surface s = random_surface(&r);
        for (int d = 0; d < 2; d++) {
            double x = test_random_between(&r, nurbs_surface_low(&s, d), nurbs_surface_high(&s, d));
            nurbs_curve c;
            assert_int_equal(nurbs_surface_iso_curve(&s, d, x, &c, NULL), HR_OK);
            for (int i = 0; i < 5; i++) {
                double h, t = inside(&r, c.breaks, c.span_count, &h);
                jet on_curve, on_surface;
                nurbs_curve_jet(&c, t, NULL, &on_curve);
                nurbs_surface_jet(&s, d ? t : x, d ? x : t, NULL, &on_surface);
                double scale = scale_of(&on_surface);
                assert_vec3_near(on_curve.p, on_surface.p, 1e-12);
                assert_vec3_near(on_curve.d1[0], on_surface.d1[1 - d], 1e-11 * scale);
                assert_vec3_near(on_curve.d2[0], on_surface.d2[d ? JET_UU : JET_VV], 1e-10 * scale);
            }
            nurbs_curve_free(&c);
        }
        nurbs_surface_free(&s);
    }
}

/* Zero on the shape; the formulas of the six shapes around the origin. */
static double off_shape(const nurbs_shape *s, vec3 p)
{
    const double *m = s->measures;
    double r = hypot(p.x, p.y);
    switch (s->kind) {
    case NURBS_SPHERE:
        return vec3_length(p) - m[0];
    case NURBS_ELLIPSOID:
        return vec3_length((vec3){p.x / m[0], p.y / m[1], p.z / m[2]}) - 1;
    case NURBS_CYLINDER:
        return r - m[0];
    case NURBS_CONE:
        return r - m[0] * (1 - p.z / m[1]);
    case NURBS_TORUS:
        return hypot(r - m[0], p.z) - m[1];
    default:
        return p.z;
    }
}

/* Also the normal must point away from the solid: outside, off_shape grows. */
static void shapes_are_exact_and_face_outward(void **state)
{
    (void)state;
    test_random r = test_random_seed(14);
    for (int kind = 0; kind < NURBS_SHAPE_KINDS; kind++)
        for (int k = 0; k < 20; k++) {
            nurbs_shape shape = {.kind = (nurbs_shape_kind)kind};
            for (int i = 0; i < NURBS_MEASURES_MAX; i++)
                shape.measures[i] = test_random_between(&r, 0.2, 0.5) + (i == 0);
            pose place = test_random_pose(&r, 2.0);
            nurbs_surface s;
            assert_int_equal(nurbs_shape_make(&shape, place, &s, NULL), HR_OK);
            for (int i = 0; i < 50; i++) {
                jet j;
                nurbs_surface_jet(&s, test_random_between(&r, 0, 1),
                                  test_random_between(&r, 0.02, 0.98), NULL, &j);
                vec3 p = pose_apply_inverse(place, j.p);
                assert_near(off_shape(&shape, p), 0, 1e-14);
                vec3 n = pose_rotate_inverse(place, vec3_cross(j.d1[0], j.d1[1]));
                n = vec3_normalize_or(n, n);
                bool is_flat = kind == NURBS_PLANE || kind == NURBS_DISC;
                if (!is_flat)
                    assert_true(off_shape(&shape, vec3_add_scaled(p, 1e-3, n)) > 0);
            }
            nurbs_surface_free(&s);
        }
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    double knots[] = {0, 0, 1, 1}, points[] = {0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1};
    nurbs_surface s = {0};
    hr_error error = {""};
    int one[2] = {1, 1}, two[2] = {2, 2}, eight[2] = {8, 1};
    assert_int_equal(nurbs_surface_make(eight, two, knots, 4, knots, 4, points, &s, &error),
                     HR_ERR_FORMAT);
    assert_string_equal(error.text, "expected a degree from 1 to 7 in u, found 8");
    points[7] = 0;
    assert_int_equal(nurbs_surface_make(one, two, knots, 4, knots, 4, points, &s, &error),
                     HR_ERR_FORMAT);
    assert_string_equal(error.text, "expected a positive weight for point [0][1], found 0");
    points[7] = 1;
    points[8] = (double)INFINITY;
    assert_int_equal(nurbs_surface_make(one, two, knots, 4, knots, 4, points, &s, &error),
                     HR_ERR_NOT_FINITE);
    assert_null(s.pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_derivatives_equal_differences),
        cmocka_unit_test(surfaces_equal_de_boor),
        cmocka_unit_test(wide_and_narrow_processors_agree_to_the_bit),
        cmocka_unit_test(iso_curves_lie_on_their_surface),
        cmocka_unit_test(shapes_are_exact_and_face_outward),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
