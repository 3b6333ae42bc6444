#include "devices/sim_falcon.h"

#include <string.h>

#include "devices/falcon/host.h"

/* A step of the plant. The stiffest thing it must carry is the grip (20 kN/m on 0.1 kg swings at
 * 71 Hz); walls are felt through motor values that are constant between exchanges. */
static const double step_max = 250e-6; /* s */

/* Longer gaps between reads are cut: the plant stands still for the rest. */
enum { STEPS_MAX = 200 };

/* A command without a deadline lives this long. */
static const int64_t deadline_default_ns = 100000000;

hr_status sim_falcon_settings_read(const device_settings *settings, sim_falcon_settings *out,
                                   hr_error *error)
{
    hr_status status;
    sim_falcon_settings s = {
        .mass = 0.15, .friction = 0.2, .viscosity = 0.5, .has_quantisation = true};
    int64_t delay = 1;
    int64_t seed = 1;
    if ((status = settings_number(settings, "device_mass_kg", 0.02, 5, &s.mass, error)) ||
        (status = settings_number(settings, "device_friction_n", 0, 10, &s.friction, error)) ||
        (status = settings_number(settings, "device_viscosity_n_s_per_m", 0, 100, &s.viscosity,
                                  error)) ||
        (status = settings_integer(settings, "delay_exchanges", 0, SIM_DELAY_MAX, &delay, error)) ||
        (status =
             settings_number(settings, "drop_probability", 0, 1, &s.drop_probability, error)) ||
        (status =
             settings_number(settings, "late_probability", 0, 1, &s.late_probability, error)) ||
        (status = settings_number(settings, "homing_s", 0, 600, &s.homing_s, error)) ||
        (status = settings_bool(settings, "quantisation", &s.has_quantisation, error)) ||
        (status = settings_integer(settings, "seed", 0, INT64_MAX, &seed, error)))
        return status;
    const device_setting *faults = settings_find(settings, "faults");
    if (faults &&
        (status = sim_faults_parse(faults->value, strlen(faults->value),
                                   faults->place ? faults->place : "faults", &s.faults, error)))
        return status;
    s.delay_exchanges = (int)delay;
    s.seed = (uint64_t)seed;
    *out = s;
    return HR_OK;
}

void sim_falcon_init(sim_falcon *f, const sim_falcon_settings *settings, const sim_grip *grip)
{
    memset(f, 0, sizeof *f);
    f->settings = *settings;
    f->geometry = falcon_geometry_default();
    f->motors = falcon_motors_default();
    f->grip = *grip;
    f->position = (vec3){0, 0, FALCON_CENTRE_Z};
    (void)!falcon_inverse(&f->geometry, f->position, &f->angles);
    falcon_tracker_init(&f->tracker, settings->has_quantisation ? 1.0 : 0.01);
    f->random = settings->seed ^ 0x66616c636f6eULL;
    f->is_plugged = true;
    f->homing = settings->homing_s > 0 ? 0 : 1;
    f->homing_start_ns = -1;
    f->sample.rotation = quat_identity();
}

void sim_falcon_describe(const device *dev, device_description *out)
{
    const sim_falcon *f = (const sim_falcon *)(const void *)dev;
    falcon_describe(out);
    out->latency = 0.001 * f->settings.delay_exchanges;
    out->watchdog = 0.1;
    out->senses_rotation = f->settings.senses_rotation;
    memcpy(out->serial, f->serial, sizeof out->serial);
}

HR_RT static sim_falcon *falcon_of(device *dev)
{
    return (sim_falcon *)(void *)dev;
}

HR_RT double sim_falcon_time(const sim_falcon *f, int64_t now_ns)
{
    return f->is_started ? (double)(now_ns - f->start_ns) * 1e-9 : 0;
}

HR_RT static void stop_motors(sim_falcon *f)
{
    static const sim_motor_command none;
    f->active = none;
    f->force = (vec3){0, 0, 0};
    for (int i = 0; i <= SIM_DELAY_MAX; i++)
        f->queue[i] = none;
}

/* Coulomb friction takes away up to its impulse, never more than there is. */
HR_RT static vec3 rub(vec3 velocity, double impulse_per_mass)
{
    double speed = vec3_length(velocity);
    return speed > impulse_per_mass ? vec3_scale(1 - impulse_per_mass / speed, velocity)
                                    : (vec3){0, 0, 0};
}

