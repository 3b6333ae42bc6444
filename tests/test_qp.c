/* The contact programme: against exhaustive search, and the properties every solution has. */
#include "tests/test.h"

#include <string.h>

#include "solver/qp.h"
#include "tests/support/qp_random.h"

static qp *workspace(void)
{
    qp *q = qp_create((qp_limits){.variables = QP_RANDOM_N,
                                  .rows = QP_RANDOM_M,
                                  .entries = (long)QP_RANDOM_N * QP_RANDOM_M,
                                  .soft_rows = QP_RANDOM_M});
    assert_non_null(q);
    return q;
}

static const qp_budget unlimited = {.iterations = -1};
static qp_dense problem, other;

static double distance(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static double size_of(const double *a, int n)
{
    double most = 1;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

static void certificate_holds(const qp *q, const qp_dense *p)
{
    int rows[QP_RANDOM_M];
    double factors[QP_RANDOM_M], sum[QP_RANDOM_N] = {0}, bound = 0, size = 0;
    int count = qp_certificate(q, rows, factors, QP_RANDOM_M);
    assert_true(count > 0 && count <= p->m);
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < p->n; i++)
            sum[i] += factors[c] * p->j[rows[c] * p->n + i];
        bound += factors[c] * (factors[c] > 0 ? p->high[rows[c]] : p->low[rows[c]]);
        size = fmax(size, fabs(factors[c]));
    }
    for (int i = 0; i < p->n; i++)
        assert_near(sum[i], 0.0, 1e-7 * size);
    assert_true(bound < 0);
}

/* Property test 2: 3000 problems, half of them degenerate. */
static void small_problems_agree_with_exhaustive_search(void **state)
{
    (void)state;
    test_random r = test_random_seed(1);
    qp *q = workspace();
    double worst = 0;
    int infeasible = 0, total = test_effort(3000);
    for (int trial = 0; trial < total; trial++) {
        int n = 2 + test_random_index(&r, 4), m = 1 + test_random_index(&r, 7);
        qp_random(&r, n, m, 100, &problem);
        if (trial % 2)
            qp_random_degenerate(&r, &problem);
        double expected[QP_RANDOM_N];
        bool is_feasible = qp_dense_enumerate(&problem, expected);
        qp_info info;

        assert_int_equal(qp_dense_set(&problem, q), HR_OK);
        qp_forget(q);
        qp_status status = qp_solve(q, unlimited, &info);

        assert_int_equal(status, is_feasible ? QP_OPTIMAL : QP_INFEASIBLE);
        if (!is_feasible) {
            infeasible++;
            certificate_holds(q, &problem);
            continue;
        }
        double scale = size_of(expected, n);
        worst = fmax(worst, distance(qp_x(q), expected, n) / scale);
        double value = qp_dense_objective(&problem, expected);
        worst = fmax(worst,
                     fabs(qp_dense_objective(&problem, qp_x(q)) - value) / fmax(1.0, fabs(value)));
    }
    print_message("%d problems, %d infeasible, worst error %.2g\n", total, infeasible, worst);
    assert_true(worst <= 1e-7);
    qp_destroy(q);
}

/* Property test 1. */
static void solutions_satisfy_the_optimality_conditions(void **state)
{
    (void)state;
    test_random r = test_random_seed(2);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(2000); trial++) {
        int n = 1 + test_random_index(&r, 12), m = test_random_index(&r, 41);
        qp_random(&r, n, m, pow(10, test_random_between(&r, 0, 8)), &problem);
        qp_info info;
        assert_int_equal(qp_dense_set(&problem, q), HR_OK);
        qp_forget(q);
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);

        /* by our own sums, not by the solver's self-check */
        double left[QP_RANDOM_N], scale = size_of(problem.b, n);
        qp_force(q, left);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                left[i] += problem.k[i * n + j] * qp_x(q)[j];
            worst = fmax(worst, fabs(left[i] - problem.b[i]) / (1 + scale));
        }
        double size = size_of(qp_x(q), n);
        worst = fmax(worst, qp_dense_violation(&problem, qp_x(q)) / size);
        for (int k = 0; k < m; k++)
            assert_true(qp_lambda(q, k) >= -1e-9);
    }
    print_message("worst residual %.2g\n", worst);
    assert_true(worst <= 1e-8);
    qp_destroy(q);
}

