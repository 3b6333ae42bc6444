#include "geometry/nurbs_shapes.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    const char *measures[NURBS_MEASURES_MAX];
} table[NURBS_SHAPE_KINDS] = {
    [NURBS_PLANE] = {"plane", {"size_x", "size_y"}},
    [NURBS_SPHERE] = {"sphere", {"radius"}},
    [NURBS_ELLIPSOID] = {"ellipsoid", {"semi_x", "semi_y", "semi_z"}},
    [NURBS_CYLINDER] = {"cylinder", {"radius", "height"}},
    [NURBS_CONE] = {"cone", {"radius", "height"}},
    [NURBS_TORUS] = {"torus", {"radius", "tube"}},
    [NURBS_DISC] = {"disc", {"radius"}},
};

int nurbs_shape_measure_count(nurbs_shape_kind kind)
{
    int n = 0;
    while (n < NURBS_MEASURES_MAX && table[kind].measures[n])
        n++;
    return n;
}

const char *nurbs_shape_measure_name(nurbs_shape_kind kind, int i)
{
    return table[kind].measures[i];
}

hr_status nurbs_shape_named(const char *name, nurbs_shape_kind *out)
{
    for (int i = 0; name && i < NURBS_SHAPE_KINDS; i++)
        if (strcmp(name, table[i].name) == 0) {
            *out = (nurbs_shape_kind)i;
            return HR_OK;
        }
    return HR_ERR_NOT_FOUND;
}

/* A profile in the half plane (r, z): what is turned about the axis. */
typedef struct profile {
    int degree, count;
    double r[9], z[9], w[9];
    double knots[12];
} profile;

static const double half = 0.70710678118654752440; /* cos 45 degrees */

/* Quarter arcs of one circle: control polygon through corners, weights 1 and cos 45. `start` counts
 * quarter turns, 0 is along +r. */
static profile arcs(double centre_r, double radius_r, double radius_z, int start, int quarters)
{
    static const int corner[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                     {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    profile p = {.degree = 2, .count = 2 * quarters + 1};
    for (int i = 0; i < p.count; i++) {
        const int *c = corner[(2 * start + i + 8) % 8];
        p.r[i] = centre_r + radius_r * c[0];
        p.z[i] = radius_z * c[1];
        p.w[i] = i % 2 ? half : 1.0;
    }
    for (int i = 0; i < p.count + 3; i++) {
        int k = i < 3 ? 0 : i >= p.count ? quarters : (i - 1) / 2;
        p.knots[i] = (double)k / quarters;
    }
    return p;
}

static profile line(double r0, double z0, double r1, double z1)
{
    return (profile){.degree = 1,
                     .count = 2,
                     .r = {r0, r1},
                     .z = {z0, z1},
                     .w = {1.0, 1.0},
                     .knots = {0, 0, 1, 1}};
}

static profile profile_of(const nurbs_shape *s)
{
    const double *m = s->measures;
    switch (s->kind) {
    case NURBS_SPHERE:
        return arcs(0, m[0], m[0], -1, 2);
    case NURBS_ELLIPSOID:
        return arcs(0, 1.0, m[2], -1, 2);
    case NURBS_CYLINDER:
        return line(m[0], -0.5 * m[1], m[0], 0.5 * m[1]);
    case NURBS_CONE:
        return line(m[0], 0, 0, m[1]);
    case NURBS_TORUS:
        return arcs(m[0], m[1], m[1], 0, 4);
    default: /* a disc, its normal f_u x f_v along -z */
        return line(0, 0, m[0], 0);
    }
}

static void put(double *out, pose place, vec3 p, double w)
{
    vec3 q = pose_apply(place, p);
    out[0] = w * q.x;
    out[1] = w * q.y;
    out[2] = w * q.z;
    out[3] = w;
}

static hr_status make_plane(const double *m, pose place, nurbs_surface *out, hr_error *error)
{
    double points[16], knots[4] = {0, 0, 1, 1};
    for (int i = 0; i < 4; i++) {
        vec3 corner = {i < 2 ? -0.5 * m[0] : 0.5 * m[0], i % 2 ? 0.5 * m[1] : -0.5 * m[1], 0};
        put(points + (ptrdiff_t)4 * i, place, corner, 1.0);
    }
    return nurbs_surface_make((int[2]){1, 1}, (int[2]){2, 2}, knots, 4, knots, 4, points, out,
                              error);
}

hr_status nurbs_shape_make(const nurbs_shape *shape, pose world_from_shape, nurbs_surface *out,
                           hr_error *error)
{
    const double *m = shape->measures;
    for (int i = 0; i < nurbs_shape_measure_count(shape->kind); i++)
        if (!isfinite(m[i]) || !(m[i] > 0))
            return error_set(error, HR_ERR_FORMAT, "expected a positive %s, found %g",
                             table[shape->kind].measures[i], m[i]);
    if (shape->kind == NURBS_PLANE)
        return make_plane(m, world_from_shape, out, error);
    profile p = profile_of(shape), turn = arcs(0, 1, 1, 0, 4);
    double points[9 * 9 * 4];
    bool is_ellipsoid = shape->kind == NURBS_ELLIPSOID;
    double sx = is_ellipsoid ? m[0] : 1.0, sy = is_ellipsoid ? m[1] : 1.0;
    for (int i = 0; i < turn.count; i++)
        for (int j = 0; j < p.count; j++)
            put(points + (ptrdiff_t)4 * (i * p.count + j), world_from_shape,
                (vec3){sx * p.r[j] * turn.r[i], sy * p.r[j] * turn.z[i], p.z[j]},
                turn.w[i] * p.w[j]);
    return nurbs_surface_make((int[2]){2, p.degree}, (int[2]){turn.count, p.count}, turn.knots,
                              turn.count + 3, p.knots, p.count + p.degree + 1, points, out, error);
}
