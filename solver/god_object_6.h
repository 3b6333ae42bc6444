/* A rigid tool as god-object, quasi-static (after Ortega, Redon and Coquillart 2007): the
 * acceleration nearest to the one that the coupling asks for, in the tool's mass metric, that
 * leaves no touching contact; the hand feels the difference. A free tool feels nothing, a tool
 * pushed against a plane exactly the normal force. */
#ifndef SOLVER_GOD_OBJECT_6_H
#define SOLVER_GOD_OBJECT_6_H

#include <stdint.h>

#include "geometry/vec3.h"
#include "solver/qp.h"

enum { GOD_OBJECT_6_CONTACTS = 64, GOD_OBJECT_6_MOVES = 4 };

/* A wrench about the tool's centre, world axes. */
typedef struct tool_wrench {
    vec3 force;  /* N */
    vec3 torque; /* N m */
} tool_wrench;

typedef struct tool_contact {
    uint64_t key;
    vec3 arm;    /* m, from the tool's centre to the touching point, world axes */
    vec3 normal; /* unit, out of the obstacle */
} tool_contact;

typedef struct god_object_6 god_object_6;

/* NULL when out of memory. mass kg; inertia about the centre in the tool's axes, kg m^2. */
god_object_6 *god_object_6_create(double mass, mat3 inertia);
void god_object_6_destroy(god_object_6 *g); /* accepts NULL */

/* acceleration: of the centre and angular. hand: what the contacts do, M (a_c - a_u).
 * Warm from the last call by the contacts' keys. HR_ERR_CAPACITY, HR_ERR_NOT_FINITE; otherwise the
 * tool stays (zero acceleration, the whole wrench is felt) and the status says why. */
HR_RT HR_MUST_USE hr_status god_object_6_accelerate(god_object_6 *g, quat world_from_tool,
                                                    tool_wrench coupling,
                                                    const tool_contact *contacts, int count,
                                                    twist *acceleration, tool_wrench *hand);

/* The first time in 0..1 at which the tool that moves by the displacement from `start` touches
 * something that is not among the contacts, and that contact; 1 where there is none. */
typedef double (*tool_first_contact)(void *world, pose start, twist displacement,
                                     const tool_contact *contacts, int count, tool_contact *out);

typedef struct god_object_6_result {
    pose world_from_tool;
    tool_wrench hand;
    int moves; /* pieces of the way */
    int contact_count;
    tool_contact contacts[GOD_OBJECT_6_CONTACTS]; /* touching at the end */
} god_object_6_result;

/* One tick: accelerate, go until something new is touched, add it, again. The displacement of a
 * piece is what the acceleration reaches from rest in `time`. `contacts` touch at the start.
 * World thread: `first` may take its time. */
HR_MUST_USE hr_status god_object_6_move(god_object_6 *g, pose start, tool_wrench coupling,
                                        double time, const tool_contact *contacts, int count,
                                        tool_first_contact first, void *world,
                                        god_object_6_result *out);

#endif
