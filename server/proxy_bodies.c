/* Bodies between frames. A frame's pose, velocity and acceleration move a body forward to the
 * tick. When the next frame disagrees with where the body is shown, the difference becomes a shift
 * that fades, so that no tick sees a step; a difference that no motion explains is a teleport. */
#include "server/proxy.h"

/* A correction beyond these is a teleport: 60 Hz frames of a body that turns round at 1 m/s and
 * 30 m/s^2 are off by 4 mm at most. */
static const double jump_m = 0.005;
static const double jump_rad = 0.2;

/* Corrections fade with this time constant: a 1 mm error then moves a body by 0.1 mm per tick. */
static const double fade_s = 0.010;

HR_RT static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

HR_RT static bool is_zero(twist t)
{
    return vec3_length_squared(t.linear) == 0 && vec3_length_squared(t.angular) == 0;
}

/* The motion's pose at a time. */
HR_RT static pose motion_at(const body_motion *m, int64_t time_ns, double horizon)
{
    if (is_zero(m->velocity) && is_zero(m->acceleration))
        return m->world_from_body;
    double dt = within((double)(time_ns - m->time_ns) * 1e-9, -horizon, horizon);
    return pose_advance(m->world_from_body, m->velocity, m->acceleration, dt);
}

HR_RT static pose shifted(const proxy_body *b, pose p)
{
    if (vec3_length_squared(b->turn) > 0)
        p.rotation = quat_normalize(quat_multiply(quat_from_rotation_vector(b->turn), p.rotation));
    p.origin = vec3_add(p.origin, b->shift);
    return p;
}

/* A newer frame is here: keep showing the body where it was, and let the difference fade. */
HR_RT static void absorb_correction(proxy_body *b, int64_t time_ns, double horizon)
{
    pose shown = shifted(b, motion_at(&b->replaced, time_ns, horizon));
    pose next = motion_at(&b->motion, time_ns, horizon);
    vec3 slipped = vec3_sub(b->replaced_slip, b->yield.slip);
    vec3 shift = vec3_add(vec3_sub(shown.origin, next.origin), slipped);
    vec3 turn =
        quat_to_rotation_vector(quat_multiply(shown.rotation, quat_conjugate(next.rotation)));
    b->is_corrected = false;
    if (vec3_length(shift) > jump_m || vec3_length(turn) > jump_rad)
        b->is_jumping = true;
    bool is_tiny = vec3_length_squared(shift) < 1e-24 && vec3_length_squared(turn) < 1e-20;
    b->shift = is_tiny ? (vec3){0, 0, 0} : shift;
    b->turn = is_tiny ? (vec3){0, 0, 0} : turn;
}

HR_RT static void advance(proxy_body *b, int64_t time_ns, double dt, double horizon)
{
    double keep = 1.0 - within(dt / fade_s, 0, 1);
    b->shift = vec3_scale(keep, b->shift);
    b->turn = vec3_scale(keep, b->turn);
    if (b->is_corrected)
        absorb_correction(b, time_ns, horizon);
    if (b->is_jumping || b->is_new) {
        b->shift = (vec3){0, 0, 0};
        b->turn = (vec3){0, 0, 0};
    }
    b->before = b->now;
    b->now = shifted(b, motion_at(&b->motion, time_ns, horizon));
    b->now.origin = vec3_add(b->now.origin, b->yield.slip);
    if (b->is_new || b->is_jumping)
        b->before = b->now;
}

HR_RT void proxy_advance_bodies(proxy *p, int64_t time_ns, double dt)
{
    for (int i = 0; i < p->body_count; i++)
        advance(&p->bodies[i], time_ns, dt, p->horizon);
}

HR_RT static bool is_finite_matrix(mat3 m)
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += m.m[i / 3][i % 3];
    return isfinite(sum);
}

HR_RT static bool is_usable(const proxy *p, const frame_body *f)
{
    return f->shape < (uint32_t)p->shape_count && pose_is_finite(f->world_from_body) &&
           vec3_is_finite(f->velocity.linear) && vec3_is_finite(f->velocity.angular) &&
           vec3_is_finite(f->acceleration.linear) && vec3_is_finite(f->acceleration.angular) &&
           isfinite(f->material.stiffness) && isfinite(f->material.damping) &&
           isfinite(f->material.static_friction) && isfinite(f->material.kinetic_friction) &&
           is_finite_matrix(f->inverse_mass);
}

