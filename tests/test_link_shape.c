/* Links of articulated bodies felt by their meshes: random play that never loses the surface or
 * passes it, and meshes that are no solids. */
#include <string.h>

#include "tests/test.h"

#include "collide/touch_mesh.h"
#include "geometry/model_make.h"
#include "server/actor_kinds.h"
#include "server/link_shape.h"
#include "tests/support/limb_play.h"

/* Deeper than this in a mesh the proxy would be felt to sink in. */
static const double skin = 0.05e-3;

static void never_lost_never_through(const char *name, vec3 reach)
{
    limb_play_result sum = {0};
    int runs = test_effort(4);
    for (int i = 0; i < runs; i++) {
        limb_play how = {.scene = name,
                         .seed = 100 + (uint64_t)i,
                         .ticks = 4000,
                         .world_every = i % 2 ? 4 : 2,
                         .tool_radius = i % 3 == 0 ? 0.001 : 0.0005,
                         .reach = reach,
                         .speed = 0.3};
        limb_play_result one = limb_play_run(&how);
        print_message("%s seed %d: touching %d of %d, through %d, lost %d, gated %d, infeasible "
                      "%d (through then %d), inside %.4f mm, near %d\n",
                      name, 100 + i, one.touching, how.ticks, one.through, one.lost, one.gated,
                      one.infeasible, one.squeezed_through, 1e3 * one.inside, one.most_near);
        sum.touching += one.touching;
        sum.through += one.through;
        sum.lost += one.lost;
        sum.inside = fmax(sum.inside, one.inside);
    }
    assert_true(sum.touching > 100 * runs);
    assert_int_equal(sum.through, 0);
    assert_int_equal(sum.lost, 0);
    assert_true(sum.inside <= skin);
}

static void the_wooden_man_is_never_lost_or_passed(void **state)
{
    (void)state;
    never_lost_never_through("wooden-man", (vec3){0.04, 0.04, 0.04});
}

static void the_pendulum_is_never_lost_or_passed(void **state)
{
    (void)state;
    never_lost_never_through("pendulum", (vec3){0.02, 0.004, 0.04});
}

static void the_robot_hand_is_never_lost_or_passed(void **state)
{
    (void)state;
    never_lost_never_through("hand", (vec3){0.04, 0.04, 0.04});
}

/* --- meshes ------------------------------------------------------------------------------------*/

typedef struct heard {
    int count;
    char text[256];
} heard;

static void listen(void *context, const char *text)
{
    heard *h = context;
    h->count++;
    snprintf(h->text, sizeof h->text, "%s", text);
}

/* A base without mesh and one ball on a hinge; its collision mesh is spoilt by `spoil`. */
static model ball_with(void (*spoil)(mesh *m))
{
    model m = {0};
    mesh ball;
    model_joint hinge = {.type = JOINT_REVOLUTE,
                         .axis = {0, 1, 0},
                         .parent_from_joint = pose_identity(),
                         .mimic = -1};
    assert_int_equal(mesh_make_sphere(0.01, 8, 12, &ball), HR_OK);
    spoil(&ball);
    assert_int_equal(model_add_link(&m, "stand", -1, NULL), 0);
    assert_int_equal(model_add_link(&m, "ball", 0, &hinge), 1);
    m.links[1].mass = 0.1;
    int part = model_add_mesh(&m, &ball);
    pose at = {quat_identity(), {0.03, 0, 0}};
    assert_true(model_add_collision(&m, (model_shape){1, part, at}) >= 0);
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    return m;
}

static void leave_it(mesh *m)
{
    (void)m;
}

static void make_a_hole(mesh *m)
{
    m->triangle_count--;
}

static void turn_one(mesh *m)
{
    int keep = m->triangles[5][0];
    m->triangles[5][0] = m->triangles[5][1];
    m->triangles[5][1] = keep;
}

static void turn_all(mesh *m)
{
    for (int i = 0; i < m->triangle_count; i++) {
        int keep = m->triangles[i][0];
        m->triangles[i][0] = m->triangles[i][1];
        m->triangles[i][1] = keep;
    }
}

static void crush_two(mesh *m)
{
    /* an edge is pulled together: its two triangles have no area */
    m->vertices[m->triangles[20][1]] = m->vertices[m->triangles[20][0]];
}

static void meshes_that_are_no_solids_are_felt_all_the_same(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(mesh *m);
        int warnings;
    } cases[] = {{leave_it, 0}, {make_a_hole, 1}, {turn_one, 1}, {turn_all, 1}, {crush_two, 0}};
    for (int i = 0; i < HR_COUNT(cases); i++) {
        model m = ball_with(cases[i].spoil);
        heard h = {0};
        shape s;
        pose at;
        assert_int_equal(link_shape_make(&m, 0, listen, &h, &s, &at), HR_ERR_NOT_FOUND);
        assert_int_equal(link_shape_make(&m, 1, listen, &h, &s, &at), HR_OK);
        assert_int_equal(h.count, cases[i].warnings);
        assert_true(h.count == 0 || strstr(h.text, "link \"ball\": expected"));
        assert_true(s.kind == SHAPE_MESH && s.mesh->is_closed);
        assert_vec3_near(at.origin, ((vec3){0.03, 0, 0}), 1e-3);

        /* from every side the surface is 1 cm from the middle, and faces the hand */
        for (int k = 0; k < 100; k++) {
            vec3 way = quat_rotate(quat_from_rotation_vector((vec3){0.31 * k, 0.17 * k, 0.7 * k}),
                                   (vec3){0, 0, 1});
            shape_tracker tracker = {0};
            shape_contact c;
            vec3 local = pose_apply_inverse(at, vec3_add_scaled((vec3){0.03, 0, 0}, 0.012, way));
            assert_int_equal(shape_follow(&s, &tracker, local, (vec3){0, 0, 0}, 0, 0.01, &c, 1), 1);
            assert_near(c.gap, 0.002, 1e-3);
            assert_true(vec3_dot(c.normal, way) > 0.8);
        }
        actor_shape_free(&s);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_that_are_no_solids_are_felt_all_the_same),
        cmocka_unit_test(the_wooden_man_is_never_lost_or_passed),
        cmocka_unit_test(the_pendulum_is_never_lost_or_passed),
        cmocka_unit_test(the_robot_hand_is_never_lost_or_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
