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
    free(b->maps);
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

/* The step of a parameter with tangent d that covers `gap`. */
HR_RT static double along_tangent(vec3 d, vec3 gap)
{
    double square = vec3_dot(d, d);
    return square > 0 ? vec3_dot(d, gap) / square : 0.0;
}

/* Unevenly parametrised seams: the table gives the place, projection the rest. */
HR_RT static void refine_on_face(const parametric_body *b, int edge, const body_edge_use *use,
                                 double t, double uv[2])
{
    const body_edge *e = &b->edges[edge];
    int along = 1 - side_direction(use->side);
    double place = (t - e->low) / (e->high - e->low) * (BODY_MAP - 1);
    int i = place < 0 ? 0 : place > BODY_MAP - 2 ? BODY_MAP - 2 : (int)place;
    uv[along] = use->table[i] + (place - i) * (use->table[i + 1] - use->table[i]);
    jet there, here;
    body_edge_jet(b, edge, t, NULL, &there);
    for (int k = 0; k < 3; k++) {
        body_face_jet(b, use->face, uv[0], uv[1], NULL, &here);
        uv[along] += along_tangent(here.d1[along], vec3_sub(there.p, here.p));
    }
}

HR_RT void body_edge_to_face(const parametric_body *b, int edge, int which, double t, double uv[2])
{
    const body_edge_use *use = &b->edges[edge].use[which];
    const body_face *f = &b->faces[use->face];
    int fixed = side_direction(use->side), free_one = 1 - fixed;
    uv[fixed] = side_is_high(use->side) ? f->high[fixed] : f->low[fixed];
    uv[free_one] = use->a + use->b * t;
    if (use->table)
        refine_on_face(b, edge, use, t, uv);
    uv[free_one] = body_face_wrap(f, free_one, uv[free_one]);
}

/* t where the table of a seam has the value x; between its entries as on a straight line. */
HR_RT static double look_up(const body_edge *e, const body_edge_use *use, double x)
{
    const double *table = use->table;
    double sign = table[BODY_MAP - 1] > table[0] ? 1.0 : -1.0;
    int low = 0, high = BODY_MAP - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (sign * (x - table[middle]) >= 0)
            low = middle;
        else
            high = middle;
    }
    double part = (x - table[low]) / (table[high] - table[low]);
    return e->low + (e->high - e->low) * (low + part) / (BODY_MAP - 1);
}

/* A wrapped parameter as the table, which does not wrap, has it. */
HR_RT static double unwrap(const body_face *f, const body_edge_use *use, double x)
{
    int along = 1 - side_direction(use->side);
    double first = use->table[0], last = use->table[BODY_MAP - 1],
           range = f->high[along] - f->low[along];
    double low = first < last ? first : last, high = first < last ? last : first;
    if (x < low - 1e-9 * range)
        x += range;
    else if (x > high + 1e-9 * range)
        x -= range;
    return x;
}

HR_RT double body_face_to_edge(const parametric_body *b, int face, int side, const double uv[2])
{
    const body_edge *e = &b->edges[b->faces[face].edges[side]];
    bool is_second = e->use_count == 2 && e->use[1].face == face && e->use[1].side == side;
    const body_edge_use *use = &e->use[is_second];
    double x = uv[1 - side_direction(side)], t = (x - use->a) / use->b;
    if (use->table) {
        t = look_up(e, use, unwrap(&b->faces[face], use, x));
        jet there, here;
        body_face_jet(b, face, uv[0], uv[1], NULL, &there);
        for (int i = 0; i < 3; i++) {
            body_edge_jet(b, b->faces[face].edges[side], t, NULL, &here);
            t += along_tangent(here.d1[0], vec3_sub(there.p, here.p));
        }
    }
    return t < e->low ? e->low : t > e->high ? e->high : t;
}
