/* The whole chain on an emulated Falcon under the real libusb (usbfs shim): driver, kinematics,
 * proxy, force, at 1 kHz. Runs itself again on a machine that seems to have a Falcon. The shim
 * emulates the FTDI chip's 1 ms tick; neither a host controller nor a real chip is measured.
 *
 * falcon_exchange         the driver's I/O thread, in the running server
 * falcon_exchange_inline  the link stepped by the 1 kHz loop itself: what was not chosen
 * velocity_*              estimators on quantised motion, beside the 15 ms difference */
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
    while (next < start + (int64_t)(seconds * 1e9)) {
        (void)falcon_link_step(&link);
        sleep_until(next += 1000000);
    }
    report("falcon_exchange_inline", &link.counts, &before, seconds);
    falcon_link_close(&link);
    transport->calls->destroy(transport);
    return 0;
}

/* Root mean square error on a hand's motion (0.1 m/s at 1 Hz with a tremor of 50 um at 9 Hz) seen
 * in counts of 40 um, at 1 kHz. */
static void compare_velocities(void)
{
    velocity_window window;
    velocity_alpha_beta tracker;
    double past[16] = {0};
    double sum[3] = {0};
    velocity_window_init(&window, 1);
    velocity_alpha_beta_init(&tracker, 0.25);
    int counted = 0;
    for (int n = 0; n < 60000; n++) {
        double t = n * 1e-3;
        double x = 0.1 / 6.2832 * sin(6.2832 * t) + 50e-6 * sin(56.5 * t);
        double v = 0.1 * cos(6.2832 * t) + 50e-6 * 56.5 * cos(56.5 * t);
        double counts = floor(x / 40e-6 + 0.5);
        double estimate[3] = {velocity_window_add(&window, n * 1000000LL, counts) * 40e-6,
                              velocity_alpha_beta_add(&tracker, n * 1000000LL, counts) * 40e-6,
                              (counts - past[n % 15]) * 40e-6 / 0.015};
        past[n % 15] = counts;
        if (n < 100)
            continue;
        counted++;
        for (int k = 0; k < 3; k++)
            sum[k] += (estimate[k] - v) * (estimate[k] - v);
    }
    bench_value("velocity_window", sqrt(sum[0] / counted), "m/s rms");
    bench_value("velocity_alpha_beta", sqrt(sum[1] / counted), "m/s rms");
    bench_value("velocity_difference_15ms", sqrt(sum[2] / counted), "m/s rms");
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
