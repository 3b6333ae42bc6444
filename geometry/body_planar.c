/* Planar bodies: a ring of curves in z = 0, counter-clockwise. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_draft.h"

static hr_status allocate(const body_draft *d, parametric_body *b)
{
    size_t n = (size_t)d->curve_count;
    b->edges = calloc(n, sizeof *b->edges);
    b->vertices = calloc(n, sizeof *b->vertices);
    b->vertex_edges = calloc(2 * n, sizeof *b->vertex_edges);
    b->samples = calloc(n * BODY_GRID * BODY_GRID, sizeof *b->samples);
    return b->edges && b->vertices && b->vertex_edges && b->samples ? HR_OK : HR_ERR_MEMORY;
}

static void bound(const body_draft *d, parametric_body *b)
{
    b->box_low = (vec3){HUGE_VAL, HUGE_VAL, 0};
    b->box_high = (vec3){-HUGE_VAL, -HUGE_VAL, 0};
    for (int i = 0; i < d->curve_count; i++)
        for (int k = 0; k < d->curves[i].count; k++) {
            const double *p = d->curves[i].points + (ptrdiff_t)4 * k;
            b->box_low.x = fmin(b->box_low.x, p[0] / p[3]);
            b->box_low.y = fmin(b->box_low.y, p[1] / p[3]);
            b->box_high.x = fmax(b->box_high.x, p[0] / p[3]);
            b->box_high.y = fmax(b->box_high.y, p[1] / p[3]);
        }
    b->size = vec3_distance(b->box_low, b->box_high);
}

/* Every curve ends where the next one starts, at the vertex of that number where one is stated. */
static hr_status check_ring(const body_draft *d, const parametric_body *b, hr_error *error)
{
    char where[300];
    double tolerance = BODY_SEAM_TOLERANCE * b->size;
    int n = d->curve_count;
    for (int i = 0; i < n; i++) {
        const nurbs_curve *c = &d->curves[i], *next = &d->curves[(i + 1) % n];
        body_where(d, i, where, sizeof where);
        double gap = vec3_distance(nurbs_curve_point(c, nurbs_curve_high(c)),
                                   nurbs_curve_point(next, nurbs_curve_low(next)));
        if (gap > tolerance)
            return error_set(error, HR_ERR_FORMAT,
                             "%s: at u = %.6g: expected to meet the start of curve %d, found a gap "
                             "of %.6g",
                             where, nurbs_curve_high(c), (i + 1) % n, gap);
        if (i >= d->vertex_count)
            continue;
        double miss = vec3_distance(nurbs_curve_point(c, nurbs_curve_low(c)), d->vertices[i]);
        if (miss > tolerance)
            return error_set(error, HR_ERR_FORMAT,
                             "%s: expected to start at vertex %d, found it %.6g away", where, i,
                             miss);
    }
    if (d->vertex_count != 0 && d->vertex_count != n)
        return error_set(error, HR_ERR_FORMAT, "%s: expected %d vertices for %d curves, found %d",
                         d->file, n, n, d->vertex_count);
    return HR_OK;
}

static double area(const parametric_body *b)
{
    double sum = 0.0;
    for (int i = 0; i < b->sample_count; i++) {
        vec3 p = b->samples[i].p, q = b->samples[(i + 1) % b->sample_count].p;
        sum += 0.5 * (p.x * q.y - p.y * q.x);
    }
    return sum;
}

static hr_status check_convex(const body_draft *d, parametric_body *b, hr_error *error)
{
    b->is_convex = true;
    for (int i = 0; i < b->sample_count; i++) {
        const body_sample *s = &b->samples[i];
        jet j;
        body_edge_jet(b, s->face, s->u, NULL, &j);
        vec3 outward = vec3_normalize_or((vec3){j.d1[0].y, -j.d1[0].x, 0}, (vec3){0, 0, 0});
        for (int k = 0; k < b->sample_count; k++) {
            double height = vec3_dot(outward, vec3_sub(b->samples[k].p, s->p));
            if (height <= 1e-6 * b->size)
                continue;
            b->is_convex = false;
            if (!d->must_be_convex)
                return HR_OK;
            char where[300];
            body_where(d, s->face, where, sizeof where);
            return error_set(error, HR_ERR_FORMAT,
                             "%s: at u = %.6g: expected a convex body behind its tangent, found "
                             "curve %d at u = %.6g %.6g in front of it",
                             where, s->u, b->samples[k].face, b->samples[k].u, height);
        }
    }
    return HR_OK;
}

static void fill(body_draft *d, parametric_body *b)
{
    int n = d->curve_count, per_curve = BODY_GRID * BODY_GRID;
    b->is_planar = b->is_closed = true;
    b->edge_count = b->vertex_count = n;
    b->vertex_edge_count = 2 * n;
    for (int i = 0; i < n; i++) {
        body_edge *e = &b->edges[i];
        e->curve = d->curves[i];
        memset(&d->curves[i], 0, sizeof d->curves[i]);
        e->low = nurbs_curve_low(&e->curve);
        e->high = nurbs_curve_high(&e->curve);
        e->vertices[0] = i;
        e->vertices[1] = (i + 1) % n;
        b->vertices[i] = (body_vertex){
            .position = d->vertex_count ? d->vertices[i] : nurbs_curve_point(&e->curve, e->low),
            .first_edge = 2 * i,
            .edge_count = 2};
        vertex_edge *meeting = b->vertex_edges + (ptrdiff_t)2 * i;
        meeting[0] = (vertex_edge){.edge = (i + n - 1) % n, .end = 1};
        meeting[1] = (vertex_edge){.edge = i, .end = 0};
        for (int k = 0; k < per_curve; k++) {
            double t = e->low + (e->high - e->low) * k / (per_curve - 1);
            b->samples[b->sample_count++] =
                (body_sample){nurbs_curve_point(&e->curve, t), i, t, 0.0};
        }
    }
}

hr_status body_build_planar(body_draft *d, parametric_body *b, hr_error *error)
{
    if (d->curve_count < 1)
        return error_set(error, HR_ERR_FORMAT, "%s: expected curves, found none", d->file);
    bound(d, b);
    if (!(b->size > 0) || !isfinite(b->size))
        return error_set(error, HR_ERR_FORMAT, "%s: expected curves with an extent, found %g",
                         d->file, b->size);
    hr_status status = check_ring(d, b, error);
    if (status == HR_OK)
        status = allocate(d, b);
    if (status != HR_OK)
        return status;
    fill(d, b);
    if (!(area(b) > 0))
        return error_set(error, HR_ERR_FORMAT,
                         "%s: expected curves that run counter-clockwise, found an area of %g",
                         d->file, area(b));
    return check_convex(d, b, error);
}
