/* The feature test on published queries with exact verdicts and times, on closed forms, on rigid
 * motion by Taylor models, and against the coplanarity route. */
#include "tests/test.h"

#include <glob.h>
#include <string.h>

#include "collide/ccd_queries.h"
#include "collide/coplanarity_ccd.h"
#include "collide/feature_ccd.h"

static feature_result run(feature_kind kind, const vec3 *start, const vec3 *end, double tolerance)
{
    feature_limits limits = feature_limits_default();
    limits.tolerance = tolerance;
    feature_motion m = feature_motion_linear(kind, start, end);
    feature_result out;
    feature_ccd(&m, 0, 1, &limits, &out);
    return out;
}

/* Distance at t, in long double, by the same closed features: a lower bound within 1e-12. */
static double distance_at(feature_kind kind, const ccd_query *q, double t)
{
    vec3 p[4];
    for (int i = 0; i < 4; i++)
        p[i] = vec3_lerp(q->start[i], q->end[i], t);
    closest_pair pair = kind == FEATURE_VERTEX_FACE ? closest_point_triangle(p[0], p[1], p[2], p[3])
                                                    : closest_segments(p[0], p[1], p[2], p[3]);
    return sqrt(pair.distance_squared);
}

typedef struct totals {
    int queries, contacts, misses, late, exact_times, far;
    int64_t nodes, most_nodes;
} totals;

static void check_file(const char *path, feature_kind kind, totals *t)
{
    ccd_queries q;
    hr_error error = {{0}};
    assert_int_equal(ccd_queries_load(path, &q, &error), HR_OK);
    double *exact = calloc((size_t)q.count, sizeof *exact);
    for (int i = 0; i < q.count; i++)
        exact[i] = 2;
    char beside[512];
    snprintf(beside, sizeof beside, "%.*s_toc.csv", (int)strlen(path) - 4, path);
    FILE *f = fopen(beside, "r");
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        char *comma = strchr(line, ',');
        if (line[0] < '0' || line[0] > '9' || !comma)
            continue; /* the heading */
        exact[strtol(line, NULL, 10)] = strtod(comma + 1, NULL);
        t->exact_times++;
    }
    if (f)
        fclose(f);
    for (int i = 0; i < q.count; i++) {
        feature_result r = run(kind, q.items[i].start, q.items[i].end, 1e-6);
        assert_true(r.verdict == FEATURE_FREE || r.verdict == FEATURE_CONTACT);
        t->queries++;
        t->nodes += r.nodes;
        t->most_nodes = r.nodes > t->most_nodes ? r.nodes : t->most_nodes;
        t->contacts += r.verdict == FEATURE_CONTACT;
        t->misses += r.verdict == FEATURE_FREE && q.items[i].truth == CCD_TRUTH_CONTACT;
        t->late += r.time > exact[i] + 1e-15;
        if (r.verdict == FEATURE_CONTACT)
            t->far += distance_at(kind, &q.items[i], r.time) > 1e-6;
    }
    free(exact);
    ccd_queries_free(&q);
}

