/* The emulated Falcon's own geometry: written from the published dimensions in the classical form
 * (three joint angles per leg), independent of devices/falcon/kinematics.c, so that one checks the
 * other. Device frame, metres, radians. */
#ifndef TESTS_EMULATED_FALCON_ARMS_H
#define TESTS_EMULATED_FALCON_ARMS_H

#include "geometry/vec3.h"

/* Arm angles at a grip position; false where it cannot be reached. */
bool arms_angles(vec3 p, double angles[3]);

/* Row i: change of arm angle i per metre of the grip along x, y, z. */
bool arms_jacobian(vec3 p, double rows[3][3]);

/* The force of three arm torques on the grip, by virtual work. */
bool arms_force(vec3 p, const double torque[3], vec3 *force);

/* Counts of an angle: 1280 per turn of the motor, geared 110 : 14.25, zero at 35 degrees. */
int arms_counts(double angle);

#endif
