#include <string.h>

#include "collide/ccd_step.h"
#include "tests/support/ccd_models.h"

/* The counting allocator becomes part of this program alone. */
#include "tests/conformance/allocations.c"

enum { Q_MAX = 256, ROOM = 1 << 16 };

/* A scene with its bodies, and the last result. */
typedef struct stage {
    int count;
    model models[4];
    ccd_body *bodies[4];
    ccd_scene *scene;
    ccd_limits limits;
    ccd_result result;
} stage;

static stage *stage_create(void)
{
    stage *s = calloc(1, sizeof *s);
    s->scene = ccd_scene_create(4096, ROOM);
    s->limits = ccd_limits_default();
    return s;
}

/* Takes over the model. */
static int stage_add(stage *s, model *m, pose base, assembly_shape shape)
{
    int i = s->count++;
    s->models[i] = *m;
    *m = (model){0};
    s->bodies[i] = ccd_body_create(&s->models[i], shape, base);
    assert_non_null(s->bodies[i]);
    assert_int_equal(ccd_scene_add(s->scene, s->bodies[i]), i);
    return i;
}

static void stage_destroy(stage *s)
{
    for (int i = 0; i < s->count; i++) {
        ccd_body_destroy(s->bodies[i]);
        model_free(&s->models[i]);
    }
    ccd_scene_destroy(s->scene);
    free(s);
}

static ccd_status run(stage *s)
{
    assert_int_equal(ccd_step(s->scene, &s->limits, &s->result), HR_OK);
    return s->result.status;
}

static mesh triangle_mesh(vec3 a, vec3 b, vec3 c)
{
    mesh m;
    assert_int_equal(mesh_allocate(3, 1, &m), HR_OK);
    m.vertices[0] = a;
    m.vertices[1] = b;
    m.vertices[2] = c;
    m.triangles[0][0] = 0;
    m.triangles[0][1] = 1;
    m.triangles[0][2] = 2;
    return m;
}

static mesh box_mesh(double x, double y, double z)
{
    mesh m;
    assert_int_equal(mesh_make_box((vec3){x, y, z}, &m), HR_OK);
    return m;
}

/* One jointed link and one resting object. */
static stage *stage_pair(joint_type type, vec3 axis, double pitch, mesh moving, mesh resting,
                         pose rest_pose)
{
    stage *s = stage_create();
    model m;
    ccd_model_jointed(type, axis, pitch, &moving, &m);
    stage_add(s, &m, pose_identity(), ASSEMBLY_BALANCED);
    ccd_model_single(&resting, &m);
    stage_add(s, &m, rest_pose, ASSEMBLY_BALANCED);
    return s;
}

static pose at(double x, double y, double z)
{
    return (pose){{1, 0, 0, 0}, {x, y, z}};
}

/* toc is never later than the closed form, and at toc the gap is at most the tolerance: for a gap
 * that closes at `speed` (m per step) that is a time. */
static void assert_toc(const stage *s, double exact, double speed)
{
    double early = exact - s->result.toc;
    if (s->result.status != CCD_CONTACT || early < -1e-13 ||
        early > 1.01 * s->limits.tolerance / speed + 1e-12)
        fail_msg("%s at %.17g, closed form %.17g", ccd_status_name(s->result.status), s->result.toc,
                 exact);
}

/* --- closed forms ----------------------------------------------------------------------------- */

static void a_turning_rod_meets_a_plane_at_the_arc_sine(void **state)
{
    (void)state;
    const double length = 1.5, height = 0.4, turn = 0.8;
    stage *s = stage_pair(JOINT_REVOLUTE, (vec3){0, 1, 0}, 0,
                          triangle_mesh((vec3){0, 0, 0}, (vec3){length, 0, 0}, (vec3){1, 0.1, 0}),
                          triangle_mesh((vec3){-9, -9, 0}, (vec3){9, -9, 0}, (vec3){0, 9, 0}),
                          at(0, 0, -height));
    assert_int_equal(ccd_body_move(s->bodies[0], &turn), HR_OK);

    run(s);

    double angle = asin(height / length);
    assert_toc(s, angle / turn, length * turn * cos(angle));
    assert_true(s->result.contact_count >= 1);
    assert_near(s->result.contacts[0].point[0].z, -height, 2e-6);
    assert_near(fabs(s->result.contacts[0].normal.z), 1, 1e-3);
    stage_destroy(s);
}