HR_RT static vec3 motor_force(const sim_falcon *f)
{
    mat3 j;
    if (falcon_jacobian(&f->geometry, f->position, &f->angles, &j) != HR_OK)
        return (vec3){0, 0, 0};
    return mat3_apply_transposed(
        j, (vec3){f->active.torque[0], f->active.torque[1], f->active.torque[2]});
}

/* Puts the grip at p or at the stop before it. The work of the motors is torque times turn, which
 * is exact because a motor value stays the same from exchange to exchange. */
HR_RT static void place(sim_falcon *f, vec3 p)
{
    vec3 inside = falcon_clamp_to_workspace(p);
    falcon_angles before = f->angles;
    if (falcon_inverse(&f->geometry, inside, &f->angles) != HR_OK)
        return;
    f->position = inside;
    vec3 out = vec3_sub(p, inside);
    double depth = vec3_length(out);
    if (depth > 0) { /* a stop takes the speed towards it */
        vec3 n = vec3_scale(1 / depth, out);
        double towards = vec3_dot(f->velocity, n);
        if (towards > 0)
            f->velocity = vec3_add_scaled(f->velocity, -towards, n);
    }
    for (int i = 0; i < FALCON_ARMS; i++)
        f->energy += f->active.torque[i] * (f->angles.arm[i] - before.arm[i]);
}

/* Semi-implicit Euler. Intent in the base frame, plant in the device's. */
HR_RT static void step(sim_falcon *f, const sim_intent *intent, double h)
{
    double mass = f->settings.mass + (intent->holding > 0 ? f->grip.mass : 0);
    f->force = motor_force(f);
    vec3 hand = falcon_from_base_direction(
        sim_grip_force(&f->grip, intent, falcon_to_base(f->position, FALCON_CENTRE_Z),
                       falcon_to_base_direction(f->velocity)));
    vec3 force = vec3_add(f->force, hand);
    force = vec3_add_scaled(force, -f->settings.viscosity, f->velocity);
    vec3 velocity = vec3_add_scaled(f->velocity, h / mass, force);
    f->velocity = rub(velocity, f->settings.friction * h / mass);
    place(f, vec3_add_scaled(f->position, h, f->velocity));
}

HR_RT static void impose(sim_falcon *f, const sim_intent *intent)
{
    f->force = motor_force(f);
    f->velocity = falcon_from_base_direction(intent->target_velocity);
    place(f, falcon_from_base(intent->target, FALCON_CENTRE_Z));
}

HR_RT static void advance(sim_falcon *f, int64_t now_ns, const sim_intent *intent)
{
    double dt = (double)(now_ns - f->time_ns) * 1e-9;
    int count = (int)ceil(fmin(dt / step_max, STEPS_MAX) - 1e-9);
    double h = fmin(dt / (count > 0 ? count : 1), step_max);
    for (int n = 1; n <= count; n++) {
        int64_t at = f->time_ns + (int64_t)((double)n * h * 1e9);
        if (at > f->active.deadline_ns)
            f->active = (sim_motor_command){.deadline_ns = INT64_MAX};
        sim_intent between = *intent;
        double share = (double)n / count;
        between.target = vec3_lerp(f->intent.target, intent->target, share);
        between.target_velocity =
            vec3_lerp(f->intent.target_velocity, intent->target_velocity, share);
        if (f->settings.is_imposed)
            impose(f, &between);
        else
            step(f, &between, h);
    }
    f->intent = *intent;
    f->time_ns = now_ns;
}

/* The command that arrives with this exchange, unless it is lost; without one the last goes on
 * until its deadline. */
HR_RT static void deliver(sim_falcon *f, bool is_lost)
{
    if (!is_lost && f->queue[0].is_set)
        f->active = f->queue[0];
    for (int i = 0; i < SIM_DELAY_MAX; i++)
        f->queue[i] = f->queue[i + 1];
}

HR_RT static void read_encoders(sim_falcon *f, uint32_t faults, int16_t counts[3])
{
    falcon_counts_from_angles(&f->geometry, &f->angles, counts);
    bool is_frozen = (faults & SIM_FAULT_FROZEN) != 0;
    for (int i = 0; i < FALCON_ARMS; i++) {
        if (is_frozen && !f->is_frozen)
            f->frozen_counts[i] = counts[i];
        if (is_frozen)
            counts[i] = f->frozen_counts[i];
        if (faults & SIM_FAULT_JUMP)
            counts[i] = (int16_t)(counts[i] + 150);
    }
    f->is_frozen = is_frozen;
}

