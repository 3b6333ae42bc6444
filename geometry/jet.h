/* A point of a feature and how it moves with the feature's parameters. A face has two parameters,
 * an edge one (d1[0], d2[0]), a vertex none. */
#ifndef GEOMETRY_JET_H
#define GEOMETRY_JET_H

#include "geometry/vec3.h"

typedef struct jet {
    vec3 p;     /* position, m */
    vec3 d1[2]; /* first derivatives by u, v */
    vec3 d2[3]; /* second derivatives by uu, uv, vv */
} jet;

enum { JET_UU = 0, JET_UV = 1, JET_VV = 2 };

/* The same jet seen from another frame: rotated, and the point moved. */
HR_RT static inline jet jet_transformed(mat3 rotation, vec3 origin, const jet *j)
{
    return (jet){vec3_add(mat3_apply(rotation, j->p), origin),
                 {mat3_apply(rotation, j->d1[0]), mat3_apply(rotation, j->d1[1])},
                 {mat3_apply(rotation, j->d2[0]), mat3_apply(rotation, j->d2[1]),
                  mat3_apply(rotation, j->d2[2])}};
}

#endif
