#include "tests/support/limb_play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collide/closest.h"
#include "collide/touch_mesh.h"
#include "server/proxy.h"
#include "tests/support/rig.h"

enum { TONES = 4, CROSSINGS_MAX = 32 };

/* Where the tool goes: a sum of tones along each axis, so that neither place nor speed jumps. */
typedef struct wander {
    double rate[3][TONES], phase[3][TONES], size[3];
} wander;

static double unit_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static wander make_wander(const limb_play *how)
{
    uint64_t state = how->seed;
    wander w = {0};
    const double reach[3] = {how->reach.x, how->reach.y, how->reach.z};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < TONES; i++) {
            w.size[axis] = reach[axis] / TONES;
            w.rate[axis][i] = how->speed / reach[axis] * (0.2 + 1.2 * unit_random(&state));
            w.phase[axis][i] = 6.283185307179586 * unit_random(&state);
        }
    return w;
}

static vec3 wander_at(const wander *w, double t)
{
    vec3 at = {0, 0, 0};
    double *c[3] = {&at.x, &at.y, &at.z};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < TONES; i++)
            *c[axis] += w->size[axis] * sin(w->rate[axis][i] * t + w->phase[axis][i]);
    /* comes in from outside */
    double arrive = fmin(t / 0.4, 1);
    return vec3_lerp((vec3){0.08, 0, 0}, at, arrive * arrive * (3 - 2 * arrive));
}

