#include <string.h>

#include "collide/closest.h"
#include "collide/shape_mesh.h"
#include "server/proxy.h"
#include "tests/support/geodesic.h"
#include "tests/test.h"

static touch_mesh *made(mesh m, double crease)
{
    touch_mesh *out = NULL;
    assert_int_equal(touch_mesh_create(&m, crease, &out), HR_OK);
    mesh_free(&m);
    return out;
}

static mesh box(double x, double y, double z)
{
    mesh m;
    assert_int_equal(mesh_make_box((vec3){x, y, z}, &m), HR_OK);
    return m;
}

/* Nearest of all triangles, one by one. */
static double brute_distance(const touch_mesh *m, vec3 p)
{
    double best = (double)INFINITY;
    for (int i = 0; i < m->triangle_count; i++) {
        const vec3 *c = m->triangles[i].corners;
        best = fmin(best, closest_point_triangle(p, c[0], c[1], c[2]).distance_squared);
    }
    return sqrt(best);
}

/* With every edge sharp the surface is the flat mesh itself. */
static void the_nearest_point_is_the_nearest_of_all(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    touch_mesh *m = made(geodesic_blob(12), 0);
    for (int i = 0; i < test_effort(3000); i++) {
        vec3 p = test_random_vec3(&r, 0.04);
        shape_tracker tracker = {0};
        shape_contact c[4];
        double exact = brute_distance(m, p);
        int count = shape_mesh_follow(m, &tracker, p, 1, c, 4);
        assert_true(count >= 1);
        assert_near(vec3_distance(c[0].point, p), exact, 1e-12);
    }
    touch_mesh_destroy(m);
}

/* A point led over the surface in small steps: what the track walks to is what a search finds, but
 * for valleys between two flat facets, where a nearest point on each side is as good to a
 * micrometre.
 */
static void walking_and_searching_agree(void **state)
{
    (void)state;
    touch_mesh *m = made(geodesic_blob(32), 0);
    shape_tracker tracker = {0};
    for (int i = 0; i < test_effort(20000); i++) {
        double a = 0.0007 * i, latitude = 0.7 * sin(0.37 * a);
        vec3 u = {cos(a) * cos(latitude), sin(a) * cos(latitude), sin(latitude)};
        vec3 p = vec3_scale(blob_radius(u) + 0.0002, u);
        shape_contact c[4], fresh[4];
        shape_tracker none = {0};
        assert_true(shape_mesh_follow(m, &tracker, p, 0.01, c, 4) >= 1);
        assert_true(shape_mesh_follow(m, &none, p, 0.01, fresh, 4) >= 1);
        assert_near(vec3_distance(c[0].point, p), vec3_distance(fresh[0].point, p), 1e-6);
    }
    touch_mesh_destroy(m);
}

/* A ball of 2000 flat triangles, 50 um hollow in the middle of each, feels round: the curved
 * surface is off by less than 2 um and its normal by less than 0.2 degrees. */
static void a_coarse_ball_is_round(void **state)
{
    (void)state;
    test_random r = test_random_seed(62);
    touch_mesh *m = made(geodesic_sphere(10, 0.024), TOUCH_MESH_CREASE_RAD);
    double worst = 0, tilt = 0, flat = 0;
    assert_int_equal(m->triangle_count, 2000);
    assert_true(m->is_closed);
    for (int i = 0; i < test_effort(5000); i++) {
        vec3 u = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){1, 0, 0});
        shape_tracker tracker = {0};
        shape_contact c;
        vec3 p = vec3_scale(0.0241, u);
        assert_int_equal(shape_mesh_follow(m, &tracker, p, 0.01, &c, 1), 1);
        worst = fmax(worst, fabs(vec3_length(c.point) - 0.024));
        tilt = fmax(tilt, vec3_length(vec3_cross(c.normal, vec3_normalize_or(c.point, u))));
        flat =
            fmax(flat,
                 0.0241 - brute_distance(m, p) < 0.024 ? 0.024 - 0.0241 + brute_distance(m, p) : 0);
    }
    print_message("off by %.2f um (flat %.1f um), normal by %.3f degrees\n", 1e6 * worst,
                  1e6 * flat, tilt * 180 / M_PI);
    assert_true(worst < 2e-6 && tilt < 0.0035 && flat > 20e-6);
    touch_mesh_destroy(m);
}

static void a_box_keeps_its_faces_flat_and_its_edges_sharp(void **state)
{
    (void)state;
    touch_mesh *m = made(box(0.04, 0.04, 0.04), TOUCH_MESH_CREASE_RAD);
    shape_contact c[4];
    shape_tracker tracker = {0};
    assert_int_equal(shape_mesh_follow(m, &tracker, (vec3){0.003, 0.018, 0.021}, 0.01, c, 4), 1);
    assert_vec3_near(c[0].normal, ((vec3){0, 0, 1}), 1e-15);
    assert_near(c[0].gap, 0.001, 1e-15);
    /* beyond the edge the normal points from the edge to the point */
    tracker = (shape_tracker){0};
    assert_int_equal(shape_mesh_follow(m, &tracker, (vec3){0.003, 0.021, 0.021}, 0.01, c, 4), 1);
    assert_vec3_near(c[0].normal, ((vec3){0, sqrt(0.5), sqrt(0.5)}), 1e-12);
    touch_mesh_destroy(m);
}

