/* Interval bounds of the coplanarity function and of the inside conditions. */
#include "collide/coplanarity_ccd.h"

enum { DEPTH_MAX = 64 };

typedef struct interval3 {
    interval x, y, z;
} interval3;

/* Range over [low, high] of points[a] - points[b], coordinate by coordinate. */
HR_RT static interval3 difference(const feature_motion *m, int a, int b, double low, double high)
{
    const taylor_point *p = &m->points[a], *q = &m->points[b];
    taylor_point d = {.r = vec3_add(p->r, q->r)};
    for (int k = 0; k < 3; k++)
        d.c[k] = vec3_sub(p->c[k], q->c[k]);
    /* The subtractions above are off by one unit of the terms. */
    double reach = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    double size = 0;
    for (int k = 2; k >= 0; k--)
        size = size * reach + (vec3_length(p->c[k]) + vec3_length(q->c[k]));
    double slack = 0x1p-52 * size;
    d.r = vec3_add(d.r, (vec3){slack, slack, slack});
    return (interval3){taylor_point_range(&d, (vec3){1, 0, 0}, low, high),
                       taylor_point_range(&d, (vec3){0, 1, 0}, low, high),
                       taylor_point_range(&d, (vec3){0, 0, 1}, low, high)};
}

HR_RT static interval dot(interval3 a, interval3 b)
{
    return interval_add(interval_add(interval_multiply(a.x, b.x), interval_multiply(a.y, b.y)),
                        interval_multiply(a.z, b.z));
}

HR_RT static interval3 cross(interval3 a, interval3 b)
{
    return (interval3){interval_sub(interval_multiply(a.y, b.z), interval_multiply(a.z, b.y)),
                       interval_sub(interval_multiply(a.z, b.x), interval_multiply(a.x, b.z)),
                       interval_sub(interval_multiply(a.x, b.y), interval_multiply(a.y, b.x))};
}

HR_RT static bool face_is_free(const feature_motion *m, double low, double high)
{
    interval3 normal = cross(difference(m, 2, 1, low, high), difference(m, 3, 1, low, high));
    if (!interval_may_vanish(dot(difference(m, 0, 1, low, high), normal)))
        return true;
    for (int i = 1; i < 4; i++) { /* outside one edge plane? */
        int j = i == 3 ? 1 : i + 1;
        interval3 edge = difference(m, j, i, low, high), arm = difference(m, 0, i, low, high);
        if (dot(cross(edge, arm), normal).high < 0)
            return true;
    }
    return false;
}

/* The parameter of the crossing on one edge is numerator / denominator. */
HR_RT static bool misses_edge(interval numerator, interval denominator)
{
    return numerator.high < 0 || interval_sub(numerator, denominator).low > 0;
}

HR_RT static bool edges_are_free(const feature_motion *m, double low, double high)
{
    interval3 u = difference(m, 1, 0, low, high), v = difference(m, 3, 2, low, high);
    interval3 gap = difference(m, 2, 0, low, high), normal = cross(u, v);
    if (!interval_may_vanish(dot(gap, normal)))
        return true;
    interval square =
        interval_add(interval_add(interval_square(normal.x), interval_square(normal.y)),
                     interval_square(normal.z));
    return misses_edge(dot(cross(gap, v), normal), square) ||
           misses_edge(dot(cross(gap, u), normal), square);
}

HR_RT void coplanarity_ccd(const feature_motion *motion, double low, double high,
                           const feature_limits *limits, feature_result *out)
{
    double ends[DEPTH_MAX], start = low, end = high;
    int depth = 0;
    *out = (feature_result){.verdict = FEATURE_CONTACT};
    for (;;) {
        out->time = start;
        if (out->nodes++ == limits->nodes) {
            out->verdict = FEATURE_BUDGET;
            return;
        }
        bool is_free = motion->kind == FEATURE_VERTEX_FACE ? face_is_free(motion, start, end)
                                                           : edges_are_free(motion, start, end);
        if (is_free) {
            if (depth == 0)
                break;
            start = end;
            end = ends[--depth];
            continue;
        }
        double middle = 0.5 * (start + end);
        if (!(end - start > limits->time_tolerance) || depth == DEPTH_MAX || !(middle > start))
            return;
        ends[depth++] = end;
        end = middle;
    }
    out->verdict = FEATURE_FREE;
    out->time = high;
}
