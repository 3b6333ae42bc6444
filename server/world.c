#include "server/world.h"

#include <stdlib.h>

#include "collide/tool_shape.h"
#include "geometry/parametric_body.h"
#include "server/actor.h"
#include "server/mechanics.h"
#include "server/records.h"

typedef struct player {
    const actor_class *class;
    actor *actor;
    const char *name;
    uint32_t first; /* key of its first body, and index of its first shape */
    int count;
} player;

/* The last search for the nearest points of a body, for one hand. */
typedef struct world_seed {
    bool is_made;
    vec3 at; /* m, body frame: where the proxy was */
    shape_tracker tracker;
} world_seed;

struct world {
    scene scene;
    double near_distance; /* m */
    int player_count;
    player players[SCENE_BODIES_MAX];
    int body_count;
    shape *shapes;
    int *player_of;       /* body -> player */
    actor_body *bodies;   /* states after the last step */
    actor_body *previous; /* after the one before */
    bool *has_jumped;
    world_seed *seeds; /* HANDS_MAX for each body */
    int hand_count;
    tool_sample hands[HANDS_MAX]; /* as they act in this step */
    tool_sample heard[HANDS_MAX]; /* the newest samples */
    uint64_t sequence[HANDS_MAX];
    bool has_stepped;
    int64_t time_ns;      /* of the states */
    mechanics *mechanics; /* NULL: nothing can be pushed, every actor steps alone */
    parametric_body tool; /* what touches the shapes, where the scene names one */
};

/* A body further off than this from where its last velocity takes it was teleported. */
static const double jump_m = 0.005;
static const double jump_rad = 0.2;

/* So far from where a search was made its answer still is a good start for a tracker. */
static const double seed_room = 0.001; /* m */

/* Mechanics steps are at most this long: at 60 Hz four or five of them make a step of the world.
 * After a stall that is longer than all of them the bodies lose the rest of the time. */
static const double mechanics_step_s = 0.004;
enum { MECHANICS_STEPS_MAX = 32 };

static hr_status create_players(world *w, hr_error *error)
{
    for (int i = 0; i < w->scene.body_count; i++) {
        const scene_body *b = &w->scene.bodies[i];
        const actor_class *class = actor_class_for(b);
        if (!class)
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: body \"%s\": expected a shape and motion that can be played, "
                             "found a pair that cannot",
                             w->scene.file, b->line, b->name);
        player *p = &w->players[w->player_count];
        *p = (player){.class = class, .name = b->name, .first = (uint32_t)w->body_count};
        hr_status status = class->create(&w->scene, b, &p->actor, error);
        if (status != HR_OK)
            return status;
        w->player_count++;
        p->count = class->body_count(p->actor);
        w->body_count += p->count;
    }
    return HR_OK;
}

static void read_states(world *w)
{
    for (int i = 0; i < w->body_count; i++) {
        const player *p = &w->players[w->player_of[i]];
        p->class->body_state(p->actor, i - (int)p->first, &w->bodies[i]);
        w->bodies[i].key = (uint32_t)i + 1; /* 0 is no body */
        w->bodies[i].shape = (uint32_t)i;
    }
}

static hr_status create_tables(world *w)
{
    size_t n = w->body_count > 0 ? (size_t)w->body_count : 1;
    w->shapes = calloc(n, sizeof *w->shapes);
    w->player_of = calloc(n, sizeof *w->player_of);
    w->bodies = calloc(n, sizeof *w->bodies);
    w->previous = calloc(n, sizeof *w->previous);
    w->has_jumped = calloc(n, sizeof *w->has_jumped);
    w->seeds = calloc(n * HANDS_MAX, sizeof *w->seeds);
    if (!w->shapes || !w->player_of || !w->bodies || !w->previous || !w->has_jumped || !w->seeds)
        return HR_ERR_MEMORY;
    for (int i = 0; i < w->player_count; i++) {
        const player *p = &w->players[i];
        for (int k = 0; k < p->count; k++) {
            w->player_of[p->first + (uint32_t)k] = i;
            p->class->body_shape(p->actor, k, &w->shapes[p->first + (uint32_t)k]);
        }
    }
    read_states(w);
    return HR_OK;
}

static bool is_pushed(const player *p)
{
    return p->class->mover && p->class->mover->is_pushed(p->actor);
}

/* Where something can be pushed, everything that collides moves together. */
static hr_status create_mechanics(world *w, hr_error *error)
{
    mechanics_member members[SCENE_BODIES_MAX];
    int count = 0, pushed = 0;
    for (int i = 0; i < w->player_count; i++)
        pushed += is_pushed(&w->players[i]);
    for (int i = 0; i < w->player_count && pushed > 0; i++) {
        const player *p = &w->players[i];
        if (!p->class->mover)
            continue;
        hr_status status = p->class->mover->prepare(p->actor);
        if (status != HR_OK)
            return error_set(error, status,
                             "%s:%d: body \"%s\": expected a shape that can collide, found one "
                             "whose triangles cannot be made ready",
                             w->scene.file, w->scene.bodies[i].line, p->name);
        members[count++] = (mechanics_member){p->class->mover, p->actor, p->first + 1, p->count};
    }
    if (pushed == 0)
        return HR_OK;
    hr_status status = mechanics_create(members, count, &w->mechanics);
    if (status != HR_OK)
        return error_set(error, status, "%s: out of memory", w->scene.file);
    return HR_OK;
}

