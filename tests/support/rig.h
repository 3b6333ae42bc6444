/* A hand on a bench: a world, one hand and an imposed tool, in lockstep, without threads or a
 * device driver. What the tests and benches of the rendering share. */
#ifndef TESTS_SUPPORT_RIG_H
#define TESTS_SUPPORT_RIG_H

#include "config/config.h"
#include "config/scene.h"
#include "server/hand.h"
#include "server/world.h"

typedef struct rig {
    config settings;
    device_description device; /* a Falcon's, but not actuated: the path is imposed */
    scene scene;
    world *world;
    hand *hand;
    tick_record record; /* of the last tick; the input half may be spoilt before rig_tick */
    contact_frame frame;
    tool_sample tool;
    int64_t period_ns;
    int world_every; /* servo ticks per world step */
    bool is_world_stopped;
    void (*spoil)(contact_frame *frame); /* what a broken world would do; may be NULL */
} rig;

/* Settings, device and an empty scene, to be changed before rig_start. */
void rig_init(rig *r);

/* Adds a fixed body at the origin, stiffness 1500 N/m, no damping or friction. */
scene_body *rig_body(rig *r, scene_shape kind);

void rig_start(rig *r);
void rig_stop(rig *r);

/* One tick with the device at `position` (base frame), world steps included. */
void rig_tick(rig *r, vec3 position);

/* The same in two halves, for tests that spoil the input: fills r->record's inputs; then runs it.
 */
void rig_prepare(rig *r, vec3 position);
void rig_run(rig *r);

/* Ticks at a place until the gate is open; fails the process if it does not open within 2 s. */
void rig_open_gate(rig *r, vec3 position);

void rig_command(rig *r, servo_command command);

#endif
