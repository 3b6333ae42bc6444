#include "server/grab.h"

void grab_init(grab *g, int button, double damping, double scale, double lag, double resolution)
{
    *g = (grab){.buttons = button >= 0 && button < 32 ? 1u << button : 0u,
                .damping = damping,
                .scale = scale,
                .lag = lag};
    for (int i = 0; i < 3; i++)
        velocity_window_init(&g->rate[i], resolution * scale);
}

HR_RT static int held_body(const grab *g, const proxy *p)
{
    for (int i = 0; i < p->body_count; i++)
        if (p->bodies[i].key == g->key)
            return i;
    return -1;
}

HR_RT void grab_drop(grab *g, proxy *p)
{
    if (!g->is_holding)
        return;
    g->is_holding = false;
    proxy_reset(p); /* what is around the tool now is not felt until the tool is clear of it */
}

HR_RT static void take_hold(grab *g, const proxy *p)
{
    const proxy_body *b = &p->bodies[p->touch.body];
    g->is_holding = true;
    g->key = b->key;
    g->anchor = pose_apply_inverse(b->now, p->position);
    for (int i = 0; i < 3; i++)
        velocity_window_reset(&g->rate[i]);
}

HR_RT bool grab_update(grab *g, proxy *p, uint32_t buttons)
{
    bool is_pressed = (buttons & g->buttons) != 0;
    if (g->is_holding && (!is_pressed || held_body(g, p) < 0))
        grab_drop(g, p);
    else if (!g->is_holding && is_pressed && p->is_placed && p->touch.count > 0 &&
             p->touch.body >= 0 && p->bodies[p->touch.body].is_movable)
        take_hold(g, p);
    return g->is_holding;
}

/* Rate of the stretch, m/s. */
HR_RT static vec3 stretch_rate(grab *g, vec3 stretch, bool is_fresh, int64_t time_ns)
{
    if (is_fresh) {
        velocity_window_add(&g->rate[0], time_ns, stretch.x);
        velocity_window_add(&g->rate[1], time_ns, stretch.y);
        velocity_window_add(&g->rate[2], time_ns, stretch.z);
    }
    return (vec3){g->rate[0].estimate, g->rate[1].estimate, g->rate[2].estimate};
}

HR_RT vec3 grab_force(grab *g, proxy *p, vec3 tool, double stiffness_max, bool is_fresh,
                      int64_t time_ns, double dt)
{
    proxy_advance_bodies(p, time_ns, dt);
    int index = held_body(g, p);
    const proxy_body *b = &p->bodies[index];
    vec3 before = pose_apply(b->before, g->anchor);
    p->position = pose_apply(b->now, g->anchor);
    p->tool = tool;
    vec3 stretch = vec3_sub(p->position, tool);
    p->touch = (proxy_touch){
        .count = 1,
        .body = index,
        .normal = vec3_normalize_or(stretch, (vec3){0, 0, 1}),
        .depth = vec3_length(stretch),
        .gap = -vec3_length(stretch),
        .material = b->material,
        .surface_velocity =
            dt > 0 ? vec3_scale(1 / dt, vec3_sub(p->position, before)) : (vec3){0, 0, 0},
        .flags = PROXY_HOLDS,
    };
    double k = fmin(fmax(b->material.stiffness, 0) * g->scale, stiffness_max);
    double d = fmax(b->material.damping, 0) + g->damping;
    vec3 rate = stretch_rate(g, stretch, is_fresh, time_ns);
    vec3 force = vec3_add_scaled(vec3_scale(k, stretch), d + k * g->lag, rate);
    return vec3_scale(1 / g->scale, force);
}
