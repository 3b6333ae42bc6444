/* The active joints as unknowns: their inertia against joint impulses and the dense matrix, the
 * motion of points against finite differences, both against the contact matrix. */
#include <string.h>

#include "tests/test.h"

#include "solver/articulated.h"
#include "tests/support/dense_dynamics.h"
#include "tests/support/models.h"

/* The counting allocator becomes part of this program alone. */
#include "tests/conformance/allocations.c"

enum { ROOM = 320 };

typedef struct scene {
    model model;
    articulated *body;
    double q[ROOM], qd[ROOM];
    int n; /* unknowns */
    double *mass;
} scene;

/* A random tree in a random state with a random active set, one joint locked, rotors, springs,
 * dampers and couplings. */
static void scene_make(scene *s, test_random *r, int round)
{
    static const vec3 gravity = {0.4, -0.3, -9.81};
    const model *m = &s->model;
    s->model =
        models_random(r, 3 + test_random_index(r, 40), 1 + round % 5, MODELS_ALL_TYPES, round % 2);
    articulated_options options = {.gravity = gravity, .step_s = 1e-3};
    options.tree.hub_limit = round % 4 ? 0 : 1; /* split hubs bring welds */
    s->body = articulated_create(m, &options);
    assert_non_null(s->body);
    models_random_coordinates(r, m, s->q);
    for (int i = 0; i < m->v_count; i++) {
        s->qd[i] = test_random_between(r, -2, 2);
        articulated_set_armature(s->body, i, test_random_between(r, 0, 0.05));
        articulated_set_damping(s->body, i, test_random_between(r, 0, 5));
        articulated_set_spring(s->body, i, test_random_between(r, 0, 3000), 0);
    }
    articulated_set_state(s->body, s->q, s->qd);
    bool wanted[ROOM];
    for (int b = 0; b < m->body_count; b++)
        wanted[b] = test_random_between(r, 0, 1) < (round % 3 ? 0.25 : 1);
    articulated_set_active(s->body, wanted);
    articulated_lock(s->body, 1 + test_random_index(r, m->body_count - 1), round % 5 == 0);
    for (int i = 0; i < 3; i++) {
        mat6 stiff = mat6_inertia(0.4, test_random_vec3(r, 0.2), mat3_scale(0.01, mat3_identity()));
        vec6 pull = vec6_make(test_random_vec3(r, 1), test_random_vec3(r, 1));
        assert_true(articulated_add_coupling(s->body, 1 + test_random_index(r, m->body_count - 1),
                                             &stiff, pull));
    }
    s->n = articulated_freedom(s->body);
    s->mass = calloc((size_t)s->n * (size_t)s->n + 1, sizeof *s->mass);
    articulated_accelerate(s->body);
    articulated_mass_matrix(s->body, s->mass);
}

static void scene_free(scene *s)
{
    free(s->mass);
    articulated_destroy(s->body);
    model_free(&s->model);
}

/* The body whose joint has velocity coordinate v, and which of the joint's it is. */
static int body_of(const model *m, int v, int *column)
{
    for (int b = 1; b < m->body_count; b++) {
        const model_joint *joint = &m->joints[m->bodies[b].link];
        if (v >= joint->v && v < joint->v + joint_v_count(joint->type)) {
            *column = v - joint->v;
            return b;
        }
    }
    fail();
    return -1;
}

/* x = K^-1 b by Cholesky; also proves that K is positive definite. */
static void solve(const scene *s, const double *b, double *x)
{
    int n = s->n;
    double *l = calloc((size_t)n * (size_t)n + 1, sizeof *l);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = s->mass[i * n + j];
            for (int e = 0; e < j; e++)
                sum -= l[i * n + e] * l[j * n + e];
            assert_true(i != j || sum > 0);
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
        x[i] = b[i];
        for (int e = 0; e < i; e++)
            x[i] -= l[i * n + e] * x[e];
        x[i] /= l[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int e = i + 1; e < n; e++)
            x[i] -= l[e * n + i] * x[e];
        x[i] /= l[i * n + i];
    }
    free(l);
}

/* K times the answers to unit impulses at the joints is the identity, relative to the sizes of
 * what is added up. */
static void assert_inverse(scene *s)
{
    const int32_t *unknowns = articulated_unknowns(s->body);
    for (int c = 0; c < s->n; c++) {
        int column, on = body_of(&s->model, unknowns[c], &column);
        double unit[JOINT_V_MAX] = {0}, answer[ROOM], part[JOINT_V_MAX];
        unit[column] = 1;
        for (int i = 0; i < s->n; i++) {
            int k, to = body_of(&s->model, unknowns[i], &k);
            articulated_joint_response(s->body, on, unit, to, part);
            answer[i] = part[k];
        }
        for (int i = 0; i < s->n; i++) {
            double sum = 0, size = 1;
            for (int k = 0; k < s->n; k++) {
                assert_true(s->mass[i * s->n + k] == s->mass[k * s->n + i]);
                sum += s->mass[i * s->n + k] * answer[k];
                size = fmax(size, fabs(s->mass[i * s->n + k] * answer[k]));
            }
            assert_near(sum / size, (i == c) / size, 1e-9);
        }
    }
}

