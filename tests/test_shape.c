/* Nearest points of the analytic shapes, against sampling and closed forms. */
#include "tests/test.h"

#include "collide/shape.h"

static const shape kinds[] = {
    {.kind = SHAPE_PLANE},
    {.kind = SHAPE_SPHERE, .radius = 0.024},
    {.kind = SHAPE_ELLIPSOID, .half_size = {0.03, 0.02, 0.008}},
    {.kind = SHAPE_CAPSULE, .radius = 0.01, .half_length = 0.02},
    {.kind = SHAPE_BOX, .half_size = {0.02, 0.03, 0.001}},
};

/* A random point of the surface; for the plane one below `near`. */
static vec3 surface_sample(const shape *s, test_random *r, vec3 near)
{
    vec3 u = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1});
    vec3 w = test_random_vec3(r, 1);
    switch (s->kind) {
    case SHAPE_SPHERE:
        return vec3_scale(s->radius, u);
    case SHAPE_ELLIPSOID:
        return (vec3){s->half_size.x * u.x, s->half_size.y * u.y, s->half_size.z * u.z};
    case SHAPE_CAPSULE: {
        double along = fmin(fmax(1.5 * w.z, -1), 1);
        vec3 n = fabs(along) < 1 ? vec3_normalize_or((vec3){u.x, u.y, 0}, (vec3){1, 0, 0})
                                 : (vec3){u.x, u.y, copysign(u.z, along)};
        return vec3_add_scaled((vec3){0, 0, along * s->half_length}, s->radius, n);
    }
    case SHAPE_BOX: {
        double p[3] = {w.x, w.y, w.z};
        p[test_random_index(r, 3)] = test_random_index(r, 2) ? 1 : -1;
        return (vec3){p[0] * s->half_size.x, p[1] * s->half_size.y, p[2] * s->half_size.z};
    }
    default:
        return (vec3){near.x + 0.01 * w.x, near.y + 0.01 * w.y, 0};
    }
}

