#include "server/safety.h"

/* How long the factors of over-speed, overrun and frozen encoders take back to one. */
static const double recover_s = 0.1;

/* Encoders that stood still at once from this speed, for this long, are frozen: at that speed a
 * Falcon counts every millisecond, and a hand needs longer to stop. Stillness alone proves
 * nothing: a hand at rest may give the same counts for seconds. Drivers know more and say so. */
static const double frozen_speed = 0.05; /* m/s */
static const double frozen_s = 0.020;

static const double reduced = 0.5; /* factor after too many missed periods */

safety_limits safety_limits_from(const config *settings, const device_description *about)
{
    const config_safety *s = &settings->safety;
    safety_limits l = {
        .period = 1.0 / settings->servo.rate_hz,
        .max_force = s->max_force_n,
        .max_slew = s->max_slew_n_per_s,
        .max_speed = s->max_speed_m_per_s,
        .workspace_centre = about->workspace_centre,
        .workspace_radius = about->workspace_radius,
        .workspace_margin = s->workspace_margin_m,
        .ramp_s = s->startup_ramp_s,
        .clear_s = s->startup_clear_s,
        .world_fade_s = settings->world.stale_fade_s,
        .world_zero_s = settings->world.stale_zero_s,
        .device_fade_s = s->device_stale_fade_s,
        .device_zero_s = s->device_stale_zero_s,
        .overrun_reduce = settings->servo.overrun_reduce,
        .overrun_fault_s = settings->servo.overrun_fault_s,
        .passivity_damping_max = s->passivity_damping_max_n_s_per_m,
        .stale_damping = settings->coupling.damping_n_s_per_m,
        .resolution = about->position_resolution,
        .latency = about->latency,
        .is_actuated = about->actuates_position,
        .refuses_degraded = about->has_motors && !settings->servo.allow_degraded,
    };
    if (about->max_force > 0)
        l.max_force = fmin(l.max_force, about->max_force);
    if (about->max_damping > 0)
        l.passivity_damping_max = fmin(l.passivity_damping_max, about->max_damping);
    return l;
}

void safety_init(safety *s, const safety_limits *limits)
{
    *s = (safety){.limits = *limits, .overrun_gate = 1, .speed_gate = 1, .frozen_gate = 1};
}

/* The force has to come back from nothing, through the start-up gate. */
HR_RT static void close_gate(safety *s, uint32_t cause)
{
    s->ramp = 0;
    s->clear_time = 0;
    s->gate_cause |= cause;
}

HR_RT void safety_estop(safety *s)
{
    s->is_estopped = true;
}

HR_RT void safety_fault(safety *s, uint32_t reasons)
{
    s->is_faulted = true;
    s->latched |= reasons;
}

HR_RT void safety_disarm(safety *s)
{
    s->is_disarmed = true;
}

HR_RT void safety_arm(safety *s)
{
    s->is_estopped = s->is_faulted = s->is_disarmed = false;
    s->latched = 0;
    s->bad_time = s->missed_run = s->silence = 0;
    close_gate(s, 0);
}

/* 1 up to `fade`, 0 from `zero` on, straight between. */
HR_RT static double fade_between(double x, double fade, double zero)
{
    if (x <= fade)
        return 1;
    if (x >= zero)
        return 0;
    return (zero - x) / (zero - fade);
}

HR_RT static double rise(double gate, double dt)
{
    return fmin(1.0, gate + dt / recover_s);
}

/* Missed periods, and time that leaps or runs backwards. */
HR_RT static void watch_time(safety *s, const safety_input *in)
{
    const safety_limits *l = &s->limits;
    double leap = s->has_time ? (double)(in->time_ns - s->time_ns) * 1e-9 : l->period;
    s->time_ns = in->time_ns;
    s->has_time = true;
    bool is_good = in->missed_periods == 0;
    s->missed_run = is_good ? 0 : s->missed_run + in->missed_periods;
    s->bad_time = is_good ? 0 : s->bad_time + in->missed_periods * l->period;
    if (s->missed_run >= l->overrun_reduce && l->overrun_reduce > 0)
        s->overrun_gate = reduced;
    else
        s->overrun_gate = rise(s->overrun_gate, in->dt);
    if (s->bad_time >= l->overrun_fault_s || leap >= l->overrun_fault_s + l->period || leap < 0)
        safety_fault(s, REASON_OVERRUN);
}

