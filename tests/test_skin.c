#include "tests/test.h"

#include "collide/touch_mesh.h"
#include "geometry/parametric_body.h"
#include "server/skin.h"
#include "tests/support/geodesic.h"

static const double PI = 3.14159265358979323846;

static vec3 piece_area(const skin_piece *p)
{
    vec3 sum = {0, 0, 0};
    for (int i = 1; i + 1 < p->count; i++)
        sum = vec3_add(sum, vec3_cross(vec3_sub(p->corners[i], p->corners[0]),
                                       vec3_sub(p->corners[i + 1], p->corners[0])));
    return vec3_scale(0.5, sum);
}

/* Volume within, by the divergence theorem: only right if the skin is closed and turned outward. */
static double volume(const skin *s)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++) {
        const skin_piece *p = &s->pieces[i];
        vec3 middle = {0, 0, 0};
        for (int k = 0; k < p->count; k++)
            middle = vec3_add_scaled(middle, 1.0 / p->count, p->corners[k]);
        sum += vec3_dot(middle, piece_area(p)) / 3;
    }
    return sum;
}

static void assert_normals_agree(const skin *s)
{
    for (int i = 0; i < s->count; i++) {
        vec3 area = piece_area(&s->pieces[i]);
        if (vec3_length(area) > 0)
            assert_true(vec3_dot(area, s->pieces[i].normal) > 0.9 * vec3_length(area));
    }
}

static void solids_have_their_volume(void **state)
{
    (void)state;
    const struct {
        shape shape;
        double volume; /* formula */
    } cases[] = {
        {{.kind = SHAPE_SPHERE, .radius = 0.02}, 4 * PI / 3 * 8e-6},
        {{.kind = SHAPE_ELLIPSOID, .half_size = {0.01, 0.02, 0.03}}, 4 * PI / 3 * 6e-6},
        {{.kind = SHAPE_CAPSULE, .radius = 0.01, .half_length = 0.02},
         4 * PI / 3 * 1e-6 + PI * 1e-4 * 0.04},
        {{.kind = SHAPE_BOX, .half_size = {0.01, 0.02, 0.03}}, 8 * 6e-6},
    };
    for (int i = 0; i < HR_COUNT(cases); i++) {
        skin s;
        assert_int_equal(skin_make(&cases[i].shape, 0.001, (vec3){0, 0, 0}, 0.1, &s), HR_OK);
        assert_near(volume(&s) / cases[i].volume, 1, 0.01); /* flat pieces cut the round off */
        assert_normals_agree(&s);
        skin_free(&s);
    }
}

static void a_parametric_body_is_drawn_on_its_surface(void **state)
{
    (void)state;
    parametric_body body;
    hr_error error;
    assert_int_equal(parametric_body_load("config/bodies/sphere-six.json", &body, &error), HR_OK);
    shape ball = {.kind = SHAPE_PARAMETRIC, .surface = &body};
    double radius = 0.5 * (body.box_high.x - body.box_low.x);
    vec3 centre = vec3_scale(0.5, vec3_add(body.box_low, body.box_high));
    skin s;

    assert_int_equal(skin_make(&ball, radius / 20, centre, 1, &s), HR_OK);

    double expected = 4 * PI / 3 * pow(vec3_distance(s.pieces[0].corners[0], centre), 3);
    for (int i = 0; i < s.count; i++)
        for (int k = 0; k < s.pieces[i].count; k++)
            assert_near(vec3_distance(s.pieces[i].corners[k], centre),
                        vec3_distance(s.pieces[0].corners[0], centre), 1e-3 * radius);
    assert_near(volume(&s) / expected, 1, 0.01);
    assert_normals_agree(&s);
    skin_free(&s);
    parametric_body_free(&body);
}

static void a_fine_mesh_is_thinned_out_and_keeps_its_form(void **state)
{
    (void)state;
    mesh m = geodesic_sphere(32, 0.024); /* 20 480 triangles */
    touch_mesh *ready = NULL;

    assert_int_equal(touch_mesh_create(&m, TOUCH_MESH_CREASE_RAD, &ready), HR_OK);
    shape ball = {.kind = SHAPE_MESH, .mesh = ready};
    skin fine, coarse;

    assert_int_equal(skin_make(&ball, 1e-5, (vec3){0, 0, 0}, 0.1, &fine), HR_OK);
    assert_int_equal(skin_make(&ball, 0.003, (vec3){0, 0, 0}, 0.1, &coarse), HR_OK);

    assert_int_equal(fine.count, m.triangle_count);
    assert_in_range(coarse.count, 300, m.triangle_count / 8);
    assert_near(volume(&coarse) / volume(&fine), 1, 0.03);
    skin_free(&fine);
    skin_free(&coarse);
    touch_mesh_destroy(ready);
    mesh_free(&m);
}

static void a_plane_is_cut_around_the_asked_place(void **state)
{
    (void)state;
    shape plane = {.kind = SHAPE_PLANE};
    skin s;

    assert_int_equal(skin_make(&plane, 0.001, (vec3){0.5, -0.2, 0.3}, 0.04, &s), HR_OK);

    double area = 0;
    for (int i = 0; i < s.count; i++) {
        area += vec3_length(piece_area(&s.pieces[i]));
        assert_near(s.pieces[i].normal.z, 1, 1e-12);
        assert_true(fabs(s.pieces[i].corners[0].x - 0.5) <= 0.04 + 1e-12);
        assert_true(fabs(s.pieces[i].corners[0].y + 0.2) <= 0.04 + 1e-12);
    }
    assert_near(area, 0.08 * 0.08, 1e-9);
    skin_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_have_their_volume),
        cmocka_unit_test(a_parametric_body_is_drawn_on_its_surface),
        cmocka_unit_test(a_fine_mesh_is_thinned_out_and_keeps_its_form),
        cmocka_unit_test(a_plane_is_cut_around_the_asked_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
