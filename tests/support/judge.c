#include "tests/support/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/actor.h"
#include "server/proxy.h"
#include "tests/support/outside.h"

/* What was known of a hand one tick ago. */
typedef struct memory {
    bool is_known;
    uint64_t tick;
    vec3 proxy, force;
    uint32_t reasons;
    int body_count;
    uint32_t keys[FRAME_BODIES_MAX];
    vec3 places[FRAME_BODIES_MAX]; /* of the proxy, in each body's frame */
} memory;

typedef struct judge {
    verdict *out;
    const judge_limits *limits;
    int finder_count;
    outside **finders; /* by shape */
    memory hands[HANDS_MAX];
} judge;

static void blame(judge *j, const tick_record *t, const char *format, ...) HR_PRINTF(3, 4);
static void blame(judge *j, const tick_record *t, const char *format, ...)
{
    if (j->out->fault_count < JUDGE_FAULTS_MAX) {
        char *text = j->out->faults[j->out->fault_count];
        int n = snprintf(text, 192, "tick %" PRIu64 " hand %u: ", t->tick, t->hand);
        va_list values;
        va_start(values, format);
        vsnprintf(text + n, 192 - (size_t)n, format, values);
        va_end(values);
    }
    j->out->fault_count++;
}

static bool make_finders(judge *j, const replay_stage *stage)
{
    if (j->finders)
        return true;
    const shape *shapes = world_shapes(stage->world, &j->finder_count);
    j->finders = calloc((size_t)j->finder_count + 1, sizeof(outside *));
    for (int i = 0; j->finders && i < j->finder_count; i++)
        j->finders[i] = outside_create(&shapes[i]);
    return j->finders != NULL;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void look_at_numbers(judge *j, const tick_record *t, double limit)
{
    double numbers[] = {t->gap, t->energy, t->fade};
    bool is_finite = vec3_is_finite(t->tool) && vec3_is_finite(t->proxy) &&
                     vec3_is_finite(t->wanted_force) && vec3_is_finite(t->force) &&
                     vec3_is_finite(t->contact_normal);
    for (int i = 0; i < HR_COUNT(numbers); i++)
        is_finite = is_finite && isfinite(numbers[i]);
    double force = vec3_length(t->force);
    if (!is_finite)
        blame(j, t, "a number is not finite");
    if (!(force <= limit * (1 + 1e-12)))
        blame(j, t, "force %.17g N above the limit of %g N", force, limit);
    j->out->force_max = fmax(j->out->force_max, force);
    j->out->energy_min = fmin(j->out->energy_min, t->energy);
    j->out->ticks++;
    j->out->contact_ticks += t->contact_count > 0;
    j->out->degraded_ticks += (t->tracker_flags & SHAPE_TRACK_DEGRADED) != 0;
    j->out->cycling_ticks += (t->tracker_flags & SHAPE_TRACK_CYCLING) != 0;
    j->out->fallback_ticks +=
        (t->tracker_flags & (SHAPE_TRACK_DEGRADED | SHAPE_TRACK_CYCLING | SHAPE_TRACK_HELD)) != 0;
    j->out->infeasible_ticks += (t->tracker_flags & PROXY_INFEASIBLE) != 0;
    j->out->faded_ticks += t->reasons != 0;
}

static void look_at_step(judge *j, const tick_record *t, const memory *before)
{
    if (!before->is_known || before->tick + 1 != t->tick || before->reasons || t->reasons)
        return;
    j->out->force_step_max = fmax(j->out->force_step_max, vec3_distance(before->force, t->force));
}

/* Outward normals more than 135 degrees apart are those of two sides; an edge of a tool or toy is
 * blunter. */
static const double OTHER_SIDE = -0.7;

/* The hand shows bodies between two frames, and pushed ones, a little off where the world has them.
 */
static const double UNFELT = 1.5e-3;

/* --- where the proxy is ----------------------------------------------------------------------- */

static void look_inside(judge *j, const tick_record *t, const proxy *p, const proxy_body *b,
                        const char *name)
{
    outside *finder = j->finders[b->shape];
    if (!finder || p->shapes[b->shape].tool || !(outside_is_solid(finder) || p->radius > 0))
        return;
    vec3 place = pose_apply_inverse(b->now, p->position);
    double depth = p->radius - outside_gap(finder, place);
    if (t->tracker_flags & PROXY_INFEASIBLE) { /* pinched, and says so */
        j->out->pinched_max = fmax(j->out->pinched_max, depth);
        return;
    }
    j->out->depth_max = fmax(j->out->depth_max, depth);
    if (depth > j->limits->depth)
        blame(j, t, "the proxy is %.4f mm inside \"%s\" (key %u)", 1e3 * depth, name, b->key);
}

/* Direction in which the distance rises fastest: the outward normal nearby. */
static vec3 way_out(outside *finder, vec3 at)
{
    const double h = 1e-6; /* m */
    double x = outside_distance(finder, vec3_add(at, (vec3){h, 0, 0})) -
               outside_distance(finder, vec3_sub(at, (vec3){h, 0, 0}));
    double y = outside_distance(finder, vec3_add(at, (vec3){0, h, 0})) -
               outside_distance(finder, vec3_sub(at, (vec3){0, h, 0}));
    double z = outside_distance(finder, vec3_add(at, (vec3){0, 0, h})) -
               outside_distance(finder, vec3_sub(at, (vec3){0, 0, h}));
    return vec3_normalize_or((vec3){x, y, z}, (vec3){0, 0, 0});
}

static double deepest_along(outside *finder, vec3 from, vec3 to, double radius)
{
    enum { PARTS = 24 };
    double deepest = -1;
    for (int i = 1; i < PARTS; i++) {
        vec3 at = vec3_add_scaled(from, (double)i / PARTS, vec3_sub(to, from));
        deepest = fmax(deepest, radius - outside_distance(finder, at));
    }
    return deepest;
}

/* The straight way of the proxy since the last tick, as the body saw it. Around an edge it may cut
 * the corner; it must not come out on the other side of a solid or of a sheet. */
static void look_along(judge *j, const tick_record *t, const proxy *p, const proxy_body *b,
                       vec3 from, const char *name)
{
    outside *finder = j->finders[b->shape];
    if (!finder || p->shapes[b->shape].tool)
        return;
    vec3 to = pose_apply_inverse(b->now, p->position);
    double length = vec3_distance(from, to), start = outside_distance(finder, from),
           end = outside_distance(finder, to);
    if (outside_is_solid(finder)) {
        double deepest = deepest_along(finder, from, to, p->radius);
        j->out->crossed_max = fmax(j->out->crossed_max, deepest);
        bool is_other_side = deepest > j->limits->depth &&
                             vec3_dot(way_out(finder, from), way_out(finder, to)) < OTHER_SIDE;
        if (is_other_side)
            blame(j, t, "the proxy's way of %.3f mm leads %.3f mm through \"%s\" (key %u)",
                  1e3 * length, 1e3 * deepest, name, b->key);
    } else if (start * end < 0 && start < 0.5 && end < 0.5 &&
               fabs(start) + fabs(end) <= 1.05 * length && fabs(end) > j->limits->depth) {
        blame(j, t, "the proxy went through the sheet \"%s\" (key %u), from %.3f to %.3f mm", name,
              b->key, 1e3 * start, 1e3 * end);
    }
}

/* Bodies that the hand does not know of, though its proxy is well inside them. */
static void look_for_unfelt(judge *j, const replay_stage *stage, const replay_follow *follow,
                            const tick_record *t)
{
    const proxy *p = hand_proxy(stage->hands[t->hand]);
    if (t->state != SERVO_RUNNING || p->touch.flags & PROXY_GATED)
        return;
    for (int i = 0; i < j->finder_count; i++) {
        actor_body body;
        world_body(stage->world, i, &body);
        pose at = replay_follow_pose(follow, (int)t->hand, i, t->time_ns);
        if (!j->finders[i] || !outside_is_solid(j->finders[i]) || p->shapes[i].tool ||
            vec3_distance(at.origin, t->proxy) > body.radius)
            continue;
        double depth =
            p->radius - outside_distance(j->finders[i], pose_apply_inverse(at, t->proxy));
        if (depth > UNFELT)
            blame(j, t, "the proxy is %.2f mm inside \"%s\" (key %d) and feels %s", 1e3 * depth,
                  world_body_name(stage->world, i), i + 1,
                  t->contact_count ? "another" : "nothing");
    }
}

static int index_of(const memory *m, uint32_t key)
{
    for (int i = 0; i < m->body_count; i++)
        if (m->keys[i] == key)
            return i;
    return -1;
}

static void look_at_places(judge *j, const replay_stage *stage, const tick_record *t,
                           const memory *before)
{
    const proxy *p = hand_proxy(stage->hands[t->hand]);
    double moved = before->is_known ? vec3_distance(before->proxy, t->proxy) : 0;
    bool is_turn = t->contact_count > 0 && t->tick % (uint64_t)j->limits->every == 0;
    if (!is_turn && moved < 0.5e-3)
        return;
    j->out->samples++;
    for (int i = 0; i < p->body_count; i++) {
        const proxy_body *b = &p->bodies[i];
        int old = index_of(before, b->key);
        const char *name = world_body_name(stage->world, (int)b->key - 1);
        if (b->is_gated || b->is_new || (int)b->shape >= j->finder_count)
            continue;
        look_inside(j, t, p, b, name);
        if (old >= 0 && !b->is_jumping && !(t->reasons & REASON_TELEPORT))
            look_along(j, t, p, b, before->places[old], name);
    }
}

static void remember(memory *m, const proxy *p, const tick_record *t)
{
    m->is_known = p->is_placed;
    m->tick = t->tick;
    m->proxy = t->proxy;
    m->force = t->force;
    m->reasons = t->reasons;
    m->body_count = 0;
    for (int i = 0; i < p->body_count; i++) {
        if (p->bodies[i].is_gated)
            continue;
        m->keys[m->body_count] = p->bodies[i].key;
        m->places[m->body_count++] = pose_apply_inverse(p->bodies[i].now, p->position);
    }
}

static void on_tick(void *context, const replay_stage *stage, const replay_follow *follow,
                    const tick_record *t)
{
    judge *j = context;
    if (t->hand >= HANDS_MAX || !make_finders(j, stage))
        return;
    double limit = stage->settings.safety.max_force_n;
    if (stage->devices[t->hand].max_force > 0)
        limit = fmin(limit, stage->devices[t->hand].max_force);
    memory *before = &j->hands[t->hand];
    look_at_numbers(j, t, limit);
    look_at_step(j, t, before);
    /* a jump of the device puts the proxy elsewhere */
    if (t->reasons & REASON_JUMP)
        before->is_known = false;
    if (before->is_known && before->tick + 1 == t->tick)
        look_at_places(j, stage, t, before);
    if (t->tick % (uint64_t)(5 * j->limits->every) == 0)
        look_for_unfelt(j, stage, follow, t);
    remember(before, hand_proxy(stage->hands[t->hand]), t);
}

static void look_at_the_whole(judge *j)
{
    verdict *v = j->out;
    const replay_result *r = &v->replay;
    tick_record end = {.tick = v->ticks};
    if (r->different_ticks > 0)
        blame(j, &end, "%" PRIu64 " ticks differ in the replay; first %" PRIu64 ": %s %s, %s",
              r->different_ticks, r->first.tick, r->first.field, r->first.recorded,
              r->first.computed);
    if (r->has_gap || !r->is_complete || r->ticks == 0)
        blame(j, &end, "the recording is not complete");
    if (r->world_off > 0)
        blame(j, &end, "the world run again is off by %g m", r->world_off);
    if ((double)v->fallback_ticks > j->limits->fallback * (double)v->ticks)
        blame(j, &end,
              "%" PRIu64 " of %" PRIu64 " ticks took a fallback (degraded %" PRIu64
              ", cycling %" PRIu64 ")",
              v->fallback_ticks, v->ticks, v->degraded_ticks, v->cycling_ticks);
}

hr_status judge_recording(const char *path, const judge_limits *limits, verdict *out,
                          hr_error *error)
{
    *out = (verdict){.depth_max = -1, .crossed_max = -1};
    judge j = {.out = out, .limits = limits};
    replay_observer observer = {on_tick, &j};
    replay_options options = {.observer = &observer};
    hr_status status = replay_run(path, &options, &out->replay, error);
    if (status == HR_OK)
        look_at_the_whole(&j);
    for (int i = 0; i < j.finder_count && j.finders; i++)
        outside_destroy(j.finders[i]);
    free(j.finders);
    return status;
}
