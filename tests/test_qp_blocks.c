/* Rigid and articulated bodies, islands and friction in the contact programme. */
#include "tests/test.h"

#include <string.h>

#include "solver/qp_rigid.h"

static const double gravity = 9.81;

static qp_rigid box(double mass, vec3 half, vec3 place, quat turn)
{
    double s = mass / 3, x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    return (qp_rigid){.mass = mass,
                      .inertia = {{{s * (y + z), 0, 0}, {0, s * (x + z), 0}, {0, 0, s * (x + y)}}},
                      .world_from_body = {turn, place}};
}

static vec3 corner(vec3 half, int k)
{
    return (vec3){k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z};
}

/* A corner against a resting plane through the origin. */
static qp_contact on_plane(const qp_rigid *b, int block, vec3 local, vec3 normal, uint64_t key,
                           double mu)
{
    vec3 p = pose_apply(b->world_from_body, local);
    return (qp_contact){.key = key,
                        .block = {block, -1},
                        .point = {qp_rigid_point(b, p)},
                        .normal = normal,
                        .clearance = vec3_dot(p, normal),
                        .mu = mu};
}

static qp_blocks *workspace(void)
{
    qp_blocks *s = qp_blocks_create((qp_blocks_limits){
        .blocks = 8, .unknowns = 48, .contacts = 64, .bounds = 8, .block_size = 6});
    assert_non_null(s);
    return s;
}

static void step(qp_blocks *s, qp_rigid *bodies, int count, qp_contact *contacts, int n,
                 const qp_blocks_settings *settings, qp_blocks_info *info)
{
    qp_block blocks[8] = {0};
    for (int i = 0; i < count; i++)
        blocks[i] = qp_rigid_block(&bodies[i], settings->dt);
    assert_int_equal(qp_blocks_solve(s, settings, blocks, count, contacts, n, NULL, 0, info),
                     HR_OK);
    for (int i = 0; i < count; i++)
        qp_rigid_advance(&bodies[i], settings->dt);
}

/* Down a slope of 30 degrees: g (sin - mu cos), or rest where mu > tan. */
static double slide(double mu, int passes, double *lift)
{
    const double angle = 3.14159265358979323846 / 6, time = 0.4, dt = 1e-3;
    vec3 half = {0.05, 0.03, 0.02}, normal = {-sin(angle), 0, cos(angle)};
    vec3 down = {-cos(angle), 0, -sin(angle)};
    quat turn = quat_from_rotation_vector((vec3){0, -angle, 0});
    qp_rigid b = box(0.5, half, vec3_scale(half.z, normal), turn);
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(dt);
    settings.passes = passes;
    *lift = 0;
    for (int i = 0; i < (int)lround(time / dt); i++) {
        qp_contact contacts[4];
        qp_blocks_info info;
        for (int k = 0; k < 4; k++)
            contacts[k] = on_plane(&b, 0, corner(half, k), normal, (uint64_t)k + 1, mu);
        b.force = (vec3){0, 0, -b.mass * gravity};
        step(s, &b, 1, contacts, 4, &settings, &info);
        assert_int_equal(info.fallbacks, 0);
        *lift = fmax(*lift, vec3_dot(b.world_from_body.origin, normal) - half.z);
    }
    qp_blocks_destroy(s);
    return vec3_dot(b.velocity.linear, down) / time;
}

static void a_block_slides_and_sticks_as_coulomb_says(void **state)
{
    (void)state;
    double lift, angle = 3.14159265358979323846 / 6;
    assert_near(slide(0.0, 4, &lift), gravity * sin(angle), 1e-6);
    assert_near(slide(0.3, 4, &lift), gravity * (sin(angle) - 0.3 * cos(angle)), 1e-3);
    assert_true(lift < 1e-6); /* 0.0001 mm after four solves, and more here */
    assert_near(slide(0.5, 4, &lift), gravity * (sin(angle) - 0.5 * cos(angle)), 1e-3);
    assert_near(slide(0.7, 4, &lift), 0.0, 1e-6);
    /* the switch is at tan 30 = 0.57735, within one per cent of mu */
    assert_true(slide(0.99 * tan(angle), 4, &lift) > 1e-3);
    assert_near(slide(1.01 * tan(angle), 4, &lift), 0.0, 1e-6);
}

