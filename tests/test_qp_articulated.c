/* Articulated and rigid bodies in one contact programme. What comes out is held against the laws
 * themselves: momentum, no approach beyond the clearance, Coulomb's cone and its direction, joint
 * limits, energy; without friction also against projected Gauss-Seidel, which shares no code. */
#include "tests/test.h"

#include <string.h>

#include "geometry/model_make.h"
#include "geometry/urdf.h"
#include "solver/articulated.h"
#include "solver/qp_rigid.h"
#include "tests/support/models.h"

enum { FREEDOM_MAX = 64, CONTACTS_MAX = 48, RIGIDS_MAX = 4, BLOCKS_MAX = RIGIDS_MAX + 1 };
enum { UNKNOWNS_MAX = FREEDOM_MAX + 6 * RIGIDS_MAX };

typedef struct columns {
    int index[FREEDOM_MAX];
    vec3 value[FREEDOM_MAX];
} columns;

typedef struct mixed {
    model model;
    articulated *tree;
    int freedom, rigids, blocks, contacts, bounds;
    double k[FREEDOM_MAX * FREEDOM_MAX], b[FREEDOM_MAX], v[FREEDOM_MAX], dv[FREEDOM_MAX];
    qp_rigid rigid[RIGIDS_MAX];
    qp_block block[BLOCKS_MAX];
    qp_contact contact[CONTACTS_MAX];
    columns column[CONTACTS_MAX][2];
    qp_bound bound[FREEDOM_MAX];
    qp_blocks *solver;
    double dt;
} mixed;

static mixed s;

static void begin(model m, double dt)
{
    memset(&s, 0, sizeof s);
    s.model = m;
    s.dt = dt;
    articulated_options options = {.gravity = {0, 0, -9.81}, .step_s = dt, .use_damping = true};
    s.tree = articulated_create(&s.model, &options);
    s.solver = qp_blocks_create((qp_blocks_limits){.blocks = BLOCKS_MAX,
                                                   .unknowns = UNKNOWNS_MAX,
                                                   .contacts = CONTACTS_MAX,
                                                   .bounds = FREEDOM_MAX,
                                                   .block_size = FREEDOM_MAX});
    assert_non_null(s.tree);
    assert_non_null(s.solver);
}

static void end(void)
{
    qp_blocks_destroy(s.solver);
    articulated_destroy(s.tree);
    model_free(&s.model);
}

/* The tree as block 0 (its forces have been stepped already: b = 0), rigid bodies after it. */
static void make_blocks(void)
{
    const int32_t *unknowns = articulated_unknowns(s.tree);
    s.freedom = articulated_freedom(s.tree);
    assert_true(s.freedom <= FREEDOM_MAX);
    articulated_mass_matrix(s.tree, s.k);
    for (int i = 0; i < s.freedom; i++)
        s.v[i] = articulated_qd(s.tree)[unknowns[i]];
    s.block[0] = (qp_block){s.freedom, s.k, s.b, s.v, s.dv};
    for (int i = 0; i < s.rigids; i++)
        s.block[1 + i] = qp_rigid_block(&s.rigid[i], s.dt);
    s.blocks = 1 + s.rigids;
}

/* A point of a body of the tree (thing >= 1), a rigid body (thing = -1 - i) or the world (0). */
static void put_point(qp_contact *c, int side, int thing, vec3 point)
{
    columns *to = &s.column[c - s.contact][side];
    c->block[side] = -1;
    c->point[side] = (row_point){.owner = ROW_SCRIPTED};
    if (thing < 0) {
        c->block[side] = -thing;
        c->point[side] = qp_rigid_point(&s.rigid[-thing - 1], point);
    }
    if (thing <= 0)
        return;
    row_point *p = &c->point[side];
    p->joint_count = articulated_jacobian(s.tree, thing, point, FREEDOM_MAX, to->index, to->value);
    assert_true(p->joint_count <= FREEDOM_MAX);
    p->owner = ROW_ARTICULATED;
    p->unknowns = to->index;
    p->joints = to->value;
    for (int i = 0; i < p->joint_count; i++)
        p->velocity = vec3_add_scaled(p->velocity, s.v[to->index[i]], to->value[i]);
    c->block[side] = 0;
}

