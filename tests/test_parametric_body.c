/* Bodies from files: what is joined, what is out, what is convex; and what is refused. */
#include "tests/test.h"

#include <string.h>

#include "geometry/body_draft.h"

static parametric_body load(const char *path)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    return b;
}

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* text with the first `from` behind the first `after` replaced; owned by the caller. */
static char *with(const char *text, const char *after, const char *from, const char *to)
{
    const char *start = strstr(text, after);
    assert_non_null(start);
    const char *at = strstr(start, from);
    assert_non_null(at);
    char *out = calloc(1, strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    snprintf(out, strlen(text) + strlen(to) + 1, "%.*s%s%s", (int)(at - text), text, to,
             at + strlen(from));
    return out;
}

static void expect_refused(const char *text, const char *words)
{
    parametric_body b = {0};
    hr_error error = {""};
    hr_status status = body_parse_json(text, "bad.json", &b, &error);
    if (status == HR_OK)
        fail_msg("accepted, expected: %s", words);
    if (!strstr(error.text, words) || strncmp(error.text, "bad.json:", 9) != 0)
        fail_msg("expected \"%s\", found \"%s\"", words, error.text);
    assert_null(b.faces);
}

static void lemon_has_three_faces_edges_and_two_vertices(void **state)
{
    (void)state;
    parametric_body b = load("tests/data/bodies/lemon_a.json");

    assert_int_equal(b.face_count, 3);
    assert_int_equal(b.edge_count, 3);
    assert_int_equal(b.vertex_count, 2);
    assert_true(b.is_convex && b.is_closed && !b.is_planar);
    assert_near(b.vertices[0].position.z, -1.2, 0);
    for (int f = 0; f < 3; f++) {
        assert_int_equal(b.faces[f].collapsed[SIDE_V0], 0);
        assert_int_equal(b.faces[f].collapsed[SIDE_V1], 1);
        assert_int_equal(b.faces[f].convexity, FACE_CONVEX_PLUS);
        assert_true(b.faces[f].outward > 0);
    }
    assert_int_equal(b.vertices[0].edge_count, 3);
    assert_int_equal(b.vertices[0].collapse_count, 3);
    parametric_body_free(&b);
}

/* Both faces of every edge must give the edge's own point, and the way back its parameter. */
static void edges_lie_on_both_their_faces(void **state)
{
    (void)state;
    static const char *const files[] = {"tests/data/bodies/lemon_a.json",
                                        "tests/data/bodies/lemon_b.json",
                                        "tests/data/bodies/va_patch.json"};
    for (int k = 0; k < HR_COUNT(files); k++) {
        parametric_body b = load(files[k]);
        for (int e = 0; e < b.edge_count; e++)
            for (int which = 0; which < b.edges[e].use_count; which++)
                for (int i = 0; i <= 20; i++) {
                    double t = b.edges[e].low + (b.edges[e].high - b.edges[e].low) * i / 20.0;
                    double uv[2];
                    jet on_edge, on_face;
                    body_edge_jet(&b, e, t, NULL, &on_edge);
                    body_edge_to_face(&b, e, which, t, uv);
                    const body_edge_use *use = &b.edges[e].use[which];
                    body_face_jet(&b, use->face, uv[0], uv[1], NULL, &on_face);
                    assert_vec3_near(on_edge.p, on_face.p, 1e-12);
                    assert_near(body_face_to_edge(&b, use->face, use->side, uv), t, 1e-12);
                }
        parametric_body_free(&b);
    }
}

static void planar_body_is_a_ring_of_curves(void **state)
{
    (void)state;
    parametric_body b = load("tests/data/bodies/planar_a.json");

    assert_true(b.is_planar && b.is_convex);
    assert_int_equal(b.edge_count, 3);
    for (int i = 0; i < 3; i++) {
        jet j;
        body_edge_jet(&b, i, b.edges[i].high, NULL, &j);
        assert_vec3_near(j.p, b.vertices[(i + 1) % 3].position, 1e-15);
        assert_int_equal(b.vertices[i].edge_count, 2);
    }
    parametric_body_free(&b);
}

static void bad_files_are_refused_with_their_place(void **state)
{
    (void)state;
    char *good = text_of("tests/data/bodies/lemon_a.json");
    char *bad = with(good, "\"weights\"", "0.8", "0");
    expect_refused(bad, "patch 0: point [0][1]: expected positive weights, found 0");
    free(bad);
    bad = with(good, "\"weights\"", "0.8", "NaN");
    expect_refused(bad, "expected JSON");
    free(bad);
    bad = with(good, "\"weights\"", "0.8", "1e999");
    expect_refused(bad, "expected JSON");
    free(bad);
    /* The middle of patch 0 pushed in: no longer convex. */
    bad = with(good, "-1.576166234887678", "0.91", "-0.91");
    expect_refused(bad, "expected a convex body");
    free(bad);
    /* The joint of patches 0 and 1 opened on one side. */
    bad = with(good, "-1.212435565298214", "-0.7", "-0.71");
    expect_refused(bad, "expected to meet side u0 of patch 1 (edge 1)");
    free(bad);
    bad = with(good, "\"degree\"", "2", "3");
    expect_refused(bad, "patch 0: expected 4 points for degree 3 (or knots), found 3");
    free(bad);
    bad = with(good, "\"degree\"", "2", "-1");
    expect_refused(bad, "patch 0");
    free(bad);
    bad = with(good, "\"edges\"", "\"u1\"", "\"w1\"");
    expect_refused(bad, "edge 0: expected first and second");
    free(bad);
    bad = with(good, "\"collapsed_sides\"", "\"v0\": 0", "\"u0\": 0");
    expect_refused(bad, "side u0");
    free(bad);
    bad = with(good, "\"kind\"", "\"body\"", "\"bread\"");
    expect_refused(bad, "found \"bread\"");
    free(bad);
    bad = with(good, "\"patches\"", "-1.2\n", "-1.2,\n");
    expect_refused(bad, "expected JSON");
    free(bad);
    free(good);
}

static void wrong_knots_are_refused(void **state)
{
    (void)state;
    static const char patch[] = "{\"kind\":\"patch\",\"degree\":[1,1],\"knots\":[[0,0,1,1],%s],"
                                "\"points\":[[[0,0,0],[0,1,0]],[[1,0,0],[1,1,0]]]}";
    static const struct {
        const char *knots, *words;
    } cases[] = {{"[0,0,1]", "expected 4 knots in v (2 points, degree 1), found 3"},
                 {"[0,1,0,1]", "never fall"},
                 {"[0,0,0,0]", "with a range"},
                 {"[0,0,1,\"1\"]", "knots that are numbers"}};
    char text[400];
    for (int i = 0; i < HR_COUNT(cases); i++) {
        snprintf(text, sizeof text, patch, cases[i].knots);
        expect_refused(text, cases[i].words);
    }
}

static parametric_body parse(const char *text)
{
    parametric_body b;
    hr_error error = {""};
    if (body_parse_json(text, "test", &b, &error) != HR_OK)
        fail_msg("%s", error.text);
    return b;
}

/* A roof of two planes in one patch of degree 1: the ridge must become an edge. */
static void creases_split_a_patch(void **state)
{
    (void)state;
    parametric_body b =
        parse("{\"kind\":\"patch\",\"degree\":[1,1],\"knots\":[[0,0,1,2,2],[0,0,1,1]],\"points\":"
              "[[[-1,0,0],[-1,1,0]],[[0,0,1],[0,1,1]],[[1,0,0],[1,1,0]]]}");

    assert_int_equal(b.face_count, 2);
    assert_int_equal(b.edge_count, 7);
    assert_near(b.faces[0].high[0], 1.0, 0);
    assert_near(b.faces[1].low[0], 1.0, 0);
    int ridge = b.faces[0].edges[SIDE_U1];
    assert_int_equal(ridge, b.faces[1].edges[SIDE_U0]);
    assert_false(b.edges[ridge].is_smooth);
    /* One-sided derivatives: left of the ridge it rises, right of it it falls. */
    jet left, right;
    body_face_jet(&b, 0, 1.0, 0.5, NULL, &left);
    body_face_jet(&b, 1, 1.0, 0.5, NULL, &right);
    assert_near(left.d1[0].z, 1.0, 1e-15);
    assert_near(right.d1[0].z, -1.0, 1e-15);
    parametric_body_free(&b);
}

/* Two half cylinders of half a turn each: split in the middle, along with their neighbours. */
static void wide_faces_are_split_with_their_neighbours(void **state)
{
    (void)state;
    static const char text
        [] = "{\"kind\":\"patches\",\"patches\":[%s,%s]}",
    half[] =
        "{\"degree\":[2,1],\"knots\":[[0,0,0,0.5,0.5,1,1,1],[0,0,1,1]],\"points\":[[[1,0,%s],[1,0,"
        "%s]],[[1,1,%s],[1,1,%s]],[[0,1,%s],[0,1,%s]],[[-1,1,%s],[-1,1,%s]],[[-1,0,%s],[-1,0,%s]]]"
        ",\"weights\":[[1,1],[0.70710678118654757,0.70710678118654757],[1,1],[0.70710678118654757,"
        "0.70710678118654757],[1,1]]}";
    char low[700], high[700], all[1600];
    snprintf(low, sizeof low, half, "0", "1", "0", "1", "0", "1", "0", "1", "0", "1");
    snprintf(high, sizeof high, half, "1", "2", "1", "2", "1", "2", "1", "2", "1", "2");
    snprintf(all, sizeof all, text, low, high);
    parametric_body b = parse(all);

    assert_int_equal(b.face_count, 4);
    int seams = 0;
    for (int i = 0; i < b.edge_count; i++)
        seams += b.edges[i].use_count == 2;
    assert_int_equal(seams, 4); /* two along the split, two between the halves */
    for (int i = 0; i < 4; i++)
        assert_near(b.faces[i].normal_span, 1.5707963267948966, 1e-9);
    parametric_body_free(&b);
}

/* A sheet folded so that no cut brings its normals within half a turn: it must still be joined.
 * Found by fuzzing. */
static void folded_sheets_stay_whole(void **state)
{
    (void)state;
    parametric_body b = parse(
        "{\"kind\":\"patch\",\"degree\":[1,2],\"knots\":[[0,0,0.5,1,1],[0,0,0,1,1,1]],\"points\":"
        "[[[0,0,0],[0,1,0],[0,2,0]],[[1,8,1],[1,1,1],[1,2,1]],[[2,0,0],[2,1,0],[2,2,9]]]}");

    assert_true(b.face_count > 1 && b.edge_count > 0 && b.vertex_count > 0);
    for (int i = 0; i < b.face_count; i++)
        for (int side = 0; side < 4; side++)
            assert_true(b.faces[i].edges[side] >= 0 && b.faces[i].edges[side] < b.edge_count);
    parametric_body_free(&b);
}

/* A can whose bottom starts elsewhere on the circle and whose lid runs along it at another pace:
 * its weights are those of the circle times 2^i, a Moebius change of parameter in every quarter
 * that moves points along the circle but not off it. */
static void uneven_seams_are_joined(void **state)
{
    (void)state;
    parametric_body b = parse(
        "{\"kind\":\"body\",\"patches\":[{\"shape\":\"cylinder\",\"radius\":1,\"height\":2},"
        "{\"shape\":\"disc\",\"radius\":1,\"origin\":[0,0,-1],\"rotation_vector\":[0,0,0.7]},"
        "{\"degree\":[2,1],\"knots\":[[0,0,0,0.25,0.25,0.5,0.5,0.75,0.75,1,1,1],[0,0,1,1]],"
        "\"points\":[[[0,0,1],[1,0,1]],[[0,0,1],[1,1,1]],[[0,0,1],[0,1,1]],[[0,0,1],[-1,1,1]],"
        "[[0,0,1],[-1,0,1]],[[0,0,1],[-1,-1,1]],[[0,0,1],[0,-1,1]],[[0,0,1],[1,-1,1]],"
        "[[0,0,1],[1,0,1]]],\"weights\":[[1,1],[1.4142135623730951,1.4142135623730951],[4,4],"
        "[5.6568542494923806,5.6568542494923806],[16,16],[22.627416997969522,22.627416997969522],"
        "[64,64],[90.509667991878084,90.509667991878084],[256,256]]}]}");

    assert_true(b.is_closed && b.is_convex);
    assert_int_equal(b.edge_count, 2);
    int uneven = 0;
    for (int e = 0; e < 2; e++) {
        uneven += b.edges[e].use[1].table != NULL;
        for (int i = 0; i <= 100; i++) {
            double t = b.edges[e].low + (b.edges[e].high - b.edges[e].low) * i / 100.0;
            jet on_edge;
            body_edge_jet(&b, e, t, NULL, &on_edge);
            for (int which = 0; which < 2; which++) {
                const body_edge_use *use = &b.edges[e].use[which];
                double uv[2];
                jet on_face;
                body_edge_to_face(&b, e, which, t, uv);
                body_face_jet(&b, use->face, uv[0], uv[1], NULL, &on_face);
                assert_vec3_near(on_edge.p, on_face.p, 1e-9);
                double back = body_face_to_edge(&b, use->face, use->side, uv);
                jet again;
                body_edge_jet(&b, e, back, NULL, &again);
                assert_vec3_near(again.p, on_edge.p, 1e-9);
            }
        }
    }
    assert_int_equal(uneven, 2);
    parametric_body_free(&b);
}

/* Faces of a closed body all look out: against the direction from its middle. */
static void closed_convex_bodies_look_out(void **state)
{
    (void)state;
    static const char *const files[] = {"config/bodies/egg.json", "config/bodies/sphere-six.json",
                                        "tests/data/bodies/lemon_b.json"};
    for (int k = 0; k < HR_COUNT(files); k++) {
        parametric_body b = load(files[k]);
        vec3 middle = {0, 0, 0};
        for (int i = 0; i < b.sample_count; i++)
            middle = vec3_add_scaled(middle, 1.0 / b.sample_count, b.samples[i].p);
        assert_true(b.is_closed && b.is_convex);
        for (int i = 0; i < b.sample_count; i++) {
            const body_sample *s = &b.samples[i];
            jet j;
            body_face_jet(&b, s->face, s->u, s->v, NULL, &j);
            vec3 n = body_regular_normal(&b, s->face, &j);
            assert_true(b.faces[s->face].outward * vec3_dot(n, vec3_sub(j.p, middle)) >= 0);
        }
        parametric_body_free(&b);
    }
}

/* The data's own description: which patches are convex, and on which side. */
static void shipped_patches_are_classified(void **state)
{
    (void)state;
    parametric_body b = load("config/bodies/saddle.json");
    assert_int_equal(b.faces[0].convexity, FACE_NOT_CONVEX);
    assert_false(b.is_convex);
    parametric_body_free(&b);
    b = load("config/bodies/roof.json");
    assert_int_equal(b.faces[0].convexity, FACE_CONVEX_MINUS);
    assert_true(b.faces[0].outward < 0);
    parametric_body_free(&b);
    b = load("config/bodies/teapot.json");
    assert_int_equal(b.surface_count, 32);
    for (int i = 0; i < b.face_count; i++) {
        int s = b.faces[i].surface;
        if ((s >= 4 && s <= 7) || s >= 28)
            assert_int_equal(b.faces[i].convexity, FACE_CONVEX_PLUS);
        assert_int_equal(b.faces[i].collapsed[SIDE_V0] >= 0, (s >= 20 && s <= 23) || s >= 28);
    }
    parametric_body_free(&b);
}

static void a_promise_is_checked_and_can_be_taken_back(void **state)
{
    (void)state;
    static const char torus[] = "{\"kind\":\"body\"%s,\"patches\":[{\"shape\":\"torus\",\"radius\":"
                                "1,\"tube\":0.3}]}";
    static const char sheet[] = "{\"kind\":\"patches\",\"closed\":true,\"patches\":[{\"shape\":"
                                "\"plane\",\"size_x\":1,\"size_y\":2}]}";
    char text[200];
    snprintf(text, sizeof text, torus, "");
    expect_refused(text, "patch 0: at u = ");
    snprintf(text, sizeof text, torus, ",\"convex\":false");
    parametric_body b = parse(text);
    assert_true(b.is_closed && !b.is_convex);
    assert_true(b.faces[0].is_periodic[0] && b.faces[0].is_periodic[1]);
    parametric_body_free(&b);
    expect_refused(sheet, "patch 0: side u0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creases_split_a_patch),
        cmocka_unit_test(wide_faces_are_split_with_their_neighbours),
        cmocka_unit_test(folded_sheets_stay_whole),
        cmocka_unit_test(uneven_seams_are_joined),
        cmocka_unit_test(closed_convex_bodies_look_out),
        cmocka_unit_test(shipped_patches_are_classified),
        cmocka_unit_test(a_promise_is_checked_and_can_be_taken_back),
        cmocka_unit_test(lemon_has_three_faces_edges_and_two_vertices),
        cmocka_unit_test(edges_lie_on_both_their_faces),
        cmocka_unit_test(planar_body_is_a_ring_of_curves),
        cmocka_unit_test(bad_files_are_refused_with_their_place),
        cmocka_unit_test(wrong_knots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
