#include "server/histogram.h"

enum { STEP_BITS = 5 }; /* 2^5 = HISTOGRAM_STEPS */

/* Below 32 ns a bucket is 1 ns wide; above, the five bits after the leading one choose the step
 * within the octave. */
int histogram_bucket(int64_t ns)
{
    if (ns < HISTOGRAM_STEPS)
        return ns < 0 ? 0 : (int)ns;
    int octave = 63 - __builtin_clzll((unsigned long long)ns) - STEP_BITS;
    int step = (int)((uint64_t)ns >> octave) & (HISTOGRAM_STEPS - 1);
    int bucket = (octave + 1) * HISTOGRAM_STEPS + step;
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

int64_t histogram_bucket_start(int bucket)
{
    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    int octave = bucket / HISTOGRAM_STEPS - 1;
    int64_t step = bucket % HISTOGRAM_STEPS;
    return (HISTOGRAM_STEPS + step) << octave;
}

/* One writer: a plain load and store is enough, and costs no locked instruction. */
void histogram_add(histogram *h, int64_t ns)
{
    _Atomic uint32_t *bucket = &h->buckets[histogram_bucket(ns)];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&h->sum_ns, atomic_load_explicit(&h->sum_ns, memory_order_relaxed) + ns,
                          memory_order_relaxed);
    if (ns > atomic_load_explicit(&h->max_ns, memory_order_relaxed))
        atomic_store_explicit(&h->max_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&h->count, atomic_load_explicit(&h->count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

uint64_t histogram_count(const histogram *h)
{
    return atomic_load_explicit(&h->count, memory_order_relaxed);
}

int64_t histogram_max(const histogram *h)
{
    return atomic_load_explicit(&h->max_ns, memory_order_relaxed);
}

double histogram_mean(const histogram *h)
{
    uint64_t count = histogram_count(h);
    return count ? (double)atomic_load_explicit(&h->sum_ns, memory_order_relaxed) / (double)count
                 : 0.0;
}

uint64_t histogram_count_from(const histogram *h, int64_t ns)
{
    uint64_t sum = 0;
    for (int i = histogram_bucket(ns); i < HISTOGRAM_BUCKETS; i++)
        sum += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
    return sum;
}

int64_t histogram_quantile(const histogram *h, double q)
{
    uint64_t total = histogram_count_from(h, 0);
    if (total == 0)
        return 0;
    double wanted = q * (double)total;
    uint64_t sum = 0;
    int64_t max = histogram_max(h);
    for (int i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        sum += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        if (sum > 0 && (double)sum >= wanted) {
            int64_t end = histogram_bucket_start(i + 1) - 1;
            return end < max ? end : max;
        }
    }
    return max;
}