static void add_contact(uint64_t key, int first, int second, vec3 point, vec3 normal,
                        double clearance, double mu)
{
    qp_contact *c = &s.contact[s.contacts++];
    *c = (qp_contact){.key = key, .normal = normal, .clearance = clearance, .mu = mu};
    put_point(c, 0, first, point);
    put_point(c, 1, second, point);
}

static qp_blocks_info solve(int passes, double tolerance)
{
    qp_blocks_settings settings = qp_blocks_settings_default(s.dt);
    qp_blocks_info info;
    settings.passes = passes;
    settings.tolerance = tolerance;
    assert_int_equal(qp_blocks_solve(s.solver, &settings, s.block, s.blocks, s.contact, s.contacts,
                                     s.bound, s.bounds, &info),
                     HR_OK);
    return info;
}

/* --- the same in dense matrices --------------------------------------------------------------- */

/* Row of the relative velocity along an axis, over all unknowns: the tree's, then the bodies'. */
static void dense_row(const qp_contact *c, vec3 axis, double *row)
{
    memset(row, 0, UNKNOWNS_MAX * sizeof *row);
    for (int side = 0; side < 2; side++) {
        const row_point *p = &c->point[side];
        double sign = side ? -1 : 1;
        if (c->block[side] == 0)
            for (int i = 0; i < p->joint_count; i++)
                row[p->unknowns[i]] += sign * vec3_dot(axis, p->joints[i]);
        if (c->block[side] < 1)
            continue;
        double *at = row + s.freedom + 6L * (c->block[side] - 1);
        vec3 turn = vec3_cross(p->arm, axis);
        double six[6] = {axis.x, axis.y, axis.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < 6; k++)
            at[k] += sign * six[k];
    }
}

static int unknowns(void)
{
    return s.freedom + 6 * s.rigids;
}

/* K x - b of all blocks for x = dv. */
static void dense_residual(double *out)
{
    double *at = out;
    for (int b = 0; b < s.blocks; b++) {
        const qp_block *block = &s.block[b];
        for (int i = 0; i < block->size; i++) {
            *at = -block->b[i];
            for (int j = 0; j < block->size; j++)
                *at += block->k[i * block->size + j] * block->dv[j];
            at++;
        }
    }
}

static double new_velocity(const double *row)
{
    double sum = 0;
    int at = 0;
    for (int b = 0; b < s.blocks; b++)
        for (int i = 0; i < s.block[b].size; i++)
            sum += row[at++] * (s.block[b].v[i] + s.block[b].dv[i]);
    return sum;
}

typedef struct laws {
    double momentum, approach, cone, direction, complementarity, limits;
} laws;

