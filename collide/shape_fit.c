#include "collide/shape_fit.h"

/* Clouds whose extents differ by less than this are round. */
static const double ROUND = 0.2;

/* A right-handed frame along the principal axes of the cloud. */
static mat3 principal_axes(const vec3 *points, int count)
{
    vec3 mean = {0, 0, 0};
    for (int i = 0; i < count; i++)
        mean = vec3_add_scaled(mean, 1.0 / count, points[i]);
    mat3 spread = {{{0}}};
    for (int i = 0; i < count; i++) {
        vec3 d = vec3_sub(points[i], mean);
        spread = mat3_add(spread, mat3_outer(d, d));
    }
    vec3 values;
    return mat3_principal_axes(spread, &values);
}

static void bounds(const vec3 *points, int count, mat3 axes, vec3 *low, vec3 *high)
{
    *low = *high = mat3_apply_transposed(axes, points[0]);
    for (int i = 1; i < count; i++) {
        vec3 p = mat3_apply_transposed(axes, points[i]);
        *low = (vec3){fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z)};
        *high = (vec3){fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z)};
    }
}

static double component(vec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/* Turns the axes so that the longest extent is z. */
static mat3 longest_last(mat3 axes, vec3 half)
{
    int longest = half.x > half.y ? 0 : 1;
    if (half.z >= component(half, longest))
        return axes;
    vec3 z = mat3_column(axes, longest), x = mat3_column(axes, (longest + 1) % 3);
    return mat3_from_columns(x, vec3_cross(z, x), z);
}

void shape_fit(const vec3 *points, int count, shape *out, pose *points_from_shape)
{
    const double least = 1e-4; /* m: a flat cloud still has to be felt */
    vec3 low, high;
    mat3 axes = principal_axes(points, count);
    bounds(points, count, axes, &low, &high);
    axes = longest_last(axes, vec3_sub(high, low));
    bounds(points, count, axes, &low, &high);
    vec3 half = vec3_scale(0.5, vec3_sub(high, low));
    half = (vec3){fmax(half.x, least), fmax(half.y, least), fmax(half.z, least)};
    vec3 centre = mat3_apply(axes, vec3_scale(0.5, vec3_add(low, high)));
    *points_from_shape = (pose){quat_from_mat3(axes), centre};
    double thin = fmin(half.x, half.y), thick = fmax(half.x, half.y);
    if (thin >= (1 - ROUND) * half.z) {
        *out = (shape){.kind = SHAPE_SPHERE, .radius = half.z};
    } else if (thin >= (1 - ROUND) * thick) {
        *out = (shape){.kind = SHAPE_CAPSULE, .radius = thick, .half_length = half.z - thick};
        if (out->half_length < 0)
            out->half_length = 0;
    } else {
        *out = (shape){.kind = SHAPE_BOX, .half_size = half};
    }
}
