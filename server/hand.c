#include "server/hand.h"

#include <stdlib.h>

#include "server/coupling.h"
#include "server/grab.h"
#include "server/parameters.h"
#include "server/proxy.h"
#include "server/safety.h"

/* A client's force on top of the scene's: one client at a time holds the lease. */
typedef struct client_force {
    uint32_t holder;
    bool is_leased;
    bool is_not_finite;  /* since the last tick the client asked for what is no force */
    vec3 force;          /* N, base frame */
    double level;        /* 0..1 */
    int64_t deadline_ns; /* of the newest command */
    double age;          /* s since the newest command */
    double hold_s, fade_s;
} client_force;

struct hand {
    uint32_t index;
    vec3 centre;                 /* m, base frame: the middle of the device's workspace */
    vec3 scene_from_base;        /* m, world: where that middle is */
    double scale;                /* scene metres per device metre */
    double jump_speed;           /* m/s */
    uint32_t estop_buttons;      /* bits of the device's buttons that stop it */
    double max_force, max_speed; /* as configured: parameters may only lower them */
    double period;               /* s */
    bool has_sample;
    device_sample sample; /* the last good one */
    double since_report;  /* s */
    uint64_t frame_sequence;
    int64_t frame_time_ns;
    uint32_t refused_bodies;  /* in the newest frame */
    vec3 wall;                /* N, of the last tick, as sent */
    uint32_t pushed_key;      /* body that was pushed last */
    vec3 impulse;             /* N s, world: put on that body since it was first touched */
    velocity_window speed[3]; /* m/s, base axes */
    vec3 velocity;            /* m/s, base frame */
    proxy proxy;
    coupling coupling;
    grab grab;
    safety safety;
    client_force client;
};

hand *hand_create(const config *settings, int index, const device_description *about,
                  const shape *shapes, int shape_count)
{
    hand *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    const config_coupling *c = &settings->coupling;
    vec3 offset = {0, 0, 0};
    if (index >= 0 && index < settings->device_count)
        offset = settings->devices[index].scene_offset_m;
    h->index = (uint32_t)index;
    h->centre = about->workspace_centre;
    h->scene_from_base = vec3_add(c->scene_from_base_m, offset);
    h->scale = c->scale > 0 ? c->scale : 1;
    h->jump_speed = settings->safety.jump_speed_m_per_s;
    int button = settings->safety.estop_button;
    h->estop_buttons = button >= 0 && button < 32 ? 1u << button : 0u;
    h->period = 1.0 / settings->servo.rate_hz;
    safety_limits limits = safety_limits_from(settings, about);
    h->max_force = limits.max_force;
    h->max_speed = limits.max_speed;
    safety_init(&h->safety, &limits);
    double lag = 0.5 * h->period + about->latency;
    double noise = fmax(about->position_resolution, 1e-9);
    coupling_init(&h->coupling, c->stiffness_n_per_m, c->damping_n_s_per_m, h->scale, lag, noise);
    grab_init(&h->grab, settings->hand.grab_button, c->damping_n_s_per_m, h->scale, lag, noise);
    for (int i = 0; i < 3; i++)
        velocity_window_init(&h->speed[i], noise);
    proxy_init(&h->proxy, shapes, shape_count, c->tool_radius_m, settings->world.stale_fade_s);
    h->proxy.moves_bodies = settings->coupling.moves_bodies;
    h->client.hold_s = settings->safety.client_hold_s;
    h->client.fade_s = settings->safety.client_fade_s;
    return h;
}

void hand_destroy(hand *h)
{
    free(h);
}

const proxy *hand_proxy(const hand *h)
{
    return &h->proxy;
}

/* --- commands ----------------------------------------------------------------------------------*/