/* How far the result is from every law, relative to the largest impulse and speed. */
static laws check_laws(void)
{
    static double left[UNKNOWNS_MAX], row[UNKNOWNS_MAX];
    laws off = {0};
    double impulse = 1e-9, speed = 0.1; /* m/s, at least */
    for (int b = 0; b < s.blocks; b++)
        for (int i = 0; i < s.block[b].size; i++)
            speed = fmax(speed, fabs(s.block[b].v[i]));
    for (int c = 0; c < s.contacts; c++)
        impulse = fmax(impulse, vec3_length(s.contact[c].impulse));
    dense_residual(left);
    for (int i = 0; i < unknowns(); i++)
        impulse = fmax(impulse, fabs(left[i]));
    for (int b = 0; b < s.blocks; b++)
        for (int i = 0; i < s.block[b].size; i++)
            impulse = fmax(impulse, fabs(s.block[b].b[i]));
    for (int c = 0; c < s.contacts; c++) {
        const qp_contact *k = &s.contact[c];
        vec3 t1 = vec3_any_perpendicular(k->normal), t2 = vec3_cross(k->normal, t1);
        const vec3 axes[3] = {k->normal, t1, t2};
        double u[3], r[3];
        for (int a = 0; a < 3; a++) {
            dense_row(k, axes[a], row);
            u[a] = new_velocity(row);
            r[a] = vec3_dot(k->impulse, axes[a]);
            for (int i = 0; i < unknowns(); i++)
                left[i] -= row[i] * r[a];
        }
        double ut = hypot(u[1], u[2]), rt = hypot(r[1], r[2]),
               gap = u[0] + fmax(k->clearance / s.dt, -ROW_RECOVERY);
        off.approach = fmax(off.approach, -gap / speed);
        off.cone = fmax(off.cone, fmax(-r[0], rt - k->mu * r[0]) / impulse);
        off.complementarity = fmax(off.complementarity, fabs(r[0] * gap) / (impulse * speed));
        /* friction works as much as it can: r_T . u_T = -mu r_n |u_T| */
        double work = r[1] * u[1] + r[2] * u[2] + k->mu * r[0] * ut;
        off.direction = fmax(off.direction, fabs(work) / (impulse * speed));
    }
    /* what is left is the push of joint limits: of the right sign, and only at the limit */
    bool is_bounded[UNKNOWNS_MAX] = {false};
    for (int i = 0; i < s.bounds; i++) {
        const qp_bound *b = &s.bound[i];
        double dv = s.dv[b->unknown], push = left[b->unknown];
        is_bounded[b->unknown] = true;
        if (fabs(push) < 1e-10 * impulse) /* rounding, which a far limit would make large */
            push = 0;
        off.limits = fmax(off.limits, fmax(dv - b->high, b->low - dv) / speed);
        double wrong = push == 0 ? 0 : push > 0 ? push * (dv - b->low) : -push * (b->high - dv);
        off.limits = fmax(off.limits, isfinite(wrong) ? wrong / (impulse * speed) : fabs(push));
    }
    for (int i = 0; i < unknowns(); i++)
        if (!is_bounded[i])
            off.momentum = fmax(off.momentum, fabs(left[i]) / (impulse + 1e-9));
    return off;
}

static double worst_of(laws a)
{
    double worst = fmax(fmax(a.momentum, a.approach), fmax(a.cone, a.direction));
    return fmax(worst, fmax(a.complementarity, a.limits));
}

static void print_laws(const char *name, laws a)
{
    print_message("%s: momentum %.1e, approach %.1e, cone %.1e, direction %.1e, complementarity "
                  "%.1e, limits %.1e\n",
                  name, a.momentum, a.approach, a.cone, a.direction, a.complementarity, a.limits);
}

static laws most(laws a, laws b)
{
    return (laws){fmax(a.momentum, b.momentum),
                  fmax(a.approach, b.approach),
                  fmax(a.cone, b.cone),
                  fmax(a.direction, b.direction),
                  fmax(a.complementarity, b.complementarity),
                  fmax(a.limits, b.limits)};
}

/* --- random scenes -----------------------------------------------------------------------------
 */

static void random_state(test_random *r, double speed)
{
    static double q[FREEDOM_MAX * 2], qd[FREEDOM_MAX * 2];
    assert_true(s.model.q_count <= HR_COUNT(q));
    models_random_coordinates(r, &s.model, q);
    for (int i = 0; i < s.model.v_count; i++)
        qd[i] = test_random_between(r, -speed, speed);
    articulated_set_state(s.tree, q, qd);
    articulated_accelerate(s.tree);
}

static void random_rigids(test_random *r)
{
    s.rigids = test_random_index(r, RIGIDS_MAX);
    for (int i = 0; i < s.rigids; i++) {
        double mass = test_random_between(r, 0.1, 2),
               x = mass * test_random_between(r, 0.001, 0.01);
        s.rigid[i] = (qp_rigid){.mass = mass,
                                .inertia = {{{x, 0, 0}, {0, 1.5 * x, 0}, {0, 0, 1.2 * x}}},
                                .world_from_body = {quat_identity(), test_random_vec3(r, 0.3)},
                                .velocity = {test_random_vec3(r, 1), test_random_vec3(r, 1)},
                                .force = {0, 0, -9.81 * mass}};
    }
}

