/* Rows of the contact programme: each is the derivative of the clearance it guards. */
#include "tests/test.h"

#include "collide/closest.h"
#include "solver/contact_rows.h"

static const double dt = 1e-3;
static const row_step step = {1e-3, ROW_RECOVERY};

/* The row's left side for the velocity change of the points' particles. */
static double left_side(const contact_row *row, const vec3 *dv)
{
    const double *flat = &dv[0].x;
    double sum = 0;
    for (int i = 0; i < row->count; i++)
        sum += row->value[i] * flat[row->index[i]];
    return sum;
}

static row_point particle(int i, vec3 velocity)
{
    return (row_point){.owner = ROW_PARTICLE, .first = 3 * i, .velocity = velocity};
}

/* high - J dv is the clearance after the step over dt, by the row's own geometry: for fixed normal
 * and weights the gap is linear, so the identity holds to rounding. */
static void a_vertex_triangle_row_is_the_clearance_after_the_step(void **state)
{
    (void)state;
    test_random r = test_random_seed(1);
    for (int trial = 0; trial < test_effort(1000); trial++) {
        vec3 x[4], v[4], dv[4];
        row_point p[4];
        for (int i = 0; i < 4; i++) {
            x[i] = test_random_vec3(&r, 0.1);
            v[i] = test_random_vec3(&r, 0.5);
            dv[i] = test_random_vec3(&r, 0.5);
            p[i] = particle(i, v[i]);
        }
        double w[3] = {0.2, 0.3, 0.5}, radius = 0.01;
        int side = 1;
        vec3 n = contact_normal_triangle(x[0], x + 1, &side);
        vec3 on = {0, 0, 0}, on_after = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            on = vec3_add_scaled(on, w[k], x[k + 1]);
            vec3 after = vec3_add_scaled(x[k + 1], dt, vec3_add(v[k + 1], dv[k + 1]));
            on_after = vec3_add_scaled(on_after, w[k], after);
        }
        double h = vec3_dot(vec3_sub(x[0], on), n) - radius;
        vec3 after = vec3_add_scaled(x[0], dt, vec3_add(v[0], dv[0]));
        double h_after = vec3_dot(vec3_sub(after, on_after), n) - radius;
        contact_row row;
        contact_row_vertex_triangle(&row, 1, &p[0], p + 1, w, n, h, step);
        if (h < -dt * ROW_RECOVERY) /* bounded recovery */
            assert_near(row.high, -ROW_RECOVERY - row.rate, 1e-12);
        else
            assert_near((row.high - left_side(&row, dv)) * dt, h_after, 1e-12);
    }
}

static void an_edge_edge_row_is_the_clearance_after_the_step(void **state)
{
    (void)state;
    test_random r = test_random_seed(2);
    for (int trial = 0; trial < test_effort(1000); trial++) {
        vec3 x[4], v[4], dv[4];
        row_point p[4];
        for (int i = 0; i < 4; i++) {
            x[i] = test_random_vec3(&r, 0.1);
            v[i] = test_random_vec3(&r, 0.5);
            dv[i] = test_random_vec3(&r, 0.5);
            p[i] = particle(i, v[i]);
        }
        closest_pair c = closest_segments(x[0], x[1], x[2], x[3]);
        double a = c.weights[1], b = c.weights[3], gap, radius = 1e-3;
        vec3 n = contact_normal_edges(c.on_first, c.on_second, vec3_sub(x[1], x[0]),
                                      vec3_sub(x[3], x[2]), (vec3){0, 0, 0}, &gap);
        assert_near(gap, sqrt(c.distance_squared), 1e-12);
        vec3 after[4];
        for (int i = 0; i < 4; i++)
            after[i] = vec3_add_scaled(x[i], dt, vec3_add(v[i], dv[i]));
        double h_after =
            vec3_dot(vec3_sub(vec3_lerp(after[0], after[1], a), vec3_lerp(after[2], after[3], b)),
                     n) -
            radius;
        contact_row row;
        contact_row_edge_edge(&row, 1, p, a, p + 2, b, n, gap - radius, step);
        if (gap - radius >= -dt * ROW_RECOVERY)
            assert_near((row.high - left_side(&row, dv)) * dt, h_after, 1e-12);
    }
}