/* The scene's tool body, for every shape; each must be one that a tool body can touch. */
static hr_status load_tool(world *w, hr_error *error)
{
    const scene *s = &w->scene;
    if (!s->tool_file[0])
        return HR_OK;
    hr_status status = parametric_body_load(s->tool_file, &w->tool, error);
    if (status != HR_OK)
        return status;
    if (!w->tool.is_convex || w->tool.is_planar)
        return error_set(error, HR_ERR_FORMAT, "%s: expected a convex body with faces for a tool",
                         s->tool_file);
    if (s->tool_scale > 0)
        parametric_body_scale(&w->tool, s->tool_scale);
    for (int i = 0; i < w->body_count; i++) {
        if (!tool_shape_can_touch(&w->shapes[i]))
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: expected convex bodies, spheres or ellipsoids for a tool body "
                             "to touch, found another shape",
                             s->file, s->bodies[w->player_of[i]].line);
        w->shapes[i].tool = &w->tool;
    }
    return HR_OK;
}

hr_status world_create(const scene *s, const config *settings, world **out, hr_error *error)
{
    world *w = calloc(1, sizeof *w);
    if (!w)
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory", s->file);
    w->scene = *s;
    w->near_distance = settings->world.near_distance_m;
    hr_status status = create_players(w, error);
    if (status == HR_OK) {
        status = create_tables(w);
        if (status != HR_OK)
            error_set(error, status, "%s: out of memory", s->file);
    }
    if (status == HR_OK)
        status = load_tool(w, error);
    if (status == HR_OK)
        status = create_mechanics(w, error);
    if (status != HR_OK) {
        world_destroy(w);
        return status;
    }
    *out = w;
    return HR_OK;
}

void world_destroy(world *w)
{
    if (!w)
        return;
    mechanics_destroy(w->mechanics);
    for (int i = 0; i < w->player_count; i++)
        w->players[i].class->destroy(w->players[i].actor);
    parametric_body_free(&w->tool);
    free(w->shapes);
    free(w->player_of);
    free(w->bodies);
    free(w->previous);
    free(w->has_jumped);
    free(w->seeds);
    free(w);
}

const shape *world_shapes(const world *w, int *count)
{
    *count = w->body_count;
    return w->shapes;
}

static bool is_a_jump(const actor_body *before, const actor_body *now, double dt)
{
    pose expected =
        pose_advance(before->world_from_body, before->velocity, before->acceleration, dt);
    vec3 turn = quat_to_rotation_vector(
        quat_multiply(now->world_from_body.rotation, quat_conjugate(expected.rotation)));
    return vec3_distance(expected.origin, now->world_from_body.origin) > jump_m ||
           vec3_length(turn) > jump_rad;
}

static void step_mechanics(world *w, int64_t time_ns, double dt)
{
    int steps = (int)fmin(ceil(dt / mechanics_step_s - 1e-9), MECHANICS_STEPS_MAX);
    double h = fmin(dt / steps, mechanics_step_s);
    for (int i = 0; i < steps; i++)
        mechanics_step(w->mechanics, w->hands, w->hand_count,
                       time_ns + (int64_t)llrint(i * h * 1e9), h);
}

/* The hand as a force over the step that gives exactly the impulse that it gave since the last one:
 * nothing that it did between two samples is lost or counted twice. */
static tool_sample mean_push(const tool_sample *before, const tool_sample *now, double dt)
{
    tool_sample mean = *now;
    if (now->pushed_key == 0 || !(dt > 0))
        return mean;
    vec3 given = now->impulse;
    if (before->pushed_key == now->pushed_key)
        given = vec3_sub(given, before->impulse);
    mean.force = vec3_scale(1 / dt, given);
    if (!now->is_touching && vec3_length_squared(given) > 0) {
        mean.is_touching = 1; /* it left in between */
        mean.body_key = now->pushed_key;
        mean.point = now->proxy;
    }
    return mean;
}

