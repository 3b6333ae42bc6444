/* A histogram of durations with fixed buckets: one writer, any number of readers, nothing to lock.
 * Buckets are 1/32 of an octave wide, so a quantile is right within 3 %. */
#ifndef SERVER_HISTOGRAM_H
#define SERVER_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#include "geometry/base.h"

enum {
    HISTOGRAM_STEPS = 32,   /* buckets per octave */
    HISTOGRAM_OCTAVES = 32, /* up to 2^36 ns, 69 s; what is longer goes into the last bucket */
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * HISTOGRAM_OCTAVES
};

/* All fields: the owner stores, everybody reads, relaxed. {0} is empty. */
typedef struct histogram {
    _Atomic uint64_t count;
    _Atomic int64_t sum_ns;
    _Atomic int64_t max_ns;
    _Atomic uint32_t buckets[HISTOGRAM_BUCKETS];
} histogram;

/* Bucket of a duration; negative counts as 0. */
HR_RT int histogram_bucket(int64_t ns);

/* Smallest duration of a bucket, ns. */
int64_t histogram_bucket_start(int bucket);

/* Owner only. */
HR_RT void histogram_add(histogram *h, int64_t ns);

/* Any thread. The duration below which the share q (0..1) of the entries lies: the upper end of its
 * bucket, at most the maximum. 0 where there are none. */
int64_t histogram_quantile(const histogram *h, double q);
double histogram_mean(const histogram *h);
uint64_t histogram_count(const histogram *h);
int64_t histogram_max(const histogram *h);

/* Entries of at least ns. */
uint64_t histogram_count_from(const histogram *h, int64_t ns);

#endif