static void more_passes_lift_a_sliding_block_less(void **state)
{
    (void)state;
    double one, two;
    slide(0.3, 1, &one);
    slide(0.3, 2, &two);
    print_message("lift %.4f mm with one programme a step, %.5f mm with two\n", 1e3 * one,
                  1e3 * two);
    assert_true(two <= one);
    assert_true(one < 0.3e-3);
}

/* Eight contacts on twelve unknowns, four of them dependent in pairs. */
static void two_stacked_boxes_rest(void **state)
{
    (void)state;
    vec3 half = {0.1, 0.1, 0.05}, up = {0, 0, 1};
    qp_rigid b[2] = {box(2, half, (vec3){0, 0, 0.05}, quat_identity()),
                     box(1, half, (vec3){0, 0, 0.15}, quat_identity())};
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(2e-3);
    qp_blocks_info info = {0};
    double weight = 0;
    for (int i = 0; i < 1000; i++) {
        qp_contact contacts[8];
        for (int k = 0; k < 4; k++) {
            contacts[k] = on_plane(&b[0], 0, corner(half, k), up, (uint64_t)k + 1, 0.5);
            vec3 p = pose_apply(b[1].world_from_body, corner(half, k));
            vec3 q = pose_apply(b[0].world_from_body, corner(half, k + 4));
            contacts[4 + k] =
                (qp_contact){.key = (uint64_t)k + 5,
                             .block = {1, 0},
                             .point = {qp_rigid_point(&b[1], p), qp_rigid_point(&b[0], p)},
                             .normal = up,
                             .clearance = p.z - q.z,
                             .mu = 0.5};
        }
        for (int k = 0; k < 2; k++)
            b[k].force = (vec3){0, 0, -b[k].mass * gravity};
        step(s, b, 2, contacts, 8, &settings, &info);
        assert_int_equal(info.islands, 1);
        assert_int_equal(info.fallbacks, 0);
        weight = 0;
        for (int k = 0; k < 4; k++)
            weight += contacts[k].impulse.z / settings.dt;
    }
    assert_near(weight, 3 * gravity, 1e-6); /* the split over corners is not unique, the sum is */
    for (int k = 0; k < 2; k++) {
        assert_vec3_near(b[k].world_from_body.origin, ((vec3){0, 0, 0.05 + 0.1 * k}), 1e-6);
        assert_near(vec3_length(b[k].velocity.linear), 0.0, 1e-6);
    }
    qp_blocks_destroy(s);
}

/* Two cards lean against each other; friction on the floor holds their feet. */
static void a_card_house_stands_for_ten_seconds(void **state)
{
    (void)state;
    const double lean = 0.3, length = 0.05, dt = 2e-3; /* half length */
    vec3 half = {5e-4, 0.03, length};
    qp_rigid cards[2];
    for (int k = 0; k < 2; k++) {
        double side = k ? 1.0 : -1.0;
        quat turn = quat_from_rotation_vector((vec3){0, -side * lean, 0});
        /* the inner top edge is over x = 0, the inner bottom edge on the floor */
        vec3 top = quat_rotate(turn, (vec3){-side * half.x, 0, half.z});
        vec3 foot = quat_rotate(turn, (vec3){-side * half.x, 0, -half.z});
        cards[k] = box(0.01, half, (vec3){-top.x, 0, -foot.z}, turn);
    }
    pose start[2] = {cards[0].world_from_body, cards[1].world_from_body};
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(dt);
    double drift = 0;
    int steps = test_effort((int)lround(10 / dt)), fallbacks = 0;
    for (int i = 0; i < steps; i++) {
        qp_contact contacts[6];
        for (int k = 0; k < 2; k++) {
            double side = k ? 1.0 : -1.0;
            for (int e = 0; e < 2; e++)
                contacts[2 * k + e] =
                    on_plane(&cards[k], k, (vec3){-side * half.x, e ? half.y : -half.y, -half.z},
                             (vec3){0, 0, 1}, (uint64_t)(2 * k + e) + 1, 0.6);
            cards[k].force = (vec3){0, 0, -cards[k].mass * gravity};
        }
        for (int e = 0; e < 2; e++) {
            vec3 p =
                pose_apply(cards[0].world_from_body, (vec3){half.x, e ? half.y : -half.y, half.z});
            vec3 q =
                pose_apply(cards[1].world_from_body, (vec3){-half.x, e ? half.y : -half.y, half.z});
            contacts[4 + e] =
                (qp_contact){.key = 5 + (uint64_t)e,
                             .block = {0, 1},
                             .point = {qp_rigid_point(&cards[0], p), qp_rigid_point(&cards[1], q)},
                             .normal = {-1, 0, 0},
                             .clearance = q.x - p.x,
                             .mu = 0.6};
        }
        qp_blocks_info info;
        step(s, cards, 2, contacts, 6, &settings, &info);
        fallbacks += info.fallbacks;
        for (int k = 0; k < 2; k++)
            drift = fmax(drift, vec3_distance(cards[k].world_from_body.origin, start[k].origin));
    }
    print_message("drift %.3g mm in %d steps, %d fallbacks\n", 1e3 * drift, steps, fallbacks);
    assert_true(drift < 1e-4);
    assert_true(fallbacks * 1000 <= steps);
    qp_blocks_destroy(s);
}