static void several_turns_are_several_turns(void **state)
{
    (void)state;
    const double turn = 40 * M_PI; /* 20 turns; the plate stands at a quarter of the first */
    stage *s = stage_pair(JOINT_REVOLUTE, (vec3){0, 0, 1}, 0,
                          triangle_mesh((vec3){0, 0, 0}, (vec3){1, 0, 0}, (vec3){1, 0, 0.1}),
                          triangle_mesh((vec3){0, 0.5, -1}, (vec3){0, 0.9, 1}, (vec3){0, 0.5, 1}),
                          pose_identity());
    assert_int_equal(ccd_body_move(s->bodies[0], &turn), HR_OK);

    run(s);

    assert_toc(s, 0.25 / 20, turn * 0.5);
    stage_destroy(s);
}

static void a_pusher_meets_a_box_where_the_gap_closes(void **state)
{
    (void)state;
    const double travel = 2.0;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, box_mesh(0.2, 0.2, 0.2),
                          box_mesh(0.2, 1, 1), at(1.2, 0.03, 0.04));
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);

    run(s);

    assert_toc(s, 1.0 / travel, travel); /* centres 1.2 apart, half widths 0.1 + 0.1 */
    stage_destroy(s);
}

static void a_screw_advances_by_its_pitch(void **state)
{
    (void)state;
    const double turn = 6 * M_PI, pitch = 0.05, height = 0.6;
    stage *s = stage_pair(JOINT_SCREW, (vec3){0, 0, 1}, pitch, box_mesh(0.3, 0.2, 0.1),
                          box_mesh(2, 2, 0.1), at(0, 0, height));
    assert_int_equal(ccd_body_move(s->bodies[0], &turn), HR_OK);

    run(s);

    assert_toc(s, (height - 0.1) / (pitch * turn), pitch * turn);
    stage_destroy(s);
}

/* Two links of length 1 swing from straight down toward a wall: the tip is first at x = wall. */
static void a_double_pendulum_meets_a_wall(void **state)
{
    (void)state;
    const double wall = 0.9, q1[2] = {0.5, 0.7};
    stage *s = stage_create();
    model m = {0};
    mesh first = triangle_mesh((vec3){0, 0, 0}, (vec3){0, 0, -1}, (vec3){0, 0.05, -0.5});
    mesh second = triangle_mesh((vec3){0, 0, 0}, (vec3){0, 0, -1}, (vec3){0, 0.05, -0.5});
    model_joint joint = {.type = JOINT_REVOLUTE,
                         .axis = {0, -1, 0},
                         .mimic = -1,
                         .parent_from_joint = pose_identity()};
    model_add_link(&m, "base", -1, NULL);
    model_add_link(&m, "upper", 0, &joint);
    joint.parent_from_joint.origin.z = -1;
    model_add_link(&m, "lower", 1, &joint);
    model_add_collision(&m, (model_shape){1, model_add_mesh(&m, &first), pose_identity()});
    model_add_collision(&m, (model_shape){2, model_add_mesh(&m, &second), pose_identity()});
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    stage_add(s, &m, pose_identity(), ASSEMBLY_BALANCED);
    mesh side = triangle_mesh((vec3){0, -9, -9}, (vec3){0, 9, -9}, (vec3){0, 0, 9});
    ccd_model_single(&side, &m);
    stage_add(s, &m, at(wall, 0, 0), ASSEMBLY_BALANCED);
    assert_int_equal(ccd_body_move(s->bodies[0], q1), HR_OK);

    run(s);

    double low = 0, high = 1; /* sin(0.5 t) + sin(1.2 t) = wall, by bisection */
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (low + high);
        *(sin(0.5 * t) + sin(1.2 * t) < wall ? &low : &high) = t;
    }
    assert_toc(s, low, 0.5 * cos(0.5 * low) + 1.2 * cos(1.2 * low));
    stage_destroy(s);
}

