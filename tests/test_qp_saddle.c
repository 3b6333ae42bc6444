/* The iterative route of the paper against the direct one. */
#include "tests/test.h"

#include <string.h>

#include "solver/qp.h"
#include "solver/qp_saddle.h"

/* A chain of masses and stiff springs: K = m + dt^2 k (second difference). */
enum { N = 360, M = 40 };

typedef struct chain {
    double band[2 * N]; /* half bandwidth 1 */
    double b[N];
    qp *direct;
} chain;

static void apply(void *context, const double *x, double *out)
{
    const chain *c = context;
    for (int i = 0; i < N; i++) {
        out[i] = c->band[2 * i + 1] * x[i];
        if (i > 0)
            out[i] += c->band[2 * i] * x[i - 1];
        if (i + 1 < N)
            out[i] += c->band[2 * i + 2] * x[i + 1];
    }
}

static void by_diagonal(void *context, const double *x, double *out)
{
    const chain *c = context;
    for (int i = 0; i < N; i++)
        out[i] = x[i] / c->band[2 * i + 1];
}

static void exact(void *context, const double *x, double *out)
{
    const chain *c = context;
    memcpy(out, x, N * sizeof *x);
    qp_apply_inverse(c->direct, out);
}

typedef struct rows {
    qp_sparse j;
    long start[M + 1];
    int index[3 * M];
    double value[3 * M], bound[M];
} rows;

static void make(test_random *r, chain *c, rows *w)
{
    for (int i = 0; i < N; i++) {
        c->band[2 * i] = i > 0 ? -2.0 : 0.0;
        c->band[2 * i + 1] = 0.5 + (i > 0 ? 2.0 : 0.0) + (i + 1 < N ? 2.0 : 0.0);
        c->b[i] = test_random_between(r, -1, 1);
    }
    w->j = (qp_sparse){M, N, w->start, w->index, w->value};
    for (int k = 0; k < M; k++) {
        w->start[k + 1] = 3 * (k + 1);
        for (int e = 0; e < 3; e++) {
            w->index[3 * k + e] = 9 * k + e;
            w->value[3 * k + e] = test_random_between(r, -1, 1);
        }
        w->bound[k] = test_random_between(r, -0.05, 0.2);
    }
    c->direct = qp_create((qp_limits){.variables = N, .rows = M, .envelope = 2 * N});
    assert_int_equal(qp_set_banded(c->direct, N, 1, c->band), HR_OK);
    assert_int_equal(qp_set_b(c->direct, c->b), HR_OK);
}

