/* The rigid tool as god-object: closed forms of a box on four corners, and motion to new contact.
 */
#include "tests/test.h"

#include "solver/god_object_6.h"

/* Box of 0.2 kg on four corners (+-0.05, -0.02, +-0.03) of a floor with normal y. */
static const double half_x = 0.05, half_y = 0.02, half_z = 0.03, mass = 0.2;

static const double moment = 2e-4; /* kg m^2 about every axis: a solid box has 1.93e-4 about z */

static mat3 box_inertia(void)
{
    return mat3_scale(moment, mat3_identity());
}

static int floor_contacts(tool_contact *out)
{
    for (int k = 0; k < 4; k++)
        out[k] = (tool_contact){(uint64_t)k + 1,
                                {k & 1 ? half_x : -half_x, -half_y, k & 2 ? half_z : -half_z},
                                {0, 1, 0}};
    return 4;
}

static void push(tool_wrench w, twist *a, tool_wrench *hand)
{
    god_object_6 *g = god_object_6_create(mass, box_inertia());
    tool_contact contacts[4];
    int count = floor_contacts(contacts);
    assert_int_equal(god_object_6_accelerate(g, quat_identity(), w, contacts, count, a, hand),
                     HR_OK);
    god_object_6_destroy(g);
}

static void a_push_into_the_floor_is_held_exactly(void **state)
{
    (void)state;
    twist a;
    tool_wrench hand;
    push((tool_wrench){{0, -2, 0}, {0, 0, 0}}, &a, &hand);
    assert_vec3_near(hand.force, ((vec3){0, 2, 0}), 1e-12);
    assert_vec3_near(hand.torque, ((vec3){0, 0, 0}), 1e-12);
    assert_vec3_near(a.linear, ((vec3){0, 0, 0}), 1e-12);
}

static void sliding_along_the_floor_is_free(void **state)
{
    (void)state;
    twist a;
    tool_wrench hand;
    push((tool_wrench){{1, -2, 0}, {0, 0, 0}}, &a, &hand);
    assert_vec3_near(hand.force, ((vec3){0, 2, 0}), 1e-12);
    assert_vec3_near(a.linear, ((vec3){5, 0, 0}), 1e-12); /* 1 N on 0.2 kg */
}

static void a_small_torque_is_balanced_and_a_large_one_tips(void **state)
{
    (void)state;
    twist a;
    tool_wrench hand;
    push((tool_wrench){{0, -2, 0}, {0, 0, 0.02}}, &a, &hand);
    assert_vec3_near(hand.force, ((vec3){0, 2, 0}), 1e-12);
    assert_vec3_near(hand.torque, ((vec3){0, 0, -0.02}), 1e-12);
    /* two corners hold: a_y + 0.05 alpha = 0 there, so N = (I f + m 0.05 tau) / (I + m 0.05^2) */
    push((tool_wrench){{0, -2, 0}, {0, 0, 0.2}}, &a, &hand);
    double arm = 0.05, reaction = (moment * 2 + mass * arm * 0.2) / (moment + mass * arm * arm);
    assert_near(reaction, 3.428571, 1e-6);
    assert_vec3_near(hand.force, ((vec3){0, reaction, 0}), 1e-10);
    assert_vec3_near(hand.torque, ((vec3){0, 0, -arm * reaction}), 1e-10);
    assert_near(-arm * reaction, -0.171429, 1e-6);
}

static void a_free_tool_feels_nothing(void **state)
{
    (void)state;
    god_object_6 *g = god_object_6_create(mass, box_inertia());
    twist a;
    tool_wrench hand, w = {{0.3, 2, -1}, {0.01, 0.02, -0.03}};
    assert_int_equal(god_object_6_accelerate(g, quat_identity(), w, NULL, 0, &a, &hand), HR_OK);
    assert_vec3_near(hand.force, ((vec3){0, 0, 0}), 0.0);
    assert_vec3_near(hand.torque, ((vec3){0, 0, 0}), 0.0);
    assert_vec3_near(a.linear, vec3_scale(1 / mass, w.force), 1e-12);
    god_object_6_destroy(g);
}

