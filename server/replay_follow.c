#include "server/replay_follow.h"

#include <stdlib.h>

#include "server/actor.h"

enum { NS_PER_S = 1000000000 };

replay_follow *replay_follow_create(world *w, int hand_count, int world_rate_hz)
{
    replay_follow *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->world = w;
    f->hand_count = hand_count;
    f->period_ns = NS_PER_S / world_rate_hz;
    return f;
}

/* The newest sample of a hand that is not newer than the tick. */
static tool_sample sample_at(const replay_follow *f, int hand, uint64_t tick)
{
    for (uint64_t back = 0; back < FOLLOW_SAMPLES && back <= tick; back++) {
        const tool_sample *s = &f->tools[hand][(tick - back) % FOLLOW_SAMPLES];
        if (s->tick == tick - back)
            return *s;
    }
    return (tool_sample){0};
}

static void step_to(replay_follow *f, int64_t until_ns, uint64_t tick)
{
    tool_sample tools[HANDS_MAX];
    for (int i = 0; i < f->hand_count; i++)
        tools[i] = sample_at(f, i, tick);
    while (f->time_ns < until_ns) {
        int64_t dt_ns = until_ns - f->time_ns;
        dt_ns = dt_ns > f->period_ns ? f->period_ns : dt_ns;
        world_step(f->world, tools, f->hand_count, f->time_ns, (double)dt_ns / NS_PER_S);
        f->time_ns += dt_ns;
    }
}

/* Body keys count from 1. */
static int index_of(const replay_follow *f, const frame_body *b)
{
    int index = (int)b->key - 1;
    return index >= 0 && index < world_body_count(f->world) ? index : -1;
}

static void compare(replay_follow *f, const contact_frame *frame)
{
    for (uint32_t i = 0; i < frame->body_count; i++) {
        actor_body body;
        int index = index_of(f, &frame->bodies[i]);
        if (index < 0)
            continue;
        world_body(f->world, index, &body);
        f->off = fmax(f->off, vec3_distance(body.world_from_body.origin,
                                            frame->bodies[i].world_from_body.origin));
    }
}

void replay_follow_frame(replay_follow *f, const contact_frame *frame)
{
    if (frame->hand >= HANDS_MAX)
        return;
    f->newest[frame->hand] = *frame;
    if (!f->has_started) {
        /* every frame was a step of one period, as far as anybody knows */
        f->time_ns = frame->time_ns - (int64_t)frame->sequence * f->period_ns;
        f->has_started = true;
    }
    step_to(f, frame->time_ns, frame->tool_tick);
    if (f->time_ns == frame->time_ns)
        compare(f, frame);
}

void replay_follow_tool(replay_follow *f, const tool_sample *sample)
{
    if (sample->hand < HANDS_MAX)
        f->tools[sample->hand][sample->tick % FOLLOW_SAMPLES] = *sample;
}

pose replay_follow_pose(const replay_follow *f, int hand, int index, int64_t time_ns)
{
    const contact_frame *frame = &f->newest[hand];
    for (uint32_t i = 0; i < frame->body_count; i++)
        if (index_of(f, &frame->bodies[i]) == index)
            return pose_advance(frame->bodies[i].world_from_body, frame->bodies[i].velocity,
                                frame->bodies[i].acceleration,
                                (double)(time_ns - frame->time_ns) / NS_PER_S);
    actor_body body;
    world_body(f->world, index, &body);
    double dt = f->has_started ? (double)(time_ns - f->time_ns) / NS_PER_S : 0;
    return pose_advance(body.world_from_body, body.velocity, body.acceleration, dt);
}