/* Three bodies, two of which touch: two islands, and the lone one falls as if alone. */
static void bodies_that_do_not_touch_are_solved_apart(void **state)
{
    (void)state;
    vec3 half = {0.1, 0.1, 0.1};
    qp_rigid b[3];
    for (int i = 0; i < 3; i++) {
        b[i] = box(1, half, (vec3){0, 0, 0.2 * i + 0.1}, quat_identity());
        b[i].force = (vec3){0, 0, -gravity};
    }
    qp_contact contacts[2] = {on_plane(&b[0], 0, (vec3){0, 0, -0.1}, (vec3){0, 0, 1}, 1, 0)};
    vec3 p = {0, 0, 0.2};
    contacts[1] = (qp_contact){.key = 2,
                               .block = {1, 0},
                               .normal = {0, 0, 1},
                               .point = {qp_rigid_point(&b[1], p), qp_rigid_point(&b[0], p)}};
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(1e-3);
    qp_blocks_info info;
    step(s, b, 3, contacts, 2, &settings, &info);
    assert_int_equal(info.islands, 2);
    assert_int_equal(qp_blocks_islands(s)[1], 0);
    assert_int_equal(qp_blocks_islands(s)[2], 2);
    assert_near(b[0].velocity.linear.z, 0.0, 1e-12);
    assert_near(b[1].velocity.linear.z, 0.0, 1e-12);
    assert_near(b[2].velocity.linear.z, -gravity * 1e-3, 1e-15);
    qp_blocks_destroy(s);
}

/* Between two walls that close in faster than recovery allows: no solution, a stop, no explosion.
 */
