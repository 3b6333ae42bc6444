#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "server/histogram.h"

static void every_duration_falls_into_the_bucket_that_holds_it(void **state)
{
    (void)state;
    test_random r = test_random_seed(7);
    for (int i = 0; i < test_effort(100000); i++) {
        int64_t ns = (int64_t)exp(test_random_between(&r, 0.0, log(6e10)));
        int bucket = histogram_bucket(ns);
        assert_in_range(bucket, 0, HISTOGRAM_BUCKETS - 2);
        assert_true(histogram_bucket_start(bucket) <= ns);
        assert_true(ns < histogram_bucket_start(bucket + 1));
    }
    assert_int_equal(histogram_bucket(-5), 0);
    assert_int_equal(histogram_bucket(INT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void buckets_are_at_most_a_thirtysecond_wide(void **state)
{
    (void)state;
    for (int i = HISTOGRAM_STEPS; i < HISTOGRAM_BUCKETS - 1; i++) {
        int64_t start = histogram_bucket_start(i);
        int64_t width = histogram_bucket_start(i + 1) - start;
        assert_true(width > 0);
        assert_true((double)width <= (double)start / 32.0);
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* second method: sort all values */
static void quantiles_agree_with_sorting(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static int64_t values[COUNT];
    static histogram h;
    memset(&h, 0, sizeof h);
    test_random r = test_random_seed(8);
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] = (int64_t)exp(test_random_between(&r, 3.0, 18.0));
        sum += (double)values[i];
        histogram_add(&h, values[i]);
    }
    qsort(values, COUNT, sizeof values[0], by_value);

    const double shares[] = {0.0002, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0};
    for (int i = 0; i < HR_COUNT(shares); i++) {
        double exact = (double)values[(int)ceil(shares[i] * COUNT) - 1];
        assert_near((double)histogram_quantile(&h, shares[i]) / exact, 1.0, 1.0 / 31);
    }
    assert_int_equal(histogram_count(&h), COUNT);
    assert_int_equal(histogram_max(&h), values[COUNT - 1]);
    assert_near(histogram_mean(&h), sum / COUNT, 1e-6 * sum / COUNT);
    /* from a bucket's start on, the count is exact */
    int64_t from = histogram_bucket_start(histogram_bucket(1000000));
    int above = 0;
    for (int i = 0; i < COUNT; i++)
        above += values[i] >= from;
    assert_int_equal(histogram_count_from(&h, from), above);
    assert_int_equal(histogram_count_from(&h, 0), COUNT);
}

static void an_empty_histogram_says_zero(void **state)
{
    (void)state;
    static histogram h;
    assert_int_equal(histogram_quantile(&h, 0.99), 0);
    assert_near(histogram_mean(&h), 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_duration_falls_into_the_bucket_that_holds_it),
        cmocka_unit_test(buckets_are_at_most_a_thirtysecond_wide),
        cmocka_unit_test(quantiles_agree_with_sorting),
        cmocka_unit_test(an_empty_histogram_says_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