/* --- ends, rest and degenerate input ---------------------------------------------------------- */

static void contact_at_the_last_instant_is_found(void **state)
{
    (void)state;
    const double travel = 1.0;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, box_mesh(0.5, 0.5, 0.5),
                          box_mesh(0.5, 0.5, 0.5), at(1.5, 0, 0));
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);
    run(s);
    assert_toc(s, 1.0, travel);
    stage_destroy(s);
}

static void contact_at_the_start_is_initial_and_complete(void **state)
{
    (void)state;
    const double travel = 0.5;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, box_mesh(1, 1, 1), box_mesh(1, 1, 1),
                          at(1, 0, 0));
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);

    assert_int_equal(run(s), CCD_INITIAL);

    assert_near(s->result.toc, 0, 0);
    int corners = 0; /* the four corners of the common face are all there */
    for (int i = 0; i < s->result.contact_count; i++) {
        vec3 p = s->result.contacts[i].point[0];
        corners += fabs(fabs(p.y) - 0.5) < 1e-9 && fabs(fabs(p.z) - 0.5) < 1e-9;
    }
    assert_true(corners >= 4);
    stage_destroy(s);
}

static void bodies_in_contact_that_part_are_let_go(void **state)
{
    (void)state;
    const double away = -0.5;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, box_mesh(1, 1, 1), box_mesh(1, 1, 1),
                          at(1 + 5e-7, 0, 0));
    s->limits.separation = 1e-6;
    assert_int_equal(ccd_body_move(s->bodies[0], &away), HR_OK);

    assert_int_equal(run(s), CCD_INITIAL);
    assert_true(s->result.contacts[0].is_separating);
    s->limits.lets_go = true;
    assert_int_equal(run(s), CCD_FREE);

    const double nearer = 0.5;
    assert_int_equal(ccd_body_move(s->bodies[0], &nearer), HR_OK);
    assert_int_equal(run(s), CCD_INITIAL);
    stage_destroy(s);
}

static void nothing_that_moves_costs_next_to_nothing(void **state)
{
    (void)state;
    test_random r = test_random_seed(50);
    stage *s = stage_create();
    model m;
    ccd_model_chain(&r, 200, (vec3){0.9, 0.1, 0.1}, &m);
    stage_add(s, &m, pose_identity(), ASSEMBLY_BALANCED);

    assert_int_equal(run(s), CCD_FREE);

    assert_int_equal(s->result.counters.node_updates, 0);
    assert_int_equal(s->result.counters.box_tests + s->result.counters.broad_tests, 0);
    stage_destroy(s);
}

static void coordinates_too_large_for_the_tolerance_are_refused(void **state)
{
    (void)state;
    const double travel = 2.0;
    mesh moving = box_mesh(0.2, 0.2, 0.2), resting = box_mesh(0.2, 1, 1);
    for (int i = 0; i < moving.vertex_count; i++)
        moving.vertices[i].y += 1e9; /* rounding 1e-7 of a metre and more */
    for (int i = 0; i < resting.vertex_count; i++)
        resting.vertices[i].y += 1e9;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, moving, resting, at(1.2, 0, 0));
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);

    ccd_status status = run(s);

    assert_true(status == CCD_REFUSED || (status == CCD_CONTACT && s->result.toc <= 0.5));
    stage_destroy(s);
}

static void empty_and_degenerate_meshes_are_handled(void **state)
{
    (void)state;
    const double travel = 2.0;
    vec3 p = {0.1, 0, 0};
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0,
                          triangle_mesh(p, p, (vec3){0.1, 0.1, 0}), /* a segment */
                          triangle_mesh((vec3){0, -1, -1}, (vec3){0, 1, -1}, (vec3){0, 0, 1}),
                          at(1.1, 0, 0));
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);
    run(s);
    assert_toc(s, 0.5, travel);
    stage_destroy(s);
}

