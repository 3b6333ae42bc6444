/* How a joint moves from its coordinates at t = 0 to those at t = 1: every joint is a constant,
 * times a rotation about a fixed axis and a slide that are both linear in t, times a constant. The
 * guarantees of collision detection hold for this motion, so a simulator that stops at the time of
 * contact takes its coordinates from here. */
#ifndef COLLIDE_JOINT_PATH_H
#define COLLIDE_JOINT_PATH_H

#include "geometry/model.h"
#include "geometry/taylor.h"

typedef struct joint_path {
    rigid before;           /* parent_from_ the frame in which the joint moves */
    rigid after;            /* from which the child hangs */
    vec3 axis;              /* unit */
    double angle, rate;     /* rad at t = 0, rad per step; never wrapped */
    vec3 slide, slide_rate; /* m at t = 0, m per step */
    bool has_after;         /* after is not the identity */
    bool is_moving;
} joint_path;

/* q0 and q1 are the coordinates of the joint alone. A floating joint moves the point `pivot` of its
 * child frame on a straight line: the centre of the link keeps what it sweeps small. Angles of
 * revolute joints are taken as they are (three turns are three turns); spherical and floating ones
 * turn the short way, at most pi. HR_ERR_NOT_FINITE leaves *out alone. */
HR_RT HR_MUST_USE hr_status joint_path_make(const model_joint *joint, pose parent_from_joint,
                                            const double *q0, const double *q1, vec3 pivot,
                                            joint_path *out);

/* The joint at rest at q. */
HR_RT HR_MUST_USE hr_status joint_path_rest(const model_joint *joint, pose parent_from_joint,
                                            const double *q, joint_path *out);

/* parent_from_child at the time t. */
HR_RT rigid joint_path_at(const joint_path *path, double t);

/* parent_from_child on |t - middle| <= half. */
HR_RT void joint_path_taylor(const joint_path *path, double middle, double half, taylor *out);
HR_RT void joint_path_interval(const joint_path *path, double middle, double half,
                               interval_rigid *out);

/* Coordinates of the joint at the time t of the same motion. */
HR_RT void joint_path_coordinates(const model_joint *joint, const joint_path *path, vec3 pivot,
                                  const double *q0, const double *q1, double t, double *q);

#endif