HR_RT static void set_parameter(hand *h, uint32_t key, double value)
{
    if (!isfinite(value) || value < 0)
        return;
    switch (key) {
    case PARAMETER_DEGRADED:
        h->safety.is_degraded = value > 0;
        break;
    case PARAMETER_WATCHDOG:
        if (value > 0)
            safety_fault(&h->safety, 0);
        break;
    case PARAMETER_STIFFNESS:
        h->coupling.stiffness_max = value;
        break;
    case PARAMETER_DAMPING:
        h->coupling.damping = value;
        break;
    case PARAMETER_MAX_FORCE:
        h->safety.limits.max_force = fmin(value, h->max_force);
        break;
    case PARAMETER_FRICTION:
        h->proxy.friction_factor = value;
        break;
    case PARAMETER_MAX_SPEED:
        h->safety.limits.max_speed = fmin(value, h->max_speed);
        break;
    default:
        break;
    }
}

/* The desk has already chosen: a lease that comes here is granted. A force of the one before it
 * fades. */
HR_RT static void take_lease(client_force *c, const servo_command *command)
{
    bool wants = command->values[0] > 0;
    if (wants) {
        if (c->holder != command->client)
            c->age = c->hold_s;
        c->holder = command->client;
        c->is_leased = true;
    } else if (c->holder == command->client) {
        c->is_leased = false;
    }
}

HR_RT static void take_client_force(client_force *c, const servo_command *command)
{
    vec3 force = {command->values[0], command->values[1], command->values[2]};
    if (!c->is_leased || c->holder != command->client)
        return;
    if (!vec3_is_finite(force)) { /* nothing of this client can be trusted now: its force fades */
        c->age = c->hold_s;
        c->is_not_finite = true;
        return;
    }
    c->force = force;
    c->level = 1;
    c->age = 0;
    c->deadline_ns = command->deadline_ns;
}

HR_RT void hand_command(hand *h, const servo_command *command)
{
    if (command->hand != h->index && command->hand != HANDS_MAX)
        return;
    switch (command->kind) {
    case COMMAND_ESTOP:
        safety_estop(&h->safety);
        break;
    case COMMAND_ARM:
        safety_arm(&h->safety);
        break;
    case COMMAND_DISARM:
        safety_disarm(&h->safety);
        break;
    case COMMAND_SET:
        set_parameter(h, command->key, command->values[0]);
        break;
    case COMMAND_CLIENT_FORCE:
        take_client_force(&h->client, command);
        break;
    case COMMAND_LEASE:
        take_lease(&h->client, command);
        break;
    default: /* marks and trials are only recorded */
        break;
    }
}

/* What a client adds in this tick; fades when it is late, past its deadline or gone. */
HR_RT static vec3 client_push(client_force *c, int64_t time_ns, double dt, uint32_t *reasons)
{
    *reasons |= c->is_not_finite ? REASON_NOT_FINITE | REASON_CLIENT : 0u;
    c->is_not_finite = false;
    if (!(c->level > 0))
        return (vec3){0, 0, 0};
    c->age += dt;
    bool is_alive =
        c->is_leased && c->age <= c->hold_s && (c->deadline_ns <= 0 || time_ns <= c->deadline_ns);
    if (!is_alive) {
        c->level = fmax(0, c->level - (c->fade_s > 0 ? dt / c->fade_s : 1));
        *reasons |= REASON_CLIENT;
    }
    return vec3_scale(c->level, c->force);
}

/* --- frames ------------------------------------------------------------------------------------*/

HR_RT void hand_frame(hand *h, const contact_frame *frame)
{
    h->frame_sequence = frame->sequence;
    h->frame_time_ns = frame->time_ns;
    h->refused_bodies = (uint32_t)proxy_frame(&h->proxy, frame);
}

/* --- the tick ----------------------------------------------------------------------------------*/

HR_RT static bool is_sane(const device_sample *s)
{
    return vec3_is_finite(s->position) && vec3_is_finite(s->velocity) && isfinite(s->rotation.w) &&
           isfinite(s->rotation.x) && isfinite(s->rotation.y) && isfinite(s->rotation.z);
}