static void solve_cold(qp *q, const qp_dense *p, double *x)
{
    assert_int_equal(qp_dense_set(p, q), HR_OK);
    qp_forget(q);
    qp_info info;
    assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
    memcpy(x, qp_x(q), (size_t)p->n * sizeof *x);
}

/* Property test 3. */
static void order_scale_and_copies_of_rows_do_not_matter(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(500); trial++) {
        int n = 2 + test_random_index(&r, 9), m = 1 + test_random_index(&r, 30);
        double x[QP_RANDOM_N], y[QP_RANDOM_N];
        qp_random(&r, n, m, 1e3, &problem);
        solve_cold(q, &problem, x);

        other = problem;
        for (int k = 0; k < m; k++) { /* permute and scale */
            int from = m - 1 - k;
            double s = pow(10, test_random_between(&r, -6, 6));
            for (int i = 0; i < n; i++)
                other.j[k * n + i] = s * problem.j[from * n + i];
            other.high[k] = s * problem.high[from];
            other.low[k] = -(double)INFINITY;
        }
        for (int k = 0; k < m / 2; k++) { /* twice */
            memcpy(other.j + (long)(m + k) * n, other.j + (long)k * n, (size_t)n * sizeof(double));
            other.high[m + k] = other.high[k];
            other.low[m + k] = other.low[k];
            other.m++;
        }
        solve_cold(q, &other, y);
        worst = fmax(worst, distance(x, y, n) / size_of(x, n));
    }
    print_message("worst difference %.2g\n", worst);
    assert_true(worst <= 1e-9);
    qp_destroy(q);
}

/* Rotating the unknowns (K -> Q K Q', J -> J Q', b -> Q b) rotates the answer. */
static void rotating_the_world_rotates_the_answer(void **state)
{
    (void)state;
    test_random r = test_random_seed(4);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(300); trial++) {
        double x[QP_RANDOM_N], y[QP_RANDOM_N];
        qp_random(&r, 3, 1 + test_random_index(&r, 12), 50, &problem);
        solve_cold(q, &problem, x);
        mat3 turn = quat_to_mat3(quat_from_rotation_vector(test_random_vec3(&r, 2)));
        other = problem;
        mat3 k = {0};
        memcpy(k.m, problem.k, sizeof k.m);
        k = mat3_multiply(mat3_multiply(turn, k), mat3_transpose(turn));
        memcpy(other.k, k.m, sizeof k.m);
        vec3 b = mat3_apply(turn, (vec3){problem.b[0], problem.b[1], problem.b[2]});
        memcpy(other.b, &b, sizeof b);
        for (int row = 0; row < problem.m; row++) {
            const double *j = problem.j + (long)row * 3;
            vec3 turned = mat3_apply(turn, (vec3){j[0], j[1], j[2]});
            memcpy(other.j + (long)row * 3, &turned, sizeof turned);
        }
        solve_cold(q, &other, y);
        vec3 expected = mat3_apply(turn, (vec3){x[0], x[1], x[2]});
        worst = fmax(worst, distance((const double[]){expected.x, expected.y, expected.z}, y, 3) /
                                size_of(x, 3));
    }
    assert_true(worst <= 1e-9);
    qp_destroy(q);
}

/* Property test 4. */
static void any_warm_start_reaches_the_same_solution(void **state)
{
    (void)state;
    test_random r = test_random_seed(5);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(1000); trial++) {
        int n = 2 + test_random_index(&r, 12), m = 1 + test_random_index(&r, 40);
        double x[QP_RANDOM_N];
        qp_random(&r, n, m, 1e2, &problem);
        solve_cold(q, &problem, x);
        int rows[QP_RANDOM_M], signs[QP_RANDOM_M], count = 0, active = 0;
        int held[QP_RANDOM_M], held_signs[QP_RANDOM_M];
        for (int k = 0; k < m; k++) {
            if (qp_side(q, k)) {
                held[active] = k;
                held_signs[active++] = qp_side(q, k);
            }
            rows[count] = k;
            signs[count] = test_random_index(&r, 2) ? 1 : -1;
            count += test_random_index(&r, 2);
        }
        qp_info info;
        qp_warm_rows(q, rows, signs, count);
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
        worst = fmax(worst, distance(x, qp_x(q), n) / size_of(x, n));
        qp_warm_rows(q, held, held_signs, active);
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
        assert_true(info.iterations <= 1);
        /* and by keys, with the rows written again in another order */
        assert_int_equal(qp_dense_set_rows(&problem, q), HR_OK);
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
        assert_true(info.iterations <= 1);
        worst = fmax(worst, distance(x, qp_x(q), n) / size_of(x, n));
    }
    print_message("worst difference %.2g\n", worst);
    assert_true(worst <= 1e-9);
    qp_destroy(q);
}

