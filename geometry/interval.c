/* Interval arithmetic by outward steps of one unit, interval sine and cosine, interval matrices. */
#include "geometry/interval.h"

HR_RT static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

HR_RT static inline double greater(double a, double b)
{
    return a > b ? a : b;
}

HR_RT interval interval_multiply(interval a, interval b)
{
    double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    /* The sum is not a number exactly when some product is not; a comparison would hide it. */
    double poison = 0 * (p + q + r + s);
    double low = lesser(lesser(p, q), lesser(r, s)) + poison;
    double high = greater(greater(p, q), greater(r, s)) + poison;
    return (interval){interval_step_down(low), interval_step_up(high)};
}

HR_RT interval interval_scale(double s, interval a)
{
    double p = s * a.low, q = s * a.high;
    double poison = 0 * (p + q);
    return (interval){interval_step_down(lesser(p, q) + poison),
                      interval_step_up(greater(p, q) + poison)};
}

HR_RT interval interval_square(interval a)
{
    double p = a.low * a.low, q = a.high * a.high;
    double poison = 0 * (p + q);
    double low = interval_may_vanish(a) ? 0 : greater(0, interval_step_down(lesser(p, q)));
    return (interval){low + poison, interval_step_up(greater(p, q) + poison)};
}

/* Is there a k with (offset + 4 k) quarter turns inside the angle? The margin takes the cautious
 * side: the quotient is wrong by a few units in its last place. */
HR_RT static bool may_hold_quarter(interval angle, double offset)
{
    const double quarter = 1.57079632679489661923;
    double first = angle.low / quarter, last = angle.high / quarter;
    double margin = 0x1p-49 * (fabs(first) + fabs(last) + 1);
    double k = ceil((first - margin - offset) / 4);
    return offset + 4 * k <= last + margin;
}

/* 4 units of the last place: the library's sine and cosine are good to one. */
HR_RT static interval around(double x, double y)
{
    double slack = 0x1p-51;
    return (interval){lesser(x, y) - slack, greater(x, y) + slack};
}

HR_RT static interval wave(interval angle, interval ends, double top, double bottom)
{
    if (may_hold_quarter(angle, top) || ends.high > 1)
        ends.high = 1;
    if (may_hold_quarter(angle, bottom) || ends.low < -1)
        ends.low = -1;
    return ends;
}

/* Angles beyond 2^40 rad are a whole turn wide in effect: their quarter count is not exact. */
HR_RT static bool covers_circle(interval angle)
{
    return !(angle.high - angle.low < 6.2831853) || !(interval_magnitude(angle) < 0x1p40);
}

HR_RT interval interval_sin(interval angle)
{
    if (covers_circle(angle))
        return (interval){-1, 1};
    return wave(angle, around(sin(angle.low), sin(angle.high)), 1, 3);
}

HR_RT interval interval_cos(interval angle)
{
    if (covers_circle(angle))
        return (interval){-1, 1};
    return wave(angle, around(cos(angle.low), cos(angle.high)), 0, 2);
}

HR_RT interval_rigid interval_rigid_constant(const rigid *a_from_b)
{
    interval_rigid out;
    const double *origin = &a_from_b->origin.x;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out.m[i][j] = interval_point(a_from_b->rotation.m[i][j]);
        out.m[i][3] = interval_point(origin[i]);
    }
    return out;
}

/* Rodrigues: a a^T + cos (1 - a a^T) + sin K. */
HR_RT interval_rigid interval_rigid_screw(vec3 axis, interval angle, interval slide)
{
    interval c = interval_cos(angle), s = interval_sin(angle);
    const double a[3] = {axis.x, axis.y, axis.z};
    const double skew[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
    interval_rigid out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            interval along = interval_scale(a[i], interval_point(a[j]));
            interval across = interval_sub(interval_point(i == j ? 1 : 0), along);
            interval turned =
                interval_add(interval_multiply(c, across), interval_scale(skew[i][j], s));
            out.m[i][j] = interval_add(along, turned);
        }
        out.m[i][3] = interval_scale(a[i], slide);
    }
    return out;
}

HR_RT void interval_rigid_compose(const interval_rigid *a_from_b, const interval_rigid *b_from_c,
                                  interval_rigid *a_from_c)
{
    interval_rigid out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            interval sum = j == 3 ? a_from_b->m[i][3] : interval_point(0);
            for (int k = 0; k < 3; k++)
                sum = interval_add(sum, interval_multiply(a_from_b->m[i][k], b_from_c->m[k][j]));
            out.m[i][j] = sum;
        }
    }
    *a_from_c = out;
}

HR_RT void interval_rigid_inverse(const interval_rigid *a_from_b, interval_rigid *b_from_a)
{
    interval_rigid out;
    for (int i = 0; i < 3; i++) {
        interval sum = interval_point(0);
        for (int k = 0; k < 3; k++) {
            out.m[i][k] = a_from_b->m[k][i];
            sum = interval_sub(sum, interval_multiply(a_from_b->m[k][i], a_from_b->m[k][3]));
        }
        out.m[i][3] = sum;
    }
    *b_from_a = out;
}

HR_RT void interval_rigid_apply(const interval_rigid *a_from_b, const interval point_b[3],
                                interval point_a[3])
{
    interval out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = a_from_b->m[i][3];
        for (int k = 0; k < 3; k++)
            out[i] = interval_add(out[i], interval_multiply(a_from_b->m[i][k], point_b[k]));
    }
    for (int i = 0; i < 3; i++)
        point_a[i] = out[i];
}