void world_step(world *w, const tool_sample *hands, int n, int64_t time_ns, double dt)
{
    w->hand_count = n < HANDS_MAX ? n : HANDS_MAX;
    for (int i = 0; i < w->hand_count; i++) {
        w->hands[i] = mean_push(&w->heard[i], &hands[i], dt);
        w->heard[i] = hands[i];
    }
    if (w->mechanics && dt > 0)
        step_mechanics(w, time_ns, dt);
    for (int i = 0; i < w->player_count; i++) {
        player *p = &w->players[i];
        if (!w->mechanics || !p->class->mover)
            p->class->step(p->actor, p->first + 1, w->hands, w->hand_count, time_ns, dt);
    }
    actor_body *spare = w->previous;
    w->previous = w->bodies;
    w->bodies = spare;
    read_states(w);
    for (int i = 0; i < w->body_count; i++)
        w->has_jumped[i] = w->has_stepped && is_a_jump(&w->previous[i], &w->bodies[i], dt);
    w->has_stepped = true;
    w->time_ns = time_ns + (int64_t)llrint(dt * 1e9);
}

typedef struct near_body {
    int index;
    double distance; /* m, to the bounding sphere, or to the plane */
} near_body;

static double distance_to(const world *w, int i, vec3 point)
{
    const actor_body *b = &w->bodies[i];
    if (isfinite(b->radius))
        return vec3_distance(b->world_from_body.origin, point) - b->radius;
    shape_tracker tracker = {0};
    shape_contact contact;
    vec3 local = pose_apply_inverse(b->world_from_body, point);
    int n = shape_follow(&w->shapes[i], &tracker, local, (vec3){0, 0, 0}, 0, (double)INFINITY,
                         &contact, 1);
    return n > 0 ? contact.gap : 0;
}

/* The nearest bodies, nearest first; ties keep the scene's order. */
static int pick_near(const world *w, const tool_sample *hand, near_body *list)
{
    int count = 0;
    for (int i = 0; i < w->body_count; i++) {
        double distance = fmin(distance_to(w, i, hand->tool), distance_to(w, i, hand->proxy));
        if (distance > w->near_distance)
            continue;
        int at = count;
        if (count < FRAME_BODIES_MAX)
            count++;
        else if (distance < list[--at].distance)
            list[at].distance = distance;
        else
            continue;
        for (; at > 0 && list[at - 1].distance > distance; at--)
            list[at] = list[at - 1];
        list[at] = (near_body){i, distance};
    }
    return count;
}

/* The servo keeps trackers of its own and takes a seed only for a body that is new to it, so a
 * search is made again only when the proxy has moved on the body. */
static void fill_seed(world *w, int i, int hand, shape_tracker *out)
{
    world_seed *seed = &w->seeds[i * HANDS_MAX + hand];
    vec3 local = pose_apply_inverse(w->bodies[i].world_from_body, w->hands[hand].proxy);
    if (!seed->is_made || !(vec3_distance(local, seed->at) <= seed_room)) {
        shape_seed(&w->shapes[i], local, 2.0 * w->near_distance, &seed->tracker);
        seed->at = local;
        seed->is_made = true;
    }
    *out = seed->tracker;
}

static void fill_body(world *w, int i, int hand, frame_body *out)
{
    const actor_body *b = &w->bodies[i];
    const player *p = &w->players[w->player_of[i]];
    *out = (frame_body){.key = b->key,
                        .shape = b->shape,
                        .world_from_body = b->world_from_body,
                        .velocity = b->velocity,
                        .acceleration = b->acceleration,
                        .material = b->material};
    out->inverse_mass = p->class->inverse_mass(p->actor, i - (int)p->first, w->hands[hand].proxy);
    if (out->inverse_mass.m[0][0] + out->inverse_mass.m[1][1] + out->inverse_mass.m[2][2] > 0)
        out->flags |= FRAME_BODY_MOVED_BY_HAND;
    if (w->has_jumped[i])
        out->flags |= FRAME_BODY_TELEPORTED;
    fill_seed(w, i, hand, &out->seed);
}

void world_frame(world *w, int hand, contact_frame *out)
{
    *out = (contact_frame){.time_ns = w->time_ns, .hand = (uint32_t)hand};
    if (hand < 0 || hand >= HANDS_MAX)
        return;
    out->sequence = ++w->sequence[hand];
    if (hand >= w->hand_count)
        return;
    const tool_sample *sample = &w->hands[hand];
    out->tool_tick = sample->tick;
    near_body list[FRAME_BODIES_MAX];
    int count = pick_near(w, sample, list);
    for (int i = 0; i < count; i++)
        fill_body(w, list[i].index, hand, &out->bodies[i]);
    out->body_count = (uint32_t)count;
}

double world_energy(const world *w)
{
    double sum = 0;
    for (int i = 0; i < w->player_count; i++)
        sum += w->players[i].class->energy(w->players[i].actor);
    return sum;
}

int world_body_count(const world *w)
{
    return w->body_count;
}

void world_body(const world *w, int index, actor_body *out)
{
    *out = w->bodies[index];
}

const char *world_body_name(const world *w, int index)
{
    return w->players[w->player_of[index]].name;
}

mechanics *world_mechanics(world *w)
{
    return w->mechanics;
}