/* Links against the world, links against each other, links against bodies, bodies against all. */
static void random_contacts(test_random *r, int count, double mu)
{
    s.contacts = 0;
    for (int i = 0; i < count; i++) {
        int first = 1 + test_random_index(r, s.model.body_count - 1), second = 0;
        if (s.rigids > 0 && i % 4 == 1)
            second = -1 - test_random_index(r, s.rigids);
        if (i % 4 == 2)
            second = 1 + test_random_index(r, s.model.body_count - 1);
        if (s.rigids > 0 && i % 4 == 3)
            first = -1 - test_random_index(r, s.rigids);
        if (first == second)
            second = 0;
        vec3 at = first > 0 ? articulated_body_pose(s.tree, first).origin
                            : s.rigid[-first - 1].world_from_body.origin;
        vec3 normal = vec3_normalize_or(test_random_vec3(r, 1), (vec3){0, 0, 1});
        add_contact((uint64_t)i + 1, first, second, vec3_add(at, test_random_vec3(r, 0.1)), normal,
                    test_random_index(r, 2) ? 0.0 : test_random_between(r, 0, 1e-3),
                    mu > 0 ? test_random_between(r, 0, mu) : 0.0);
    }
}

static void random_bounds(test_random *r)
{
    s.bounds = 0;
    for (int i = 0; i < s.freedom; i += 1 + test_random_index(r, 4)) {
        contact_row limit;
        double at = test_random_between(r, 0, 1);
        contact_row_joint_limit(&limit, 1, i, at, s.v[i], 0, 1, s.dt, 1.0);
        s.bound[s.bounds++] = (qp_bound){
            .key = (uint64_t)i + 1, .block = 0, .unknown = i, .low = limit.low, .high = limit.high};
    }
}

static model random_model(test_random *r, int trial)
{
    model m;
    if (trial % 4 == 0)
        assert_int_equal(model_make_wooden_man(
                             (wooden_man_options){.is_floating = trial % 8, .damping = 0.1}, &m),
                         HR_OK);
    else if (trial % 4 == 1) {
        hr_error error;
        assert_int_equal(urdf_load("config/scenes/allegro_hand/allegro_right_hand.urdf",
                                   (urdf_options){0}, &m, &error),
                         HR_OK);
    } else
        m = models_random(r, 3 + test_random_index(r, 16), 1 + trial % 3, MODELS_ALL_TYPES,
                          trial % 2);
    return m;
}

static void random_scene(test_random *r, int trial, double mu)
{
    begin(random_model(r, trial), 1e-3);
    random_state(r, 1.0);
    random_rigids(r);
    make_blocks();
    for (int i = 0; i < s.freedom; i++)
        s.b[i] = test_random_between(r, -1e-2, 1e-2);
    random_contacts(r, 1 + test_random_index(r, 16), mu);
    random_bounds(r);
}

/* --- projected Gauss-Seidel ----------------------------------------------------------------------
 */

static double inverse[UNKNOWNS_MAX * UNKNOWNS_MAX];

/* Gauss-Jordan on the blocks; they are positive definite. */
static void invert_blocks(void)
{
    int n = unknowns(), at = 0;
    memset(inverse, 0, sizeof inverse);
    for (int b = 0; b < s.blocks; at += s.block[b].size, b++) {
        int size = s.block[b].size;
        static double a[FREEDOM_MAX * 2 * FREEDOM_MAX];
        for (int i = 0; i < size; i++)
            for (int j = 0; j < 2 * size; j++)
                a[i * 2 * size + j] = j < size ? s.block[b].k[i * size + j] : i == j - size;
        for (int p = 0; p < size; p++) {
            double pivot = a[p * 2 * size + p];
            assert_true(pivot > 0);
            for (int j = 0; j < 2 * size; j++)
                a[p * 2 * size + j] /= pivot;
            for (int i = 0; i < size; i++) {
                double factor = a[i * 2 * size + p];
                for (int j = 0; j < 2 * size && i != p; j++)
                    a[i * 2 * size + j] -= factor * a[p * 2 * size + j];
            }
        }
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                inverse[(at + i) * n + at + j] = a[i * 2 * size + size + j];
    }
}

typedef struct sweep_row {
    double row[UNKNOWNS_MAX], response[UNKNOWNS_MAX];
    double high, own, lambda;
} sweep_row;

static sweep_row rows[CONTACTS_MAX + 2 * FREEDOM_MAX];

