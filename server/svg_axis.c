#include "server/svg_axis.h"

#include <math.h>
#include <stdio.h>

double svg_map(const svg_span_map *m, double value)
{
    if (!isfinite(value) || (m->is_log && value <= 0))
        return (double)NAN;
    double part = m->is_log ? log10(value / m->low) / log10(m->high / m->low)
                            : (value - m->low) / (m->high - m->low);
    return m->from + part * (m->to - m->from);
}

double svg_unmap(const svg_span_map *m, double pixel)
{
    double part = (pixel - m->from) / (m->to - m->from);
    return m->is_log ? m->low * pow(m->high / m->low, part) : m->low + part * (m->high - m->low);
}

void svg_widen(svg_span_map *m, double margin)
{
    if (m->is_log) {
        if (!(m->high > 0))
            m->high = 1;
        if (!(m->low > 0) || !isfinite(m->low))
            m->low = m->high / 10;
        if (m->low >= m->high) {
            m->low = m->low / 2;
            m->high = m->low * 4;
        }
        double factor = pow(m->high / m->low, margin);
        m->low /= factor;
        m->high *= factor;
        return;
    }
    if (!isfinite(m->low) || !isfinite(m->high)) {
        m->low = 0;
        m->high = 1;
    }
    /* narrower than the digits of a double can tell apart counts as one value */
    double size = fmax(fabs(m->low), fabs(m->high));
    if (m->high - m->low <= 1e-12 * size || m->low >= m->high) {
        double half = size > 0 ? 0.05 * size : 1;
        m->low -= half;
        m->high += half;
    }
    double pad = margin * (m->high - m->low);
    m->low -= pad;
    m->high += pad;
}

/* The smallest of 1, 2, 5, 10 times a power of ten that is not below x > 0. */
static double round_up(double x)
{
    double power = pow(10, floor(log10(x)));
    const double steps[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (steps[i] * power >= x * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

static int linear_ticks(const svg_span_map *m, int wanted, svg_tick *out)
{
    double step = round_up((m->high - m->low) / wanted);
    double first = ceil(m->low / step - 1e-9);
    double last = floor(m->high / step + 1e-9);
    int count = 0;
    for (double k = first; k <= last && count < SVG_TICKS_MAX; k += 1) {
        svg_tick *t = &out[count++];
        t->value = k * step;
        t->exponent = 0;
        /* digits down to the step and no further, so that 3 * 0.1 is written 0.3 */
        int digits = (int)fmin(15, fmax(1, 2 + floor(log10(fmax(fabs(t->value), step) / step))));
        snprintf(t->text, sizeof t->text, "%.*g", digits, k == 0 ? 0.0 : t->value);
    }
    return count;
}

static void label_power(svg_tick *t, int exponent)
{
    t->exponent = 0;
    if (exponent >= -2 && exponent <= 4) {
        snprintf(t->text, sizeof t->text, "%g", pow(10, exponent));
        return;
    }
    snprintf(t->text, sizeof t->text, "10");
    t->exponent = exponent;
}

static int log_ticks(const svg_span_map *m, int wanted, svg_tick *out)
{
    int first = (int)floor(log10(m->low) + 1e-9);
    int last = (int)ceil(log10(m->high) - 1e-9);
    double decades = log10(m->high / m->low);
    int stride = (int)fmax(1, ceil(decades / wanted));
    int count = 0;
    for (int e = first; e <= last; e++)
        for (int digit = 1; digit <= 9 && count < SVG_TICKS_MAX; digit++) {
            double value = digit * pow(10, e);
            if (value < m->low * (1 - 1e-9) || value > m->high * (1 + 1e-9))
                continue;
            if (decades > 5 && digit > 1)
                continue;
            svg_tick *t = &out[count++];
            t->value = value;
            t->text[0] = '\0';
            t->exponent = 0;
            if (digit == 1 && e % stride == 0)
                label_power(t, e);
            else if (decades < 1.5 && (digit == 2 || digit == 5))
                snprintf(t->text, sizeof t->text, "%g", value);
        }
    return count;
}

int svg_ticks(const svg_span_map *m, int wanted, svg_tick out[SVG_TICKS_MAX])
{
    return m->is_log ? log_ticks(m, wanted, out) : linear_ticks(m, wanted, out);
}