static totals check_all(feature_kind kind, const char *suffix)
{
    totals t = {0};
    glob_t files;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "tests/data/ccd-queries/sample-queries/*/%s*.csv", suffix);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    snprintf(pattern, sizeof pattern, "tests/data/ccd-queries/scalable/*/*%s.csv", suffix);
    assert_int_equal(glob(pattern, GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_file(files.gl_pathv[i], kind, &t);
    globfree(&files);
    return t;
}

/* Measured: 42 and 44 at most, 7.5 and 6.7 on average. With directions that do not turn, edges that
 * pass each other closely took 1305. */
static void assert_cost(const totals *t)
{
    print_message("stretches of time: at most %d, %.2f on average\n", (int)t->most_nodes,
                  (double)t->nodes / t->queries);
    assert_true(t->most_nodes <= 64);
    assert_true(t->nodes <= (int64_t)9 * t->queries);
}

/* The counts are the publisher's: 1247 + 893 vertex-face and 1156 + 263 edge-edge queries. */
static void published_vertex_face_queries_are_never_missed_or_late(void **state)
{
    (void)state;
    totals t = check_all(FEATURE_VERTEX_FACE, "vf");
    assert_int_equal(t.queries, 1247 + 893);
    assert_int_equal(t.exact_times, 792);
    assert_int_equal(t.misses, 0);
    assert_int_equal(t.late, 0);
    assert_int_equal(t.far, 0);
    assert_cost(&t);
}

static void published_edge_edge_queries_are_never_missed_or_late(void **state)
{
    (void)state;
    totals t = check_all(FEATURE_EDGE_EDGE, "ee");
    assert_int_equal(t.queries, 1156 + 263);
    assert_int_equal(t.exact_times, 107);
    assert_int_equal(t.misses, 0);
    assert_int_equal(t.late, 0);
    assert_int_equal(t.far, 0);
    assert_cost(&t);
}

static const vec3 face[3] = {{-1, -1, 0}, {2, -1, 0}, {-1, 2, 0}};

static feature_result drop(double from, double to, double separation, double tolerance)
{
    vec3 start[4] = {{0, 0, from}, face[0], face[1], face[2]};
    vec3 end[4] = {{0, 0, to}, face[0], face[1], face[2]};
    feature_limits limits = feature_limits_default();
    limits.separation = separation;
    limits.tolerance = tolerance;
    feature_motion m = feature_motion_linear(FEATURE_VERTEX_FACE, start, end);
    feature_result out;
    feature_ccd(&m, 0, 1, &limits, &out);
    return out;
}

/* z(t) = 1 - 4 t: contact with a gap of s at t = (1 - s) / 4, reported at most delta / 4 early. */
static void a_falling_vertex_lands_when_the_formula_says(void **state)
{
    (void)state;
    feature_result r = drop(1, -3, 0, 1e-9);
    assert_int_equal(r.verdict, FEATURE_CONTACT);
    assert_true(r.time <= 0.25 && r.time >= 0.25 - 1e-9 / 4 - 1e-15);
    r = drop(1, -3, 0.2, 1e-9);
    assert_true(r.time <= 0.2 && r.time >= 0.2 - 1e-9 / 4 - 1e-15);
    assert_int_equal(drop(1, 1e-3, 0, 1e-6).verdict, FEATURE_FREE);
    r = drop(1, 0, 0, 1e-6); /* contact exactly at t = 1 */
    assert_true(r.verdict == FEATURE_CONTACT && r.time > 1 - 2e-6);
    r = drop(0, 1, 0, 1e-6); /* touching at t = 0, leaving */
    assert_true(r.verdict == FEATURE_CONTACT && r.time == 0);
    r = drop(0.1, 1, 0.2, 1e-6); /* closer than s at t = 0, leaving */
    assert_true(r.verdict == FEATURE_CONTACT && r.time == 0 && r.is_separating);
    r = drop(0.1, 0, 0.2, 1e-6);
    assert_true(r.verdict == FEATURE_CONTACT && r.time == 0 && !r.is_separating);
    r = drop(5e-7, 1, 0, 1e-6); /* within the tolerance but leaving: followed, and free */
    assert_int_equal(r.verdict, FEATURE_FREE);
    r = drop(5e-7, 0, 0, 1e-6);
    assert_true(r.verdict == FEATURE_CONTACT && r.time == 0);
}

static void larger_separation_is_never_later(void **state)
{
    (void)state;
    double last = 2;
    for (int i = 0; i < 50; i++) {
        feature_result r = drop(1, -3, 0.02 * i, 1e-6);
        assert_true(r.time <= last);
        last = r.time;
    }
}

static void coordinates_too_large_for_the_tolerance_are_refused(void **state)
{
    (void)state;
    vec3 start[4] = {{1e9, 0, 1}, {1e9, 1, 0}, {1e9 + 1, -1, 0}, {1e9 - 1, -1, 0}};
    assert_int_equal(run(FEATURE_VERTEX_FACE, start, start, 1e-6).verdict, FEATURE_REFUSED);
    start[0].x = (double)NAN;
    assert_int_equal(run(FEATURE_VERTEX_FACE, start, start, 1e-6).verdict, FEATURE_REFUSED);
}

static void running_out_of_nodes_keeps_a_safe_prefix(void **state)
{
    (void)state;
    double last = 0;
    for (int nodes = 1; nodes < 60; nodes++) {
        vec3 start[4] = {{0, 0, 1}, face[0], face[1], face[2]};
        vec3 end[4] = {{0, 0, -3}, face[0], face[1], face[2]};
        feature_limits limits = feature_limits_default();
        limits.nodes = nodes;
        feature_motion m = feature_motion_linear(FEATURE_VERTEX_FACE, start, end);
        feature_result r;
        feature_ccd(&m, 0, 1, &limits, &r);
        assert_true(r.time >= last && r.time <= 0.25);
        last = r.time;
    }
}

/* A rod of length 1 turns about the y axis of its pivot at height h; its tip meets the plane z = 0
 * when sin(angle) = h. */
static void a_turning_rod_meets_the_plane_at_the_arc_sine(void **state)
{
    (void)state;
    for (int i = 1; i < 20; i++) {
        double height = 0.05 * i * 0.98, rate = 1.6; /* rad over the step */
        taylor a_from_b;
        taylor_screw((vec3){0, 1, 0}, rate / 2, rate, 0, (vec3){0, 0, height}, (vec3){0, 0, 0}, 0.5,
                     &a_from_b);
        /* The model of the whole step is too coarse for 1e-9: the caller splits, as here. */
        double toc = 2;
        for (int part = 0; part < 4096 && toc > 1; part++) {
            double middle = (part + 0.5) / 4096;
            taylor_screw((vec3){0, 1, 0}, rate * middle, rate, 1e-15, (vec3){0, 0, height},
                         (vec3){0, 0, 0}, 0.5 / 4096, &a_from_b);
            vec3 tip = {1, 0, 0}, wide[3] = {{-5, -5, 0}, {5, -5, 0}, {0, 9, 0}};
            feature_limits limits = feature_limits_default();
            limits.tolerance = 1e-9;
            feature_motion m = feature_motion_rigid(FEATURE_VERTEX_FACE, &a_from_b, &tip, wide);
            feature_result r;
            feature_ccd(&m, -0.5 / 4096, 0.5 / 4096, &limits, &r);
            assert_int_not_equal(r.verdict, FEATURE_REFUSED);
            if (r.verdict == FEATURE_CONTACT)
                toc = middle + r.time;
        }
        double exact = asin(height) / rate;
        assert_true(toc <= exact + 1e-15);
        assert_true(sin(rate * toc) >= height - 1.1e-9);
    }
}

/* Where the coplanarity route says free, so must we, up to our tolerance; where it reports a
 * contact inside the features, we report one at most time_tolerance later. */
static void both_routes_agree_on_random_motions(void **state)
{
    (void)state;
    test_random r = test_random_seed(21);
    int contacts = 0;
    for (int trial = 0; trial < 1500; trial++) {
        feature_kind kind = trial % 2 ? FEATURE_EDGE_EDGE : FEATURE_VERTEX_FACE;
        vec3 start[4], end[4];
        for (int i = 0; i < 4; i++) {
            start[i] = test_random_vec3(&r, 1);
            end[i] = vec3_add(start[i], test_random_vec3(&r, 1));
        }
        feature_limits limits = feature_limits_default();
        limits.time_tolerance = 1e-9;
        feature_motion m = feature_motion_linear(kind, start, end);
        feature_result ours, theirs;
        feature_ccd(&m, 0, 1, &limits, &ours);
        coplanarity_ccd(&m, 0, 1, &limits, &theirs);

        assert_int_not_equal(theirs.verdict, FEATURE_BUDGET);
        if (theirs.verdict == FEATURE_FREE) {
            if (ours.verdict == FEATURE_CONTACT)
                assert_true(sqrt(ours.witness.distance_squared) <= 1e-6);
            continue;
        }
        contacts++;
        assert_int_equal(ours.verdict, FEATURE_CONTACT);
        assert_true(ours.time <= theirs.time + 2e-9);
    }
    assert_true(contacts > 100);
}

/* A vertex that rests 5e-8 m above a face, but is only known to 1e-7 m, may touch it. */
static void what_is_not_known_exactly_is_not_called_free(void **state)
{
    (void)state;
    const vec3 rest[4] = {{0.2, 0.2, 5e-8}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    feature_motion m = feature_motion_linear(FEATURE_VERTEX_FACE, rest, rest);
    feature_limits limits = feature_limits_default();
    feature_result r;

    feature_ccd(&m, 0, 1, &limits, &r);
    assert_int_equal(r.verdict, FEATURE_FREE); /* known exactly, it is apart */

    m.points[0].r = (vec3){0, 0, 1e-7};
    feature_ccd(&m, 0, 1, &limits, &r);
    assert_int_equal(r.verdict, FEATURE_CONTACT);
}

/* Weights of a random point of a feature of n corners; often on its rim. */
static void random_weights(test_random *r, int n, double *w)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += w[i] = fmax(0, test_random_between(r, -0.3, 1));
    for (int i = 0; i < n; i++)
        w[i] = sum > 0 ? w[i] / sum : i == 0;
}

static vec3 weighted(const taylor_point *p, const double *w, int n, double at)
{
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        vec3 x = vec3_add_scaled(p[i].c[0], at, vec3_add_scaled(p[i].c[1], at, p[i].c[2]));
        sum = vec3_add_scaled(sum, w[i], x);
    }
    return sum;
}