/* Reports that stay away, devices that are gone, encoders that stand still. */
HR_RT static void watch_device(safety *s, const safety_input *in)
{
    const safety_limits *l = &s->limits;
    s->silence = in->has_report ? 0 : s->silence + in->dt;
    if (in->read_status == HR_ERR_LOST || in->write_status == HR_ERR_LOST)
        safety_fault(s, REASON_STALE_DEVICE);
    if (s->silence >= l->device_zero_s)
        close_gate(s, REASON_STALE_DEVICE);
    if (in->has_jumped)
        close_gate(s, REASON_JUMP);

    bool has_moved = vec3_distance(in->position, s->still_position) > 0;
    if (has_moved || !in->has_report) {
        s->still_position = in->position;
        s->still_speed = vec3_length(in->velocity);
        s->still_time = 0;
    } else {
        s->still_time += in->dt;
    }
    bool is_frozen = l->is_actuated && s->still_time >= frozen_s && s->still_speed > frozen_speed;
    if (is_frozen || in->is_flagged_frozen)
        s->frozen_gate = fmax(0, s->frozen_gate - in->dt / recover_s);
    else
        s->frozen_gate = rise(s->frozen_gate, in->dt);
}

/* Homing, a world, a clear tool, then the ramp. */
HR_RT static servo_state walk_gate(safety *s, const safety_input *in)
{
    const safety_limits *l = &s->limits;
    if (!in->is_homed || s->silence >= l->device_zero_s) {
        close_gate(s, 0);
        return SERVO_HOMING;
    }
    if (!in->has_world || in->world_age >= l->world_zero_s) {
        close_gate(s, in->has_world ? REASON_STALE_WORLD : 0u);
        return SERVO_WAITING;
    }
    if (!(s->ramp > 0)) {
        s->clear_time = in->is_clear ? s->clear_time + in->dt : 0;
        if (s->clear_time < l->clear_s || !in->is_clear)
            return SERVO_WAITING;
    }
    s->ramp = fmin(1.0, s->ramp + (l->ramp_s > 0 ? in->dt / l->ramp_s : 1.0));
    if (s->ramp < 1)
        return SERVO_RAMPING;
    s->gate_cause = 0;
    return SERVO_RUNNING;
}

/* The longest force that may follow: what shortens the last one is free, the rest is slew-limited.
 */
HR_RT static vec3 limit_slew(vec3 last, vec3 wanted, double step, uint32_t *reasons)
{
    double squared = vec3_length_squared(last);
    double kept = squared > 0 ? vec3_dot(wanted, last) / squared : 0;
    vec3 base = vec3_scale(fmin(fmax(kept, 0), 1), last);
    vec3 rest = vec3_sub(wanted, base);
    if (vec3_length(rest) <= step)
        return wanted;
    *reasons |= REASON_SLEW;
    return vec3_add(base, vec3_clamp_length(rest, step));
}

/* Outside the workspace the force fades over the margin, its outward part faster. */
HR_RT static vec3 guard_workspace(const safety_limits *l, vec3 position, vec3 force,
                                  uint32_t *reasons)
{
    vec3 out = vec3_sub(position, l->workspace_centre);
    double distance = vec3_length(out);
    if (!(l->workspace_radius > 0) || !(distance > l->workspace_radius))
        return force;
    double w = fade_between(distance, l->workspace_radius,
                            l->workspace_radius + fmax(l->workspace_margin, 1e-6));
    double outward = vec3_dot(force, out) / distance;
    if (vec3_length_squared(force) > 0)
        *reasons |= REASON_WORKSPACE;
    force = vec3_scale(w, force);
    return outward > 0 ? vec3_add_scaled(force, (w * w - w) * outward / distance, out) : force;
}

/* While the world is late the force turns into plain damping, then into nothing. */
HR_RT static vec3 fade_world(const safety_limits *l, const safety_input *in, vec3 force,
                             double *fade, uint32_t *reasons)
{
    if (!in->has_world || in->world_age <= l->world_fade_s)
        return force;
    double middle = 0.5 * (l->world_fade_s + l->world_zero_s);
    double spring = fade_between(in->world_age, l->world_fade_s, middle);
    double damper = fade_between(in->world_age, middle, l->world_zero_s) * (1.0 - spring);
    *fade *= spring;
    *reasons |= REASON_STALE_WORLD;
    return vec3_add_scaled(vec3_scale(spring, force), -damper * l->stale_damping, in->velocity);
}

