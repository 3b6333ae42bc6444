/* Grab and move: while a button is held, the body that was touched hangs on the tool by a spring
 * and a damper from the point where it was touched, both ways. The held body is no surface then,
 * and what it runs into the world tells it (and the hand through the spring). Let go, it keeps its
 * velocity. Only bodies that a push can move are grabbed. */
#ifndef SERVER_GRAB_H
#define SERVER_GRAB_H

#include "devices/velocity.h"
#include "server/proxy.h"

typedef struct grab {
    uint32_t buttons; /* bit of the button that grabs; 0: none */
    double damping;   /* N s/m at the device, added to the material's */
    double scale;     /* scene metres per device metre */
    double lag;       /* s, between a position and the middle of the force that answers it */
    bool is_holding;
    uint32_t key; /* of the held body */
    vec3 anchor;  /* m, its frame: where it is held */
    velocity_window rate[3];
} grab;

/* button: -1 for none. resolution: of the device's position, m. */
void grab_init(grab *g, int button, double damping, double scale, double lag, double resolution);

/* Before the proxy moves: takes hold or lets go by the buttons and what the last tick touched.
 * True while a body is held. */
HR_RT bool grab_update(grab *g, proxy *p, uint32_t buttons);

/* In the place of proxy_move and coupling_force: moves the bodies, puts the proxy where the held
 * body is held, describes that as its touch, and returns the force on the hand (N, world axes).
 * is_fresh: the tool's position is a new measurement. */
HR_RT vec3 grab_force(grab *g, proxy *p, vec3 tool, double stiffness_max, bool is_fresh,
                      int64_t time_ns, double dt);

/* Lets go at once: the tool's way is void, or forces are off. */
HR_RT void grab_drop(grab *g, proxy *p);

#endif