static double distance(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void both_iterative_solvers_satisfy_the_saddle_system(void **state)
{
    (void)state;
    test_random r = test_random_seed(1);
    static chain c;
    static rows w;
    make(&r, &c, &w);
    double x[N] = {0}, y[N] = {0}, z[N] = {0}, lambda[M] = {0}, mu[M] = {0}, nu[M] = {0};
    qp_saddle s = {.n = N,
                   .apply = apply,
                   .precondition = exact,
                   .context = &c,
                   .b = c.b,
                   .rows = &w.j,
                   .bound = w.bound};
    qp_saddle_result exactly, roughly, outer;
    assert_int_equal(qp_saddle_minres(&s, 1e-11, 2000, x, lambda, &exactly), HR_OK);
    s.precondition = by_diagonal;
    assert_int_equal(qp_saddle_minres(&s, 1e-11, 5000, y, mu, &roughly), HR_OK);
    assert_int_equal(qp_saddle_schur(&s, 1e-11, 2000, z, nu, &outer), HR_OK);
    print_message("MINRES: %d iterations with K, %d with its diagonal; conjugate gradients: %d\n",
                  exactly.iterations, roughly.iterations, outer.iterations);
    assert_true(exactly.is_solved && roughly.is_solved && outer.is_solved);
    assert_true(exactly.iterations < roughly.iterations);
    assert_near(distance(x, y, N), 0.0, 1e-8);
    assert_near(distance(x, z, N), 0.0, 1e-8);
    assert_near(distance(lambda, nu, M), 0.0, 1e-7);
    for (int k = 0; k < M; k++)
        assert_near(qp_sparse_row_dot(&w.j, k, x), w.bound[k], 1e-9);
    qp_destroy(c.direct);
}

/* One row and the exact preconditioner: three different eigenvalues, three iterations. */
static void an_exact_preconditioner_needs_three_iterations(void **state)
{
    (void)state;
    test_random r = test_random_seed(2);
    static chain c;
    static rows w;
    make(&r, &c, &w);
    w.j.rows = 1;
    double x[N] = {0}, lambda[M] = {0};
    qp_saddle s = {.n = N,
                   .apply = apply,
                   .precondition = exact,
                   .context = &c,
                   .b = c.b,
                   .rows = &w.j,
                   .bound = w.bound};
    qp_saddle_result result;
    assert_int_equal(qp_saddle_minres(&s, 1e-10, 100, x, lambda, &result), HR_OK);
    assert_true(result.is_solved);
    assert_true(result.iterations <= 4);
    qp_destroy(c.direct);
}

/* Property test 9, the iterative path. */
static void the_iterative_programme_agrees_with_the_direct_one(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    for (int trial = 0; trial < test_effort(10); trial++) {
        static chain c;
        static rows w;
        make(&r, &c, &w);
        qp_rows_begin(c.direct);
        for (int k = 0; k < M; k++)
            assert_int_equal(qp_row_add(c.direct, &(qp_row){.key = (uint64_t)k + 1,
                                                            .count = 3,
                                                            .index = w.index + 3 * k,
                                                            .value = w.value + 3 * k,
                                                            .low = -(double)INFINITY,
                                                            .high = w.bound[k]}),
                             HR_OK);
        qp_info info;
        assert_int_equal(qp_solve(c.direct, (qp_budget){.iterations = -1}, &info), QP_OPTIMAL);
        bool active[M] = {false};
        double x[N] = {0}, lambda[M] = {0};
        qp_saddle s = {.n = N,
                       .apply = apply,
                       .precondition = by_diagonal,
                       .context = &c,
                       .b = c.b,
                       .rows = &w.j,
                       .bound = w.bound};
        qp_saddle_result result;
        assert_int_equal(qp_saddle_programme(&s, 1e-9, 200, active, x, lambda, &result), HR_OK);
        assert_near(distance(x, qp_x(c.direct), N), 0.0, 1e-8);
        int held = 0;
        for (int k = 0; k < M; k++)
            held += active[k];
        assert_int_equal(held, info.active);
        qp_destroy(c.direct);
    }
}

/* With softness: J x = c + L lambda (the sign that the paper's product has, not its matrix). */
static void softness_moves_the_bound_by_its_impulse(void **state)
{
    (void)state;
    test_random r = test_random_seed(4);
    static chain c;
    static rows w;
    make(&r, &c, &w);
    double x[N] = {0}, lambda[M] = {0}, softness[M];
    for (int k = 0; k < M; k++)
        softness[k] = 0.1 + 0.01 * k;
    qp_saddle s = {.n = N,
                   .apply = apply,
                   .precondition = by_diagonal,
                   .context = &c,
                   .b = c.b,
                   .rows = &w.j,
                   .bound = w.bound,
                   .softness = softness};
    qp_saddle_result result;
    assert_int_equal(qp_saddle_minres(&s, 1e-11, 5000, x, lambda, &result), HR_OK);
    for (int k = 0; k < M; k++)
        assert_near(qp_sparse_row_dot(&w.j, k, x), w.bound[k] + softness[k] * lambda[k], 1e-9);
    qp_destroy(c.direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_iterative_solvers_satisfy_the_saddle_system),
        cmocka_unit_test(an_exact_preconditioner_needs_three_iterations),
        cmocka_unit_test(the_iterative_programme_agrees_with_the_direct_one),
        cmocka_unit_test(softness_moves_the_bound_by_its_impulse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
