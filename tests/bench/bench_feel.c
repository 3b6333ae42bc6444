/* How it feels, as figures: energy, stiffness, ripple and friction on the simulated Falcon held by
 * the simulated hand; plates, hinges, slow worlds, thin parts and edges with an imposed tool (which
 * exaggerates what a hand would feel). */
#include <math.h>
#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/support/feel.h"
#include "tests/support/feel_grip.h"

static void twice(const char *name, const char *row, double value, const char *unit)
{
    bench_value(name, value, unit);
    bench_value(row, value, unit);
}

/* Both axes, with the device's own friction and without. */
static grip_case variant(double stiffness, int i)
{
    grip_case c = grip_case_usual(stiffness);
    c.axis = i & 1;
    if (i & 2)
        c.device_friction = 0;
    return c;
}

static void energy(void)
{
    double worst = -1, raw = -1, bound = 0;
    int episodes = 0;
    for (double k = 500; k <= 2500; k += 500)
        for (int i = 0; i < 4 * GRIPS; i++) {
            grip_case c = variant(k, i / GRIPS);
            grip_energy e = feel_energy(&c, &grips[i % GRIPS]);
            episodes += e.episodes;
            raw = fmax(raw, e.worst_raw);
            if (e.worst > worst) {
                worst = e.worst;
                bound = e.bound;
            }
        }
    twice("feel_energy_j", "feel_13", worst, "J");
    bench_extra("before_bound_j", raw);
    bench_extra("bound_j", bound);
    bench_extra("episodes", episodes);
}

/* The highest stiffness up to which no grip on either axis swings. */
static double highest(double friction, int is_layer_off)
{
    double held = 0;
    for (double k = 500; k <= 8000; k += 500) {
        for (int i = 0; i < 2 * GRIPS; i++) {
            grip_case c = variant(k, i / GRIPS);
            c.device_friction = friction;
            c.tremor = 0;
            c.is_layer_off = is_layer_off;
            if (feel_swing(&c, &grips[i % GRIPS]) > GRIP_CYCLE_M)
                return held;
        }
        held = k;
    }
    return held;
}

static void ripple(void)
{
    double worst = 0, free = 0;
    for (int i = 0; i < 4 * GRIPS; i++) {
        grip_case c = variant(1500, i / GRIPS);
        for (int strong = 0; strong < 2; strong++) {
            c.tremor = strong ? 100e-6 : 20e-6;
            double r = feel_ripple(&c, &grips[i % GRIPS]);
            if (c.device_friction < 0)
                worst = fmax(worst, r);
            else
                free = fmax(free, r);
        }
    }
    twice("feel_ripple_n_rms", "feel_15", worst, "N");
    bench_extra("frictionless_device_n_rms", free);
}

static void friction(void)
{
    double worst = 0;
    int breaks = 0;
    for (int i = 0; i < 2 * GRIPS; i++) {
        int n = 0;
        grip_case c = grip_case_usual(i < GRIPS ? 1500 : 2500);
        worst = fmax(worst, feel_grip_friction(&c, &grips[i % GRIPS], &n));
        breaks += n;
    }
    twice("feel_friction_error", "feel_17", 100 * worst, "%");
    bench_extra("breaks", breaks);
}

static void imposed(void)
{
    int passed = 0;
    for (int i = 0; i < 40; i++)
        passed += feel_plate(0.05 * pow(40, i / 39.0), i % 2, i % 4 < 2 ? 0.0005 : 0,
                             i % 3 ? 0.002 : 0, 100u + (unsigned)i);
    bench_value("feel_08", passed, "trials");
    bench_value("feel_09", 1e3 * feel_hinge(), "mm");
    const int rates[4] = {1000, 250, 100, 60};
    double inside = 0;
    for (int i = 0; i < 4; i++) {
        char name[64];
        double penetration = 0, step = feel_slow_poses(0.2, rates[i], &penetration);
        inside = fmax(inside, penetration);
        snprintf(name, sizeof name, "feel_world_%d_hz", rates[i]);
        bench_value(name, step, "N");
        bench_extra("proxy_inside_mm", 1e3 * penetration);
        if (rates[i] == 100)
            bench_value("feel_10", step, "N");
    }
    bench_value("feel_proxy_inside_moving_body", 1e3 * inside, "mm");
    bench_value("feel_12_analytic", feel_thin(40), "count");
}

int main(void)
{
    energy();
    twice("feel_max_stiffness_n_per_m", "feel_14", highest(-1, 0), "N/m");
    bench_extra("frictionless_device", highest(0, 0));
    bench_extra("layer_off", highest(-1, 1));
    bench_extra("layer_off_frictionless_device", highest(0, 1));
    ripple();
    friction();
    imposed();
    return 0;
}
