/* Separating direction plus bisection of time. */
#include "collide/feature_ccd.h"

/* 32u: a dot product with a direction of length 1 (3u), the rounding of a velocity made from two
 * positions (1u) and the quadratic (8u), with a factor of more than two to spare. */
static const double rounding = 32 * 0x1p-53;

/* A computed unit vector may be longer than 1 by this. */
static const double longer = 1 + 16 * 0x1p-53;

enum { DEPTH_MAX = 64 };

HR_RT feature_limits feature_limits_default(void)
{
    return (feature_limits){
        .separation = 0, .tolerance = 1e-6, .time_tolerance = 0x1p-40, .nodes = 200000};
}

HR_RT static inline int first_count(feature_kind kind)
{
    return kind == FEATURE_VERTEX_FACE ? 1 : 2;
}

HR_RT feature_motion feature_motion_linear(feature_kind kind, const vec3 start[4],
                                           const vec3 end[4])
{
    feature_motion out = {.kind = kind};
    for (int i = 0; i < 4; i++) {
        out.points[i].c[0] = start[i];
        out.points[i].c[1] = vec3_sub(end[i], start[i]);
    }
    return out;
}

HR_RT feature_motion feature_motion_rigid(feature_kind kind, const taylor *a_from_b,
                                          const vec3 *moving, const vec3 *resting)
{
    feature_motion out = {.kind = kind};
    int n = first_count(kind);
    for (int i = 0; i < n; i++)
        out.points[i] = taylor_apply(a_from_b, moving[i]);
    for (int i = n; i < 4; i++)
        out.points[i].c[0] = resting[i - n];
    return out;
}

HR_RT static inline vec3 point_at(const taylor_point *p, double s)
{
    return vec3_add_scaled(p->c[0], s, vec3_add_scaled(p->c[1], s, p->c[2]));
}

HR_RT closest_pair feature_closest(const feature_motion *m, double at)
{
    vec3 p[4];
    for (int i = 0; i < 4; i++)
        p[i] = point_at(&m->points[i], at);
    return m->kind == FEATURE_VERTEX_FACE ? closest_point_triangle(p[0], p[1], p[2], p[3])
                                          : closest_segments(p[0], p[1], p[2], p[3]);
}

HR_RT double feature_ccd_error(const feature_motion *m, double reach)
{
    double worst[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        const taylor_point *p = &m->points[i];
        double size =
            vec3_length(p->c[0]) + reach * (vec3_length(p->c[1]) + reach * vec3_length(p->c[2]));
        double error = (vec3_length(p->r) + rounding * size) * longer;
        int side = i >= first_count(m->kind);
        worst[side] = error <= worst[side] ? worst[side] : error; /* a NaN stays */
    }
    return worst[0] + worst[1];
}

/* The state of one test, so that the helpers have few arguments. */
typedef struct search {
    const feature_motion *motion;
    double threshold; /* (s + error) with the length of directions allowed for */
} search;

/* Is every first point ahead of every second point along d by more than the threshold, for every
 * parameter in [low, high]? */
HR_RT static bool separates(const search *s, vec3 d, double low, double high)
{
    const feature_motion *m = s->motion;
    double c[3][4];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++)
            c[k][i] = vec3_dot(d, m->points[i].c[k]);
    int n = first_count(m->kind);
    for (int i = 0; i < n; i++) {
        for (int j = n; j < 4; j++) {
            interval gap = taylor_quadratic(c[0][i] - c[0][j], c[1][i] - c[1][j], c[2][i] - c[2][j],
                                            low, high);
            if (!(gap.low > s->threshold))
                return false;
        }
    }
    return true;
}

/* Unit vector from the second to the first point; false when they are too close to have one. */
HR_RT static bool direction_of(const closest_pair *pair, vec3 *out)
{
    double length = sqrt(pair->distance_squared);
    if (!(length > 1e-150))
        return false;
    *out = vec3_scale(1 / length, vec3_sub(pair->on_first, pair->on_second));
    return true;
}

/* d/ds of the distance, from the velocities of the two witness points. */
HR_RT static double opening_rate(const feature_motion *m, const closest_pair *pair, vec3 direction,
                                 double at)
{
    int n = first_count(m->kind);
    double rate = 0;
    for (int i = 0; i < 4; i++) {
        const taylor_point *p = &m->points[i];
        vec3 velocity = vec3_add_scaled(p->c[1], 2 * at, p->c[2]);
        rate += (i < n ? 1 : -1) * pair->weights[i] * vec3_dot(direction, velocity);
    }
    return rate;
}

/* What to do with the stretch [low, high]: free, report low, or split. */
typedef enum decision { IS_FREE, REPORT, SPLIT } decision;

HR_RT static decision decide(const search *s, const feature_limits *limits, double low, double high,
                             vec3 *hint, feature_result *out)
{
    const feature_motion *m = s->motion;
    if (separates(s, *hint, low, high))
        return IS_FREE;
    closest_pair middle = feature_closest(m, 0.5 * (low + high));
    vec3 d;
    if (direction_of(&middle, &d) && separates(s, d, low, high)) {
        *hint = d;
        return IS_FREE;
    }
    out->witness = feature_closest(m, low);
    double gap = sqrt(out->witness.distance_squared), error = s->threshold - limits->separation;
    bool has_direction = direction_of(&out->witness, &d);
    out->is_separating = has_direction && opening_rate(m, &out->witness, d, low) > 0;
    if (has_direction && separates(s, d, low, high)) {
        *hint = d;
        return IS_FREE;
    }
    if (!(high - low > limits->time_tolerance))
        return REPORT;
    bool is_near = !(gap > limits->separation + limits->tolerance - error);
    /* A pair that moves apart while it is still farther than s is followed, not reported. */
    bool may_go = gap > s->threshold && out->is_separating;
    return is_near && !may_go ? REPORT : SPLIT;
}

HR_RT void feature_ccd(const feature_motion *motion, double low, double high,
                       const feature_limits *limits, feature_result *out)
{
    double reach = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    double error = feature_ccd_error(motion, reach);
    *out = (feature_result){.verdict = FEATURE_REFUSED, .time = low};
    if (!(limits->tolerance > 4 * error) || !(limits->separation >= 0) || !(low <= high))
        return;
    const search s = {motion, (limits->separation + error) * longer};
    double ends[DEPTH_MAX]; /* right ends of the stretches still to come, latest first */
    int depth = 0;
    double start = low, end = high;
    for (;;) {
        out->time = start;
        if (out->nodes == limits->nodes) {
            out->verdict = FEATURE_BUDGET;
            return;
        }
        out->nodes++;
        decision next = decide(&s, limits, start, end, &out->direction, out);
        if (next == IS_FREE) {
            if (depth == 0)
                break;
            start = end;
            end = ends[--depth];
            continue;
        }
        double middle = 0.5 * (start + end);
        if (next == REPORT || depth == DEPTH_MAX || !(middle > start && middle < end)) {
            out->verdict = FEATURE_CONTACT;
            return;
        }
        ends[depth++] = end;
        end = middle;
    }
    out->verdict = FEATURE_FREE;
    out->time = high;
}
