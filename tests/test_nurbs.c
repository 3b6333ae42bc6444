/* Curves and surfaces: against de Boor's triangle, finite differences and known shapes. */
#include "tests/test.h"

#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_derivatives_equal_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
