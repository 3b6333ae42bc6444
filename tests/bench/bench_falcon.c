/* The whole chain on an emulated Falcon under the real libusb (usbfs shim): driver, kinematics,
 * proxy, force, at 1 kHz. Runs itself again on a machine that seems to have a Falcon. The shim
 * emulates the FTDI chip's 1 ms tick; neither a host controller nor a real chip is measured.
 *
 * falcon_exchange         the driver's I/O thread and mailboxes, in the running server
 * falcon_exchange_inline  pre-submitted transfers handled by the 1 kHz loop itself: what was not
 *                         chosen. servo_p99_ns and servo_max_ns are the time that the servo's
 * thread spends on the device per tick, allocations what libusb makes there velocity_* estimators
 * on quantised motion, beside CHAI3D's difference over 15 ms */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devices/falcon.h"
#include "devices/falcon/usb.h"
#include "devices/velocity.h"
#include "server/options.h"
#include "tests/bench/bench.h"
#include "tests/conformance/allocations.h"

enum { SAMPLES_MAX = 200000 };

static double samples[SAMPLES_MAX];

static double seconds_wanted(void)
{
    const char *text = getenv("BENCH_FALCON_SECONDS");
    return text ? atof(text) : 60;
}

/* The histogram as single durations, each in the middle of its bucket. */
static int spread(const falcon_link_counts *after, const falcon_link_counts *before)
{
    int n = 0;
    for (int b = 0; b < FALCON_BUCKETS; b++)
        for (uint32_t k = before->round_trips[b]; k < after->round_trips[b] && n < SAMPLES_MAX; k++)
            samples[n++] = (b + 0.5) * 50000;
    return n;
}

static void report(const char *name, const falcon_link_counts *after,
                   const falcon_link_counts *before, double seconds)
{
    int n = spread(after, before);
    if (n == 0)
        samples[n++] = 0;
    bench_report(name, samples, n);
    bench_extra("rate_hz", (double)(after->reports - before->reports) / seconds);
    bench_extra("lost", (double)(after->lost - before->lost));
    bench_extra("garbage_bytes", (double)(after->garbage - before->garbage));
    bench_extra("seconds", seconds);
}