/* In the corner of a room three walls are reported, each once. */
static void a_corner_has_three_sides(void **state)
{
    (void)state;
    mesh m = box(1, 1, 1);
    for (int i = 0; i < m.triangle_count; i++) { /* turned inside out: a room */
        int swap = m.triangles[i][1];
        m.triangles[i][1] = m.triangles[i][2];
        m.triangles[i][2] = swap;
    }
    touch_mesh *room = made(m, TOUCH_MESH_CREASE_RAD);
    shape_tracker tracker = {0};
    shape_contact c[4];
    int count = shape_mesh_follow(room, &tracker, (vec3){0.4995, 0.4994, 0.4993}, 0.01, c, 4);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            assert_near(vec3_dot(c[i].normal, c[j].normal), 0, 1e-12);
    touch_mesh_destroy(room);
}

/* --- with the proxy --------------------------------------------------------------------------- */

static void frame_of(contact_frame *f, uint64_t sequence)
{
    memset(f, 0, sizeof *f);
    f->sequence = sequence;
    f->body_count = 1;
    f->bodies[0] =
        (frame_body){.key = 1, .world_from_body = pose_identity(), .material = {1500, 0, 0, 0}};
}

/* The slide of the figures: 2 mm below the surface of the blob at 0.5 m/s. */
static void the_blob_is_never_lost(void **state)
{
    (void)state;
    for (int radius = 0; radius < 3; radius++) {
        touch_mesh *m = made(geodesic_blob(32), TOUCH_MESH_CREASE_RAD);
        shape s = {.kind = SHAPE_MESH, .mesh = m};
        proxy *p = calloc(1, sizeof *p);
        contact_frame *f = calloc(1, sizeof *f);
        const double radii[3] = {0, 0.0004, 0.002};
        proxy_init(p, &s, 1, radii[radius], 1);
        frame_of(f, 1);
        (void)proxy_frame(p, f);
        int lost = 0, ticks = test_effort(20000);
        for (int i = 0; i < ticks; i++) {
            double depth = -0.004 + 0.006 * fmin(1.0, i / 500.0);
            double a = i < 500 ? 0 : (i - 500) * 0.0005 / 0.024, latitude = 0.7 * sin(0.37 * a);
            vec3 u = {cos(a) * cos(latitude), sin(a) * cos(latitude), sin(latitude)};
            vec3 tool = vec3_scale(blob_radius(u) + radii[radius] - depth, u);
            proxy_move(p, tool, 1000000LL * i, 1e-3);
            lost += vec3_distance(p->position, tool) > 0.004 + radii[radius];
        }
        print_message("radius %.1f mm: lost %d of %d\n", 1e3 * radii[radius], lost, ticks);
        assert_int_equal(lost, 0);
        free(p);
        free(f);
        touch_mesh_destroy(m);
    }
}

/* A tool that wakes up deep inside a body, farther from its skin than any reach, is not pushed
 * before it has left. */
static void who_starts_inside_is_not_pushed(void **state)
{
    (void)state;
    for (int radius = 0; radius < 2; radius++) {
        touch_mesh *m = made(geodesic_blob(32), TOUCH_MESH_CREASE_RAD);
        shape s = {.kind = SHAPE_MESH, .mesh = m};
        proxy *p = calloc(1, sizeof *p);
        contact_frame *f = calloc(1, sizeof *f);
        proxy_init(p, &s, 1, 0.002 * radius, 1);
        frame_of(f, 1);
        (void)proxy_frame(p, f);
        vec3 u = {0.6, 0, 0.8};
        double surface = blob_radius(u);
        for (int i = 0; i < 400; i++) {
            vec3 tool = vec3_scale(0.001 + 1e-4 * i, u);
            proxy_move(p, tool, 1000000LL * i, 1e-3);
            assert_vec3_near(p->position, tool, 1e-12);
            if (vec3_length(tool) < surface - 0.003)
                assert_true(p->touch.flags & PROXY_GATED);
        }
        assert_false(p->touch.flags & PROXY_GATED);
        for (int i = 0; i < 200; i++) /* and from outside it is felt again */
            proxy_move(p, vec3_scale(0.041 - 1e-4 * i, u), 1000000LL * (400 + i), 1e-3);
        assert_true(p->touch.count == 1);
        free(p);
        free(f);
        touch_mesh_destroy(m);
    }
}

/* Nothing within reach is remembered, and forgotten in time. */
static void an_empty_surrounding_is_searched_once(void **state)
{
    (void)state;
    touch_mesh *m = made(geodesic_sphere(16, 0.02), TOUCH_MESH_CREASE_RAD);
    shape_tracker t = {0};
    shape_contact c[SHAPE_TRACKS_MAX];
    for (double x = 0.04; x > 0.0201; x -= 1e-4) {
        shape_tracker fresh = {0};
        shape_contact d[SHAPE_TRACKS_MAX];
        int count = shape_mesh_follow(m, &t, (vec3){x, 0, 0}, 0.006, c, SHAPE_TRACKS_MAX);
        assert_int_equal(count,
                         shape_mesh_follow(m, &fresh, (vec3){x, 0, 0}, 0.006, d, SHAPE_TRACKS_MAX));
        if (count == 0) /* the ball around where it was searched reaches this far */
            assert_true(vec3_distance(t.searched_at, (vec3){x, 0, 0}) + 0.006 <= t.search_room);
    }
    touch_mesh_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_point_is_the_nearest_of_all),
        cmocka_unit_test(walking_and_searching_agree),
        cmocka_unit_test(a_coarse_ball_is_round),
        cmocka_unit_test(a_box_keeps_its_faces_flat_and_its_edges_sharp),
        cmocka_unit_test(a_corner_has_three_sides),
        cmocka_unit_test(the_blob_is_never_lost),
        cmocka_unit_test(who_starts_inside_is_not_pushed),
        cmocka_unit_test(an_empty_surrounding_is_searched_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