static void a_tool_wedged_by_closing_planes_stops(void **state)
{
    (void)state;
    qp_rigid b = box(0.2, (vec3){0.02, 0.02, 0.02}, (vec3){0, 0, 0}, quat_identity());
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(1e-3);
    qp_blocks_info info;
    for (int i = 0; i < 200; i++) {
        double gap = 0.001 - 0.2e-3 * i; /* converging planes, and a push into the wedge */
        qp_contact contacts[2];
        for (int k = 0; k < 2; k++) {
            double side = k ? 1.0 : -1.0;
            vec3 n = {side * cos(0.2), 0, sin(0.2)};
            vec3 p = vec3_add_scaled(b.world_from_body.origin, -0.02, n);
            contacts[k] =
                (qp_contact){.key = (uint64_t)k + 1,
                             .block = {0, -1},
                             .normal = n,
                             .point = {qp_rigid_point(&b, p), {.velocity = vec3_scale(0.2, n)}},
                             .clearance = gap};
            contacts[k].point[1].velocity.z = 0;
        }
        b.force = (vec3){0, 0, -20};
        step(s, &b, 1, contacts, 2, &settings, &info);
        assert_true(vec3_length(b.velocity.linear) < 2.0);
        assert_true(vec3_is_finite(b.world_from_body.origin));
    }
    /* squeezed from both sides along one line there is no way out at all */
    qp_contact line[2];
    for (int k = 0; k < 2; k++) {
        vec3 n = {k ? 1.0 : -1.0, 0, 0};
        line[k] = (qp_contact){.key = (uint64_t)k + 1,
                               .block = {0, -1},
                               .normal = n,
                               .point = {qp_rigid_point(&b, b.world_from_body.origin),
                                         {.velocity = vec3_scale(0.2, n)}},
                               .clearance = 0};
    }
    b.velocity = (twist){{0.3, 0, -0.5}, {0, 0, 0}};
    step(s, &b, 1, line, 2, &settings, &info);
    assert_int_equal(info.fallbacks, 1);
    assert_near(vec3_length(b.velocity.linear), 0.0, 1e-9);
    qp_blocks_destroy(s);
}

/* --- a chain of three links in a plane, rods without mass, weights at the ends ---------------- */

enum { LINKS = 3 };
static const double link_length = 0.3, link_mass = 0.5, floor_height = -0.7;

typedef struct chain {
    double q[LINKS], qd[LINKS];
    double h[LINKS * LINKS], b[LINKS], dv[LINKS];
    vec3 tip[LINKS], velocity[LINKS], joints[LINKS][LINKS];
} chain;

/* x right, z up; relative angles from hanging straight down. */
static void chain_update(chain *c, double dt)
{
    double angle = 0, rate = 0;
    vec3 place = {0, 0, 0}, speed = {0, 0, 0}, bend = {0, 0, 0}, bends[LINKS], base[LINKS];
    for (int i = 0; i < LINKS; i++) {
        base[i] = place;
        angle += c->q[i];
        rate += c->qd[i];
        vec3 along = {link_length * sin(angle), 0, -link_length * cos(angle)};
        place = vec3_add(place, along);
        speed = vec3_add(speed, vec3_scale(rate, (vec3){-along.z, 0, along.x}));
        bend = vec3_add_scaled(bend, -rate * rate, along);
        c->tip[i] = place;
        c->velocity[i] = speed;
        bends[i] = bend;
    }
    for (int i = 0; i < LINKS; i++)
        for (int k = 0; k < LINKS; k++) {
            vec3 arm = vec3_sub(c->tip[i], base[k]);
            c->joints[i][k] = k <= i ? (vec3){-arm.z, 0, arm.x} : (vec3){0, 0, 0};
        }
    for (int k = 0; k < LINKS; k++) {
        c->b[k] = 0;
        for (int l = 0; l < LINKS; l++)
            c->h[k * LINKS + l] = k == l ? 1e-4 : 0.0; /* rotors */
        for (int i = 0; i < LINKS; i++) {
            vec3 pull = vec3_sub((vec3){0, 0, -gravity}, bends[i]);
            c->b[k] += dt * link_mass * vec3_dot(c->joints[i][k], pull);
            for (int l = 0; l < LINKS; l++)
                c->h[k * LINKS + l] += link_mass * vec3_dot(c->joints[i][k], c->joints[i][l]);
        }
    }
}

static double chain_energy(const chain *c)
{
    double energy = 0;
    for (int i = 0; i < LINKS; i++)
        energy += link_mass * (gravity * c->tip[i].z + 0.5 * vec3_length_squared(c->velocity[i])) +
                  0.5e-4 * c->qd[i] * c->qd[i];
    return energy;
}

