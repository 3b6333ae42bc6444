/* The same motion told in other words: bodies swapped, triangles shuffled, the step cut in two, the
 * chain hung on its other end. The answer stays, up to what the tolerance allows. */
#include "tests/test.h"

#include <string.h>

#include "collide/ccd_step.h"
#include "tests/support/ccd_models.h"

enum { LINKS = 6, ROUNDS = 40 };

/* A row of boxes of unit length, hinged about random axes, and its motion. */
typedef struct chain {
    vec3 axis[LINKS];              /* of the joint that leads to the link */
    double from[LINKS], to[LINKS]; /* rad */
} chain;

static chain random_chain(test_random *r, double size)
{
    chain c;
    for (int i = 0; i < LINKS; i++) {
        c.axis[i] = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1});
        c.from[i] = test_random_between(r, -0.3, 0.3);
        c.to[i] = c.from[i] + test_random_between(r, -size, size);
    }
    return c;
}

static pose parent_from_joint(void)
{
    return (pose){{1, 0, 0, 0}, {1, 0, 0}};
}

static void swap_triangles(mesh *m, int a, int b)
{
    int spare[3];
    _Static_assert(sizeof spare == sizeof m->triangles[0], "three corners");
    memcpy(spare, m->triangles[a], sizeof spare);
    memcpy(m->triangles[a], m->triangles[b], sizeof spare);
    memcpy(m->triangles[b], spare, sizeof spare);
}

static void add_box(model *m, int link, pose link_from_mesh, test_random *shuffle)
{
    mesh part;
    assert_int_equal(mesh_make_box((vec3){0.8, 0.15, 0.15}, &part), HR_OK);
    for (int k = 0; k < part.vertex_count; k++)
        part.vertices[k].x += 0.5;
    for (int k = part.triangle_count - 1; shuffle && k > 0; k--)
        swap_triangles(&part, k, test_random_index(shuffle, k + 1));
    int index = model_add_mesh(m, &part);
    assert_true(model_add_collision(m, (model_shape){link, index, link_from_mesh}) >= 0);
}

