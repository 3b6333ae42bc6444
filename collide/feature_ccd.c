/* Separating direction plus bisection of time. */
#include "collide/feature_ccd.h"

/* 96u: the rounding of a velocity made from two positions (1u), a point moved to the middle of the
 * stretch (4u), three sums of two dot products with directions of length 1 at most (10u each) and
 * the quadratic (8u), with a factor of two to spare. */
static const double rounding = 96 * 0x1p-53;

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

/* The closest points at one time, as the search remembers them. */
typedef struct moment {
    double at;        /* the parameter */
    double distance;  /* m; negative: not looked at yet */
    vec3 direction;   /* unit, from the second to the first point */
    bool is_distinct; /* they are far enough apart to have a direction */
} moment;

HR_RT static moment moment_at(double at)
{
    return (moment){.at = at, .distance = -1};
}

HR_RT static void set_direction(moment *m, const closest_pair *pair)
{
    m->distance = sqrt(pair->distance_squared);
    m->is_distinct = m->distance > 1e-150;
    if (m->is_distinct)
        m->direction = vec3_scale(1 / m->distance, vec3_sub(pair->on_first, pair->on_second));
}

HR_RT static const moment *look(const feature_motion *motion, moment *m)
{
    if (m->distance < 0) {
        closest_pair pair = feature_closest(motion, m->at);
        set_direction(m, &pair);
    }
    return m;
}

/* The same with a direction that turns evenly from one to the other over the stretch: edges that
 * pass each other closely are told apart in far longer stretches, because what is lost grows with
 * the square of the length. With w the time from the middle, D the direction and x the point:
 * (D0 + D1 w) . (x0 + x1 w + x2 w^2), whose last term is bounded. */
HR_RT static bool separates_turning(const search *s, const moment *from, const moment *to)
{
    const feature_motion *m = s->motion;
    double length = to->at - from->at, middle = 0.5 * (from->at + to->at), half = 0.5 * length;
    vec3 d0 = vec3_scale(0.5, vec3_add(from->direction, to->direction));
    vec3 d1 = vec3_scale(1 / length, vec3_sub(to->direction, from->direction));
    double c[4][4];
    for (int i = 0; i < 4; i++) {
        const vec3 *p = m->points[i].c;
        vec3 x0 = vec3_add_scaled(p[0], middle, vec3_add_scaled(p[1], middle, p[2]));
        vec3 x1 = vec3_add_scaled(p[1], 2 * middle, p[2]);
        c[0][i] = vec3_dot(d0, x0);
        c[1][i] = vec3_dot(d0, x1) + vec3_dot(d1, x0);
        c[2][i] = vec3_dot(d0, p[2]) + vec3_dot(d1, x1);
        c[3][i] = vec3_dot(d1, p[2]);
    }
    int n = first_count(m->kind);
    for (int i = 0; i < n; i++) {
        for (int j = n; j < 4; j++) {
            interval gap = taylor_quadratic(c[0][i] - c[0][j], c[1][i] - c[1][j], c[2][i] - c[2][j],
                                            -half, half);
            double cubic = fabs(c[3][i] - c[3][j]) * half * half * half;
            if (!(gap.low - cubic > s->threshold))
                return false;
        }
    }
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

/* Is there a direction that tells the features apart from one moment to the other? `middle` is what
 * lies between them; *hint is one worth trying first, and the one that worked. */
HR_RT static bool is_apart(const search *s, moment *from, moment *middle, moment *to, vec3 *hint)
{
    if (separates(s, *hint, from->at, to->at))
        return true;
    moment *tried[] = {middle, from};
    for (int i = 0; i < 2; i++) {
        look(s->motion, tried[i]);
        if (tried[i]->is_distinct && separates(s, tried[i]->direction, from->at, to->at)) {
            *hint = tried[i]->direction;
            return true;
        }
    }
    look(s->motion, to);
    return from->is_distinct && to->is_distinct && separates_turning(s, from, to);
}

/* A stretch that is not free: is its start the answer, or is it to be split? */
HR_RT static bool is_contact(const search *s, const feature_limits *limits, const moment *from,
                             bool is_shortest, feature_result *out)
{
    double error = s->threshold - limits->separation;
    bool is_near = !(from->distance > limits->separation + limits->tolerance - error);
    if (!is_near && !is_shortest)
        return false;
    out->witness = feature_closest(s->motion, from->at);
    out->is_separating =
        from->is_distinct && opening_rate(s->motion, &out->witness, from->direction, from->at) > 0;
    /* A pair that moves apart while it is still farther than s is followed, not reported. */
    return is_shortest || !(from->distance > s->threshold && out->is_separating);
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
    moment ends[DEPTH_MAX]; /* of the stretches still to come, latest first */
    int depth = 0;
    moment start = moment_at(low), end = moment_at(high);
    for (;;) {
        moment middle = moment_at(0.5 * (start.at + end.at));
        out->time = start.at;
        if (out->nodes == limits->nodes) {
            out->verdict = FEATURE_BUDGET;
            out->witness = feature_closest(motion, start.at);
            return;
        }
        out->nodes++;
        if (is_apart(&s, &start, &middle, &end, &out->direction)) {
            if (depth == 0)
                break;
            start = end;
            end = ends[--depth];
            continue;
        }
        bool is_shortest = !(end.at - start.at > limits->time_tolerance) || depth == DEPTH_MAX ||
                           !(middle.at > start.at && middle.at < end.at);
        if (is_contact(&s, limits, &start, is_shortest, out)) {
            out->verdict = FEATURE_CONTACT;
            return;
        }
        ends[depth++] = end;
        end = middle;
    }
    out->verdict = FEATURE_FREE;
    out->time = high;
}