/* Twice as many contacts as needed, all dependent: same wrench, and bounded time. */
static void dependent_contacts_change_nothing(void **state)
{
    (void)state;
    god_object_6 *g = god_object_6_create(mass, box_inertia());
    tool_contact contacts[GOD_OBJECT_6_CONTACTS];
    for (int k = 0; k < GOD_OBJECT_6_CONTACTS; k++) {
        double x = half_x * (2.0 * (k % 8) / 7 - 1), z = half_z * (2.0 * (k / 8) / 7 - 1);
        contacts[k] = (tool_contact){(uint64_t)k + 1, {x, -half_y, z}, {0, 1, 0}};
    }
    twist a, b;
    tool_wrench hand, expected, w = {{0.4, -2, 0.1}, {0.01, 0, 0.2}};
    push(w, &b, &expected);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(god_object_6_accelerate(g, quat_identity(), w, contacts,
                                                 GOD_OBJECT_6_CONTACTS, &a, &hand),
                         HR_OK);
        assert_vec3_near(hand.force, expected.force, 1e-9);
        assert_vec3_near(hand.torque, expected.torque, 1e-9);
        assert_vec3_near(a.linear, b.linear, 1e-8);
    }
    assert_int_equal(god_object_6_accelerate(g, quat_identity(), w, contacts,
                                             GOD_OBJECT_6_CONTACTS + 1, &a, &hand),
                     HR_ERR_CAPACITY);
    w.force.x = (double)NAN;
    assert_int_equal(god_object_6_accelerate(g, quat_identity(), w, contacts, 4, &a, &hand),
                     HR_ERR_NOT_FINITE);
    assert_vec3_near(a.linear, ((vec3){0, 0, 0}), 0.0);
    god_object_6_destroy(g);
}

/* A world of a floor (y = 0) and a wall (x = 0.2); the box's corners are what can touch. */
static double corner_gap(pose p, int corner, int plane)
{
    vec3 c = pose_apply(p, (vec3){corner & 1 ? half_x : -half_x, corner & 2 ? half_y : -half_y,
                                  corner & 4 ? half_z : -half_z});
    return plane == 0 ? c.y : 0.2 - c.x;
}

static double first_contact(void *world, pose start, twist way, const tool_contact *contacts,
                            int count, tool_contact *out)
{
    (void)world;
    double first = 1.0;
    for (int id = 0; id < 16; id++) {
        bool is_known = false;
        for (int k = 0; k < count; k++)
            is_known = is_known || contacts[k].key == (uint64_t)id + 1;
        pose end = pose_advance(start, way, (twist){0}, first);
        if (is_known || corner_gap(end, id % 8, id / 8) >= 0)
            continue;
        double low = 0, high = first;
        for (int i = 0; i < 60; i++) {
            double middle = 0.5 * (low + high);
            pose at = pose_advance(start, way, (twist){0}, middle);
            *(corner_gap(at, id % 8, id / 8) >= 0 ? &low : &high) = middle;
        }
        first = low;
        pose at = pose_advance(start, way, (twist){0}, first);
        int c = id % 8;
        *out = (tool_contact){
            (uint64_t)id + 1,
            pose_rotate(at, (vec3){c & 1 ? half_x : -half_x, c & 2 ? half_y : -half_y,
                                   c & 4 ? half_z : -half_z}),
            id / 8 == 0 ? (vec3){0, 1, 0} : (vec3){-1, 0, 0}};
    }
    return first;
}

static void the_tool_goes_on_along_what_it_meets(void **state)
{
    (void)state;
    god_object_6 *g = god_object_6_create(mass, box_inertia());
    pose start = {quat_identity(), {0, 0.03, 0}};
    god_object_6_result r;
    /* pulled down and to the right: lands on the floor, slides on, stops at the wall */
    tool_wrench w = {{40, -40, 0}, {0, 0, 0}};
    pose at = start;
    tool_contact none[1];
    assert_int_equal(god_object_6_move(g, at, w, 0.1, none, 0, first_contact, NULL, &r), HR_OK);
    assert_true(r.moves >= 2 && r.moves <= GOD_OBJECT_6_MOVES);
    for (int c = 0; c < 8; c++)
        for (int plane = 0; plane < 2; plane++)
            assert_true(corner_gap(r.world_from_tool, c, plane) >= -1e-9);
    /* the floor is reached: the way down was 10 mm of the 1 m that the pull asks for */
    assert_near(r.world_from_tool.origin.y, half_y, 1e-6);
    assert_true(r.hand.force.y > 0);
    god_object_6_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_into_the_floor_is_held_exactly),
        cmocka_unit_test(sliding_along_the_floor_is_free),
        cmocka_unit_test(a_small_torque_is_balanced_and_a_large_one_tips),
        cmocka_unit_test(a_free_tool_feels_nothing),
        cmocka_unit_test(dependent_contacts_change_nothing),
        cmocka_unit_test(the_tool_goes_on_along_what_it_meets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
