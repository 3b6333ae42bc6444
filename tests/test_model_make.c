/* The program's own mechanisms, the URDF writer, and mass properties of meshes. */
#include <string.h>

#include "tests/test.h"

#include "geometry/mesh_inertia.h"
#include "geometry/model_make.h"
#include "geometry/urdf.h"
#include "geometry/urdf_write.h"

static int triangles_of(const model *m)
{
    int count = 0;
    for (int i = 0; i < m->collision_count; i++)
        count += m->meshes[m->collisions[i].mesh].triangle_count;
    return count;
}

/* A box of 2 x 3 x 4 m off the origin: m/12 (b^2 + c^2) and so on. */
static void a_box_has_the_inertia_of_the_textbook(void **state)
{
    (void)state;
    mesh box;
    assert_int_equal(mesh_make_box((vec3){2, 3, 4}, &box), HR_OK);
    for (int i = 0; i < box.vertex_count; i++)
        box.vertices[i] = vec3_add(box.vertices[i], (vec3){5, -6, 7});
    mesh_inertia found = mesh_inertia_of(&box, 12);
    assert_near(found.volume, 24, 1e-12);
    assert_vec3_near(found.centre, ((vec3){5, -6, 7}), 1e-12);
    double expected[3] = {9 + 16, 4 + 16, 4 + 9};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(found.inertia.m[i][j], i == j ? expected[i] : 0, 1e-10);
    mesh_free(&box);
}

static void the_models_have_the_stated_sizes(void **state)
{
    (void)state;
    model m;
    assert_int_equal(model_make_wooden_man((wooden_man_options){0}, &m), HR_OK);
    assert_int_equal(m.link_count, 29);
    assert_int_equal(m.body_count, 29);
    assert_int_equal(m.v_count, 54);
    assert_int_equal(triangles_of(&m), 16008);
    double mass = -m.links[0].mass;
    for (int i = 0; i < m.link_count; i++)
        mass += m.links[i].mass;
    assert_near(mass, 75, 0.5);
    model_free(&m);

    assert_int_equal(model_make("wooden-man-free", &m), HR_OK);
    assert_int_equal(m.v_count, 59);
    model_free(&m);
    assert_int_equal(model_make_pendulum((pendulum_options){0}, &m), HR_OK);
    assert_int_equal(m.link_count, 31);
    assert_int_equal(m.v_count, 30);
    assert_int_equal(triangles_of(&m), 16000);
    model_free(&m);
    assert_int_equal(model_make("unknown", &m), HR_ERR_NOT_FOUND);
}

/* Is p inside the closed mesh? The solid angles of its triangles add up to 4 pi there
 * (Van Oosterom and Strackee), to 0 outside. */
static bool is_inside(const mesh *m, vec3 p)
{
    double sum = 0;
    for (int i = 0; i < m->triangle_count; i++) {
        vec3 a = vec3_sub(m->vertices[m->triangles[i][0]], p);
        vec3 b = vec3_sub(m->vertices[m->triangles[i][1]], p);
        vec3 c = vec3_sub(m->vertices[m->triangles[i][2]], p);
        double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
        double denominator =
            la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
        sum += 2 * atan2(vec3_dot(a, vec3_cross(b, c)), denominator);
    }
    return sum > 6.28;
}

static void meshes_bounds(const mesh *m, pose place, vec3 *low, vec3 *high)
{
    *low = (vec3){1e9, 1e9, 1e9};
    *high = vec3_negate(*low);
    for (int i = 0; i < m->vertex_count; i++) {
        vec3 p = pose_apply(place, m->vertices[i]);
        *low = (vec3){fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z)};
        *high = (vec3){fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z)};
    }
}