/* Takes the sample if it is new and sane; looks for steps that no hand can make. True: what was
 * known of the tool's way is void. */
HR_RT static bool take_sample(hand *h, const tick_record *r, double dt, safety_input *in)
{
    const device_sample *s = &r->sample;
    h->since_report += dt;
    bool is_new = r->read_status == HR_OK && !(s->flags & DEVICE_IS_LATE) &&
                  (!h->has_sample || s->sequence != h->sample.sequence);
    if (is_new && !is_sane(s)) {
        in->reasons |= REASON_NOT_FINITE;
        is_new = false;
    }
    if (!is_new)
        return false;
    in->has_report = true;
    bool was_homed = h->has_sample && (h->sample.flags & DEVICE_IS_HOMED);
    h->sample.sequence = s->sequence;
    h->sample.flags = s->flags;
    if (!(s->valid & DEVICE_HAS_POSITION))
        return false;
    double step = h->has_sample ? vec3_distance(s->position, h->sample.position) : 0;
    double noise = 4.0 * h->safety.limits.resolution;
    in->has_jumped = was_homed && ((s->flags & DEVICE_HAS_JUMPED) ||
                                   step > h->jump_speed * h->since_report + noise);
    bool starts_anew = in->has_jumped || !was_homed; /* homing moves the origin */
    for (int i = 0; i < 3 && starts_anew; i++)
        velocity_window_reset(&h->speed[i]);
    h->velocity.x = velocity_window_add(&h->speed[0], r->time_ns, s->position.x);
    h->velocity.y = velocity_window_add(&h->speed[1], r->time_ns, s->position.y);
    h->velocity.z = velocity_window_add(&h->speed[2], r->time_ns, s->position.z);
    h->sample = *s;
    h->has_sample = true;
    h->since_report = 0;
    return starts_anew;
}

HR_RT static vec3 to_scene(const hand *h, vec3 position)
{
    return vec3_add_scaled(h->scene_from_base, h->scale, vec3_sub(position, h->centre));
}

HR_RT static void fill_input(hand *h, const tick_record *r, double dt, safety_input *in)
{
    in->time_ns = r->time_ns;
    in->dt = dt;
    in->missed_periods = r->missed_periods;
    in->read_status = r->read_status;
    in->write_status = r->write_status;
    in->is_homed = h->has_sample && (h->sample.flags & DEVICE_IS_HOMED);
    in->is_flagged_frozen = h->sample.flags & DEVICE_IS_FROZEN;
    in->position = h->sample.position;
    in->velocity = h->velocity;
    in->has_world = h->frame_sequence > 0;
    in->world_age = (double)(r->time_ns - h->frame_time_ns) * 1e-9;
}

HR_RT static void fill_record(hand *h, const safety_input *in, const safety_output *out,
                              tick_record *r)
{
    const proxy_touch *t = &h->proxy.touch;
    r->proxy = h->proxy.position;
    r->wanted_force = vec3_add(in->wall, in->client);
    r->force = out->force;
    r->contact_normal = t->count > 0 ? t->normal : (vec3){0, 0, 0};
    r->gap = t->gap;
    r->energy = out->energy;
    r->fade = out->fade;
    r->contact_key = t->body >= 0 ? (uint64_t)h->proxy.bodies[t->body].key << 32 | t->feature : 0;
    r->frame_sequence = h->frame_sequence;
    r->frame_age_ns = h->frame_sequence > 0 ? r->time_ns - h->frame_time_ns : 0;
    r->reasons = out->reasons;
    r->state = out->state;
    r->contact_count = (uint32_t)t->count;
    r->tracker_flags = t->flags;
}

