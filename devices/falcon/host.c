#include "devices/falcon/host.h"

#include <string.h>

falcon_calibration falcon_calibration_default(void)
{
    return (falcon_calibration){.units_per_newton_metre = {10000, 10000, 10000},
                                .centre_z = FALCON_CENTRE_Z};
}

void falcon_describe(device_description *out)
{
    *out = (device_description){
        .model = "Falcon",
        .manufacturer = "Novint Technologies",
        .max_force = 8,
        .peak_force = 10,
        .max_stiffness = 3000,
        .max_damping = 20,
        .workspace_radius = 0.04,
        .position_resolution = 40e-6, /* one count on all arms is 30 to 48 um along z */
        .native_rate_hz = 1000,
        .button_count = 4,
        .senses_position = true,
        .actuates_position = true,
        .fits_left_hand = true,
        .fits_right_hand = true,
    };
}

void falcon_host_init(falcon_host *h, const falcon_calibration *calibration)
{
    memset(h, 0, sizeof *h);
    h->calibration = *calibration;
    falcon_tracker_init(&h->tracker, 1.0);
    for (int i = 0; i < FALCON_ARMS; i++)
        h->motors.units_per_newton_metre[i] = calibration->units_per_newton_metre[i];
    h->buttons.hold = 5; /* ms at full rate */
    h->sample.rotation = quat_identity();
    falcon_host_reset(h);
}

HR_RT void falcon_host_reset(falcon_host *h)
{
    falcon_tracker_reset(&h->tracker);
    h->force = (vec3){0, 0, 0};
    h->homed = 0;
    h->is_enabled = h->is_saturated = h->is_armed = false;
    h->frozen.is_started = false;
}

/* Counts to a pose; *has_jumped where nothing was known before as well. */
HR_RT static hr_status understand(falcon_host *h, int64_t time_ns, const falcon_report *report,
                                  bool *has_jumped)
{
    bool was_known = h->tracker.is_known;
    falcon_angles angles = falcon_angles_from_counts(&h->tracker.geometry, report->counts);
    for (int i = 0; i < FALCON_ARMS; i++)
        angles.arm[i] += h->calibration.angle_offset[i];
    hr_status status = falcon_tracker_add(&h->tracker, time_ns, &angles, has_jumped);
    *has_jumped |= !was_known;
    return status;
}

HR_RT hr_status falcon_host_report(falcon_host *h, int64_t time_ns, const falcon_report *report,
                                   device_sample *out)
{
    device_sample *s = &h->sample;
    bool is_homed = report->homed == 7;
    bool has_jumped = false;
    bool is_frozen = false;
    if (is_homed && h->homed != 7)
        falcon_tracker_reset(&h->tracker); /* the counts now start from the index marks */
    h->homed = report->homed;
    if (is_homed) {
        hr_status status = understand(h, time_ns, report, &has_jumped);
        if (status != HR_OK) {
            h->unreachable++;
            return status;
        }
        const falcon_tracker *t = &h->tracker;
        is_frozen = falcon_frozen_update(&h->frozen, time_ns, report->counts,
                                         vec3_length(t->velocity), h->force);
        h->is_armed |= t->position.z > h->calibration.arm_depth;
        s->position = falcon_to_base(t->position, h->calibration.centre_z);
        s->velocity = falcon_to_base_direction(t->velocity);
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
    if (!h->is_enabled || h->homed != 7 || !h->tracker.is_known || !h->is_armed)
        return HR_ERR_DISABLED;
    hr_status status =
        falcon_motors_from_force(&h->motors, h->tracker.jacobian, falcon_from_base_direction(force),
                                 values, &h->is_saturated);
    h->force = falcon_force_from_motors(&h->motors, h->tracker.jacobian, values);
    return status;
}
