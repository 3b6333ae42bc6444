/* wakeup_lateness: how late the servo wakes, beside cyclictest, in turns of a second within the
 * same minutes. Ours is the servo's own sleep, planning and thread set-up. ratio: of the p99s. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/realtime.h"
#include "server/servo.h"
#include "tests/bench/bench.h"

enum { TURNS = 60, TICKS = 500, RATE_HZ = 1000, PRIORITY = 80, BUCKETS = 20000 };

static double ours[TURNS * TICKS];
static double peers[TURNS * TICKS + BUCKETS];
static int our_count, peer_count;

static void *wake_up(void *unused)
{
    static servo s;
    realtime_touch_stack();
    servo_init(&s, servo_clock_live(), RATE_HZ);
    for (int i = 0; i < TICKS; i++)
        ours[our_count++] =
            (double)servo_plan(&s, servo_clock_wait(&s.clock, s.planned_ns)).lateness_ns;
    return unused;
}

/* cyclictest prints "BUCKET COUNT" lines, in microseconds. */
static bool read_histogram(FILE *from)
{
    char line[256];
    int before = peer_count;
    while (fgets(line, sizeof line, from)) {
        int bucket;
        int count;
        if (sscanf(line, "%d %d", &bucket, &count) != 2)
            continue;
        /* the middle of the bucket; ours is not rounded down either */
        for (int i = 0; i < count && peer_count < TURNS * TICKS; i++)
            peers[peer_count++] = 1000.0 * bucket + 500.0;
    }
    return peer_count > before;
}

static bool run_peer(bool has_fifo)
{
    char command[256];
    snprintf(command, sizeof command, "cyclictest -q -m -t1 -i%d -l%d -h%d %s 2>/dev/null",
             1000000 / RATE_HZ, TICKS, BUCKETS, has_fifo ? "-p80" : "--policy=other");
    FILE *pipe = popen(command, "r"); // NOLINT: a fixed command
    if (!pipe)
        return false;
    bool is_good = read_histogram(pipe);
    return pclose(pipe) == 0 && is_good;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double p99(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[(int)(0.99 * n)];
}

static bool run_ours(realtime_state *state)
{
    pthread_t thread;
    /* as in the server, deep sleep states are off while the servo runs */
    realtime_hold_latency(state);
    bool is_good = realtime_start(state, PRIORITY, wake_up, NULL, &thread) == HR_OK;
    if (is_good)
        pthread_join(thread, NULL);
    realtime_release(state);
    return is_good;
}

int main(void)
{
    realtime_state state = {.latency_fd = -1};
    realtime_choose_cpu(&state, -1);
    for (int i = 0; i < TURNS; i++) {
        realtime_lock_memory(&state);
        bool is_good = i % 2 == 0 ? run_ours(&state) && run_peer(state.has_fifo)
                                  : run_peer(state.has_fifo) && run_ours(&state);
        if (!is_good) {
            fprintf(stderr, "cyclictest did not run: install rt-tests\n");
            return 1;
        }
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rturn %d of %d \r", i + 1, TURNS);
    }
    double our_p99 = p99(ours, our_count);
    double peer_p99 = p99(peers, peer_count);
    bench_compare("wakeup_lateness", ours, our_count, "cyclictest", peers, peer_count);
    bench_extra("peer_p99_ns", peer_p99);
    bench_extra("ratio", our_p99 / peer_p99); /* of the p99s, not of the medians */
    bench_extra("has_fifo", state.has_fifo);
    return 0;
}
