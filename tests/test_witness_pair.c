/* What must hold for any convex bodies and motions: decay, stability, certified distance, any
 * start, gap rate, no chatter, scale, other parametrisations, contact, degenerate and broken input.
 */
#include "tests/support/convex_bodies.h"
#include "tests/support/witness_experiment.h"
#include "tests/support/witness_reference.h"
#include "tests/test.h"

static const double tick = 1e-3;

static parametric_body load(const char *path)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    return b;
}

static witness_pair converged_pair(const experiment *x, witness_settings s, double t)
{
    witness_pair p;
    witness_motion m = experiment_motion(x->name, t);
    experiment_start(x, s, &p);
    for (int i = 0; i < 60; i++)
        witness_pair_correct(&p, &m);
    assert_true(p.last.cosine < 1e-12);
    return p;
}

static experiment load_experiment(char name)
{
    experiment x;
    hr_error error = {""};
    if (experiment_load(name, NULL, &x, &error) != HR_OK)
        fail_msg("%s", error.text);
    return x;
}

/* --- the loop as a dynamic system ---------------------------------------------------------------
 */

/* Error after 0.5 s of feed-forward alone, from an exact start. */
static double drift(const experiment *x, witness_scheme scheme, double step)
{
    witness_settings s = experiment_settings(scheme, 0);
    s.step = step;
    witness_pair p = converged_pair(x, s, 0.15);
    p.stays_on_feature = true;
    int ticks = (int)(0.5 / step + 0.5);
    for (int k = 0; k < ticks; k++)
        experiment_step(x, &p, 0.15 + k * step);
    return p.last.cosine;
}

static void feed_forward_alone_follows_with_the_scheme_s_order(void **state)
{
    (void)state;
    experiment x = load_experiment('E');
    double euler = drift(&x, WITNESS_EULER, 1e-3) / drift(&x, WITNESS_EULER, 5e-4);
    double heun = drift(&x, WITNESS_HEUN, 1e-3) / drift(&x, WITNESS_HEUN, 5e-4);
    print_message("halving the step: euler / %.3f, heun / %.3f; error %.1e, %.1e\n", euler, heun,
                  drift(&x, WITNESS_EULER, 1e-3), drift(&x, WITNESS_HEUN, 1e-3));
    assert_near(euler, 2.0, 0.1);
    assert_near(heun, 4.0, 0.4);
    assert_true(drift(&x, WITNESS_EULER, 1e-3) < 1e-2);
    experiment_free(&x);
}

static void small_errors_decay_by_the_scheme_s_factor(void **state)
{
    (void)state;
    experiment x = load_experiment('A');
    const double products[] = {0.1, 0.5, 1.5, 1.0};
    for (int s = WITNESS_EULER; s <= WITNESS_RK4; s++)
        for (int i = 0; i < 4; i++) {
            double expected = fabs(witness_scheme_factor((witness_scheme)s, products[i]));
            witness_pair p =
                converged_pair(&x, experiment_settings((witness_scheme)s, products[i] / tick), 0.3);
            witness_motion m = experiment_motion('A', 0.3);
            m.rate = (twist){{0, 0, 0}, {0, 0, 0}};
            const double nudge[2] = {2e-5, -1e-5};
            witness_place_move(&p.a, &p.on_a, nudge);
            witness_pair before = p;
            double d = vec3_distance(p.on_a.at.p, m.origin);
            vec3 apart = vec3_sub(p.on_a.at.p, m.origin);
            double was = hypot(vec3_dot(p.on_a.at.d1[0], apart), vec3_dot(p.on_a.at.d1[1], apart));
            witness_pair_step(&p, &m, &m, &m);
            apart = vec3_sub(p.on_a.at.p, m.origin);
            double is = hypot(vec3_dot(p.on_a.at.d1[0], apart), vec3_dot(p.on_a.at.d1[1], apart));
            assert_near(is / was, expected, 0.01);
            assert_true(d > 0 && before.on_a.feature == WITNESS_FACE);
        }
    experiment_free(&x);
}