/* Property test 5. */
static void redundant_rows_change_nothing_and_violated_ones_cost(void **state)
{
    (void)state;
    test_random r = test_random_seed(6);
    qp *q = workspace();
    for (int trial = 0; trial < test_effort(500); trial++) {
        int n = 2 + test_random_index(&r, 9), m = 1 + test_random_index(&r, 20);
        double x[QP_RANDOM_N], y[QP_RANDOM_N];
        qp_random(&r, n, m, 1e2, &problem);
        solve_cold(q, &problem, x);
        other = problem;
        double at = 0, *row = other.j + (long)m * n;
        for (int i = 0; i < n; i++) {
            row[i] = test_random_between(&r, -1, 1);
            at += row[i] * x[i];
        }
        other.m++;
        other.low[m] = -(double)INFINITY;
        other.high[m] = at + 0.1;
        solve_cold(q, &other, y);
        assert_near(distance(x, y, n) / size_of(x, n), 0.0, 1e-9);
        other.high[m] = at - 0.1;
        assert_int_equal(qp_dense_set(&other, q), HR_OK);
        qp_info info;
        if (qp_solve(q, unlimited, &info) != QP_OPTIMAL)
            continue; /* the cut may leave nothing */
        assert_true(qp_dense_objective(&other, qp_x(q)) >= qp_dense_objective(&problem, x) - 1e-9);
    }
    qp_destroy(q);
}

/* Property test 6. */
static void a_channel_of_1e_7_is_found_and_a_closed_one_certified(void **state)
{
    (void)state;
    test_random r = test_random_seed(7);
    qp *q = workspace();
    for (int trial = 0; trial < test_effort(300); trial++) {
        int n = 4 + test_random_index(&r, 4), m = 4; /* room for the other rows in the channel */
        qp_random(&r, n, m, 1e2, &problem);
        for (int i = 0; i < n; i++)
            problem.j[1 * n + i] = -problem.j[0 * n + i];
        for (int open = 0; open < 2; open++) {
            qp_info info;
            problem.high[1] = -problem.high[0] + (open ? 1e-7 : -1e-3);
            assert_int_equal(qp_dense_set(&problem, q), HR_OK);
            qp_forget(q);
            qp_status status = qp_solve(q, unlimited, &info);
            assert_int_equal(status, open ? QP_OPTIMAL : QP_INFEASIBLE);
            if (!open)
                certificate_holds(q, &problem);
        }
    }
    qp_destroy(q);
}

/* Property test 7: b = 0 and rows that allow a stop: v + dv is the K-projection of v. */
static void projection_never_raises_kinetic_energy(void **state)
{
    (void)state;
    test_random r = test_random_seed(8);
    qp *q = workspace();
    for (int trial = 0; trial < test_effort(1000); trial++) {
        int n = 2 + test_random_index(&r, 9), m = 1 + test_random_index(&r, 20);
        double v[QP_RANDOM_N], after[QP_RANDOM_N];
        qp_random(&r, n, m, 1e3, &problem);
        for (int i = 0; i < n; i++) {
            v[i] = test_random_between(&r, -1, 1);
            problem.b[i] = 0;
        }
        for (int k = 0; k < m; k++) { /* J (v + dv) <= h/dt with h >= 0 */
            problem.high[k] = test_random_between(&r, 0, 0.1);
            for (int i = 0; i < n; i++)
                problem.high[k] -= problem.j[k * n + i] * v[i];
        }
        double dv[QP_RANDOM_N];
        solve_cold(q, &problem, dv);
        for (int i = 0; i < n; i++)
            after[i] = v[i] + dv[i];
        double before = qp_dense_objective(&problem, v); /* b = 0: the kinetic energy */
        assert_true(qp_dense_objective(&problem, after) <= before * (1 + 1e-12));
    }
    qp_destroy(q);
}

