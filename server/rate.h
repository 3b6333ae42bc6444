/* Rate of change of a quantised signal: a first-order fit over a window that adapts
 * (Janabi-Sharifi, Hayward, Chen 2000, end-fit version). The window is the longest past for which
 * the straight line from its start to the newest value stays within `noise` of all values between:
 * long and quiet while the signal is slow, short and quick when it bends. */
#ifndef SERVER_RATE_H
#define SERVER_RATE_H

#include <stdint.h>

#include "geometry/vec3.h"

enum { RATE_WINDOW_MAX = 20 };

typedef struct rate_filter {
    double noise; /* of each value, in its own unit; half a quantisation step or more */
    int count;    /* values held */
    int newest;   /* index */
    vec3 values[RATE_WINDOW_MAX];
    double times[RATE_WINDOW_MAX]; /* s, on a clock of the filter's own */
    double time;
    vec3 rate;
} rate_filter;

void rate_init(rate_filter *f, double noise);

/* Forgets the past; the rate becomes zero. */
HR_RT void rate_reset(rate_filter *f);

/* A new value dt after the last one (dt > 0; ignored for the first value). Returns the rate. A
 * scalar goes in x. */
HR_RT vec3 rate_push(rate_filter *f, vec3 value, double dt);

/* The same filter's clock moves on without a new value. */
HR_RT void rate_wait(rate_filter *f, double dt);

#endif
