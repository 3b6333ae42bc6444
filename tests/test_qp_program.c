/* Programmes of the kinds that collections hold: P of any rank, free and fixed variables, equal,
 * one- and two-sided and redundant rows, numbers from 1e-6 to 1e6, no solution, no lower end. The
 * optimum is known because it is chosen first and the costs are made to fit: q = -P x - A'y. */
#include "tests/test.h"

#include <string.h>

#include "solver/qp_program.h"

enum { N_MAX = 40, M_MAX = 80 };

typedef struct programme {
    int n, m;
    double p[N_MAX * N_MAX], a[M_MAX * N_MAX];
    double q[N_MAX], low[M_MAX], high[M_MAX];
    double x[N_MAX], y[M_MAX]; /* a solution */
    double best;
} programme;

/* P = B B' with B of `rank` columns; rows sparse, some of them copies or sums of others. */
static void make_matrices(test_random *r, programme *s, int rank)
{
    memset(s->p, 0, sizeof s->p);
    for (int k = 0; k < rank; k++) {
        double b[N_MAX];
        for (int i = 0; i < s->n; i++)
            b[i] = test_random_index(r, 3) ? 0.0 : test_random_between(r, -1, 1);
        for (int i = 0; i < s->n; i++)
            for (int j = 0; j < s->n; j++)
                s->p[i * s->n + j] += b[i] * b[j];
    }
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
            double *at = &s->a[i * s->n + j];
            *at = test_random_index(r, 3) ? 0.0 : test_random_between(r, -1, 1);
            if (i >= 2 && i % 5 == 4) /* redundant */
                *at = s->a[(i - 1) * s->n + j] + s->a[(i - 2) * s->n + j];
            if (i % 5 == 3) /* a bound on one variable, perhaps one that is fixed */
                *at = j == i % s->n ? 1.0 : 0.0;
        }
}

static double row_at(const programme *s, int i, const double *x)
{
    double sum = 0;
    for (int j = 0; j < s->n; j++)
        sum += s->a[i * s->n + j] * x[j];
    return sum;
}

/* Bounds and multipliers that make x optimal; a fifth of the rows are equalities. */
static void make_bounds(test_random *r, programme *s)
{
    for (int i = 0; i < s->m; i++) {
        double at = row_at(s, i, s->x), gap = test_random_between(r, 0, 2);
        int kind = test_random_index(r, 5), side = test_random_index(r, 3);
        s->y[i] = test_random_index(r, 2) ? test_random_between(r, 0, 1) : 0.0;
        s->low[i] = -(double)INFINITY;
        s->high[i] = (double)INFINITY;
        if (kind == 0) { /* equality */
            s->low[i] = s->high[i] = at;
            s->y[i] *= test_random_index(r, 2) ? 1 : -1;
        } else if (side == 0) { /* held above */
            s->high[i] = at;
            s->low[i] = kind == 1 ? at - gap : s->low[i];
        } else if (side == 1) { /* held below */
            s->low[i] = at;
            s->high[i] = kind == 1 ? at + gap : s->high[i];
            s->y[i] = -s->y[i];
        } else { /* loose */
            s->y[i] = 0.0;
            s->high[i] = at + gap;
            s->low[i] = kind == 1 ? at - gap : s->low[i];
        }
    }
}

static void make_costs(programme *s)
{
    s->best = 0;
    for (int j = 0; j < s->n; j++) {
        double curved = 0;
        for (int k = 0; k < s->n; k++)
            curved += s->p[j * s->n + k] * s->x[k];
        s->q[j] = -curved;
        for (int i = 0; i < s->m; i++)
            s->q[j] -= s->a[i * s->n + j] * s->y[i];
        s->best += s->x[j] * (0.5 * curved + s->q[j]);
    }
}

/* Other units: x = d x', rows times e. The optimum value stays. */
static void make_units(test_random *r, programme *s, double decades)
{
    for (int j = 0; j < s->n; j++) {
        double d = pow(10, test_random_between(r, -decades, decades));
        s->x[j] /= d;
        s->q[j] *= d;
        for (int k = 0; k < s->n; k++) {
            s->p[j * s->n + k] *= d;
            s->p[k * s->n + j] *= d;
        }
        for (int i = 0; i < s->m; i++)
            s->a[i * s->n + j] *= d;
    }
    for (int i = 0; i < s->m; i++) {
        double e = pow(10, test_random_between(r, -decades, decades));
        s->low[i] *= e;
        s->high[i] *= e;
        for (int j = 0; j < s->n; j++)
            s->a[i * s->n + j] *= e;
    }
}

static void make(test_random *r, programme *s)
{
    s->n = 1 + test_random_index(r, N_MAX);
    s->m = test_random_index(r, 2 * s->n + 1);
    make_matrices(r, s, test_random_index(r, s->n + 1));
    for (int j = 0; j < s->n; j++)
        s->x[j] = test_random_index(r, 3) ? test_random_between(r, -1, 1) : 0.0;
    make_bounds(r, s);
    make_costs(s);
}

static qp_sparse sparse(const double *dense, int rows, int cols)
{
    qp_triplets t = {.rows = rows, .cols = cols};
    size_t room = (size_t)rows * (size_t)cols + 1;
    t.i = calloc(room, sizeof *t.i);
    t.j = calloc(room, sizeof *t.j);
    t.v = calloc(room, sizeof *t.v);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            if (dense[i * cols + j] == 0.0)
                continue;
            t.i[t.count] = i;
            t.j[t.count] = j;
            t.v[t.count++] = dense[i * cols + j];
        }
    qp_sparse out;
    assert_true(qp_sparse_from_triplets(&t, false, &out));
    free(t.i);
    free(t.j);
    free(t.v);
    return out;
}

