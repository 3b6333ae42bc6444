/* Do the seams of a body hold what its file says, and does it close? */
#include <stdio.h>

#include "geometry/body_draft.h"

/* The face of an uncut copy of the surface: sides are compared as the file states them. */
static void sample_surface_side(const parametric_body *b, int surface, int side,
                                vec3 out[SIDE_SAMPLES])
{
    const nurbs_surface *s = &b->surfaces[surface];
    int fixed = side_direction(side), along = 1 - fixed;
    double uv[2];
    uv[fixed] = side_is_high(side) ? nurbs_surface_high(s, fixed) : nurbs_surface_low(s, fixed);
    for (int i = 0; i < SIDE_SAMPLES; i++) {
        double low = nurbs_surface_low(s, along), high = nurbs_surface_high(s, along);
        uv[along] = low + (high - low) * i / (SIDE_SAMPLES - 1);
        out[i] = nurbs_surface_point(s, uv[0], uv[1]);
    }
}

/* Largest distance of samples taken in the better of the two directions, and where. */
static double side_gap(const vec3 *p, const vec3 *q, int *where)
{
    double gap[2] = {0, 0};
    int at[2] = {0, 0};
    for (int i = 0; i < SIDE_SAMPLES; i++)
        for (int k = 0; k < 2; k++) {
            double g = vec3_distance(p[i], q[k ? SIDE_SAMPLES - 1 - i : i]);
            if (g > gap[k]) {
                gap[k] = g;
                at[k] = i;
            }
        }
    int best = gap[1] < gap[0];
    *where = at[best];
    return gap[best];
}

static double side_parameter(const nurbs_surface *s, int side, int i)
{
    int along = 1 - side_direction(side);
    double low = nurbs_surface_low(s, along), high = nurbs_surface_high(s, along);
    return low + (high - low) * i / (SIDE_SAMPLES - 1);
}

static hr_status check_stated_edges(const body_draft *d, const parametric_body *b, hr_error *error)
{
    char where[300];
    vec3 p[SIDE_SAMPLES], q[SIDE_SAMPLES];
    for (int i = 0; i < d->edge_count; i++) {
        const draft_edge *e = &d->edges[i];
        sample_surface_side(b, e->first, e->first_side, p);
        sample_surface_side(b, e->second, e->second_side, q);
        int at;
        double gap = side_gap(p, q, &at);
        if (gap > BODY_SEAM_TOLERANCE * b->size) {
            body_where(d, e->first, where, sizeof where);
            return error_set(error, HR_ERR_FORMAT,
                             "%s: side %s at %s = %.6g: expected to meet side %s of patch %d (edge "
                             "%d) within %.3g, found a gap of %.6g",
                             where, body_side_names[e->first_side], e->first_side < 2 ? "v" : "u",
                             side_parameter(&b->surfaces[e->first], e->first_side, at),
                             body_side_names[e->second_side], e->second, i,
                             BODY_SEAM_TOLERANCE * b->size, gap);
        }
        for (int k = 0; k < 2; k++) {
            int v = e->vertices[k];
            vec3 ends[2] = {p[0], p[SIDE_SAMPLES - 1]};
            if (v < 0)
                continue;
            double miss = fmin(vec3_distance(d->vertices[v], ends[0]),
                               vec3_distance(d->vertices[v], ends[1]));
            if (miss <= BODY_SEAM_TOLERANCE * b->size)
                continue;
            body_where(d, e->first, where, sizeof where);
            return error_set(error, HR_ERR_FORMAT,
                             "%s: side %s (edge %d): expected an end at vertex %d, found it %.6g "
                             "away",
                             where, body_side_names[e->first_side], i, v, miss);
        }
    }
    return HR_OK;
}

static hr_status check_stated_collapse(const body_draft *d, const parametric_body *b,
                                       hr_error *error)
{
    char where[300];
    vec3 p[SIDE_SAMPLES];
    for (int surface = 0; surface < b->surface_count; surface++)
        for (int side = 0; side < 4; side++) {
            if (!d->states_collapse[side])
                continue;
            sample_surface_side(b, surface, side, p);
            for (int i = 0; i < SIDE_SAMPLES; i++) {
                double miss = vec3_distance(p[i], d->vertices[d->collapse[side]]);
                if (miss <= BODY_SEAM_TOLERANCE * b->size)
                    continue;
                body_where(d, surface, where, sizeof where);
                return error_set(
                    error, HR_ERR_FORMAT,
                    "%s: side %s at %s = %.6g: expected it to collapse to vertex %d, found it %.6g "
                    "away",
                    where, body_side_names[side], side < 2 ? "v" : "u",
                    side_parameter(&b->surfaces[surface], side, i), d->collapse[side], miss);
            }
        }
    return HR_OK;
}

/* How far the nearest other side is, for the message about a side that nothing joins. */
static double nearest_side_gap(const parametric_body *b, int face, int side, int *other_face,
                               int *at)
{
    vec3 p[SIDE_SAMPLES], q[SIDE_SAMPLES];
    double best = HUGE_VAL;
    body_sample_side(b, face, side, p);
    for (int k = 0; k < 4 * b->face_count; k++) {
        if (k == 4 * face + side)
            continue;
        int where;
        body_sample_side(b, k / 4, k % 4, q);
        double gap = side_gap(p, q, &where);
        if (gap < best) {
            best = gap;
            *other_face = k / 4;
            *at = where;
        }
    }
    return best;
}

static hr_status check_closed(const body_draft *d, const parametric_body *b, hr_error *error)
{
    char where[300];
    for (int i = 0; i < b->edge_count; i++) {
        if (b->edges[i].use_count != 1)
            continue;
        int face = b->edges[i].use[0].face, side = b->edges[i].use[0].side, other = face, at = 0;
        double gap = nearest_side_gap(b, face, side, &other, &at), uv[2];
        body_side_parameters(&b->faces[face], side, at, uv);
        body_where(d, b->faces[face].surface, where, sizeof where);
        return error_set(error, HR_ERR_FORMAT,
                         "%s: side %s at u = %.6g, v = %.6g: expected a patch that joins it (the "
                         "body must be closed), found a gap of %.6g to patch %d",
                         where, body_side_names[side], uv[0], uv[1], gap, b->faces[other].surface);
    }
    return HR_OK;
}

hr_status body_check_seams(const body_draft *d, const parametric_body *b, hr_error *error)
{
    hr_status status = check_stated_collapse(d, b, error);
    if (status == HR_OK)
        status = check_stated_edges(d, b, error);
    if (status == HR_OK && d->must_be_closed)
        status = check_closed(d, b, error);
    return status;
}
