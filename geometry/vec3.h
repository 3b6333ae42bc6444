/* Vectors, 3x3 matrices, unit quaternions and rigid poses. Plain values: copy freely, own nothing.
 * SI units. Everything is callable from the servo thread. */
#ifndef GEOMETRY_VEC3_H
#define GEOMETRY_VEC3_H

#include <math.h>
#include <stdbool.h>

#include "geometry/base.h"

typedef struct vec3 {
    double x, y, z;
} vec3;

/* Row-major: m[row][column]. The columns of a rotation are the axes of the rotated frame. */
typedef struct mat3 {
    double m[3][3];
} mat3;

/* w + xi + yj + zk; a rotation has unit length. */
typedef struct quat {
    double w, x, y, z;
} quat;

/* a_from_b maps coordinates in frame b to coordinates in frame a. */
typedef struct pose {
    quat rotation; /* unit length */
    vec3 origin;   /* m, origin of b seen in a */
} pose;

HR_RT static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

HR_RT static inline vec3 vec3_sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

HR_RT static inline vec3 vec3_scale(double s, vec3 a)
{
    return (vec3){s * a.x, s * a.y, s * a.z};
}

HR_RT static inline vec3 vec3_negate(vec3 a)
{
    return (vec3){-a.x, -a.y, -a.z};
}

