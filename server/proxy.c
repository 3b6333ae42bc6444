#include "server/proxy.h"

#include "collide/tool_shape.h"
#include "solver/god_object.h"

enum { ROUNDS_MAX = 8 };

/* A round that moves the proxy by less is the last: 1e-8 m is 1.5e-5 N at 1500 N/m. Where it goes
 * along a known curvature, what it leaves is its square over the radius. */
static const double settled_m = 1e-8;
static const double settled_curved_m = 2e-6;

/* How far a round may move the proxy. Surfaces are known within this and as much again, which a
 * body may come nearer within a tick (3 m/s). */
static const double stride_m = 0.003;

/* A proxy deeper in a body than this when the body appears was hit, not touched. */
static const double touch_m = 1e-6;

/* Below this speed a sliding proxy sticks again: a tenth of a slow hand's motion. */
static const double stick_speed = 2e-4;

/* Over an edge the nearest allowed point can run away from the tool. The proxy follows it no faster
 * than this plus half of the tool's own speed: the force turns over the edge instead of jumping. A
 * sphere at 2 mm depth is not slowed down before its radius is 6 mm. */
static const double run_speed = 0.012; /* m/s */
static const double run_share = 0.5;
static const double run_growth = 2000; /* m/s per m^2: a long way is not left for later */

typedef struct planes {
    int count;
    half_space half[GOD_OBJECT_PLANES_MAX];
    int body[GOD_OBJECT_PLANES_MAX];
    int contact[GOD_OBJECT_PLANES_MAX];
} planes;

typedef struct search {
    vec3 at;          /* m, world */
    int active_count; /* or a negative status */
    int active[3];    /* indices into planes */
    bool is_squeezed; /* bodies left no room in some round */
    planes planes;
} search;

void proxy_init(proxy *p, const shape *shapes, int shape_count, double radius, double horizon)
{
    *p = (proxy){.shapes = shapes,
                 .shape_count = shape_count,
                 .radius = radius,
                 .horizon = horizon,
                 .friction_factor = 1.0,
                 .tool_rotation = quat_identity()};
    p->touch.body = -1;
}

HR_RT void proxy_reset(proxy *p)
{
    p->is_placed = false;
    p->is_sticking = false;
    for (int i = 0; i < p->body_count; i++) {
        p->bodies[i].is_new = true;
        p->bodies[i].contact_count = 0;
    }
    p->touch = (proxy_touch){.body = -1, .gap = 1};
}

/* The tracker's step to where the proxy is now. dt > 0 once per tick, 0 for more rounds. */
HR_RT static void follow(const proxy *p, proxy_body *b, vec3 at, double dt, double reach)
{
    vec3 point = pose_apply_inverse(b->now, at);
    vec3 velocity = {0, 0, 0};
    if (dt > 0 && !b->is_new)
        velocity = vec3_scale(1.0 / dt, vec3_sub(point, b->followed));
    const shape *body = &p->shapes[b->shape];
    if (!b->is_new && !b->is_jumping)
        shape_predict(body, &b->tracker, b->contacts, b->contact_count,
                      vec3_sub(point, b->followed));
    b->contact_count =
        body->tool
            ? tool_shape_follow(body, &b->tracker, point,
                                quat_multiply(quat_conjugate(b->now.rotation), p->tool_rotation),
                                reach, b->contacts, SHAPE_CONTACTS_MAX)
            : shape_follow(body, &b->tracker, point, velocity, dt, reach, b->contacts,
                           SHAPE_CONTACTS_MAX);
    b->followed = point;
}

/* Keeps the nearest planes, nearest first. */
HR_RT static void keep_plane(planes *s, half_space half, int body, int contact)
{
    int at = s->count;
    if (s->count == GOD_OBJECT_PLANES_MAX) {
        if (half.clearance >= s->half[s->count - 1].clearance)
            return;
        at--;
    } else {
        s->count++;
    }
    for (; at > 0 && s->half[at - 1].clearance > half.clearance; at--) {
        s->half[at] = s->half[at - 1];
        s->body[at] = s->body[at - 1];
        s->contact[at] = s->contact[at - 1];
    }
    s->half[at] = half;
    s->body[at] = body;
    s->contact[at] = contact;
}

