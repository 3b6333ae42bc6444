/* The ellipsoid p = A s, s a unit vector: the witness law in a chart that is re-centred at s in
 * every step, so that there are no poles. Tangent basis E, J = A E, second derivatives -A s on the
 * diagonal. With e = p - q the gradient is J^T e and the Hessian J^T J - (e . A s) I. A step that
 * the Hessian cannot justify is replaced by the exact solution through its one scalar root. */
#include "collide/shape_kinds.h"

enum { NEWTON_STEPS = 6, ROOT_STEPS = 60 };

HR_RT static vec3 scaled(vec3 a, vec3 b)
{
    return (vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

/* One Newton step of s; false where the Hessian is not positive definite. *error is the length of
 * the step in s. */
HR_RT static bool newton_step(vec3 semi, vec3 q, vec3 *s, double *error)
{
    vec3 p = scaled(semi, *s);
    vec3 e = vec3_sub(p, q);
    vec3 t1 = vec3_any_perpendicular(*s);
    vec3 t2 = vec3_cross(*s, t1);
    vec3 j1 = scaled(semi, t1), j2 = scaled(semi, t2);
    double bend = vec3_dot(e, p);
    double h11 = vec3_dot(j1, j1) - bend;
    double h12 = vec3_dot(j1, j2);
    double h22 = vec3_dot(j2, j2) - bend;
    double det = h11 * h22 - h12 * h12;
    double trace = h11 + h22;
    if (!(h11 > 0) || !(det > 1e-6 * trace * trace))
        return false;
    double g1 = vec3_dot(j1, e), g2 = vec3_dot(j2, e);
    double d1 = -(h22 * g1 - h12 * g2) / det;
    double d2 = -(h11 * g2 - h12 * g1) / det;
    vec3 moved = vec3_add_scaled(vec3_add_scaled(*s, d1, t1), d2, t2);
    *error = sqrt(d1 * d1 + d2 * d2);
    *s = vec3_normalize_or(moved, *s);
    return true;
}

/* sum (a_i q_i / (t + a_i^2))^2 - 1 and its derivative */
HR_RT static double secular(vec3 semi, vec3 q, double t, double *slope)
{
    double a[3] = {semi.x, semi.y, semi.z}, y[3] = {q.x, q.y, q.z};
    double sum = -1;
    *slope = 0;
    for (int i = 0; i < 3; i++) {
        double r = a[i] * y[i] / (t + a[i] * a[i]);
        sum += r * r;
        *slope -= 2.0 * r * r / (t + a[i] * a[i]);
    }
    return sum;
}

/* The globally nearest point: p_i = a_i^2 q_i / (t + a_i^2) for the largest root t of the secular
 * equation, bracketed and found by Newton kept inside the bracket. Where q lies in the plane of
 * symmetry across the shortest axis and the root is the pole, s leaves along that axis. */
HR_RT static vec3 nearest_direction(vec3 semi, vec3 q)
{
    double a[3] = {semi.x, semi.y, semi.z}, y[3] = {q.x, q.y, q.z};
    int shortest = 0;
    for (int i = 1; i < 3; i++)
        if (a[i] < a[shortest])
            shortest = i;
    double pole = -a[shortest] * a[shortest];
    double low = pole + a[shortest] * fabs(y[shortest]);
    double high = pole;
    for (int i = 0; i < 3; i++)
        high += a[i] * fabs(y[i]);
    double t = high;
    for (int i = 0; i < ROOT_STEPS && high > low; i++) {
        double slope;
        double value = secular(semi, q, t, &slope);
        if (value > 0)
            low = t;
        else
            high = t;
        double next = t - value / slope;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (next == t)
            break;
        t = next;
    }
    double s[3], rest = 1;
    for (int i = 0; i < 3; i++) {
        double scale = t + a[i] * a[i];
        s[i] = scale > 1e-14 * a[i] * a[i] ? a[i] * y[i] / scale : 0;
        rest -= i == shortest ? 0 : s[i] * s[i];
    }
    if (t - pole <= 1e-12 * -pole)
        s[shortest] = copysign(sqrt(fmax(rest, 0)), y[shortest]);
    return vec3_normalize_or((vec3){s[0], s[1], s[2]}, (vec3){0, 0, 1});
}

HR_RT void shape_follow_ellipsoid(vec3 semi, shape_tracker *tracker, vec3 point, shape_contact *out)
{
    shape_track *track = &tracker->tracks[0];
    vec3 s;
    double error = 1;
    uint32_t flags = 0;
    bool is_good = tracker->track_count > 0;
    if (is_good)
        s = direction_from_chart(track->u, track->v);
    else
        s = nearest_direction(semi, point);

    for (int i = 0; i < NEWTON_STEPS && error > 1e-13; i++) {
        if (newton_step(semi, point, &s, &error) && error < 0.7)
            continue;
        s = nearest_direction(semi, point);
        error = 0;
        flags |= SHAPE_TRACK_DEGRADED;
    }
    if (error < 1e-9)
        flags |= SHAPE_TRACK_CONVERGED;

    out->point = scaled(semi, s);
    out->normal = vec3_normalize_or((vec3){s.x / semi.x, s.y / semi.y, s.z / semi.z}, s);
    out->gap = vec3_dot(out->normal, vec3_sub(point, out->point));
    out->feature = 0;
    direction_to_chart(s, &track->u, &track->v);
    track->flags = flags;
    tracker->track_count = 1;
    tracker->flags = flags;
}
