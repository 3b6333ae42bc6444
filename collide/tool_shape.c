#include "collide/tool_shape.h"

#include "collide/parametric_shape.h"
#include "collide/shape_kinds.h"
#include "collide/witness_pair.h"

/* In a track's flags: the tracker belongs to a tool, and its last step was in the contact form. */
enum { TRACK_IS_TOOL = 1u << 9, TRACK_IN_CONTACT = 1u << 10 };

bool tool_shape_can_touch(const shape *s)
{
    return s->kind == SHAPE_SPHERE || s->kind == SHAPE_ELLIPSOID ||
           (s->kind == SHAPE_PARAMETRIC && s->surface->is_convex);
}

HR_RT static witness_body body_of(const shape *s)
{
    witness_body b = {.kind = WITNESS_ELLIPSOID, .semi_axes = s->half_size};
    if (s->kind == SHAPE_SPHERE)
        b.semi_axes = (vec3){s->radius, s->radius, s->radius};
    b.size = 2.0 * vec3_length(b.semi_axes);
    if (s->kind == SHAPE_PARAMETRIC)
        b = (witness_body){.kind = WITNESS_BODY, .body = s->surface, .size = s->surface->size};
    return b;
}

HR_RT static bool is_sound(const witness_body *b, const shape_track *t)
{
    if (!(t->flags & TRACK_IS_TOOL) || !isfinite(t->u) || !isfinite(t->v))
        return false;
    if (b->kind == WITNESS_ELLIPSOID)
        return true;
    const int counts[3] = {b->body->vertex_count, b->body->edge_count, b->body->face_count};
    uint32_t kind = t->feature >> 28;
    return kind <= 2u && parametric_feature_index(t->feature) < counts[kind];
}

HR_RT static void restore(const witness_body *b, const shape_track *t, witness_place *p)
{
    p->feature = parametric_feature_kind(t->feature);
    p->index = parametric_feature_index(t->feature);
    p->x[0] = t->u;
    p->x[1] = t->v;
    p->span = (nurbs_span){0, 0};
    if (b->kind == WITNESS_ELLIPSOID) {
        p->feature = WITNESS_FACE;
        p->index = 0;
        p->x[0] = p->x[1] = 0.0;
        p->direction = direction_from_chart(t->u, t->v);
    }
    witness_place_evaluate(b, p);
}

HR_RT static shape_track store(const witness_body *b, const witness_place *p, uint32_t flags)
{
    shape_track t = {parametric_feature(p->feature, p->index), flags | TRACK_IS_TOOL, p->x[0],
                     p->x[1]};
    if (b->kind == WITNESS_ELLIPSOID)
        direction_to_chart(p->direction, &t.u, &t.v);
    return t;
}

HR_RT static uint32_t track_flags(uint32_t flags)
{
    uint32_t out = 0;
    if (flags & WITNESS_CONVERGED)
        out |= SHAPE_TRACK_CONVERGED;
    if (flags & WITNESS_DEGRADED)
        out |= SHAPE_TRACK_DEGRADED;
    if (flags & WITNESS_NOT_UNIQUE)
        out |= SHAPE_TRACK_NOT_UNIQUE;
    if (flags & WITNESS_CYCLING)
        out |= SHAPE_TRACK_CYCLING;
    return out;
}

/* Steps to take from nothing: any start is there within 25. */
enum { STEPS_FROM_NOTHING = 25 };

HR_RT int tool_shape_follow(const shape *s, shape_tracker *tracker, vec3 point,
                            quat shape_from_tool, double reach, shape_contact *out, int room)
{
    witness_motion m = {.rotation = quat_to_mat3(shape_from_tool), .origin = point};
    witness_pair pair;
    if (!vec3_is_finite(point)) {
        tracker->flags |= SHAPE_TRACK_HELD;
        return 0;
    }
    pair.settings = (witness_settings){.corrects_switches = true, .step = 1e-3};
    pair.a = body_of(s);
    pair.b = (witness_body){.kind = WITNESS_BODY, .body = s->tool, .size = s->tool->size};
    bool is_known = tracker->track_count == 2 && is_sound(&pair.a, &tracker->tracks[0]) &&
                    is_sound(&pair.b, &tracker->tracks[1]);
    if (is_known) {
        restore(&pair.a, &tracker->tracks[0], &pair.on_a);
        restore(&pair.b, &tracker->tracks[1], &pair.on_b);
        pair.is_in_contact = tracker->tracks[0].flags & TRACK_IN_CONTACT;
        pair.stays_on_feature = false;
        pair.fallback_ticks = 0;
        pair.fallbacks = pair.reseeds = pair.switches = 0;
        pair.last.distance = 0.0;
    } else {
        witness_pair_init(&pair, pair.a, pair.b, pair.settings, &m);
    }
    for (int i = 0; i < (is_known ? 1 : STEPS_FROM_NOTHING); i++)
        witness_pair_correct(&pair, &m);

    const witness_result *r = &pair.last;
    tracker->flags = track_flags(r->flags);
    tracker->track_count = 2;
    tracker->tracks[0] = store(&pair.a, &pair.on_a, pair.is_in_contact ? TRACK_IN_CONTACT : 0u);
    tracker->tracks[1] = store(&pair.b, &pair.on_b, 0);
    if (room < 1 || r->distance > reach)
        return 0;
    *out = (shape_contact){.point = vec3_add_scaled(point, -r->distance, r->normal),
                           .normal = r->normal,
                           .gap = r->distance,
                           .feature = tracker->tracks[0].feature};
    return 1;
}
