/* The energy observer counts the work that the sent forces did on the measured motion, relative to
 * the surface that is touched: a moving body may push the hand, a wall may not. Over a contact the
 * hand must put in at least what it gets back. The controller dissipates what is missing. */
#include "server/safety.h"

/* Dissipated energy is not saved up: a long press must not pay for a buzz later. */
static const double bank_max = 2e-4; /* J */

/* The controller's damping falls back with this time constant, so that it does not chatter. */
static const double relax_s = 0.02;

HR_RT static int delay_ticks(const safety_limits *l)
{
    double ticks = l->latency / l->period + 0.5;
    int whole = ticks > 0 ? (int)ticks : 0;
    return whole < SAFETY_DELAY_MAX - 1 ? whole : SAFETY_DELAY_MAX - 1;
}

HR_RT static vec3 force_before(const passivity *p, int ticks)
{
    int i = p->newest - ticks;
    return p->sent[i < 0 ? i + SAFETY_DELAY_MAX : i];
}

HR_RT void passivity_sent(passivity *p, vec3 wall)
{
    p->newest = p->newest + 1 < SAFETY_DELAY_MAX ? p->newest + 1 : 0;
    p->sent[p->newest] = wall;
}

HR_RT static bool is_quiet(const passivity *p)
{
    for (int i = 0; i < SAFETY_DELAY_MAX; i++)
        if (vec3_length_squared(p->sent[i]) > 0)
            return false;
    return true;
}

HR_RT void passivity_observe(passivity *p, const safety_limits *l, const safety_input *in)
{
    if (in->has_jumped || !p->has_position) {
        p->position = in->position;
        p->has_position = true;
        return;
    }
    if (!in->has_report)
        return;
    vec3 moved = vec3_sub(in->position, p->position);
    p->position = in->position;
    if (is_quiet(p)) {
        p->energy = p->bank = p->swing = p->damping = 0;
        return;
    }
    vec3 force = force_before(p, delay_ticks(l));
    vec3 slid = vec3_add_scaled(moved, -in->dt, in->surface_velocity);
    double work = vec3_dot(force, slid);
    if (!isfinite(work))
        return;
    p->energy -= work;
    p->swing = fmax(p->swing, vec3_length(force));
    p->bank = fmin(p->bank - work, bank_max + in->stored);
}

HR_RT vec3 passivity_control(passivity *p, const safety_limits *l, const safety_input *in,
                             vec3 wall, bool *is_acting)
{
    p->damping *= 1.0 - fmin(in->dt / relax_s, 1.0);
    /* What is owed: energy below what the spring still holds. A quarter of the encoder's error
     * (force times step) is forgiven, so that all of it together stays within that error. */
    double owed = in->stored - p->bank - 0.25 * p->swing * l->resolution;
    vec3 motion = vec3_sub(in->velocity, in->surface_velocity);
    double speed_squared = vec3_length_squared(motion);
    double outflow = vec3_dot(wall, motion); /* W, what the wall is about to give to the hand */
    if (owed > 0 && outflow > 0) {
        double damping = owed / (speed_squared * in->dt);
        p->damping = fmax(p->damping, fmin(damping, l->passivity_damping_max));
    }
    if (!(p->damping > 1e-3) || !(outflow > 0))
        return wall;
    *is_acting = true;
    double damping = fmin(p->damping, outflow / speed_squared); /* brakes, never pulls back */
    return vec3_add_scaled(wall, -damping, motion);
}
