#include "collide/witness_nearest.h"

#include <stdlib.h>

/* Relative; a tie changes nothing. */
static const double hysteresis = 1e-6;

static int feature_count(const parametric_body *b)
{
    return b->is_planar ? b->edge_count : b->face_count;
}

witness_nearest *witness_nearest_create(const parametric_body *body, vec3 point,
                                        witness_settings settings)
{
    int count = feature_count(body);
    witness_nearest *n = calloc(1, sizeof *n + (size_t)count * sizeof n->pairs[0]);
    if (!n)
        return NULL;
    witness_body a = witness_body_parametric(body);
    witness_motion rest = {.rotation = mat3_identity(), .origin = point};
    n->count = count;
    witness_pair_init(&n->main, a, witness_body_point((vec3){0, 0, 0}), settings, &rest);
    for (int i = 0; i < count; i++) {
        n->pairs[i] = n->main;
        n->pairs[i].stays_on_feature = true;
    }
    witness_nearest_place(n, 0, 0.5, 0.5);
    return n;
}

void witness_nearest_destroy(witness_nearest *n)
{
    free(n);
}

void witness_nearest_place(witness_nearest *n, int active, double u, double v)
{
    const parametric_body *body = n->main.a.body;
    witness_feature feature = body->is_planar ? WITNESS_EDGE : WITNESS_FACE;
    for (int i = 0; i < n->count; i++) {
        double low[2] = {0, 0};
        double high[2] = {1, 1};
        if (feature == WITNESS_FACE)
            for (int d = 0; d < 2; d++) {
                low[d] = body->faces[i].low[d];
                high[d] = body->faces[i].high[d];
            }
        else {
            low[0] = body->edges[i].low;
            high[0] = body->edges[i].high;
        }
        witness_place_set(&n->main.a, feature, i, low[0] + u * (high[0] - low[0]),
                          low[1] + v * (high[1] - low[1]), &n->pairs[i].on_a);
    }
    n->active = active;
    n->is_inside = true;
    n->main.on_a = n->pairs[active].on_a;
}

/* On the inner side of every feature's own tracked point. */
HR_RT static bool is_inside(const witness_nearest *n)
{
    for (int i = 0; i < n->count; i++) {
        const witness_pair *p = &n->pairs[i];
        vec3 normal = witness_place_normal(&p->a, &p->on_a);
        if (vec3_dot(normal, vec3_sub(p->last.on_b, p->last.on_a)) > 0.0)
            return false;
    }
    return true;
}

HR_RT bool witness_nearest_step(witness_nearest *n, const witness_motion *begin,
                                const witness_motion *middle, const witness_motion *end)
{
    witness_feature feature = n->main.on_a.feature;
    int index = n->main.on_a.index;
    for (int i = 0; i < n->count; i++)
        witness_pair_step(&n->pairs[i], begin, middle, end);
    witness_pair_step(&n->main, begin, middle, end);
    n->is_inside = is_inside(n);
    if (n->is_inside) {
        int best = n->active;
        for (int i = 0; i < n->count; i++)
            if (fabs(n->pairs[i].last.distance) <
                fabs(n->pairs[best].last.distance) * (1.0 - hysteresis))
                best = i;
        n->active = best;
        n->main.on_a = n->pairs[best].on_a;
        n->main.last = n->pairs[best].last;
    } else if (n->main.on_a.feature == (n->main.a.body->is_planar ? WITNESS_EDGE : WITNESS_FACE)) {
        n->active = n->main.on_a.index;
    }
    return n->main.on_a.feature != feature || n->main.on_a.index != index;
}