static void the_mass_matrix_inverts_joint_impulses(void **state)
{
    (void)state;
    test_random r = test_random_seed(91);
    for (int round = 0; round < test_effort(60); round++) {
        scene s = {0};
        scene_make(&s, &r, round);
        assert_inverse(&s);
        scene_free(&s);
    }
}

/* Without springs, couplings and locks it is the restriction of the dense mass matrix. */
static void the_mass_matrix_is_the_dense_one_restricted(void **state)
{
    (void)state;
    test_random r = test_random_seed(92);
    for (int round = 0; round < test_effort(20); round++) {
        model m = models_random(&r, 20, 1 + round % 4, MODELS_ALL_TYPES, round % 2);
        articulated_options options = {.step_s = 1e-3};
        articulated *a = articulated_create(&m, &options);
        double q[ROOM], qd[ROOM] = {0}, mass[ROOM * 8];
        bool wanted[ROOM];
        models_random_coordinates(&r, &m, q);
        articulated_set_state(a, q, qd);
        for (int b = 0; b < m.body_count; b++)
            wanted[b] = test_random_index(&r, 3) == 0;
        articulated_set_active(a, wanted);
        dense_dynamics dense = dense_create(&m);
        dense_update(&dense, q, qd, NULL, (vec3){0, 0, 0});
        int n = articulated_freedom(a);
        const int32_t *unknowns = articulated_unknowns(a);
        double *k = n * n <= ROOM * 8 ? mass : NULL;
        assert_non_null(k);
        articulated_mass_matrix(a, k);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < n; c++) {
                double expected = dense.mass[unknowns[i] * m.v_count + unknowns[c]];
                assert_near(k[i * n + c], expected, 1e-11 * (1 + fabs(expected)));
            }
        dense_free(&dense);
        articulated_destroy(a);
        model_free(&m);
    }
}

/* Where a point that is fixed in a body goes when one unknown moves by `step`. */
static vec3 moved_point(const scene *s, int body, vec3 own, int v, double step)
{
    double q[ROOM], speed[ROOM] = {0};
    pose at[ROOM];
    int column, owner = body_of(&s->model, v, &column);
    const model_joint *joint = &s->model.joints[s->model.bodies[owner].link];
    memcpy(q, s->q, sizeof(double) * (size_t)s->model.q_count);
    speed[column] = 1;
    joint_integrate(joint->type, q + joint->q, speed, step);
    model_body_poses(&s->model, q, at);
    return pose_apply(at[body], own);
}

/* Central differences of plain forward kinematics, 1e-5 apart: error 1e-10. */
static void the_jacobian_is_how_points_move(void **state)
{
    (void)state;
    test_random r = test_random_seed(93);
    for (int round = 0; round < test_effort(40); round++) {
        scene s = {0};
        scene_make(&s, &r, round);
        const int32_t *unknowns = articulated_unknowns(s.body);
        for (int turn = 0; turn < 4; turn++) {
            int body = 1 + test_random_index(&r, s.model.body_count - 1), index[ROOM];
            vec3 point = test_random_vec3(&r, 1), columns[ROOM];
            vec3 own = pose_apply_inverse(articulated_body_pose(s.body, body), point);
            int entries = articulated_jacobian(s.body, body, point, ROOM, index, columns);
            assert_true(entries <= s.n);
            int at = 0;
            for (int i = 0; i < s.n; i++) {
                bool is_listed = at < entries && index[at] == i;
                vec3 column = is_listed ? columns[at++] : (vec3){0, 0, 0};
                vec3 ahead = moved_point(&s, body, own, unknowns[i], 1e-5);
                vec3 behind = moved_point(&s, body, own, unknowns[i], -1e-5);
                vec3 slope = vec3_scale(0.5e5, vec3_sub(ahead, behind));
                assert_vec3_near(column, slope, 1e-8 * (1 + vec3_length(slope)));
            }
            assert_int_equal(at, entries); /* ascending, none twice */
            int seldom[1];
            vec3 untouched = {7, 7, 7};
            if (entries > 1) { /* too little room: told, nothing written */
                assert_int_equal(articulated_jacobian(s.body, body, point, 1, seldom, &untouched),
                                 entries);
                assert_true(untouched.x == 7);
            }
        }
        scene_free(&s);
    }
}

/* The row of a contact over all unknowns. */
static void contact_row_of(const scene *s, const articulated_contact *c, double *row)
{
    int index[ROOM];
    vec3 columns[ROOM];
    memset(row, 0, sizeof(double) * (size_t)s->n);
    for (int side = 0; side < 2; side++) {
        int body = side ? c->body_b : c->body_a;
        if (body < 0)
            continue;
        int entries = articulated_jacobian(s->body, body, c->point, ROOM, index, columns);
        for (int i = 0; i < entries; i++)
            row[index[i]] += (side ? -1 : 1) * vec3_dot(columns[i], c->normal);
    }
}

