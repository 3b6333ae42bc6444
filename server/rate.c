#include "server/rate.h"

void rate_init(rate_filter *f, double noise)
{
    *f = (rate_filter){.noise = noise};
}

HR_RT void rate_reset(rate_filter *f)
{
    f->count = 0;
    f->rate = (vec3){0, 0, 0};
}

HR_RT void rate_wait(rate_filter *f, double dt)
{
    f->time += dt;
}

/* Index of the value n steps before the newest. */
HR_RT static int back(const rate_filter *f, int n)
{
    int i = f->newest - n;
    return i < 0 ? i + RATE_WINDOW_MAX : i;
}

HR_RT static double off_line(const rate_filter *f, int n, vec3 slope)
{
    double age = f->times[f->newest] - f->times[back(f, n)];
    vec3 line = vec3_add_scaled(f->values[f->newest], -age, slope);
    vec3 d = vec3_sub(f->values[back(f, n)], line);
    return fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
}

HR_RT vec3 rate_push(rate_filter *f, vec3 value, double dt)
{
    f->time += f->count ? dt : 0;
    f->newest = f->newest + 1 < RATE_WINDOW_MAX ? f->newest + 1 : 0;
    f->values[f->newest] = value;
    f->times[f->newest] = f->time;
    if (f->count < RATE_WINDOW_MAX)
        f->count++;

    /* Bound: 23 windows of at most 22 values between. */
    for (int n = 1; n < f->count; n++) {
        double span = f->times[f->newest] - f->times[back(f, n)];
        if (!(span > 1e-9))
            continue;
        vec3 slope = vec3_scale(1.0 / span, vec3_sub(value, f->values[back(f, n)]));
        bool fits = true;
        for (int k = 1; k < n && fits; k++)
            fits = off_line(f, k, slope) <= f->noise;
        if (!fits)
            break;
        f->rate = slope;
    }
    return f->rate;
}
