/* Published problems: the quadratic programmes and the contact problems beside their references. */
#include "tests/test.h"

#include <glob.h>
#include <jansson.h>
#include <string.h>

#include "solver/qp_contacts.h"
#include "solver/qp_interior.h"
#include "solver/qp_program.h"

static double reference(const char *path, const char *group, const char *member)
{
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *value = json_object_get(json_object_get(root, group), member);
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    json_decref(root);
    return number;
}

static qp_answer solve(const qp_problem *problem)
{
    qp_program p = {.n = problem->n,
                    .m = problem->m,
                    .q = problem->q,
                    .low = problem->low,
                    .high = problem->high};
    assert_true(qp_sparse_symmetric(&problem->p, &p.p));
    assert_true(qp_sparse_from_triplets(&problem->a, false, &p.a));
    qp_answer a;
    assert_int_equal(qp_program_solve(&p, (qp_program_limits){0}, &a), HR_OK);
    qp_sparse_free(&p.p);
    qp_sparse_free(&p.a);
    return a;
}

static void every_published_programme_reaches_its_reference(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/qp/qp/*.json", 0, NULL, &files), 0);
    assert_int_equal(files.gl_pathc, 20);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        qp_problem problem;
        hr_error error;
        assert_int_equal(qp_problem_load(files.gl_pathv[i], &problem, &error), HR_OK);
        double expected = reference(files.gl_pathv[i], "reference", "obj_without_r");

        qp_answer a = solve(&problem);

        print_message("%s: %.3g\n", files.gl_pathv[i],
                      fabs(a.objective - expected) / fabs(expected));
        assert_int_equal(a.status, QP_OPTIMAL);
        assert_near(a.objective, expected, 1e-7 * fabs(expected));
        qp_answer_free(&a);
        qp_problem_free(&problem);
    }
    globfree(&files);
}

/* The second method alone, so that both stand for each other. */
static void the_interior_point_method_agrees(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/qp/qp/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        qp_problem problem;
        hr_error error;
        assert_int_equal(qp_problem_load(files.gl_pathv[i], &problem, &error), HR_OK);
        qp_program p = {.n = problem.n,
                        .m = problem.m,
                        .q = problem.q,
                        .low = problem.low,
                        .high = problem.high};
        assert_true(qp_sparse_symmetric(&problem.p, &p.p));
        assert_true(qp_sparse_from_triplets(&problem.a, false, &p.a));
        qp_scaled scaled;
        qp_point point;
        assert_true(qp_scale(&p, &scaled));
        assert_int_equal(qp_interior_solve(&scaled, 0, &point), HR_OK);
        double objective = 0, expected = reference(files.gl_pathv[i], "reference", "obj_without_r");
        for (int j = 0; j < p.n; j++)
            objective +=
                point.x[j] * (0.5 * qp_sparse_row_dot(&scaled.p, j, point.x) + scaled.q[j]);
        objective /= scaled.cost;
        print_message("%s: %.2g after %d iterations\n", files.gl_pathv[i],
                      fabs(objective - expected) / fabs(expected), point.iterations);
        assert_int_equal(point.status, QP_OPTIMAL);
        assert_near(objective, expected, 1e-7 * fabs(expected));
        qp_point_free(&point);
        qp_scaled_free(&scaled);
        qp_sparse_free(&p.p);
        qp_sparse_free(&p.a);
        qp_problem_free(&problem);
    }
    globfree(&files);
}

static void every_published_contact_problem_reaches_its_reference(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/qp/contact/*.json", 0, NULL, &files), 0);
    assert_int_equal(files.gl_pathc, 14);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        qp_problem problem;
        hr_error error;
        assert_int_equal(qp_problem_load(files.gl_pathv[i], &problem, &error), HR_OK);
        double expected = reference(files.gl_pathv[i], "frictionless_reference",
                                    problem.kind == QP_PROBLEM_GLOBAL ? "primal_obj" : "obj");

        qp_contact_answer a;
        assert_int_equal(qp_contacts_solve(&problem, (qp_contact_options){0}, &a), HR_OK);

        assert_int_equal(a.status, QP_OPTIMAL);
        /* an objective below 1e-20 means zero */
        assert_near(a.objective, expected, 1e-7 * fabs(expected) + 1e-20);
        qp_contact_answer_free(&a);
        qp_problem_free(&problem);
    }
    globfree(&files);
}

static double friction_residual(const char *path, int passes, int *contacts)
{
    qp_problem problem;
    hr_error error;
    assert_int_equal(qp_problem_load(path, &problem, &error), HR_OK);
    qp_contact_answer a;
    assert_int_equal(qp_contacts_solve(&problem,
                                       (qp_contact_options){.has_friction = true, .passes = passes},
                                       &a),
                     HR_OK);
    assert_int_equal(a.status, QP_OPTIMAL);
    *contacts = problem.contacts;
    double residual = a.residual;
    qp_contact_answer_free(&a);
    qp_problem_free(&problem);
    return residual;
}

