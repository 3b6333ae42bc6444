/* How parametric bodies feel, through the whole hand: the rows of the table of feel that the
 * witness tracker answers for, each the worst over its cases, the analytic bodies' included. The
 * path is imposed, which exaggerates what a hand would feel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/support/feel.h"
#include "tests/support/feel_body.h"

enum { BURST = 20000, PACED = 2000, RADII = 3 };

static double times[BURST];
static const double radii[RADII] = {0, 0.0004, 0.002};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(int n, double q)
{
    qsort(times, (size_t)n, sizeof times[0], by_value);
    return 1e-3 * times[(int)(q * (n - 1))];
}

static feel_path body_path(int is_blob, double radius, double speed)
{
    feel_path p = {.file = is_blob ? "config/bodies/blob.json" : "config/bodies/sphere-six.json",
                   .scale = is_blob ? 1.0 : 0.024,
                   .is_blob = is_blob,
                   .speed = speed,
                   .tool_radius = radius,
                   .ticks = BURST};
    return p;
}

/* The machine's own share of row 2: the same pacing around a fixed piece of arithmetic. */
static double idle_tail(void)
{
    (void)bench_be_servo(1);
    for (int i = 0; i < PACED; i++) {
        double x = 1;
        bench_wait_tick();
        int64_t start = bench_now_ns();
        for (int k = 0; k < 2000; k++)
            x = x * 1.0000001 + 1e-9;
        times[i] = (double)(bench_now_ns() - start);
        bench_keep(x);
    }
    (void)bench_be_servo(0);
    return quantile(PACED, 0.999);
}

/* Paced figures of one case. A neighbour on a shared machine slows whole seconds: of three runs the
 * best counts, and the worst is shown beside it. */
typedef struct paced {
    double median, tail, worst_median, worst_tail; /* us */
} paced;

static paced time_paced(feel_path p, int *is_servo)
{
    paced best = {1e9, 1e9, 0, 0};
    p.ticks = PACED;
    p.is_paced = true;
    for (int run = 0; run < 3; run++) {
        *is_servo = bench_be_servo(1);
        (void)feel_path_run(&p);
        (void)bench_be_servo(0);
        double median = quantile(PACED, 0.5), tail = quantile(PACED, 0.999);
        best.median = fmin(best.median, median);
        best.tail = fmin(best.tail, tail);
        best.worst_median = fmax(best.worst_median, median);
        best.worst_tail = fmax(best.worst_tail, tail);
    }
    return best;
}

static void time_ticks(void)
{
    double burst = 0;
    paced worst = {0};
    int is_servo = 0;
    for (int i = 0; i < 2 * RADII; i++) {
        feel_path p = body_path(i / RADII, radii[i % RADII], 0.1);
        p.times = times;
        (void)feel_path_run(&p);
        double median = quantile(BURST, 0.5);
        paced slow = time_paced(p, &is_servo);
        printf("  %s, tool %.1f mm: %.2f us burst, %.2f us paced\n", p.file, 1e3 * p.tool_radius,
               median, slow.median);
        burst = fmax(burst, median);
        worst.median = fmax(worst.median, slow.median);
        worst.tail = fmax(worst.tail, slow.tail);
        worst.worst_median = fmax(worst.worst_median, slow.worst_median);
        worst.worst_tail = fmax(worst.worst_tail, slow.worst_tail);
    }
    bench_value("feel_01", worst.median, "us");
    bench_extra("burst_median_us", burst);
    bench_extra("worst_of_three_us", worst.worst_median);
    bench_value("feel_02", worst.tail, "us");
    bench_extra("worst_of_three_us", worst.worst_tail);
    bench_extra("is_scheduled_as_servo", is_servo);
    bench_extra("fixed_arithmetic_p999_us", idle_tail());
}

static void slide(void)
{
    double error = 0;
    double step = 0;
    double lost = 0;
    double inside = 0;
    double tap_error = 0;
    double tap_proxy = 0;
    for (int i = 0; i < 2 * RADII; i++)
        for (int fast = 0; fast <= 2; fast++) {
            feel_path p = body_path(i / RADII, radii[i % RADII], fast == 1 ? 0.5 : 0.1);
            p.is_tapping = fast == 2;
            feel_path_result r = feel_path_run(&p);
            lost = fmax(lost, r.lost);
            inside = fmax(inside, r.leak);
            if (!p.is_blob && !p.is_tapping)
                error = fmax(error, r.error);
            if (!p.is_blob && fast == 1)
                step = fmax(step, r.step);
            if (!p.is_blob && p.is_tapping) {
                tap_error = fmax(tap_error, r.error);
                tap_proxy = fmax(tap_proxy, r.proxy_error);
            }
        }
    bench_value("feel_05", 100 * error, "%");
    /* tapping, the force leads the depth by half a tick (the coupling's answer to the hold) and the
     * passivity controller takes what that would add; the proxy itself is where it must be */
    bench_extra("tap_force_error_percent", 100 * tap_error);
    bench_extra("tap_proxy_error_m", tap_proxy);
    bench_value("feel_06_parametric", step, "N");
    bench_value("feel_07_parametric", 100 * lost, "%");
    bench_value("feel_proxy_inside_body", 1e3 * inside, "mm");
}

static void edges(void)
{
    const double depths[3] = {0.00025, 0.001, 0.002};
    double seam = 0;
    double edge = 0;
    for (int i = 0; i < 3; i++) {
        seam = fmax(seam, feel_body_seam("config/bodies/sphere-six.json", 0.024, 0.03, depths[i]));
        edge = fmax(edge,
                    feel_body_edge("tests/data/bodies/block.json", 0.012, 0.012, 0.03, depths[i]));
        edge = fmax(edge, feel_edge(0.03, depths[i]));
    }
    bench_value("feel_16_seam", seam, "N"); /* 30 mm/s, 0.25 to 2 mm deep */
    bench_value("feel_16_edge", edge, "N");
}

int main(void)
{
    slide();
    edges();
    bench_value("feel_12_parametric", feel_body_thin("tests/data/bodies/wafer.json", 1.0, 40),
                "count");
    time_ticks();
    return 0;
}
