#include "collide/parametric_shape.h"

#include <stddef.h>

#include "collide/witness_glide.h"

/* Faces whose boxes are looked at in every sixth tick for a stretch of surface that is not followed
 * yet, and how many of those in reach are looked at closely: the dozen around the hand in 36 ms. */
enum { PROBES = 16, PROBE_EVERY = 6, CLOSE_PROBES = 2 };

/* Two tracks whose feet agree to this share of the size are one, and so are two that are near and
 * whose planes differ by less than 3 degrees: the seam of a smooth surface. */
static const double same_share = 1e-6;
static const double near_share = 0.05;
static const double same_plane = 0.9986;

/* The upper half of the first track's flags remembers where the probing stopped; one bit of every
 * track's, that it is near enough to matter within this tick. */
enum { CURSOR_SHIFT = 16, TRACK_IS_NEAR = 1u << 8 };

/* Four bits more count the ticks that a track is on its way; then it gives up. */
enum { AGE_SHIFT = 11, AGE_MASK = 15, AGE_MAX = 12 };

/* Shares of the asked reach: beyond the first a side track is dropped, within the second it is
 * stepped in every round of the proxy (the proxy itself moves less than that in a tick). */
static const double keep_reach = 1.2;
static const double near_reach = 0.5;

/* Share of a face's parameter range beyond which a forecast is not believed. */
static const double predict_share = 0.1;

/* A foot that is beside the point's normal by less than this share of the size has arrived. */
static const double root_share = 1e-4;

/* What one track says of the point. */
typedef struct reading {
    shape_track track;
    shape_contact contact;
    double distance;  /* m, of the track's point */
    bool has_arrived; /* that is the nearest one around: the contact holds */
    bool is_lost;     /* it will not arrive any more */
} reading;

HR_RT static witness_place place_of(const witness_body *b, const shape_track *t)
{
    witness_place p;
    p.feature = parametric_feature_kind(t->feature);
    p.index = parametric_feature_index(t->feature);
    p.x[0] = t->u;
    p.x[1] = t->v;
    p.span = (nurbs_span){0, 0};
    if (p.feature == WITNESS_FACE) {
        const body_face *f = &b->body->faces[p.index];
        p.x[0] = body_face_wrap(f, 0, p.x[0]);
        p.x[1] = body_face_wrap(f, 1, p.x[1]);
    }
    witness_place_evaluate(b, &p);
    return p;
}

HR_RT static uint32_t track_flags(const witness_touch *t, double size)
{
    uint32_t flags = 0;
    if (t->flags & (WITNESS_MAJORISED | WITNESS_STUCK))
        flags |= SHAPE_TRACK_DEGRADED;
    if (t->flags & WITNESS_NON_UNIQUE)
        flags |= SHAPE_TRACK_NOT_UNIQUE;
    if (t->is_cycling)
        flags |= SHAPE_TRACK_CYCLING;
    double allowed = 1e-6 * (fabs(t->gap) > 1e-3 * size ? fabs(t->gap) : 1e-3 * size);
    if (t->slope < allowed)
        flags |= SHAPE_TRACK_CONVERGED;
    return flags;
}

/* The step through the general machinery: any feature, with its automaton. */
HR_RT static uint32_t step_anywhere(const witness_body *b, const shape_track *from, vec3 point,
                                    witness_foot *out)
{
    witness_place p = place_of(b, from);
    out->touch = witness_point_step(b, &p, point);
    out->bend = witness_bend_at(b, &p, &out->touch);
    out->x[0] = p.x[0];
    out->x[1] = p.x[1];
    out->p = p.at.p;
    return parametric_feature(p.feature, p.index);
}