static void no_sampled_point_is_nearer(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    for (int i = 0; i < test_effort(2000); i++) {
        const shape *s = &kinds[test_random_index(&r, HR_COUNT(kinds))];
        vec3 point = test_random_vec3(&r, 0.05);
        shape_tracker tracker;
        shape_contact c;
        shape_seed(s, point, 1, &tracker);

        assert_int_equal(shape_follow(s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);

        /* The way to the point is along the normal, as long as the gap says. */
        assert_vec3_near(vec3_add_scaled(c.point, c.gap, c.normal), point, 1e-12);
        assert_near(vec3_length(c.normal), 1, 1e-12);
        for (int k = 0; k < 500; k++) {
            double distance = vec3_distance(point, surface_sample(s, &r, point));
            assert_true(distance >= fabs(c.gap) - 1e-12);
        }
    }
}

/* The sign, by the shapes' own inequalities. */
static bool is_inside(const shape *s, vec3 p)
{
    vec3 h = s->half_size;
    double along = fmin(fmax(p.z, -s->half_length), s->half_length);
    switch (s->kind) {
    case SHAPE_SPHERE:
        return vec3_length(p) < s->radius;
    case SHAPE_ELLIPSOID:
        return pow(p.x / h.x, 2) + pow(p.y / h.y, 2) + pow(p.z / h.z, 2) < 1;
    case SHAPE_CAPSULE:
        return vec3_distance(p, (vec3){0, 0, along}) < s->radius;
    case SHAPE_BOX:
        return fabs(p.x) < h.x && fabs(p.y) < h.y && fabs(p.z) < h.z;
    default:
        return p.z < 0;
    }
}

static void gap_is_negative_inside(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    for (int i = 0; i < test_effort(200000); i++) {
        const shape *s = &kinds[test_random_index(&r, HR_COUNT(kinds))];
        vec3 point = test_random_vec3(&r, 0.03);
        if (s->kind == SHAPE_BOX)
            point.z *= 0.1;
        shape_tracker tracker = {0};
        shape_contact c;

        assert_int_equal(shape_follow(s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);

        assert_int_equal(c.gap < 0, is_inside(s, point));
    }
}

/* Tracking along a path gives what a fresh search gives, as long as the path stays outside. */
static void tracking_agrees_with_a_fresh_search(void **state)
{
    (void)state;
    test_random r = test_random_seed(13);
    for (int i = 0; i < test_effort(200); i++) {
        const shape *s = &kinds[test_random_index(&r, HR_COUNT(kinds))];
        vec3 a = test_random_vec3(&r, 0.05), b = test_random_vec3(&r, 0.05);
        shape_tracker tracker = {0};
        for (int k = 0; k <= 200; k++) {
            vec3 point = vec3_lerp(a, b, k / 200.0);
            if (is_inside(s, point) || (s->kind == SHAPE_PLANE && point.z < 0))
                break;
            shape_tracker fresh;
            shape_contact c, d;
            shape_seed(s, point, 1, &fresh);
            assert_int_equal(shape_follow(s, &fresh, point, (vec3){0, 0, 0}, 0, 1, &d, 1), 1);
            assert_int_equal(shape_follow(s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);
            assert_vec3_near(c.point, d.point, 1e-11);
            assert_near(c.gap, d.gap, 1e-12);
        }
    }
}

static void box_keeps_the_face_of_entry(void **state)
{
    (void)state;
    shape plate = {.kind = SHAPE_BOX, .half_size = {0.03, 0.03, 0.0005}};
    shape_tracker tracker;
    shape_contact c;
    vec3 start = {0.01, -0.02, 0.002};
    shape_seed(&plate, start, 1, &tracker);

    /* Straight down, through the plate of 1 mm and out below it. */
    for (double z = 0.002; z > -0.01; z -= 0.0003) {
        vec3 point = {0.01, -0.02, z};
        assert_int_equal(shape_follow(&plate, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);
        assert_vec3_near(c.normal, ((vec3){0, 0, 1}), 0);
        assert_near(c.gap, z - 0.0005, 1e-15);
    }

    /* Beyond the rim it is outside again. */
    vec3 beside = {0.04, -0.02, -0.01};
    assert_int_equal(shape_follow(&plate, &tracker, beside, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);
    assert_near(c.gap, hypot(0.01, 0.0095), 1e-15);
}

/* A point that goes into the ellipsoid along a normal keeps its witness until the centre of
 * curvature, where the nearest point stops being unique: depth b^2/a below the tip of axis a. */
static void ellipsoid_witness_holds_inside(void **state)
{
    (void)state;
    shape s = {.kind = SHAPE_ELLIPSOID, .half_size = {0.03, 0.02, 0.02}};
    double radius_of_curvature = 0.02 * 0.02 / 0.03;
    shape_tracker tracker;
    shape_contact c;
    shape_seed(&s, (vec3){0.04, 0, 0}, 1, &tracker);
    for (double x = 0.04; x > 0.03 - 0.98 * radius_of_curvature; x -= 2e-4) {
        vec3 point = {x, 1e-9, 0};
        assert_int_equal(shape_follow(&s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 1);
        assert_near(c.gap, x - 0.03, 1e-12);
        assert_true(tracker.flags & SHAPE_TRACK_CONVERGED);
    }
}

static void hopeless_points_are_survived(void **state)
{
    (void)state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < HR_COUNT(kinds); i++) {
        const shape *s = &kinds[i];
        shape_tracker tracker;
        shape_contact c;
        shape_seed(s, (vec3){0.001, 0.002, 0.05}, 1, &tracker);
        shape_tracker before = tracker;
        for (int k = 0; k < HR_COUNT(bad); k++) {
            vec3 point = {0, bad[k], 0};
            assert_int_equal(shape_follow(s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 1), 0);
            assert_true(tracker.flags & SHAPE_TRACK_HELD);
        }
        assert_memory_equal(before.tracks, tracker.tracks, sizeof before.tracks);

        /* The centre has no nearest point of its own; any is right, but it must be one. */
        assert_int_equal(shape_follow(s, &tracker, (vec3){0, 0, 0}, (vec3){0, 0, 0}, 0, 1, &c, 1),
                         1);
        assert_true(vec3_is_finite(c.normal) && isfinite(c.gap));
        assert_near(vec3_length(c.normal), 1, 1e-12);
        vec3 huge = {1e150, -1e150, 1e150};
        shape_tracker far = {0};
        (void)shape_follow(s, &far, huge, (vec3){0, 0, 0}, 0, 1, &c, 1);
    }
}

static void reach_and_room_are_kept(void **state)
{
    (void)state;
    shape s = {.kind = SHAPE_SPHERE, .radius = 0.024};
    shape_tracker tracker = {0};
    shape_contact c = {.feature = 99};
    vec3 point = {0, 0, 0.030};

    assert_int_equal(shape_follow(&s, &tracker, point, (vec3){0, 0, 0}, 0, 0.0059, &c, 1), 0);
    assert_int_equal(shape_follow(&s, &tracker, point, (vec3){0, 0, 0}, 0, 1, &c, 0), 0);
    assert_int_equal(c.feature, 99);
    assert_int_equal(shape_follow(&s, &tracker, point, (vec3){0, 0, 0}, 0, 0.0061, &c, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sampled_point_is_nearer),
        cmocka_unit_test(gap_is_negative_inside),
        cmocka_unit_test(tracking_agrees_with_a_fresh_search),
        cmocka_unit_test(box_keeps_the_face_of_entry),
        cmocka_unit_test(ellipsoid_witness_holds_inside),
        cmocka_unit_test(hopeless_points_are_survived),
        cmocka_unit_test(reach_and_room_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