static int sweep_rows(void)
{
    int count = 0, n = unknowns();
    for (int c = 0; c < s.contacts; c++) {
        sweep_row *r = &rows[count++];
        dense_row(&s.contact[c], vec3_scale(-1.0, s.contact[c].normal), r->row);
        double now = 0;
        int at = 0;
        for (int b = 0; b < s.blocks; b++)
            for (int i = 0; i < s.block[b].size; i++)
                now += r->row[at++] * s.block[b].v[i];
        r->high = s.contact[c].clearance / s.dt - now;
    }
    for (int i = 0; i < s.bounds; i++)
        for (int side = -1; side <= 1; side += 2) {
            sweep_row *r = &rows[count++];
            memset(r->row, 0, sizeof r->row);
            r->row[s.bound[i].unknown] = side;
            r->high = side > 0 ? s.bound[i].high : -s.bound[i].low;
        }
    for (int k = 0; k < count; k++) {
        rows[k].lambda = rows[k].own = 0;
        for (int i = 0; i < n; i++) {
            rows[k].response[i] = 0;
            for (int j = 0; j < n; j++)
                rows[k].response[i] += inverse[i * n + j] * rows[k].row[j];
            rows[k].own += rows[k].row[i] * rows[k].response[i];
        }
    }
    return count;
}

/* dv of the frictionless problem, sweep after sweep until nothing changes. */
static bool sweep(double *dv)
{
    int n = unknowns(), count;
    invert_blocks();
    count = sweep_rows();
    static double b[UNKNOWNS_MAX];
    double *at = b;
    for (int k = 0; k < s.blocks; k++)
        for (int i = 0; i < s.block[k].size; i++)
            *at++ = s.block[k].b[i];
    for (int i = 0; i < n; i++) {
        dv[i] = 0;
        for (int j = 0; j < n; j++)
            dv[i] += inverse[i * n + j] * b[j];
    }
    for (int round = 0; round < 200000; round++) {
        double change = 0;
        for (int k = 0; k < count; k++) {
            sweep_row *r = &rows[k];
            double over = -r->high;
            for (int i = 0; i < n; i++)
                over += r->row[i] * dv[i];
            if (r->own <= 0 || !isfinite(r->high))
                continue;
            double lambda = fmax(0.0, r->lambda + over / r->own), step = lambda - r->lambda;
            r->lambda = lambda;
            for (int i = 0; i < n && step != 0; i++)
                dv[i] -= step * r->response[i];
            change = fmax(change, fabs(step) * r->own);
        }
        if (change < 1e-13)
            return true;
    }
    return false;
}

static void without_friction_gauss_seidel_agrees(void **state)
{
    (void)state;
    test_random r = test_random_seed(301);
    double worst = 0;
    int compared = 0, trials = test_effort(40);
    for (int trial = 0; trial < trials; trial++) {
        static double dv[UNKNOWNS_MAX];
        random_scene(&r, trial, 0.0);
        qp_blocks_info info = solve(4, 1e-12);
        if (info.fallbacks == 0 && sweep(dv)) {
            const double *at = dv;
            compared++;
            for (int b = 0; b < s.blocks; b++)
                for (int i = 0; i < s.block[b].size; i++)
                    worst = fmax(worst, fabs(s.block[b].dv[i] - *at++));
        }
        end();
    }
    print_message("%d of %d compared, worst difference %.1e\n", compared, trials, worst);
    assert_true(worst < 1e-7);
    assert_true(compared > trials / 2);
}

static void results_obey_the_laws_of_contact(void **state)
{
    (void)state;
    test_random r = test_random_seed(302);
    laws all = {0};
    int fallbacks = 0, loose = 0, trials = test_effort(60);
    for (int trial = 0; trial < trials; trial++) {
        random_scene(&r, trial, 0.6);
        qp_blocks_info info = solve(100, 1e-13);
        laws one = check_laws();
        fallbacks += info.fallbacks > 0;
        if (info.fallbacks == 0) {
            all = most(all, one);
            loose += worst_of(one) > 1e-6;
        }
        end();
    }
    print_laws("worst", all);
    print_message("%d of %d had no solution (limits against contacts), %d off by more than 1e-6\n",
                  fallbacks, trials, loose);
    assert_true(all.momentum < 1e-9);
    assert_true(all.cone < 1e-6);
    assert_true(all.limits < 1e-7);
    assert_true(worst_of(all) < 1e-3);
    assert_true(loose * 10 <= trials);
    assert_true(fallbacks * 4 <= trials);
}