static void the_computed_limit_is_the_edge_of_stability(void **state)
{
    (void)state;
    experiment x = load_experiment('A');
    for (int s = WITNESS_EULER; s <= WITNESS_RK4; s++)
        for (int beyond = 0; beyond <= 1; beyond++) {
            double limit = witness_scheme_limit((witness_scheme)s);
            double gain = (beyond ? 1.02 : 0.98) * limit / tick;
            witness_pair p = converged_pair(&x, experiment_settings((witness_scheme)s, gain), 0.3);
            witness_motion m = experiment_motion('A', 0.3);
            m.rate = (twist){{0, 0, 0}, {0, 0, 0}};
            const double nudge[2] = {1e-7, 1e-7};
            witness_place_move(&p.a, &p.on_a, nudge);
            for (int k = 0; k < 1500; k++)
                witness_pair_step(&p, &m, &m, &m);
            if (beyond)
                assert_true(p.last.cosine > 1e-3);
            else
                assert_true(p.last.cosine < 1e-7);
        }
    experiment_free(&x);
}

/* --- random bodies and motions
 * -------------------------------------------------------------------- */

enum { POOL = 45 };

static void fill_pool(test_random *r, parametric_body *pool)
{
    for (int i = 0; i < POOL; i++)
        pool[i] = convex_body(r, (convex_kind)(i % CONVEX_KINDS));
}

static void free_pool(parametric_body *pool)
{
    for (int i = 0; i < POOL; i++)
        parametric_body_free(&pool[i]);
}

static witness_motion random_motion(test_random *r, double distance)
{
    witness_motion m;
    vec3 direction = vec3_normalize_or(test_random_vec3(r, 1.0), (vec3){1, 0, 0});
    m.rotation = quat_to_mat3(quat_from_rotation_vector(test_random_vec3(r, 3.0)));
    m.origin = vec3_scale(distance, direction);
    m.rate.linear = test_random_vec3(r, 0.7);
    m.rate.angular = test_random_vec3(r, 2.0);
    return m;
}

/* The motion one tick later. */
static witness_motion later(const witness_motion *m)
{
    witness_motion n = *m;
    mat3 turn = quat_to_mat3(quat_from_rotation_vector(vec3_scale(tick, m->rate.angular)));
    n.rotation = mat3_multiply(turn, m->rotation);
    n.origin = vec3_add_scaled(m->origin, tick, m->rate.linear);
    return n;
}

static double gap_of(const witness_pair *p, const witness_motion *m)
{
    return reference_gap(p->a.body, p->b.kind == WITNESS_BODY ? p->b.body : NULL, m->rotation,
                         m->origin, p->last.on_a, p->last.on_b);
}

/* How far the pair's distance is above the true one. The certificate bounds it, but grows with the
 * length of an edge that is a hair off the supporting plane; then alternating projections decide,
 * which between convex bodies go down to the distance. */
static double distance_error(const witness_pair *p, const witness_motion *m)
{
    double gap = gap_of(p, m);
    if (gap <= 1e-9)
        return gap;
    vec3 on_b = p->last.on_b;
    double distance = p->last.distance;
    for (int i = 0; i < 50; i++) {
        vec3 on_a;
        distance = fmin(distance, reference_nearest(p->a.body, on_b, &on_a));
        if (p->b.kind != WITNESS_BODY)
            break;
        vec3 seen = mat3_apply_transposed(m->rotation, vec3_sub(on_a, m->origin));
        vec3 found;
        distance = fmin(distance, reference_nearest(p->b.body, seen, &found));
        on_b = vec3_add(mat3_apply(m->rotation, found), m->origin);
    }
    return p->last.distance - distance;
}

