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

/* Slopes, per component, that pass all values so far within the noise. */
typedef struct slopes {
    vec3 low, high;
} slopes;

HR_RT static bool allows(const slopes *s, vec3 slope)
{
    return slope.x >= s->low.x && slope.x <= s->high.x && slope.y >= s->low.y &&
           slope.y <= s->high.y && slope.z >= s->low.z && slope.z <= s->high.z;
}

/* Not fmin and fmax: those are calls, and there is no NaN here to treat well. */
HR_RT static double larger(double a, double b)
{
    return a > b ? a : b;
}

HR_RT static double smaller(double a, double b)
{
    return a < b ? a : b;
}

HR_RT static void narrow(slopes *s, vec3 slope, double slack)
{
    s->low.x = larger(s->low.x, slope.x - slack);
    s->low.y = larger(s->low.y, slope.y - slack);
    s->low.z = larger(s->low.z, slope.z - slack);
    s->high.x = smaller(s->high.x, slope.x + slack);
    s->high.y = smaller(s->high.y, slope.y + slack);
    s->high.z = smaller(s->high.z, slope.z + slack);
}

HR_RT vec3 rate_push(rate_filter *f, vec3 value, double dt)
{
    f->time += f->count ? dt : 0;
    f->newest = f->newest + 1 < RATE_WINDOW_MAX ? f->newest + 1 : 0;
    f->values[f->newest] = value;
    f->times[f->newest] = f->time;
    if (f->count < RATE_WINDOW_MAX)
        f->count++;

    /* A line through the newest value passes a value of some age within the noise if its slope is
     * within noise / age of the slope to that value: one interval per value, cut with the others,
     * instead of a look at all values for every window. */
    slopes open = {{-(double)INFINITY, -(double)INFINITY, -(double)INFINITY},
                   {(double)INFINITY, (double)INFINITY, (double)INFINITY}};
    for (int n = 1; n < f->count; n++) {
        int i = back(f, n);
        double span = f->time - f->times[i];
        if (!(span > 1e-9))
            continue;
        double inverse = 1.0 / span;
        vec3 slope = vec3_scale(inverse, vec3_sub(value, f->values[i]));
        if (!allows(&open, slope))
            break;
        f->rate = slope;
        narrow(&open, slope, f->noise * inverse);
    }
    return f->rate;
}