/* All gates and fades on the sum of what is wanted; returns their common factor. */
HR_RT static double gates(safety *s, const safety_input *in, uint32_t *reasons)
{
    const safety_limits *l = &s->limits;
    double report = fade_between(s->silence, l->device_fade_s, l->device_zero_s);
    if (s->ramp < 1)
        *reasons |= REASON_STARTUP | s->gate_cause;
    if (report < 1)
        *reasons |= REASON_STALE_DEVICE;
    if (s->overrun_gate < 1)
        *reasons |= REASON_OVERRUN;
    if (s->frozen_gate < 1)
        *reasons |= REASON_FROZEN;
    if (vec3_length(in->velocity) > l->max_speed)
        s->speed_gate = 0;
    else if (vec3_length(in->velocity) < 0.9 * l->max_speed)
        s->speed_gate = rise(s->speed_gate, in->dt);
    if (s->speed_gate < 1)
        *reasons |= REASON_OVERSPEED;
    return s->ramp * report * s->overrun_gate * s->frozen_gate * s->speed_gate;
}

HR_RT static servo_state latched_state(const safety *s, uint32_t *reasons)
{
    bool is_refused = s->is_degraded && s->limits.refuses_degraded;
    *reasons |= (s->is_estopped ? REASON_ESTOP : 0u) |
                (s->is_faulted ? REASON_FAULT | s->latched : 0u) |
                (s->is_disarmed ? REASON_DISARMED : 0u) | (is_refused ? REASON_DEGRADED : 0u);
    if (s->is_estopped)
        return SERVO_ESTOP;
    if (s->is_faulted)
        return SERVO_FAULT;
    return s->is_disarmed || is_refused ? SERVO_DISARMED : SERVO_RUNNING;
}

/* Wall and client force through everything that shortens them. Returns the sum; *wall_part is the
 * wall's share of it, for the observer. */
HR_RT static vec3 shape_force(safety *s, const safety_input *in, vec3 wall, vec3 client,
                              safety_output *out, vec3 *wall_part)
{
    const safety_limits *l = &s->limits;
    bool is_acting = false;
    double fade = out->fade;
    vec3 pushed = wall;
    if (fade == 1)
        pushed = passivity_control(&s->passivity, l, in, wall, &is_acting);
    if (is_acting)
        out->reasons |= REASON_PASSIVITY;
    vec3 sum = vec3_add(pushed, client);
    sum = fade == 1 ? sum : vec3_scale(fade, sum);
    sum = fade_world(l, in, sum, &out->fade, &out->reasons);
    sum = guard_workspace(l, in->position, sum, &out->reasons);
    if (vec3_length(sum) > l->max_force) {
        sum = vec3_clamp_length(sum, l->max_force);
        out->reasons |= REASON_CLAMP;
    }
    vec3 force = limit_slew(s->force, sum, l->max_slew * in->dt, &out->reasons);
    if (!vec3_is_finite(force)) {
        out->reasons |= REASON_NOT_FINITE;
        force = (vec3){0, 0, 0};
    }
    force = vec3_clamp_length(force, l->max_force);
    *wall_part = vec3_length_squared(client) == 0
                     ? force
                     : vec3_sub(force, vec3_clamp_length(client, vec3_length(force)));
    return force;
}

HR_RT void safety_apply(safety *s, const safety_input *in, safety_output *out)
{
    *out = (safety_output){.reasons = in->reasons};
    watch_time(s, in);
    watch_device(s, in);
    passivity_observe(&s->passivity, &s->limits, in);
    servo_state state = walk_gate(s, in);
    servo_state latch = latched_state(s, &out->reasons);

    vec3 wall = in->wall, client = in->client;
    if (!vec3_is_finite(wall) || !vec3_is_finite(client)) {
        out->reasons |= REASON_NOT_FINITE;
        wall = client = (vec3){0, 0, 0};
    }
    vec3 wall_part = {0, 0, 0};
    out->fade = gates(s, in, &out->reasons);
    if (latch != SERVO_RUNNING) {
        close_gate(s, 0);
        out->fade = 0;
        out->force = (vec3){0, 0, 0};
        state = latch;
    } else {
        out->force = shape_force(s, in, wall, client, out, &wall_part);
        if (state == SERVO_RUNNING && out->fade < 1)
            state = SERVO_FADING;
    }
    s->force = out->force;
    passivity_sent(&s->passivity, wall_part);
    out->state = state;
    out->energy = s->passivity.energy;
}
