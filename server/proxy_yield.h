/* How a pushed body gives way between frames. The world knows what a hand does only up to the tool
 * sample that a frame is made from; what the hand has pushed since then the servo adds by itself:
 *
 *     slip velocity  v += (trust W F - a_push) dt,      slip  s += v dt,
 *
 * with W the effective inverse mass at the contact and a_push the part of the frame's acceleration
 * that comes from the pushes of its step, which the frame's own motion goes on with. The next frame
 * holds part of it: the slip is computed anew from the pushes that it has not seen, and what is
 * left of the difference fades like any other correction. A light body under a 60 Hz world then
 * feels as under a 1000 Hz one.
 *
 * A body that does not move as its inverse mass says (it rests on another, or a joint is at its
 * end) is found out: `trust` is how much of the foretold change of velocity the last frames showed.
 */
#ifndef SERVER_PROXY_YIELD_H
#define SERVER_PROXY_YIELD_H

#include <stdint.h>

#include "geometry/vec3.h"

enum { PUSHES_MAX = 256 }; /* 64 ms at 4 kHz, 256 ms at 1 kHz */

/* What one tick pushed. */
typedef struct tick_push {
    uint64_t tick;
    uint32_t key; /* of the body; 0: none */
    uint32_t reserved;
    double dt;  /* s */
    vec3 force; /* N, world, on the body */
} tick_push;

/* The pushes of the last ticks; {0} is empty. */
typedef struct push_log {
    uint64_t count; /* ever noted; the newest is pushes[(count - 1) % PUSHES_MAX] */
    tick_push pushes[PUSHES_MAX];
} push_log;

HR_RT void push_log_note(push_log *log, uint64_t tick, uint32_t key, vec3 force, double dt);

typedef struct body_yield {
    vec3 slip;             /* m, world: added to the pose that the frame foretells */
    vec3 slip_velocity;    /* m/s */
    vec3 foreseen;         /* m/s^2, the part of the frame's acceleration that pushes made */
    double trust;          /* 0..1 */
    bool has_frame;        /* the fields below are of a frame */
    uint64_t tool_tick;    /* newest push that frame has seen */
    vec3 velocity;         /* m/s, of the body at the point of the push, in that frame */
    vec3 foretold, seen;   /* m/s, change of velocity by the push, up to that frame */
    double moment, weight; /* sums of foretold * seen and foretold^2 */
} body_yield;

HR_RT body_yield body_yield_new(void);

/* A frame that has seen the pushes up to tool_tick. Velocity and acceleration: of the body at the
 * place where it is pushed; inverse_mass there; stiffness: of the contact, which bounds how light a
 * body may be. */
typedef struct yield_frame {
    uint32_t key;
    uint64_t tool_tick;
    vec3 velocity, acceleration;
    mat3 inverse_mass;
    double stiffness;
} yield_frame;

HR_RT void body_yield_frame(body_yield *y, const push_log *log, const yield_frame *frame);

/* From this tick to the next, under the newest push of the log. */
HR_RT void body_yield_step(body_yield *y, const push_log *log, uint32_t key, mat3 inverse_mass,
                           double stiffness, double dt);

#endif
