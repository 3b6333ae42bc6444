/* Where one body's witness point is: the active feature, its parameters, and the point with its
 * derivatives there. A body is a point, a parametric body or an ellipsoid. */
#ifndef COLLIDE_WITNESS_PLACE_H
#define COLLIDE_WITNESS_PLACE_H

#include "collide/witness_law.h"
#include "geometry/parametric_body.h"

typedef enum witness_kind { WITNESS_POINT, WITNESS_BODY, WITNESS_ELLIPSOID } witness_kind;

/* What moves; borrowed and unchanged as long as something tracks it. */
typedef struct witness_body {
    witness_kind kind;
    const parametric_body *body; /* WITNESS_BODY */
    vec3 point;                  /* WITNESS_POINT, in its frame */
    vec3 semi_axes;              /* WITNESS_ELLIPSOID */
    double size;                 /* diameter or so; 0 for a point */
} witness_body;

witness_body witness_body_point(vec3 point);
witness_body witness_body_parametric(const parametric_body *body);
witness_body witness_body_ellipsoid(vec3 semi_axes);

/* A feature's kind is its number of parameters. */
typedef enum witness_feature {
    WITNESS_VERTEX = 0,
    WITNESS_EDGE = 1,
    WITNESS_FACE = 2
} witness_feature;

typedef struct witness_place {
    witness_feature feature;
    int index;       /* of the face, edge or vertex */
    double x[2];     /* its parameters; of an ellipsoid always 0: the chart follows the point */
    vec3 direction;  /* ellipsoid: the point is semi_axes * direction, of unit length */
    vec3 across[2];  /* ellipsoid: unit vectors at right angles to it, the chart's axes */
    nurbs_span span; /* pieces used last */
    jet at;          /* at x, in the body's frame */
} witness_place;

/* Fills `at` from feature, index and x (or direction). */
HR_RT void witness_place_evaluate(const witness_body *b, witness_place *p);

/* x += dx, wrapped where the parameter wraps and clamped elsewhere, and evaluated. */
HR_RT void witness_place_move(const witness_body *b, witness_place *p, const double *dx);

/* The same for a last step: one below `share` of a Bezier piece is added by Taylor's formula
 * instead of evaluating the surface again. p is then exact to share^3 / 6 of the piece's size, d1
 * to share^2 / 2; the next tick evaluates anew. */
HR_RT void witness_place_correct(const witness_body *b, witness_place *p, const double *dx,
                                 double share);

/* The feature's limits into box entries first .. first + p->feature - 1. */
HR_RT void witness_place_box(const witness_body *b, const witness_place *p, int first,
                             witness_box *box);

/* Outward unit normal at the place: of the face; of an edge or vertex the mean over its faces, the
 * sign of which tells outside from inside. Zero where there is none. */
HR_RT vec3 witness_place_normal(const witness_body *b, const witness_place *p);

/* +1 or -1: which way f_u x f_v of the active face (or of a planar curve with the plane's axis)
 * points out of the body; 0 for features that have no plane. */
HR_RT double witness_place_outward(const witness_body *b, const witness_place *p);

/* From anywhere: the sample of the coarse grid that is nearest to `target` (in the body's frame).
 */
HR_RT void witness_place_seed(const witness_body *b, vec3 target, witness_place *out);

/* A stated feature and parameters. */
HR_RT void witness_place_set(const witness_body *b, witness_feature feature, int index, double u,
                             double v, witness_place *out);

#endif
