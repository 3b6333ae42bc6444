/* Many bodies: those that cannot meet are never compared, and none that can is left out. */
#include "tests/test.h"

#include "collide/ccd_step.h"
#include "tests/support/ccd_models.h"

typedef struct crowd {
    int count;
    model models[CCD_BODIES_MAX];
    ccd_body *bodies[CCD_BODIES_MAX];
    double radius[CCD_BODIES_MAX];
    vec3 from[CCD_BODIES_MAX], to[CCD_BODIES_MAX];
    ccd_scene *scene;
    ccd_limits limits;
    ccd_result out;
} crowd;

static void move(crowd *c, int i, vec3 to)
{
    double q[7] = {to.x, to.y, to.z, 1, 0, 0, 0};
    c->to[i] = to;
    assert_int_equal(ccd_body_move(c->bodies[i], q), HR_OK);
}

static void add_ball(crowd *c, vec3 at, double radius)
{
    mesh point;
    int i = c->count++;
    double q[7] = {at.x, at.y, at.z, 1, 0, 0, 0};
    assert_int_equal(mesh_allocate(1, 1, &point), HR_OK);
    ccd_model_jointed(JOINT_FLOATING, (vec3){0, 0, 1}, 0, &point, &c->models[i]);
    c->bodies[i] = ccd_body_create(&c->models[i], ASSEMBLY_BALANCED, pose_identity());
    assert_non_null(c->bodies[i]);
    ccd_body_set_radius(c->bodies[i], radius);
    c->radius[i] = radius;
    c->from[i] = c->to[i] = at;
    assert_int_equal(ccd_scene_add(c->scene, c->bodies[i]), i);
    assert_int_equal(ccd_body_place(c->bodies[i], q), HR_OK);
}

static crowd *crowd_create(void)
{
    crowd *c = calloc(1, sizeof *c);
    c->scene = ccd_scene_create(1 << 14, 1 << 15);
    c->limits = ccd_limits_default();
    return c;
}

static void crowd_destroy(crowd *c)
{
    for (int i = 0; i < c->count; i++) {
        ccd_body_destroy(c->bodies[i]);
        model_free(&c->models[i]);
    }
    ccd_scene_destroy(c->scene);
    free(c);
}

static void step(crowd *c)
{
    assert_int_equal(ccd_step(c->scene, &c->limits, &c->out), HR_OK);
}

/* Boxes of the straight paths of balls, by definition. */
static bool boxes_meet(const crowd *c, int i, int j, double margin)
{
    double keep = c->radius[i] + c->radius[j] + margin;
    for (int k = 0; k < 3; k++) {
        const double *fi = &c->from[i].x, *ti = &c->to[i].x, *fj = &c->from[j].x, *tj = &c->to[j].x;
        if (fmin(fi[k], ti[k]) - fmax(fj[k], tj[k]) > keep ||
            fmin(fj[k], tj[k]) - fmax(fi[k], ti[k]) > keep)
            return false;
    }
    return true;
}

static void the_sweep_finds_what_all_pairs_find(void **state)
{
    (void)state;
    static ccd_near_pair near[1 << 14];
    test_random r = test_random_seed(11);
    for (int scene = 0; scene < 30; scene++) {
        crowd *c = crowd_create();
        int count = 2 + test_random_index(&r, 100), found = 0;
        vec3 size = {test_random_between(&r, 0, 2), test_random_between(&r, 0, 2),
                     test_random_between(&r, 0, 2)};
        for (int i = 0; i < count; i++) {
            vec3 at = test_random_vec3(&r, 1);
            add_ball(c, (vec3){size.x * at.x, size.y * at.y, size.z * at.z},
                     pow(10, test_random_between(&r, -3, -0.5)));
        }
        for (int pass = 0; pass < 3; pass++) { /* later ones start from the order of earlier ones */
            ccd_counters counters = {0};
            double margin = test_random_between(&r, 0, 0.1);
            for (int i = 0; i < count; i++)
                if (test_random_index(&r, 3) == 0)
                    move(c, i, vec3_add(c->from[i], test_random_vec3(&r, 0.5)));
            found = ccd_scene_near(c->scene, margin, near, HR_COUNT(near), &counters);
            int expected = 0;
            for (int i = 0; i < count; i++)
                for (int j = i + 1; j < count; j++)
                    expected += boxes_meet(c, i, j, margin);
            assert_int_equal(found, expected);
            for (int i = 0; i < found; i++)
                assert_true(boxes_meet(c, near[i].body[0], near[i].body[1], margin));
        }
        crowd_destroy(c);
    }
}

/* A row of balls 0.1 m apart, one of which moves: each is compared with its neighbours at most. */
static void the_cost_follows_neighbours_not_pairs(void **state)
{
    (void)state;
    for (int count = 20; count <= CCD_BODIES_MAX; count *= 2) {
        crowd *c = crowd_create();
        for (int i = 0; i < count; i++)
            add_ball(c, (vec3){0, i * 7 % count * 0.1, 0}, 0.04);
        step(c);
        assert_int_equal(c->out.status, CCD_FREE);
        assert_true(c->out.counters.sweep_tests <= 2 * count);
        move(c, count / 2, vec3_add(c->from[count / 2], (vec3){0.01, 0, 0}));
        step(c);
        assert_int_equal(c->out.status, CCD_FREE);
        assert_true(c->out.counters.sweep_tests <= 2 * count);
        assert_true(c->out.counters.broad_tests <= 4);
        assert_true(c->out.counters.world_updates <= 4); /* those at rest keep their boxes */
        crowd_destroy(c);
    }
}

/* What rests near each other is looked at once, and again when it must keep farther apart. */
static void bodies_at_rest_are_proven_apart_once(void **state)
{
    (void)state;
    crowd *c = crowd_create();
    for (int i = 0; i < 60; i++) /* neighbours' boxes overlap, the balls do not: a lattice turned */
        add_ball(c, (vec3){(i % 8) * 0.08 + (i / 8) * 0.08, (i % 8) * 0.08 - (i / 8) * 0.08, 0},
                 0.05);
    step(c);
    assert_int_equal(c->out.status, CCD_FREE);
    assert_true(c->out.counters.box_tests > 0);
    step(c);
    assert_int_equal(c->out.status, CCD_FREE);
    assert_int_equal(c->out.counters.broad_tests, 0);
    assert_int_equal(c->out.counters.box_tests, 0);
    c->limits.separation = 0.02; /* 0.113 m between centres: 0.013 m between balls */
    step(c);
    assert_int_equal(c->out.status, CCD_INITIAL);
    c->limits.separation = 0.001;
    step(c);
    assert_int_equal(c->out.status, CCD_FREE);
    crowd_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sweep_finds_what_all_pairs_find),
        cmocka_unit_test(the_cost_follows_neighbours_not_pairs),
        cmocka_unit_test(bodies_at_rest_are_proven_apart_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
