#include "collide/joint_path.h"

HR_RT static bool are_finite(const double *q, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += 0 * q[i];
    return sum == 0;
}

HR_RT static quat quat_at(const double *q)
{
    return quat_normalize((quat){q[0], q[1], q[2], q[3]});
}

/* The short way from one rotation to the other, in the axes before the turn. */
HR_RT static void set_turn(joint_path *out, quat from, quat to)
{
    vec3 turn = quat_to_rotation_vector(quat_normalize(quat_multiply(quat_conjugate(from), to)));
    out->rate = vec3_length(turn);
    out->axis = vec3_normalize_or(turn, (vec3){0, 0, 1});
}

HR_RT static void make_spherical(const double *q0, const double *q1, joint_path *out)
{
    quat start = quat_at(q0);
    set_turn(out, start, quat_at(q1));
    rigid turned = rigid_from_pose((pose){start, {0, 0, 0}});
    out->before = rigid_compose(&out->before, &turned);
}

/* origin(t) = pivot on its line - R(t) pivot, R(t) = rot(R0 axis) R0. */
HR_RT static void make_floating(const double *q0, const double *q1, vec3 pivot, joint_path *out)
{
    quat start = quat_at(q0 + 3), end = quat_at(q1 + 3);
    set_turn(out, start, end);
    out->axis = quat_rotate(start, out->axis);
    out->slide = vec3_add((vec3){q0[0], q0[1], q0[2]}, quat_rotate(start, pivot));
    vec3 last = vec3_add((vec3){q1[0], q1[1], q1[2]}, quat_rotate(end, pivot));
    out->slide_rate = vec3_sub(last, out->slide);
    out->after = rigid_from_pose((pose){start, vec3_negate(quat_rotate(start, pivot))});
    out->has_after = true;
}

hr_status joint_path_make(const model_joint *joint, pose parent_from_joint, const double *q0,
                          const double *q1, vec3 pivot, joint_path *out)
{
    int n = joint_q_count(joint->type);
    if (!are_finite(q0, n) || !are_finite(q1, n))
        return HR_ERR_NOT_FINITE;
    joint_path path = {.before = rigid_from_pose(parent_from_joint),
                       .after = rigid_identity(),
                       .axis = joint->axis};
    switch (joint->type) {
    case JOINT_FIXED:
        path.axis = (vec3){0, 0, 1};
        break;
    case JOINT_PRISMATIC:
        path.slide = vec3_scale(q0[0], joint->axis);
        path.slide_rate = vec3_scale(q1[0] - q0[0], joint->axis);
        break;
    case JOINT_SPHERICAL:
        make_spherical(q0, q1, &path);
        break;
    case JOINT_FLOATING:
        make_floating(q0, q1, pivot, &path);
        break;
    default: /* revolute, continuous, screw */
        path.angle = q0[0];
        path.rate = q1[0] - q0[0];
        if (joint->type == JOINT_SCREW) {
            path.slide = vec3_scale(joint->pitch * q0[0], joint->axis);
            path.slide_rate = vec3_scale(joint->pitch * path.rate, joint->axis);
        }
    }
    for (int i = 0; i < n; i++)
        path.is_moving |= q0[i] != q1[i];
    *out = path;
    return HR_OK;
}

hr_status joint_path_rest(const model_joint *joint, pose parent_from_joint, const double *q,
                          joint_path *out)
{
    return joint_path_make(joint, parent_from_joint, q, q, (vec3){0, 0, 0}, out);
}

rigid joint_path_at(const joint_path *path, double t)
{
    double angle = path->angle + t * path->rate;
    pose turned = {quat_from_rotation_vector(vec3_scale(angle, path->axis)),
                   vec3_add_scaled(path->slide, t, path->slide_rate)};
    rigid motion = rigid_from_pose(turned);
    rigid out = rigid_compose(&path->before, &motion);
    return path->has_after ? rigid_compose(&out, &path->after) : out;
}

/* What rounding does to an angle at the middle of an interval. */
HR_RT static double angle_error(const joint_path *path)
{
    return 0x1p-51 * (fabs(path->angle) + fabs(path->rate));
}

void joint_path_taylor(const joint_path *path, double middle, double half, taylor *out)
{
    taylor screw, moved;
    taylor_screw(path->axis, path->angle + middle * path->rate, path->rate, angle_error(path),
                 vec3_add_scaled(path->slide, middle, path->slide_rate), path->slide_rate, half,
                 &screw);
    taylor_rigid_compose(&path->before, &screw, path->has_after ? &moved : out);
    if (path->has_after)
        taylor_compose_rigid(&moved, &path->after, out);
}

void joint_path_interval(const joint_path *path, double middle, double half, interval_rigid *out)
{
    double angle = path->angle + middle * path->rate;
    interval turn = interval_widen(interval_point(angle),
                                   fabs(path->rate) * half * (1 + 0x1p-50) + angle_error(path));
    interval_rigid before = interval_rigid_constant(&path->before),
                   after = interval_rigid_constant(&path->after),
                   screw = interval_rigid_screw(path->axis, turn, interval_point(0)), moved;
    const double *slide = &path->slide.x, *rate = &path->slide_rate.x;
    for (int i = 0; i < 3; i++) {
        double at = slide[i] + middle * rate[i];
        double error = 0x1p-51 * (fabs(slide[i]) + fabs(rate[i]));
        screw.m[i][3] =
            interval_widen(interval_point(at), fabs(rate[i]) * half * (1 + 0x1p-50) + error);
    }
    interval_rigid_compose(&before, &screw, &moved);
    interval_rigid_compose(&moved, &after, out);
}

HR_RT static void store_quat(quat r, double *q)
{
    q[0] = r.w;
    q[1] = r.x;
    q[2] = r.y;
    q[3] = r.z;
}

void joint_path_coordinates(const model_joint *joint, const joint_path *path, vec3 pivot,
                            const double *q0, const double *q1, double t, double *q)
{
    int n = joint_q_count(joint->type);
    if (joint->type == JOINT_SPHERICAL) {
        quat turn = quat_from_rotation_vector(vec3_scale(t * path->rate, path->axis));
        store_quat(quat_normalize(quat_multiply(quat_at(q0), turn)), q);
    } else if (joint->type == JOINT_FLOATING) {
        quat turn = quat_from_rotation_vector(vec3_scale(t * path->rate, path->axis));
        quat now = quat_normalize(quat_multiply(turn, quat_at(q0 + 3)));
        vec3 at =
            vec3_sub(vec3_add_scaled(path->slide, t, path->slide_rate), quat_rotate(now, pivot));
        q[0] = at.x;
        q[1] = at.y;
        q[2] = at.z;
        store_quat(now, q + 3);
    } else {
        for (int i = 0; i < n; i++)
            q[i] = q0[i] + t * (q1[i] - q0[i]);
    }
}