HR_RT static void gather_planes(const proxy *p, vec3 at, planes *out)
{
    out->count = 0;
    for (int i = 0; i < p->body_count; i++) {
        const proxy_body *b = &p->bodies[i];
        for (int k = 0; k < b->contact_count && !b->is_gated; k++) {
            vec3 normal = pose_rotate(b->now, b->contacts[k].normal);
            vec3 point = pose_apply(b->now, b->contacts[k].point);
            double gap = vec3_dot(normal, vec3_sub(at, point));
            keep_plane(out, (half_space){normal, gap - p->radius}, i, k);
        }
    }
}

/* Where the proxy would slide on the curved surface that carries it, instead of its tangent plane:
 * on a surface whose normal turns by B, the point nearest to a goal that is `slide` aside and
 * `depth` below is (1 - depth B)^-1 slide aside. One step then leaves an error of second order.
 * False where the surface does not say how it bends, or bends away as fast as the goal is deep. */
HR_RT static bool curved_slide(const proxy_body *b, const shape_contact *c, vec3 slide,
                               double depth, vec3 *out)
{
    const double(*m)[3] = c->bend.m;
    double trace = m[0][0] + m[1][1] + m[2][2];
    double squares = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            squares += m[i][k] * m[i][k];
    if (!(squares > 0))
        return false;
    /* B has the normal in its kernel: two eigenvalues, by their sum and product */
    double sum = depth * trace;
    double product = 0.5 * depth * depth * (trace * trace - squares);
    bool is_convex_enough = 1.6 - sum > 0 && 0.64 - 0.8 * sum + product > 0;
    if (!is_convex_enough)
        return false;
    vec3 local = quat_rotate(quat_conjugate(b->now.rotation), slide);
    vec3 turned = mat3_apply(c->bend, local);
    local = vec3_add_scaled(vec3_scale(1.0 - sum, local), depth, turned);
    *out = vec3_scale(1.0 / (1.0 - sum + product), pose_rotate(b->now, local));
    return true;
}

/* What a seek remembers from round to round. */
typedef struct rounds {
    vec3 slide;     /* m, of the last one */
    int body;       /* along which, -1: none */
    bool is_curved; /* it followed the surface's curvature */
} rounds;

/* Where the surface does not say how it bends: the tangent plane makes the rounds converge only
 * linearly, by depth times curvature each. Two slides along one contact measure that rate; the
 * second is then lengthened to where the series would end (Aitken). */
HR_RT static vec3 measured_slide(vec3 slide, vec3 last_slide)
{
    double base = vec3_length_squared(last_slide);
    double rate = base > settled_m * settled_m ? vec3_dot(slide, last_slide) / base : 0;
    return rate > -0.8 && rate < 0.8 ? vec3_scale(1.0 / (1.0 - rate), slide) : slide;
}

/* One plane carries the proxy: replaces the slide along it by the one along the surface, unless
 * another plane is in the way. The plane still separates, so a long step is safe. */
HR_RT static vec3 follow_surface(const proxy *p, const search *s, vec3 goal, vec3 moved,
                                 rounds *last)
{
    int active = s->active[0], body = s->planes.body[active];
    const half_space *plane = &s->planes.half[active];
    const proxy_body *b = &p->bodies[body];
    vec3 wanted = vec3_sub(goal, s->at);
    vec3 slide = vec3_reject(wanted, plane->normal), longer = slide;
    double depth = -vec3_dot(plane->normal, wanted) - plane->clearance;
    last->is_curved =
        curved_slide(b, &b->contacts[s->planes.contact[active]], slide, depth, &longer);
    if (!last->is_curved && body == last->body)
        longer = measured_slide(slide, last->slide);
    last->slide = slide;
    last->body = body;
    vec3 more = vec3_sub(longer, slide), next;
    if (s->planes.count == 1)
        return vec3_add(moved, more);
    int held_by[3];
    int count =
        god_object_move(vec3_add(wanted, more), s->planes.half, s->planes.count, &next, held_by);
    return count == 1 && held_by[0] == active ? next : moved;
}

/* The allowed step nearest to the wanted one. Where bodies leave no room (or only some far off,
 * where nearly opposite planes meet) the proxy goes no deeper into any of them, but may leave: it
 * is never held in a place that the hand has left. */
