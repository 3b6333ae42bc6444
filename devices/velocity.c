#include "devices/velocity.h"

#include <math.h>
#include <string.h>

void velocity_window_init(velocity_window *v, double noise)
{
    memset(v, 0, sizeof *v);
    v->noise = noise;
}

HR_RT void velocity_window_reset(velocity_window *v)
{
    v->count = 0;
    v->estimate = 0;
}

/* Index in the ring of the sample `age` places before the newest. */
HR_RT static int place(const velocity_window *v, int age)
{
    int i = v->newest - age;
    return i < 0 ? i + VELOCITY_WINDOW_MAX : i;
}

HR_RT double velocity_window_add(velocity_window *v, int64_t time_ns, double value)
{
    if (v->count > 0) {
        int64_t since = time_ns - v->time_ns[v->newest];
        if (since < 50000)
            return v->estimate;
        if (since > 100000000)
            velocity_window_reset(v);
    }
    v->newest = v->newest + 1 < VELOCITY_WINDOW_MAX ? v->newest + 1 : 0;
    v->value[v->newest] = value;
    v->time_ns[v->newest] = time_ns;
    if (v->count < VELOCITY_WINDOW_MAX)
        v->count++;
    /* A line through the newest sample passes another within the noise if its slope is within
     * noise / age of the slope to that one: one interval per sample, cut with the others, instead
     * of a look at all samples between for every window. */
    const double edge = 1.001; /* a sample of an encoder is often exactly one step off */
    double low = -(double)INFINITY, high = (double)INFINITY;
    for (int age = 1; age < v->count; age++) {
        int i = place(v, age);
        double per_s = 1e9 / (double)(time_ns - v->time_ns[i]);
        double slope = (value - v->value[i]) * per_s, slack = edge * v->noise * per_s;
        if (slope < low || slope > high)
            break;
        v->estimate = slope;
        low = slope - slack > low ? slope - slack : low;
        high = slope + slack < high ? slope + slack : high;
    }
    return v->estimate;
}

void velocity_alpha_beta_init(velocity_alpha_beta *v, double alpha)
{
    memset(v, 0, sizeof *v);
    v->alpha = alpha;
    v->beta = 2 * (2 - alpha) - 4 * sqrt(1 - alpha);
}

HR_RT double velocity_alpha_beta_add(velocity_alpha_beta *v, int64_t time_ns, double value)
{
    double dt = (double)(time_ns - v->time_ns) * 1e-9;
    if (v->count == 0 || dt > 0.1) {
        v->value = value;
        v->speed = 0;
        v->count = 1;
    } else if (dt >= 50e-6) {
        double predicted = v->value + v->speed * dt;
        double residual = value - predicted;
        v->value = predicted + v->alpha * residual;
        v->speed += v->beta / dt * residual;
    } else {
        return v->speed;
    }
    v->time_ns = time_ns;
    return v->speed;
}

void velocity_parity_init(velocity_parity *v)
{
    memset(v, 0, sizeof *v);
}

HR_RT double velocity_parity_add(velocity_parity *v, int64_t time_ns, double value)
{
    if (v->count > 0 && time_ns - v->time_ns[v->newest] < 100000)
        return v->estimate;
    v->newest = v->newest + 1 < VELOCITY_PARITY_SAMPLES ? v->newest + 1 : 0;
    v->value[v->newest] = value;
    v->time_ns[v->newest] = time_ns;
    if (v->count < VELOCITY_PARITY_SAMPLES)
        v->count++;
    if (v->count == 1 || v->tail == v->newest)
        v->tail = v->newest;
    for (int n = 0; n < VELOCITY_PARITY_SAMPLES && v->tail != v->newest; n++) {
        if (time_ns - v->time_ns[v->tail] < 15000000)
            break;
        v->tail = v->tail + 1 < VELOCITY_PARITY_SAMPLES ? v->tail + 1 : 0;
    }
    if (v->tail != v->newest)
        v->estimate = (value - v->value[v->tail]) * 1e9 / (double)(time_ns - v->time_ns[v->tail]);
    else if (v->count > 1)
        v->estimate = 0;
    return v->estimate;
}
