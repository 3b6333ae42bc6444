/* Directions at the vertices, so that a tracker that rests there looks them up instead of
 * evaluating edges and surfaces in every tick. */
#include <stddef.h>

#include "geometry/parametric_body.h"

static const vec3 none = {0, 0, 0};

static void fill_tangent(const parametric_body *b, vertex_edge *v)
{
    const body_edge *e = &b->edges[v->edge];
    jet j;
    body_edge_jet(b, v->edge, v->end ? e->high : e->low, NULL, &j);
    v->tangent = vec3_normalize_or(vec3_scale(v->end ? -1.0 : 1.0, j.d1[0]), none);
}

static void fill_fan(const parametric_body *b, vertex_collapse *c)
{
    const body_face *f = &b->faces[c->face];
    int d = side_direction(c->side), along = 1 - d;
    double x[2], least = 1.0;
    jet j;
    x[d] = side_is_high(c->side) ? f->high[d] : f->low[d];
    for (int i = 0; i < BODY_FAN; i++) {
        double share = (double)i / (BODY_FAN - 1);
        x[along] = f->low[along] + share * (f->high[along] - f->low[along]);
        body_face_jet(b, c->face, x[0], x[1], NULL, &j);
        c->fan[i] =
            vec3_normalize_or(vec3_scale(side_is_high(c->side) ? -1.0 : 1.0, j.d1[d]), none);
        if (i > 0)
            least = fmin(least, vec3_dot(c->fan[i], c->fan[i - 1]));
    }
    c->reach = sqrt(fmax(0.0, 0.5 * (1.0 - least)));
}

void parametric_body_fill_fans(parametric_body *b)
{
    for (int i = 0; i < b->vertex_edge_count; i++)
        fill_tangent(b, &b->vertex_edges[i]);
    for (int i = 0; i < b->vertex_collapse_count; i++)
        fill_fan(b, &b->vertex_collapses[i]);
}