/* Ten thousand random motions of random convex bodies (every fourth against a point): three ticks
 * after the end the distance is within 1e-9 m of the true one, and none is lost. */
static void ten_thousand_random_motions_end_at_the_true_distance(void **state)
{
    (void)state;
    test_random r = test_random_seed(31);
    parametric_body pool[POOL];
    fill_pool(&r, pool);
    double worst = 0;
    int lost = 0;
    int checked = 0;
    int motions = test_effort(10000);
    for (int k = 0; checked < motions; k++) {
        const parametric_body *a = &pool[test_random_index(&r, POOL)];
        const parametric_body *b = &pool[test_random_index(&r, POOL)];
        bool is_point = k % 4 == 0;
        double reach = 0.5 * (a->size + (is_point ? 0.0 : b->size));
        witness_motion m = random_motion(&r, reach * test_random_between(&r, 0.9, 1.6));
        witness_pair p;
        witness_pair_init(&p, witness_body_parametric(a),
                          is_point ? witness_body_point((vec3){0, 0, 0})
                                   : witness_body_parametric(b),
                          witness_settings_default(), &m);
        /* apart: a pair that overlaps, or will, is moved away */
        for (int i = 0; i < 30; i++)
            witness_pair_correct(&p, &m);
        m.origin = vec3_add_scaled(m.origin, 0.12, vec3_normalize_or(m.origin, (vec3){1, 0, 0}));
        for (int i = 0; i < 40; i++) {
            witness_motion end = later(&m);
            witness_pair_step(&p, &m, &m, &end);
            m = end;
        }
        for (int i = 0; i < 3; i++)
            witness_pair_correct(&p, &m);
        if (p.last.distance < 0.01)
            continue;
        checked++;
        double gap = distance_error(&p, &m);
        worst = fmax(worst, gap);
        if (!(gap <= 1e-9)) {
            lost++;
            print_message(
                "motion %d: error %.2e at distance %.3f, features %d:%d %d:%d, flags %x\n", k, gap,
                p.last.distance, p.on_a.feature, p.on_a.index, p.on_b.feature, p.on_b.index,
                p.last.flags);
        }
    }
    print_message("%d motions, largest error %.1e m, %d lost\n", checked, worst, lost);
    assert_int_equal(lost, 0);
    free_pool(pool);
}

