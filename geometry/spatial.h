/* Spatial (6-D) vectors and matrices after Featherstone: angular part first.
 * A motion is [angular; linear], a force is [moment; force]. Accelerations are spatial ones: the
 * time derivative of the velocity field, not the acceleration of the frame's origin. */
#ifndef GEOMETRY_SPATIAL_H
#define GEOMETRY_SPATIAL_H

#include "geometry/vec3.h"

typedef struct vec6 {
    double v[6]; /* angular or moment in 0..2, linear or force in 3..5 */
} vec6;

/* Row-major: m[row][column]. */
typedef struct mat6 {
    double m[6][6];
} mat6;

/* A rigid transform with its rotation as a matrix, for code that applies it many times.
 * a_from_b: x_a = rotation x_b + origin. */
typedef struct rigid {
    mat3 rotation;
    vec3 origin; /* m */
} rigid;

HR_RT static inline vec6 vec6_make(vec3 angular, vec3 linear)
{
    return (vec6){{angular.x, angular.y, angular.z, linear.x, linear.y, linear.z}};
}

HR_RT static inline vec3 vec6_angular(vec6 a)
{
    return (vec3){a.v[0], a.v[1], a.v[2]};
}

HR_RT static inline vec3 vec6_linear(vec6 a)
{
    return (vec3){a.v[3], a.v[4], a.v[5]};
}

HR_RT static inline vec6 vec6_add(vec6 a, vec6 b)
{
    for (int i = 0; i < 6; i++)
        a.v[i] += b.v[i];
    return a;
}

HR_RT static inline vec6 vec6_sub(vec6 a, vec6 b)
{
    for (int i = 0; i < 6; i++)
        a.v[i] -= b.v[i];
    return a;
}

HR_RT static inline vec6 vec6_scale(double s, vec6 a)
{
    for (int i = 0; i < 6; i++)
        a.v[i] *= s;
    return a;
}

HR_RT static inline double vec6_dot(vec6 a, vec6 b)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += a.v[i] * b.v[i];
    return sum;
}

/* v x m, motion cross motion. */
HR_RT vec6 vec6_cross_motion(vec6 v, vec6 m);

/* v x* f, motion cross force. */
HR_RT vec6 vec6_cross_force(vec6 v, vec6 f);

HR_RT mat6 mat6_identity(void);
HR_RT vec6 mat6_apply(const mat6 *a, vec6 v);
HR_RT vec6 mat6_apply_transposed(const mat6 *a, vec6 v);
HR_RT void mat6_multiply(const mat6 *a, const mat6 *b, mat6 *out);
HR_RT void mat6_add(const mat6 *a, const mat6 *b, mat6 *out);
HR_RT void mat6_transpose(const mat6 *a, mat6 *out);

/* Inverse of a symmetric positive definite matrix by Cholesky; the result is symmetric to the bit.
 * HR_ERR_SINGULAR leaves *out alone. out may be a. */
HR_RT HR_MUST_USE hr_status mat6_inverse_spd(const mat6 *a, mat6 *out);

/* Inertia about the link frame's origin: mass (kg), centre of mass (m, link frame), rotational
 * inertia about the centre of mass (kg m^2, link axes). */
HR_RT mat6 mat6_inertia(double mass, vec3 centre, mat3 inertia_at_centre);

HR_RT static inline rigid rigid_identity(void)
{
    return (rigid){{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
}

HR_RT static inline vec3 rigid_apply(const rigid *a_from_b, vec3 point_b)
{
    return vec3_add(mat3_apply(a_from_b->rotation, point_b), a_from_b->origin);
}

HR_RT rigid rigid_from_pose(pose a_from_b);
HR_RT pose rigid_to_pose(const rigid *a_from_b);
HR_RT rigid rigid_compose(const rigid *a_from_b, const rigid *b_from_c);
HR_RT rigid rigid_inverse(const rigid *a_from_b);

/* The motion seen from frame a, written in frame b: X v with X of (R, p) = a_from_b. */
HR_RT vec6 rigid_motion_to_b(const rigid *a_from_b, vec6 motion_a);

/* The motion written in frame b, seen from frame a. */
HR_RT vec6 rigid_motion_to_a(const rigid *a_from_b, vec6 motion_b);

/* A force written in frame b, seen from frame a: X^T f. */
HR_RT vec6 rigid_force_to_a(const rigid *a_from_b, vec6 force_b);

/* The 6x6 motion transform X from a to b coordinates. */
HR_RT void rigid_motion_matrix(const rigid *a_from_b, mat6 *b_from_a_motion);

#endif
