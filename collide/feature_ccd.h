/* First time of contact of two moving features: a vertex and a face, or two edges. Each of the four
 * points moves on a polynomial of second order with a radius, so that eight points in linear motion
 * and rigid motion by Taylor models are the same test: find a direction, constant over a stretch of
 * time, along which all points of one feature stay ahead of all points of the other; where there
 * is none, split the time. Nothing is ever called free that was not proven free. */
#ifndef COLLIDE_FEATURE_CCD_H
#define COLLIDE_FEATURE_CCD_H

#include <stdint.h>

#include "collide/closest.h"
#include "geometry/taylor.h"

typedef enum feature_kind {
    FEATURE_VERTEX_FACE, /* points: vertex, then the three corners */
    FEATURE_EDGE_EDGE    /* points: first edge, second edge */
} feature_kind;

typedef struct feature_motion {
    feature_kind kind;
    taylor_point points[4];
} feature_motion;

typedef struct feature_limits {
    double separation;     /* s, m, >= 0: closer than this is contact */
    double tolerance;      /* delta, m, > 0: contact may be reported from s + delta on */
    double time_tolerance; /* eps_t, in units of the parameter, > 0 */
    int64_t nodes;         /* most stretches of time that are looked at */
} feature_limits;

/* Tolerance 1e-6 m, no separation, time to 2^-40, and nodes for about 20 ms. */
HR_RT feature_limits feature_limits_default(void);

typedef enum feature_verdict {
    FEATURE_FREE,    /* proven farther apart than s throughout */
    FEATURE_CONTACT, /* `time` is the answer */
    FEATURE_BUDGET,  /* out of nodes: free up to `time`, nothing known after it */
    FEATURE_REFUSED /* tolerance below four times the rounding at these coordinates, or no number */
} feature_verdict;

typedef struct feature_result {
    feature_verdict verdict;
    double time;          /* where the proof of freedom ends */
    bool is_separating;   /* the distance grows at `time` */
    closest_pair witness; /* at `time` */
    int64_t nodes;        /* spent */
    vec3 direction;       /* the last one that separated something; a hint for the next call */
} feature_result;

/* Eight points on straight lines: positions at t = 0 and at t = 1, t is the parameter. */
HR_RT feature_motion feature_motion_linear(feature_kind kind, const vec3 start[4],
                                           const vec3 end[4]);

/* Vertex (or edge) in frame b that moves by a_from_b, against a face (or edge) at rest in frame a:
 * the parameter is s of the model. `moving` holds 1 (or 2) points, `resting` 3 (or 2). */
HR_RT feature_motion feature_motion_rigid(feature_kind kind, const taylor *a_from_b,
                                          const vec3 *moving, const vec3 *resting);

/* The first contact for a parameter in [low, high]. */
HR_RT void feature_ccd(const feature_motion *motion, double low, double high,
                       const feature_limits *limits, feature_result *out);

/* Bound of what rounding and radii do to a separation of these points over |parameter| <= reach. */
HR_RT double feature_ccd_error(const feature_motion *motion, double reach);

/* Closest points at one parameter value, on the polynomial parts. */
HR_RT closest_pair feature_closest(const feature_motion *motion, double at);

#endif
