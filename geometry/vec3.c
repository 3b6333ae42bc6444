#include "geometry/vec3.h"

HR_RT vec3 vec3_any_perpendicular(vec3 n)
{
    double ax = fabs(n.x);
    double ay = fabs(n.y);
    double az = fabs(n.z);
    vec3 axis = {0, 0, 1};
    if (ax <= ay && ax <= az)
        axis = (vec3){1, 0, 0};
    else if (ay <= az)
        axis = (vec3){0, 1, 0};
    return vec3_normalize_or(vec3_cross(n, axis), (vec3){1, 0, 0});
}

HR_RT mat3 mat3_multiply(mat3 a, mat3 b)
{
    mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

HR_RT mat3 mat3_transpose(mat3 a)
{
    return mat3_from_columns((vec3){a.m[0][0], a.m[0][1], a.m[0][2]},
                             (vec3){a.m[1][0], a.m[1][1], a.m[1][2]},
                             (vec3){a.m[2][0], a.m[2][1], a.m[2][2]});
}

HR_RT mat3 mat3_add(mat3 a, mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] += b.m[i][j];
    return a;
}

HR_RT mat3 mat3_scale(double s, mat3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] *= s;
    return a;
}

HR_RT mat3 mat3_outer(vec3 a, vec3 b)
{
    return mat3_from_columns(vec3_scale(b.x, a), vec3_scale(b.y, a), vec3_scale(b.z, a));
}

HR_RT mat3 mat3_skew(vec3 a)
{
    return (mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

HR_RT double mat3_determinant(mat3 a)
{
    return vec3_dot(mat3_column(a, 0), vec3_cross(mat3_column(a, 1), mat3_column(a, 2)));
}

HR_RT hr_status mat3_inverse(mat3 a, mat3 *out)
{
    vec3 c0 = mat3_column(a, 0);
    vec3 c1 = mat3_column(a, 1);
    vec3 c2 = mat3_column(a, 2);
    double det = vec3_dot(c0, vec3_cross(c1, c2));
    if (!(fabs(det) > 0.0) || !isfinite(1.0 / det))
        return HR_ERR_SINGULAR;

    /* The rows of the inverse are the cross products of the columns, over the determinant. */
    *out = mat3_transpose(mat3_from_columns(vec3_scale(1.0 / det, vec3_cross(c1, c2)),
                                            vec3_scale(1.0 / det, vec3_cross(c2, c0)),
                                            vec3_scale(1.0 / det, vec3_cross(c0, c1))));
    return HR_OK;
}

HR_RT quat quat_normalize(quat q)
{
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 1e-300))
        return quat_identity();
    double s = 1.0 / length;
    return (quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

HR_RT quat quat_from_rotation_vector(vec3 r)
{
    double angle = vec3_length(r);
    double half = 0.5 * angle;
    /* sin(half)/angle, by its series where the quotient would lose digits */
    double s = angle > 1e-8 ? sin(half) / angle : 0.5 - angle * angle / 48.0;
    return (quat){cos(half), s * r.x, s * r.y, s * r.z};
}

HR_RT vec3 quat_to_rotation_vector(quat q)
{
    if (q.w < 0)
        q = (quat){-q.w, -q.x, -q.y, -q.z};
    vec3 v = {q.x, q.y, q.z};
    double s = vec3_length(v);
    return vec3_scale(s > 1e-12 ? 2.0 * atan2(s, q.w) / s : 2.0, v);
}

HR_RT mat3 quat_to_mat3(quat q)
{
    double xx = q.x * q.x;
    double yy = q.y * q.y;
    double zz = q.z * q.z;
    double xy = q.x * q.y;
    double xz = q.x * q.z;
    double yz = q.y * q.z;
    double wx = q.w * q.x;
    double wy = q.w * q.y;
    double wz = q.w * q.z;
    return (mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                   {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                   {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

HR_RT quat quat_from_mat3(mat3 r)
{
    /* Take the largest of the four squared components, so that the division is safe. */
    double trace = r.m[0][0] + r.m[1][1] + r.m[2][2];
    quat q;
    if (trace >= r.m[0][0] && trace >= r.m[1][1] && trace >= r.m[2][2])
        q = (quat){1 + trace, r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1]};
    else if (r.m[0][0] >= r.m[1][1] && r.m[0][0] >= r.m[2][2])
        q = (quat){r.m[2][1] - r.m[1][2], 1 + r.m[0][0] - r.m[1][1] - r.m[2][2],
                   r.m[0][1] + r.m[1][0], r.m[0][2] + r.m[2][0]};
    else if (r.m[1][1] >= r.m[2][2])
        q = (quat){r.m[0][2] - r.m[2][0], r.m[0][1] + r.m[1][0],
                   1 - r.m[0][0] + r.m[1][1] - r.m[2][2], r.m[1][2] + r.m[2][1]};
    else
        q = (quat){r.m[1][0] - r.m[0][1], r.m[0][2] + r.m[2][0], r.m[1][2] + r.m[2][1],
                   1 - r.m[0][0] - r.m[1][1] + r.m[2][2]};
    return quat_normalize(q);
}

HR_RT bool pose_is_finite(pose p)
{
    return vec3_is_finite(p.origin) && isfinite(p.rotation.w) && isfinite(p.rotation.x) &&
           isfinite(p.rotation.y) && isfinite(p.rotation.z);
}

HR_RT pose pose_advance(pose world_from_body, twist velocity, twist acceleration, double dt)
{
    double half = 0.5 * dt * dt;
    vec3 moved = vec3_add_scaled(vec3_scale(dt, velocity.linear), half, acceleration.linear);
    vec3 turned = vec3_add_scaled(vec3_scale(dt, velocity.angular), half, acceleration.angular);
    quat rotation = quat_multiply(quat_from_rotation_vector(turned), world_from_body.rotation);
    return (pose){quat_normalize(rotation), vec3_add(world_from_body.origin, moved)};
}

/* One Jacobi rotation of the symmetric matrix a in the plane (p, q), gathered in the columns of v.
 */
static void rotate_plane(double a[3][3], double v[3][3], int p, int q)
{
    if (fabs(a[p][q]) < 1e-300)
        return;
    double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        double vx = v[k][p], vy = v[k][q];
        v[k][p] = c * vx - s * vy;
        v[k][q] = s * vx + c * vy;
    }
}

mat3 mat3_principal_axes(mat3 symmetric, vec3 *values)
{
    mat3 axes = mat3_identity();
    for (int sweep = 0; sweep < 12; sweep++) {
        rotate_plane(symmetric.m, axes.m, 0, 1);
        rotate_plane(symmetric.m, axes.m, 0, 2);
        rotate_plane(symmetric.m, axes.m, 1, 2);
    }
    *values = (vec3){symmetric.m[0][0], symmetric.m[1][1], symmetric.m[2][2]};
    vec3 x = mat3_column(axes, 0), y = mat3_column(axes, 1);
    return mat3_from_columns(x, y, vec3_cross(x, y));
}
