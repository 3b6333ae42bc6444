/* The law against finite differences: every H, b and contact form, for all eight moving pairs. */
#include "collide/witness_law.h"
#include "geometry/nurbs_curve.h"
#include "geometry/nurbs_surface.h"
#include "tests/test.h"

/* One body with one feature: a rational bicubic patch, a rational cubic or a point. */
typedef struct feature {
    int n;
    nurbs_surface surface;
    nurbs_curve curve;
    vec3 point;
    double x[2];
    pose at;      /* world from body, at time 0 */
    twist motion; /* world axes */
} feature;

static void random_points(test_random *r, double *points, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double w = test_random_between(r, 0.6, 1.6);
            vec3 p = vec3_add((vec3){i, j, 0}, test_random_vec3(r, 0.4));
            double *out = points + 4 * (i * columns + j);
            out[0] = w * p.x;
            out[1] = w * p.y;
            out[2] = w * p.z;
            out[3] = w;
        }
}

static void feature_make(test_random *r, int n, feature *out)
{
    const double knots[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    double points[64];
    *out = (feature){.n = n, .point = test_random_vec3(r, 2.0)};
    random_points(r, points, 4, 4);
    assert_int_equal(nurbs_surface_make((const int[2]){3, 3}, (const int[2]){4, 4}, knots, 8, knots,
                                        8, points, &out->surface, NULL),
                     HR_OK);
    assert_int_equal(nurbs_curve_make(3, 4, knots, 8, points, &out->curve, NULL), HR_OK);
    out->x[0] = test_random_between(r, 0.2, 0.8);
    out->x[1] = test_random_between(r, 0.2, 0.8);
    out->at = test_random_pose(r, 3.0);
    out->motion = (twist){test_random_vec3(r, 2.0), test_random_vec3(r, 2.0)};
}

static void feature_free(feature *f)
{
    nurbs_surface_free(&f->surface);
    nurbs_curve_free(&f->curve);
}

static jet feature_jet(const feature *f, const double *x)
{
    jet j = {.p = f->point};
    if (f->n == 2)
        nurbs_surface_jet(&f->surface, x[0], x[1], NULL, &j);
    else if (f->n == 1)
        nurbs_curve_jet(&f->curve, x[0], NULL, &j);
    return j;
}

/* The system at parameters x (A's two, then B's two) and time t. */
static void system_at(const feature *a, const feature *b, const double *x, double t,
                      witness_form form, witness_system *out)
{
    pose pose_a = pose_advance(a->at, a->motion, (twist){{0, 0, 0}, {0, 0, 0}}, t);
    pose pose_b = pose_advance(b->at, b->motion, (twist){{0, 0, 0}, {0, 0, 0}}, t);
    witness_motion m = witness_motion_between(pose_a, a->motion, pose_b, b->motion);
    jet f = feature_jet(a, x);
    jet h = feature_jet(b, x + 2);
    witness_law(&f, a->n, &h, b->n, &m, out);
    if (form != WITNESS_GRADIENT)
        witness_law_contact(&f, &h, form, -1.0, &m, out);
}

/* x with unknown i (in the system's numbering) moved. */
static void shifted(const feature *a, const feature *b, int i, double by, double *x)
{
    double all[4] = {a->x[0], a->x[1], b->x[0], b->x[1]};
    for (int k = 0; k < 4; k++)
        x[k] = all[k];
    if (i >= 0)
        x[i < a->n ? i : 2 + i - a->n] += by;
}

/* Largest difference between the matrix and central differences, over the largest entry. */
static double matrix_error(const feature *a, const feature *b, witness_form form)
{
    witness_system s;
    witness_system plus;
    witness_system minus;
    double x[4];
    double worst = 0;
    double size = 1e-3;
    const double step = 1e-5;
    shifted(a, b, -1, 0, x);
    system_at(a, b, x, 0, form, &s);
    for (int j = 0; j < s.n; j++) {
        shifted(a, b, j, step, x);
        system_at(a, b, x, 0, form, &plus);
        shifted(a, b, j, -step, x);
        system_at(a, b, x, 0, form, &minus);
        for (int i = 0; i < s.n; i++) {
            double difference = (plus.g[i] - minus.g[i]) / (2 * step);
            worst = fmax(worst, fabs(difference - s.m[i][j]));
            size = fmax(size, fabs(s.m[i][j]));
        }
    }
    return worst / size;
}

static double rate_error(const feature *a, const feature *b, witness_form form)
{
    witness_system s;
    witness_system plus;
    witness_system minus;
    double x[4];
    double worst = 0;
    double size = 1e-3;
    const double step = 1e-5;
    shifted(a, b, -1, 0, x);
    system_at(a, b, x, 0, form, &s);
    system_at(a, b, x, step, form, &plus);
    system_at(a, b, x, -step, form, &minus);
    for (int i = 0; i < s.n; i++) {
        worst = fmax(worst, fabs((plus.g[i] - minus.g[i]) / (2 * step) - s.b[i]));
        size = fmax(size, fabs(s.b[i]));
    }
    return worst / size;
}

static void matrix_and_rate_are_the_derivatives_of_the_error(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    double worst_matrix = 0;
    double worst_rate = 0;
    for (int trial = 0; trial < test_effort(200); trial++)
        for (int na = 0; na <= 2; na++)
            for (int nb = 0; nb <= 2; nb++) {
                feature a;
                feature b;
                if (na + nb == 0)
                    continue;
                feature_make(&r, na, &a);
                feature_make(&r, nb, &b);
                worst_matrix = fmax(worst_matrix, matrix_error(&a, &b, WITNESS_GRADIENT));
                worst_rate = fmax(worst_rate, rate_error(&a, &b, WITNESS_GRADIENT));
                feature_free(&a);
                feature_free(&b);
            }
    print_message("largest relative error: H %.1e, b %.1e\n", worst_matrix, worst_rate);
    assert_true(worst_matrix < 1e-6);
    assert_true(worst_rate < 1e-6);
}

static void the_contact_form_has_the_stated_derivatives(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    double worst_matrix = 0;
    double worst_rate = 0;
    for (int trial = 0; trial < test_effort(200); trial++)
        for (int other = 1; other <= 2; other++) {
            feature a;
            feature b;
            feature_make(&r, 2, &a);
            feature_make(&r, other, &b);
            worst_matrix = fmax(worst_matrix, matrix_error(&a, &b, WITNESS_CONTACT_A));
            worst_rate = fmax(worst_rate, rate_error(&a, &b, WITNESS_CONTACT_A));
            worst_matrix = fmax(worst_matrix, matrix_error(&b, &a, WITNESS_CONTACT_B));
            worst_rate = fmax(worst_rate, rate_error(&b, &a, WITNESS_CONTACT_B));
            feature_free(&a);
            feature_free(&b);
        }
    print_message("largest relative error: matrix %.1e, rate %.1e\n", worst_matrix, worst_rate);
    assert_true(worst_matrix < 1e-6);
    assert_true(worst_rate < 1e-6);
}

static void exchanging_the_bodies_permutes_the_system(void **state)
{
    (void)state;
    test_random r = test_random_seed(13);
    for (int trial = 0; trial < 50; trial++) {
        feature a;
        feature b;
        witness_system ab;
        witness_system ba;
        double x[4];
        double y[4];
        feature_make(&r, 2, &a);
        feature_make(&r, 2, &b);
        shifted(&a, &b, -1, 0, x);
        shifted(&b, &a, -1, 0, y);

        system_at(&a, &b, x, 0, WITNESS_GRADIENT, &ab);
        system_at(&b, &a, y, 0, WITNESS_GRADIENT, &ba);

        for (int i = 0; i < 4; i++) {
            assert_close(ba.g[(i + 2) % 4], ab.g[i], 1e-11);
            assert_close(ba.b[(i + 2) % 4], ab.b[i], 1e-11);
            for (int j = 0; j < 4; j++) {
                assert_close(ba.m[(i + 2) % 4][(j + 2) % 4], ab.m[i][j], 1e-11);
                assert_close(ab.m[j][i], ab.m[i][j], 1e-12);
            }
        }
        assert_close(vec3_length(ba.difference), vec3_length(ab.difference), 1e-12);
        feature_free(&a);
        feature_free(&b);
    }
}

/* The same body carried by a frame that itself moves. */
static void carry(feature *f, pose frame, twist rate)
{
    vec3 lever = quat_rotate(frame.rotation, f->at.origin);
    f->motion.linear = vec3_add(quat_rotate(frame.rotation, f->motion.linear),
                                vec3_add(rate.linear, vec3_cross(rate.angular, lever)));
    f->motion.angular = vec3_add(quat_rotate(frame.rotation, f->motion.angular), rate.angular);
    f->at = pose_compose(frame, f->at);
}

static void a_common_motion_changes_nothing(void **state)
{
    (void)state;
    test_random r = test_random_seed(14);
    for (int trial = 0; trial < 50; trial++) {
        feature a;
        feature b;
        witness_system alone;
        witness_system carried;
        double x[4];
        feature_make(&r, 2, &a);
        feature_make(&r, 2, &b);
        shifted(&a, &b, -1, 0, x);
        pose frame = test_random_pose(&r, 5.0);
        twist rate = {test_random_vec3(&r, 3.0), test_random_vec3(&r, 3.0)};

        system_at(&a, &b, x, 0, WITNESS_GRADIENT, &alone);
        carry(&a, frame, rate);
        carry(&b, frame, rate);
        system_at(&a, &b, x, 0, WITNESS_GRADIENT, &carried);

        for (int i = 0; i < 4; i++) {
            assert_close(carried.g[i], alone.g[i], 1e-10);
            assert_close(carried.b[i], alone.b[i], 1e-10);
            for (int j = 0; j < 4; j++)
                assert_close(carried.m[i][j], alone.m[i][j], 1e-10);
        }
        feature_free(&a);
        feature_free(&b);
    }
}

/* A convex quadratic in a box: the solver's clamped answer against the optimality conditions. */
static void a_clamped_parameter_leaves_its_row_and_column(void **state)
{
    (void)state;
    witness_system s = {.n = 2, .na = 2, .difference = {0, 0, 1}, .scale = {1, 1}};
    s.tangent[0] = (vec3){1, 0, 0};
    s.tangent[1] = (vec3){0.6, 0.8, 0};
    const double h[2][2] = {{1.0, 0.6}, {0.6, 1.0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            s.m[i][j] = h[i][j];
    s.g[0] = -0.2;
    s.g[1] = -0.02;
    witness_box box = {
        .x = {1.0, 0.5}, .low = {0, 0}, .high = {1, 1}, .range = {1, 1}, .size = 1.0};
    double dx[4];

    uint32_t flags = witness_solve(&s, 1.0, 0.0, 1.0, &box, dx);

    /* unclamped, the first would grow; held at 1 the second solves h11 dx = 0.02, where zeroing
     * alone would leave the second at (0.02 - 0.6 * 0.2) / 0.64 */
    assert_int_equal(flags, 0);
    assert_near(dx[0], 0.0, 0.0);
    assert_near(dx[1], 0.02, 1e-15);
}

static void an_indefinite_matrix_still_descends(void **state)
{
    (void)state;
    test_random r = test_random_seed(15);
    int fallbacks = 0;
    for (int trial = 0; trial < test_effort(1000); trial++) {
        feature a;
        feature b;
        witness_system s;
        double x[4];
        double dx[4];
        feature_make(&r, 2, &a);
        feature_make(&r, test_random_index(&r, 3), &b);
        shifted(&a, &b, -1, 0, x);
        system_at(&a, &b, x, 0, WITNESS_GRADIENT, &s);
        witness_box box = {.size = 3.0};
        for (int i = 0; i < 4; i++) {
            box.low[i] = -(double)INFINITY;
            box.high[i] = (double)INFINITY;
            box.range[i] = 1.0;
        }

        uint32_t flags = witness_solve(&s, 1.0, 0.0, 1.0, &box, dx);

        double slope = 0;
        for (int i = 0; i < s.n; i++) {
            assert_true(isfinite(dx[i]) && fabs(dx[i]) <= 0.25 + 1e-15);
            slope += s.g[i] * dx[i];
        }
        assert_true(slope <= 0.0);
        assert_false(flags & WITNESS_STUCK);
        fallbacks += (flags & WITNESS_MAJORISED) != 0;
        feature_free(&a);
        feature_free(&b);
    }
    assert_true(fallbacks > 0);
}

static void a_collapsed_parameter_is_frozen(void **state)
{
    (void)state;
    witness_system s = {.n = 2, .na = 2, .difference = {0, 0, 1}, .scale = {1, 1e-12}};
    s.tangent[0] = (vec3){1, 0, 0};
    s.tangent[1] = (vec3){0, 1e-12, 0};
    s.m[0][0] = 1.0;
    s.m[1][1] = 1e-24;
    s.g[0] = 0.125;
    s.g[1] = 1e-12;
    witness_box box = {
        .x = {0.5, 0.5}, .low = {0, 0}, .high = {1, 1}, .range = {1, 1}, .size = 1.0};
    double dx[4];

    uint32_t flags = witness_solve(&s, 1.0, 0.0, 1.0, &box, dx);

    assert_true(flags & WITNESS_FROZEN);
    assert_near(dx[0], -0.125, 1e-15);
    assert_near(dx[1], 0.0, 0.0);
}

/* Two parallel planes: a continuum of answers. The least motion, and the flag. */
static void parallel_flats_are_reported(void **state)
{
    (void)state;
    jet f = {.p = {0.3, 0, 0}, .d1 = {{1, 0, 0}, {0, 1, 0}}};
    jet h = {.p = {0, 0.1, 1}, .d1 = {{0, 1, 0}, {1, 0, 0}}};
    witness_motion rest = {.rotation = mat3_identity()};
    witness_system s;
    witness_box box = {.size = 1.0};
    double dx[4];
    for (int i = 0; i < 4; i++) {
        box.low[i] = -1;
        box.high[i] = 1;
        box.range[i] = 2;
    }

    witness_law(&f, 2, &h, 2, &rest, &s);
    uint32_t flags = witness_solve(&s, 1.0, 0.0, 1.0, &box, dx);

    assert_true(flags & WITNESS_NON_UNIQUE);
    /* together they cover the offset, each the same half of it */
    assert_near(dx[0], -0.15, 1e-6);
    assert_near(dx[3], 0.15, 1e-6);
    assert_near(dx[1], 0.05, 1e-6);
    assert_near(dx[2], -0.05, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_and_rate_are_the_derivatives_of_the_error),
        cmocka_unit_test(the_contact_form_has_the_stated_derivatives),
        cmocka_unit_test(exchanging_the_bodies_permutes_the_system),
        cmocka_unit_test(a_common_motion_changes_nothing),
        cmocka_unit_test(a_clamped_parameter_leaves_its_row_and_column),
        cmocka_unit_test(an_indefinite_matrix_still_descends),
        cmocka_unit_test(a_collapsed_parameter_is_frozen),
        cmocka_unit_test(parallel_flats_are_reported),
    };
    return cmocka_run_group_tests_name("witness_law", tests, NULL, NULL);
}
