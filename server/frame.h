/* The contact frame: what the world hands the servo so that it can render without the world for a
 * while. One frame per hand and world step, through a ring. Fixed layout, no padding: a recording
 * stores the used part as it stands. */
#ifndef SERVER_FRAME_H
#define SERVER_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "collide/shape.h"
#include "geometry/vec3.h"

enum { FRAME_BODIES_MAX = 16 };

typedef struct frame_material {
    double stiffness; /* N/m */
    double damping;   /* N s/m */
    double static_friction;
    double kinetic_friction; /* <= static_friction */
} frame_material;

enum {
    FRAME_BODY_MOVED_BY_HAND = 1u << 0, /* inverse_mass is not zero: pushing moves it */
    FRAME_BODY_TELEPORTED = 1u << 1     /* its pose does not follow from the last frame's */
};

/* One body near the hand. `shape` indexes the world's table of shapes, which never changes while
 * the server runs. Pose, velocity and acceleration hold at the frame's time, in the world frame. */
typedef struct frame_body {
    uint32_t key;   /* names the body for its whole life */
    uint32_t shape; /* index into the table of shapes */
    uint32_t flags; /* FRAME_BODY_* */
    uint32_t reserved;
    pose world_from_body;
    twist velocity;     /* of the body's origin, world axes */
    twist acceleration; /* the same; time derivative of velocity */
    frame_material material;
    mat3 inverse_mass;  /* 1/kg, world axes: velocity change per impulse at the contact; 0: fixed */
    shape_tracker seed; /* where the nearest points are for the tool's last known place */
} frame_body;

typedef struct contact_frame {
    uint64_t sequence;   /* rises by one per frame; 0: no frame yet */
    int64_t time_ns;     /* of the poses, on the servo's clock */
    uint64_t tool_tick;  /* newest tool sample that the world had seen */
    uint32_t hand;       /* index */
    uint32_t body_count; /* <= FRAME_BODIES_MAX */
    frame_body bodies[FRAME_BODIES_MAX];
} contact_frame;

/* Bytes of the frame that carry meaning. */
HR_RT static inline size_t contact_frame_used(const contact_frame *f)
{
    return offsetof(contact_frame, bodies) + f->body_count * sizeof(frame_body);
}

/* What the servo tells the world every tick. */
typedef struct tool_sample {
    uint64_t tick;
    int64_t time_ns;
    uint32_t hand;
    uint32_t buttons;
    vec3 tool;     /* m, world frame */
    vec3 velocity; /* m/s, world frame */
    quat rotation; /* world_from_tool */
    vec3 proxy;    /* m, world frame */
    vec3 force;    /* N, world frame, that the proxy puts on the body it touches */
    vec3 point;    /* m, world frame, where it does */
    uint32_t body_key;
    uint32_t is_touching;
    uint32_t pushed_key; /* body that was pushed last, now or earlier; 0: none yet */
    uint32_t reserved;
    vec3 impulse; /* N s, world frame: put on that body since the hand came to it */
} tool_sample;

#endif
