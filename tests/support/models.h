/* Articulated models that several tests use. */
#ifndef TESTS_SUPPORT_MODELS_H
#define TESTS_SUPPORT_MODELS_H

#include "tests/test.h"

#include "geometry/model.h"

/* Balls of 0.1 kg and radius 0.03 m hung 0.1 m apart along -z from the origin, hinges along x. */
model models_pendulum(int balls);

/* The same with hinges along y for odd and x for even joints. */
model models_alternating(int balls);

/* A random tree of `joints` joints of the types whose bit (1 << joint_type) is set; a joint hangs
 * at most `reach` links back. floating_base puts a 6-DOF joint first. */
model models_random(test_random *r, int joints, int reach, unsigned types, bool floating_base);

/* Random coordinates, unit quaternions. */
void models_random_coordinates(test_random *r, const model *m, double *q);

enum {
    MODELS_SIMPLE_TYPES = 1u << JOINT_REVOLUTE | 1u << JOINT_PRISMATIC,
    MODELS_ALL_TYPES = 0x7fu & ~(1u << JOINT_FLOATING)
};

#endif
