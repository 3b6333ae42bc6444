#include "tests/support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shipped default's values, said here again so that a change there does not move the tests. */
static void fill_settings(config *c)
{
    *c = (config){
        .servo = {.rate_hz = 1000, .overrun_reduce = 3, .overrun_fault_s = 0.010},
        .world = {.rate_hz = 500,
                  .stale_fade_s = 0.050,
                  .stale_zero_s = 0.200,
                  .near_distance_m = 0.020},
        .coupling = {.stiffness_n_per_m = 3000,
                     .damping_n_s_per_m = 0,
                     .scale = 1,
                     .moves_bodies = true},
        .safety = {.max_force_n = 8,
                   .max_slew_n_per_s = 4000,
                   .max_speed_m_per_s = 1.5,
                   .workspace_margin_m = 0.005,
                   .startup_ramp_s = 0.25,
                   .startup_clear_s = 0.1,
                   .passivity_damping_max_n_s_per_m = 12,
                   .device_stale_fade_s = 0.005,
                   .device_stale_zero_s = 0.020,
                   .client_hold_s = 0.050,
                   .client_fade_s = 0.050,
                   .jump_speed_m_per_s = 4},
        .hand = {.grab_button = -1},
        .device_count = 1,
    };
}

void rig_init(rig *r)
{
    *r = (rig){0};
    fill_settings(&r->settings);
    r->device = (device_description){.max_force = 8,
                                     .peak_force = 10,
                                     .max_stiffness = 3000,
                                     .max_damping = 20,
                                     .workspace_radius = 0.04,
                                     .position_resolution = 1e-7,
                                     .native_rate_hz = 1000,
                                     .senses_position = true};
    r->scene.tool_radius_m = -1;
    snprintf(r->scene.file, sizeof r->scene.file, "rig");
    r->period_ns = 1000000;
    r->world_every = 2;
}

scene_body *rig_body(rig *r, scene_shape kind)
{
    scene_body *b = &r->scene.bodies[r->scene.body_count++];
    *b = (scene_body){.shape = kind, .world_from_body = pose_identity(), .scale = 1};
    b->material.stiffness_n_per_m = 1500;
    snprintf(b->name, sizeof b->name, "body-%d", r->scene.body_count);
    return b;
}

void rig_start(rig *r)
{
    hr_error error = {{0}};
    if (world_create(&r->scene, &r->settings, &r->world, &error) != HR_OK) {
        fprintf(stderr, "rig: %s\n", error.text);
        exit(1);
    }
    int count;
    const shape *shapes = world_shapes(r->world, &count);
    r->hand = hand_create(&r->settings, 0, &r->device, shapes, count);
    if (!r->hand)
        exit(1);
    r->record.sample.rotation = quat_identity();
    r->record.sample.valid = DEVICE_HAS_POSITION;
    r->record.sample.flags = DEVICE_IS_HOMED | DEVICE_IS_ENABLED;
    r->record.time_ns = -r->period_ns;
}

void rig_stop(rig *r)
{
    hand_destroy(r->hand);
    world_destroy(r->world);
    r->hand = NULL;
    r->world = NULL;
}

void rig_prepare(rig *r, vec3 position)
{
    tick_record *t = &r->record;
    t->tick++;
    t->time_ns += r->period_ns;
    t->elapsed_ns = r->period_ns;
    t->missed_periods = 0;
    t->read_status = t->write_status = HR_OK;
    t->sample.position = position;
    t->sample.time_ns = t->time_ns;
    t->sample.sequence++;
    if (t->tick == 1)
        r->tool = (tool_sample){.tool = position, .proxy = position};
    if (!r->is_world_stopped && t->tick % (uint64_t)r->world_every == 1 % r->world_every) {
        /* The frame for this tick was made from what the hand said in the tick before. */
        double dt = (double)r->world_every * 1e-9 * (double)r->period_ns;
        int64_t step_ns = r->world_every * r->period_ns;
        world_step(r->world, &r->tool, 1, t->time_ns - step_ns, dt);
        world_frame(r->world, 0, &r->frame);
        if (r->spoil)
            r->spoil(&r->frame);
        hand_frame(r->hand, &r->frame);
    }
}

void rig_run(rig *r)
{
    hand_tick(r->hand, &r->record);
    hand_tool(r->hand, &r->record, &r->tool);
}

void rig_tick(rig *r, vec3 position)
{
    rig_prepare(r, position);
    rig_run(r);
}

void rig_open_gate(rig *r, vec3 position)
{
    for (int i = 0; i < 2000 && r->record.state != SERVO_RUNNING; i++)
        rig_tick(r, position);
    if (r->record.state == SERVO_RUNNING)
        return;
    fprintf(stderr, "rig: the gate stays shut: state %u, reasons 0x%x\n", r->record.state,
            r->record.reasons);
    exit(1);
}

void rig_command(rig *r, servo_command command)
{
    command.hand = HANDS_MAX;
    hand_command(r->hand, &command);
}
