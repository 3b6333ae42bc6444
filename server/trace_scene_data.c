#include "server/trace_scene_data.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/proxy.h"
#include "server/replay.h"

enum { PICTURE_DETAIL = 110 };

static way_point point_of(const tick_record *t, double time)
{
    return (way_point){.time = time,
                       .tool = t->tool,
                       .proxy = t->proxy,
                       .force = t->force,
                       .normal = t->contact_normal,
                       .is_touching = t->contact_count > 0};
}

/* --- the ways --------------------------------------------------------------------------------- */

/* Where no times are asked for: the strongest moment of each third that has a contact. */
typedef struct strongest {
    double force[3], time[3];
} strongest;

static void look_for_strongest(strongest *best, const scene_data *d, const way_point *p)
{
    int part = (int)(3 * (p->time - d->from) / (d->until - d->from));
    part = part < 0 ? 0 : part > 2 ? 2 : part;
    double force = vec3_length(p->force);
    if (p->is_touching && force > best->force[part]) {
        best->force[part] = force;
        best->time[part] = p->time;
    }
}

static void choose_times(scene_data *d, const strongest *best)
{
    for (int i = 0; i < 3; i++)
        if (best->force[i] > 0)
            d->snapshots[d->snapshot_count++].time = best->time[i];
    if (d->snapshot_count == 0)
        d->snapshots[d->snapshot_count++].time = 0.5 * (d->from + d->until);
}

static hr_status gather_ways(const char *path, const trace_summary *s, scene_data *d,
                             strongest *best, hr_error *error)
{
    trace_reader *r;
    hr_status status = trace_reader_open(path, &r, error);
    if (status != HR_OK)
        return status;
    double share = s->duration_s > 0 ? (d->until - d->from) / s->duration_s : 1;
    uint64_t every = (uint64_t)(share * (double)s->ticks / (SCENE_WAY_MAX - 2)) + 1;
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (m->kind != TRACE_TICK || (int)m->tick.hand >= d->hand_count)
            continue;
        double time = 1e-9 * (double)(m->tick.time_ns - s->first_ns);
        hand_way *way = &d->ways[m->tick.hand];
        if (time < d->from || time > d->until)
            continue;
        way_point p = point_of(&m->tick, time);
        look_for_strongest(best, d, &p);
        if (m->tick.tick % every == 0 && way->count < SCENE_WAY_MAX)
            way->points[way->count++] = p;
    }
    trace_reader_close(r);
    return HR_OK;
}

/* --- the snapshots ---------------------------------------------------------------------------- */

typedef struct camera {
    scene_data *data;
    int64_t first_ns;
    bool has_failed; /* memory */
} camera;

static void take(camera *c, snapshot *shot, const replay_stage *stage, const replay_follow *follow,
                 const tick_record *t)
{
    scene_data *d = c->data;
    int number = (int)t->hand;
    double time = 1e-9 * (double)(t->time_ns - c->first_ns);
    if (!shot->poses)
        shot->poses = calloc((size_t)d->body_count + 1, sizeof *shot->poses);
    if (!shot->poses) {
        c->has_failed = true;
        return;
    }
    /* poses of the first hand; others replace those of the bodies that they touch */
    uint32_t key = (uint32_t)(t->contact_key >> 32);
    for (int i = 0; i < d->body_count; i++)
        if (!shot->is_taken || key == (uint32_t)i + 1)
            shot->poses[i] = replay_follow_pose(follow, number, i, t->time_ns);
    /* near the hand the bodies are where the hand feels them */
    const proxy *p = hand_proxy(stage->hands[number]);
    for (int i = 0; i < p->body_count; i++) {
        int index = (int)p->bodies[i].key - 1;
        if (index >= 0 && index < d->body_count)
            shot->poses[index] = p->bodies[i].now;
    }
    shot->is_taken = true;
    shot->has_hand[number] = true;
    shot->hands[number] = point_of(t, time);
    if (t->contact_count > 0 && key > 0 && (int)key <= d->body_count) {
        shot->touched = key;
        snprintf(shot->name, sizeof shot->name, "%s", world_body_name(stage->world, (int)key - 1));
    }
}

static void on_tick(void *context, const replay_stage *stage, const replay_follow *follow,
                    const tick_record *t)
{
    camera *c = context;
    scene_data *d = c->data;
    if (!d->skins && !c->has_failed) {
        d->body_count = world_body_count(stage->world);
        d->tool_radius = stage->settings.coupling.tool_radius_m;
        d->skins = scene_skins_make(stage->world, PICTURE_DETAIL);
        c->has_failed = !d->skins;
    }
    if ((int)t->hand >= d->hand_count || c->has_failed)
        return;
    double time = 1e-9 * (double)(t->time_ns - c->first_ns);
    for (int i = 0; i < d->snapshot_count; i++)
        if (time >= d->snapshots[i].time && !d->snapshots[i].has_hand[t->hand])
            take(c, &d->snapshots[i], stage, follow, t);
}

static hr_status take_snapshots(const char *path, const trace_summary *s, scene_data *d,
                                hr_error *error)
{
    camera c = {.data = d, .first_ns = s->first_ns};
    replay_observer observer = {on_tick, &c};
    replay_options options = {.observer = &observer};
    replay_result result;
    hr_status status = replay_run(path, &options, &result, error);
    if (status != HR_OK)
        return status;
    d->off = result.world_off;
    if (c.has_failed)
        return error_set(error, HR_ERR_MEMORY, "%s: no memory for the pictures", path);
    for (int i = 0; i < d->snapshot_count; i++)
        if (!d->snapshots[i].is_taken)
            return error_set(error, HR_ERR_ARGUMENT, "%s: expected times before %.3f s, found %g",
                             path, s->duration_s, d->snapshots[i].time);
    return HR_OK;
}

scene_data *scene_data_gather(const char *path, const trace_summary *s,
                              const trace_scene_options *o, hr_error *error)
{
    scene_data *d = calloc(1, sizeof *d);
    if (d)
        d->ways = calloc(HANDS_MAX, sizeof *d->ways);
    if (!d || !d->ways) {
        free(d);
        error_set(error, HR_ERR_MEMORY, "%s: no memory for the pictures", path);
        return NULL;
    }
    strongest best = {{0}, {0}};
    d->hand_count = s->hand_count;
    d->from = o->from;
    d->until = o->until > o->from ? fmin(o->until, s->duration_s) : s->duration_s;
    hr_status status = gather_ways(path, s, d, &best, error);
    for (int i = 0; i < o->time_count; i++)
        d->snapshots[d->snapshot_count++].time = o->times[i];
    if (o->time_count == 0)
        choose_times(d, &best);
    if (status == HR_OK)
        status = take_snapshots(path, s, d, error);
    if (status == HR_OK)
        return d;
    scene_data_free(d);
    return NULL;
}

void scene_data_free(scene_data *d)
{
    if (!d)
        return;
    for (int i = 0; i < TRACE_SCENE_TIMES_MAX; i++)
        free(d->snapshots[i].poses);
    scene_skins_destroy(d->skins);
    free(d->ways);
    free(d);
}