/* Property test 10: nothing stops at the first budget; the dual objective rises with it. */
static void any_budget_is_safe_and_more_is_better(void **state)
{
    (void)state;
    test_random r = test_random_seed(9);
    qp *q = workspace();
    const double reserve = 0.05;
    for (int trial = 0; trial < test_effort(200); trial++) {
        int n = 6 + test_random_index(&r, 25), m = 10 + test_random_index(&r, 50);
        double v[QP_RANDOM_N], stop[QP_RANDOM_N], dual = -1;
        qp_random(&r, n, m, 1e2, &problem);
        for (int i = 0; i < n; i++) {
            v[i] = test_random_between(&r, -1, 1);
            stop[i] = -v[i];
        }
        for (int k = 0; k < m; k++) {
            problem.high[k] = test_random_index(&r, 3) ? test_random_between(&r, 0, 0.1) : 0.0;
            for (int i = 0; i < n; i++)
                problem.high[k] -= problem.j[k * n + i] * v[i];
        }
        assert_int_equal(qp_dense_set(&problem, q), HR_OK);
        for (int budget = 0; budget < 400; budget++) {
            qp_info info;
            qp_forget(q);
            qp_status status = qp_solve(q, (qp_budget){.iterations = budget}, &info);
            assert_true(info.dual_objective >= dual - 1e-12);
            assert_true(info.iterations <= budget);
            dual = info.dual_objective;
            double blend = qp_make_safe(q, stop, reserve);
            assert_true(blend > 0);
            assert_true(qp_dense_violation(&problem, qp_x(q)) <= reserve + 1e-9);
            if (status == QP_OPTIMAL)
                break;
            assert_int_equal(status, QP_ITERATIONS);
            assert_true(budget < 399);
        }
    }
    qp_destroy(q);
}

static void a_deadline_in_the_past_stops_at_once(void **state)
{
    (void)state;
    test_random r = test_random_seed(14);
    qp *q = workspace();
    qp_random(&r, 30, 64, 1e2, &problem);
    assert_int_equal(qp_dense_set(&problem, q), HR_OK);
    qp_info info;
    assert_int_equal(qp_solve(q, (qp_budget){.iterations = -1, .time_ns = 1}, &info), QP_DEADLINE);
    assert_true(info.iterations < 8);
    assert_int_equal(qp_solve(q, (qp_budget){.iterations = -1, .time_ns = 10000000000}, &info),
                     QP_OPTIMAL);
    qp_destroy(q);
}

/* Only the island with the violated row is slowed down. */
static void the_blend_leaves_other_islands_alone(void **state)
{
    (void)state;
    qp *q = workspace();
    const double b[2] = {1, 1}, stop[2] = {0, 0};
    const int index = 0;
    const double one = 1;
    const int sizes[2] = {1, 1};
    assert_int_equal(qp_set_blocks(q, 2, sizes, (const double[]){1, 1}), HR_OK);
    assert_int_equal(qp_set_b(q, b), HR_OK);
    qp_rows_begin(q);
    assert_int_equal(qp_row_add(q, &(qp_row){.key = 1,
                                             .count = 1,
                                             .index = &index,
                                             .value = &one,
                                             .low = -(double)INFINITY,
                                             .high = 0.0}),
                     HR_OK);
    qp_info info;
    assert_int_equal(qp_solve(q, (qp_budget){.iterations = 0}, &info), QP_ITERATIONS);
    assert_near(qp_make_safe(q, stop, 0.25), 0.25, 1e-9);
    assert_near(qp_x(q)[0], 0.25, 1e-9);
    assert_near(qp_x(q)[1], 1.0, 0.0);
    qp_destroy(q);
}