/* One step of one track. */
HR_RT static void step_track(const witness_body *b, const shape_track *from, vec3 point,
                             reading *out)
{
    witness_foot foot;
    uint32_t feature = from->feature;
    const double x[2] = {from->u, from->v};
    bool is_usual = parametric_feature_kind(feature) == WITNESS_FACE &&
                    witness_glide(b->body, parametric_feature_index(feature), x, point, &foot);
    if (!is_usual)
        feature = step_anywhere(b, from, point, &foot);
    const witness_touch *t = &foot.touch;
    uint32_t age = (from->flags >> AGE_SHIFT & AGE_MASK) + 1u;
    out->track = (shape_track){feature, track_flags(t, b->size), foot.x[0], foot.x[1]};
    out->contact = (shape_contact){.point = foot.p,
                                   .normal = t->normal,
                                   .gap = t->gap,
                                   .feature = feature,
                                   .bend = foot.bend.normal,
                                   .lead = {foot.bend.lead[0], foot.bend.lead[1]}};
    out->distance = sqrt(t->gap * t->gap + t->slope * t->slope);
    out->has_arrived =
        t->slope < root_share * b->size && !(out->track.flags & SHAPE_TRACK_DEGRADED);
    out->is_lost = !out->has_arrived && age > AGE_MAX;
    if (!out->has_arrived)
        out->track.flags |= (age & AGE_MASK) << AGE_SHIFT;
}

/* Nearest first, after them what is still on its way. */
HR_RT static bool comes_before(const reading *a, const reading *b)
{
    return a->has_arrived == b->has_arrived ? a->distance < b->distance : a->has_arrived;
}

HR_RT static void sort_readings(reading *r, int count)
{
    for (int i = 1; i < count; i++) {
        if (!comes_before(&r[i], &r[i - 1]))
            continue;
        reading moving = r[i];
        int at = i;
        for (; at > 0 && comes_before(&moving, &r[at - 1]); at--)
            r[at] = r[at - 1];
        r[at] = moving;
    }
}

/* A track beside the nearest one is a second piece of surface that faces the point. The far side of
 * a thin part sees it from behind, and so does every sheet once the point is inside. */
HR_RT static bool is_second_surface(const reading *nearest, const reading *other, double size)
{
    double apart = vec3_distance(nearest->contact.point, other->contact.point);
    double agreement = vec3_dot(other->contact.normal, nearest->contact.normal);
    if (apart < same_share * size || (apart < near_share * size && agreement > same_plane))
        return false;
    if (other->contact.gap < 0.0 && vec3_dot(other->contact.normal, nearest->contact.normal) <= 0.0)
        return false;
    return true;
}

/* Drops what has merged or looks from behind, or is too far to matter soon. */
HR_RT static int keep_distinct(reading *r, int count, double reach, double size)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool is_kept = i == 0 || (fabs(r[i].contact.gap) < keep_reach * reach && !r[i].is_lost);
        for (int k = 0; k < kept && is_kept; k++)
            is_kept = is_second_surface(&r[k], &r[i], size);
        if (is_kept)
            r[kept++] = r[i];
    }
    return kept;
}

HR_RT static double box_distance(const body_face *f, vec3 p)
{
    double dx = witness_larger(0.0, witness_larger(f->box_low.x - p.x, p.x - f->box_high.x));
    double dy = witness_larger(0.0, witness_larger(f->box_low.y - p.y, p.y - f->box_high.y));
    double dz = witness_larger(0.0, witness_larger(f->box_low.z - p.z, p.z - f->box_high.z));
    return sqrt(dx * dx + dy * dy + dz * dz);
}

/* Squared distances of a face's samples from a point, with a rim that is farther than any. */
enum { RIM = BODY_GRID + 2 };
typedef struct sample_map {
    double squared[RIM * RIM];
} sample_map;

HR_RT static void map_samples(const body_sample *s, vec3 point, sample_map *out)
{
    for (int i = 0; i < RIM; i++)
        for (int j = 0; j < RIM; j++) {
            bool is_rim = i == 0 || j == 0 || i == RIM - 1 || j == RIM - 1;
            out->squared[i * RIM + j] =
                is_rim ? (double)INFINITY : vec3_length_squared(vec3_sub((s++)->p, point));
        }
}

/* One valley of the distance per local minimum of the samples. */
HR_RT static bool is_valley(const sample_map *m, int at)
{
    const int around[8] = {-RIM - 1, -RIM, -RIM + 1, -1, 1, RIM - 1, RIM, RIM + 1};
    for (int k = 0; k < 8; k++)
        if (m->squared[at + around[k]] < m->squared[at])
            return false;
    return true;
}

