#include "server/coupling.h"

/* The damper grows with the depth up to here, so that touching and leaving make no step. */
static const double full_damping_m = 0.001;

/* The same for looking ahead while the hand goes in; going out it holds at once, because a late
 * release is what gives energy to the hand. */
static const double full_ahead_m = 0.00025;

void coupling_init(coupling *c, double stiffness_max, double damping, double scale, double lag,
                   double resolution)
{
    *c = (coupling){.stiffness_max = stiffness_max, .damping = damping, .scale = scale, .lag = lag};
    velocity_window_init(&c->depth_rate, resolution * scale);
}

HR_RT void coupling_reset(coupling *c)
{
    velocity_window_reset(&c->depth_rate);
    c->has_body = false;
}

/* The signed depth whose rate is damped: how far beyond the surfaces while touching, minus the gap
 * to the nearest body before. A depth and not a velocity along the normal: sliding along a curved
 * surface then has exactly no rate, whatever the delay of the estimate. */
HR_RT static double depth_of(const proxy *p)
{
    return p->touch.count > 0 ? p->touch.depth : -p->touch.gap;
}

HR_RT static double depth_rate(coupling *c, const proxy *p, bool is_fresh, int64_t time_ns)
{
    if (p->touch.body >= 0) {
        uint32_t key = p->bodies[p->touch.body].key;
        if (c->has_body && key != c->body_key)
            velocity_window_reset(&c->depth_rate);
        c->body_key = key;
    }
    c->has_body = p->touch.body >= 0;
    if (is_fresh)
        return velocity_window_add(&c->depth_rate, time_ns, depth_of(p));
    return c->depth_rate.estimate;
}

HR_RT vec3 coupling_force(coupling *c, const proxy *p, vec3 tool, bool is_fresh, int64_t time_ns)
{
    double rate = depth_rate(c, p, is_fresh, time_ns) / c->scale;
    const proxy_touch *t = &p->touch;
    if (t->count == 0)
        return (vec3){0, 0, 0};
    double k = fmin(fmax(t->material.stiffness, 0) * c->scale, c->stiffness_max);
    c->stiffness = k;
    vec3 spring = vec3_scale(k / c->scale, vec3_sub(p->position, tool));

    /* The hand's own part of the rate: a body's motion is known ahead and needs no compensation. */
    double own_rate = rate + vec3_dot(t->surface_velocity, t->normal) / -c->scale;
    double b = fmax(t->material.damping, 0) + c->damping;
    double ease = fmin(1.0, t->depth / (c->scale * full_damping_m));
    double ahead = own_rate > 0 ? fmin(1.0, t->depth / (c->scale * full_ahead_m)) : 1.0;
    double damper = ease * b * rate + ahead * k * c->lag * own_rate;
    double push = k * t->depth / c->scale;
    return vec3_add_scaled(spring, fmax(damper, -push), t->normal);
}

HR_RT double coupling_stored(const coupling *c, const proxy *p, vec3 tool)
{
    if (p->touch.count == 0)
        return 0;
    double stretch = vec3_distance(p->position, tool) / c->scale;
    return 0.5 * c->stiffness * stretch * stretch;
}