/* Soft rows against the same programme with explicit slack unknowns. */
static void soft_rows_equal_explicit_slacks(void **state)
{
    (void)state;
    test_random r = test_random_seed(10);
    qp *q = workspace();
    double worst = 0;
    int infeasible = 0;
    for (int trial = 0; trial < test_effort(400); trial++) {
        int n = 2 + test_random_index(&r, 6), m = 2 + test_random_index(&r, 10);
        qp_random(&r, n, m, 1e2, &problem);
        qp_random_degenerate(&r, &problem);
        for (int k = 0; k < m; k++)
            problem.soft[k] =
                test_random_index(&r, 2) ? pow(10, test_random_between(&r, -4, 1)) : 0;
        /* unknowns x then one slack z_k per soft row: J x - z <= high, cost z^2 / (2 eps) */
        memset(&other, 0, sizeof other);
        other.n = n + m;
        other.m = m;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                other.k[i * other.n + j] = problem.k[i * n + j];
            other.b[i] = problem.b[i];
        }
        for (int k = 0; k < m; k++) {
            int z = n + k;
            other.k[z * other.n + z] = problem.soft[k] > 0 ? 1 / problem.soft[k] : 1;
            for (int i = 0; i < n; i++)
                other.j[k * other.n + i] = problem.j[k * n + i];
            other.j[k * other.n + z] = problem.soft[k] > 0 ? -1 : 0;
            other.low[k] = problem.low[k];
            other.high[k] = problem.high[k];
        }
        double x[QP_RANDOM_N];
        qp_info info;
        assert_int_equal(qp_dense_set(&problem, q), HR_OK);
        qp_forget(q);
        qp_status status = qp_solve(q, unlimited, &info);
        memcpy(x, qp_x(q), sizeof(double) * (size_t)n);
        assert_int_equal(qp_dense_set(&other, q), HR_OK);
        qp_forget(q);
        assert_int_equal(qp_solve(q, unlimited, &info), status);
        infeasible += status == QP_INFEASIBLE;
        if (status == QP_OPTIMAL)
            worst = fmax(worst, distance(x, qp_x(q), n) / size_of(x, n));
    }
    print_message("worst difference %.2g, %d infeasible in both\n", worst, infeasible);
    assert_true(worst <= 1e-7);
    qp_destroy(q);
}

/* x <= -1 and x >= 1, both soft: x = 0 with both slacks 1. */
static void contradictory_soft_rows_meet_in_the_middle(void **state)
{
    (void)state;
    qp *q = workspace();
    const double k = 1, b = 0, one = 1;
    const int index = 0;
    for (double eps = 1e-6; eps < 1e4; eps *= 100) {
        assert_int_equal(qp_set_dense(q, 1, &k), HR_OK);
        assert_int_equal(qp_set_b(q, &b), HR_OK);
        qp_rows_begin(q);
        for (int side = 0; side < 2; side++)
            assert_int_equal(qp_row_add(q, &(qp_row){.count = 1,
                                                     .index = &index,
                                                     .value = &one,
                                                     .low = side ? 1.0 : -(double)INFINITY,
                                                     .high = side ? (double)INFINITY : -1.0,
                                                     .softness = eps}),
                             HR_OK);
        qp_info info;
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
        assert_near(qp_x(q)[0], 0.0, 1e-9);
        assert_int_equal(info.soft_held, 2);
    }
    qp_destroy(q);
}