/* Paths of second order, shifted so that a point of one feature meets a point of the other at a
 * known time: never called free, never later than that. */
static void a_contact_on_curved_paths_is_never_missed(void **state)
{
    (void)state;
    test_random r = test_random_seed(31);
    int missed = 0, late = 0;
    for (int k = 0; k < test_effort(40000); k++) {
        feature_motion m = {.kind = k % 2 ? FEATURE_EDGE_EDGE : FEATURE_VERTEX_FACE};
        double at = test_random_between(&r, 0, 1), w[4];
        double speed = pow(10, test_random_between(&r, -2, 1));
        double bend = pow(10, test_random_between(&r, -2, 1));
        int n = m.kind == FEATURE_VERTEX_FACE ? 1 : 2;
        for (int i = 0; i < 4; i++) {
            m.points[i].c[0] = test_random_vec3(&r, 1);
            m.points[i].c[1] = test_random_vec3(&r, speed);
            m.points[i].c[2] = test_random_vec3(&r, bend);
        }
        random_weights(&r, n, w);
        random_weights(&r, 4 - n, w + n);
        vec3 shift =
            vec3_sub(weighted(m.points + n, w + n, 4 - n, at), weighted(m.points, w, n, at));
        for (int i = 0; i < n; i++)
            m.points[i].c[0] = vec3_add(m.points[i].c[0], shift);
        feature_limits limits = feature_limits_default();
        limits.tolerance = 1e-4;
        feature_result out;
        feature_ccd(&m, 0, 1, &limits, &out);
        missed += out.verdict == FEATURE_FREE;
        late += out.verdict == FEATURE_CONTACT && out.time > at + 1e-9;
    }
    assert_int_equal(missed, 0);
    assert_int_equal(late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vertex_face_queries_are_never_missed_or_late),
        cmocka_unit_test(published_edge_edge_queries_are_never_missed_or_late),
        cmocka_unit_test(a_falling_vertex_lands_when_the_formula_says),
        cmocka_unit_test(larger_separation_is_never_later),
        cmocka_unit_test(coordinates_too_large_for_the_tolerance_are_refused),
        cmocka_unit_test(running_out_of_nodes_keeps_a_safe_prefix),
        cmocka_unit_test(a_contact_on_curved_paths_is_never_missed),
        cmocka_unit_test(a_turning_rod_meets_the_plane_at_the_arc_sine),
        cmocka_unit_test(both_routes_agree_on_random_motions),
        cmocka_unit_test(what_is_not_known_exactly_is_not_called_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