/* The true distance of moving edges, by finite differences of the nearest points. */
static void the_edge_row_is_the_derivative_of_the_distance(void **state)
{
    (void)state;
    test_random r = test_random_seed(3);
    for (int trial = 0; trial < test_effort(300); trial++) {
        vec3 x[4], d[4], moved[4];
        row_point p[4];
        for (int i = 0; i < 4; i++) {
            x[i] = test_random_vec3(&r, 0.1);
            d[i] = test_random_vec3(&r, 1);
            p[i] = particle(i, (vec3){0, 0, 0});
        }
        closest_pair c = closest_segments(x[0], x[1], x[2], x[3]);
        if (c.distance_squared < 1e-6)
            continue;
        double e = 1e-7, distance[2], gap;
        for (int s = 0; s < 2; s++) {
            for (int i = 0; i < 4; i++)
                moved[i] = vec3_add_scaled(x[i], s ? e : -e, d[i]);
            distance[s] =
                sqrt(closest_segments(moved[0], moved[1], moved[2], moved[3]).distance_squared);
        }
        contact_row row;
        vec3 n = contact_normal_edges(c.on_first, c.on_second, vec3_sub(x[1], x[0]),
                                      vec3_sub(x[3], x[2]), (vec3){0, 0, 0}, &gap);
        contact_row_edge_edge(&row, 1, p, c.weights[1], p + 2, c.weights[3], n, gap, step);
        assert_near(-left_side(&row, d), (distance[1] - distance[0]) / (2 * e), 1e-5);
        /* moving apart makes the left side negative */
        vec3 apart[4] = {n, n, {0, 0, 0}, {0, 0, 0}};
        assert_near(left_side(&row, apart), -1.0, 1e-12);
    }
}

static void strain_rows_are_derivatives_of_the_length(void **state)
{
    (void)state;
    test_random r = test_random_seed(4);
    for (int trial = 0; trial < test_effort(300); trial++) {
        vec3 x[2], d[2];
        row_point p[2];
        for (int i = 0; i < 2; i++) {
            x[i] = test_random_vec3(&r, 0.1);
            d[i] = test_random_vec3(&r, 1);
            p[i] = particle(i, (vec3){0, 0, 0});
        }
        vec3 along = vec3_sub(x[0], x[1]);
        double length = vec3_length(along), e = 1e-8;
        if (length < 1e-2)
            continue;
        vec3 n = vec3_scale(1 / length, along);
        contact_row longest, shortest;
        contact_row_longest(&longest, 1, &p[0], &p[1], n, length, 1.02 * length, dt);
        contact_row_shortest(&shortest, 2, &p[0], &p[1], n, length, 0.9 * length, dt);
        double rate =
            (vec3_distance(vec3_add_scaled(x[0], e, d[0]), vec3_add_scaled(x[1], e, d[1])) -
             vec3_distance(vec3_add_scaled(x[0], -e, d[0]), vec3_add_scaled(x[1], -e, d[1]))) /
            (2 * e);
        assert_near(left_side(&longest, d), rate, 1e-6);
        assert_near(left_side(&shortest, d), -rate, 1e-6);
        assert_near(longest.high, 0.02 * length / dt, 1e-9);
        assert_near(shortest.high, 0.1 * length / dt, 1e-9);
    }
}

/* A rigid body's point moves with v + w x p. */
static void a_rigid_point_row_is_the_velocity_of_the_point(void **state)
{
    (void)state;
    test_random r = test_random_seed(5);
    vec3 dv[2] = {test_random_vec3(&r, 1), test_random_vec3(&r, 1)};
    vec3 arm = test_random_vec3(&r, 0.1), n = vec3_normalize_or(test_random_vec3(&r, 1), arm);
    row_point p = {.owner = ROW_RIGID, .first = 0, .arm = arm};
    contact_row row;
    contact_row_begin(&row, 1);
    contact_row_point(&row, &p, -1.0, n);
    assert_near(left_side(&row, dv), -vec3_dot(n, vec3_add(dv[0], vec3_cross(dv[1], arm))), 1e-12);
}

static void two_points_of_one_body_share_its_unknowns(void **state)
{
    (void)state;
    row_point p[2] = {{.owner = ROW_PARTICLE, .first = 3}, {.owner = ROW_PARTICLE, .first = 3}};
    contact_row row;
    contact_row_edge_scripted(&row, 1, p, 0.3, (vec3){0, 0, 0.5}, (vec3){0, 0, 1}, 0.0, step);
    assert_int_equal(row.count, 1);
    assert_near(row.value[0], -1.0, 1e-15);
    assert_near(row.high, -0.5, 1e-15); /* the mover pushes: dv_z >= 0.5 */
}

