/* What a proxy can touch: one resting shape in its own frame, and a tracker that follows the
 * nearest point of it from tick to tick. The world thread seeds trackers (any time it takes); the
 * servo thread steps them (bounded time). Every kind of body plugs in here: the proxy knows nothing
 * else of it. */
#ifndef COLLIDE_SHAPE_H
#define COLLIDE_SHAPE_H

#include <stdint.h>

#include "geometry/vec3.h"

typedef enum shape_kind {
    SHAPE_PLANE,     /* z <= 0 is solid */
    SHAPE_SPHERE,    /* radius */
    SHAPE_ELLIPSOID, /* half_size: semi-axes */
    SHAPE_CAPSULE,   /* radius, half_length along z */
    SHAPE_BOX,       /* half_size */
    SHAPE_PARAMETRIC,
    SHAPE_MESH
} shape_kind;

/* Immutable once the world runs; both threads read it. */
typedef struct shape {
    shape_kind kind;
    double radius;                         /* m */
    double half_length;                    /* m */
    vec3 half_size;                        /* m */
    const struct parametric_body *surface; /* SHAPE_PARAMETRIC; borrowed */
    const struct touch_mesh *mesh;         /* SHAPE_MESH; borrowed */
    const struct parametric_body *tool;    /* what touches it, or NULL for a point; borrowed */
} shape;

enum { SHAPE_TRACKS_MAX = 4, SHAPE_CONTACTS_MAX = 8 };

/* One followed nearest point. */
typedef struct shape_track {
    uint32_t feature; /* face, edge or vertex, in the shape's own numbering */
    uint32_t flags;   /* SHAPE_TRACK_* */
    double u, v;      /* its parameters */
} shape_track;

enum {
    SHAPE_TRACK_CONVERGED = 1u << 0,
    SHAPE_TRACK_DEGRADED = 1u << 1,   /* a fallback step was taken */
    SHAPE_TRACK_NOT_UNIQUE = 1u << 2, /* a continuum of nearest points */
    SHAPE_TRACK_CYCLING = 1u << 3,
    SHAPE_TRACK_HELD = 1u << 4 /* bad input: the state was left as it was */
};

/* All that is remembered between ticks; plain data, {0} is "nothing followed yet". */
typedef struct shape_tracker {
    uint32_t track_count;
    uint32_t flags;     /* all tracks together */
    vec3 searched_at;   /* m, shape frame: where a mesh's surroundings were searched last */
    double search_room; /* m: how far from there they are still known; without a track, the radius
                           of the empty ball around there */
    shape_track tracks[SHAPE_TRACKS_MAX];
} shape_tracker;

/* A nearby piece of surface as the proxy sees it: stay where normal . (x - point) >= radius. */
typedef struct shape_contact {
    vec3 point;       /* m, on the surface, shape frame */
    vec3 normal;      /* unit, out of the solid, shape frame */
    double gap;       /* m, signed distance of the asked point; negative inside */
    uint32_t feature; /* as in shape_track: the key that survives from tick to tick */
    uint32_t track;   /* its index among the tracker's */
    mat3 bend;        /* 1/m: a step of the asked point turns the normal by bend * step */
    vec3 lead[2];     /* 1/m: ... and moves the track's u and v by lead . step */
} shape_contact;      /* bend and lead are zero where the shape does not tell */

/* World thread: starts (again) from nothing: the globally nearest features within `reach` of the
 * point. Deterministic. */
void shape_seed(const shape *s, vec3 point, double reach, shape_tracker *out);

/* Servo thread: one step of every track toward the nearest point of `point`, which has moved with
 * `velocity` (shape frame) for dt since the last step; dt = 0 asks for one more corrector at the
 * same time. Writes the pieces of surface nearer than `reach`, nearest first, at most `room`
 * (<= SHAPE_CONTACTS_MAX); returns how many. A point that is not finite changes nothing, returns 0
 * and sets SHAPE_TRACK_HELD. */
HR_RT int shape_follow(const shape *s, shape_tracker *tracker, vec3 point, vec3 velocity, double dt,
                       double reach, shape_contact *out, int room);

/* Servo thread: moves the tracks of these contacts, which shape_follow wrote last, to where their
 * points should be once the asked point has made this step (shape frame): the next shape_follow
 * then starts next to its answer. Optional. */
HR_RT void shape_predict(const shape *s, shape_tracker *tracker, const shape_contact *contacts,
                         int count, vec3 step);

/* True if it has an inside: elsewhere behind it is not in it. */
HR_RT bool shape_is_closed(const shape *s);

/* Smallest sphere around the shape's origin that holds it, m; infinite for a plane. */
double shape_bounding_radius(const shape *s);

#endif
