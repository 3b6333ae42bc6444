/* Workloads of how it must feel, on analytic bodies with an imposed tool: each returns the worst
 * figure of its cases. */
#ifndef TESTS_SUPPORT_FEEL_H
#define TESTS_SUPPORT_FEEL_H

typedef struct feel_slide {
    double error;  /* RMS of |force - exact| / |exact| */
    double step;   /* N, largest change of force from one tick to the next */
    double ideal;  /* N, the same of the exact force */
    double lost;   /* share of ticks with the proxy over 4 mm from the tool */
    double max_ns; /* unused outside benches */
} feel_slide;

/* The sphere of 24 mm at 2 mm depth: surface speed m/s, tool radius m, ticks after entry. With
 * tap = 1 the depth is 3 mm sin at 10 Hz instead. */
feel_slide feel_sphere(double speed, double tool_radius, int ticks, int tap);

/* A plate of 80 x 80 x 1 mm passes the held tool; returns 1 if the tool ends behind it unfelt.
 * `turning`: by rotation about its edge instead. tremor: m, amplitude at 10 Hz. */
int feel_plate(double speed, int turning, double tremor, double tool_radius, unsigned seed);

/* Two plates close on a 2 mm tool on their bisector: m, how far the proxy sphere was inside one. */
double feel_hinge(void);

/* A ball that oscillates with peak speed (m/s) and whose world runs at rate_hz, under a held 2 mm
 * tool: N, largest force step per tick. inside (may be NULL): m, how far the proxy sphere was in
 * the ball where the servo shows it. */
double feel_slow_poses(double speed, double rate_hz, double *inside);

/* A tool of 1 mm radius, `depth` under the surface, slides over a box's edge at speed: N, largest
 * force step per tick. */
double feel_edge(double speed, double depth);

/* A tool is driven through a thin part, plate or capsule; returns how often the proxy ended on the
 * far side. */
int feel_thin(int trials);

/* Stick-slip on a plane with mu_s 0.6 and mu_k 0.4: the larger relative error of the two. */
double feel_friction(double tool_radius);

#endif