/* --- random scenes against dense sampling ----------------------------------------------------- */

/* Distance of all unfiltered link pairs at a time, over all triangle pairs. */
static double brute_distance(const stage *s, double t)
{
    double best = (double)INFINITY;
    for (int x = 0; x < s->count; x++)
        for (int y = x; y < s->count; y++) {
            const assembly_tree *tx = ccd_body_tree(s->bodies[x]),
                                *ty = ccd_body_tree(s->bodies[y]);
            for (int p = 0; p < tx->part_count; p++)
                for (int q = x == y ? p + 1 : 0; q < ty->part_count; q++) {
                    const obb_tree *a = ccd_body_triangles(s->bodies[x], p);
                    const obb_tree *b = ccd_body_triangles(s->bodies[y], q);
                    if (!a || !b ||
                        !ccd_scene_tests(s->scene, x, tx->parts[p].body, y, ty->parts[q].body))
                        continue;
                    rigid wa = ccd_body_part_at(s->bodies[x], p, t);
                    rigid wb = ccd_body_part_at(s->bodies[y], q, t);
                    rigid back = rigid_inverse(&wa), rel = rigid_compose(&back, &wb);
                    for (int i = 0; i < a->triangle_count * b->triangle_count; i++) {
                        const vec3 *u = a->triangles[i / b->triangle_count].corners;
                        vec3 v[3];
                        for (int k = 0; k < 3; k++)
                            v[k] =
                                rigid_apply(&rel, b->triangles[i % b->triangle_count].corners[k]);
                        for (int k = 0; k < 3; k++) {
                            best = fmin(
                                best,
                                closest_point_triangle(u[k], v[0], v[1], v[2]).distance_squared);
                            best = fmin(
                                best,
                                closest_point_triangle(v[k], u[0], u[1], u[2]).distance_squared);
                            for (int l = 0; l < 3; l++)
                                best = fmin(best, closest_segments(u[k], u[(k + 1) % 3], v[l],
                                                                   v[(l + 1) % 3])
                                                      .distance_squared);
                        }
                    }
                }
        }
    return sqrt(best);
}

/* First sampled time with distance <= s before `until`, or 2. */
static double first_sampled_contact(const stage *s, double until, int samples)
{
    for (int i = 0; i <= samples; i++) {
        double t = until * i / samples;
        if (brute_distance(s, t) <= s->limits.separation)
            return t;
    }
    return 2;
}

static stage *random_stage(test_random *r)
{
    stage *s = stage_create();
    double q[Q_MAX];
    for (int i = 0; i < 2; i++) {
        model m;
        ccd_model_chain(r, 3, (vec3){0.8, 0.2, 0.2}, &m);
        int n = m.q_count;
        stage_add(s, &m, i ? at(test_random_between(r, 0.2, 1.8), 0.45, 0.35) : pose_identity(),
                  ASSEMBLY_BALANCED);
        for (int k = 0; k < n; k++)
            q[k] = test_random_between(r, -0.8, 0.8);
        assert_int_equal(ccd_body_place(s->bodies[i], q), HR_OK);
        for (int k = 0; k < n; k++)
            q[k] += test_random_between(r, -0.9, 0.9);
        assert_int_equal(ccd_body_move(s->bodies[i], q), HR_OK);
    }
    s->limits.tolerance = 1e-5;
    return s;
}

static void random_chains_agree_with_dense_sampling(void **state)
{
    (void)state;
    test_random r = test_random_seed(51);
    int counts[5] = {0};
    for (int round = 0; round < test_effort(40); round++) {
        stage *s = random_stage(&r);
        ccd_status status = run(s);
        counts[status]++;
        double toc = s->result.toc;
        if (status == CCD_FREE) {
            assert_true(first_sampled_contact(s, 1, 300) > 1);
        } else if (status == CCD_CONTACT) {
            assert_true(first_sampled_contact(s, toc * (1 - 1e-9), 300) > 1); /* safe prefix */
            assert_true(brute_distance(s, toc) <=
                        s->limits.separation + s->limits.tolerance + 1e-12);
        } else {
            assert_int_equal(status, CCD_INITIAL);
            assert_true(brute_distance(s, 0) <= s->limits.tolerance);
        }
        stage_destroy(s);
    }
    print_message("%d free, %d contacts, %d initial\n", counts[CCD_FREE], counts[CCD_CONTACT],
                  counts[CCD_INITIAL]);
    if (test_effort(40) == 40)
        assert_true(counts[CCD_FREE] >= 5 && counts[CCD_CONTACT] >= 5);
}

