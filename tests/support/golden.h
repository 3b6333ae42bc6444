/* Robots that others described, with accelerations that an independent dense solver computed. */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "geometry/model.h"

enum { GOLDEN_COUNT = 3, GOLDEN_JOINTS = 64 };

typedef struct golden {
    model model;
    double q[GOLDEN_JOINTS], qd[GOLDEN_JOINTS], qdd[GOLDEN_JOINTS]; /* all joints free */
    bool is_locked[GOLDEN_JOINTS];                                  /* by body: the half set */
    double qd_half[GOLDEN_JOINTS], qdd_half[GOLDEN_JOINTS];
    double inverse_inertia[6][6]; /* of the last body, operational space, its own frame */
} golden;

golden golden_load(int index);
void golden_free(golden *g);

/* 1e-10 of the largest expected value. */
void golden_assert(const golden *g, const double *actual, const double *expected);

#endif
