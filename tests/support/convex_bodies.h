/* Random convex bodies with faces, edges and poles, made in memory for tests. */
#ifndef TESTS_SUPPORT_CONVEX_BODIES_H
#define TESTS_SUPPORT_CONVEX_BODIES_H

#include "geometry/parametric_body.h"
#include "tests/test.h"

typedef enum convex_kind {
    CONVEX_LEMON, /* 2 to 5 rational patches between two poles, sharp edges */
    CONVEX_BLOCK, /* a sheared, tapered block: 6 flat faces, 12 edges, 8 vertices */
    CONVEX_ROUND, /* an ellipsoid of two poles, one patch around */
    CONVEX_KINDS
} convex_kind;

/* Of about unit size; fails the test when the loader refuses it. */
parametric_body convex_body(test_random *r, convex_kind kind);

#endif
