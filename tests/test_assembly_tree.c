/* The assembly tree: shape, handles, order. Heights are those that weight-balanced cutting of a
 * chain gives by hand: ceil(log2(parts)). */
#include "tests/test.h"

#include "collide/assembly_tree.h"

static model star_or_chain(int joints, int limb)
{
    model m = {0};
    model_joint joint = {.type = JOINT_REVOLUTE,
                         .parent_from_joint = pose_identity(),
                         .axis = {1, 0, 0},
                         .mimic = -1};
    assert_int_equal(model_add_link(&m, "base", -1, NULL), 0);
    for (int i = 1; i <= joints; i++) {
        int link = model_add_link(&m, "part", (i - 1) % limb == 0 ? 0 : i - 1, &joint);
        m.links[link].mass = 1;
        m.links[link].inertia = mat3_identity();
    }
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    return m;
}

static model random_model(test_random *r, int joints, int reach)
{
    model m = {0};
    assert_int_equal(model_add_link(&m, "base", -1, NULL), 0);
    for (int i = 1; i <= joints; i++) {
        model_joint joint = {.type = (joint_type)test_random_index(r, 7),
                             .parent_from_joint = test_random_pose(r, 1.0),
                             .axis = {0, 0, 1},
                             .mimic = -1};
        int back = 1 + test_random_index(r, reach < i ? reach : i);
        int link = model_add_link(&m, "part", i - back, &joint);
        m.links[link].mass = 1;
        m.links[link].inertia = mat3_identity();
    }
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    return m;
}

/* Everything the header promises, part by part and node by node, the slow way. */
static void assert_tree_is_sound(const assembly_tree *t, const model *m)
{
    assert_int_equal(t->node_count, 2 * t->part_count - 1);
    for (int n = 0; n < t->node_count; n++) {
        const assembly_node *node = &t->nodes[n];
        bool is_inside[512] = {false};
        int lowest = t->part_count;
        for (int k = node->first; k <= n; k++)
            if (assembly_node_is_leaf(&t->nodes[k]))
                is_inside[t->nodes[k].top] = true;
        for (int p = t->part_count - 1; p >= 0; p--)
            lowest = is_inside[p] ? p : lowest;
        assert_int_equal(node->top, lowest);
        bool is_handle[512] = {false};
        for (int p = 1; p < t->part_count; p++) {
            if (is_inside[p] == is_inside[t->parts[p].parent])
                continue;
            is_handle[is_inside[p] ? p : t->parts[p].parent] = true;
        }
        for (int p = 0; p < t->part_count; p++)
            assert_int_equal(is_handle[p], p == node->handle[0] || p == node->handle[1]);
        if (assembly_node_is_leaf(node))
            continue;
        const assembly_node *a = &t->nodes[node->child[0]], *b = &t->nodes[node->child[1]];
        assert_true(node->child[0] < n && node->child[1] < n);
        assert_int_equal(a->parent, n);
        assert_int_equal(a->handle[node->a_slot], t->parts[node->joint].parent);
        assert_int_equal(b->handle[0], node->joint);
        if (node->handle[0] >= 0)
            assert_int_equal(node->handle[0], a->handle[0]);
        if (node->handle[1] >= 0)
            assert_int_equal(node->handle[1], b->handle[node->b_slot]);
    }
    for (int p = 1; p < t->part_count; p++) {
        assert_true(t->parts[p].parent < p);
        int body = t->parts[p].body, parent = t->parts[t->parts[p].parent].body;
        assert_int_equal(parent, t->parts[p].is_welded ? body : m->bodies[body].parent);
    }
}

static void random_models_of_every_shape_give_sound_trees(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    for (int round = 0; round < 60; round++) {
        model m = random_model(&r, 1 + test_random_index(&r, 63), round % 3 ? 4 : 64);
        assembly_options options = {(assembly_shape)(round % 3), round % 2 ? 1 : 0};
        assembly_tree t;
        assert_int_equal(assembly_tree_build(&m, options, &t), HR_OK);
        assert_tree_is_sound(&t, &m);
        assembly_tree_free(&t);
        model_free(&m);
    }
}

static void chains_have_logarithmic_height(void **state)
{
    (void)state;
    static const int joints[] = {15, 29, 30, 63, 127, 300}, heights[] = {4, 5, 5, 6, 7, 9};
    for (int i = 0; i < HR_COUNT(joints); i++) {
        model m = star_or_chain(joints[i], joints[i]);
        assembly_tree t;
        assert_int_equal(assembly_tree_build(&m, (assembly_options){0}, &t), HR_OK);
        assert_int_equal(t.height, heights[i]);
        assembly_tree_free(&t);
        model_free(&m);
    }
}

static void a_hub_is_split_and_stays_shallow(void **state)
{
    (void)state;
    model m = star_or_chain(63, 4); /* 16 limbs of four, the last of three */
    assembly_tree whole, split;
    assert_int_equal(assembly_tree_build(&m, (assembly_options){.hub_limit = 100}, &whole), HR_OK);
    assert_int_equal(assembly_tree_build(&m, (assembly_options){0}, &split), HR_OK);

    assert_true(whole.height >= 16);
    assert_true(split.height <= 9);
    assert_int_equal(split.part_count, 64 + 14);
    assert_tree_is_sound(&split, &m);
    assembly_tree_free(&whole);
    assembly_tree_free(&split);
    model_free(&m);
}

static void a_floating_base_hangs_on_the_root(void **state)
{
    (void)state;
    model m = star_or_chain(20, 20);
    m.joints[1].type = JOINT_FLOATING;
    assembly_tree t;
    assert_int_equal(assembly_tree_build(&m, (assembly_options){0}, &t), HR_OK);
    assert_int_equal(t.nodes[t.root].joint, 1);
    assert_int_equal(t.nodes[t.nodes[t.root].child[0]].top, 0);
    assembly_tree_free(&t);
    model_free(&m);
}

static void ten_thousand_links_in_a_row_and_in_a_star_are_built(void **state)
{
    (void)state;
    for (int limb = 1; limb <= 10000; limb *= 100) {
        model m = star_or_chain(10000, limb);
        assembly_tree t;
        assert_int_equal(assembly_tree_build(&m, (assembly_options){0}, &t), HR_OK);
        assert_true(t.height <= 24);
        assembly_tree_free(&t);
        model_free(&m);
    }
}

static void the_common_ancestor_is_the_deepest_node_around_both(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    model m = random_model(&r, 40, 5);
    assembly_tree t;
    assert_int_equal(assembly_tree_build(&m, (assembly_options){0}, &t), HR_OK);
    for (int i = 0; i < 500; i++) {
        int a = test_random_index(&r, t.node_count), b = test_random_index(&r, t.node_count);
        int expected = 0;
        while (!assembly_tree_contains(&t, expected, a) || !assembly_tree_contains(&t, expected, b))
            expected++;
        assert_int_equal(assembly_tree_common(&t, a, b), expected);
    }
    assembly_tree_free(&t);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_of_every_shape_give_sound_trees),
        cmocka_unit_test(chains_have_logarithmic_height),
        cmocka_unit_test(a_hub_is_split_and_stays_shallow),
        cmocka_unit_test(a_floating_base_hangs_on_the_root),
        cmocka_unit_test(ten_thousand_links_in_a_row_and_in_a_star_are_built),
        cmocka_unit_test(the_common_ancestor_is_the_deepest_node_around_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