/* J K^-1 J^T is the contact matrix, and adding K^-1 J^T changes the contacts' speeds by it. */
static void jacobian_and_mass_make_the_contact_matrix(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    test_random r = test_random_seed(94);
    for (int round = 0; round < test_effort(40); round++) {
        scene s = {0};
        scene_make(&s, &r, round);
        articulated_contact contacts[COUNT];
        double rows[COUNT][ROOM], matrix[COUNT * COUNT], change[ROOM];
        for (int i = 0; i < COUNT; i++) {
            contacts[i].body_a = 1 + test_random_index(&r, s.model.body_count - 1);
            contacts[i].body_b = i % 2 ? -1 : 1 + test_random_index(&r, s.model.body_count - 1);
            contacts[i].point = test_random_vec3(&r, 0.5);
            contacts[i].normal = vec3_normalize_or(test_random_vec3(&r, 1), (vec3){0, 0, 1});
            contact_row_of(&s, &contacts[i], rows[i]);
        }
        articulated_contact_matrix(s.body, contacts, COUNT, matrix);
        for (int k = 0; k < COUNT; k++) {
            solve(&s, rows[k], change);
            for (int i = 0; i < COUNT; i++) {
                double sum = 0;
                for (int c = 0; c < s.n; c++)
                    sum += rows[i][c] * change[c];
                assert_near(sum, matrix[i * COUNT + k], 1e-9 * (1 + fabs(matrix[k * COUNT + k])));
            }
        }
        double before[ROOM];
        memcpy(before, articulated_qd(s.body), sizeof(double) * (size_t)s.model.v_count);
        articulated_add_velocity(s.body, change);
        for (int c = 0; c < s.n; c++) {
            int v = articulated_unknowns(s.body)[c];
            assert_true(articulated_qd(s.body)[v] == before[v] + change[c]);
        }
        scene_free(&s);
    }
}

/* The two halves of a step are the step, and in between the matrix fits the factors exactly. */
static void a_step_in_halves_is_the_step(void **state)
{
    (void)state;
    test_random r = test_random_seed(95);
    for (int round = 0; round < test_effort(10); round++) {
        test_random again = r;
        scene s = {0}, t = {0};
        scene_make(&s, &r, round);
        scene_make(&t, &again, round);
        for (int i = 0; i < 5; i++) {
            articulated_step(s.body);
            articulated_step_velocity(t.body);
            articulated_mass_matrix(t.body, t.mass);
            assert_inverse(&t);
            articulated_step_place(t.body);
        }
        assert_memory_equal(articulated_q(s.body), articulated_q(t.body),
                            sizeof(double) * (size_t)s.model.q_count);
        assert_memory_equal(articulated_qd(s.body), articulated_qd(t.body),
                            sizeof(double) * (size_t)s.model.v_count);
        scene_free(&s);
        scene_free(&t);
    }
}

/* After articulated_create: choosing, stopping and starting joints, stepping, limits, contacts and
 * all that a contact problem asks for. Under a sanitizer nothing is counted. */
static void nothing_allocates_after_the_start(void **state)
{
    (void)state;
    test_random r = test_random_seed(96);
    scene s = {0};
    scene_make(&s, &r, 7);
    int index[ROOM], bodies[2] = {1, 2};
    vec3 columns[ROOM];
    double matrix[1];
    vec6 impulses[2] = {{{0, 0, 0, 0.1, 0, 0}}, {{0, 0, 0, 0, 0.1, 0}}};
    articulated_contact contact = {1, 2, {0.1, 0, 0}, {0, 0, 1}};
    double change[ROOM] = {0}, mass[ROOM * 8];
    long before = allocations_of_this_thread();

    articulated_use_metric(s.body, articulated_metric_over(0.02));
    for (int budget = 1; budget < 8; budget++) {
        (void)articulated_select(s.body, (articulated_selection){.budget = budget});
        articulated_step(s.body);
        articulated_step_velocity(s.body);
        if (articulated_freedom(s.body) * articulated_freedom(s.body) <= ROOM * 8)
            articulated_mass_matrix(s.body, mass);
        (void)articulated_jacobian(s.body, 1, (vec3){0, 0, 0}, ROOM, index, columns);
        articulated_add_velocity(s.body, change);
        articulated_step_place(s.body);
        articulated_contact_matrix(s.body, &contact, 1, matrix);
        articulated_apply_impulses(s.body, bodies, impulses, 2);
        articulated_set_force(s.body, 0, budget);
    }
    double energy = articulated_kinetic_energy(s.body) + articulated_potential_energy(s.body);

    assert_int_equal(allocations_of_this_thread() - before, 0);
    assert_true(isfinite(energy));
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mass_matrix_inverts_joint_impulses),
        cmocka_unit_test(the_mass_matrix_is_the_dense_one_restricted),
        cmocka_unit_test(the_jacobian_is_how_points_move),
        cmocka_unit_test(jacobian_and_mass_make_the_contact_matrix),
        cmocka_unit_test(a_step_in_halves_is_the_step),
        cmocka_unit_test(nothing_allocates_after_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