static void a_chain_falls_on_a_floor_and_within_its_limits(void **state)
{
    (void)state;
    const double dt = 1e-3, limit = 1.2;
    chain c = {.q = {1.1, 0.3, 0.4}};
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(dt);
    settings.passes = 1;
    double deepest = 0, iterations = 0, most = 0;
    chain_update(&c, dt);
    double start = chain_energy(&c);
    for (int step_index = 0; step_index < 3000; step_index++) {
        qp_block block = {LINKS, c.h, c.b, c.qd, c.dv};
        qp_contact contacts[LINKS];
        qp_bound bounds[LINKS];
        for (int i = 0; i < LINKS; i++) {
            contacts[i] = (qp_contact){.key = (uint64_t)i + 1,
                                       .block = {0, -1},
                                       .normal = {0, 0, 1},
                                       .clearance = c.tip[i].z - floor_height};
            contacts[i].point[0] = (row_point){.owner = ROW_ARTICULATED,
                                               .velocity = c.velocity[i],
                                               .joint_count = LINKS,
                                               .joints = c.joints[i]};
            contact_row row;
            contact_row_joint_limit(&row, (uint64_t)i + 1, i, c.q[i], c.qd[i], -limit, limit, dt,
                                    1.0);
            bounds[i] = (qp_bound){(uint64_t)i + 1, 0, i, row.low, row.high, 0};
        }
        qp_blocks_info info;
        assert_int_equal(
            qp_blocks_solve(s, &settings, &block, 1, contacts, LINKS, bounds, LINKS, &info), HR_OK);
        assert_int_equal(info.fallbacks, 0);
        for (int i = 0; i < LINKS; i++) {
            c.qd[i] += c.dv[i];
            c.q[i] += dt * c.qd[i];
            assert_true(fabs(c.q[i]) <= limit + 1e-9);
        }
        chain_update(&c, dt);
        for (int i = 0; i < LINKS; i++)
            deepest = fmax(deepest, floor_height - c.tip[i].z);
        iterations += info.iterations / 3000.0;
        most = fmax(most, info.iterations);
        assert_true(chain_energy(&c) <= start + 1e-3 * fabs(start));
    }
    print_message("penetration %.2g um, iterations %.2f mean, %.0f most, energy %.3f -> %.3f\n",
                  1e6 * deepest, iterations, most, start, chain_energy(&c));
    assert_true(deepest < 20e-6); /* the floor is flat: what is left is the turning of the links */
    qp_blocks_destroy(s);
}

static void any_budget_keeps_a_falling_box_above_the_floor(void **state)
{
    (void)state;
    vec3 half = {0.1, 0.07, 0.05};
    for (int budget = 0; budget < 8; budget++) {
        qp_rigid b =
            box(1, half, (vec3){0, 0, 0.2}, quat_from_rotation_vector((vec3){0.3, 0.2, 0}));
        b.velocity.angular = (vec3){2, 1, 0};
        qp_blocks *s = workspace();
        qp_blocks_settings settings = qp_blocks_settings_default(1e-3);
        settings.budget.iterations = budget;
        qp_blocks_info info;
        double lowest = 1;
        for (int i = 0; i < 600; i++) {
            qp_contact contacts[8];
            for (int k = 0; k < 8; k++) { /* the skin is part of the clearance */
                contacts[k] =
                    on_plane(&b, 0, corner(half, k), (vec3){0, 0, 1}, (uint64_t)k + 1, 0.3);
                contacts[k].clearance -= settings.skin;
            }
            b.force = (vec3){0, 0, -b.mass * gravity};
            step(s, &b, 1, contacts, 8, &settings, &info);
            for (int k = 0; k < 8; k++)
                lowest = fmin(lowest, pose_apply(b.world_from_body, corner(half, k)).z);
        }
        /* turning moves a corner by half (w dt)^2 of its arm beside the linear row: 1 um here */
        assert_true(lowest > -5e-6);
        qp_blocks_destroy(s);
    }
}

/* Deep inside the floor at steps where the skin is worth less than the speed of recovery: the stop
 * breaks the row, the solution does not, so it is the solution that counts. */
