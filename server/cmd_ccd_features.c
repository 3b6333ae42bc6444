/* `haptic ccd --kind vf|ee`: every query of a file, one line each, or a summary. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collide/ccd_queries.h"
#include "server/cmd_ccd.h"
#include "server/command.h"

typedef struct tally {
    int hits, false_negatives, false_positives, beyond_tolerance;
    bool knows_truth;
    double *ns; /* one per query */
} tally;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void count(tally *t, const ccd_query *query, const feature_result *result, double tolerance)
{
    bool is_hit = result->verdict != FEATURE_FREE;
    t->hits += is_hit;
    t->knows_truth = t->knows_truth && query->truth != CCD_TRUTH_UNKNOWN;
    t->false_negatives += !is_hit && query->truth == CCD_TRUTH_CONTACT;
    t->false_positives += is_hit && query->truth == CCD_TRUTH_FREE;
    t->beyond_tolerance += is_hit && sqrt(result->witness.distance_squared) > tolerance;
}

/* Before the first answer: a query whose coordinates are too large for the tolerance. */
static int refuse_queries(const ccd_queries *queries, const char *path, feature_kind kind,
                          double tolerance)
{
    for (int i = 0; i < queries->count; i++) {
        const ccd_query *query = &queries->items[i];
        feature_motion motion = feature_motion_linear(kind, query->start, query->end);
        double least = 4 * feature_ccd_error(&motion, 1);
        hr_error error;
        if (tolerance > least)
            continue;
        if (isfinite(least))
            error_set(&error, HR_ERR_ARGUMENT,
                      "%s:%d: expected a tolerance above %.3g at these coordinates, found %g", path,
                      query->line, least, tolerance);
        else
            error_set(&error, HR_ERR_ARGUMENT,
                      "%s:%d: expected coordinates below 1e150, found larger ones", path,
                      query->line);
        return command_input_error(&error);
    }
    return COMMAND_OK;
}

static void run_queries(const ccd_queries *queries, feature_kind kind, double tolerance,
                        bool prints_lines, tally *t)
{
    feature_limits limits = feature_limits_default();
    limits.tolerance = tolerance;
    for (int i = 0; i < queries->count; i++) {
        const ccd_query *query = &queries->items[i];
        feature_result result;
        double start = now_ns();
        feature_motion motion = feature_motion_linear(kind, query->start, query->end);
        feature_ccd(&motion, 0, 1, &limits, &result);
        t->ns[i] = now_ns() - start;
        count(t, query, &result, tolerance);
        if (prints_lines && result.verdict == FEATURE_FREE)
            puts("0,");
        else if (prints_lines)
            printf("1,%.17g\n", result.time);
    }
}

static int print_summary(int queries, tally *t)
{
    qsort(t->ns, (size_t)queries, sizeof *t->ns, compare_doubles);
    json_t *summary = json_pack(
        "{s:i, s:i, s:o, s:o, s:i, s:f}", "queries", queries, "hits", t->hits, "false_negatives",
        t->knows_truth ? json_integer(t->false_negatives) : json_null(), "false_positives",
        t->knows_truth ? json_integer(t->false_positives) : json_null(), "beyond_tolerance",
        t->beyond_tolerance, "ns_per_query", queries ? t->ns[queries / 2] : 0.0);
    int code = summary && json_dumpf(summary, stdout, JSON_REAL_PRECISION(6)) == 0 ? COMMAND_OK
                                                                                   : COMMAND_FAILED;
    putchar('\n');
    json_decref(summary);
    return code;
}

int cmd_ccd_features(const char *path, feature_kind kind, double tolerance, bool wants_json)
{
    hr_error error = {{0}};
    ccd_queries queries;
    if (ccd_queries_load(path, &queries, &error) != HR_OK)
        return command_input_error(&error);
    tally t = {.knows_truth = true, .ns = calloc((size_t)queries.count + 1, sizeof(double))};
    int code = t.ns ? refuse_queries(&queries, path, kind, tolerance) : COMMAND_FAILED;
    if (code == COMMAND_OK)
        run_queries(&queries, kind, tolerance, !wants_json, &t);
    if (code == COMMAND_OK && wants_json)
        code = print_summary(queries.count, &t);
    free(t.ns);
    ccd_queries_free(&queries);
    return code;
}