/* --- properties ------------------------------------------------------------------------------- */

/* Status and toc do not depend on where the scene stands, on the order of the bodies or on the
 * shape of the assembly tree. */
static void the_answer_does_not_depend_on_the_frame_or_the_tree(void **state)
{
    (void)state;
    test_random r = test_random_seed(52);
    for (int round = 0; round < test_effort(60); round++) {
        pose world[3] = {pose_identity(), test_random_pose(&r, 3), test_random_pose(&r, 3)};
        uint64_t seed = test_random_u64(&r);
        double toc[3] = {0};
        ccd_status status[3];
        for (int k = 0; k < 3; k++) {
            test_random same = {seed};
            stage *s = stage_create();
            double q[Q_MAX];
            for (int i = 0; i < 2; i++) {
                model m;
                ccd_model_chain(&same, 4, (vec3){0.8, 0.2, 0.2}, &m);
                int n = m.q_count;
                pose base = pose_compose(world[k], at(i * 1.3, i * 0.7, i * 0.5));
                stage_add(s, &m, base, (assembly_shape)k);
                for (int j = 0; j < n; j++)
                    q[j] = test_random_between(&same, -0.5, 0.5);
                assert_int_equal(ccd_body_place(s->bodies[i], q), HR_OK);
                for (int j = 0; j < n; j++)
                    q[j] += test_random_between(&same, -0.5, 0.5);
                assert_int_equal(ccd_body_move(s->bodies[i], q), HR_OK);
            }
            status[k] = run(s);
            toc[k] = s->result.toc;
            stage_destroy(s);
        }
        for (int k = 1; k < 3; k++) {
            assert_int_equal(status[k], status[0]);
            assert_near(toc[k], toc[0], 2e-5); /* delta over the slowest approach seen */
        }
    }
}

static void a_larger_separation_is_never_later(void **state)
{
    (void)state;
    test_random r = test_random_seed(53);
    for (int round = 0; round < test_effort(40); round++) {
        stage *s = random_stage(&r);
        double before = 2;
        for (int k = 0; k < 5; k++) {
            s->limits.separation = k * 2e-3;
            ccd_status status = run(s);
            double toc = status == CCD_FREE ? 2 : s->result.toc;
            assert_true(toc <= before);
            before = toc;
        }
        stage_destroy(s);
    }
}

/* Joints that are told to move but stay where they are change nothing but the cost. */
static void locked_joints_and_joints_that_stay_are_the_same(void **state)
{
    (void)state;
    test_random r = test_random_seed(54);
    for (int round = 0; round < test_effort(40); round++) {
        uint64_t seed = test_random_u64(&r);
        double toc[2];
        ccd_status status[2];
        for (int k = 0; k < 2; k++) {
            test_random same = {seed};
            stage *s = random_stage(&same);
            double q[Q_MAX];
            int all[2] = {1, 2}, one[1] = {1};
            memcpy(q, ccd_body_coordinates(s->bodies[0]), 2 * sizeof *q);
            q[0] += 0.7;
            assert_int_equal(ccd_body_move_joints(s->bodies[0], k ? all : one, k ? 2 : 1, q),
                             HR_OK);
            status[k] = run(s);
            toc[k] = s->result.toc;
            stage_destroy(s);
        }
        assert_int_equal(status[0], status[1]);
        assert_near(toc[0], toc[1], 0);
    }
}

