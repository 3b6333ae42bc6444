/* A picture of depths: what is nearest to the eye at every pixel, and whose it is. Larger depth is
 * nearer. */
#ifndef SERVER_SVG_DEPTH_H
#define SERVER_SVG_DEPTH_H

#include <stdbool.h>

typedef struct depth_corner {
    double x, y; /* px */
    double depth;
} depth_corner;

typedef struct depth_picture depth_picture;

/* NULL when out of memory or without a pixel. */
depth_picture *depth_create(int width, int height);
void depth_destroy(depth_picture *d); /* accepts NULL */

/* A flat convex polygon of 3 or 4 corners that belongs to `owner` (>= 0). */
void depth_fill(depth_picture *d, const depth_corner *corners, int count, int owner);

/* Depth of the nearest thing; -infinity where there is none or outside. */
double depth_at(const depth_picture *d, double x, double y);

/* Whose that is; -1: nobody's. */
int depth_owner_at(const depth_picture *d, double x, double y);

/* Sets shown[owner] for everybody who has a pixel. */
void depth_owners(const depth_picture *d, bool *shown, int count);

#endif
