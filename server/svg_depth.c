#include "server/svg_depth.h"

#include <math.h>
#include <stdlib.h>

struct depth_picture {
    int width, height;
    double *depth;
    int *owner; /* -1: nobody */
};

depth_picture *depth_create(int width, int height)
{
    if (width < 1 || height < 1)
        return NULL;
    depth_picture *d = calloc(1, sizeof *d);
    size_t n = (size_t)width * (size_t)height;
    if (!d)
        return NULL;
    d->width = width;
    d->height = height;
    d->depth = malloc(n * sizeof *d->depth);
    d->owner = malloc(n * sizeof *d->owner);
    if (!d->depth || !d->owner) {
        depth_destroy(d);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        d->depth[i] = -(double)INFINITY;
        d->owner[i] = -1;
    }
    return d;
}

void depth_destroy(depth_picture *d)
{
    if (!d)
        return;
    free(d->depth);
    free(d->owner);
    free(d);
}

/* Twice the signed area. */
static double turn(depth_corner a, depth_corner b, double x, double y)
{
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

static int clamp(double x, int high)
{
    return x < 0 ? 0 : x > high ? high : (int)x;
}

static void fill_triangle(depth_picture *d, depth_corner a, depth_corner b, depth_corner c,
                          int owner)
{
    double area = turn(a, b, c.x, c.y);
    if (!(fabs(area) > 1e-12))
        return;
    int left = clamp(floor(fmin(a.x, fmin(b.x, c.x))), d->width - 1);
    int right = clamp(ceil(fmax(a.x, fmax(b.x, c.x))), d->width - 1);
    int top = clamp(floor(fmin(a.y, fmin(b.y, c.y))), d->height - 1);
    int bottom = clamp(ceil(fmax(a.y, fmax(b.y, c.y))), d->height - 1);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double u = turn(b, c, x + 0.5, y + 0.5) / area;
            double v = turn(c, a, x + 0.5, y + 0.5) / area;
            if (u < 0 || v < 0 || u + v > 1)
                continue;
            double depth = u * a.depth + v * b.depth + (1 - u - v) * c.depth;
            size_t at = (size_t)y * (size_t)d->width + (size_t)x;
            if (depth > d->depth[at]) {
                d->depth[at] = depth;
                d->owner[at] = owner;
            }
        }
}

void depth_fill(depth_picture *d, const depth_corner *corners, int count, int owner)
{
    for (int k = 1; k + 1 < count; k++)
        fill_triangle(d, corners[0], corners[k], corners[k + 1], owner);
}

/* Place of the pixel in the arrays; -1 outside. */
static long pixel_at(const depth_picture *d, double x, double y)
{
    if (!(x >= 0 && y >= 0 && x < d->width && y < d->height))
        return -1;
    return (long)y * d->width + (long)x;
}

double depth_at(const depth_picture *d, double x, double y)
{
    long at = pixel_at(d, x, y);
    return at < 0 ? -(double)INFINITY : d->depth[at];
}

int depth_owner_at(const depth_picture *d, double x, double y)
{
    long at = pixel_at(d, x, y);
    return at < 0 ? -1 : d->owner[at];
}

void depth_owners(const depth_picture *d, bool *shown, int count)
{
    size_t n = (size_t)d->width * (size_t)d->height;
    for (size_t i = 0; i < n; i++)
        if (d->owner[i] >= 0 && d->owner[i] < count)
            shown[d->owner[i]] = true;
}
