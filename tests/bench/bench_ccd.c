/* Continuous collision detection: feature queries, whole articulated bodies, tori beside FCL. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collide/ccd_queries.h"
#include "collide/feature_ccd.h"
#include "tests/bench/bench.h"

enum { REPEATS = 9 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of several timings of one query: the scheduler is not what is measured. */
static double time_query(feature_kind kind, const ccd_query *q, const feature_limits *limits)
{
    double ns[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        feature_result r;
        int64_t start = bench_now_ns();
        feature_motion m = feature_motion_linear(kind, q->start, q->end);
        feature_ccd(&m, 0, 1, limits, &r);
        ns[i] = (double)(bench_now_ns() - start);
        bench_keep(r.time);
    }
    qsort(ns, REPEATS, sizeof *ns, compare_doubles);
    return ns[REPEATS / 2];
}

static void bench_features(const char *key, feature_kind kind, const char *suffix)
{
    static double ns[8192];
    int n = 0;
    feature_limits limits = feature_limits_default();
    glob_t files;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "tests/data/ccd-queries/sample-queries/*/%s*.csv", suffix);
    glob(pattern, 0, NULL, &files);
    snprintf(pattern, sizeof pattern, "tests/data/ccd-queries/scalable/*/*%s.csv", suffix);
    glob(pattern, GLOB_APPEND, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        ccd_queries q;
        if (ccd_queries_load(files.gl_pathv[i], &q, NULL) != HR_OK)
            exit(1);
        for (int k = 0; k < q.count && n < 8192; k++)
            ns[n++] = time_query(kind, &q.items[k], &limits);
        ccd_queries_free(&q);
    }
    globfree(&files);
    bench_report(key, ns, n);
}

int main(void)
{
    bench_features("ccd_vf", FEATURE_VERTEX_FACE, "vf");
    bench_features("ccd_ee", FEATURE_EDGE_EDGE, "ee");
    return 0;
}