/* Does the way from a to b cross the triangle? */
static bool crosses(vec3 a, vec3 b, const vec3 c[3])
{
    vec3 way = vec3_sub(b, a), e1 = vec3_sub(c[1], c[0]), e2 = vec3_sub(c[2], c[0]);
    vec3 p = vec3_cross(way, e2);
    double det = vec3_dot(e1, p);
    if (det == 0)
        return false;
    vec3 from = vec3_sub(a, c[0]);
    double u = vec3_dot(from, p) / det;
    vec3 q = vec3_cross(from, e1);
    double v = vec3_dot(way, q) / det, t = vec3_dot(e2, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && t >= 0 && t <= 1;
}

typedef struct verdict {
    bool has_crossed;
    double inside; /* m */
} verdict;

/* All triangles of the mesh against the proxy's way in the body's frame. The curved surface that is
 * felt lies outside the flat one by the sagitta, or on it. */
static verdict judge(const touch_mesh *m, vec3 from, vec3 to, double radius)
{
    verdict v = {false, -1};
    vec3 crossed[CROSSINGS_MAX];
    int count = 0;
    double squared = (double)INFINITY, sign = 1;
    double near = vec3_distance(from, to) + radius + 1e-3;
    if (vec3_length(to) > m->radius + near)
        return v;
    for (int i = 0; i < m->triangle_count; i++) {
        const touch_triangle *t = &m->triangles[i];
        closest_pair p = closest_point_triangle(to, t->corners[0], t->corners[1], t->corners[2]);
        if (p.distance_squared > near * near)
            continue;
        if (count < CROSSINGS_MAX && crosses(from, to, t->corners))
            crossed[count++] = t->normal;
        double side = vec3_dot(vec3_sub(to, p.on_second), t->normal) >= 0 ? 1 : -1;
        /* at an edge the triangle that faces the point most decides */
        if (p.distance_squared < squared * (1 - 1e-9) ||
            (p.distance_squared < squared * (1 + 1e-9) && side > sign)) {
            squared = p.distance_squared;
            sign = side;
        }
    }
    if (isfinite(squared))
        v.inside = radius - sign * sqrt(squared);
    /* in at one side and out at the opposite one; around an edge only the chord cuts the corner */
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            v.has_crossed = v.has_crossed || vec3_dot(crossed[i], crossed[k]) < -0.5;
    v.has_crossed = v.has_crossed || v.inside > radius;
    return v;
}

/* The player's hand: a spring of the surface's stiffness, as strong as a Falcon. */
static tool_sample sample_of(const proxy *p, vec3 tool, uint64_t tick, int64_t time_ns)
{
    tool_sample s = {.tick = tick,
                     .time_ns = time_ns,
                     .tool = tool,
                     .rotation = quat_identity(),
                     .proxy = p->position};
    if (p->touch.body < 0)
        return s;
    vec3 push = vec3_scale(p->touch.material.stiffness, vec3_sub(tool, p->position));
    s.force = vec3_clamp_length(push, 8);
    s.point = vec3_add_scaled(p->position, -p->radius, p->touch.normal);
    s.body_key = p->bodies[p->touch.body].key;
    s.is_touching = 1;
    return s;
}

typedef struct game {
    const limb_play *how;
    const shape *shapes;
    proxy proxy;
    vec3 last; /* proxy's place at the last tick */
    bool was_squeezed;
    limb_play_result out;
} game;

static void look(game *g, vec3 tool)
{
    const proxy *p = &g->proxy;
    bool is_excused = p->touch.flags & (PROXY_INFEASIBLE | PROXY_GATED);
    g->out.touching += p->touch.count > 0;
    g->out.gated += (p->touch.flags & PROXY_GATED) != 0;
    g->out.infeasible += (p->touch.flags & PROXY_INFEASIBLE) != 0;
    g->out.lost += p->touch.count == 0 && !is_excused && vec3_distance(p->position, tool) > 1e-6;
    if (p->body_count > g->out.most_near)
        g->out.most_near = p->body_count;
    for (int i = 0; i < p->body_count; i++) {
        const proxy_body *b = &p->bodies[i];
        const shape *s = &g->shapes[b->shape];
        if (b->is_gated || s->kind != SHAPE_MESH)
            continue;
        verdict v = judge(s->mesh, pose_apply_inverse(b->before, g->last),
                          pose_apply_inverse(b->now, p->position), p->radius);
        g->out.through += v.has_crossed && !is_excused && !g->was_squeezed;
        g->out.squeezed_through += v.has_crossed && (is_excused || g->was_squeezed);
        if (!is_excused)
            g->out.inside = fmax(g->out.inside, v.inside);
    }
    g->last = p->position;
    g->was_squeezed = p->touch.flags & PROXY_INFEASIBLE;
}

static void play(game *g, world *w, const wander *path)
{
    static contact_frame frame; /* large */
    const limb_play *how = g->how;
    tool_sample held = {.rotation = quat_identity()};
    int64_t step_ns = 1000000LL * how->world_every;
    held.tool = held.proxy = g->last = wander_at(path, 0);
    for (int i = 0; i < how->ticks; i++) {
        int64_t time = 1000000LL * i;
        vec3 tool = wander_at(path, 1e-3 * i);
        if (i % how->world_every == 0) {
            world_step(w, &held, 1, time - step_ns, 1e-9 * (double)step_ns);
            world_frame(w, 0, &frame);
            (void)proxy_frame(&g->proxy, &frame);
        }
        int64_t start = how->now_ns ? how->now_ns() : 0;
        proxy_move(&g->proxy, tool, time, 1e-3);
        if (how->times && how->now_ns)
            how->times[i] = (double)(how->now_ns() - start);
        look(g, tool);
        vec3 given = held.pushed_key ? held.impulse : (vec3){0, 0, 0};
        uint32_t before = held.pushed_key;
        held = sample_of(&g->proxy, tool, (uint64_t)i + 1, time);
        proxy_pushed(&g->proxy, (uint64_t)i + 1, held.force, 1e-3);
        held.pushed_key = held.is_touching ? held.body_key : before;
        held.impulse = held.pushed_key == before ? given : (vec3){0, 0, 0};
        held.impulse = vec3_add_scaled(held.impulse, 1e-3, held.force);
    }
}

limb_play_result limb_play_run(const limb_play *how)
{
    rig *r = malloc(sizeof *r);
    game *g = calloc(1, sizeof *g);
    hr_error error = {{0}};
    char path[CONFIG_PATH_MAX];
    if (!r || !g)
        exit(1);
    rig_init(r);
    r->settings.world.near_distance_m = 0.02;
    if (scene_find(how->scene, path, sizeof path, &error) != HR_OK ||
        scene_load(path, &r->scene, &error) != HR_OK ||
        world_create(&r->scene, &r->settings, &r->world, &error) != HR_OK) {
        fprintf(stderr, "limb play: %s\n", error.text);
        exit(1);
    }
    int count;
    g->how = how;
    g->shapes = world_shapes(r->world, &count);
    proxy_init(&g->proxy, g->shapes, count, how->tool_radius, 0.05);
    g->proxy.moves_bodies = true;
    wander path_of_tool = make_wander(how);
    play(g, r->world, &path_of_tool);
    limb_play_result out = g->out;
    world_destroy(r->world);
    free(g);
    free(r);
    return out;
}