static qp_answer solve(const programme *s)
{
    qp_program p = {.n = s->n, .m = s->m, .q = s->q, .low = s->low, .high = s->high};
    p.p = sparse(s->p, s->n, s->n);
    p.a = sparse(s->a, s->m, s->n);
    qp_answer a;
    assert_int_equal(qp_program_solve(&p, (qp_program_limits){.time_ns = 20000000000}, &a), HR_OK);
    qp_sparse_free(&p.p);
    qp_sparse_free(&p.a);
    return a;
}

static programme s;

static void chosen_optima_are_found(test_random *r, int count, double decades)
{
    double worst = 0;
    int unsolved = 0;
    for (int i = 0; i < count; i++) {
        make(r, &s);
        make_units(r, &s, decades);
        qp_answer a = solve(&s);
        double off = fabs(a.objective - s.best) / fmax(1.0, fabs(s.best));
        if (a.status == QP_OPTIMAL)
            worst = fmax(worst, off);
        unsolved += a.status != QP_OPTIMAL;
        if (a.status != QP_OPTIMAL || off > 1e-7)
            print_message("problem %d: n %d m %d, status %d, off by %.2g, %s\n", i, s.n, s.m,
                          (int)a.status, off, a.method);
        qp_answer_free(&a);
    }
    print_message("%d programmes, units over %g decades, %d unsolved, worst error %.1e\n", count,
                  2 * decades, unsolved, worst);
    assert_true(worst <= 1e-7);
    assert_int_equal(unsolved, 0);
}

static void programmes_of_every_kind_reach_their_optimum(void **state)
{
    (void)state;
    test_random r = test_random_seed(201);
    chosen_optima_are_found(&r, test_effort(400), 0);
}

static void units_do_not_matter(void **state)
{
    (void)state;
    test_random r = test_random_seed(202);
    chosen_optima_are_found(&r, test_effort(200), 1.5);
    chosen_optima_are_found(&r, test_effort(200), 3);
}

/* Two rows more whose sum, with others, says 0 <= -gap. */
static void contradict(test_random *r, programme *p, double gap)
{
    double bound = 0;
    int last = p->m++;
    double *row = &p->a[last * p->n];
    memset(row, 0, (size_t)p->n * sizeof *row);
    for (int i = 0; i < last; i++) {
        if (!isfinite(p->high[i]) || test_random_index(r, 3))
            continue;
        double z = test_random_between(r, 0.1, 1);
        bound += z * p->high[i];
        for (int j = 0; j < p->n; j++)
            row[j] += z * p->a[i * p->n + j];
    }
    p->low[last] = bound + gap;
    p->high[last] = (double)INFINITY;
}

static void contradictions_are_found_and_nearness_is_none(void **state)
{
    (void)state;
    test_random r = test_random_seed(203);
    int proven = 0, count = test_effort(150);
    for (int i = 0; i < count; i++) {
        make(&r, &s);
        if (s.m >= M_MAX)
            s.m = M_MAX - 1;
        contradict(&r, &s, test_random_between(&r, 0.01, 1));
        qp_answer a = solve(&s);
        if (a.status != QP_INFEASIBLE)
            print_message("problem %d: n %d m %d, status %d by %s, off %.2g\n", i, s.n, s.m,
                          (int)a.status, a.method, a.primal_residual);
        proven += a.status == QP_INFEASIBLE && !a.is_unbounded;
        assert_true(a.status != QP_OPTIMAL);
        qp_answer_free(&a);
    }
    print_message("%d of %d contradictions proven\n", proven, count);
    assert_int_equal(proven, count);
}

/* A direction without curvature that no row stops, and a cost that falls along it. */
static void falling_rays_are_found(void **state)
{
    (void)state;
    test_random r = test_random_seed(204);
    int found = 0, count = test_effort(100);
    for (int i = 0; i < count; i++) {
        make(&r, &s);
        int free = test_random_index(&r, s.n);
        for (int j = 0; j < s.n; j++)
            s.p[free * s.n + j] = s.p[j * s.n + free] = 0.0;
        for (int k = 0; k < s.m; k++) {
            double *at = &s.a[k * s.n + free];
            if (isfinite(s.high[k]) && isfinite(s.low[k]))
                *at = 0.0;
            else if (isfinite(s.high[k]))
                *at = -fabs(*at);
            else
                *at = fabs(*at);
        }
        s.q[free] = -test_random_between(&r, 0.1, 1);
        qp_answer a = solve(&s);
        if (!a.is_unbounded)
            print_message("problem %d: n %d m %d, status %d by %s\n", i, s.n, s.m, (int)a.status,
                          a.method);
        found += a.status == QP_INFEASIBLE; /* the rows may contradict each other as well */
        assert_true(a.status != QP_OPTIMAL);
        qp_answer_free(&a);
    }
    print_message("%d of %d without a lower end\n", found, count);
    assert_int_equal(found, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmes_of_every_kind_reach_their_optimum),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(contradictions_are_found_and_nearness_is_none),
        cmocka_unit_test(falling_rays_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