static void the_side_of_a_triangle_is_remembered(void **state)
{
    (void)state;
    vec3 triangle[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int side = 0;
    vec3 n = contact_normal_triangle((vec3){0.2, 0.2, -0.1}, triangle, &side);
    assert_near(n.z, -1.0, 0.0);
    n = contact_normal_triangle((vec3){0.2, 0.2, 0.1}, triangle, &side); /* went through */
    assert_near(n.z, -1.0, 0.0);
}

static void crossing_edges_keep_their_normal(void **state)
{
    (void)state;
    double gap;
    vec3 x = {1, 0, 0}, y = {0, 1, 0};
    vec3 n =
        contact_normal_edges((vec3){0, 0, 1e-9}, (vec3){0, 0, 0}, x, y, (vec3){0, 0, -1}, &gap);
    assert_near(n.z, -1.0, 0.0); /* too close for a direction: the last one */
    n = contact_normal_edges((vec3){0, 0, -0.01}, (vec3){0, 0, 0}, x, y, (vec3){0, 0, 1}, &gap);
    assert_near(n.z, 1.0, 1e-12); /* went through: penetration, not a new side */
    assert_near(gap, -0.01, 1e-12);
    n = contact_normal_edges((vec3){0, 0, 0}, (vec3){0, 0, 0}, x, y, (vec3){0, 0, 0}, &gap);
    assert_near(fabs(n.z), 1.0, 1e-12); /* nothing known: the cross product */
}

static void joint_limits_bound_the_joint_after_the_step(void **state)
{
    (void)state;
    contact_row row;
    contact_row_joint_limit(&row, 1, 4, 0.9, 2.0, -1, 1, 0.1, 0.5);
    assert_near(row.high, (1 - 0.9) / 0.1 - 2.0, 1e-12);
    assert_near(row.low, (-1 - 0.9) / 0.1 - 2.0, 1e-12);
    contact_row_joint_limit(&row, 1, 4, 1.5, 0.0, -1, 1, 0.1, 0.5); /* far beyond: 0.5 rad/s back */
    assert_near(row.high, -0.5, 1e-12);
}

static void rows_that_ask_for_nothing_are_left_out(void **state)
{
    (void)state;
    qp *q = qp_create((qp_limits){.variables = 3, .rows = 4});
    const double k[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_int_equal(qp_set_dense(q, 3, k), HR_OK);
    row_point held[2] = {{.owner = ROW_SCRIPTED}, {.owner = ROW_SCRIPTED}};
    contact_row row;
    qp_rows_begin(q);
    contact_row_edge_scripted(&row, 1, held, 0.5, (vec3){0, 0, 0}, (vec3){0, 0, 1}, 1.0, step);
    assert_int_equal(contact_row_emit(&row, q), HR_OK);
    assert_int_equal(qp_row_count(q), 0);
    contact_row_edge_scripted(&row, 1, held, 0.5, (vec3){0, 0, 9}, (vec3){0, 0, 1}, 0.0, step);
    assert_int_equal(contact_row_emit(&row, q), HR_ERR_INFEASIBLE);
    row_point p[2] = {particle(0, (vec3){0, 0, 0}), particle(0, (vec3){0, 0, 0})};
    contact_row_edge_scripted(&row, 1, p, 0.5, (vec3){0, 0, 0}, (vec3){0, 0, 1}, 0.0, step);
    assert_int_equal(contact_row_emit(&row, q), HR_OK);
    contact_row_fixed(&row, 2, 1, 0.25, 1.0);
    assert_int_equal(contact_row_emit(&row, q), HR_OK);
    assert_int_equal(qp_set_b(q, (const double[]){0, 0, -1}), HR_OK);
    qp_info info;
    assert_int_equal(qp_solve(q, (qp_budget){.iterations = -1}, &info), QP_OPTIMAL);
    assert_near(qp_x(q)[1], 0.75, 1e-12);
    assert_near(qp_x(q)[2], 0.0, 1e-12);
    qp_destroy(q);
}

/* The nearest point of a segment to a sphere has a closed form. */
static void an_edge_finds_the_nearest_point_of_a_shape(void **state)
{
    (void)state;
    test_random r = test_random_seed(6);
    shape ball = {.kind = SHAPE_SPHERE, .radius = 0.03};
    for (int trial = 0; trial < test_effort(200); trial++) {
        pose p = test_random_pose(&r, 0.1);
        vec3 a = test_random_vec3(&r, 0.1), b = test_random_vec3(&r, 0.1);
        double t;
        shape_contact contact;
        closest_pair c = closest_point_segment(p.origin, a, b);
        assert_true(contact_edge_shape(&ball, p, a, b, 1.0, &t, &contact));
        assert_near(contact.gap, sqrt(c.distance_squared) - 0.03, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vertex_triangle_row_is_the_clearance_after_the_step),
        cmocka_unit_test(an_edge_edge_row_is_the_clearance_after_the_step),
        cmocka_unit_test(the_edge_row_is_the_derivative_of_the_distance),
        cmocka_unit_test(strain_rows_are_derivatives_of_the_length),
        cmocka_unit_test(a_rigid_point_row_is_the_velocity_of_the_point),
        cmocka_unit_test(two_points_of_one_body_share_its_unknowns),
        cmocka_unit_test(the_side_of_a_triangle_is_remembered),
        cmocka_unit_test(crossing_edges_keep_their_normal),
        cmocka_unit_test(joint_limits_bound_the_joint_after_the_step),
        cmocka_unit_test(rows_that_ask_for_nothing_are_left_out),
        cmocka_unit_test(an_edge_finds_the_nearest_point_of_a_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
