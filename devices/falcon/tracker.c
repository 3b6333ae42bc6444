#include "devices/falcon/tracker.h"

#include <string.h>

/* No hand moves the grip faster; what does is a jump. */
static const double jump_speed = 5.0; /* m/s */

void falcon_tracker_init(falcon_tracker *t, double noise)
{
    memset(t, 0, sizeof *t);
    t->geometry = falcon_geometry_default();
    for (int i = 0; i < FALCON_ARMS; i++)
        velocity_window_init(&t->arm_speed[i], noise);
    falcon_tracker_reset(t);
}

HR_RT void falcon_tracker_forget_speed(falcon_tracker *t)
{
    for (int i = 0; i < FALCON_ARMS; i++)
        velocity_window_reset(&t->arm_speed[i]);
}

HR_RT void falcon_tracker_reset(falcon_tracker *t)
{
    t->position = (vec3){0, 0, FALCON_CENTRE_Z};
    t->velocity = (vec3){0, 0, 0};
    t->jacobian = mat3_identity();
    t->is_known = false;
    falcon_tracker_forget_speed(t);
}

HR_RT static vec3 velocity_of(falcon_tracker *t, int64_t time_ns, const falcon_angles *angles)
{
    const falcon_geometry *g = &t->geometry;
    double speed[3];
    for (int i = 0; i < FALCON_ARMS; i++) {
        double counts = (angles->arm[i] - g->angle_at_zero) / g->radians_per_count;
        speed[i] = velocity_window_add(&t->arm_speed[i], time_ns, counts) * g->radians_per_count;
    }
    mat3 inverse;
    if (mat3_inverse(t->jacobian, &inverse) != HR_OK)
        return (vec3){0, 0, 0};
    return mat3_apply(inverse, (vec3){speed[0], speed[1], speed[2]});
}

HR_RT hr_status falcon_tracker_add(falcon_tracker *t, int64_t time_ns, const falcon_angles *angles,
                                   bool *has_moved_too_far)
{
    vec3 p;
    mat3 j;
    hr_status status = falcon_forward(&t->geometry, angles, t->position, &p);
    if (status == HR_OK)
        status = falcon_jacobian(&t->geometry, p, angles, &j);
    if (status != HR_OK)
        return HR_ERR_PROTOCOL;
    double dt = (double)(time_ns - t->time_ns) * 1e-9;
    *has_moved_too_far = vec3_distance(p, t->position) > jump_speed * fmax(dt, 2e-4);
    if (*has_moved_too_far)
        falcon_tracker_forget_speed(t);
    t->position = p;
    t->jacobian = j;
    t->time_ns = time_ns;
    t->is_known = true;
    t->velocity = velocity_of(t, time_ns, angles);
    return HR_OK;
}