HR_RT static vec3 step_toward(search *s, vec3 goal)
{
    vec3 moved, wanted = vec3_sub(goal, s->at);
    planes *p = &s->planes;
    s->active_count = god_object_move(wanted, p->half, p->count, &moved, s->active);
    double far = 2 * (vec3_length(wanted) + stride_m);
    if (s->active_count != HR_ERR_INFEASIBLE && vec3_length_squared(moved) <= far * far)
        return moved;
    s->is_squeezed = true;
    for (int i = 0; i < p->count; i++)
        p->half[i].clearance = fmax(p->half[i].clearance, 0);
    s->active_count = god_object_move(wanted, p->half, p->count, &moved, s->active);
    return moved;
}

/* True if the proxy has moved enough since the body was asked for it to say something new: a
 * distance changes no faster than the point moves. */
HR_RT static bool is_news(const proxy *p, const proxy_body *b, vec3 at)
{
    double room = b->contact_count > 0 ? b->contacts[0].gap - p->radius : stride_m;
    double moved = vec3_distance(pose_apply_inverse(b->now, at), b->followed);
    return !(moved < 0.5 * room);
}

/* From `start` to the allowed point nearest to `goal`. The planes of the last call are still
 * there, carried with their bodies; they hold in the first round. */
HR_RT static void seek(proxy *p, vec3 start, vec3 goal, double dt, search *s)
{
    rounds last = {.body = -1};
    s->at = start;
    double reach = p->radius + 2 * stride_m;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        gather_planes(p, s->at, &s->planes);
        vec3 next = step_toward(s, goal);
        if (s->active_count < 0)
            return;
        if (s->active_count == 1)
            next = follow_surface(p, s, goal, next, &last);
        else
            last = (rounds){.body = -1};
        next = vec3_clamp_length(next, stride_m);
        s->at = vec3_add(s->at, next);
        double enough = last.is_curved ? settled_curved_m : settled_m;
        if (round > 0 && vec3_length_squared(next) < enough * enough)
            return;
        for (int i = 0; i < p->body_count; i++)
            if (!p->bodies[i].is_gated && (round == 0 || is_news(p, &p->bodies[i], s->at)))
                follow(p, &p->bodies[i], s->at, round == 0 ? dt : 0, reach);
    }
}

/* A body that is found around the tool without having been touched on its way never pushes the
 * hand: it is not felt until the tool is clear of it. */
HR_RT static void watch_gates(proxy *p, vec3 at, vec3 tool)
{
    for (int i = 0; i < p->body_count; i++) {
        proxy_body *b = &p->bodies[i];
        double reach = p->radius + 2 * stride_m + vec3_distance(at, tool);
        if (!b->is_new && !b->is_jumping && !b->is_gated)
            continue;
        /* deep inside, the surface is farther than any reach */
        if (shape_is_closed(&p->shapes[b->shape]))
            reach = (double)INFINITY;
        follow(p, b, tool, 0, reach);
        bool is_inside = b->contact_count > 0 && b->contacts[0].gap < p->radius - touch_m;
        if (!is_inside && vec3_distance(at, tool) > 0) {
            follow(p, b, at, 0, reach);
            is_inside = b->contact_count > 0 && b->contacts[0].gap < p->radius - touch_m;
        }
        b->is_gated = is_inside;
        b->is_new = false;
        b->is_jumping = false;
    }
}

/* Where the proxy would be if it stayed where it is on the body that carries it. */
HR_RT static vec3 carried(const proxy *p)
{
    if (p->touch.body < 0)
        return p->position;
    const proxy_body *b = &p->bodies[p->touch.body];
    return pose_apply(b->now, pose_apply_inverse(b->before, p->position));
}