/* a + s b */
HR_RT static inline vec3 vec3_add_scaled(vec3 a, double s, vec3 b)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/* (1 - t) a + t b */
HR_RT static inline vec3 vec3_lerp(vec3 a, vec3 b, double t)
{
    return (vec3){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

HR_RT static inline double vec3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

HR_RT static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

HR_RT static inline double vec3_length_squared(vec3 a)
{
    return vec3_dot(a, a);
}

HR_RT static inline double vec3_length(vec3 a)
{
    return sqrt(vec3_dot(a, a));
}

HR_RT static inline double vec3_distance(vec3 a, vec3 b)
{
    return vec3_length(vec3_sub(a, b));
}

HR_RT static inline bool vec3_is_finite(vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* Unit vector along a, or fallback where a is too short to have a direction. */
HR_RT static inline vec3 vec3_normalize_or(vec3 a, vec3 fallback)
{
    double length = vec3_length(a);
    return length > 1e-300 ? vec3_scale(1.0 / length, a) : fallback;
}

/* Shortens v to at most limit; leaves the direction alone. limit >= 0. */
HR_RT static inline vec3 vec3_clamp_length(vec3 v, double limit)
{
    double length = vec3_length(v);
    return length > limit ? vec3_scale(limit / length, v) : v;
}

/* The part of v at right angles to the unit vector n. */
HR_RT static inline vec3 vec3_reject(vec3 v, vec3 n)
{
    return vec3_add_scaled(v, -vec3_dot(v, n), n);
}

/* Some unit vector at right angles to the unit vector n; always the same one for the same n. */
HR_RT vec3 vec3_any_perpendicular(vec3 n);

HR_RT static inline mat3 mat3_identity(void)
{
    return (mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

HR_RT static inline mat3 mat3_from_columns(vec3 a, vec3 b, vec3 c)
{
    return (mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

HR_RT static inline vec3 mat3_column(mat3 a, int column)
{
    return (vec3){a.m[0][column], a.m[1][column], a.m[2][column]};
}

HR_RT static inline vec3 mat3_apply(mat3 a, vec3 v)
{
    return (vec3){a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                  a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                  a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

/* transpose(a) v */
HR_RT static inline vec3 mat3_apply_transposed(mat3 a, vec3 v)
{
    return (vec3){a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                  a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                  a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z};
}

HR_RT mat3 mat3_multiply(mat3 a, mat3 b);
HR_RT mat3 mat3_transpose(mat3 a);
HR_RT mat3 mat3_add(mat3 a, mat3 b);
HR_RT mat3 mat3_scale(double s, mat3 a);
HR_RT mat3 mat3_outer(vec3 a, vec3 b); /* a b^T */
HR_RT mat3 mat3_skew(vec3 a);          /* mat3_skew(a) b = a x b */
HR_RT double mat3_determinant(mat3 a);

/* HR_ERR_SINGULAR leaves *out alone. */
HR_RT HR_MUST_USE hr_status mat3_inverse(mat3 a, mat3 *out);

/* A right-handed frame along the eigenvectors of a symmetric matrix (its columns), and the
 * eigenvalues in the same order. */
mat3 mat3_principal_axes(mat3 symmetric, vec3 *values);

HR_RT static inline quat quat_identity(void)
{
    return (quat){1, 0, 0, 0};
}

HR_RT static inline quat quat_conjugate(quat q)
{
    return (quat){q.w, -q.x, -q.y, -q.z};
}

HR_RT static inline quat quat_multiply(quat a, quat b)
{
    return (quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

HR_RT static inline vec3 quat_rotate(quat q, vec3 v)
{
    vec3 u = {q.x, q.y, q.z};
    vec3 t = vec3_scale(2.0, vec3_cross(u, v));
    return vec3_add(vec3_add_scaled(v, q.w, t), vec3_cross(u, t));
}

/* Unit length; the identity for a quaternion too short to have a direction. */
HR_RT quat quat_normalize(quat q);

/* Rotation by |r| rad about r; the exponential map. */
HR_RT quat quat_from_rotation_vector(vec3 r);

/* The inverse: |r| <= pi. */
HR_RT vec3 quat_to_rotation_vector(quat q);
HR_RT mat3 quat_to_mat3(quat q);
HR_RT quat quat_from_mat3(mat3 rotation);

HR_RT static inline pose pose_identity(void)
{
    return (pose){{1, 0, 0, 0}, {0, 0, 0}};
}

HR_RT static inline vec3 pose_apply(pose a_from_b, vec3 point_b)
{
    return vec3_add(quat_rotate(a_from_b.rotation, point_b), a_from_b.origin);
}

HR_RT static inline vec3 pose_apply_inverse(pose a_from_b, vec3 point_a)
{
    return quat_rotate(quat_conjugate(a_from_b.rotation), vec3_sub(point_a, a_from_b.origin));
}

/* Directions rotate but do not move. */
HR_RT static inline vec3 pose_rotate(pose a_from_b, vec3 direction_b)
{
    return quat_rotate(a_from_b.rotation, direction_b);
}

HR_RT static inline vec3 pose_rotate_inverse(pose a_from_b, vec3 direction_a)
{
    return quat_rotate(quat_conjugate(a_from_b.rotation), direction_a);
}

HR_RT static inline pose pose_compose(pose a_from_b, pose b_from_c)
{
    return (pose){quat_multiply(a_from_b.rotation, b_from_c.rotation),
                  pose_apply(a_from_b, b_from_c.origin)};
}

HR_RT static inline pose pose_inverse(pose a_from_b)
{
    quat back = quat_conjugate(a_from_b.rotation);
    return (pose){back, quat_rotate(back, vec3_negate(a_from_b.origin))};
}

HR_RT bool pose_is_finite(pose p);

/* Velocity of a rigid body: linear velocity of its frame's origin, and angular velocity, both in
 * the axes of the frame that observes (the world unless the name says otherwise). */
typedef struct twist {
    vec3 linear;  /* m/s */
    vec3 angular; /* rad/s */
} twist;

/* Velocity of the material point now at `point`, given in the observer's frame. */
HR_RT static inline vec3 twist_at(twist t, pose world_from_body, vec3 point)
{
    return vec3_add(t.linear, vec3_cross(t.angular, vec3_sub(point, world_from_body.origin)));
}

/* The pose after dt of constant linear and angular acceleration (both in world axes). */
HR_RT pose pose_advance(pose world_from_body, twist velocity, twist acceleration, double dt);

#endif
