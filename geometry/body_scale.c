/* One body in another unit of length. */
#include <stddef.h>

#include "geometry/parametric_body.h"

/* Homogeneous points: the weight stays. */
static void scale_points(double *points, ptrdiff_t count, double factor)
{
    for (ptrdiff_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            points[4 * i + k] *= factor;
}

static void scale_surface(nurbs_surface *s, double factor)
{
    ptrdiff_t order = (ptrdiff_t)(s->degree[0] + 1) * (s->degree[1] + 1);
    scale_points(s->points, (ptrdiff_t)s->count[0] * s->count[1], factor);
    scale_points(s->pieces, order * s->span_count[0] * s->span_count[1], factor);
}

static void scale_curve(nurbs_curve *c, double factor)
{
    scale_points(c->points, c->count, factor);
    scale_points(c->pieces, (ptrdiff_t)(c->degree + 1) * c->span_count, factor);
}

void parametric_body_scale(parametric_body *b, double factor)
{
    for (int i = 0; i < b->surface_count; i++)
        scale_surface(&b->surfaces[i], factor);
    for (int i = 0; i < b->edge_count; i++)
        scale_curve(&b->edges[i].curve, factor);
    for (int i = 0; i < b->face_count; i++) {
        body_face *f = &b->faces[i];
        f->box_low = vec3_scale(factor, f->box_low);
        f->box_high = vec3_scale(factor, f->box_high);
        f->size *= factor;
    }
    for (int i = 0; i < b->vertex_count; i++)
        b->vertices[i].position = vec3_scale(factor, b->vertices[i].position);
    for (int i = 0; i < b->sample_count; i++)
        b->samples[i].p = vec3_scale(factor, b->samples[i].p);
    b->box_low = vec3_scale(factor, b->box_low);
    b->box_high = vec3_scale(factor, b->box_high);
    b->size *= factor;
}