/* Shares of up to three normals in the push d = sum share_i n_i, by the normal equations. */
HR_RT static void shares(const search *s, vec3 push, double share[3])
{
    int n = s->active_count;
    mat3 gram = mat3_identity();
    double right[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        vec3 a = s->planes.half[s->active[i]].normal;
        right[i] = vec3_dot(a, push);
        for (int j = 0; j < n; j++)
            gram.m[i][j] = vec3_dot(a, s->planes.half[s->active[j]].normal);
    }
    mat3 inverse;
    vec3 solved = {right[0], right[1], right[2]};
    if (n > 1 && mat3_inverse(gram, &inverse) == HR_OK)
        solved = mat3_apply(inverse, solved);
    share[0] = fmax(solved.x, 0);
    share[1] = n > 1 ? fmax(solved.y, 0) : 0;
    share[2] = n > 2 ? fmax(solved.z, 0) : 0;
}

HR_RT static frame_material mean_material(const proxy *p, const search *s, const double share[3])
{
    frame_material mean = {0};
    double sum = 0;
    for (int i = 0; i < s->active_count; i++)
        sum += share[i];
    for (int i = 0; i < s->active_count; i++) {
        const frame_material *m = &p->bodies[s->planes.body[s->active[i]]].material;
        double w = sum > 0 ? share[i] / sum : 1.0 / s->active_count;
        mean.stiffness += w * m->stiffness;
        mean.damping += w * m->damping;
        mean.static_friction += w * m->static_friction;
        mean.kinetic_friction += w * m->kinetic_friction;
    }
    mean.static_friction *= p->friction_factor;
    mean.kinetic_friction *= p->friction_factor;
    return mean;
}

/* Velocity of the body's surface at the proxy, from the motion that was shown in this tick. */
HR_RT static vec3 surface_velocity(const proxy_body *b, vec3 at, double dt)
{
    if (!(dt > 0))
        return (vec3){0, 0, 0};
    vec3 before = pose_apply(b->before, pose_apply_inverse(b->now, at));
    return vec3_scale(1.0 / dt, vec3_sub(at, before));
}

/* Fills touch from the frictionless search: what holds the proxy, and how hard. */
HR_RT static void describe(proxy *p, const search *s, vec3 tool, double dt)
{
    proxy_touch *t = &p->touch;
    vec3 push = vec3_sub(s->at, tool);
    t->depth = vec3_length(push);
    t->count = s->active_count > 0 ? s->active_count : 0;
    t->body = -1;
    if (t->count == 0 || !(t->depth > 0)) {
        t->count = 0;
        return;
    }
    double share[3];
    shares(s, push, share);
    int most = 0;
    for (int i = 1; i < t->count; i++)
        if (share[i] > share[most])
            most = i;
    int plane = s->active[most];
    t->body = s->planes.body[plane];
    const proxy_body *b = &p->bodies[t->body];
    if (s->planes.contact[plane] < b->contact_count)
        t->feature = b->contacts[s->planes.contact[plane]].feature;
    t->normal = vec3_scale(1.0 / t->depth, push);
    t->material = mean_material(p, s, share);
    t->surface_velocity = surface_velocity(b, s->at, dt);
}

/* Coulomb's cone on the proxy: `held` is where it would stay, s->at where it would slide to
 * without friction. Returns where it goes. */
HR_RT static vec3 hold_back(proxy *p, vec3 held, vec3 free, double dt)
{
    const proxy_touch *t = &p->touch;
    vec3 back = vec3_sub(held, free);
    double offset = vec3_length(back);
    double kinetic = t->material.kinetic_friction * t->depth;
    double hold = t->material.static_friction * t->depth;
    if (p->is_sticking && offset > hold) {
        /* It breaks away: for this tick exactly at the edge of the static cone. */
        p->is_sticking = false;
        return vec3_add_scaled(free, hold / offset, back);
    }
    if (!p->is_sticking && offset <= kinetic + stick_speed * dt)
        p->is_sticking = true;
    if (p->is_sticking || !(offset > kinetic))
        return held;
    return vec3_add_scaled(free, kinetic / offset, back);
}

HR_RT static void measure_gap(proxy *p, vec3 tool)
{
    proxy_touch *t = &p->touch;
    t->gap = 1;
    t->flags = 0;
    for (int i = 0; i < p->body_count; i++) {
        const proxy_body *b = &p->bodies[i];
        /* what is out of reach may still be on its way to the nearest point: nobody feels it */
        bool is_felt = b->contact_count > 0;
        t->flags |= b->tracker.flags & (is_felt ? ~0u : (uint32_t)SHAPE_TRACK_HELD);
        t->flags |= b->is_gated ? (uint32_t)PROXY_GATED : 0u;
        if (b->contact_count == 0)
            continue;
        vec3 local = pose_apply_inverse(b->now, tool);
        const shape_contact *c = &b->contacts[0];
        t->gap = fmin(t->gap, vec3_dot(c->normal, vec3_sub(local, c->point)) - p->radius);
    }
}

