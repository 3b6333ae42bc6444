/* What every test program includes first: cmocka with its prerequisites, tolerances, random
 * numbers. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "geometry/vec3.h"

/* |actual - expected| <= tolerance; NaN fails. */
#define assert_near(actual, expected, tolerance)                                                   \
    test_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

/* |actual - expected| <= tolerance * max(1, |expected|); NaN fails. */
#define assert_close(actual, expected, tolerance)                                                  \
    test_near((actual), (expected), (tolerance)*fmax(1.0, fabs((double)(expected))), #actual,      \
              __FILE__, __LINE__)

#define assert_vec3_near(actual, expected, tolerance)                                              \
    test_near(vec3_distance((actual), (expected)), 0.0, (tolerance), #actual, __FILE__, __LINE__)

static inline void test_near(double actual, double expected, double tolerance, const char *what,
                             const char *file, int line)
{
    if (fabs(actual - expected) <= tolerance)
        return;
    print_error("%s is %.17g, expected %.17g within %g\n", what, actual, expected, tolerance);
    _fail(file, line);
}

/* A small generator of our own (splitmix64), so that a printed seed means the same everywhere. */
typedef struct test_random {
    uint64_t state;
} test_random;

/* Prints the seed. The environment variable TEST_SEED overrides it. */
static inline test_random test_random_seed(uint64_t seed)
{
    const char *wanted = getenv("TEST_SEED");
    if (wanted)
        seed = strtoull(wanted, NULL, 10);
    print_message("seed %llu\n", (unsigned long long)seed);
    return (test_random){seed};
}

static inline uint64_t test_random_u64(test_random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static inline double test_random_between(test_random *r, double low, double high)
{
    return low + (high - low) * ((double)(test_random_u64(r) >> 11) * 0x1p-53);
}

/* 0 .. count - 1 */
static inline int test_random_index(test_random *r, int count)
{
    return (int)(test_random_u64(r) % (uint64_t)count);
}

/* How many of `count` repetitions to run: all, or the share (0..1) that TEST_EFFORT names, which
 * the slow sanitizer builds set. At least one. */
static inline int test_effort(int count)
{
    const char *share = getenv("TEST_EFFORT");
    int reduced = share ? (int)(atof(share) * count) : count;
    return reduced > 1 ? reduced : 1;
}

static inline vec3 test_random_vec3(test_random *r, double size)
{
    double x = test_random_between(r, -size, size);
    double y = test_random_between(r, -size, size);
    double z = test_random_between(r, -size, size);
    return (vec3){x, y, z};
}

static inline pose test_random_pose(test_random *r, double size)
{
    quat q = quat_from_rotation_vector(test_random_vec3(r, 3.0));
    return (pose){q, test_random_vec3(r, size)};
}

#endif
