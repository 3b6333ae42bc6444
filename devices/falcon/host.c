#include "devices/falcon/host.h"

#include <string.h>

/* No hand moves the grip faster; what does is a jump. */
static const double jump_speed = 5.0; /* m/s */

falcon_calibration falcon_calibration_default(void)
{
    return (falcon_calibration){.units_per_newton_metre = {10000, 10000, 10000},
                                .centre_z = FALCON_CENTRE_Z};
}

void falcon_host_init(falcon_host *h, const falcon_calibration *calibration)
{
    memset(h, 0, sizeof *h);
    h->calibration = *calibration;
    h->geometry = falcon_geometry_default();
    for (int i = 0; i < FALCON_ARMS; i++) {
        h->motors.units_per_newton_metre[i] = calibration->units_per_newton_metre[i];
        velocity_window_init(&h->arm_speed[i], 1.0);
    }
    h->buttons.hold = 5; /* ms at full rate */
    h->sample.rotation = quat_identity();
    falcon_host_reset(h);
}

HR_RT static void forget_past(falcon_host *h)
{
    for (int i = 0; i < FALCON_ARMS; i++)
        velocity_window_reset(&h->arm_speed[i]);
}

HR_RT void falcon_host_reset(falcon_host *h)
{
    h->position = (vec3){0, 0, FALCON_CENTRE_Z};
    h->jacobian = mat3_identity();
    h->force = (vec3){0, 0, 0};
    h->homed = 0;
    h->is_known = h->is_enabled = h->is_saturated = h->is_armed = false;
    h->frozen.is_started = false;
    forget_past(h);
}

/* Counts to position, velocity and Jacobian; true where the step was too long for a hand. */
HR_RT static hr_status understand(falcon_host *h, int64_t time_ns, const falcon_report *report,
                                  bool *has_jumped)
{
    falcon_angles angles = falcon_angles_from_counts(&h->geometry, report->counts);
    for (int i = 0; i < FALCON_ARMS; i++)
        angles.arm[i] += h->calibration.angle_offset[i];
    vec3 p;
    mat3 j;
    hr_status status = falcon_forward(&h->geometry, &angles, h->position, &p);
    if (status == HR_OK)
        status = falcon_jacobian(&h->geometry, p, &angles, &j);
    if (status != HR_OK)
        return HR_ERR_PROTOCOL;
    double dt = (double)(time_ns - h->sample.time_ns) * 1e-9;
    *has_jumped = !h->is_known || vec3_distance(p, h->position) > jump_speed * fmax(dt, 2e-4);
    if (*has_jumped)
        forget_past(h);
    h->position = p;
    h->angles = angles;
    h->jacobian = j;
    h->is_known = true;
    return HR_OK;
}

HR_RT static vec3 velocity_of(falcon_host *h, int64_t time_ns, const falcon_report *report)
{
    double speed[3];
    for (int i = 0; i < FALCON_ARMS; i++)
        speed[i] = velocity_window_add(&h->arm_speed[i], time_ns, report->counts[i]) *
                   h->geometry.radians_per_count;
    mat3 inverse;
    if (mat3_inverse(h->jacobian, &inverse) != HR_OK)
        return (vec3){0, 0, 0};
    return mat3_apply(inverse, (vec3){speed[0], speed[1], speed[2]});
}

HR_RT hr_status falcon_host_report(falcon_host *h, int64_t time_ns, const falcon_report *report,
                                   device_sample *out)
{
    device_sample *s = &h->sample;
    bool is_homed = report->homed == 7;
    bool has_jumped = false;
    bool is_frozen = false;
    if (is_homed && h->homed != 7)
        h->is_known = false; /* the counts now start from the index marks */
    h->homed = report->homed;
    if (is_homed) {
        hr_status status = understand(h, time_ns, report, &has_jumped);
        if (status != HR_OK) {
            h->unreachable++;
            return status;
        }
        vec3 velocity = velocity_of(h, time_ns, report);
        is_frozen = falcon_frozen_update(&h->frozen, time_ns, report->counts, vec3_length(velocity),
                                         h->force);
        h->is_armed |= h->position.z > h->calibration.arm_depth;
        s->position = falcon_to_base(h->position, h->calibration.centre_z);
        s->velocity = falcon_to_base_direction(velocity);
    }
    s->time_ns = time_ns;
    s->sequence++;
    s->valid = DEVICE_HAS_BUTTONS | DEVICE_HAS_JOINTS |
               (is_homed ? DEVICE_HAS_POSITION | DEVICE_HAS_VELOCITY : 0);
    s->flags = (is_homed ? DEVICE_IS_HOMED : 0) | (h->is_enabled ? DEVICE_IS_ENABLED : 0) |
               (h->is_saturated ? DEVICE_IS_SATURATED : 0) | (is_frozen ? DEVICE_IS_FROZEN : 0) |
               (has_jumped ? DEVICE_HAS_JUMPED : 0);
    s->buttons = falcon_debounce_add(&h->buttons, report->buttons);
    s->joint_count = FALCON_ARMS;
    for (int i = 0; i < FALCON_ARMS; i++)
        s->joints[i] = report->counts[i];
    *out = *s;
    return HR_OK;
}

HR_RT hr_status falcon_host_force(falcon_host *h, vec3 force, int16_t values[3])
{
    for (int i = 0; i < FALCON_ARMS; i++)
        values[i] = 0;
    h->is_saturated = false;
    h->force = (vec3){0, 0, 0};
    if (!vec3_is_finite(force))
        return HR_ERR_NOT_FINITE;
    if (vec3_length(force) == 0)
        return HR_OK;
    if (!h->is_enabled || h->homed != 7 || !h->is_known || !h->is_armed)
        return HR_ERR_DISABLED;
    hr_status status = falcon_motors_from_force(
        &h->motors, h->jacobian, falcon_from_base_direction(force), values, &h->is_saturated);
    h->force = falcon_force_from_motors(&h->motors, h->jacobian, values);
    return status;
}
