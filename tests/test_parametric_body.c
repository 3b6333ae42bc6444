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
    expect_refused(bad, "found a gap of 0.00");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lemon_has_three_faces_edges_and_two_vertices),
        cmocka_unit_test(edges_lie_on_both_their_faces),
        cmocka_unit_test(planar_body_is_a_ring_of_curves),
        cmocka_unit_test(bad_files_are_refused_with_their_place),
        cmocka_unit_test(wrong_knots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
