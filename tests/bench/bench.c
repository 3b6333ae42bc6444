#include "tests/bench/bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static char last_name[128];

int64_t bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bench_wait_tick(void)
{
    const int64_t period_ns = 1000000;
    int64_t next = (bench_now_ns() / period_ns + 1) * period_ns;
    struct timespec t = {next / 1000000000, next % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
    return next;
}

int bench_be_servo(int wanted)
{
    struct sched_param with = {.sched_priority = 80};
    struct sched_param without = {.sched_priority = 0};
    if (!wanted) {
        munlockall();
        return sched_setscheduler(0, SCHED_OTHER, &without) != 0;
    }
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 && sched_setscheduler(0, SCHED_FIFO, &with) == 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
    int i = (int)(q * n);
    return sorted[i < n ? i : n - 1];
}

static void emit(const char *name, const char *members)
{
    snprintf(last_name, sizeof last_name, "%s", name);
    const char *path = getenv("BENCH_OUT");
    if (!path)
        return;
    FILE *out = fopen(path, "a");
    if (!out) {
        perror(path);
        exit(1);
    }
    fprintf(out, "{\"%s\":{%s}}\n", name, members);
    fclose(out);
}

static int summarise(double *ns, int n, char *out, size_t size)
{
    qsort(ns, (size_t)n, sizeof *ns, by_value);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += ns[i];
    return snprintf(out, size,
                    "\"median_ns\":%.1f,\"mean_ns\":%.1f,\"p99_ns\":%.1f,\"p999_ns\":%.1f,"
                    "\"max_ns\":%.1f,\"n\":%d",
                    quantile(ns, n, 0.5), sum / n, quantile(ns, n, 0.99), quantile(ns, n, 0.999),
                    ns[n - 1], n);
}

void bench_report(const char *name, double *ns, int n)
{
    char members[512];
    summarise(ns, n, members, sizeof members);
    printf("%-34s median %10.0f ns   p99 %10.0f ns   max %10.0f ns   n %d\n", name,
           quantile(ns, n, 0.5), quantile(ns, n, 0.99), ns[n - 1], n);
    emit(name, members);
}

void bench_compare(const char *name, double *ns, int n, const char *peer, double *peer_ns,
                   int peer_n)
{
    char members[768];
    int used = summarise(ns, n, members, sizeof members);
    qsort(peer_ns, (size_t)peer_n, sizeof *peer_ns, by_value);
    double ours = quantile(ns, n, 0.5);
    double theirs = quantile(peer_ns, peer_n, 0.5);
    snprintf(members + used, sizeof members - (size_t)used,
             ",\"peer\":\"%s\",\"peer_median_ns\":%.1f,\"ratio\":%.5g", peer, theirs,
             ours / theirs);
    printf("%-34s median %10.0f ns   %s %10.0f ns   ratio %.4g\n", name, ours, peer, theirs,
           ours / theirs);
    emit(name, members);
}

void bench_value(const char *name, double value, const char *unit)
{
    char members[256];
    snprintf(members, sizeof members, "\"value\":%.9g,\"unit\":\"%s\"", value, unit);
    printf("%-34s %.6g %s\n", name, value, unit);
    emit(name, members);
}

void bench_extra(const char *member, double value)
{
    char name[sizeof last_name];
    char members[256];
    memcpy(name, last_name, sizeof name);
    snprintf(members, sizeof members, "\"%s\":%.9g", member, value);
    printf("%-34s   %s %.6g\n", "", member, value);
    emit(name, members);
}

void bench_keep(double value)
{
    static volatile double sink;
    sink = value;
    (void)sink;
}