/* Property test 11: bars for problems of at most 30 contacts. */
static void friction_passes_converge_on_published_problems(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/qp/contact/*.json", 0, NULL, &files), 0);
    int small = 0, good = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        int contacts;
        double after_8 = friction_residual(files.gl_pathv[i], 8, &contacts);
        double after_16 = friction_residual(files.gl_pathv[i], 16, &contacts);
        double at_end = friction_residual(files.gl_pathv[i], 0, &contacts);
        print_message("%s: %.2g %.2g %.2g\n", files.gl_pathv[i], after_8, after_16, at_end);
        assert_true(at_end <= 1e-6);
        if (contacts > 30)
            continue;
        assert_true(after_8 <= 5e-3);
        assert_true(after_16 <= 5e-4);
        small++;
        good += after_8 <= 5e-4;
    }
    globfree(&files);
    assert_true(good >= 0.8 * small);
}

static qp_answer solve_text(const char *text)
{
    qp_problem problem;
    hr_error error;
    hr_status status = qp_problem_parse(text, strlen(text), "text", &problem, &error);
    if (status != HR_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, HR_OK);
    qp_answer a = solve(&problem);
    qp_problem_free(&problem);
    return a;
}

static void contradictory_rows_come_with_a_certificate(void **state)
{
    (void)state;
    /* x + y >= 2, x <= 0.5, y <= 0.5: the sum of the last two minus the first says -1 >= 0 */
    qp_answer a = solve_text("{\"format\":\"hrs-qp-1\",\"n\":2,\"m\":3,"
                             "\"P\":{\"rows\":2,\"cols\":2,\"i\":[0],\"j\":[0],\"v\":[1]},"
                             "\"q\":[1,1],\"r\":0,"
                             "\"A\":{\"rows\":3,\"cols\":2,\"i\":[0,0,1,2],\"j\":[0,1,0,1],"
                             "\"v\":[1,1,1,1]},"
                             "\"l\":[2,null,null],\"u\":[null,0.5,0.5]}");
    assert_int_equal(a.status, QP_INFEASIBLE);
    assert_false(a.is_unbounded);
    double scale = a.y[1];
    assert_true(scale > 0);
    assert_near(a.y[0] / scale, -1.0, 1e-9);
    assert_near(a.y[2] / scale, 1.0, 1e-9);
    qp_answer_free(&a);
}

static void a_falling_ray_is_named(void **state)
{
    (void)state;
    qp_answer a = solve_text("{\"format\":\"hrs-qp-1\",\"n\":2,\"m\":1,"
                             "\"P\":{\"rows\":2,\"cols\":2,\"i\":[0],\"j\":[0],\"v\":[1]},"
                             "\"q\":[0,-1],\"r\":0,"
                             "\"A\":{\"rows\":1,\"cols\":2,\"i\":[0],\"j\":[1],\"v\":[1]},"
                             "\"l\":[0],\"u\":[null]}");
    assert_int_equal(a.status, QP_INFEASIBLE);
    assert_true(a.is_unbounded);
    qp_answer_free(&a);
}

static void broken_files_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"format\":\"hrs-qp-1\"}",
        "{\"format\":\"hrs-qp-1\",\"n\":1e9}",
        "{\"format\":\"hrs-qp-1\",\"n\":-1,\"m\":0}",
        "{\"format\":\"hrs-qp-1\",\"n\":NaN}",
        "{\"format\":\"hrs-qp-1\",\"n\":1,\"m\":0,\"P\":{\"rows\":1,\"cols\":1,\"i\":[1],\"j\":[0],"
        "\"v\":[1]},\"q\":[0]}",
        "{\"format\":\"hrs-qp-1\",\"n\":1,\"m\":0,\"P\":{\"rows\":1,\"cols\":1,\"i\":[0,0],"
        "\"j\":[0,0],\"v\":[1,1]},\"q\":[0]}",
        "{\"format\":\"hrs-qp-1\",\"n\":1,\"m\":0,\"P\":{\"rows\":1,\"cols\":1,\"i\":[0],\"j\":[0],"
        "\"v\":[1e999]},\"q\":[0]}",
        "{\"format\":\"hrs-fc-local-1\",\"d\":4,\"nc\":1}",
        "{\"format\":\"hrs-fc-local-1\",\"d\":2,\"nc\":1,\"mu\":[-1]}"};
    for (int i = 0; i < HR_COUNT(texts); i++) {
        qp_problem problem;
        hr_error error = {""};
        assert_int_equal(qp_problem_parse(texts[i], strlen(texts[i]), "bad.json", &problem, &error),
                         HR_ERR_FORMAT);
        assert_int_equal(strncmp(error.text, "bad.json:", 9), 0);
        assert_non_null(strstr(error.text, "expected"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_programme_reaches_its_reference),
        cmocka_unit_test(the_interior_point_method_agrees),
        cmocka_unit_test(every_published_contact_problem_reaches_its_reference),
        cmocka_unit_test(friction_passes_converge_on_published_problems),
        cmocka_unit_test(contradictory_rows_come_with_a_certificate),
        cmocka_unit_test(a_falling_ray_is_named),
        cmocka_unit_test(broken_files_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
