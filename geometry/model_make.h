/* Models made by the program itself: a jointed wooden man and a pendulum of balls. For scenes,
 * benchmarks and whoever wants a mechanism without a file. */
#ifndef GEOMETRY_MODEL_MAKE_H
#define GEOMETRY_MODEL_MAKE_H

#include "geometry/model.h"

/* 29 links (a stand, a pelvis, limbs) and 16 008 triangles, 1.1 m tall from the pelvis pin, 75 kg
 * unless scaled; spherical spine, neck, shoulders, wrists, hips and ankles, hinges elsewhere. z is
 * up, x is where he looks. Neighbouring links do not touch. */
typedef struct wooden_man_options {
    bool is_floating; /* the pelvis hangs free (59 degrees of freedom) instead of on its pin (54) */
    double scale;     /* of all lengths; 0: 1 */
    double damping;   /* of every joint but a floating one, N m s/rad */
} wooden_man_options;

HR_MUST_USE hr_status model_make_wooden_man(wooden_man_options options, model *out);

typedef enum pendulum_joints {
    PENDULUM_PLANE,       /* all hinges along x */
    PENDULUM_ALTERNATING, /* hinges along y (odd joints) and x (even joints) */
    PENDULUM_SPHERICAL
} pendulum_joints;

/* Balls of 0.1 kg hung 0.1 m apart along -z from a mount at the origin. With 30 balls 16 000
 * triangles. */
typedef struct pendulum_options {
    int balls; /* 0: 30 */
    pendulum_joints joints;
    double damping; /* of every joint, N m s/rad */
    double radius;  /* of a ball, m; 0: 0.03. Below 0.05, where neighbours would touch */
} pendulum_options;

HR_MUST_USE hr_status model_make_pendulum(pendulum_options options, model *out);

/* The maker of that name ("wooden-man", "wooden-man-free", "pendulum", "pendulum-spherical") with
 * its defaults; the spherical one is a string of beads with radius 0.045 m, which no finger slips
 * through. HR_ERR_NOT_FOUND for any other name. */
HR_MUST_USE hr_status model_make(const char *name, model *out);

#endif
