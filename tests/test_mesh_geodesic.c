#include "tests/test.h"

#include "collide/mesh_closest.h"
#include "geometry/mesh.h"

static void a_made_mesh_is_closed_and_has_the_stated_size(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int frequency;
    } cases[] = {{"ball-1", 1}, {"ball-10", 10}, {"blob-12", 12}, {"blob-100", 100}};
    for (int i = 0; i < HR_COUNT(cases); i++) {
        mesh m = {0};
        assert_int_equal(mesh_make(cases[i].name, &m), HR_OK);
        int n = cases[i].frequency;
        assert_int_equal(m.triangle_count, 20 * n * n);
        assert_int_equal(m.vertex_count, 10 * n * n + 2); /* Euler: V = F / 2 + 2 */
        mesh_finder *f = mesh_finder_create(&m);
        assert_true(mesh_finder_is_closed(f));
        mesh_nearest at;
        assert_int_equal(mesh_find_nearest(f, (vec3){0, 0, 0}, &at), HR_OK);
        assert_true(at.distance < -0.7); /* the middle is inside: triangles are turned outward */
        mesh_finder_destroy(f);
        mesh_free(&m);
    }
}

static void vertices_lie_on_the_formula(void **state)
{
    (void)state;
    mesh m = {0};
    assert_int_equal(mesh_make("blob-20", &m), HR_OK);
    double least = 2, most = 0;
    for (int i = 0; i < m.vertex_count; i++) {
        double radius = vec3_length(m.vertices[i]);
        vec3 u = vec3_scale(1 / radius, m.vertices[i]);
        assert_near(radius, 1 + 0.12 * sin(5 * u.x) * cos(4 * u.y + 1) * sin(6 * u.z + 0.5), 1e-14);
        least = fmin(least, radius);
        most = fmax(most, radius);
    }
    assert_true(least < 0.9 && most > 1.1); /* hills and hollows */
    mesh_free(&m);
}

static void other_names_are_refused(void **state)
{
    (void)state;
    mesh m = {0};
    assert_int_equal(mesh_make("teapot", &m), HR_ERR_NOT_FOUND);
    const char *bad[] = {"blob-", "blob-0", "blob--3", "blob-201", "blob-9999999999", "ball-3x"};
    for (int i = 0; i < HR_COUNT(bad); i++)
        assert_int_equal(mesh_make(bad[i], &m), HR_ERR_ARGUMENT);
    assert_null(m.vertices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_mesh_is_closed_and_has_the_stated_size),
        cmocka_unit_test(vertices_lie_on_the_formula),
        cmocka_unit_test(other_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
