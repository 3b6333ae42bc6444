/* Start shapes of the two set-ups of the paper's second figure. */
#include <math.h>

#include "solver/cable.h"

/* Place at arc coordinate s (0 at the top) of a line laid over a circle: an arc of a quarter turn
 * on both sides, then straight down. */
static vec3 over_circle(double s, double circle)
{
    const double quarter = 1.5707963267948966;
    double angle = s / circle;
    if (fabs(angle) <= quarter)
        return (vec3){circle * sin(angle), circle * cos(angle), 0};
    double side = s > 0 ? 1.0 : -1.0;
    return (vec3){side * circle, -(fabs(s) - quarter * circle), 0};
}

/* Smallest distance of the polyline from the axis. */
static double nearest(const vec3 *x, int n)
{
    double least = (double)INFINITY;
    for (int i = 0; i + 1 < n; i++) {
        double dx = x[i + 1].x - x[i].x, dy = x[i + 1].y - x[i].y;
        double squared = dx * dx + dy * dy;
        double t = squared > 0 ? -(x[i].x * dx + x[i].y * dy) / squared : 0.0;
        t = t < 0 ? 0.0 : t > 1 ? 1.0 : t;
        least = fmin(least, hypot(x[i].x + t * dx, x[i].y + t * dy));
    }
    return least;
}

/* The top is at 0.62 of the length. Chords cut the circle they are laid on: it grows until none
 * comes nearer to the axis than both radii. */
void cable_shape_pulley(vec3 *out, int particles, double cylinder, double radius, double length)
{
    double touching = cylinder + radius, circle = touching;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < particles; i++) {
            out[i] = over_circle(length * i / (particles - 1) - 0.62 * length, circle);
            out[i].z = 1e-4 * sin((double)i);
        }
        double missing = touching - nearest(out, particles);
        if (missing <= 0)
            return;
        circle += missing + 1e-12;
    }
}

/* Two straight legs to the apex. */
void cable_shape_held(vec3 *out, int particles, double span, double length)
{
    double half = 0.5 * length, apex = sqrt(fmax(0.0, half * half - span * span));
    for (int i = 0; i < particles; i++) {
        double t = 2.0 * i / (particles - 1);
        out[i] = t <= 1 ? (vec3){-span * (1 - t), apex * t, 0}
                        : (vec3){span * (t - 1), apex * (2 - t), 0};
        out[i].z = 1e-4 * sin((double)i);
    }
}
