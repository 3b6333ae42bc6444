#include "devices/falcon/kinematics.h"

static const double pi = 3.14159265358979323846;

falcon_geometry falcon_geometry_default(void)
{
    falcon_geometry g = {
        .a = 0.060,
        .b = 0.1025,
        .d_plus_e = 2 * 0.01125,
        .u_offset = 0.01443 - 0.0400,
        .v_offset = -0.025 + 0.02309,
        .radians_per_count = 2 * pi / 1280 * (0.01425 / 0.110),
        .angle_at_zero = 35.0 * pi / 180,
    };
    static const double degrees[3] = {105, -15, -135};
    for (int i = 0; i < FALCON_ARMS; i++) {
        g.cos_phi[i] = cos(degrees[i] * pi / 180);
        g.sin_phi[i] = sin(degrees[i] * pi / 180);
    }
    return g;
}

falcon_motors falcon_motors_default(void)
{
    return (falcon_motors){{10000, 10000, 10000}};
}

/* Where the grip is, seen from one arm. */
typedef struct leg {
    double u; /* U of the loop equation: along the arm */
    double q; /* across */
    double w; /* out of the device */
    double s; /* sqrt(b^2 - q^2), or 0 where q is out of reach */
} leg;

HR_RT static leg leg_at(const falcon_geometry *g, int i, vec3 p)
{
    double u = g->cos_phi[i] * p.x + g->sin_phi[i] * p.y + g->u_offset;
    double q = -g->sin_phi[i] * p.x + g->cos_phi[i] * p.y + g->v_offset;
    double square = g->b * g->b - q * q;
    return (leg){u, q, p.z, square > 0 ? sqrt(square) : 0};
}

HR_RT hr_status falcon_inverse(const falcon_geometry *g, vec3 p, falcon_angles *out)
{
    falcon_angles angles;
    for (int i = 0; i < FALCON_ARMS; i++) {
        leg l = leg_at(g, i, p);
        double k = g->d_plus_e + l.s;
        double rho_squared = l.u * l.u + l.w * l.w;
        double cosine = (rho_squared + g->a * g->a - k * k) / (2 * g->a * sqrt(rho_squared));
        if (!(l.s > 0) || !(fabs(cosine) <= 1))
            return HR_ERR_INFEASIBLE;
        angles.arm[i] = atan2(l.w, l.u) - acos(cosine);
    }
    *out = angles;
    return HR_OK;
}

/* Loop equation and its derivative by p; sine and cosine of the arm angle are given. */
HR_RT static double loop_row(const falcon_geometry *g, int i, vec3 p, double sine, double cosine,
                             vec3 *gradient)
{
    leg l = leg_at(g, i, p);
    double k = g->d_plus_e + l.s;
    double du = l.u - g->a * cosine;
    double dw = l.w - g->a * sine;
    double gu = 2 * du;
    double gq = l.s > 0 ? 2 * l.q * (1 + g->d_plus_e / l.s) : 0; /* -(K^2)' */
    *gradient = (vec3){g->cos_phi[i] * gu - g->sin_phi[i] * gq,
                       g->sin_phi[i] * gu + g->cos_phi[i] * gq, 2 * dw};
    return du * du + dw * dw - k * k;
}

HR_RT static mat3 matrix_of_rows(const vec3 row[3])
{
    return (mat3){{{row[0].x, row[0].y, row[0].z},
                   {row[1].x, row[1].y, row[1].z},
                   {row[2].x, row[2].y, row[2].z}}};
}

HR_RT mat3 falcon_loop_derivative(const falcon_geometry *g, vec3 p, const falcon_angles *angles)
{
    vec3 row[3];
    for (int i = 0; i < FALCON_ARMS; i++)
        (void)loop_row(g, i, p, sin(angles->arm[i]), cos(angles->arm[i]), &row[i]);
    return matrix_of_rows(row);
}