static void assert_links_apart(const model *m, const pose *place, int a, int b)
{
    const mesh *first = &m->meshes[m->collisions[a].mesh];
    const mesh *second = &m->meshes[m->collisions[b].mesh];
    vec3 la, ha, lb, hb;
    meshes_bounds(first, place[a], &la, &ha);
    meshes_bounds(second, place[b], &lb, &hb);
    if (ha.x < lb.x || hb.x < la.x || ha.y < lb.y || hb.y < la.y || ha.z < lb.z || hb.z < la.z)
        return;
    for (int i = 0; i < first->vertex_count; i++) {
        vec3 p = pose_apply_inverse(place[b], pose_apply(place[a], first->vertices[i]));
        if (is_inside(second, p))
            fail_msg("%s reaches into %s", m->links[a].name, m->links[b].name);
    }
}

static void at_rest_no_link_reaches_into_another(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        model m;
        double q[128];
        pose place[64];
        assert_int_equal(model_make(kind ? "pendulum" : "wooden-man", &m), HR_OK);
        model_zero_coordinates(&m, q);
        model_link_poses(&m, q, place);
        assert_int_equal(m.collision_count, m.link_count); /* one shape per link, in order */
        for (int a = 0; a < m.link_count; a++)
            for (int b = 0; b < m.link_count; b++)
                if (a != b)
                    assert_links_apart(&m, place, a, b);
        model_free(&m);
    }
}

static void what_is_written_reads_back_the_same(void **state)
{
    (void)state;
    char folder[64] = "/tmp/made-XXXXXX", inner[96], path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/deep/er", folder);
    model m, back;
    hr_error error;
    assert_int_equal(model_make("wooden-man-free", &m), HR_OK);
    m.joints[3].parent_from_joint.rotation = quat_from_rotation_vector((vec3){0.4, -1.1, 2});
    m.joints[5].mimic = 4;
    m.joints[5].armature = 0.25;
    m.joints[8].type = JOINT_SCREW;
    m.joints[8].pitch = 0.125;
    free(m.links[4].name);
    m.links[4].name = strdup("a < b & \"c\"");
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    assert_int_equal(urdf_save(&m, inner, "man", &error), HR_OK);
    snprintf(path, sizeof path, "%s/man.urdf", inner);
    urdf_options options = {.meshes = URDF_REQUIRE_MESHES};
    if (urdf_load(path, options, &back, &error) != HR_OK)
        fail_msg("%s", error.text);

    assert_int_equal(back.link_count, m.link_count);
    assert_int_equal(triangles_of(&back), triangles_of(&m));
    for (int i = 0; i < m.link_count; i++) {
        int k = model_find_link(&back, m.links[i].name); /* reading numbers depth first */
        assert_true(k >= 0);
        const model_joint *a = &m.joints[i], *b = &back.joints[k];
        assert_near(back.links[k].mass, m.links[i].mass, 0);
        assert_vec3_near(back.links[k].centre, m.links[i].centre, 0);
        assert_memory_equal(&back.links[k].inertia, &m.links[i].inertia, sizeof(mat3));
        if (i == 0)
            continue;
        assert_string_equal(back.links[back.links[k].parent].name, m.links[m.links[i].parent].name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->mimic < 0, b->mimic < 0);
        if (a->mimic >= 0)
            assert_string_equal(back.joints[b->mimic].name, m.joints[a->mimic].name);
        assert_int_equal(b->file_order, i - 1);
        assert_near(b->armature, a->armature, 0);
        assert_near(b->pitch, a->pitch, 0);
        assert_near(b->damping, a->damping, 0);
        assert_int_equal(a->has_limits, b->has_limits);
        vec3 probe = {0.3, -0.2, 0.7};
        assert_vec3_near(pose_apply(b->parent_from_joint, probe),
                         pose_apply(a->parent_from_joint, probe), 1e-14);
    }
    char command[160];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    model_free(&m);
    model_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_has_the_inertia_of_the_textbook),
        cmocka_unit_test(the_models_have_the_stated_sizes),
        cmocka_unit_test(at_rest_no_link_reaches_into_another),
        cmocka_unit_test(what_is_written_reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