/* What the surfaces give to the hand they take from the body. */
HR_RT static void push_world(hand *h, uint64_t tick, double dt)
{
    const proxy *p = &h->proxy;
    vec3 force = p->touch.body >= 0 ? vec3_negate(h->wall) : (vec3){0, 0, 0};
    proxy_pushed(&h->proxy, tick, force, dt);
    if (p->touch.body < 0)
        return;
    uint32_t key = p->bodies[p->touch.body].key;
    if (key != h->pushed_key)
        h->impulse = (vec3){0, 0, 0};
    h->pushed_key = key;
    h->impulse = vec3_add_scaled(h->impulse, dt, force);
}

/* What the scene does to the tool: surfaces, or the body that it holds. */
HR_RT static vec3 wall_force(hand *h, vec3 tool, bool is_fresh, int64_t time_ns, double dt)
{
    if (grab_update(&h->grab, &h->proxy, h->sample.buttons)) {
        coupling_reset(&h->coupling);
        return grab_force(&h->grab, &h->proxy, tool, h->coupling.stiffness_max, is_fresh, time_ns,
                          dt);
    }
    if (h->sample.valid & DEVICE_HAS_ROTATION)
        h->proxy.tool_rotation = quat_normalize(h->sample.rotation);
    proxy_move(&h->proxy, tool, time_ns, dt);
    return coupling_force(&h->coupling, &h->proxy, tool, is_fresh, time_ns);
}

HR_RT void hand_tick(hand *h, tick_record *r)
{
    double dt = (double)r->elapsed_ns * 1e-9;
    if (!(dt > 0) || dt > 0.1)
        dt = h->period;
    safety_input in = {0};
    if (take_sample(h, r, dt, &in)) {
        grab_drop(&h->grab, &h->proxy);
        proxy_reset(&h->proxy);
        coupling_reset(&h->coupling);
    }
    fill_input(h, r, dt, &in);
    if (h->sample.buttons & h->estop_buttons)
        safety_estop(&h->safety);

    vec3 tool = to_scene(h, h->sample.position);
    in.wall = wall_force(h, tool, in.has_report, r->time_ns, dt);
    in.client = client_push(&h->client, r->time_ns, dt, &in.reasons);
    in.stored = coupling_stored(&h->coupling, &h->proxy, tool);
    in.surface_velocity = vec3_scale(1.0 / h->scale, h->proxy.touch.surface_velocity);
    in.is_clear = h->proxy.touch.count == 0 && !(h->proxy.touch.flags & PROXY_GATED);
    in.reasons |= h->proxy.touch.was_teleported ? REASON_TELEPORT : 0u;
    in.reasons |= h->refused_bodies ? REASON_NOT_FINITE : 0u;

    safety_output out;
    safety_apply(&h->safety, &in, &out);
    h->wall = vec3_sub(out.force, vec3_clamp_length(in.client, vec3_length(out.force)));
    push_world(h, r->tick, dt);
    if (out.state == SERVO_ESTOP || out.state == SERVO_FAULT || out.state == SERVO_DISARMED)
        grab_drop(&h->grab, &h->proxy);
    r->tool = tool;
    fill_record(h, &in, &out, r);
}

HR_RT void hand_tool(const hand *h, const tick_record *record, tool_sample *out)
{
    const proxy_touch *t = &h->proxy.touch;
    *out = (tool_sample){.tick = record->tick,
                         .time_ns = record->time_ns,
                         .hand = h->index,
                         .buttons = h->sample.buttons,
                         .tool = record->tool,
                         .velocity = vec3_scale(h->scale, h->velocity),
                         .rotation = h->has_sample ? h->sample.rotation : quat_identity(),
                         .proxy = record->proxy,
                         .impulse = h->impulse,
                         .pushed_key = h->pushed_key};
    if (t->body < 0)
        return;
    out->force = vec3_negate(h->wall);
    double radius = t->flags & PROXY_HOLDS ? 0 : h->proxy.radius;
    out->point = vec3_add_scaled(record->proxy, -radius, t->normal);
    out->body_key = h->proxy.bodies[t->body].key;
    out->is_touching = 1;
}
