/* Axes of a picture: ranges, round tick values, and the way from a value to pixels. */
#ifndef SERVER_SVG_AXIS_H
#define SERVER_SVG_AXIS_H

#include <stdbool.h>

enum { SVG_TICKS_MAX = 64 };

/* Value range low..high shown between pixels from and to; low < high, both > 0 when is_log. */
typedef struct svg_span_map {
    double low, high;
    double from, to;
    bool is_log;
} svg_span_map;

/* A tick without text is a minor one. */
typedef struct svg_tick {
    double value;
    char text[32];
    int exponent; /* of ten, when the text is "10" and stands for a power */
} svg_tick;

/* Pixel of a value; NaN where it has none (not finite, or not positive on a logarithmic axis). */
double svg_map(const svg_span_map *m, double value);

/* The value at a pixel: the inverse. */
double svg_unmap(const svg_span_map *m, double pixel);

/* Makes low..high a range that can be shown: an empty one opens around its value, a logarithmic
 * one becomes positive. margin is a fraction of the range added on both sides. */
void svg_widen(svg_span_map *m, double margin);

/* At most about `wanted` labelled ticks at 1, 2 or 5 times powers of ten; returns how many. */
int svg_ticks(const svg_span_map *m, int wanted, svg_tick out[SVG_TICKS_MAX]);

#endif
