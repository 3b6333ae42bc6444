/* Timing and reporting for the benchmarks. Results are appended as JSON objects, one per line, to
 * the file that BENCH_OUT names, and shown as a table; `make bench` merges them into
 * build/bench.json. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CLOCK_MONOTONIC in ns. */
int64_t bench_now_ns(void);

/* Sleeps to the next point of a 1 kHz grid: cold caches, the honest timing. Returns its time. */
int64_t bench_wait_tick(void);

/* Gives the calling thread what the servo has (locked memory, SCHED_FIFO) where the machine allows
 * it, or takes it back; true if it has it now. For paced timings. */
int bench_be_servo(int wanted);

/* Reports n durations in ns (they are sorted in place): median, mean, p99, p99.9, max. */
void bench_report(const char *name, double *ns, int n);

/* The same beside a peer timed alternately in the same run; ratio of the medians, ours / peer's. */
void bench_compare(const char *name, double *ns, int n, const char *peer, double *peer_ns,
                   int peer_n);

/* A figure that is not a time. */
void bench_value(const char *name, double value, const char *unit);

/* Extra members for the key that was reported last, such as ("error_m", 1e-12). */
void bench_extra(const char *member, double value);

/* Keeps the compiler from deleting the work whose result is `value`. */
void bench_keep(double value);

#ifdef __cplusplus
}
#endif

#endif
