/* Velocity of an encoder from its counts, two ways. Callable from the servo thread.
 *
 * velocity_window: first-order adaptive windowing (Janabi-Sharifi, Hayward, Chen, "Discrete-time
 * adaptive windowing for velocity estimation", IEEE Trans. Control Systems Technology 8(6), 2000,
 * end-fit form): the longest window whose straight line from first to last sample passes every
 * sample between within the encoder's error. Slow motion gets a long window and little noise, fast
 * motion a short one and little delay.
 *
 * velocity_alpha_beta: the steady-state tracking filter, for comparison.
 *
 * velocity_parity: what CHAI3D does, for comparison and for programs tuned to it: newest sample
 * minus the oldest one younger than 15 ms; samples less than 0.1 ms apart are left out. */
#ifndef DEVICES_VELOCITY_H
#define DEVICES_VELOCITY_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry/base.h"

enum { VELOCITY_WINDOW_MAX = 20 }; /* samples: 20 ms at 1 kHz */

typedef struct velocity_window {
    double value[VELOCITY_WINDOW_MAX]; /* ring, any unit */
    int64_t time_ns[VELOCITY_WINDOW_MAX];
    int newest, count;
    double noise;    /* largest error of one value: one encoder step */
    double estimate; /* unit/s */
} velocity_window;

void velocity_window_init(velocity_window *v, double noise);

/* Forgets the past: after homing, a jump, a gap. */
HR_RT void velocity_window_reset(velocity_window *v);

/* Takes a value and returns the new estimate. A sample less than 50 us after the last one replaces
 * nothing and leaves the estimate; more than 100 ms after it starts afresh. */
HR_RT double velocity_window_add(velocity_window *v, int64_t time_ns, double value);

typedef struct velocity_alpha_beta {
    double value, speed;
    double alpha, beta;
    int64_t time_ns;
    int count;
} velocity_alpha_beta;

/* beta follows from alpha for critical damping: beta = 2 (2 - alpha) - 4 sqrt(1 - alpha). */
void velocity_alpha_beta_init(velocity_alpha_beta *v, double alpha);
HR_RT double velocity_alpha_beta_add(velocity_alpha_beta *v, int64_t time_ns, double value);

enum { VELOCITY_PARITY_SAMPLES = 200 };

typedef struct velocity_parity {
    double value[VELOCITY_PARITY_SAMPLES]; /* ring */
    int64_t time_ns[VELOCITY_PARITY_SAMPLES];
    int newest, tail, count;
    double estimate;
} velocity_parity;

void velocity_parity_init(velocity_parity *v);
HR_RT double velocity_parity_add(velocity_parity *v, int64_t time_ns, double value);

#endif