static void a_body_inside_a_wall_comes_out(void **state)
{
    (void)state;
    vec3 half = {0.05, 0.05, 0.05};
    for (double dt = 1e-3; dt < 20e-3; dt *= 2) {
        qp_rigid b = box(1, half, (vec3){0, 0, 0.04}, quat_identity());
        qp_blocks *s = workspace();
        qp_blocks_settings settings = qp_blocks_settings_default(dt);
        qp_blocks_info info;
        double fed = 0;
        for (int i = 0; i < (int)(0.5 / dt); i++) {
            qp_contact contacts[4];
            for (int k = 0; k < 4; k++)
                contacts[k] =
                    on_plane(&b, 0, corner(half, k), (vec3){0, 0, 1}, (uint64_t)k + 1, 0.4);
            b.force = (vec3){0, 0, -b.mass * gravity};
            step(s, &b, 1, contacts, 4, &settings, &info);
            assert_int_equal(info.fallbacks, 0);
            assert_true(b.velocity.linear.z <= settings.recovery + 1e-12);
            fed += info.recovery_energy;
        }
        assert_near(b.world_from_body.origin.z, 0.05, 1e-9);
        assert_true(fed >= b.mass * gravity * 0.01); /* at least the height that was won */
        qp_blocks_destroy(s);
    }
}

static void bad_contacts_are_refused_and_everything_stops(void **state)
{
    (void)state;
    qp_rigid b = box(1, (vec3){0.1, 0.1, 0.1}, (vec3){0, 0, 0.1}, quat_identity());
    b.velocity.linear = (vec3){1, 2, 3};
    qp_blocks *s = workspace();
    qp_blocks_settings settings = qp_blocks_settings_default(1e-3);
    qp_blocks_info info;
    qp_block block = qp_rigid_block(&b, 1e-3);
    qp_contact c = on_plane(&b, 0, (vec3){0, 0, -0.1}, (vec3){0, 0, 1}, 1, 0);
    c.clearance = (double)NAN;
    assert_int_equal(qp_blocks_solve(s, &settings, &block, 1, &c, 1, NULL, 0, &info),
                     HR_ERR_NOT_FINITE);
    assert_near(b.dv[2], -3.0, 0.0);
    c.clearance = 0;
    c.block[0] = 1;
    assert_int_equal(qp_blocks_solve(s, &settings, &block, 1, &c, 1, NULL, 0, &info),
                     HR_ERR_ARGUMENT);
    /* too many, points off their block, half a normal, a negative friction */
    qp_block many[9];
    for (int i = 0; i < 9; i++)
        many[i] = block;
    b.dv[2] = 0;
    assert_int_equal(qp_blocks_solve(s, &settings, many, 9, &c, 1, NULL, 0, &info),
                     HR_ERR_CAPACITY);
    assert_near(b.dv[2], -3.0, 0.0);
    for (int k = 0; k < 4; k++) {
        qp_contact bad = on_plane(&b, 0, (vec3){0, 0, -0.1}, (vec3){0, 0, 1}, 1, 0);
        const int far[] = {7};
        const vec3 column[] = {{0, 0, 1}};
        if (k == 0)
            bad.point[0].first = 1;
        if (k == 1)
            bad.point[0] = (row_point){
                .owner = ROW_ARTICULATED, .joint_count = 1, .unknowns = far, .joints = column};
        if (k == 2)
            bad.normal.z = 0.5;
        if (k == 3)
            bad.mu = -0.1;
        b.dv[2] = 0;
        assert_int_equal(qp_blocks_solve(s, &settings, &block, 1, &bad, 1, NULL, 0, &info),
                         HR_ERR_ARGUMENT);
        assert_near(b.dv[2], -3.0, 0.0);
    }
    qp_blocks_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_slides_and_sticks_as_coulomb_says),
        cmocka_unit_test(more_passes_lift_a_sliding_block_less),
        cmocka_unit_test(two_stacked_boxes_rest),
        cmocka_unit_test(a_card_house_stands_for_ten_seconds),
        cmocka_unit_test(bodies_that_do_not_touch_are_solved_apart),
        cmocka_unit_test(a_tool_wedged_by_closing_planes_stops),
        cmocka_unit_test(a_chain_falls_on_a_floor_and_within_its_limits),
        cmocka_unit_test(any_budget_keeps_a_falling_box_above_the_floor),
        cmocka_unit_test(a_body_inside_a_wall_comes_out),
        cmocka_unit_test(bad_contacts_are_refused_and_everything_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
