/* Closed intervals that are safe outwards: the exact result of an operation on any members lies
 * inside the computed interval, whatever rounding did. Used for boxes, for the interval route of
 * continuous collision detection and as the second opinion beside Taylor models.
 * An end that is not a number means "nothing is known"; every predicate then answers the cautious
 * way. */
#ifndef GEOMETRY_INTERVAL_H
#define GEOMETRY_INTERVAL_H

#include <float.h>

#include "geometry/spatial.h"

typedef struct interval {
    double low, high;
} interval;

/* A rigid transform whose entries are only known to lie in intervals: m[row][column], column 3 is
 * the origin. */
typedef struct interval_rigid {
    interval m[3][4];
} interval_rigid;

/* At least one unit in the last place above x. |x| 2^-52 is between one and two units for normal
 * numbers, and the smallest denormal covers the rest. */
HR_RT static inline double interval_step_up(double x)
{
    return x + (fabs(x) * 0x1p-52 + DBL_TRUE_MIN);
}

HR_RT static inline double interval_step_down(double x)
{
    return x - (fabs(x) * 0x1p-52 + DBL_TRUE_MIN);
}

HR_RT static inline interval interval_point(double x)
{
    return (interval){x, x};
}

HR_RT static inline interval interval_hull(interval a, interval b)
{
    return (interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

HR_RT static inline interval interval_negate(interval a)
{
    return (interval){-a.high, -a.low};
}

HR_RT static inline interval interval_add(interval a, interval b)
{
    return (interval){interval_step_down(a.low + b.low), interval_step_up(a.high + b.high)};
}

HR_RT static inline interval interval_sub(interval a, interval b)
{
    return (interval){interval_step_down(a.low - b.high), interval_step_up(a.high - b.low)};
}

/* a widened by radius >= 0 on both sides. */
HR_RT static inline interval interval_widen(interval a, double radius)
{
    return (interval){interval_step_down(a.low - radius), interval_step_up(a.high + radius)};
}

HR_RT interval interval_multiply(interval a, interval b);
HR_RT interval interval_scale(double s, interval a);

/* The range of x^2, which never goes below zero. */
HR_RT interval interval_square(interval a);

HR_RT static inline double interval_width(interval a)
{
    return interval_step_up(a.high - a.low);
}

/* The largest magnitude in a. */
HR_RT static inline double interval_magnitude(interval a)
{
    return fabs(a.low) > fabs(a.high) ? fabs(a.low) : fabs(a.high);
}

HR_RT static inline bool interval_contains(interval a, double x)
{
    return a.low <= x && x <= a.high;
}

/* True unless 0 is certainly outside. */
HR_RT static inline bool interval_may_vanish(interval a)
{
    return !(a.low > 0 || a.high < 0);
}

/* True unless the two certainly have no common member. */
HR_RT static inline bool interval_may_overlap(interval a, interval b)
{
    return !(a.high < b.low || b.high < a.low);
}

/* Ranges of sine and cosine. An angle that is not finite gives [-1, 1]. */
HR_RT interval interval_sin(interval angle);
HR_RT interval interval_cos(interval angle);

HR_RT interval_rigid interval_rigid_constant(const rigid *a_from_b);

/* Rotation about the unit vector axis by any angle of the interval, then translation by
 * slide * axis. */
HR_RT interval_rigid interval_rigid_screw(vec3 axis, interval angle, interval slide);

/* a_from_b b_from_c = a_from_c, entry by entry: this is where plain intervals lose correlation. */
HR_RT void interval_rigid_compose(const interval_rigid *a_from_b, const interval_rigid *b_from_c,
                                  interval_rigid *a_from_c);

/* Transposed rotation; never an elimination. */
HR_RT void interval_rigid_inverse(const interval_rigid *a_from_b, interval_rigid *b_from_a);
HR_RT void interval_rigid_apply(const interval_rigid *a_from_b, const interval point_b[3],
                                interval point_a[3]);

#endif
