/* Where a surface must be split into faces: at creases, and where its normals span half a turn or
 * more; and how a cut continues in the neighbours. */
#include <stddef.h>

#include "geometry/body_draft.h"

#define CREASE_ANGLE 1e-4 /* rad: above what rounding does to a smooth joint in printed data */

bool surface_cuts_add(surface_cuts *c, int direction, double x)
{
    double *at = c->at[direction];
    int n = c->count[direction];
    double near = 1e-9 * (at[n - 1] - at[0]);
    for (int i = 0; i < n; i++)
        if (fabs(at[i] - x) <= near)
            return false;
    if (n == BODY_CUTS_MAX || x < at[0] || x > at[n - 1])
        return false;
    int i = n;
    for (; at[i - 1] > x; i--)
        at[i] = at[i - 1];
    at[i] = x;
    c->count[direction]++;
    return true;
}

static vec3 piece_normal(const nurbs_surface *s, int direction, int span, double x, int other_span,
                         double y)
{
    nurbs_span at =
        direction == 0 ? (nurbs_span){span, other_span} : (nurbs_span){other_span, span};
    jet j;
    nurbs_surface_piece_jet(s, at, direction == 0 ? x : y, direction == 0 ? y : x, &j);
    return vec3_normalize_or(vec3_cross(j.d1[0], j.d1[1]), (vec3){0, 0, 0});
}

/* The normal jumps across the knot line between pieces `span` and `span + 1` of a direction. */
static bool has_crease(const nurbs_surface *s, int direction, int span)
{
    int other = 1 - direction;
    double x = s->breaks[direction][span + 1];
    for (int k = 0; k < s->span_count[other]; k++)
        for (int i = 0; i < 5; i++) {
            double low = s->breaks[other][k], high = s->breaks[other][k + 1];
            double y = low + (high - low) * (0.1 + 0.2 * i);
            vec3 m = piece_normal(s, direction, span, x, k, y);
            vec3 n = piece_normal(s, direction, span + 1, x, k, y);
            bool is_smooth = vec3_length(vec3_cross(m, n)) <= CREASE_ANGLE && vec3_dot(m, n) >= 0;
            if (!is_smooth)
                return true;
        }
    return false;
}

bool body_cut_creases(const parametric_body *b, surface_cuts *cuts)
{
    bool is_cut = false;
    for (int i = 0; i < b->surface_count; i++)
        for (int d = 0; d < 2; d++)
            for (int span = 0; span + 1 < b->surfaces[i].span_count[d]; span++)
                if (has_crease(&b->surfaces[i], d, span) &&
                    surface_cuts_add(&cuts[i], d, b->surfaces[i].breaks[d][span + 1]))
                    is_cut = true;
    return is_cut;
}

enum { WIDE_GRID = 13 };

static void sample_normals(const parametric_body *b, int face, vec3 n[WIDE_GRID][WIDE_GRID])
{
    const body_face *f = &b->faces[face];
    for (int i = 0; i < WIDE_GRID; i++)
        for (int k = 0; k < WIDE_GRID; k++) {
            jet j;
            body_face_jet(b, face, f->low[0] + (f->high[0] - f->low[0]) * i / (WIDE_GRID - 1),
                          f->low[1] + (f->high[1] - f->low[1]) * k / (WIDE_GRID - 1), NULL, &j);
            n[i][k] = body_regular_normal(b, face, &j);
        }
}

/* Smallest cosine between normals of one line of the grid. */
static double line_cosine(vec3 n[WIDE_GRID][WIDE_GRID], int direction, int line)
{
    double least = 1.0;
    for (int i = 0; i < WIDE_GRID; i++)
        for (int k = 0; k < i; k++) {
            vec3 a = direction == 0 ? n[i][line] : n[line][i];
            vec3 c = direction == 0 ? n[k][line] : n[line][k];
            least = fmin(least, vec3_dot(a, c));
        }
    return least;
}

static double all_cosine(vec3 n[WIDE_GRID][WIDE_GRID])
{
    const vec3 *flat = &n[0][0];
    double least = 1.0;
    for (int i = 0; i < WIDE_GRID * WIDE_GRID; i++)
        for (int k = 0; k < i; k++)
            least = fmin(least, vec3_dot(flat[i], flat[k]));
    return least;
}

bool body_cut_wide_faces(const parametric_body *b, surface_cuts *cuts)
{
    bool is_cut = false;
    vec3 n[WIDE_GRID][WIDE_GRID];
    for (int face = 0; face < b->face_count; face++) {
        body_face *f = &b->faces[face];
        sample_normals(b, face, n);
        double cosine = all_cosine(n);
        f->normal_span = acos(fmax(-1.0, cosine));
        /* A direction that wraps has no border to get stuck at. */
        if (f->normal_span < 179.5 * M_PI / 180.0 || f->is_periodic[0] || f->is_periodic[1])
            continue;
        double least[2] = {1.0, 1.0};
        for (int d = 0; d < 2; d++)
            for (int line = 0; line < WIDE_GRID; line++)
                least[d] = fmin(least[d], line_cosine(n, d, line));
        int d = least[0] <= least[1] ? 0 : 1;
        if (surface_cuts_add(&cuts[f->surface], d, 0.5 * (f->low[d] + f->high[d])))
            is_cut = true;
    }
    return is_cut;
}

/* The cuts that cross one side of a seam, carried to its other side. */
static bool carry(const body_edge *seam, int from, surface_cuts *cuts)
{
    const body_edge_use *a = &seam->use[from], *c = &seam->use[1 - from];
    int along = 1 - side_direction(a->side), other = 1 - side_direction(c->side);
    bool is_cut = false;
    for (int i = 0; i < cuts[a->face].count[along]; i++) {
        double t = (cuts[a->face].at[along][i] - a->a) / a->b;
        if (surface_cuts_add(&cuts[c->face], other, c->a + c->b * t))
            is_cut = true;
    }
    return is_cut;
}

void body_spread_cuts(const parametric_body *b, const body_edge *seams, int seam_count,
                      surface_cuts *cuts)
{
    bool is_cut = true;
    for (int round = 0; round < b->surface_count + BODY_CUTS_MAX && is_cut; round++) {
        is_cut = false;
        for (int i = 0; i < seam_count; i++)
            for (int from = 0; from < 2 && seams[i].use_count == 2; from++)
                if (carry(&seams[i], from, cuts))
                    is_cut = true;
    }
}