/* The assembly in which the real device lives: every elbow bent outwards. */
HR_RT static bool is_right_branch(const falcon_geometry *g, const falcon_angles *angles, vec3 p)
{
    for (int i = 0; i < FALCON_ARMS; i++) {
        leg l = leg_at(g, i, p);
        if (!(l.s > 0) || !(l.u * sin(angles->arm[i]) < l.w * cos(angles->arm[i])))
            return false;
    }
    return p.z > 0;
}

/* At most FALCON_NEWTON_STEPS steps from p; true when the last one was below 1e-9 m, after which
 * the error is below 1e-16 m by the quadratic bound. *steps counts. */
HR_RT static bool newton(const falcon_geometry *g, const falcon_angles *angles, vec3 *p, int *steps)
{
    double sine[3];
    double cosine[3];
    for (int i = 0; i < FALCON_ARMS; i++) {
        sine[i] = sin(angles->arm[i]);
        cosine[i] = cos(angles->arm[i]);
    }
    vec3 at = *p;
    for (int k = 0; k < FALCON_NEWTON_STEPS; k++) {
        vec3 row[3];
        double residual[3];
        for (int i = 0; i < FALCON_ARMS; i++)
            residual[i] = loop_row(g, i, at, sine[i], cosine[i], &row[i]);
        mat3 inverse;
        if (mat3_inverse(matrix_of_rows(row), &inverse) != HR_OK)
            return false;
        vec3 step = mat3_apply(inverse, (vec3){residual[0], residual[1], residual[2]});
        at = vec3_sub(at, step);
        ++*steps;
        double length = vec3_length(step);
        if (!(length < 0.05))
            return false;
        if (length < 1e-9) {
            *p = at;
            return true;
        }
    }
    return false;
}

/* Follows the angles from the middle of the workspace, where the position is known. */
HR_RT static bool walk(const falcon_geometry *g, const falcon_angles *angles, vec3 *p, int *steps)
{
    vec3 at = {0, 0, FALCON_CENTRE_Z};
    falcon_angles from;
    if (falcon_inverse(g, at, &from) != HR_OK)
        return false;
    double farthest = 0;
    for (int i = 0; i < FALCON_ARMS; i++)
        farthest = fmax(farthest, fabs(angles->arm[i] - from.arm[i]));
    /* 0.03 rad moves the grip by about 2 mm: inside the bound of one call of newton. */
    if (!(farthest < 0.03 * FALCON_WALK_STEPS))
        return false;
    int count = (int)ceil(farthest / 0.03) + 1;
    if (count > FALCON_WALK_STEPS)
        count = FALCON_WALK_STEPS;
    for (int n = 1; n <= count; n++) {
        falcon_angles part;
        for (int i = 0; i < FALCON_ARMS; i++)
            part.arm[i] = from.arm[i] + (angles->arm[i] - from.arm[i]) * n / count;
        if (!newton(g, &part, &at, steps))
            return false;
    }
    *p = at;
    return true;
}

HR_RT hr_status falcon_forward_counted(const falcon_geometry *g, const falcon_angles *angles,
                                       vec3 near, vec3 *out, int *steps)
{
    *steps = 0;
    vec3 p = near;
    bool is_found = newton(g, angles, &p, steps) && vec3_distance(p, near) < 0.02 &&
                    is_right_branch(g, angles, p);
    if (!is_found)
        is_found = walk(g, angles, &p, steps) && is_right_branch(g, angles, p);
    if (!is_found)
        return HR_ERR_MAX_ITER;
    *out = p;
    return HR_OK;
}

HR_RT hr_status falcon_forward(const falcon_geometry *g, const falcon_angles *angles, vec3 near,
                               vec3 *out)
{
    int steps;
    return falcon_forward_counted(g, angles, near, out, &steps);
}

