#include "tests/emulated/falcon_arms.h"

typedef struct joints {
    double one, two, three; /* driven arm, link in the arm's plane, swing out of it */
} joints;

static bool solve_leg(vec3 p, double phi, joints *out)
{
    const double a = 0.060, b = 0.1025, c = 0.01443, d = 0.01125, e = 0.01125, f = -0.025;
    const double r = 0.0400, s = -0.02309;
    double u = cos(phi) * p.x + sin(phi) * p.y - r;
    double v = -sin(phi) * p.x + cos(phi) * p.y - s;
    double w = p.z;
    if (!(fabs(v + f) < b))
        return false;
    out->three = acos((v + f) / b);
    /* length of the link in the arm's plane, then a triangle a, k, rho */
    double k = d + e + b * sin(out->three);
    double rho = hypot(u + c, w);
    double cosine = (rho * rho + a * a - k * k) / (2 * a * rho);
    if (!(fabs(cosine) <= 1))
        return false;
    out->one = atan2(w, u + c) - acos(cosine);
    out->two = atan2(w - a * sin(out->one), u + c - a * cos(out->one));
    return true;
}

static const double directions[3] = {105 * M_PI / 180, -15 * M_PI / 180, -135 * M_PI / 180};

bool arms_angles(vec3 p, double angles[3])
{
    for (int i = 0; i < 3; i++) {
        joints j;
        if (!solve_leg(p, directions[i], &j))
            return false;
        angles[i] = j.one;
    }
    return true;
}

bool arms_jacobian(vec3 p, double rows[3][3])
{
    for (int i = 0; i < 3; i++) {
        joints j;
        if (!solve_leg(p, directions[i], &j))
            return false;
        double scale = 1 / (0.060 * sin(j.two - j.one));
        double nu = cos(j.two) * scale;
        double nv = cos(j.three) / sin(j.three) * scale;
        double nw = sin(j.two) * scale;
        rows[i][0] = cos(directions[i]) * nu - sin(directions[i]) * nv;
        rows[i][1] = sin(directions[i]) * nu + cos(directions[i]) * nv;
        rows[i][2] = nw;
    }
    return true;
}

bool arms_force(vec3 p, const double torque[3], vec3 *force)
{
    double rows[3][3];
    if (!arms_jacobian(p, rows))
        return false;
    *force = (vec3){rows[0][0] * torque[0] + rows[1][0] * torque[1] + rows[2][0] * torque[2],
                    rows[0][1] * torque[0] + rows[1][1] * torque[1] + rows[2][1] * torque[2],
                    rows[0][2] * torque[0] + rows[1][2] * torque[1] + rows[2][2] * torque[2]};
    return true;
}

int arms_counts(double angle)
{
    return (int)lround((angle * 180 / M_PI - 35) / 360 * 1280 * 0.110 / 0.01425);
}
