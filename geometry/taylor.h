/* Second-order Taylor models of rigid transforms in time. On a time interval with midpoint tm and
 * half-width h, with s = t - tm in [-h, h]:
 *
 *     M(t)  lies in  C0 + C1 s + C2 s^2 + E,   |E| <= R  entry by entry.
 *
 * The radius R holds the remainder of the series and an a-priori bound of every rounding error, so
 * that no rounding mode is ever switched. A model encloses a motion that is exactly rigid: constant
 * transforms come in with a radius that covers how far their rotation is from orthonormal.
 * An entry that is not finite means "nothing is known"; it never compares as separated. */
#ifndef GEOMETRY_TAYLOR_H
#define GEOMETRY_TAYLOR_H

#include "geometry/interval.h"

/* 3x4, row-major; column 3 is the origin. */
typedef struct taylor_matrix {
    double m[3][4] __attribute__((aligned(16)));
} taylor_matrix;

/* a_from_b(t). Two models meet only if their intervals are the same. */
typedef struct taylor {
    taylor_matrix c[3]; /* c[k] is the coefficient of s^k */
    taylor_matrix r;    /* radius, >= 0 */
    double half;        /* h, in units of the step; >= 0 */
} taylor;

/* A point that moves on a polynomial: c[0] + c[1] s + c[2] s^2, each coordinate off by at most r.
 */
typedef struct taylor_point {
    vec3 c[3];
    vec3 r; /* m, >= 0 */
} taylor_point;

HR_RT void taylor_constant(const rigid *a_from_b, double half, taylor *out);

/* Rotation about the unit vector axis by angle + rate s, then translation by slide + slide_rate s.
 * angle_error bounds what rounding did to `angle` (rad). A turn too large for a series within the
 * interval gets the model "anything on the circle". */
HR_RT void taylor_screw(vec3 axis, double angle, double rate, double angle_error, vec3 slide,
                        vec3 slide_rate, double half, taylor *out);

/* a_from_b b_from_c = a_from_c. out must not be an input. */
HR_RT void taylor_compose(const taylor *a_from_b, const taylor *b_from_c, taylor *out);

/* The same with a constant second or first factor, at a third of the cost. */
HR_RT void taylor_compose_rigid(const taylor *a_from_b, const rigid *b_from_c, taylor *out);
HR_RT void taylor_rigid_compose(const rigid *a_from_b, const taylor *b_from_c, taylor *out);

/* b_from_a. out must not be an input. */
HR_RT void taylor_inverse(const taylor *a_from_b, taylor *out);

/* inverse(w_from_a) w_from_b = a_from_b, with the two origins subtracted before they are turned:
 * tighter and cheaper than inverse and product. */
HR_RT void taylor_relative(const taylor *w_from_a, const taylor *w_from_b, taylor *out);

/* The same motion on the part of the interval around s = centre with half-width half; the part
 * must lie inside. The radius does not shrink. */
HR_RT void taylor_shift(const taylor *a, double centre, double half, taylor *out);

/* Ranges of all entries over the interval. */
HR_RT void taylor_bound(const taylor *a, interval_rigid *out);

/* The polynomial part at s, without the radius. */
HR_RT rigid taylor_at(const taylor *a, double s);

/* The path of a fixed point of frame b, seen in frame a. */
HR_RT taylor_point taylor_apply(const taylor *a_from_b, vec3 point_b);

/* Range over [low, high] of direction . path, exact up to the radius and rounding. */
HR_RT interval taylor_point_range(const taylor_point *path, vec3 direction, double low,
                                  double high);

/* Range over the interval of direction . (M(t) point_b - point_a). */
HR_RT interval taylor_range(const taylor *a_from_b, vec3 direction, vec3 point_b, vec3 point_a);

/* Range of the quadratic a + b s + c s^2 over [low, high] in round-to-nearest: ends, and the vertex
 * where it lies inside. Off by at most 8u (|a| + |b| S + |c| S^2), S = max(|low|, |high|). */
HR_RT static inline interval taylor_quadratic(double a, double b, double c, double low, double high)
{
    double p = a + low * (b + low * c), q = a + high * (b + high * c);
    interval out = p < q ? (interval){p, q} : (interval){q, p};
    double vertex = -b / (2 * c);
    if (vertex > low && vertex < high) {
        double v = a + 0.5 * vertex * b;
        out = interval_hull(out, interval_point(v));
    }
    return p + q - (p + q) == 0 ? out : (interval){(double)NAN, (double)NAN};
}

/* Largest radius that a point of frame b within `reach` of its origin has in any coordinate. */
HR_RT double taylor_radius(const taylor *a, double reach);

#endif
