/* Planes, quadrics and tori as exact rational patches, with the axis along z. */
#ifndef GEOMETRY_NURBS_SHAPES_H
#define GEOMETRY_NURBS_SHAPES_H

#include "geometry/nurbs_surface.h"

typedef enum nurbs_shape_kind {
    NURBS_PLANE,     /* size_x, size_y: a rectangle around the origin in z = 0; u along x */
    NURBS_SPHERE,    /* radius; poles at v0 (-z) and v1 (+z), u around */
    NURBS_ELLIPSOID, /* semi_x, semi_y, semi_z; as the sphere */
    NURBS_CYLINDER,  /* radius, height: z from -height/2 to +height/2, without its ends; u around */
    NURBS_CONE,      /* radius, height: apex at z = height (v1), rim in z = 0; u around */
    NURBS_TORUS,     /* radius (of the centre circle), tube: u around the axis, v around the tube */
    NURBS_DISC,      /* radius: in z = 0, centre at v0, u around */
    NURBS_SHAPE_KINDS
} nurbs_shape_kind;

enum { NURBS_MEASURES_MAX = 3 };

typedef struct nurbs_shape {
    nurbs_shape_kind kind;
    double measures[NURBS_MEASURES_MAX]; /* in the order above, all > 0 */
} nurbs_shape;

int nurbs_shape_measure_count(nurbs_shape_kind kind);
const char *nurbs_shape_measure_name(nurbs_shape_kind kind, int i);

/* By name: "plane", "sphere", ... HR_ERR_NOT_FOUND for NULL and other names. */
HR_MUST_USE hr_status nurbs_shape_named(const char *name, nurbs_shape_kind *out);

/* Normals f_u x f_v point away from the solid. */
HR_MUST_USE hr_status nurbs_shape_make(const nurbs_shape *shape, pose world_from_shape,
                                       nurbs_surface *out, hr_error *error);

#endif
