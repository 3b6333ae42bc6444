/* Delta kinematics of the Novint Falcon: three driven arms, three parallelograms, one grip that
 * only translates. Metres, radians. Everything is callable from the servo thread.
 *
 * Frame of the device ("falcon"): x right, y up, z out of the device toward the operator, origin in
 * the base plane. Arms in the order of the packets: top, right, left.
 *
 * With q, U, w the leg coordinates of arm i at grip position p and K(q) = d + e + sqrt(b^2 - q^2),
 * the loop of arm i closes where
 *     g_i(p, theta_i) = (U - a cos theta_i)^2 + (w - a sin theta_i)^2 - K(q)^2 = 0.
 * Forward kinematics is Newton's method on g for fixed theta: no trigonometry in the loop, and the
 * second derivatives are constant but for one term, which is what makes its bound short (see
 * falcon_forward). */
#ifndef DEVICES_FALCON_KINEMATICS_H
#define DEVICES_FALCON_KINEMATICS_H

#include <stdint.h>

#include "geometry/vec3.h"

enum { FALCON_ARMS = 3, FALCON_MOTOR_MAX = 4095 };

/* Where the handle may be used, m, falcon frame: a cylinder about the z axis whose far end is a
 * flat cone, 0.170 on the axis and 0.160 at the rim. Beyond it the arms come near their stretched
 * position: at 45 mm from the axis z = 0.170 cannot be reached at all in a quarter of the
 * directions. */
#define FALCON_Z_MIN      0.075
#define FALCON_Z_MAX      0.170
#define FALCON_Z_MAX_RIM  0.160
#define FALCON_RADIUS_MAX 0.045

/* Middle of the largest sphere of 40 mm radius inside it; the origin of the base frame. */
#define FALCON_CENTRE_Z 0.120

/* Length of one arm's link chain; the letters are those of the loop equation. */
typedef struct falcon_geometry {
    double a;          /* m, driven arm */
    double b;          /* m, parallelogram */
    double d_plus_e;   /* m, joint offsets at both ends of the parallelogram */
    double u_offset;   /* m, c - r: end effector minus base, along the arm */
    double v_offset;   /* m, f - s: the same across the arm */
    double cos_phi[3]; /* directions of the arms */
    double sin_phi[3];
    double radians_per_count; /* arm angle per encoder count */
    double angle_at_zero;     /* rad, arm angle at zero counts */
} falcon_geometry;

/* The published dimensions: arms at 105, -15 and -135 degrees, 1280 counts per turn of the motor,
 * capstan 110 : 14.25, 35 degrees at zero counts. */
falcon_geometry falcon_geometry_default(void);

typedef struct falcon_angles {
    double arm[3]; /* rad */
} falcon_angles;

/* HR_ERR_INFEASIBLE leaves *out alone: an arm cannot reach p. */
HR_RT HR_MUST_USE hr_status falcon_inverse(const falcon_geometry *g, vec3 p, falcon_angles *out);

/* The grip position from the arm angles, by Newton from `near`, the last known position.
 *
 * Bound. Let p* be the solution, J the derivative of (g_1, g_2, g_3) by p at p*, beta >= |J^-1| and
 * L a Lipschitz constant of that derivative. By the local convergence theorem of Newton's method
 * (Dennis and Schnabel, Numerical Methods for Unconstrained Optimization, theorem 5.2.1, with its
 * proof's constants) an error e_k < 2 / (3 beta L) shrinks as
 *     e_{k+1} <= beta L e_k^2 / (2 (1 - beta L e_k)).
 * Row i of the second derivative is diag(2, 2 (1 + (d+e) b^2 / S^3), 2) in leg axes, with
 * S = sqrt(b^2 - q^2); over the workspace beta L <= FALCON_NEWTON_BETA_L, which
 * tests/test_falcon_kinematics.c establishes. From FALCON_NEWTON_START away, four steps therefore
 * leave less than 1e-12 m; FALCON_NEWTON_STEPS adds two for rounding and the workspace's margin.
 * 5 mm is what a hand at 5 m/s covers in a millisecond.
 *
 * From farther away, or where the steps did not settle, the angles are followed from the middle of
 * the workspace in at most FALCON_WALK_STEPS small moves, each of which is within the bound; so the
 * cost is never more than (FALCON_WALK_STEPS + 1) * FALCON_NEWTON_STEPS Newton steps.
 * HR_ERR_MAX_ITER: no position fits these angles; *out is untouched. */
