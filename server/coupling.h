/* From the proxy to a force: a spring between tool and proxy, and a damper on the rate at which
 * the tool goes into the surface. Friction is in the proxy itself. World axes, forces as the hand
 * feels them. */
#ifndef SERVER_COUPLING_H
#define SERVER_COUPLING_H

#include "devices/velocity.h"
#include "server/proxy.h"

typedef struct coupling {
    double stiffness_max; /* N/m at the device */
    double damping;       /* N s/m at the device, added to the material's */
    double scale;         /* scene metres per device metre */
    double lag;           /* s, between a position and the middle of the force that answers it */
    velocity_window depth_rate;
    bool has_body;
    uint32_t body_key; /* whose depth is followed */
    double stiffness;  /* N/m at the device, of the last tick */
} coupling;

/* resolution: of the device's position, m. */
void coupling_init(coupling *c, double stiffness_max, double damping, double scale, double lag,
                   double resolution);

/* Forgets the motion of the past. */
HR_RT void coupling_reset(coupling *c);

/* N, world axes; zero without contact. The damper never pulls the tool in. is_fresh: the tool's
 * position is a new measurement. */
HR_RT vec3 coupling_force(coupling *c, const proxy *p, vec3 tool, bool is_fresh, int64_t time_ns);

/* J, held in the spring at that force. */
HR_RT double coupling_stored(const coupling *c, const proxy *p, vec3 tool);

#endif