/* Figure 1 of the paper: an edge on two vertices' plane is a combination of the vertex rows. */
static void an_edge_on_two_vertices_takes_two_iterations(void **state)
{
    (void)state;
    qp *q = workspace();
    double k[36] = {0}, b[6];
    for (int i = 0; i < 6; i++) {
        k[i * 6 + i] = 0.1;
        b[i] = 0;
    }
    assert_int_equal(qp_set_dense(q, 6, k), HR_OK);
    assert_int_equal(qp_set_b(q, b), HR_OK);
    qp_rows_begin(q);
    const double speed = 1.0, a = 0.3; /* both vertices fall at 1 m/s along -y */
    const int index[2] = {1, 4};
    const double rows[3][2] = {{-1, 0}, {0, -1}, {-(1 - a), -a}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(qp_row_add(q, &(qp_row){.key = (uint64_t)i + 1,
                                                 .count = 2,
                                                 .index = index,
                                                 .value = rows[i],
                                                 .low = -(double)INFINITY,
                                                 .high = -speed}),
                         HR_OK);
    qp_info info;
    assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
    assert_int_equal(info.iterations, 2);
    assert_int_equal(info.active, 2);
    assert_near(qp_x(q)[1], 1.0, 1e-15);
    assert_near(qp_x(q)[4], 1.0, 1e-15);
    qp_destroy(q);
}

/* Property test 9: dense, banded, blocks, eager and frozen paths. */
static void every_path_gives_the_same_answer(void **state)
{
    (void)state;
    test_random r = test_random_seed(11);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(200); trial++) {
        enum { BLOCKS = 5, SIZE = 3, N = BLOCKS * SIZE };
        const int sizes[BLOCKS] = {SIZE, SIZE, SIZE, SIZE, SIZE};
        double blocks[BLOCKS * SIZE * SIZE], band[N * SIZE] = {0}, x[N];
        int m = 1 + test_random_index(&r, 40);
        qp_random(&r, N, m, 10, &problem);
        memset(problem.k, 0, sizeof problem.k);
        for (int block = 0; block < BLOCKS; block++) {
            qp_random(&r, SIZE, 0, 100, &other);
            memcpy(blocks + block * SIZE * SIZE, other.k, sizeof(double) * SIZE * SIZE);
            for (int i = 0; i < SIZE; i++)
                for (int j = 0; j < SIZE; j++) {
                    problem.k[(block * SIZE + i) * N + block * SIZE + j] = other.k[i * SIZE + j];
                    if (j <= i)
                        band[(block * SIZE + i) * SIZE + j - i + SIZE - 1] = other.k[i * SIZE + j];
                }
        }
        solve_cold(q, &problem, x);
        qp_info info;
        for (int path = 0; path < 4; path++) {
            qp_settings settings = qp_settings_default();
            settings.is_eager = path == 2;
            qp_configure(q, settings);
            if (path == 0)
                assert_int_equal(qp_set_banded(q, N, SIZE - 1, band), HR_OK);
            else if (path == 1)
                assert_int_equal(qp_set_blocks(q, BLOCKS, sizes, blocks), HR_OK);
            else if (path == 2)
                assert_int_equal(qp_set_dense(q, N, problem.k), HR_OK);
            if (path == 3) { /* frozen: away and back by b and bounds alone */
                double away[N] = {1, 2, 3};
                assert_int_equal(qp_set_b(q, away), HR_OK);
                qp_solve(q, unlimited, &info);
                assert_int_equal(qp_set_b(q, problem.b), HR_OK);
                for (int k = 0; k < m; k++)
                    assert_int_equal(qp_row_bounds(q, k, problem.low[k], problem.high[k]), HR_OK);
            } else {
                qp_forget(q);
            }
            assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
            worst = fmax(worst, distance(x, qp_x(q), N) / size_of(x, N));
        }
    }
    print_message("worst difference %.2g\n", worst);
    assert_true(worst <= 1e-8);
    qp_destroy(q);
}

/* Property test 12. */
static void the_same_problem_gives_the_same_bits(void **state)
{
    (void)state;
    test_random r = test_random_seed(12);
    qp *q = workspace(), *p = workspace();
    for (int trial = 0; trial < test_effort(50); trial++) {
        double x[QP_RANDOM_N], y[QP_RANDOM_N];
        qp_random(&r, 30, 64, 1e2, &problem);
        solve_cold(q, &problem, x);
        solve_cold(p, &problem, y);
        assert_memory_equal(x, y, 30 * sizeof *x);
    }
    qp_destroy(p);
    qp_destroy(q);
}