enum { FALCON_NEWTON_STEPS = 6, FALCON_WALK_STEPS = 64 };
#define FALCON_NEWTON_START  0.005
#define FALCON_NEWTON_BETA_L 66.0
HR_RT HR_MUST_USE hr_status falcon_forward(const falcon_geometry *g, const falcon_angles *angles,
                                           vec3 near, vec3 *out);

/* The same, and how many Newton steps it took. */
HR_RT HR_MUST_USE hr_status falcon_forward_counted(const falcon_geometry *g,
                                                   const falcon_angles *angles, vec3 near,
                                                   vec3 *out, int *steps);

/* Row i is d theta_i / d p. HR_ERR_SINGULAR where an arm is stretched; *out is untouched then. */
HR_RT HR_MUST_USE hr_status falcon_jacobian(const falcon_geometry *g, vec3 p,
                                            const falcon_angles *angles, mat3 *out);

/* Derivative of the loop equations by p at fixed angles, row i for arm i; for the proof above. */
HR_RT mat3 falcon_loop_derivative(const falcon_geometry *g, vec3 p, const falcon_angles *angles);

/* Encoder counts and back. Counts are clamped to 16 bit. */
HR_RT void falcon_counts_from_angles(const falcon_geometry *g, const falcon_angles *angles,
                                     int16_t counts[3]);
HR_RT falcon_angles falcon_angles_from_counts(const falcon_geometry *g, const int16_t counts[3]);

/* What one motor unit is worth; the published 10 000 units per N m is empirical, so it is a
 * calibration value of each device, arm by arm. */
typedef struct falcon_motors {
    double units_per_newton_metre[3]; /* > 0 */
} falcon_motors;

falcon_motors falcon_motors_default(void);

/* Motor values that make the grip push with `force`: J^T tau = force, value = -units tau. Where a
 * value would leave +-4095 all three are scaled by one factor, so that the direction is kept, and
 * *is_saturated is set. A force that is not finite gives zeros and HR_ERR_NOT_FINITE. */
HR_RT HR_MUST_USE hr_status falcon_motors_from_force(const falcon_motors *m, mat3 jacobian,
                                                     vec3 force, int16_t values[3],
                                                     bool *is_saturated);
HR_RT vec3 falcon_force_from_motors(const falcon_motors *m, mat3 jacobian, const int16_t values[3]);

/* Arm torques, N m, that motor values make. */
HR_RT vec3 falcon_torque_from_motors(const falcon_motors *m, const int16_t values[3]);

/* The base frame of device.h: x toward the operator, y right, z up, origin at height centre_z of
 * the device frame. Positions move, directions only turn. */
HR_RT static inline vec3 falcon_to_base_direction(vec3 v)
{
    return (vec3){v.z, v.x, v.y};
}
HR_RT static inline vec3 falcon_from_base_direction(vec3 v)
{
    return (vec3){v.y, v.z, v.x};
}
HR_RT static inline vec3 falcon_to_base(vec3 p, double centre_z)
{
    return (vec3){p.z - centre_z, p.x, p.y};
}
HR_RT static inline vec3 falcon_from_base(vec3 p, double centre_z)
{
    return (vec3){p.y, p.z, p.x + centre_z};
}

/* p itself inside the workspace, else a point of its border: first the radius is cut, then z. */
HR_RT vec3 falcon_clamp_to_workspace(vec3 p);

#endif