static int64_t sleep_until(int64_t ns)
{
    struct timespec until = {ns / 1000000000, ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    return bench_now_ns();
}

static int run_server(double seconds)
{
    static server_options options;
    char *arguments[] = {(char[]){"hapticd"}, (char[]){"--device"}, (char[]){"falcon"}, NULL};
    options_action action;
    hr_error error = {""};
    server *s = NULL;
    if (options_read(3, arguments, &action, &options, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    options.settings.servo.allow_degraded = true;
    options.settings.control.enabled = false;
    if (server_open(&options, &s, &error) != HR_OK || server_start(s, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    falcon_status before;
    falcon_status after;
    sleep_until(bench_now_ns() + 2000000000); /* homed by then */
    falcon_get_status(s->devices[0].dev, &before);
    int64_t start = bench_now_ns();
    sleep_until(start + (int64_t)(seconds * 1e9));
    falcon_get_status(s->devices[0].dev, &after);
    report("falcon_exchange", &after.counts, &before.counts,
           (double)(bench_now_ns() - start) / 1e9);
    bench_extra("homed_arms", (double)__builtin_popcount(after.homed));
    bench_extra("servo_p99_ns", (double)histogram_quantile(&s->servo.exchange, 0.99));
    bench_extra("servo_max_ns", (double)histogram_max(&s->servo.exchange));
    server_stop(s);
    (void)!server_finish(s, &error);
    server_destroy(s);
    return 0;
}

/* The link on the pacing thread: each tick handles what libusb has and sends one command. */
static int run_inline(double seconds)
{
    static falcon_link link;
    static falcon_link_counts before;
    static histogram spent;
    falcon_transport *transport = NULL;
    falcon_link_settings settings = falcon_link_settings_default();
    hr_error error = {""};
    if (falcon_usb_create("", &transport, &error) != HR_OK)
        return 1;
    falcon_link_init(&link, transport, &settings, NULL, "already running");
    int64_t next = bench_now_ns();
    while (link.state != FALCON_RUNNING && link.counts.attempts < 5)
        transport->calls->wait(transport, falcon_link_step(&link));
    before = link.counts;
    int64_t start = bench_now_ns();
    next = start;
    long allocations = allocations_of_this_thread();
    while (next < start + (int64_t)(seconds * 1e9)) {
        int64_t begin = bench_now_ns();
        (void)falcon_link_step(&link);
        histogram_add(&spent, bench_now_ns() - begin);
        sleep_until(next += 1000000);
    }
    allocations = allocations_of_this_thread() - allocations;
    report("falcon_exchange_inline", &link.counts, &before, seconds);
    bench_extra("servo_p99_ns", (double)histogram_quantile(&spent, 0.99));
    bench_extra("servo_max_ns", (double)histogram_max(&spent));
    bench_extra("servo_allocations_per_s", (double)allocations / seconds);
    falcon_link_close(&link);
    transport->calls->destroy(transport);
    return 0;
}

/* A hand's motion: speed and frequency of the stroke, tremor. Seen in counts of 40 um, at 1 kHz. */
static const struct motion {
    const char *name;
    double speed, hz;         /* m/s, 1/s */
    double tremor, tremor_hz; /* m, 1/s */
} motions[] = {{"rest_m_per_s", 0, 1, 20e-6, 9},
               {"slow_m_per_s", 0.005, 0.5, 20e-6, 9},
               {"stroke_m_per_s", 0.1, 1, 50e-6, 9},
               {"fast_m_per_s", 0.4, 3, 50e-6, 9},
               {"tap_m_per_s", 0.3, 6, 0, 9}};

enum { ESTIMATORS = 3, MOTIONS = HR_COUNT(motions) };

/* Root mean square error of each estimator over a minute of one motion. */
static void try_motion(const struct motion *m, double rms[ESTIMATORS])
{
    velocity_window window;
    velocity_alpha_beta tracker;
    velocity_parity difference;
    double sum[ESTIMATORS] = {0};
    int counted = 0;
    velocity_window_init(&window, 1);
    velocity_alpha_beta_init(&tracker, 0.25);
    velocity_parity_init(&difference);
    for (int n = 0; n < 60000; n++) {
        int64_t ns = n * 1000000LL;
        double w = 2 * M_PI * m->hz, w2 = 2 * M_PI * m->tremor_hz, t = n * 1e-3;
        double x = m->speed / w * sin(w * t) + m->tremor * sin(w2 * t);
        double v = m->speed * cos(w * t) + m->tremor * w2 * cos(w2 * t);
        double counts = floor(x / 40e-6 + 0.5);
        double estimate[ESTIMATORS] = {velocity_window_add(&window, ns, counts),
                                       velocity_alpha_beta_add(&tracker, ns, counts),
                                       velocity_parity_add(&difference, ns, counts)};
        if (n < 100)
            continue;
        counted++;
        for (int k = 0; k < ESTIMATORS; k++)
            sum[k] += (estimate[k] * 40e-6 - v) * (estimate[k] * 40e-6 - v);
    }
    for (int k = 0; k < ESTIMATORS; k++)
        rms[k] = sqrt(sum[k] / counted);
}

/* The value is the root mean square over all motions; each motion's own stands beside it. */
static void compare_velocities(void)
{
    static const char *const names[ESTIMATORS] = {"velocity_window", "velocity_alpha_beta",
                                                  "velocity_difference_15ms"};
    double rms[MOTIONS][ESTIMATORS];
    for (int i = 0; i < MOTIONS; i++)
        try_motion(&motions[i], rms[i]);
    for (int k = 0; k < ESTIMATORS; k++) {
        double sum = 0;
        for (int i = 0; i < MOTIONS; i++)
            sum += rms[i][k] * rms[i][k];
        bench_value(names[k], sqrt(sum / MOTIONS), "m/s rms");
        for (int i = 0; i < MOTIONS; i++)
            bench_extra(motions[i].name, rms[i][k]);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("BENCH_FALCON_INSIDE")) {
        compare_velocities();
        fflush(NULL);
        setenv("BENCH_FALCON_INSIDE", "1", 1);
        execl("tests/emulated/with-falcon.sh", "with-falcon.sh", "shim", argv[0], (char *)NULL);
        perror("tests/emulated/with-falcon.sh");
        return 1;
    }
    double seconds = seconds_wanted();
    return run_server(seconds) || run_inline(fmin(seconds, 10));
}
