/* The proxy: the point (or small sphere) that stays outside every body while the tool may be
 * inside. It is the allowed point nearest to the tool, on all near bodies at once, and friction
 * holds it back. Trackers follow the proxy, not the tool, so it is always seen from outside.
 *
 * A plane that separates the proxy from a convex body is carried with the body. Moving the proxy
 * only within the half spaces of those planes, and renewing them at its new place, it can never
 * pass through a body, however thin the body is and however fast either moves. */
#ifndef SERVER_PROXY_H
#define SERVER_PROXY_H

#include "server/frame.h"
#include "server/proxy_yield.h"

/* Above the shape_tracker flags in tick_record.tracker_flags. */
enum {
    PROXY_INFEASIBLE = 1u << 16, /* bodies leave no room: the proxy goes no deeper, but may leave */
    PROXY_STICKS = 1u << 17,     /* static friction holds it */
    PROXY_GATED = 1u << 18,      /* a body that appeared in the hand is not felt yet */
    PROXY_HOLDS = 1u << 19       /* a body hangs on the tool (grab.h) */
};

/* How a body moves between frames. */
typedef struct body_motion {
    pose world_from_body; /* at time_ns */
    twist velocity, acceleration;
    int64_t time_ns;
} body_motion;

typedef struct proxy_body {
    uint32_t key;
    uint32_t shape;
    frame_material material;
    mat3 inverse_mass;
    body_motion motion;   /* of the newest frame */
    body_motion replaced; /* of the one before, while is_corrected */
    bool is_corrected;    /* a frame came since the last tick */
    bool is_new;          /* not followed yet */
    bool is_jumping;      /* teleported by the newest frame */
    bool is_gated;        /* not felt until the tool is clear of it */
    bool is_movable;      /* pushing moves it */
    bool is_yielding;     /* pushes move it between frames */
    body_yield yield;
    vec3 replaced_slip; /* m, of the frame before, while is_corrected */
    vec3 shift;         /* m, world: shown pose minus the motion's and the slip, fading */
    vec3 turn;          /* rad, world: the same for its rotation */
    pose now, before;   /* shown pose at this tick and at the last */
    shape_tracker tracker;
    vec3 followed; /* m, body frame: where the tracker was asked last */
    int contact_count;
    shape_contact contacts[SHAPE_CONTACTS_MAX]; /* body frame */
} proxy_body;

/* What holds the proxy after a tick. */
typedef struct proxy_touch {
    int count;               /* planes that hold it, 0 to 3 */
    int body;                /* index of the body that carries most; -1 without contact */
    uint32_t feature;        /* of that body */
    vec3 normal;             /* unit, world: where the surfaces push */
    double depth;            /* m, how far the tool is beyond them */
    double gap;              /* m, tool's signed distance to the nearest body; 1 with none near */
    frame_material material; /* mean by share of the push */
    vec3 surface_velocity;   /* m/s, world: of what is touched, where it is touched */
    bool was_teleported;     /* a body was found in the hand in this tick or is still gated */
    uint32_t flags;          /* shape_tracker flags and PROXY_* */
} proxy_touch;

typedef struct proxy {
    const shape *shapes;
    int shape_count;
    double radius;  /* m, of the tool */
    double horizon; /* s, how far a frame's motion is trusted */
    double friction_factor;
    bool moves_bodies; /* pushed bodies give way between frames */
    bool is_placed;
    bool is_sticking;
    vec3 position;      /* m, world */
    vec3 tool;          /* m, world, at the last tick */
    quat tool_rotation; /* world_from_tool: how a tool body is turned; set before proxy_move */
    int body_count;
    proxy_body bodies[FRAME_BODIES_MAX];
    proxy_touch touch;
    push_log pushes;
} proxy;

void proxy_init(proxy *p, const shape *shapes, int shape_count, double radius, double horizon);

/* Forgets all contacts; the next tick places the proxy at the tool and gates whatever is there. */
HR_RT void proxy_reset(proxy *p);

/* Takes over the bodies of a newer frame. Bodies with a shape outside the table or a pose that is
 * not finite are left out; returns how many were. */
HR_RT int proxy_frame(proxy *p, const contact_frame *frame);

/* One tick: fills p->position and p->touch. */
HR_RT void proxy_move(proxy *p, vec3 tool, int64_t time_ns, double dt);

/* After the tick: the force (N, world) that it put on the touched body, as the world is told. */
HR_RT void proxy_pushed(proxy *p, uint64_t tick, vec3 force, double dt);

/* Body poses for the tick, and what new frames do to them: server/proxy_bodies.c. */
HR_RT void proxy_advance_bodies(proxy *p, int64_t time_ns, double dt);

#endif