/* The host's side: counts to position and velocity; without quantisation the true angles. */
HR_RT static hr_status understand(sim_falcon *f, const int16_t counts[3])
{
    bool was_known = f->tracker.is_known;
    falcon_angles angles = falcon_angles_from_counts(&f->geometry, counts);
    if (!f->settings.has_quantisation)
        angles = f->angles;
    hr_status status = falcon_tracker_add(&f->tracker, f->time_ns, &angles, &f->has_jumped);
    if (status != HR_OK)
        return status;
    f->has_jumped &= was_known;
    for (int i = 0; i < FALCON_ARMS; i++)
        f->sample.joints[i] = counts[i];
    f->sample.position = falcon_to_base(f->tracker.position, FALCON_CENTRE_Z);
    f->sample.velocity = falcon_to_base_direction(f->tracker.velocity);
    return HR_OK;
}

HR_RT static void update_homing(sim_falcon *f)
{
    if (f->homing >= 1 || f->homing_start_ns < 0)
        return;
    f->homing = (double)(f->time_ns - f->homing_start_ns) * 1e-9 / f->settings.homing_s;
    if (f->homing >= 1) {
        f->homing = 1;
        f->has_jumped = true; /* the counts now start from the index marks */
        falcon_tracker_forget_speed(&f->tracker);
    }
}

/* A report came through. */
HR_RT static hr_status report(sim_falcon *f, uint32_t faults, uint32_t extra_flags)
{
    int16_t counts[3];
    read_encoders(f, faults, counts);
    hr_status status = understand(f, counts);
    if (status != HR_OK)
        return status;
    update_homing(f);
    device_sample *s = &f->sample;
    bool is_homed = f->homing >= 1;
    bool is_frozen =
        falcon_frozen_update(&f->frozen, f->time_ns, counts, vec3_length(s->velocity), f->force);
    s->time_ns = f->time_ns;
    s->sequence++;
    s->valid = DEVICE_HAS_BUTTONS | DEVICE_HAS_JOINTS |
               (is_homed ? DEVICE_HAS_POSITION | DEVICE_HAS_VELOCITY : 0) |
               (f->settings.senses_rotation ? DEVICE_HAS_ROTATION : 0);
    if (f->settings.senses_rotation)
        s->rotation = f->intent.rotation;
    s->flags = (is_homed ? DEVICE_IS_HOMED : 0) | (f->is_enabled ? DEVICE_IS_ENABLED : 0) |
               (f->is_saturated ? DEVICE_IS_SATURATED : 0) | (is_frozen ? DEVICE_IS_FROZEN : 0) |
               (f->has_jumped ? DEVICE_HAS_JUMPED : 0) | extra_flags;
    s->buttons = f->intent.buttons;
    s->joint_count = FALCON_ARMS;
    return HR_OK;
}

/* First contact with the clock: the hand already holds the grip where it wants it. */
HR_RT static void start(sim_falcon *f, int64_t now_ns, const sim_intent *intent)
{
    f->start_ns = f->time_ns = now_ns;
    f->intent = *intent;
    f->is_started = true;
    place(f, falcon_from_base(intent->target, FALCON_CENTRE_Z));
    f->tracker.position = f->position;
    f->energy = 0;
}

HR_RT static hr_status lose(sim_falcon *f)
{
    if (f->is_plugged) {
        stop_motors(f);
        f->is_enabled = f->is_saturated = f->tracker.is_known = false;
        falcon_tracker_forget_speed(&f->tracker);
    }
    f->is_plugged = false;
    return HR_ERR_LOST;
}