static void any_budget_leaves_a_safe_prefix(void **state)
{
    (void)state;
    test_random r = test_random_seed(55);
    for (int round = 0; round < test_effort(30); round++) {
        stage *s = random_stage(&r);
        ccd_status full = run(s);
        double exact = full == CCD_FREE ? 1 : s->result.toc, before = 0;
        for (int64_t budget = 1; budget <= 1000000; budget *= 10) {
            s->limits.budget = budget;
            run(s);
            assert_true(s->result.toc >= before && s->result.toc <= exact);
            before = s->result.toc;
        }
        assert_near(before, exact, 0);
        stage_destroy(s);
    }
}

static void too_little_room_is_a_budget(void **state)
{
    (void)state;
    test_random r = test_random_seed(56);
    stage *s = random_stage(&r);
    ccd_scene *small = ccd_scene_create(1, 1);
    ccd_result *out = calloc(1, sizeof *out);
    for (int i = 0; i < s->count; i++)
        assert_int_equal(ccd_scene_add(small, s->bodies[i]), i);
    run(s);
    assert_int_equal(ccd_step(small, &s->limits, out), HR_OK);
    assert_true(out->toc <= s->result.toc);
    free(out);
    ccd_scene_destroy(small);
    stage_destroy(s);
}

static void a_filter_that_drops_everything_gives_free(void **state)
{
    (void)state;
    const double travel = 2.0;
    stage *s = stage_pair(JOINT_PRISMATIC, (vec3){1, 0, 0}, 0, box_mesh(0.2, 0.2, 0.2),
                          box_mesh(0.2, 1, 1), at(1.2, 0, 0));
    assert_int_equal(ccd_scene_filter(s->scene, 0, 1, 1, 0, false), HR_OK);
    assert_int_equal(ccd_scene_filter(s->scene, 0, 9, 1, 0, false), HR_ERR_ARGUMENT);
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);
    assert_int_equal(run(s), CCD_FREE);
    stage_destroy(s);
}

/* A thin rod thrown through a thin plate, up to 100 m per step with up to ten turns: it must never
 * pass. The rod starts on one side of the plate's plane and ends on the other, its centre crossing
 * well inside the plate. */
static void nothing_tunnels(void **state)
{
    (void)state;
    test_random r = test_random_seed(57);
    int hits = 0, throws = test_effort(1000);
    stage *s = stage_pair(JOINT_FLOATING, (vec3){0, 0, 1}, 0, box_mesh(0.3, 0.002, 0.002),
                          box_mesh(1, 1, 1e-4), pose_identity());
    for (int i = 0; i < throws; i++) {
        double q0[7], q1[7], speed = test_random_between(&r, 0.5, 50);
        quat a = quat_from_rotation_vector(test_random_vec3(&r, 3));
        quat b = quat_from_rotation_vector(test_random_vec3(&r, 3));
        double x = test_random_between(&r, -0.3, 0.3), y = test_random_between(&r, -0.3, 0.3);
        memcpy(q0, (double[]){x, y, 0.2 + speed, a.w, a.x, a.y, a.z}, sizeof q0);
        memcpy(q1, (double[]){x, y, -0.2 - speed, b.w, b.x, b.y, b.z}, sizeof q1);
        assert_int_equal(ccd_body_place(s->bodies[0], q0), HR_OK);
        assert_int_equal(ccd_body_move(s->bodies[0], q1), HR_OK);
        hits += run(s) == CCD_CONTACT && s->result.toc <= 0.5;
    }
    print_message("%d of %d throws stopped\n", hits, throws);
    assert_int_equal(hits, throws);
    stage_destroy(s);
}

