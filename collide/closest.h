/* Closest points of resting features: point and triangle, two segments. They survive every
 * degenerate input (zero-length edges, zero-area and needle triangles, parallel edges): what they
 * return is always a point of each feature, and no other pair is closer by more than rounding. */
#ifndef COLLIDE_CLOSEST_H
#define COLLIDE_CLOSEST_H

#include "geometry/vec3.h"

typedef struct closest_pair {
    vec3 on_first, on_second; /* m */
    double weights[4];        /* of the vertices, in the order of the arguments; each feature's sum
                                 to 1 */
    double distance_squared;  /* m^2 */
} closest_pair;

HR_RT closest_pair closest_point_segment(vec3 point, vec3 start, vec3 end);
HR_RT closest_pair closest_point_triangle(vec3 point, vec3 a, vec3 b, vec3 c);
HR_RT closest_pair closest_segments(vec3 start_1, vec3 end_1, vec3 start_2, vec3 end_2);

#endif
