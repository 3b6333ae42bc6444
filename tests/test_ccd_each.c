/* Balls and capsules as rounded points and segments, and steps in which every pair of links is
 * looked at on its own. */
#include <string.h>

#include "collide/ccd_step.h"
#include "tests/support/ccd_models.h"

enum { BALLS = 6 };

typedef struct stage {
    model models[BALLS];
    ccd_body *bodies[BALLS];
    ccd_scene *scene;
    ccd_limits limits;
    ccd_findings found;
} stage;

static mesh point_mesh(void)
{
    mesh m;
    assert_int_equal(mesh_allocate(1, 1, &m), HR_OK);
    return m;
}

/* Balls that float. */
static stage *stage_create(const vec3 *at, const double *radius)
{
    stage *s = calloc(1, sizeof *s);
    s->scene = ccd_scene_create(256, 4096);
    s->limits = ccd_limits_default();
    for (int i = 0; i < BALLS; i++) {
        mesh part = point_mesh();
        ccd_model_jointed(JOINT_FLOATING, (vec3){0, 0, 1}, 0, &part, &s->models[i]);
        s->bodies[i] = ccd_body_create(&s->models[i], ASSEMBLY_BALANCED, pose_identity());
        assert_non_null(s->bodies[i]);
        ccd_body_set_radius(s->bodies[i], radius[i]);
        assert_int_equal(ccd_scene_add(s->scene, s->bodies[i]), i);
        double q[7] = {at[i].x, at[i].y, at[i].z, 1, 0, 0, 0};
        assert_int_equal(ccd_body_place(s->bodies[i], q), HR_OK);
    }
    return s;
}

static void stage_destroy(stage *s)
{
    for (int i = 0; i < BALLS; i++) {
        ccd_body_destroy(s->bodies[i]);
        model_free(&s->models[i]);
    }
    ccd_scene_destroy(s->scene);
    free(s);
}

/* When |d + t v| = r for the first time; 2 where never. */
static double first_meeting(vec3 d, vec3 v, double r)
{
    double a = vec3_dot(v, v), b = vec3_dot(d, v), c = vec3_dot(d, d) - r * r;
    double root = b * b - a * c;
    if (root < 0 || b >= 0)
        return 2;
    double t = (-b - sqrt(root)) / a;
    return t >= 0 && t <= 1 ? t : 2;
}

static int finding_of(const ccd_findings *f, int a, int b)
{
    for (int i = 0; i < f->count; i++)
        if (f->list[i].body[0] == a && f->list[i].body[1] == b)
            return i;
    return -1;
}

static void check_pair(const stage *s, int a, int b, vec3 d, vec3 v, double radii)
{
    double delta = s->limits.tolerance, separation = s->limits.separation;
    double exact = first_meeting(d, v, radii + separation);
    double grazing = first_meeting(d, v, radii + separation + 1.01 * delta);
    int i = finding_of(&s->found, a, b);
    if (i < 0) {
        assert_true(exact > 1);
        return;
    }
    const ccd_finding *f = &s->found.list[i];
    if (f->status != CCD_CONTACT || f->toc > exact + 1e-12 || f->toc < grazing - 1e-9)
        fail_msg("balls %d and %d: %s at %.12g, closed form %.12g to %.12g", a, b,
                 ccd_status_name(f->status), f->toc, grazing, exact);
    assert_true(f->count >= 1);
    assert_true(s->found.contacts[f->first].distance <= separation + 2 * delta);
}

/* The roots of a quadratic say when two balls meet; every pair must be found, whoever else meets
 * earlier. */
static void every_pair_of_balls_meets_at_its_own_time(void **state)
{
    (void)state;
    test_random r = test_random_seed(51);
    int met = 0;
    for (int trial = 0; trial < test_effort(300); trial++) {
        vec3 start[BALLS], way[BALLS];
        double radius[BALLS];
        for (int i = 0; i < BALLS; i++) {
            radius[i] = test_random_between(&r, 0.005, 0.02);
            start[i] = vec3_add((vec3){0.06 * (i % 3), 0.06 * (i / 3), 0}, /* clear of each other */
                                test_random_vec3(&r, 0.005));
            way[i] = test_random_vec3(&r, 0.08);
        }
        stage *s = stage_create(start, radius);
        s->limits.separation = trial % 2 ? 2e-5 : 0;
        for (int i = 0; i < BALLS; i++) {
            vec3 end = vec3_add(start[i], way[i]);
            double q[7] = {end.x, end.y, end.z, 1, 0, 0, 0};
            assert_int_equal(ccd_body_move(s->bodies[i], q), HR_OK);
        }

        assert_int_equal(ccd_step_each(s->scene, &s->limits, &s->found), HR_OK);

        assert_false(s->found.is_cut_short);
        for (int a = 0; a < BALLS; a++)
            for (int b = a + 1; b < BALLS; b++)
                check_pair(s, a, b, vec3_sub(start[b], start[a]), vec3_sub(way[b], way[a]),
                           radius[a] + radius[b]);
        met += s->found.count;
        stage_destroy(s);
    }
    print_message("%d meetings\n", met);
    assert_true(met > test_effort(300) / 4);
}

/* Without work to spend nothing is called free. */
static void out_of_budget_nothing_is_free(void **state)
{
    (void)state;
    vec3 start[BALLS];
    double radius[BALLS];
    for (int i = 0; i < BALLS; i++) {
        start[i] = (vec3){0.03 * i, 0, 0};
        radius[i] = 0.01;
    }
    stage *s = stage_create(start, radius);
    for (int i = 0; i < BALLS; i++) {
        double q[7] = {0.03 * i, 0.2, 0, 1, 0, 0, 0};
        assert_int_equal(ccd_body_move(s->bodies[i], q), HR_OK);
    }
    s->limits.budget = 0;
    assert_int_equal(ccd_step_each(s->scene, &s->limits, &s->found), HR_OK);
    assert_int_equal(s->found.count, s->found.pair_count);
    for (int i = 0; i < s->found.count; i++) {
        assert_int_equal(s->found.list[i].status, CCD_BUDGET);
        assert_true(s->found.list[i].toc == 0);
    }
    stage_destroy(s);
}

static void near_pairs_are_those_within_the_margin(void **state)
{
    (void)state;
    vec3 start[BALLS];
    double radius[BALLS];
    for (int i = 0; i < BALLS; i++) {
        start[i] = (vec3){0.03 * i, 0, 0};
        radius[i] = 0.01;
    }
    stage *s = stage_create(start, radius);
    ccd_counters counters = {0};
    ccd_near_pair pairs[32];
    assert_int_equal(ccd_scene_near(s->scene, 0.009, pairs, 32, &counters), 0);
    assert_int_equal(ccd_scene_near(s->scene, 0.011, pairs, 32, &counters), BALLS - 1);
    for (int i = 0; i < BALLS - 1; i++)
        assert_int_equal(pairs[i].body[1], pairs[i].body[0] + 1);
    stage_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_balls_meets_at_its_own_time),
        cmocka_unit_test(out_of_budget_nothing_is_free),
        cmocka_unit_test(near_pairs_are_those_within_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