HR_RT hr_status falcon_jacobian(const falcon_geometry *g, vec3 p, const falcon_angles *angles,
                                mat3 *out)
{
    vec3 row[3];
    for (int i = 0; i < FALCON_ARMS; i++) {
        double sine = sin(angles->arm[i]);
        double cosine = cos(angles->arm[i]);
        vec3 gradient;
        (void)loop_row(g, i, p, sine, cosine, &gradient);
        leg l = leg_at(g, i, p);
        double by_angle = 2 * g->a * (l.u * sine - l.w * cosine);
        if (!(fabs(by_angle) > 1e-9))
            return HR_ERR_SINGULAR;
        row[i] = vec3_scale(-1 / by_angle, gradient);
    }
    *out = matrix_of_rows(row);
    return HR_OK;
}

HR_RT static int16_t round_to_16_bit(double x)
{
    if (!(x > -32768))
        return -32768;
    return x < 32767 ? (int16_t)floor(x + 0.5) : 32767;
}

HR_RT void falcon_counts_from_angles(const falcon_geometry *g, const falcon_angles *angles,
                                     int16_t counts[3])
{
    for (int i = 0; i < FALCON_ARMS; i++)
        counts[i] = round_to_16_bit((angles->arm[i] - g->angle_at_zero) / g->radians_per_count);
}

HR_RT falcon_angles falcon_angles_from_counts(const falcon_geometry *g, const int16_t counts[3])
{
    falcon_angles angles;
    for (int i = 0; i < FALCON_ARMS; i++)
        angles.arm[i] = g->angle_at_zero + counts[i] * g->radians_per_count;
    return angles;
}

HR_RT hr_status falcon_motors_from_force(const falcon_motors *m, mat3 jacobian, vec3 force,
                                         int16_t values[3], bool *is_saturated)
{
    for (int i = 0; i < FALCON_ARMS; i++)
        values[i] = 0;
    *is_saturated = false;
    mat3 inverse;
    if (!vec3_is_finite(force))
        return HR_ERR_NOT_FINITE;
    if (mat3_inverse(jacobian, &inverse) != HR_OK)
        return HR_ERR_SINGULAR;
    vec3 torque = mat3_apply_transposed(inverse, force);
    double wanted[3] = {-torque.x * m->units_per_newton_metre[0],
                        -torque.y * m->units_per_newton_metre[1],
                        -torque.z * m->units_per_newton_metre[2]};
    double largest = fmax(fabs(wanted[0]), fmax(fabs(wanted[1]), fabs(wanted[2])));
    if (!isfinite(largest))
        return HR_ERR_NOT_FINITE;
    *is_saturated = largest > FALCON_MOTOR_MAX;
    double factor = *is_saturated ? FALCON_MOTOR_MAX / largest : 1;
    for (int i = 0; i < FALCON_ARMS; i++)
        values[i] = round_to_16_bit(factor * wanted[i]);
    return HR_OK;
}

HR_RT vec3 falcon_torque_from_motors(const falcon_motors *m, const int16_t values[3])
{
    return (vec3){-values[0] / m->units_per_newton_metre[0],
                  -values[1] / m->units_per_newton_metre[1],
                  -values[2] / m->units_per_newton_metre[2]};
}

HR_RT vec3 falcon_force_from_motors(const falcon_motors *m, mat3 jacobian, const int16_t values[3])
{
    return mat3_apply_transposed(jacobian, falcon_torque_from_motors(m, values));
}

HR_RT vec3 falcon_clamp_to_workspace(vec3 p)
{
    double radius = hypot(p.x, p.y);
    double factor = radius > FALCON_RADIUS_MAX ? FALCON_RADIUS_MAX / radius : 1;
    double share = fmin(radius / FALCON_RADIUS_MAX, 1);
    double z_max = FALCON_Z_MAX + share * (FALCON_Z_MAX_RIM - FALCON_Z_MAX);
    return (vec3){factor * p.x, factor * p.y, fmin(fmax(p.z, FALCON_Z_MIN), z_max)};
}
