/* The five experiments of the paper's section V with their figures: steps to converge, stable
 * gains, transition sequences, tracking error against a certificate. The expected numbers are those
 * of an independent prototype of the same law; where ours is better the bound is one-sided. */
#include <string.h>

#include "tests/support/witness_experiment.h"
#include "tests/support/witness_reference.h"
#include "tests/test.h"

static const double tick = 1e-3;

static experiment load(char name, const char *second)
{
    experiment x;
    hr_error error = {""};
    if (experiment_load(name, second, &x, &error) != HR_OK)
        fail_msg("%s", error.text);
    return x;
}

/* --- A: patch and point ----------------------------------------------------------------------- */

/* Steps from a start until the largest cosine is below 1e-3; 1000 when never. */
static int steps_to_converge(const experiment *x, witness_settings s, double u, double v)
{
    witness_pair p;
    experiment_start(x, s, &p);
    witness_place_set(&p.a, WITNESS_FACE, 0, u, v, &p.on_a);
    for (int k = 0; k < 1000; k++) {
        experiment_step(x, &p, k * tick);
        if (p.last.cosine < 1e-3)
            return k + 1;
    }
    return 1000;
}

static void a_converges_in_the_stated_steps(void **state)
{
    (void)state;
    experiment x = load('A', NULL);
    const struct {
        witness_scheme scheme;
        double gain;
        int steps;
    } rows[] = {{WITNESS_EULER, 100, 76}, {WITNESS_EULER, 1000, 3}, {WITNESS_HEUN, 100, 81},
                {WITNESS_HEUN, 1000, 12}, {WITNESS_RK4, 100, 80},   {WITNESS_RK4, 1000, 9},
                {WITNESS_PC, 0, 3}};
    for (int i = 0; i < HR_COUNT(rows); i++) {
        witness_settings s = experiment_settings(rows[i].scheme, rows[i].gain);
        int steps = steps_to_converge(&x, s, 0.02, 0.97);
        print_message("A %s K=%g: %d steps, expected %d\n", witness_scheme_name(s.scheme), s.gain,
                      steps, rows[i].steps);
        assert_true(abs(steps - rows[i].steps) <= 2);
    }
    experiment_free(&x);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void a_converges_from_a_grid_of_starts(void **state)
{
    (void)state;
    experiment x = load('A', NULL);
    const double gains[2] = {100, 1000};
    const int medians[2] = {75, 11}; /* the paper says 75 and 10 */
    for (int g = 0; g < 2; g++) {
        int steps[121];
        for (int i = 0; i < 121; i++)
            steps[i] = steps_to_converge(&x, experiment_settings(WITNESS_HEUN, gains[g]),
                                         i % 11 / 10.0, i / 11 / 10.0);
        qsort(steps, 121, sizeof steps[0], by_value);
        print_message("A heun K=%g: median %d, largest %d\n", gains[g], steps[60], steps[120]);
        assert_true(abs(steps[60] - medians[g]) <= (g ? 2 : 4));
        assert_true(steps[120] < 1000);
    }
    experiment_free(&x);
}

/* Largest cosine over the second half of 1 s. */
static double settled_error(const experiment *x, witness_scheme scheme, double gain)
{
    witness_pair p;
    double worst = 0;
    experiment_start(x, experiment_settings(scheme, gain), &p);
    for (int k = 0; k < 1000; k++) {
        experiment_step(x, &p, k * tick);
        if (k >= 500)
            worst = fmax(worst, p.last.cosine);
    }
    return worst;
}

static void a_is_stable_up_to_the_computed_gain(void **state)
{
    (void)state;
    experiment x = load('A', NULL);
    double heun = witness_scheme_limit(WITNESS_HEUN) / tick;
    double rk4 = witness_scheme_limit(WITNESS_RK4) / tick;
    const double good[][3] = {/* scheme, gain, largest cosine of the prototype */
                              {WITNESS_HEUN, 1000, 5e-6},
                              {WITNESS_HEUN, 1500, 1e-5},
                              {WITNESS_HEUN, 1950, 1e-4},
                              {WITNESS_RK4, 2750, 1e-3}};
    for (int i = 0; i < HR_COUNT(good); i++) {
        double e = settled_error(&x, (witness_scheme)good[i][0], good[i][1]);
        print_message("A %s K=%g: %.1e\n", witness_scheme_name((witness_scheme)good[i][0]),
                      good[i][1], e);
        assert_true(e < 2 * good[i][2]);
    }
    assert_true(settled_error(&x, WITNESS_HEUN, 1.02 * heun) > 2e-3);
    assert_true(settled_error(&x, WITNESS_RK4, 1.02 * rk4) > 2e-3);
    assert_near(heun, 2000.0, 1e-6);
    assert_near(rk4, 2785.29, 0.01); /* |1 - z + z^2/2 - z^3/6 + z^4/24| = 1 */
    assert_near(witness_scheme_limit(WITNESS_EULER), 2.0, 1e-9);
    assert_true(isinf(witness_scheme_limit(WITNESS_PC)));
    experiment_free(&x);
}

static void a_gain_beyond_the_limit_is_refused_with_the_limit(void **state)
{
    (void)state;
    witness_settings s = experiment_settings(WITNESS_HEUN, 1799);
    hr_error error = {""};

    assert_int_equal(witness_settings_check(&s, &error), HR_OK);
    s.gain = 1800;
    assert_int_equal(witness_settings_check(&s, &error), HR_ERR_ARGUMENT);

    assert_non_null(strstr(error.text, "2000"));
    assert_non_null(strstr(error.text, "heun"));
    s.scheme = WITNESS_RK4;
    assert_int_equal(witness_settings_check(&s, &error), HR_OK);
    s.gain = (double)NAN;
    assert_int_equal(witness_settings_check(&s, &error), HR_ERR_ARGUMENT);
}

/* --- B: planar body and a spiral from inside -------------------------------------------------- */

static void b_switches_in_the_stated_sequence(void **state)
{
    (void)state;
    const struct {
        witness_feature feature;
        int index; /* 0-based; vertex k is the start of curve k */
        double time;
    } expected[] = {
        {WITNESS_EDGE, 1, 0.001},   {WITNESS_EDGE, 2, 0.629},   {WITNESS_EDGE, 0, 1.591},
        {WITNESS_EDGE, 1, 2.532},   {WITNESS_EDGE, 2, 3.568},   {WITNESS_EDGE, 0, 4.615},
        {WITNESS_EDGE, 1, 5.591},   {WITNESS_VERTEX, 2, 6.561}, {WITNESS_EDGE, 2, 6.609},
        {WITNESS_VERTEX, 0, 7.582}, {WITNESS_EDGE, 0, 7.705},   {WITNESS_VERTEX, 1, 8.557},
        {WITNESS_EDGE, 1, 8.710},   {WITNESS_VERTEX, 2, 9.503}, {WITNESS_EDGE, 2, 9.721}};
    experiment x = load('B', NULL);
    witness_nearest *n = witness_nearest_create(&x.a, experiment_motion('B', 0).origin,
                                                experiment_settings(WITNESS_EULER, 1000));
    assert_non_null(n);
    witness_nearest_place(n, 0, 0.9, 0);
    int seen = 0;
    double worst = 0;
    int large = 0;
    for (int k = 0; k < 10000; k++) {
        witness_motion begin = experiment_motion('B', k * tick);
        witness_motion end = experiment_motion('B', (k + 1) * tick);
        if (witness_nearest_step(n, &begin, &begin, &end)) {
            assert_true(seen < HR_COUNT(expected));
            assert_int_equal(n->main.on_a.feature, expected[seen].feature);
            assert_int_equal(n->main.on_a.index, expected[seen].index);
            assert_near((k + 1) * tick, expected[seen].time, 2.1e-3);
            seen++;
        }
        if (k < 100)
            continue;
        double truth = reference_nearest(&x.a, end.origin, NULL);
        double error = fabs(fabs(n->main.last.distance) - truth);
        worst = fmax(worst, error);
        large += error > 1e-9;
    }
    print_message("B: %d switches, largest distance error %.1e, %d ticks above 1e-9\n", seen, worst,
                  large);
    assert_int_equal(seen, HR_COUNT(expected));
    assert_true(worst <= 1e-5);
    assert_true(large <= 4); /* the ticks from a vertex to a curve */
    witness_nearest_destroy(n);
    experiment_free(&x);
}

/* The persistent policy: driven through the body, the witness stays on the curve it entered. */
static void b_persistent_witness_stays_on_the_entry_curve(void **state)
{
    (void)state;
    experiment x = load('B', NULL);
    witness_pair p;
    witness_settings s = witness_settings_default();
    witness_motion m = {.rotation = mat3_identity(), .origin = {0.05, -1.4, 0}};
    m.rate.linear = (vec3){0, 1.0, 0};
    witness_pair_init(&p, witness_body_parametric(&x.a), witness_body_point((vec3){0, 0, 0}), s,
                      &m);
    for (int i = 0; i < 20; i++)
        witness_pair_correct(&p, &m);
    double start = p.last.distance;
    double deepest = 0;
    for (int k = 0; k < 2500; k++) {
        witness_motion end = m;
        end.origin.y += 1e-3;
        witness_pair_step(&p, &m, &m, &end);
        m = end;
        deepest = fmin(deepest, p.last.distance);
        assert_int_equal(p.on_a.feature, WITNESS_EDGE);
        assert_int_equal(p.on_a.index, 0);
    }
    print_message("B persistent: from %+.2f to %+.2f\n", start, deepest);
    assert_true(start > 0.4);
    assert_true(deepest < -1.9);
    experiment_free(&x);
}

/* --- C, D, E: with the certificate ------------------------------------------------------------ */

typedef struct outcome {
    int converged;      /* steps to a gap of 1e-6 */
    double gap;         /* largest after 0.1 s */
    double gap_between; /* the same without the ticks of switches */
    int switches;
    double last_switch;    /* s */
    double least_distance; /* after 0.1 s */
    double share[3][3];    /* of time, by A's and B's kind of feature */
} outcome;

static outcome run(const experiment *x, witness_scheme scheme, double gain)
{
    witness_pair p;
    outcome r = {.converged = -1, .least_distance = 1e9};
    experiment_start(x, experiment_settings(scheme, gain), &p);
    int ticks = (int)(x->duration / tick + 0.5);
    for (int k = 0; k < ticks; k++) {
        double t = (k + 1) * tick;
        experiment_step(x, &p, k * tick);
        bool is_checked = k % 40 == 0 || (scheme == WITNESS_PC && p.last.switches > 0);
        r.switches += p.last.switches;
        r.share[p.on_a.feature][p.on_b.feature] += 1.0 / ticks;
        if (p.last.switches)
            r.last_switch = t;
        if (is_checked || r.converged < 0) {
            double gap = experiment_gap(x, &p, t);
            if (r.converged < 0 && gap <= 1e-6)
                r.converged = k + 1;
            if (t > 0.1 && is_checked)
                r.gap = fmax(r.gap, gap);
            if (t > 0.1 && k % 40 == 0 && p.last.switches == 0)
                r.gap_between = fmax(r.gap_between, gap);
            assert_true(gap > -1e-12); /* never below the lower bound */
        }
        if (t > 0.1)
            r.least_distance = fmin(r.least_distance, p.last.distance);
    }
    print_message("%c %s K=%g: %d steps, gap %.1e, %d switches, last %.3f s, nearest %.3f\n",
                  x->name, witness_scheme_name(scheme), gain, r.converged, r.gap, r.switches,
                  r.last_switch, r.least_distance);
    return r;
}

static void check(const experiment *x, witness_scheme scheme, double gain, int converged,
                  double gap, int switches)
{
    outcome r = run(x, scheme, gain);
    assert_true(r.converged >= 0);
    assert_true(r.converged <= converged + 2);
    assert_true(r.gap <= gap);
    assert_int_equal(r.switches, switches);
}

static void c_two_planar_bodies(void **state)
{
    (void)state;
    experiment x = load('C', NULL);
    check(&x, WITNESS_EULER, 1000, 11, 2e-7, 20);
    check(&x, WITNESS_HEUN, 1000, 16, 2e-7, 20);
    check(&x, WITNESS_HEUN, 100, 121, 2e-7, 20);
    check(&x, WITNESS_PC, 0, 8, 1e-11, 20);
    outcome r = run(&x, WITNESS_PC, 0);
    assert_near(r.share[1][1], 0.41, 0.01);
    assert_near(r.share[1][0], 0.35, 0.01);
    assert_near(r.share[0][1], 0.18, 0.01);
    assert_near(r.share[0][0], 0.06, 0.01);
    assert_near(r.least_distance, 0.158, 0.001);
    experiment_free(&x);
}

static void d_body_and_helix(void **state)
{
    (void)state;
    experiment x = load('D', NULL);
    check(&x, WITNESS_HEUN, 100, 21, 5e-6, 25);
    check(&x, WITNESS_HEUN, 1000, 5, 5e-8, 25);
    check(&x, WITNESS_EULER, 1000, 5, 2e-11, 25);
    check(&x, WITNESS_PC, 0, 4, 1e-10, 25);
    outcome r = run(&x, WITNESS_PC, 0);
    assert_near(r.last_switch, 7.039, 0.002);
    assert_near(r.share[2][0], 0.63, 0.01);
    assert_near(r.share[0][0], 0.24, 0.01);
    assert_near(r.share[1][0], 0.13, 0.01);
    experiment_free(&x);
}

static void e_two_bodies(void **state)
{
    (void)state;
    experiment x = load('E', NULL);
    check(&x, WITNESS_HEUN, 100, 81, 4e-8, 18);
    check(&x, WITNESS_HEUN, 1000, 14, 4e-10, 18);
    check(&x, WITNESS_EULER, 1000, 7, 5e-12, 18);
    /* 6e-11 in a tick that leaves a pole, where u is hardly observable; rounding everywhere else */
    check(&x, WITNESS_PC, 0, 6, 1e-10, 18);
    assert_true(run(&x, WITNESS_PC, 0).gap_between < 4e-15);
    experiment_free(&x);
}

static void e_agrees_with_a_cad_kernel(void **state)
{
    (void)state;
    const double times[3] = {1.5, 3.0, 4.5};
    const double distances[3] = {1.35106233196, 1.59342367224, 1.32953368196};
    experiment x = load('E', "lemon_b_rot60.json");
    witness_pair p;
    experiment_start(&x, witness_settings_default(), &p);
    int next = 0;
    for (int k = 0; k < 4500; k++) {
        experiment_step(&x, &p, k * tick);
        if (fabs((k + 1) * tick - times[next]) < 1e-9) {
            assert_near(p.last.distance, distances[next], 6e-12);
            next++;
        }
    }
    assert_int_equal(next, 3);
    experiment_free(&x);
}

/* Not every tracker is right by luck: with the saturation of the printed paper (the component set
 * to zero) the clamped answer differs. Here the free gradient vanishes at a clamped optimum and the
 * clamped one pushes outward. */
static void a_clamped_optimum_satisfies_the_conditions(void **state)
{
    (void)state;
    experiment x = load('A', NULL);
    test_random r = test_random_seed(21);
    int clamped = 0;
    for (int trial = 0; trial < 200; trial++) {
        witness_pair p;
        vec3 q = vec3_add((vec3){0, 0, 1.6}, test_random_vec3(&r, 2.0));
        q.z = fabs(q.z) + 1.2;
        witness_motion m = {.rotation = mat3_identity(), .origin = q};
        experiment_start(&x, witness_settings_default(), &p);
        p.stays_on_feature = true;
        for (int k = 0; k < 60; k++)
            witness_pair_correct(&p, &m);
        vec3 e = vec3_sub(q, p.on_a.at.p);
        const body_face *f = &x.a.faces[0];
        for (int i = 0; i < 2; i++) {
            double cosine =
                vec3_dot(e, p.on_a.at.d1[i]) / (vec3_length(e) * vec3_length(p.on_a.at.d1[i]));
            if (p.on_a.x[i] > f->low[i] && p.on_a.x[i] < f->high[i])
                assert_near(cosine, 0.0, 1e-9);
            else
                assert_true(cosine * (p.on_a.x[i] > f->low[i] ? 1 : -1) > -1e-12);
            clamped += p.on_a.x[i] <= f->low[i] || p.on_a.x[i] >= f->high[i];
        }
    }
    assert_true(clamped > 0);
    experiment_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_converges_in_the_stated_steps),
        cmocka_unit_test(a_converges_from_a_grid_of_starts),
        cmocka_unit_test(a_is_stable_up_to_the_computed_gain),
        cmocka_unit_test(a_gain_beyond_the_limit_is_refused_with_the_limit),
        cmocka_unit_test(a_clamped_optimum_satisfies_the_conditions),
        cmocka_unit_test(b_switches_in_the_stated_sequence),
        cmocka_unit_test(b_persistent_witness_stays_on_the_entry_curve),
        cmocka_unit_test(c_two_planar_bodies),
        cmocka_unit_test(d_body_and_helix),
        cmocka_unit_test(e_two_bodies),
        cmocka_unit_test(e_agrees_with_a_cad_kernel),
    };
    return cmocka_run_group_tests_name("witness_experiments", tests, NULL, NULL);
}
