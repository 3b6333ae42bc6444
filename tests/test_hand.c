/* The whole way from a device sample to a force, in lockstep. */
#include "tests/test.h"

#include "tests/support/rig.h"

static void plane_pushes_back_with_its_stiffness(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_PLANE);
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});

    for (int i = 0; i <= 1000; i++)
        rig_tick(&r, (vec3){0, 0, 0.01 - 0.012 * i / 1000.0});
    for (int i = 0; i < 50; i++)
        rig_tick(&r, (vec3){0, 0, -0.002});

    assert_vec3_near(r.record.proxy, ((vec3){0, 0, 0}), 1e-9);
    assert_vec3_near(r.record.force, ((vec3){0, 0, 1500 * 0.002}), 1e-6); /* k times depth */
    assert_int_equal(r.record.reasons, 0);
    assert_int_equal(r.record.contact_count, 1);
    assert_near(r.record.gap, -0.002, 1e-9);
    rig_stop(&r);
}

static void sphere_pushes_along_its_radius(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_SPHERE)->radius_m = 0.024;
    r.settings.coupling.tool_radius_m = 0.002;
    rig_start(&r);
    vec3 u = vec3_normalize_or((vec3){1, 2, 3}, (vec3){1, 0, 0});
    rig_open_gate(&r, vec3_scale(0.035, u));

    for (int i = 0; i <= 1000; i++)
        rig_tick(&r, vec3_scale(0.035 - 0.011 * i / 1000.0, u));
    for (int i = 0; i < 50; i++)
        rig_tick(&r, vec3_scale(0.024, u));

    assert_vec3_near(r.record.proxy, vec3_scale(0.026, u), 1e-8);
    assert_vec3_near(r.record.force, vec3_scale(3.0, u), 1e-4); /* 2 mm at 1500 N/m */
    rig_stop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_pushes_back_with_its_stiffness),
        cmocka_unit_test(sphere_pushes_along_its_radius),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
