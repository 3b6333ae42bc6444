/* First contact of two triangles, one of which moves rigidly: first one direction for the whole
 * pair, then the vertex-face and edge-edge tests that these triangles answer for. */
#ifndef COLLIDE_TRIANGLE_CCD_H
#define COLLIDE_TRIANGLE_CCD_H

#include "collide/feature_ccd.h"
#include "collide/obb_tree.h"

/* Which features of a pair of triangles met. */
typedef enum triangle_feature {
    TRIANGLE_B_VERTEX, /* vertex i of b against face a */
    TRIANGLE_A_VERTEX, /* vertex i of a against face b */
    TRIANGLE_EDGES     /* edge i of a (corners i, i + 1) against edge j of b */
} triangle_feature;

typedef struct triangle_contact {
    triangle_feature feature;
    int i, j;
    double time; /* s of the model */
    bool is_separating;
} triangle_contact;

typedef enum triangle_verdict {
    TRIANGLE_FREE,
    TRIANGLE_CONTACT,
    TRIANGLE_COARSE, /* the model is too coarse for the tolerance: ask again on a shorter interval
                      */
    TRIANGLE_BUDGET, /* out of nodes */
    TRIANGLE_REFUSED /* rounding at these coordinates exceeds the tolerance */
} triangle_verdict;

enum { TRIANGLE_CONTACTS_MAX = 15 };

typedef struct triangle_result {
    int count;                                        /* contacts, any order */
    triangle_contact contacts[TRIANGLE_CONTACTS_MAX]; /* all with time <= the end that was asked */
    double radius;                                    /* m, of the model at these triangles */
    int64_t feature_tests, feature_nodes;             /* spent */
} triangle_result;

/* Looks at s in [low, high] of the model. *axis: a direction worth trying, and the one that worked.
 * lets_go: a pair that is in contact at `low` and opens is followed until it is farther than the
 * separation, and tested from there on. */
HR_RT triangle_verdict triangle_ccd(const obb_triangle *a, const obb_triangle *b,
                                    const taylor *a_from_b, double low, double high,
                                    const feature_limits *limits, bool lets_go, vec3 *axis,
                                    triangle_result *out);

/* Where the contacts would be if the model had no radius: no proof of anything, but a good place to
 * look when the verdict was coarse. */
HR_RT void triangle_ccd_expect(const obb_triangle *a, const obb_triangle *b, const taylor *a_from_b,
                               double low, double high, const feature_limits *limits,
                               triangle_result *out);

#endif
