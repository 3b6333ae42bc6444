#include "collide/triangle_ccd.h"

/* 64u of the coordinates: dot products, quadratic, and a direction a few u longer than 1. */
static const double rounding = 64 * 0x1p-53;

typedef struct pair_motion {
    const obb_triangle *a, *b;
    taylor_point moving[3]; /* corners of b in frame a */
    double low, high;
    double error; /* radius and rounding */
    double radius;
} pair_motion;

HR_RT static void set_up(pair_motion *p, const taylor *a_from_b)
{
    double reach = fabs(p->low) > fabs(p->high) ? fabs(p->low) : fabs(p->high), size = 0;
    p->radius = 0;
    for (int i = 0; i < 3; i++) {
        p->moving[i] = taylor_apply(a_from_b, p->b->corners[i]);
        const taylor_point *m = &p->moving[i];
        p->radius = fmax(p->radius, vec3_length(m->r));
        size = fmax(size, vec3_length(m->c[0]) +
                              reach * (vec3_length(m->c[1]) + reach * vec3_length(m->c[2])));
        size = fmax(size, vec3_length(p->a->corners[i]));
    }
    p->error = p->radius * (1 + rounding) + rounding * size;
}

/* All of b ahead of all of a along d by more than the separation, for the whole time? */
HR_RT static bool separates(const pair_motion *p, vec3 d, double separation)
{
    const vec3 *a = p->a->corners;
    double ahead = fmax(vec3_dot(d, a[0]), fmax(vec3_dot(d, a[1]), vec3_dot(d, a[2])));
    for (int i = 0; i < 3; i++) {
        const taylor_point *m = &p->moving[i];
        interval range = taylor_quadratic(vec3_dot(d, m->c[0]), vec3_dot(d, m->c[1]),
                                          vec3_dot(d, m->c[2]), p->low, p->high);
        if (!(range.low - ahead > separation + p->error))
            return false;
    }
    return true;
}

HR_RT static vec3 corner_at(const taylor_point *p, double s)
{
    return vec3_add_scaled(p->c[0], s, vec3_add_scaled(p->c[1], s, p->c[2]));
}

HR_RT static void take_nearer(closest_pair found, double sign, double *best, vec3 *direction)
{
    if (!(found.distance_squared < *best))
        return;
    *best = found.distance_squared;
    *direction = vec3_scale(sign, vec3_sub(found.on_first, found.on_second));
}

/* From a to b between the closest points at s. */
HR_RT static vec3 closest_direction(const pair_motion *p, double s)
{
    const vec3 *a = p->a->corners;
    vec3 b[3], d = {0, 0, 0};
    double best = (double)INFINITY;
    for (int i = 0; i < 3; i++)
        b[i] = corner_at(&p->moving[i], s);
    for (int i = 0; i < 3; i++) {
        take_nearer(closest_point_triangle(b[i], a[0], a[1], a[2]), 1, &best, &d);
        take_nearer(closest_point_triangle(a[i], b[0], b[1], b[2]), -1, &best, &d);
        for (int j = 0; j < 3; j++)
            take_nearer(closest_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]), -1, &best,
                        &d);
    }
    return vec3_normalize_or(d, (vec3){0, 0, 0});
}

HR_RT static vec3 normal_of(vec3 p, vec3 q, vec3 r)
{
    return vec3_normalize_or(vec3_cross(vec3_sub(q, p), vec3_sub(r, p)), (vec3){0, 0, 0});
}

HR_RT static bool try_direction(const pair_motion *p, vec3 d, double separation, vec3 *axis)
{
    if (!separates(p, d, separation))
        return false;
    *axis = d;
    return true;
}

/* One direction for the whole pair: the hint, the normals, then the closest points. */
HR_RT static bool is_apart(const pair_motion *p, double separation, vec3 *axis)
{
    const vec3 *a = p->a->corners;
    double middle = 0.5 * (p->low + p->high);
    vec3 b[3];
    if (separates(p, *axis, separation))
        return true;
    for (int i = 0; i < 3; i++)
        b[i] = corner_at(&p->moving[i], middle);
    vec3 na = normal_of(a[0], a[1], a[2]), nb = normal_of(b[0], b[1], b[2]);
    vec3 between =
        vec3_sub(vec3_add(b[0], vec3_add(b[1], b[2])), vec3_add(a[0], vec3_add(a[1], a[2])));
    if (vec3_dot(na, between) < 0)
        na = vec3_negate(na);
    if (vec3_dot(nb, between) < 0)
        nb = vec3_negate(nb);
    return try_direction(p, na, separation, axis) || try_direction(p, nb, separation, axis) ||
           try_direction(p, closest_direction(p, middle), separation, axis);
}

HR_RT static taylor_point at_rest(vec3 x)
{
    return (taylor_point){.c = {x, {0, 0, 0}, {0, 0, 0}}, .r = {0, 0, 0}};
}