/* --- steps -------------------------------------------------------------------------------------
 */

/* The wooden man, every link a ball, drops on a floor where a heavy ball lies. */
static void a_man_falls_on_a_floor(void **state)
{
    (void)state;
    const double radius = 0.04, ball = 0.15, dt = 1e-3, margin = 0.02;
    model man;
    assert_int_equal(
        model_make_wooden_man((wooden_man_options){.is_floating = true, .damping = 0.5}, &man),
        HR_OK);
    begin(man, dt);
    s.rigids = 1;
    double inertia = 0.4 * 5 * ball * ball;
    s.rigid[0] = (qp_rigid){.mass = 5,
                            .inertia = mat3_scale(inertia, mat3_identity()),
                            .world_from_body = {quat_identity(), {0, 0, -1.1 + ball}},
                            .force = {0, 0, -5 * 9.81}};
    const double floor = -1.1;
    double energy = (double)INFINITY, rise = 0, deepest = 0, touched = 0;
    int fallbacks = 0, iterations = 0, both = 0, steps = test_effort(700);
    laws all = {0};
    for (int step = 0; step < steps; step++) {
        articulated_step_velocity(s.tree);
        make_blocks();
        s.contacts = 0;
        vec3 centre = s.rigid[0].world_from_body.origin, up = {0, 0, 1};
        for (int b = 1; b < s.model.body_count && s.contacts < CONTACTS_MAX - 2; b++) {
            vec3 at = articulated_body_pose(s.tree, b).origin;
            double height = at.z - floor - radius;
            deepest = fmax(deepest, -height);
            if (height < margin)
                add_contact((uint64_t)b, b, 0, vec3_add_scaled(at, -radius, up), up, height, 0.5);
            vec3 way = vec3_sub(at, centre);
            double gap = vec3_length(way) - radius - ball;
            vec3 normal = vec3_normalize_or(way, up);
            if (gap < margin) {
                add_contact(1000 + (uint64_t)b, b, -1, vec3_add_scaled(at, -radius, normal), normal,
                            gap, 0.3);
                both++;
            }
        }
        add_contact(5000, -1, 0, vec3_add_scaled(centre, -ball, up), up, centre.z - floor - ball,
                    0.5);
        touched = fmax(touched, s.contacts);
        qp_blocks_info info = solve(4, 1e-7);
        fallbacks += info.fallbacks;
        iterations += info.iterations;
        all = most(all, check_laws());
        articulated_add_velocity(s.tree, s.dv);
        articulated_step_place(s.tree);
        qp_rigid_advance(&s.rigid[0], dt);
        double now = articulated_kinetic_energy(s.tree) + articulated_potential_energy(s.tree) +
                     qp_rigid_kinetic_energy(&s.rigid[0]) +
                     5 * 9.81 * s.rigid[0].world_from_body.origin.z;
        rise = isfinite(energy) ? fmax(rise, now - energy) : 0;
        energy = now;
    }
    print_laws("every step", all);
    print_message("%d steps, at most %.0f contacts (%d with the ball), %.1f iterations a step, %d "
                  "fallbacks, depth %.1f um, largest rise of energy %.2g J\n",
                  steps, touched, both, (double)iterations / steps, fallbacks, 1e6 * deepest, rise);
    assert_true(touched > 6);
    assert_true(fallbacks * 1000 <= steps);
    assert_true(deepest < 50e-6); /* the skin */
    assert_true(all.momentum < 1e-8);
    assert_true(all.approach < 2e-2); /* at impacts four passes leave the speeds a little off */
    assert_true(rise <
                0.5); /* of 800 J: half a step of the leapfrog lies between the two energies */
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_friction_gauss_seidel_agrees),
        cmocka_unit_test(results_obey_the_laws_of_contact),
        cmocka_unit_test(a_man_falls_on_a_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