/* True if a sample lies next to a point that is followed: the same valley. */
HR_RT static bool is_followed(const reading *r, int count, const body_sample *s, double cell)
{
    for (int i = 0; i < count; i++)
        if (vec3_distance(r[i].contact.point, s->p) < cell)
            return true;
    return false;
}

/* The nearest valley of one face that nobody follows; NULL where there is none within reach. */
HR_RT static const body_sample *find_valley(const parametric_body *body, int face, vec3 point,
                                            double reach, const reading *r, int count)
{
    const body_sample *samples = &body->samples[(long)face * BODY_GRID * BODY_GRID];
    /* the foot of a valley is within a cell of its lowest sample */
    double cell = 1.5 * body->faces[face].size / (BODY_GRID - 1);
    double least = (reach + cell) * (reach + cell);
    const body_sample *best = NULL;
    sample_map map;
    map_samples(samples, point, &map);
    for (int i = 0; i < BODY_GRID * BODY_GRID; i++) {
        int at = (i / BODY_GRID + 1) * RIM + i % BODY_GRID + 1;
        if (map.squared[at] < least && is_valley(&map, at) &&
            !is_followed(r, count, &samples[i], cell)) {
            least = map.squared[at];
            best = &samples[i];
        }
    }
    return best;
}

/* The broad phase: in every sixth tick the next faces whose boxes are in reach; the nearest valley
 * that nobody follows gets a track, one at a time. Returns the new count. */
HR_RT static int spawn(const witness_body *b, vec3 point, double reach, uint32_t *cursor,
                       reading *r, int count)
{
    const parametric_body *body = b->body;
    uint32_t faces = (uint32_t)body->face_count;
    bool is_turn = *cursor % PROBE_EVERY == 0 && r[count - 1].has_arrived;
    uint32_t next = *cursor / PROBE_EVERY;
    *cursor = (*cursor + 1u) % (PROBE_EVERY * faces);
    int close = 0;
    for (uint32_t i = 0; is_turn && close < CLOSE_PROBES && i < PROBES && i < faces; i++) {
        int face = (int)((next + i) % faces);
        *cursor = PROBE_EVERY * ((uint32_t)(face + 1) % faces) + 1u;
        if (box_distance(&body->faces[face], point) > reach)
            continue;
        const body_sample *s = find_valley(body, face, point, reach, r, count);
        close++;
        if (!s)
            continue;
        shape_track t = {parametric_feature(WITNESS_FACE, face), 0, s->u, s->v};
        step_track(b, &t, point, &r[count]);
        return count + 1;
    }
    return count;
}

/* A tracker may come out of a recording: every number is looked at before it indexes something. */
HR_RT static bool is_sound(const parametric_body *body, const shape_tracker *t)
{
    const int counts[3] = {body->vertex_count, body->edge_count, body->face_count};
    if (t->track_count == 0 || t->track_count > SHAPE_TRACKS_MAX)
        return false;
    for (uint32_t i = 0; i < t->track_count; i++) {
        uint32_t kind = t->tracks[i].feature >> 28;
        if (kind > 2u || parametric_feature_index(t->tracks[i].feature) >= counts[kind] ||
            !isfinite(t->tracks[i].u) || !isfinite(t->tracks[i].v))
            return false;
    }
    return true;
}

HR_RT static void start_from_samples(const witness_body *b, vec3 point, shape_tracker *t)
{
    witness_place p;
    witness_place_seed(b, point, &p);
    *t = (shape_tracker){.track_count = 1};
    t->tracks[0] = (shape_track){parametric_feature(p.feature, p.index), 0, p.x[0], p.x[1]};
}