HR_RT static feature_motion feature_of(const pair_motion *p, triangle_feature feature, int i, int j)
{
    const vec3 *a = p->a->corners;
    const taylor_point *b = p->moving;
    feature_motion m = {.kind =
                            feature == TRIANGLE_EDGES ? FEATURE_EDGE_EDGE : FEATURE_VERTEX_FACE};
    if (feature == TRIANGLE_EDGES) {
        m.points[0] = at_rest(a[i]);
        m.points[1] = at_rest(a[(i + 1) % 3]);
        m.points[2] = b[j];
        m.points[3] = b[(j + 1) % 3];
    } else {
        m.points[0] = feature == TRIANGLE_B_VERTEX ? b[i] : at_rest(a[i]);
        for (int k = 0; k < 3; k++)
            m.points[1 + k] = feature == TRIANGLE_B_VERTEX ? at_rest(a[k]) : b[k];
    }
    return m;
}

/* The first time after `from` at which the pair is farther than the separation; `to` where there
 * is none. Steps double, so it takes at most as many as the step has bits. */
HR_RT static double time_of_release(const feature_motion *m, double from, double to,
                                    const feature_limits *limits)
{
    double far = limits->separation + 0.5 * limits->tolerance;
    for (double step = limits->time_tolerance; from + step < to; step *= 2) {
        closest_pair now = feature_closest(m, from + step);
        if (now.distance_squared > far * far)
            return from + step;
    }
    return to;
}

HR_RT static feature_verdict test_feature(const pair_motion *p, triangle_feature feature, int i,
                                          int j, const feature_limits *limits, bool lets_go,
                                          triangle_result *out)
{
    feature_motion m = feature_of(p, feature, i, j);
    feature_limits left = *limits;
    feature_result found;
    left.nodes = limits->nodes - out->feature_nodes;
    feature_ccd(&m, p->low, p->high, &left, &found);
    out->feature_tests++;
    out->feature_nodes += found.nodes;
    if (found.verdict == FEATURE_CONTACT && lets_go && found.time == p->low &&
        found.is_separating) {
        double from = time_of_release(&m, p->low, p->high, limits);
        if (from >= p->high)
            return FEATURE_FREE;
        left.nodes = limits->nodes - out->feature_nodes;
        feature_ccd(&m, from, p->high, &left, &found);
        out->feature_nodes += found.nodes;
    }
    if (found.verdict == FEATURE_CONTACT && out->count < TRIANGLE_CONTACTS_MAX)
        out->contacts[out->count++] =
            (triangle_contact){feature, i, j, found.time, found.is_separating};
    return found.verdict;
}

HR_RT static bool owns_vertex(const obb_triangle *t, int i)
{
    return t->owns & (OBB_OWNS_VERTEX << i);
}

HR_RT static bool owns_edge(const obb_triangle *t, int i)
{
    return t->owns & (OBB_OWNS_EDGE << i);
}

HR_RT static bool is_decided(feature_verdict v)
{
    return v == FEATURE_FREE || v == FEATURE_CONTACT;
}

/* Every feature pair that these two triangles answer for; stops at the first that is undecided. */
HR_RT static feature_verdict test_features(const pair_motion *p, const feature_limits *limits,
                                           bool lets_go, triangle_result *out)
{
    feature_verdict v = FEATURE_FREE;
    for (int i = 0; i < 3 && is_decided(v); i++) {
        if (owns_vertex(p->b, i))
            v = test_feature(p, TRIANGLE_B_VERTEX, i, 0, limits, lets_go, out);
        if (is_decided(v) && owns_vertex(p->a, i))
            v = test_feature(p, TRIANGLE_A_VERTEX, i, 0, limits, lets_go, out);
        for (int j = 0; j < 3 && is_decided(v); j++)
            if (owns_edge(p->a, i) && owns_edge(p->b, j))
                v = test_feature(p, TRIANGLE_EDGES, i, j, limits, lets_go, out);
    }
    return v;
}

triangle_verdict triangle_ccd(const obb_triangle *a, const obb_triangle *b, const taylor *a_from_b,
                              double low, double high, const feature_limits *limits, bool lets_go,
                              vec3 *axis, triangle_result *out)
{
    pair_motion p = {.a = a, .b = b, .low = low, .high = high};
    *out = (triangle_result){0};
    set_up(&p, a_from_b);
    if (is_apart(&p, limits->separation, axis))
        return TRIANGLE_FREE;
    /* The feature tests want the error below a quarter of the tolerance. */
    out->radius = p.radius;
    if (!(p.radius < 0.1 * limits->tolerance))
        return TRIANGLE_COARSE;
    feature_verdict v = test_features(&p, limits, lets_go, out);
    if (v == FEATURE_REFUSED)
        return TRIANGLE_REFUSED;
    if (v == FEATURE_BUDGET)
        return TRIANGLE_BUDGET;
    return out->count > 0 ? TRIANGLE_CONTACT : TRIANGLE_FREE;
}

void triangle_ccd_expect(const obb_triangle *a, const obb_triangle *b, const taylor *a_from_b,
                         double low, double high, const feature_limits *limits,
                         triangle_result *out)
{
    pair_motion p = {.a = a, .b = b, .low = low, .high = high};
    *out = (triangle_result){0};
    set_up(&p, a_from_b);
    out->radius = p.radius;
    for (int i = 0; i < 3; i++)
        p.moving[i].r = (vec3){0, 0, 0};
    (void)test_features(&p, limits, false, out);
}
