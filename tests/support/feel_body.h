/* Workloads of how it must feel on parametric bodies, with an imposed tool and the full hand: the
 * sphere and the blob of 24 mm, a thin body, seams and sharp edges. */
#ifndef TESTS_SUPPORT_FEEL_BODY_H
#define TESTS_SUPPORT_FEEL_BODY_H

#include <stdbool.h>

typedef struct feel_path {
    const char *file;   /* of the body */
    double scale;       /* of its lengths */
    bool is_blob;       /* else a sphere of 24 mm */
    bool is_tapping;    /* depth of the tool's skin: 3 mm sin at 10 Hz instead of 2 mm */
    double speed;       /* m/s on the surface */
    double tool_radius; /* m */
    int ticks;
    double *times; /* ns of each hand tick, or NULL */
    bool is_paced; /* sleep to a 1 kHz grid */
} feel_path;

typedef struct feel_path_result {
    double error;    /* RMS of |force - exact| / |exact|; sphere only */
    double step;     /* N, largest change of force per tick */
    double ideal;    /* N, the same of the exact force; sphere only */
    double lost;     /* share of ticks with the proxy over 4 mm from the tool */
    double farthest; /* m, proxy from tool */
    double leak; /* m, how far inside the exact surface the proxy sphere ever was; on the blob by
                    the nearest point of the body, in every 20th tick that is not timed */
    double proxy_error; /* m, proxy from where it must be while touching; sphere only */
} feel_path_result;

feel_path_result feel_path_run(const feel_path *path);

/* A tool of 1 mm radius pressed `depth` deep slides across what runs along the body's x = 0 line:
 * a smooth seam of the sphere of six patches or the sharp edge of a box of patches. N, largest
 * change of force per tick. */
double feel_body_seam(const char *file, double scale, double speed, double depth);
double feel_body_edge(const char *file, double scale, double half_size, double speed, double depth);

/* A point tool is pushed into a thin body from random sides, up to 3 mm beyond its far side; how
 * often the proxy came out there. */
int feel_body_thin(const char *file, double scale, int trials);

#endif
