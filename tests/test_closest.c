/* Closest points against a search by refinement, and every degenerate feature. */
#include "tests/test.h"

#include "collide/closest.h"

static vec3 mix(double u, vec3 a, double v, vec3 b, double w, vec3 c)
{
    return vec3_add(vec3_scale(u, a), vec3_add(vec3_scale(v, b), vec3_scale(w, c)));
}

/* Brute force: a grid of weights on the feature(s). Never smaller than the true distance. */
static double triangle_by_grid(vec3 p, vec3 a, vec3 b, vec3 c, int n)
{
    double best = (double)INFINITY;
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            double u = (double)i / n, v = (double)j / n;
            best = fmin(best, vec3_distance(p, mix(u, a, v, b, 1 - u - v, c)));
        }
    return best;
}

static double segments_by_grid(const vec3 p[4], int n)
{
    double best = (double)INFINITY;
    for (int i = 0; i <= n; i++) {
        vec3 q = vec3_lerp(p[0], p[1], (double)i / n);
        best = fmin(best, sqrt(closest_point_segment(q, p[2], p[3]).distance_squared));
    }
    return best;
}

static void assert_is_on_features(const closest_pair *pair, const vec3 p[4], int first)
{
    vec3 sums[2] = {{0, 0, 0}, {0, 0, 0}};
    double weights[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        assert_true(pair->weights[i] >= -1e-12 && pair->weights[i] <= 1 + 1e-12);
        sums[i >= first] = vec3_add_scaled(sums[i >= first], pair->weights[i], p[i]);
        weights[i >= first] += pair->weights[i];
    }
    assert_near(weights[0], 1, 1e-12);
    assert_near(weights[1], 1, 1e-12);
    assert_vec3_near(sums[0], pair->on_first, 1e-12);
    assert_vec3_near(sums[1], pair->on_second, 1e-12);
}

static void a_point_and_a_triangle_meet_where_the_grid_says(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    for (int trial = 0; trial < 400; trial++) {
        vec3 p[4];
        for (int i = 0; i < 4; i++)
            p[i] = test_random_vec3(&r, 1);
        if (trial % 4 == 1)
            p[3] = vec3_lerp(p[1], p[2], test_random_between(&r, -1, 2)); /* no area */
        if (trial % 4 == 2)
            p[3] = vec3_add(vec3_lerp(p[1], p[2], 0.3), test_random_vec3(&r, 1e-5)); /* needle */
        closest_pair pair = closest_point_triangle(p[0], p[1], p[2], p[3]);
        double d = sqrt(pair.distance_squared), grid = triangle_by_grid(p[0], p[1], p[2], p[3], 60);

        assert_is_on_features(&pair, p, 1);
        assert_true(d <= grid + 1e-9);
        assert_true(grid <= d + 0.06); /* the cell of the grid */
    }
}

static void two_segments_meet_where_the_grid_says(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    for (int trial = 0; trial < 2000; trial++) {
        vec3 p[4];
        for (int i = 0; i < 4; i++)
            p[i] = test_random_vec3(&r, 1);
        if (trial % 4 == 1)
            p[3] = vec3_add(p[2], vec3_sub(p[1], p[0])); /* parallel */
        if (trial % 4 == 2)
            p[3] = vec3_add(vec3_add(p[2], vec3_sub(p[1], p[0])), test_random_vec3(&r, 1e-7));
        closest_pair pair = closest_segments(p[0], p[1], p[2], p[3]);
        double d = sqrt(pair.distance_squared), grid = segments_by_grid(p, 200);

        assert_is_on_features(&pair, p, 2);
        assert_true(d <= grid + 1e-9);
        assert_true(grid <= d + 0.02);
    }
}

static void features_without_extent_are_points(void **state)
{
    (void)state;
    vec3 a = {1, 2, 3}, b = {1, 2, 7};
    assert_near(closest_segments(a, a, b, b).distance_squared, 16, 0);
    assert_near(closest_point_triangle(a, b, b, b).distance_squared, 16, 0);
    assert_near(closest_segments(a, a, a, b).distance_squared, 0, 0);
    assert_near(closest_point_segment(b, a, a).distance_squared, 16, 0);
    vec3 tiny = {1e-170, 0, 0}, zero = {0, 0, 0};
    assert_near(closest_segments(zero, tiny, b, b).distance_squared, 54, 1e-12);
}

static void a_vertex_above_the_face_projects_onto_it(void **state)
{
    (void)state;
    closest_pair p = closest_point_triangle((vec3){0.25, 0.25, 2}, (vec3){0, 0, 0}, (vec3){1, 0, 0},
                                            (vec3){0, 1, 0});
    assert_near(p.distance_squared, 4, 1e-15);
    assert_near(p.weights[1], 0.5, 1e-15);
    assert_near(p.weights[2], 0.25, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_and_a_triangle_meet_where_the_grid_says),
        cmocka_unit_test(two_segments_meet_where_the_grid_says),
        cmocka_unit_test(features_without_extent_are_points),
        cmocka_unit_test(a_vertex_above_the_face_projects_onto_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