/* A small ball through a hole in a plate of four bars: no contact. */
static void what_fits_through_a_hole_is_free(void **state)
{
    (void)state;
    mesh ball;
    assert_int_equal(mesh_make_sphere(0.09, 8, 12, &ball), HR_OK);
    stage *s = stage_create();
    model m;
    ccd_model_jointed(JOINT_PRISMATIC, (vec3){0, 0, 1}, 0, &ball, &m);
    stage_add(s, &m, at(0, 0, -1), ASSEMBLY_BALANCED);
    m = (model){0};
    model_add_link(&m, "frame", -1, NULL);
    for (int i = 0; i < 4; i++) {
        mesh bar = i < 2 ? box_mesh(0.2, 1, 0.05) : box_mesh(1, 0.2, 0.05);
        double side = i % 2 ? 0.2 : -0.2;
        model_add_collision(&m, (model_shape){0, model_add_mesh(&m, &bar),
                                              i < 2 ? at(side, 0, 0) : at(0, side, 0)});
    }
    assert_int_equal(model_finish(&m, NULL, NULL), HR_OK);
    stage_add(s, &m, pose_identity(), ASSEMBLY_BALANCED);
    const double travel = 2;
    assert_int_equal(ccd_body_move(s->bodies[0], &travel), HR_OK);
    assert_int_equal(run(s), CCD_FREE);
    stage_destroy(s);
}

static void the_same_step_gives_the_same_bits(void **state)
{
    (void)state;
    test_random r = test_random_seed(58);
    stage *s = random_stage(&r);
    ccd_result *first = calloc(1, sizeof *first);
    run(s);
    *first = s->result;
    run(s);
    assert_memory_equal(first, &s->result, sizeof *first);
    free(first);
    stage_destroy(s);
}

/* A whole step of long chains: moved, searched, stopped at the contact. 300 joints move, more than
 * a library's sort keeps on the stack. Under a sanitizer nothing is counted. */
static void a_step_allocates_nothing(void **state)
{
    (void)state;
    test_random r = test_random_seed(59);
    stage *s = stage_create();
    model m;
    ccd_model_chain(&r, 301, (vec3){0.9, 0.1, 0.1}, &m);
    stage_add(s, &m, pose_identity(), ASSEMBLY_BALANCED);
    double *q1 = calloc((size_t)s->models[0].q_count, sizeof *q1);
    for (int i = 0; i < s->models[0].q_count; i++)
        q1[i] = test_random_between(&r, -0.05, 0.05);
    long before = allocations_of_this_thread();

    hr_status moved = ccd_body_move(s->bodies[0], q1);
    hr_status searched = ccd_step(s->scene, &s->limits, &s->result);
    ccd_body_stop(s->bodies[0], s->result.toc);

    long after = allocations_of_this_thread();
    assert_int_equal(moved, HR_OK);
    assert_int_equal(searched, HR_OK);
    assert_int_equal(after - before, 0);
    free(q1);
    stage_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turning_rod_meets_a_plane_at_the_arc_sine),
        cmocka_unit_test(several_turns_are_several_turns),
        cmocka_unit_test(a_pusher_meets_a_box_where_the_gap_closes),
        cmocka_unit_test(a_screw_advances_by_its_pitch),
        cmocka_unit_test(a_double_pendulum_meets_a_wall),
        cmocka_unit_test(contact_at_the_last_instant_is_found),
        cmocka_unit_test(contact_at_the_start_is_initial_and_complete),
        cmocka_unit_test(bodies_in_contact_that_part_are_let_go),
        cmocka_unit_test(nothing_that_moves_costs_next_to_nothing),
        cmocka_unit_test(coordinates_too_large_for_the_tolerance_are_refused),
        cmocka_unit_test(empty_and_degenerate_meshes_are_handled),
        cmocka_unit_test(random_chains_agree_with_dense_sampling),
        cmocka_unit_test(the_answer_does_not_depend_on_the_frame_or_the_tree),
        cmocka_unit_test(a_larger_separation_is_never_later),
        cmocka_unit_test(locked_joints_and_joints_that_stay_are_the_same),
        cmocka_unit_test(any_budget_leaves_a_safe_prefix),
        cmocka_unit_test(too_little_room_is_a_budget),
        cmocka_unit_test(a_filter_that_drops_everything_gives_free),
        cmocka_unit_test(nothing_tunnels),
        cmocka_unit_test(what_fits_through_a_hole_is_free),
        cmocka_unit_test(the_same_step_gives_the_same_bits),
        cmocka_unit_test(a_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