HR_RT hr_status sim_falcon_read(sim_falcon *f, int64_t now_ns, const sim_intent *intent,
                                uint32_t extra_flags, device_sample *out)
{
    if (!f->is_started)
        start(f, now_ns, intent);
    advance(f, now_ns > f->time_ns ? now_ns : f->time_ns, intent);
    if (f->homing < 1 && f->homing_start_ns == 0)
        f->homing_start_ns = f->time_ns;
    uint32_t faults = sim_faults_at(&f->settings.faults, sim_falcon_time(f, now_ns));
    if (faults & SIM_FAULT_UNPLUG)
        return lose(f);
    if (!f->is_plugged)
        extra_flags |=
            DEVICE_HAS_JUMPED; /* plugged in again: nobody knows where it was meanwhile */
    f->is_plugged = true;

    bool is_dropped =
        sim_random_unit(&f->random) < f->settings.drop_probability || (faults & SIM_FAULT_SILENT);
    bool is_late =
        sim_random_unit(&f->random) < f->settings.late_probability || (faults & SIM_FAULT_LATE);
    deliver(f, is_dropped);
    if (is_dropped || is_late) {
        /* the old sample, but what the host itself knows is current */
        f->sample.flags = (f->sample.flags & ~(uint32_t)(DEVICE_IS_ENABLED | DEVICE_HAS_JUMPED)) |
                          DEVICE_IS_LATE | (f->is_enabled ? DEVICE_IS_ENABLED : 0);
        *out = f->sample;
        return HR_OK;
    }
    hr_status status = report(f, faults, extra_flags);
    if (status != HR_OK)
        return status;
    *out = f->sample;
    if (faults & SIM_FAULT_NAN)
        out->position = (vec3){(double)NAN, (double)NAN, (double)NAN};
    return HR_OK;
}

/* Motor values and the torques that they make; without quantisation the exact ones. */
HR_RT static hr_status motors_for(sim_falcon *f, vec3 force, sim_motor_command *slot)
{
    hr_status status = falcon_motors_from_force(&f->motors, f->tracker.jacobian, force,
                                                slot->values, &f->is_saturated);
    vec3 torque = falcon_torque_from_motors(&f->motors, slot->values);
    mat3 inverse;
    if (!f->settings.has_quantisation && status == HR_OK && !f->is_saturated &&
        mat3_inverse(f->tracker.jacobian, &inverse) == HR_OK)
        torque = mat3_apply_transposed(inverse, force);
    slot->torque[0] = torque.x;
    slot->torque[1] = torque.y;
    slot->torque[2] = torque.z;
    return status;
}

HR_RT hr_status sim_falcon_write(device *dev, int64_t now_ns, const device_command *command)
{
    (void)now_ns; /* the plant's own time is that of the last read */
    sim_falcon *f = falcon_of(dev);
    if (!f->is_plugged)
        return HR_ERR_LOST;
    int64_t deadline =
        command->deadline_ns ? command->deadline_ns : f->time_ns + deadline_default_ns;
    sim_motor_command new = {.deadline_ns = deadline, .is_set = true};
    bool may_push = f->is_enabled && f->homing >= 1;
    f->is_saturated = false;
    hr_status status = HR_OK;
    if (!vec3_is_finite(command->force))
        status = HR_ERR_NOT_FINITE;
    else if (may_push)
        status = motors_for(f, falcon_from_base_direction(command->force), &new);
    else if (vec3_length(command->force) > 0)
        status = HR_ERR_DISABLED;
    if (f->settings.delay_exchanges > 0)
        f->queue[f->settings.delay_exchanges - 1] = new;
    else
        f->active = new;
    return status;
}

HR_RT hr_status sim_falcon_enable(device *dev, bool on)
{
    sim_falcon *f = falcon_of(dev);
    if (!f->is_plugged)
        return HR_ERR_LOST;
    if (!on)
        stop_motors(f);
    f->is_enabled = on;
    return HR_OK;
}

double sim_falcon_progress(const device *dev)
{
    return ((const sim_falcon *)(const void *)dev)->homing;
}

const char *sim_falcon_last_error(const device *dev)
{
    const sim_falcon *f = (const sim_falcon *)(const void *)dev;
    return f->is_plugged ? "" : "the simulated device is unplugged";
}

hr_status sim_falcon_calibrate(device *dev, bool force)
{
    sim_falcon *f = falcon_of(dev);
    if (!f->is_plugged)
        return HR_ERR_LOST;
    if (f->homing >= 1 && !force)
        return HR_OK;
    if (f->settings.homing_s > 0) {
        stop_motors(f);
        f->homing = 0;
        f->homing_start_ns = 0; /* counts from the next read */
    }
    return HR_OK;
}

void sim_falcon_truth(const sim_falcon *f, sim_truth *out)
{
    out->position = falcon_to_base(f->position, FALCON_CENTRE_Z);
    out->velocity = falcon_to_base_direction(f->velocity);
    out->force = falcon_to_base_direction(f->force);
    out->energy = f->energy;
    out->time_ns = f->time_ns;
}
