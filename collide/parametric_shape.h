/* A parametric body as a shape that a proxy can touch. A convex body has one nearest point; on any
 * other body several are followed at once, one per nearby stretch of surface, started by a broad
 * phase over the faces' boxes and joined where they meet. The nearest comes first. */
#ifndef COLLIDE_PARAMETRIC_SHAPE_H
#define COLLIDE_PARAMETRIC_SHAPE_H

#include "collide/shape.h"
#include "collide/witness_place.h"

/* As shape_seed and shape_follow, for SHAPE_PARAMETRIC. */
void parametric_shape_seed(const parametric_body *body, vec3 point, double reach,
                           shape_tracker *out);
HR_RT int parametric_shape_follow(const parametric_body *body, shape_tracker *tracker, vec3 point,
                                  double dt, double reach, shape_contact *out, int room);

/* As shape_predict. */
HR_RT void parametric_shape_predict(const parametric_body *body, shape_tracker *tracker,
                                    const shape_contact *contacts, int count, vec3 step);

double parametric_shape_radius(const parametric_body *body);

/* A track's feature number: kind and index. */
HR_RT static inline uint32_t parametric_feature(witness_feature feature, int index)
{
    return (uint32_t)feature << 28 | (uint32_t)index;
}
HR_RT static inline witness_feature parametric_feature_kind(uint32_t number)
{
    return (witness_feature)(number >> 28 & 3u);
}
HR_RT static inline int parametric_feature_index(uint32_t number)
{
    return (int)(number & 0xfffffffu);
}

#endif
