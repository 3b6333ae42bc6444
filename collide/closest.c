/* Region walks for the well-conditioned cases; needles and near-parallel edges are decided by
 * comparing every candidate. */
#include "collide/closest.h"

/* sin^2 below which a triangle is a needle or two edges are parallel: the region walk divides by
 * it, so above it positions are good to 1e-8 of the feature's size. */
static const double narrow = 1e-8;

HR_RT static inline double clamp01(double x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

/* Parameter of the point of start + t edge nearest to point. */
HR_RT static inline double project(vec3 point, vec3 start, vec3 edge)
{
    double length = vec3_length_squared(edge);
    return length > 0 ? clamp01(vec3_dot(vec3_sub(point, start), edge) / length) : 0;
}

HR_RT static inline void measure(closest_pair *p)
{
    p->distance_squared = vec3_length_squared(vec3_sub(p->on_first, p->on_second));
}

HR_RT closest_pair closest_point_segment(vec3 point, vec3 start, vec3 end)
{
    vec3 edge = vec3_sub(end, start);
    double t = project(point, start, edge);
    closest_pair out = {.on_first = point,
                        .on_second = t < 1 ? vec3_add_scaled(start, t, edge) : end,
                        .weights = {1, 1 - t, t, 0}};
    measure(&out);
    return out;
}

HR_RT static closest_pair with_weights(vec3 p, const vec3 corner[3], double wa, double wb,
                                       double wc)
{
    vec3 q = vec3_add(vec3_scale(wa, corner[0]),
                      vec3_add(vec3_scale(wb, corner[1]), vec3_scale(wc, corner[2])));
    closest_pair out = {.on_first = p, .on_second = q, .weights = {1, wa, wb, wc}};
    measure(&out);
    return out;
}

HR_RT static closest_pair nearest_edge(vec3 p, const vec3 corner[3], closest_pair best)
{
    for (int i = 0; i < 3; i++) {
        int j = i == 2 ? 0 : i + 1;
        closest_pair edge = closest_point_segment(p, corner[i], corner[j]);
        if (edge.distance_squared < best.distance_squared) {
            double weights[3] = {0, 0, 0};
            weights[i] = edge.weights[1];
            weights[j] = edge.weights[2];
            best = (closest_pair){.on_first = p,
                                  .on_second = edge.on_second,
                                  .weights = {1, weights[0], weights[1], weights[2]},
                                  .distance_squared = edge.distance_squared};
        }
    }
    return best;
}

/* The Voronoi regions of a triangle, corner by corner and edge by edge. */
HR_RT closest_pair closest_point_triangle(vec3 p, vec3 a, vec3 b, vec3 c)
{
    const vec3 corner[3] = {a, b, c};
    vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), ap = vec3_sub(p, a);
    vec3 bp = vec3_sub(p, b), cp = vec3_sub(p, c);
    double d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap), d3 = vec3_dot(ab, bp);
    double d4 = vec3_dot(ac, bp), d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double sum = va + vb + vc, longest = vec3_length_squared(ab) + vec3_length_squared(ac);
    if (!(sum > narrow * longest * longest)) {
        closest_pair best = {.on_first = p, .on_second = a, .weights = {1, 1, 0, 0}};
        measure(&best);
        if (va >= 0 && vb >= 0 && vc >= 0 && sum > 0)
            best = with_weights(p, corner, va / sum, vb / sum, vc / sum);
        return nearest_edge(p, corner, best);
    }
    if (d1 <= 0 && d2 <= 0)
        return with_weights(p, corner, 1, 0, 0);
    if (d3 >= 0 && d4 <= d3)
        return with_weights(p, corner, 0, 1, 0);
    if (d6 >= 0 && d5 <= d6)
        return with_weights(p, corner, 0, 0, 1);
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return with_weights(p, corner, 1 - d1 / (d1 - d3), d1 / (d1 - d3), 0);
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return with_weights(p, corner, 1 - d2 / (d2 - d6), 0, d2 / (d2 - d6));
    double e = d4 - d3, f = d5 - d6;
    if (va <= 0 && e >= 0 && f >= 0)
        return with_weights(p, corner, 0, 1 - e / (e + f), e / (e + f));
    return with_weights(p, corner, va / sum, vb / sum, vc / sum);
}

HR_RT static closest_pair at_parameters(const vec3 p[4], vec3 u, vec3 v, double s, double t)
{
    closest_pair out = {.on_first = s < 1 ? vec3_add_scaled(p[0], s, u) : p[1],
                        .on_second = t < 1 ? vec3_add_scaled(p[2], t, v) : p[3],
                        .weights = {1 - s, s, 1 - t, t}};
    measure(&out);
    return out;
}

HR_RT static closest_pair nearer(closest_pair a, closest_pair b)
{
    return b.distance_squared < a.distance_squared ? b : a;
}

HR_RT closest_pair closest_segments(vec3 start_1, vec3 end_1, vec3 start_2, vec3 end_2)
{
    const vec3 p[4] = {start_1, end_1, start_2, end_2};
    vec3 u = vec3_sub(end_1, start_1), v = vec3_sub(end_2, start_2);
    vec3 r = vec3_sub(start_1, start_2);
    double a = vec3_dot(u, u), e = vec3_dot(v, v), b = vec3_dot(u, v);
    double c = vec3_dot(u, r), f = vec3_dot(v, r), area = a * e - b * b;
    bool is_skew = area > narrow * a * e && a > 0 && e > 0;
    double s = is_skew ? clamp01((b * f - c * e) / area) : 0;
    double t = e > 0 ? (b * s + f) / e : 0;
    if (!(t >= 0 && t <= 1)) {
        t = clamp01(t);
        s = a > 0 ? clamp01((b * t - c) / a) : 0;
    }
    closest_pair best = at_parameters(p, u, v, s, t);
    if (is_skew)
        return best;
    best = nearer(best, at_parameters(p, u, v, 0, project(p[0], p[2], v)));
    best = nearer(best, at_parameters(p, u, v, 1, project(p[1], p[2], v)));
    best = nearer(best, at_parameters(p, u, v, project(p[2], p[0], u), 0));
    best = nearer(best, at_parameters(p, u, v, project(p[3], p[0], u), 1));
    if (a > 0 && e > 0 && area > 0) {
        double inside = clamp01((b * f - c * e) / area);
        best = nearer(best, at_parameters(p, u, v, inside, clamp01((b * inside + f) / e)));
    }
    return best;
}