HR_RT static int find_body(const proxy *p, uint32_t key)
{
    for (int i = 0; i < p->body_count; i++)
        if (p->bodies[i].key == key)
            return i;
    return -1;
}

HR_RT static void drop_body(proxy *p, int index)
{
    int last = --p->body_count;
    if (index != last)
        p->bodies[index] = p->bodies[last];
    if (p->touch.body == index)
        p->touch.body = -1;
    else if (p->touch.body == last)
        p->touch.body = index;
}

HR_RT static void drop_absent(proxy *p, const contact_frame *frame, uint32_t count)
{
    for (int i = p->body_count - 1; i >= 0; i--) {
        bool is_there = false;
        for (uint32_t k = 0; k < count && !is_there; k++)
            is_there = frame->bodies[k].key == p->bodies[i].key && is_usable(p, &frame->bodies[k]);
        if (!is_there)
            drop_body(p, i);
    }
}

/* What the frame says about how the body gives way where the proxy is. */
HR_RT static void take_yield(const proxy *p, proxy_body *b, const frame_body *f, uint64_t tool_tick)
{
    b->is_movable = f->flags & FRAME_BODY_MOVED_BY_HAND;
    b->is_yielding = p->moves_bodies && b->is_movable;
    if (!b->is_yielding) {
        b->yield = body_yield_new();
        return;
    }
    yield_frame seen = {.key = f->key,
                        .tool_tick = tool_tick,
                        .velocity = twist_at(f->velocity, f->world_from_body, p->position),
                        .acceleration = twist_at(f->acceleration, f->world_from_body, p->position),
                        .inverse_mass = f->inverse_mass,
                        .stiffness = f->material.stiffness};
    body_yield_frame(&b->yield, &p->pushes, &seen);
}

HR_RT void proxy_pushed(proxy *p, uint64_t tick, vec3 force, double dt)
{
    uint32_t key = p->touch.body >= 0 ? p->bodies[p->touch.body].key : 0;
    push_log_note(&p->pushes, tick, key, force, dt);
    for (int i = 0; i < p->body_count; i++) {
        proxy_body *b = &p->bodies[i];
        if (b->is_yielding)
            body_yield_step(&b->yield, &p->pushes, b->key, b->inverse_mass, b->material.stiffness,
                            dt);
    }
}

HR_RT static void take_body(proxy *p, const frame_body *f, const contact_frame *frame)
{
    int i = find_body(p, f->key);
    bool is_new = i < 0;
    if (is_new)
        i = p->body_count++;
    proxy_body *b = &p->bodies[i];
    if (is_new) {
        b->is_new = true;
        b->is_gated = false;
        b->is_jumping = false;
        b->is_corrected = false;
        b->contact_count = 0;
        b->tracker = f->seed;
        b->shift = (vec3){0, 0, 0};
        b->turn = (vec3){0, 0, 0};
        b->yield = body_yield_new();
    } else if (!b->is_corrected) {
        b->replaced = b->motion;
        b->replaced_slip = b->yield.slip;
        b->is_corrected = true;
    }
    if (!is_new && (f->flags & FRAME_BODY_TELEPORTED || b->shape != f->shape)) {
        b->is_jumping = true;
        b->tracker = f->seed;
    }
    b->key = f->key;
    b->shape = f->shape;
    b->material = f->material;
    b->inverse_mass = f->inverse_mass;
    b->motion = (body_motion){f->world_from_body, f->velocity, f->acceleration, frame->time_ns};
    b->motion.world_from_body.rotation = quat_normalize(f->world_from_body.rotation);
    take_yield(p, b, f, frame->tool_tick);
}

HR_RT int proxy_frame(proxy *p, const contact_frame *frame)
{
    uint32_t count = frame->body_count < FRAME_BODIES_MAX ? frame->body_count : FRAME_BODIES_MAX;
    int refused = 0;
    drop_absent(p, frame, count);
    for (uint32_t k = 0; k < count; k++) {
        const frame_body *f = &frame->bodies[k];
        if (is_usable(p, f) && (p->body_count < FRAME_BODIES_MAX || find_body(p, f->key) >= 0))
            take_body(p, f, frame);
        else
            refused++;
    }
    return refused;
}
