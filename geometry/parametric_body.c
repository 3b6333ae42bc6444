#include "geometry/parametric_body.h"

#include <stdlib.h>
#include <string.h>

void parametric_body_free(parametric_body *b)
{
    for (int i = 0; b->surfaces && i < b->surface_count; i++)
        nurbs_surface_free(&b->surfaces[i]);
    for (int i = 0; b->edges && i < b->edge_count; i++)
        nurbs_curve_free(&b->edges[i].curve);
    free(b->surfaces);
    free(b->faces);
    free(b->edges);
    free(b->vertices);
    free(b->vertex_edges);
    free(b->vertex_collapses);
    free(b->samples);
    memset(b, 0, sizeof *b);
}

HR_RT void body_face_jet(const parametric_body *b, int face, double u, double v, nurbs_span *span,
                         jet *out)
{
    const body_face *f = &b->faces[face];
    const nurbs_surface *s = &b->surfaces[f->surface];
    nurbs_span here = span ? *span : f->first;
    u = body_face_wrap(f, 0, u);
    v = body_face_wrap(f, 1, v);
    here.u = nurbs_find_span(s->breaks[0], f->first.u, f->last.u, here.u, u);
    here.v = nurbs_find_span(s->breaks[1], f->first.v, f->last.v, here.v, v);
    if (span)
        *span = here;
    nurbs_surface_piece_jet(s, here, u, v, out);
}

HR_RT void body_edge_jet(const parametric_body *b, int edge, double t, nurbs_span *span, jet *out)
{
    const body_edge *e = &b->edges[edge];
    if (e->is_ring && (t < e->low || t > e->high))
        t -= (e->high - e->low) * floor((t - e->low) / (e->high - e->low));
    t = t < e->low ? e->low : t > e->high ? e->high : t;
    nurbs_curve_jet(&e->curve, t, span, out);
}

HR_RT void body_edge_to_face(const parametric_body *b, int edge, int which, double t, double uv[2])
{
    const body_edge_use *use = &b->edges[edge].use[which];
    const body_face *f = &b->faces[use->face];
    int fixed = side_direction(use->side), free_one = 1 - fixed;
    double x = use->a + use->b * t;
    uv[fixed] = side_is_high(use->side) ? f->high[fixed] : f->low[fixed];
    uv[free_one] = body_face_wrap(f, free_one, x);
}

HR_RT double body_face_to_edge(const parametric_body *b, int face, int side, const double uv[2])
{
    const body_edge *e = &b->edges[b->faces[face].edges[side]];
    bool is_second = e->use_count == 2 && e->use[1].face == face && e->use[1].side == side;
    const body_edge_use *use = &e->use[is_second];
    double t = (uv[1 - side_direction(side)] - use->a) / use->b;
    return t < e->low ? e->low : t > e->high ? e->high : t;
}