HR_RT int parametric_shape_follow(const parametric_body *body, shape_tracker *tracker, vec3 point,
                                  double dt, double reach, shape_contact *out, int room)
{
    witness_body b = {.kind = WITNESS_BODY, .body = body, .size = body->size};
    reading r[SHAPE_TRACKS_MAX + 1];
    int count = (int)tracker->track_count;
    if (!is_sound(body, tracker)) {
        start_from_samples(&b, point, tracker);
        count = 1;
    }
    uint32_t cursor = tracker->tracks[0].flags >> CURSOR_SHIFT;
    shape_track waiting[SHAPE_TRACKS_MAX];
    int waiting_count = 0;
    step_track(&b, &tracker->tracks[0], point, &r[0]);
    r[0].has_arrived = true; /* what the proxy rests on counts, even on its way */
    int stepped = 1;
    for (int i = 1; i < count; i++) {
        /* what is still on its way down or far moves once per tick, not in every round */
        if (dt > 0.0 || tracker->tracks[i].flags & TRACK_IS_NEAR)
            step_track(&b, &tracker->tracks[i], point, &r[stepped++]);
        else
            waiting[waiting_count++] = tracker->tracks[i];
    }
    count = stepped;
    if (!body->is_convex) {
        sort_readings(r, count);
        count = keep_distinct(r, count, reach, body->size);
        if (dt > 0.0 && count < SHAPE_TRACKS_MAX && !body->is_planar)
            count = spawn(&b, point, reach, &cursor, r, count);
    }

    int written = 0;
    tracker->track_count = (uint32_t)count;
    tracker->flags = r[0].track.flags;
    for (int i = 0; i < count; i++) {
        tracker->tracks[i] = r[i].track;
        if (r[i].has_arrived && r[i].contact.gap < near_reach * reach)
            tracker->tracks[i].flags |= TRACK_IS_NEAR;
        /* on the way down a track says nothing yet */
        if (!r[i].has_arrived || written >= room || r[i].contact.gap > reach)
            continue;
        r[i].contact.track = (uint32_t)i;
        out[written++] = r[i].contact;
    }
    for (int i = 0; i < waiting_count && tracker->track_count < SHAPE_TRACKS_MAX; i++)
        tracker->tracks[tracker->track_count++] = waiting[i];
    tracker->tracks[0].flags |= cursor << CURSOR_SHIFT;
    return written;
}

HR_RT void parametric_shape_predict(const parametric_body *body, shape_tracker *tracker,
                                    const shape_contact *contacts, int count, vec3 step)
{
    for (int i = 0; i < count; i++) {
        const shape_contact *c = &contacts[i];
        if (c->track >= tracker->track_count || c->track >= SHAPE_TRACKS_MAX)
            continue;
        shape_track *t = &tracker->tracks[c->track];
        if (t->feature != c->feature || parametric_feature_kind(t->feature) != WITNESS_FACE)
            continue;
        const body_face *f = &body->faces[parametric_feature_index(t->feature)];
        double du = vec3_dot(c->lead[0], step);
        double dv = vec3_dot(c->lead[1], step);
        if (fabs(du) < predict_share * (f->high[0] - f->low[0]) &&
            fabs(dv) < predict_share * (f->high[1] - f->low[1])) {
            t->u += du;
            t->v += dv;
        }
    }
}

void parametric_shape_seed(const parametric_body *body, vec3 point, double reach,
                           shape_tracker *out)
{
    witness_body b = {.kind = WITNESS_BODY, .body = body, .size = body->size};
    shape_contact contacts[SHAPE_CONTACTS_MAX];
    witness_place p;
    *out = (shape_tracker){0};
    witness_point_seek(&b, point, &p);
    out->track_count = 1;
    out->tracks[0] = (shape_track){parametric_feature(p.feature, p.index), 0, p.x[0], p.x[1]};
    /* let the other stretches be found and come to rest */
    int steps = 8;
    for (int i = 0; i < body->face_count && !body->is_convex; i++)
        if (box_distance(&body->faces[i], point) <= reach)
            steps += PROBE_EVERY;
    for (int i = 0; i < (body->is_convex ? 1 : steps); i++)
        (void)parametric_shape_follow(body, out, point, 1e-3, reach, contacts, SHAPE_CONTACTS_MAX);
}

double parametric_shape_radius(const parametric_body *body)
{
    double radius = 0.0;
    for (int i = 0; i < 8; i++) {
        vec3 corner = {i & 1 ? body->box_high.x : body->box_low.x,
                       i & 2 ? body->box_high.y : body->box_low.y,
                       i & 4 ? body->box_high.z : body->box_low.z};
        radius = fmax(radius, vec3_length(corner));
    }
    return radius;
}