static void build(const chain *c, test_random *shuffle, model *out)
{
    *out = (model){0};
    for (int i = 0; i < LINKS; i++) {
        model_joint joint = {.type = JOINT_REVOLUTE,
                             .axis = c->axis[i],
                             .mimic = -1,
                             .parent_from_joint = parent_from_joint()};
        assert_int_equal(model_add_link(out, "link", i - 1, &joint), i);
        add_box(out, i, pose_identity(), shuffle);
    }
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

/* From the last link: its joint turns the other way, and everything else sits behind it. */
static void build_from_the_end(const chain *c, model *out)
{
    pose back = pose_inverse(parent_from_joint());
    *out = (model){0};
    for (int i = 0; i < LINKS; i++) {
        model_joint joint = {.type = JOINT_REVOLUTE,
                             .axis = vec3_negate(c->axis[i == 0 ? 0 : LINKS - i]),
                             .mimic = -1,
                             .parent_from_joint = i <= 1 ? pose_identity() : back};
        assert_int_equal(model_add_link(out, "link", i - 1, &joint), i);
        add_box(out, i, i == 0 ? pose_identity() : back, NULL);
    }
    assert_int_equal(model_finish(out, NULL, NULL), HR_OK);
}

typedef struct stage {
    int count;
    model models[2];
    ccd_body *bodies[2];
    ccd_scene *scene;
    ccd_limits limits;
    ccd_result out;
} stage;

static stage *stage_create(void)
{
    stage *s = calloc(1, sizeof *s);
    s->scene = ccd_scene_create(1 << 10, 1 << 16);
    s->limits = ccd_limits_default();
    return s;
}

static void stage_destroy(stage *s)
{
    for (int i = 0; i < s->count; i++) {
        ccd_body_destroy(s->bodies[i]);
        model_free(&s->models[i]);
    }
    ccd_scene_destroy(s->scene);
    free(s);
}

/* Adds the model that lies in s->models[s->count]; q by the number of the joint's child link. */
static void add(stage *s, pose base, const double *from, const double *to)
{
    int i = s->count++;
    s->bodies[i] = ccd_body_create(&s->models[i], ASSEMBLY_BALANCED, base);
    assert_non_null(s->bodies[i]);
    assert_int_equal(ccd_scene_add(s->scene, s->bodies[i]), i);
    assert_int_equal(ccd_body_place(s->bodies[i], from), HR_OK);
    assert_int_equal(ccd_body_move(s->bodies[i], to), HR_OK);
}

static void run(stage *s)
{
    assert_int_equal(ccd_step(s->scene, &s->limits, &s->out), HR_OK);
}

/* Two chains that sweep through each other's room; links of one chain do not count. */
static stage *pair_stage(const chain c[2], bool is_swapped, test_random *shuffle)
{
    stage *s = stage_create();
    for (int k = 0; k < 2; k++) {
        int which = is_swapped ? 1 - k : k;
        build(&c[which], shuffle, &s->models[k]);
        pose base = which ? (pose){{1, 0, 0, 0}, {0.3, 0.7, 0.4}} : pose_identity();
        add(s, base, c[which].from + 1, c[which].to + 1);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < LINKS; i++)
            for (int j = 0; j < LINKS; j++)
                assert_int_equal(ccd_scene_filter(s->scene, k, i, k, j, false), HR_OK);
    run(s);
    return s;
}

/* Times of contact differ by what the tolerance is worth: 1e-6 m over the slowest approach drawn.
 */
static const double alike = 2e-5;

static void assert_alike(const stage *a, const stage *b)
{
    assert_int_equal(a->out.status, b->out.status);
    assert_near(a->out.toc, b->out.toc, alike);
}

static void swapped_bodies_and_shuffled_triangles_meet_alike(void **state)
{
    (void)state;
    test_random r = test_random_seed(61);
    int contacts = 0;
    for (int round = 0; round < test_effort(ROUNDS); round++) {
        chain c[2] = {random_chain(&r, 1.2), random_chain(&r, 1.2)};
        stage *plain = pair_stage(c, false, NULL), *swapped = pair_stage(c, true, NULL),
              *shuffled = pair_stage(c, false, &r);
        assert_alike(plain, swapped);
        assert_alike(plain, shuffled);
        contacts += plain->out.status == CCD_CONTACT;
        stage_destroy(plain);
        stage_destroy(swapped);
        stage_destroy(shuffled);
    }
    print_message("%d contacts\n", contacts);
    assert_true(test_effort(ROUNDS) < ROUNDS || (contacts > 5 && contacts < ROUNDS));
}

/* The first part ends at a time that is known to be free; the second starts there. */
static void a_step_cut_in_two_meets_at_the_same_time(void **state)
{
    (void)state;
    test_random r = test_random_seed(62);
    for (int round = 0; round < test_effort(ROUNDS); round++) {
        chain c[2] = {random_chain(&r, 1.2), random_chain(&r, 1.2)};
        stage *plain = pair_stage(c, false, NULL), *cut = pair_stage(c, false, NULL);
        if (plain->out.status == CCD_FREE || plain->out.status == CCD_CONTACT) {
            double at = 0.7 * plain->out.toc;
            for (int k = 0; k < 2; k++) {
                ccd_body_stop(cut->bodies[k], at);
                assert_int_equal(ccd_body_move(cut->bodies[k], c[k].to + 1), HR_OK);
            }
            run(cut);
            assert_int_equal(cut->out.status, plain->out.status);
            assert_near(at + (1 - at) * cut->out.toc, plain->out.toc, alike);
        }
        stage_destroy(plain);
        stage_destroy(cut);
    }
}

static void a_larger_tolerance_never_calls_a_contact_free(void **state)
{
    (void)state;
    test_random r = test_random_seed(63);
    for (int round = 0; round < test_effort(ROUNDS); round++) {
        chain c[2] = {random_chain(&r, 1.2), random_chain(&r, 1.2)};
        stage *s = pair_stage(c, false, NULL);
        ccd_status exact = s->out.status;
        double toc = s->out.toc;
        for (double tolerance = 1e-5; tolerance < 2e-2; tolerance *= 10) {
            s->limits.tolerance = tolerance;
            run(s);
            assert_true(exact == CCD_FREE || s->out.status != CCD_FREE);
            assert_true(exact == CCD_FREE || s->out.toc <= toc + alike);
        }
        stage_destroy(s);
    }
}

/* A chain that meets itself does so whichever end it hangs on. */
static void a_chain_hung_on_its_other_end_meets_itself_alike(void **state)
{
    (void)state;
    test_random r = test_random_seed(64);
    int contacts = 0;
    for (int round = 0; round < test_effort(4 * ROUNDS); round++) {
        chain c = random_chain(&r, 4);
        double from[LINKS], to[LINKS];
        for (int i = 1; i < LINKS; i++) {
            from[i - 1] = c.from[LINKS - i];
            to[i - 1] = c.to[LINKS - i];
        }
        stage *plain = stage_create(), *turned = stage_create();
        build(&c, NULL, &plain->models[0]);
        build_from_the_end(&c, &turned->models[0]);
        add(plain, pose_identity(), c.from + 1, c.to + 1);
        add(turned, test_random_pose(&r, 2), from, to);
        run(plain);
        run(turned);
        assert_alike(plain, turned);
        contacts += plain->out.status == CCD_CONTACT;
        stage_destroy(plain);
        stage_destroy(turned);
    }
    print_message("%d contacts\n", contacts);
    assert_true(test_effort(4 * ROUNDS) < 4 * ROUNDS || (contacts > 5 && contacts < 4 * ROUNDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swapped_bodies_and_shuffled_triangles_meet_alike),
        cmocka_unit_test(a_step_cut_in_two_meets_at_the_same_time),
        cmocka_unit_test(a_larger_tolerance_never_calls_a_contact_free),
        cmocka_unit_test(a_chain_hung_on_its_other_end_meets_itself_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
