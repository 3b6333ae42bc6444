#include "server/proxy_yield.h"

/* The servo's own step k W dt^2 is at most this (4 is where it would become unstable): a lighter
 * body is shown a little heavier than it is. */
static const double lightness_max = 0.5;

/* Beyond these no body is moved by the servo alone. */
static const double slip_max = 0.004; /* m; more would be a teleport for the next frame */
static const double speed_max = 1.0;  /* m/s */

/* What the frames of the past still count for trust, per frame. */
static const double memory = 0.7;

/* m/s: smaller foretold changes say nothing. */
static const double telling = 1e-4;

HR_RT void push_log_note(push_log *log, uint64_t tick, uint32_t key, vec3 force, double dt)
{
    log->pushes[log->count % PUSHES_MAX] = (tick_push){tick, key, 0, dt, force};
    log->count++;
}

HR_RT body_yield body_yield_new(void)
{
    return (body_yield){.trust = 1};
}

/* Velocity per impulse, bounded so that the servo's steps stay stable. */
HR_RT static mat3 bounded(mat3 w, double stiffness, double dt)
{
    double trace = w.m[0][0] + w.m[1][1] + w.m[2][2];
    double lightness = stiffness * trace * dt * dt;
    return lightness > lightness_max ? mat3_scale(lightness_max / lightness, w) : w;
}

/* Index of the first push after `tick`; count where there is none. */
HR_RT static uint64_t first_after(const push_log *log, uint64_t tick)
{
    uint64_t oldest = log->count > PUSHES_MAX ? log->count - PUSHES_MAX : 0, at = log->count;
    while (at > oldest && log->pushes[(at - 1) % PUSHES_MAX].tick > tick)
        at--;
    return at;
}

HR_RT static vec3 push_on(const tick_push *p, uint32_t key)
{
    return p->key == key ? p->force : (vec3){0, 0, 0};
}

/* Impulse on the body in the ticks after `from` up to `to`, and how long they took. */
HR_RT static vec3 impulse_between(const push_log *log, uint32_t key, uint64_t from, uint64_t to,
                                  double *duration)
{
    vec3 sum = {0, 0, 0};
    *duration = 0;
    for (uint64_t i = first_after(log, from); i < log->count; i++) {
        const tick_push *p = &log->pushes[i % PUSHES_MAX];
        if (p->tick > to)
            break;
        sum = vec3_add_scaled(sum, p->dt, push_on(p, key));
        *duration += p->dt;
    }
    return sum;
}

/* Does the body do what its inverse mass foretells? Changes of the change are compared, so that
 * gravity and springs, which do not change from frame to frame, have no say. */
HR_RT static void learn_trust(body_yield *y, vec3 foretold, vec3 seen)
{
    vec3 expected = vec3_sub(foretold, y->foretold), found = vec3_sub(seen, y->seen);
    double squared = vec3_length_squared(expected);
    y->moment *= memory;
    y->weight *= memory;
    if (squared > telling * telling) {
        y->moment += vec3_dot(expected, found);
        y->weight += squared;
    }
    if (y->weight > telling * telling)
        y->trust = fmin(fmax(y->moment / y->weight, 0), 1);
}

HR_RT static void move(body_yield *y, mat3 w, vec3 force, double dt)
{
    vec3 gain = vec3_sub(vec3_scale(y->trust, mat3_apply(w, force)), y->foreseen);
    y->slip_velocity = vec3_clamp_length(vec3_add_scaled(y->slip_velocity, dt, gain), speed_max);
    y->slip = vec3_clamp_length(vec3_add_scaled(y->slip, dt, y->slip_velocity), slip_max);
}

/* The part of the acceleration that the pushes of the step made. A world that takes a change for a
 * blow publishes none, and there is nothing to take off. */
HR_RT static vec3 pushed_part(const body_yield *y, vec3 foretold, vec3 acceleration,
                              double duration)
{
    if (!(duration > 0))
        return (vec3){0, 0, 0};
    vec3 part = vec3_scale(y->trust / duration, foretold);
    double there = vec3_length_squared(acceleration), wanted = vec3_length_squared(part);
    return there > 0.0625 * wanted ? part : (vec3){0, 0, 0};
}

HR_RT void body_yield_frame(body_yield *y, const push_log *log, const yield_frame *f)
{
    y->foreseen = (vec3){0, 0, 0};
    if (y->has_frame && f->tool_tick > y->tool_tick) {
        double duration;
        vec3 impulse = impulse_between(log, f->key, y->tool_tick, f->tool_tick, &duration);
        vec3 foretold = mat3_apply(f->inverse_mass, impulse);
        vec3 seen = vec3_sub(f->velocity, y->velocity);
        learn_trust(y, foretold, seen);
        y->foretold = foretold;
        y->seen = seen;
        y->foreseen = pushed_part(y, foretold, f->acceleration, duration);
    }
    y->has_frame = true;
    y->tool_tick = f->tool_tick;
    y->velocity = f->velocity;
    y->slip = y->slip_velocity = (vec3){0, 0, 0};
    for (uint64_t i = first_after(log, f->tool_tick); i < log->count; i++) {
        const tick_push *p = &log->pushes[i % PUSHES_MAX];
        move(y, bounded(f->inverse_mass, f->stiffness, p->dt), push_on(p, f->key), p->dt);
    }
}

HR_RT void body_yield_step(body_yield *y, const push_log *log, uint32_t key, mat3 inverse_mass,
                           double stiffness, double dt)
{
    if (log->count == 0)
        return;
    const tick_push *newest = &log->pushes[(log->count - 1) % PUSHES_MAX];
    move(y, bounded(inverse_mass, stiffness, dt), push_on(newest, key), dt);
}