/* Where the proxy may be if it must not run: `from` carried with the body, `tool_from` the last
 * tool carried likewise, `to` where it wants to be. What it shares with the tool's motion is free.
 */
HR_RT static vec3 reined(vec3 from, vec3 to, vec3 tool_from, vec3 tool, double dt, bool *is_reined)
{
    vec3 step = vec3_sub(tool, tool_from), way = vec3_sub(to, from);
    double squared = vec3_length_squared(step);
    double share = squared > 0 ? vec3_dot(way, step) / squared : 0;
    vec3 along = vec3_scale(share < 0 ? 0 : share > 1 ? 1 : share, step);
    vec3 rest = vec3_sub(way, along);
    double far_squared = vec3_length_squared(rest);
    double limit = (run_speed + run_growth * far_squared) * dt + run_share * sqrt(squared);
    *is_reined = far_squared > limit * limit;
    return vec3_add(vec3_add(from, along), vec3_clamp_length(rest, limit));
}

/* Takes the proxy back to where it may be; it stays in touch until it is where it wants to be. */
HR_RT static void rein_in(proxy *p, vec3 held, vec3 goal, vec3 tool, const proxy_touch *before,
                          search *s)
{
    double reach = p->radius + 2 * stride_m;
    for (int i = 0; i < p->body_count; i++)
        if (!p->bodies[i].is_gated)
            follow(p, &p->bodies[i], held, 0, reach);
    seek(p, held, goal, 0, s);
    proxy_touch *t = &p->touch;
    vec3 push = vec3_sub(s->at, tool);
    t->depth = vec3_length(push);
    if (t->count == 0) {
        t->count = 1;
        t->body = before->body;
        t->feature = before->feature;
        t->material = before->material;
        t->surface_velocity = before->surface_velocity;
    }
    t->normal = vec3_normalize_or(push, before->normal);
}

/* The carried tool of the last tick; false where nothing carried it. */
HR_RT static bool carried_tool(const proxy *p, const proxy_touch *before, vec3 *out)
{
    if (before->count == 0 || before->body < 0 || p->bodies[before->body].is_gated)
        return false;
    const proxy_body *b = &p->bodies[before->body];
    *out = pose_apply(b->now, pose_apply_inverse(b->before, p->tool));
    return true;
}

HR_RT void proxy_move(proxy *p, vec3 tool, int64_t time_ns, double dt)
{
    proxy_advance_bodies(p, time_ns, dt);
    if (!p->is_placed) {
        p->position = p->tool = tool;
        p->is_placed = true;
    }
    const proxy_touch before = p->touch;
    vec3 held = carried(p);
    watch_gates(p, held, tool);

    search s = {0};
    seek(p, held, tool, dt, &s);
    describe(p, &s, tool, dt);
    bool has_friction = p->touch.count > 0 && p->touch.material.static_friction > 0;
    if (has_friction && before.count == 0) {
        p->is_sticking = true; /* where it lands */
    } else if (has_friction) {
        vec3 goal = hold_back(p, held, s.at, dt);
        seek(p, s.at, goal, 0, &s);
    } else {
        p->is_sticking = false;
    }
    vec3 tool_from;
    if (carried_tool(p, &before, &tool_from)) {
        bool is_reined = false;
        vec3 goal = reined(held, s.at, tool_from, tool, dt, &is_reined);
        if (is_reined)
            rein_in(p, held, goal, tool, &before, &s);
    }
    p->position = s.at;
    p->tool = tool;
    measure_gap(p, tool);
    p->touch.was_teleported = (p->touch.flags & PROXY_GATED) != 0;
    p->touch.flags |= s.is_squeezed || s.active_count < 0 ? (uint32_t)PROXY_INFEASIBLE : 0u;
    p->touch.flags |= p->is_sticking ? (uint32_t)PROXY_STICKS : 0u;
}