/* Property test 13. */
static void bad_numbers_and_sizes_are_refused(void **state)
{
    (void)state;
    qp *q = qp_create((qp_limits){.variables = 3, .rows = 2, .entries = 4});
    qp_info info;
    double k[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {0, 0, 0}, value[3] = {1, 1, 1};
    int index[3] = {0, 1, 2};
    qp_row row = {.count = 1, .index = index, .value = value, .low = -1, .high = 1};

    assert_int_equal(qp_solve(q, unlimited, &info), QP_REFUSED);
    k[4] = (double)NAN;
    assert_int_equal(qp_set_dense(q, 3, k), HR_ERR_NOT_FINITE);
    assert_int_equal(qp_solve(q, unlimited, &info), QP_REFUSED);
    k[4] = -1;
    assert_int_equal(qp_set_dense(q, 3, k), HR_ERR_SINGULAR);
    k[4] = 1;
    assert_int_equal(qp_set_dense(q, 4, k), HR_ERR_CAPACITY);
    assert_int_equal(qp_set_dense(q, 3, k), HR_OK);
    b[1] = (double)INFINITY;
    assert_int_equal(qp_set_b(q, b), HR_ERR_NOT_FINITE);
    b[1] = 0;
    assert_int_equal(qp_set_b(q, b), HR_OK);
    qp_rows_begin(q);
    row.high = (double)NAN;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_NOT_FINITE);
    assert_int_equal(qp_solve(q, unlimited, &info), QP_REFUSED);
    qp_rows_begin(q);
    row.high = -2;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_ARGUMENT);
    row.high = 1;
    index[0] = 3;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_ARGUMENT);
    index[0] = -1;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_ARGUMENT);
    index[0] = 1; /* twice the same */
    row.count = 2;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_ARGUMENT);
    index[0] = 0;
    value[0] = (double)NAN;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_NOT_FINITE);
    value[0] = 1;
    qp_rows_begin(q);
    assert_int_equal(qp_row_add(q, &row), HR_OK);
    row.count = 3;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_CAPACITY); /* entries */
    row.count = 2;
    assert_int_equal(qp_row_add(q, &row), HR_OK);
    row.count = 0;
    assert_int_equal(qp_row_add(q, &row), HR_ERR_CAPACITY); /* rows */
    qp_destroy(q);
    assert_null(qp_create((qp_limits){.variables = 0, .rows = 2}));
}

/* Rows added after a solve continue it: the optimum rises, nothing else changes. */
static void rows_can_be_added_between_solves(void **state)
{
    (void)state;
    test_random r = test_random_seed(13);
    qp *q = workspace();
    double worst = 0;
    for (int trial = 0; trial < test_effort(200); trial++) {
        int n = 4 + test_random_index(&r, 10), m = 10 + test_random_index(&r, 20);
        qp_random(&r, n, m, 1e2, &problem);
        double x[QP_RANDOM_N];
        solve_cold(q, &problem, x);
        other = problem;
        other.m = m / 2;
        assert_int_equal(qp_dense_set(&other, q), HR_OK);
        qp_forget(q);
        qp_info info;
        double value = -1e300;
        int index[QP_RANDOM_N];
        for (int i = 0; i < n; i++)
            index[i] = i;
        for (int k = m / 2; k < m; k++) {
            assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
            double now = qp_dense_objective(&problem, qp_x(q));
            assert_true(now >= value - 1e-9);
            value = now;
            assert_int_equal(qp_row_add(q, &(qp_row){.key = (uint64_t)k + 1,
                                                     .count = n,
                                                     .index = index,
                                                     .value = problem.j + (long)k * n,
                                                     .low = problem.low[k],
                                                     .high = problem.high[k]}),
                             HR_OK);
        }
        assert_int_equal(qp_solve(q, unlimited, &info), QP_OPTIMAL);
        worst = fmax(worst, distance(x, qp_x(q), n) / size_of(x, n));
    }
    assert_true(worst <= 1e-9);
    qp_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_agree_with_exhaustive_search),
        cmocka_unit_test(solutions_satisfy_the_optimality_conditions),
        cmocka_unit_test(order_scale_and_copies_of_rows_do_not_matter),
        cmocka_unit_test(rotating_the_world_rotates_the_answer),
        cmocka_unit_test(any_warm_start_reaches_the_same_solution),
        cmocka_unit_test(redundant_rows_change_nothing_and_violated_ones_cost),
        cmocka_unit_test(a_channel_of_1e_7_is_found_and_a_closed_one_certified),
        cmocka_unit_test(projection_never_raises_kinetic_energy),
        cmocka_unit_test(any_budget_is_safe_and_more_is_better),
        cmocka_unit_test(a_deadline_in_the_past_stops_at_once),
        cmocka_unit_test(the_blend_leaves_other_islands_alone),
        cmocka_unit_test(soft_rows_equal_explicit_slacks),
        cmocka_unit_test(contradictory_soft_rows_meet_in_the_middle),
        cmocka_unit_test(an_edge_on_two_vertices_takes_two_iterations),
        cmocka_unit_test(every_path_gives_the_same_answer),
        cmocka_unit_test(the_same_problem_gives_the_same_bits),
        cmocka_unit_test(bad_numbers_and_sizes_are_refused),
        cmocka_unit_test(rows_can_be_added_between_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
