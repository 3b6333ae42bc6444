/* The query reader: exact numbers, both layouts, and every refusal with its place. */
#include "tests/test.h"

#include <string.h>

#include "collide/ccd_queries.h"

static const char row6[] = "1,2,-3,4,9007199254740993,9007199254740992\n";

static hr_status parse(const char *text, ccd_queries *out, hr_error *error)
{
    return ccd_queries_parse(text, strlen(text), "q.csv", out, error);
}

static void repeat(char *out, const char *row, int times)
{
    out[0] = 0;
    for (int i = 0; i < times; i++)
        strcat(out, row);
}

static void rationals_become_the_nearest_double(void **state)
{
    (void)state;
    char text[1024];
    repeat(text, row6, 8);
    ccd_queries q;
    assert_int_equal(parse(text, &q, NULL), HR_OK);
    assert_int_equal(q.count, 1);
    assert_near(q.items[0].start[0].x, 0.5, 0);
    assert_near(q.items[0].end[3].y, -0.75, 0);
    assert_near(q.items[0].end[3].z, 1, 0); /* 1 + 2^-53 rounds to even */
    assert_int_equal(q.items[0].truth, CCD_TRUTH_UNKNOWN);
    ccd_queries_free(&q);
}

static void a_seventh_column_is_the_verdict(void **state)
{
    (void)state;
    char text[1024];
    repeat(text, "18446744073709551615,18446744073709551616,0,1,1,1,1\r\n", 16);
    ccd_queries q;
    assert_int_equal(parse(text, &q, NULL), HR_OK);
    assert_int_equal(q.count, 2);
    assert_int_equal(q.items[1].truth, CCD_TRUTH_CONTACT);
    assert_near(q.items[0].start[0].x, 1, 0); /* 1 - 2^-64 */
    assert_int_equal(q.items[1].line, 9);
    ccd_queries_free(&q);
}

static void assert_refused(const char *text, const char *message)
{
    ccd_queries q;
    hr_error error = {{0}};
    assert_int_equal(parse(text, &q, &error), HR_ERR_FORMAT);
    assert_string_equal(error.text, message);
    assert_null(q.items);
}

static void refusals_name_the_place(void **state)
{
    (void)state;
    char text[1024];
    repeat(text, row6, 7);
    assert_refused(text, "q.csv:8: expected row 8 of the 8 of a query, found the end of the file");
    assert_refused("1,0,1,1,1,1\n",
                   "q.csv:1:3: expected a denominator that is not zero, found \"0,1,1,1,1\"");
    assert_refused("1,1,x,1,1,1\n", "q.csv:1:5: expected a number, found \"x,1,1,1\"");
    assert_refused("1,1,1,1,1\n", "q.csv:1:10: expected a comma, found the end of the row");
    assert_refused("1,1,1,1,1,1\n1,1,1,1,1,1,0\n",
                   "q.csv:2:12: expected the end of a row of 6 columns, found \",0\"");
    assert_refused("1,1,1,1,1,1,2\n", "q.csv:1:13: expected a verdict 0 or 1, found \"2\"");
    assert_refused("1,1,1,1,1,1,0\n1,1,1,1,1,1,1\n",
                   "q.csv:2:13: expected the same verdict on all 8 rows of a query, found \"1\"");
    assert_refused("1.5e,1,1,1,1,1\n", "q.csv:1:1: expected a number, found \"1.5e,1,1,1,1,1\"");
    assert_refused("nan,1,1,1,1,1\n", "q.csv:1:1: expected a number, found \"nan,1,1,1,1,1\"");
    assert_refused(
        "\n1e999,1,1,1,1,1\n",
        "q.csv:2:1: expected a coordinate within double range, found \"1e999,1,1,1,1,1\"");
    repeat(text, row6, 9);
    assert_refused(text, "q.csv:10: expected row 2 of the 8 of a query, found the end of the file");
}

/* Decimals, blanks, empty lines, either kind of line end, a byte order mark, no last line end. */
static void odd_but_clear_files_are_read(void **state)
{
    (void)state;
    char text[2048] = "\xef\xbb\xbf\n";
    for (int i = 0; i < 16; i++) {
        strcat(text, i % 2 ? " 5e-1 , 1.0,\t-0.75,+1 ,1,1 " : "1,2,-3,4,1,1");
        strcat(text, i == 15 ? "" : i % 3 ? "\n" : "\r\n \r\n\n");
    }
    ccd_queries q;
    hr_error error = {{0}};
    assert_int_equal(parse(text, &q, &error), HR_OK);
    assert_int_equal(q.count, 2);
    for (int i = 0; i < 8; i++) {
        const vec3 *p = i < 4 ? &q.items[1].start[i] : &q.items[1].end[i - 4];
        assert_vec3_near(*p, ((vec3){0.5, -0.75, 1}), 0);
    }
    ccd_queries_free(&q);
    assert_int_equal(parse("", &q, &error), HR_OK);
    assert_int_equal(q.count, 0);
}

static void verdicts_are_found_beside_the_file(void **state)
{
    (void)state;
    ccd_queries q;
    hr_error error = {{0}};
    assert_int_equal(
        ccd_queries_load("tests/data/ccd-queries/scalable/cloth-funnel/227vf.csv", &q, &error),
        HR_OK);
    assert_int_equal(q.count, 92); /* the publisher's count */
    assert_int_equal(q.items[3].truth, CCD_TRUTH_CONTACT);
    assert_int_equal(q.items[0].truth, CCD_TRUTH_FREE);
    ccd_queries_free(&q);
    assert_int_not_equal(ccd_queries_load("tests/data/none.csv", &q, &error), HR_OK);
    assert_string_equal(error.text, "tests/data/none.csv: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rationals_become_the_nearest_double),
        cmocka_unit_test(a_seventh_column_is_the_verdict),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(odd_but_clear_files_are_read),
        cmocka_unit_test(verdicts_are_found_beside_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