static void random_place(test_random *r, const witness_body *b, witness_place *out)
{
    const parametric_body *body = b->body;
    int kind = test_random_index(r, 3);
    if (kind == WITNESS_EDGE && body->edge_count == 0)
        kind = WITNESS_FACE;
    if (kind == WITNESS_FACE) {
        int i = test_random_index(r, body->face_count);
        const body_face *f = &body->faces[i];
        witness_place_set(b, WITNESS_FACE, i, test_random_between(r, f->low[0], f->high[0]),
                          test_random_between(r, f->low[1], f->high[1]), out);
    } else if (kind == WITNESS_EDGE) {
        int i = test_random_index(r, body->edge_count);
        witness_place_set(b, WITNESS_EDGE, i,
                          test_random_between(r, body->edges[i].low, body->edges[i].high), 0, out);
    } else {
        witness_place_set(b, WITNESS_VERTEX, test_random_index(r, body->vertex_count), 0, 0, out);
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void any_start_reaches_the_nearest_pair_within_25_ticks(void **state)
{
    (void)state;
    test_random r = test_random_seed(32);
    parametric_body a = load("tests/data/bodies/lemon_a.json");
    parametric_body b = load("tests/data/bodies/lemon_b.json");
    int starts = test_effort(1000);
    int *ticks = calloc((size_t)starts, sizeof *ticks);
    assert_non_null(ticks);
    for (int k = 0; k < starts; k++) {
        witness_motion m = random_motion(&r, test_random_between(&r, 2.7, 4.5));
        m.rate = (twist){{0, 0, 0}, {0, 0, 0}};
        witness_pair p;
        witness_pair_init(&p, witness_body_parametric(&a), witness_body_parametric(&b),
                          witness_settings_default(), &m);
        random_place(&r, &p.a, &p.on_a);
        random_place(&r, &p.b, &p.on_b);
        double gap = 1;
        while (ticks[k] < 60 && !(gap <= 1e-8 * vec3_distance(p.last.on_a, p.last.on_b))) {
            witness_pair_step(&p, &m, &m, &m);
            gap = gap_of(&p, &m);
            ticks[k]++;
        }
    }
    qsort(ticks, (size_t)starts, sizeof *ticks, by_value);
    print_message("ticks to a gap of 1e-8 d: median %d, 95 %% %d, worst %d\n", ticks[starts / 2],
                  ticks[starts * 95 / 100], ticks[starts - 1]);
    assert_true(ticks[starts - 1] <= 25);
    free(ticks);
    parametric_body_free(&a);
    parametric_body_free(&b);
}

/* --- outputs
 * ---------------------------------------------------------------------------------------- */

static void the_gap_rate_is_the_rate_of_the_distance(void **state)
{
    (void)state;
    experiment x = load_experiment('E');
    witness_pair p;
    experiment_start(&x, witness_settings_default(), &p);
    double worst = 0;
    double distances[3] = {0, 0, 0};
    double rate = 0;
    int quiet = 0;
    for (int k = 0; k < 6000; k++) {
        experiment_step(&x, &p, k * tick);
        quiet = p.last.switches ? 0 : quiet + 1;
        distances[0] = distances[1];
        distances[1] = distances[2];
        distances[2] = p.last.distance;
        if (k > 100 && quiet > 3)
            worst = fmax(worst, fabs((distances[2] - distances[0]) / (2 * tick) - rate));
        rate = p.last.gap_rate;
    }
    print_message("largest difference %.1e\n", worst);
    assert_true(worst < 1e-4); /* central difference: h^2 d''' / 6 */
    experiment_free(&x);
}

static void the_excess_estimate_tells_the_error(void **state)
{
    (void)state;
    experiment x = load_experiment('E');
    witness_pair p = converged_pair(&x, witness_settings_default(), 0.2);
    witness_motion m = experiment_motion('E', 0.2);
    double exact = vec3_distance(p.last.on_a, p.last.on_b);
    const double nudge[2] = {2e-3, -1e-3};
    witness_place_move(&p.a, &p.on_a, nudge);
    witness_place_move(&p.b, &p.on_b, nudge);

    vec3 h = vec3_add(mat3_apply(m.rotation, p.on_b.at.p), m.origin);
    double excess = vec3_distance(p.on_a.at.p, h) - exact;
    double estimate = witness_pair_excess(&p, &m);

    print_message("excess %.4e, estimate %.4e\n", excess, estimate);
    assert_near(estimate / excess, 1.0, 0.02);
    experiment_free(&x);
}

static void nothing_chatters(void **state)
{
    (void)state;
    experiment x = load_experiment('D');
    test_random r = test_random_seed(33);
    for (int k = 0; k < test_effort(200); k++) {
        witness_motion m = random_motion(&r, test_random_between(&r, 1.6, 3.0));
        witness_pair p;
        witness_pair_init(&p, witness_body_parametric(&x.a), witness_body_point((vec3){0, 0, 0}),
                          witness_settings_default(), &m);
        m.rate = (twist){{0, 0, 0}, {0, 0, 0}};
        for (int i = 0; i < 30; i++)
            witness_pair_step(&p, &m, &m, &m);
        uint64_t before = p.switches;
        for (int i = 0; i < 100; i++)
            witness_pair_step(&p, &m, &m, &m);
        assert_int_equal(p.switches, before);
    }
    /* slowly around the waist: face, edge, face, edge: two per seam, six in all */
    witness_pair p;
    witness_motion m = {.rotation = mat3_identity(), .origin = {1.5, 0, 0.1}};
    witness_pair_init(&p, witness_body_parametric(&x.a), witness_body_point((vec3){0, 0, 0}),
                      witness_settings_default(), &m);
    for (int i = 0; i < 30; i++)
        witness_pair_correct(&p, &m);
    p.switches = 0;
    const int turns = 20000;
    for (int i = 1; i <= turns; i++) {
        double a = 2 * 3.14159265358979323846 * i / turns;
        witness_motion end = {.rotation = mat3_identity(),
                              .origin = {1.5 * cos(a), 1.5 * sin(a), 0.1}};
        witness_pair_step(&p, &m, &m, &end);
        m = end;
    }
    assert_int_equal(p.switches, 6);
    experiment_free(&x);
}

/* Runs experiment D on two bodies and compares the paths. */
static void compare_paths(const parametric_body *first, const parametric_body *second, double scale)
{
    witness_pair p;
    witness_pair q;
    witness_motion m = experiment_motion('D', 0);
    witness_motion n = m;
    n.origin = vec3_scale(scale, n.origin);
    n.rate.linear = vec3_scale(scale, n.rate.linear);
    witness_pair_init(&p, witness_body_parametric(first), witness_body_point((vec3){0, 0, 0}),
                      witness_settings_default(), &m);
    witness_pair_init(&q, witness_body_parametric(second), witness_body_point((vec3){0, 0, 0}),
                      witness_settings_default(), &n);
    for (int k = 0; k < 8000; k++) {
        witness_motion m1 = experiment_motion('D', (k + 1) * tick);
        witness_motion n1 = m1;
        n1.origin = vec3_scale(scale, n1.origin);
        n1.rate.linear = vec3_scale(scale, n1.rate.linear);
        witness_pair_step(&p, &m, &m, &m1);
        witness_pair_step(&q, &n, &n, &n1);
        m = m1;
        n = n1;
        if (k < 50)
            continue;
        assert_int_equal(q.on_a.feature, p.on_a.feature);
        assert_int_equal(q.on_a.index, p.on_a.index);
        assert_near(q.last.distance / scale, p.last.distance, 1e-9);
    }
}

static void lengths_scale_and_switches_stay(void **state)
{
    (void)state;
    parametric_body a = load("tests/data/bodies/lemon_a.json");
    const double scales[2] = {1e-3, 1e3};
    for (int i = 0; i < 2; i++) {
        parametric_body b = load("tests/data/bodies/lemon_a.json");
        parametric_body_scale(&b, scales[i]);
        compare_paths(&a, &b, scales[i]);
        parametric_body_free(&b);
    }
    parametric_body_free(&a);
}

static void raised_degrees_change_nothing(void **state)
{
    (void)state;
    parametric_body a = load("tests/data/bodies/lemon_a.json");
    parametric_body b = load("tests/data/bodies/lemon_a_cubic.json");
    compare_paths(&a, &b, 1.0);
    parametric_body_free(&a);
    parametric_body_free(&b);
}

/* --- contact and penetration --------------------------------------------------------------------
 */

/* Two ellipsoids on a common axis: the signed distance is the difference of their poles. */
static void ellipsoids_cross_contact_without_a_step(void **state)
{
    (void)state;
    const vec3 a = {1.0, 0.8, 0.6};
    const vec3 b = {0.7, 0.9, 0.5};
    witness_pair p;
    witness_motion m = {.rotation = mat3_identity(), .origin = {0, 0, 1.1 + 0.34}};
    m.rate.linear = (vec3){0, 0, -0.67};
    witness_pair_init(&p, witness_body_ellipsoid(a), witness_body_ellipsoid(b),
                      witness_settings_default(), &m);
    for (int i = 0; i < 20; i++)
        witness_pair_correct(&p, &m);
    double worst = 0;
    double step = 0;
    double last = p.last.distance;
    for (int k = 0; k < 2000; k++) {
        /* down to -0.33 and back, with B turning about the axis */
        double rate = k < 1000 ? -0.67 : 0.67;
        witness_motion end = m;
        end.rate.linear.z = m.rate.linear.z = rate;
        m.rate.angular = end.rate.angular = (vec3){0, 0, 0.8};
        end.origin.z += rate * tick;
        end.rotation = quat_to_mat3(quat_from_rotation_vector((vec3){0, 0, 0.8 * (k + 1) * tick}));
        witness_pair_step(&p, &m, &m, &end);
        m = end;
        worst = fmax(worst, fabs(p.last.distance - (m.origin.z - 1.1)));
        step = fmax(step, fabs(p.last.distance - last));
        last = p.last.distance;
    }
    print_message("signed distance from +0.34 to -0.33 and back: error %.1e, step %.1e\n", worst,
                  step);
    assert_true(worst < 1e-9);
    assert_true(step < 1e-3);
}

/* The same off the axis, against bisection on the support functions: the depth is the smallest
 * overlap over all directions. */
static double support(vec3 axes, vec3 n)
{
    return vec3_length((vec3){axes.x * n.x, axes.y * n.y, axes.z * n.z});
}

static void depth_is_the_smallest_overlap(void **state)
{
    (void)state;
    const vec3 a = {1.0, 0.8, 0.6};
    const vec3 b = {0.7, 0.9, 0.5};
    test_random r = test_random_seed(34);
    double worst = 0;
    for (int k = 0; k < test_effort(100); k++) {
        witness_pair p;
        quat turn = quat_from_rotation_vector(test_random_vec3(&r, 0.4));
        witness_motion m = {.rotation = quat_to_mat3(turn), .origin = {0.1, -0.1, 1.5}};
        witness_pair_init(&p, witness_body_ellipsoid(a), witness_body_ellipsoid(b),
                          witness_settings_default(), &m);
        for (int i = 0; i < 20; i++)
            witness_pair_correct(&p, &m);
        double goal = 1.1 - test_random_between(&r, 0.02, 0.15);
        for (int i = 0; i < 1000; i++) {
            witness_motion end = m;
            m.rate.linear.z = end.rate.linear.z = (goal - 1.5);
            end.origin.z += (goal - 1.5) * tick;
            witness_pair_step(&p, &m, &m, &end);
            m = end;
        }
        /* local optimality: no direction near the normal overlaps less */
        vec3 n = p.last.normal;
        double depth = -p.last.distance;
        double overlap = support(a, n) + support(b, mat3_apply_transposed(m.rotation, n)) -
                         vec3_dot(n, m.origin);
        worst = fmax(worst, fabs(depth - overlap));
        for (int i = 0; i < 50; i++) {
            vec3 near = vec3_normalize_or(vec3_add(n, test_random_vec3(&r, 0.02)), n);
            double other = support(a, near) + support(b, mat3_apply_transposed(m.rotation, near)) -
                           vec3_dot(near, m.origin);
            assert_true(other >= overlap - 1e-12);
        }
        assert_true(depth > 0);
    }
    print_message("largest difference to the support functions %.1e\n", worst);
    assert_true(worst < 1e-9);
}

/* Parametric faces through contact: two lemons pressed waist to waist. */
static void patches_cross_contact_smoothly(void **state)
{
    (void)state;
    parametric_body a = load("tests/data/bodies/lemon_a.json");
    parametric_body b = load("tests/data/bodies/lemon_b.json");
    witness_pair p;
    witness_motion m = {.rotation = mat3_identity(), .origin = {0, -2.0, 0}};
    witness_pair_init(&p, witness_body_parametric(&a), witness_body_parametric(&b),
                      witness_settings_default(), &m);
    for (int i = 0; i < 30; i++)
        witness_pair_correct(&p, &m);
    double start = p.last.distance;
    double step = 0;
    double last = start;
    double deepest = start;
    for (int k = 0; k < 3000; k++) {
        double rate = k < 1500 ? 0.75 : -0.75;
        witness_motion end = m;
        m.rate.linear = end.rate.linear = (vec3){0, rate, 0};
        end.origin.y += rate * tick;
        witness_pair_step(&p, &m, &m, &end);
        m = end;
        step = fmax(step, fabs(p.last.distance - last));
        last = p.last.distance;
        deepest = fmin(deepest, last);
    }
    print_message("from %+.3f to %+.3f and back to %+.3f, largest step %.1e\n", start, deepest,
                  last, step);
    assert_true(deepest < -0.02);
    assert_near(last, start, 1e-9);
    assert_true(step < 1e-3);
    parametric_body_free(&a);
    parametric_body_free(&b);
}

/* --- real data: the egg, closed in u, a pole at each end
 * ------------------------------------------ */

static void the_egg_is_followed_across_its_seam(void **state)
{
    (void)state;
    parametric_body egg = load("config/bodies/egg.json");
    vec3 centre = vec3_lerp(egg.box_low, egg.box_high, 0.5);
    witness_pair p;
    double worst = 0;
    int seams = 0;
    int converged = -1;
    double last_u = 0;
    const body_face *f = &egg.faces[0];
    witness_motion m = {.rotation = mat3_identity()};
    for (int k = 0; k <= 10000; k++) {
        double t = k * tick;
        double a = 2 * 3.14159265358979323846 * 3.1 * t / 10;
        double r = 24 + 2 * sin(1.3 * t);
        m.origin = vec3_add(centre, (vec3){r * cos(a), r * sin(a), 6 * sin(0.9 * t)});
        if (k == 0) {
            witness_pair_init(&p, witness_body_parametric(&egg),
                              witness_body_point((vec3){0, 0, 0}), witness_settings_default(), &m);
            witness_place_set(&p.a, WITNESS_FACE, 0, f->low[0] + 0.4 * (f->high[0] - f->low[0]),
                              f->low[1] + 0.3 * (f->high[1] - f->low[1]), &p.on_a);
            continue;
        }
        witness_pair_correct(&p, &m);
        seams += fabs(p.on_a.x[0] - last_u) > 0.5 * (f->high[0] - f->low[0]) && k > 20;
        last_u = p.on_a.x[0];
        if (k % 20 != 0 && converged >= 0)
            continue;
        double error = fabs(p.last.distance - reference_nearest(&egg, m.origin, NULL));
        if (converged < 0 && error < 1e-6)
            converged = k;
        if (k > 100)
            worst = fmax(worst, error);
    }
    print_message("egg: converged in %d steps, error %.1e of a size of %.0f, %d seam crossings\n",
                  converged, worst, egg.size, seams);
    assert_true(converged >= 0 && converged <= 8);
    assert_true(worst < 1e-8);
    assert_true(seams >= 3);
    parametric_body_free(&egg);
}

/* --- degenerate and broken ---------------------------------------------------------------------
 */

static bool is_sound(const witness_pair *p)
{
    return isfinite(p->last.distance) && vec3_is_finite(p->last.on_a) &&
           vec3_is_finite(p->last.on_b) && vec3_is_finite(p->last.normal) &&
           isfinite(p->on_a.x[0]) && isfinite(p->on_a.x[1]);
}

static void degenerate_pairs_give_finite_answers(void **state)
{
    (void)state;
    test_random r = test_random_seed(35);
    parametric_body block = convex_body(&r, CONVEX_BLOCK);
    parametric_body round = convex_body(&r, CONVEX_ROUND);
    parametric_body tube = load("config/bodies/cylinder.json");
    witness_settings s = witness_settings_default();
    witness_pair p;
    const struct {
        witness_body a, b;
        vec3 origin;
        bool is_flagged;
    } cases[] = {
        {witness_body_parametric(&block), witness_body_parametric(&block), {0, 0, 3}, true},
        {witness_body_parametric(&tube), witness_body_parametric(&tube), {0, 0, 0}, true},
        {witness_body_ellipsoid((vec3){1, 1, 1}),
         witness_body_ellipsoid((vec3){0.5, 0.5, 0.5}),
         {0, 0, 0},
         true},
        {witness_body_ellipsoid((vec3){1, 1, 1}),
         witness_body_point((vec3){0, 0, 0}),
         {0, 0, 0},
         true},
        {witness_body_ellipsoid((vec3){1, 1, 1}),
         witness_body_point((vec3){0, 0, 0}),
         {0, 0, 1},
         false},
        {witness_body_parametric(&round), witness_body_parametric(&round), {0, 0, 0}, false},
    };
    for (int i = 0; i < HR_COUNT(cases); i++) {
        witness_motion m = {.rotation = mat3_identity(), .origin = cases[i].origin};
        uint32_t flags = 0;
        witness_pair_init(&p, cases[i].a, cases[i].b, s, &m);
        for (int k = 0; k < 50; k++) {
            witness_pair_step(&p, &m, &m, &m);
            flags |= p.last.flags;
            assert_true(is_sound(&p));
        }
        if (cases[i].is_flagged)
            assert_true(flags & (WITNESS_NOT_UNIQUE | WITNESS_DEGRADED));
    }
    parametric_body_free(&block);
    parametric_body_free(&round);
    parametric_body_free(&tube);
}

static void a_pose_that_is_not_finite_changes_nothing(void **state)
{
    (void)state;
    experiment x = load_experiment('E');
    witness_pair p = converged_pair(&x, witness_settings_default(), 0.2);
    witness_motion m = experiment_motion('E', 0.2);
    witness_pair before = p;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < 3; i++) {
        witness_motion spoilt = m;
        spoilt.origin.y = bad[i];
        witness_pair_step(&p, &m, &m, &spoilt);
        assert_true(p.last.flags & WITNESS_HELD);
        spoilt = m;
        spoilt.rotation.m[1][2] = bad[i];
        witness_pair_correct(&p, &spoilt);
        assert_true(p.last.flags & WITNESS_HELD);
        assert_memory_equal(&p.on_a.x, &before.on_a.x, sizeof p.on_a.x);
        assert_memory_equal(&p.last.on_b, &before.last.on_b, sizeof p.last.on_b);
    }
    witness_pair_step(&p, &m, &m, &m);
    assert_false(p.last.flags & WITNESS_HELD);
    assert_near(p.last.distance, before.last.distance, 1e-9);
    experiment_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feed_forward_alone_follows_with_the_scheme_s_order),
        cmocka_unit_test(small_errors_decay_by_the_scheme_s_factor),
        cmocka_unit_test(the_computed_limit_is_the_edge_of_stability),
        cmocka_unit_test(ten_thousand_random_motions_end_at_the_true_distance),
        cmocka_unit_test(any_start_reaches_the_nearest_pair_within_25_ticks),
        cmocka_unit_test(the_gap_rate_is_the_rate_of_the_distance),
        cmocka_unit_test(the_excess_estimate_tells_the_error),
        cmocka_unit_test(nothing_chatters),
        cmocka_unit_test(lengths_scale_and_switches_stay),
        cmocka_unit_test(raised_degrees_change_nothing),
        cmocka_unit_test(ellipsoids_cross_contact_without_a_step),
        cmocka_unit_test(depth_is_the_smallest_overlap),
        cmocka_unit_test(patches_cross_contact_smoothly),
        cmocka_unit_test(the_egg_is_followed_across_its_seam),
        cmocka_unit_test(degenerate_pairs_give_finite_answers),
        cmocka_unit_test(a_pose_that_is_not_finite_changes_nothing),
    };
    return cmocka_run_group_tests_name("witness_pair", tests, NULL, NULL);
}
