/* From a draft to a body: faces, then seams, then what is out and what is convex. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_draft.h"

const char *const body_side_names[4] = {"u0", "u1", "v0", "v1"};

void body_draft_free(body_draft *d)
{
    for (int i = 0; d->surfaces && i < d->surface_count; i++)
        nurbs_surface_free(&d->surfaces[i]);
    for (int i = 0; d->curves && i < d->curve_count; i++)
        nurbs_curve_free(&d->curves[i]);
    free(d->surfaces);
    free(d->surface_lines);
    free(d->curves);
    free(d->curve_lines);
    free(d->vertices);
    free(d->edges);
    memset(d, 0, sizeof *d);
}

/* Doubles the room whenever count is a power of two (or zero). */
static void *grown(void *array, int count, size_t item)
{
    if (count & (count - 1))
        return array;
    return realloc(array, (size_t)(count ? 2 * count : 1) * item);
}

nurbs_surface *body_draft_add_surface(body_draft *d, int line)
{
    nurbs_surface *surfaces = grown(d->surfaces, d->surface_count, sizeof *surfaces);
    if (surfaces)
        d->surfaces = surfaces;
    int *lines = grown(d->surface_lines, d->surface_count, sizeof *lines);
    if (lines)
        d->surface_lines = lines;
    if (!surfaces || !lines)
        return NULL;
    memset(&surfaces[d->surface_count], 0, sizeof *surfaces);
    lines[d->surface_count] = line;
    return &surfaces[d->surface_count++];
}

nurbs_curve *body_draft_add_curve(body_draft *d, int line)
{
    nurbs_curve *curves = grown(d->curves, d->curve_count, sizeof *curves);
    if (curves)
        d->curves = curves;
    int *lines = grown(d->curve_lines, d->curve_count, sizeof *lines);
    if (lines)
        d->curve_lines = lines;
    if (!curves || !lines)
        return NULL;
    memset(&curves[d->curve_count], 0, sizeof *curves);
    lines[d->curve_count] = line;
    return &curves[d->curve_count++];
}

void body_where(const body_draft *d, int surface, char *text, int size)
{
    const char *what = d->is_planar ? "curve" : "patch";
    const int *lines = d->is_planar ? d->curve_lines : d->surface_lines;
    int line = lines ? lines[surface] : 0;
    if (line > 0)
        snprintf(text, (size_t)size, "%s:%d: %s %d", d->file, line, what, surface);
    else
        snprintf(text, (size_t)size, "%s: %s %d", d->file, what, surface);
}

static void grow_box(vec3 p, vec3 *low, vec3 *high)
{
    *low = (vec3){fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z)};
    *high = (vec3){fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z)};
}

/* The surface lies in the hull of its control points, and so does each Bezier piece. */
static void bound_face(const parametric_body *b, body_face *f)
{
    const nurbs_surface *s = &b->surfaces[f->surface];
    int points = (s->degree[0] + 1) * (s->degree[1] + 1);
    f->box_low = (vec3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
    f->box_high = vec3_negate(f->box_low);
    for (int u = f->first.u; u <= f->last.u; u++)
        for (int v = f->first.v; v <= f->last.v; v++) {
            const double *p = nurbs_surface_piece(s, (nurbs_span){u, v});
            for (int i = 0; i < points; i++, p += 4)
                grow_box((vec3){p[0] / p[3], p[1] / p[3], p[2] / p[3]}, &f->box_low, &f->box_high);
        }
    f->size = vec3_distance(f->box_low, f->box_high);
}

static void bound_body(parametric_body *b)
{
    b->box_low = (vec3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
    b->box_high = vec3_negate(b->box_low);
    for (int i = 0; i < b->face_count; i++) {
        grow_box(b->faces[i].box_low, &b->box_low, &b->box_high);
        grow_box(b->faces[i].box_high, &b->box_low, &b->box_high);
    }
    b->size = vec3_distance(b->box_low, b->box_high);
}

static void cover_spans(const nurbs_surface *s, body_face *f)
{
    int *first[2] = {&f->first.u, &f->first.v}, *last[2] = {&f->last.u, &f->last.v};
    for (int d = 0; d < 2; d++) {
        *first[d] = 0;
        *last[d] = s->span_count[d] - 1;
        while (*first[d] < *last[d] && s->breaks[d][*first[d] + 1] <= f->low[d])
            (*first[d])++;
        while (*last[d] > *first[d] && s->breaks[d][*last[d]] >= f->high[d])
            (*last[d])--;
    }
}

static hr_status make_faces(parametric_body *b, const surface_cuts *cuts)
{
    int count = 0;
    for (int i = 0; i < b->surface_count; i++)
        count += (cuts[i].count[0] - 1) * (cuts[i].count[1] - 1);
    free(b->faces);
    b->face_count = 0;
    b->faces = calloc((size_t)count + 1, sizeof *b->faces);
    if (!b->faces)
        return HR_ERR_MEMORY;
    for (int i = 0; i < b->surface_count; i++)
        for (int k = 0; k < (cuts[i].count[0] - 1) * (cuts[i].count[1] - 1); k++) {
            body_face *f = &b->faces[b->face_count++];
            int at[2] = {k / (cuts[i].count[1] - 1), k % (cuts[i].count[1] - 1)};
            f->surface = i;
            f->outward = 1.0;
            for (int d = 0; d < 2; d++) {
                f->low[d] = cuts[i].at[d][at[d]];
                f->high[d] = cuts[i].at[d][at[d] + 1];
            }
            cover_spans(&b->surfaces[i], f);
            bound_face(b, f);
        }
    bound_body(b);
    return HR_OK;
}

static hr_status check_sizes(const body_draft *d, const parametric_body *b, hr_error *error)
{
    char where[300];
    for (int i = 0; i < b->face_count; i++) {
        if (isfinite(b->faces[i].size) && b->faces[i].size > 1e-9 * b->size)
            continue;
        body_where(d, b->faces[i].surface, where, sizeof where);
        return error_set(error, HR_ERR_FORMAT,
                         "%s: expected a surface with an extent, found %g in a body of size %g",
                         where, b->faces[i].size, b->size);
    }
    return HR_OK;
}

enum { CUT_ROUNDS = 4 };

/* Whole surfaces first: their seams carry the cuts of one surface to its neighbours. */
static hr_status cut_faces(const body_draft *d, parametric_body *b, surface_cuts *cuts,
                           hr_error *error)
{
    hr_status status = make_faces(b, cuts);
    if (status == HR_OK)
        status = check_sizes(d, b, error);
    if (status == HR_OK)
        status = body_join(d, b, error);
    if (status != HR_OK)
        return status;
    bool is_cut = body_cut_creases(b, cuts);
    body_edge *seams = b->edges;
    int seam_count = b->edge_count;
    b->edges = NULL;
    b->edge_count = 0;
    body_unjoin(b);
    for (int round = 0; status == HR_OK; round++) {
        if (is_cut) {
            body_spread_cuts(b, seams, seam_count, cuts);
            status = make_faces(b, cuts);
        }
        if (status == HR_OK)
            status = body_join(d, b, error);
        /* A face that still turns too far after so many cuts folds back on itself: left as it is.
         */
        is_cut = status == HR_OK && body_cut_wide_faces(b, cuts);
        if (!is_cut || round == CUT_ROUNDS)
            break;
        body_unjoin(b);
    }
    for (int i = 0; i < seam_count; i++)
        nurbs_curve_free(&seams[i].curve);
    free(seams);
    return status;
}

static hr_status sample(parametric_body *b)
{
    b->samples = malloc((size_t)b->face_count * BODY_GRID * BODY_GRID * sizeof *b->samples);
    if (!b->samples)
        return HR_ERR_MEMORY;
    for (int f = 0; f < b->face_count; f++)
        for (int k = 0; k < BODY_GRID * BODY_GRID; k++) {
            const body_face *face = &b->faces[f];
            int row = k / BODY_GRID, column = k % BODY_GRID;
            double s = (double)row / (BODY_GRID - 1), t = (double)column / (BODY_GRID - 1);
            body_sample *out = &b->samples[b->sample_count++];
            out->face = f;
            out->u = face->low[0] + s * (face->high[0] - face->low[0]);
            out->v = face->low[1] + t * (face->high[1] - face->low[1]);
            jet j;
            body_face_jet(b, f, out->u, out->v, NULL, &j);
            out->p = j.p;
        }
    return HR_OK;
}

static hr_status build_surfaces(body_draft *d, parametric_body *b, hr_error *error)
{
    b->surfaces = d->surfaces;
    b->surface_count = d->surface_count;
    surface_cuts *cuts = calloc((size_t)b->surface_count, sizeof *cuts);
    hr_status status = cuts ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; cuts && i < b->surface_count; i++)
        for (int k = 0; k < 2; k++) {
            cuts[i].count[k] = 2;
            cuts[i].at[k][0] = nurbs_surface_low(&b->surfaces[i], k);
            cuts[i].at[k][1] = nurbs_surface_high(&b->surfaces[i], k);
        }
    if (status == HR_OK)
        status = cut_faces(d, b, cuts, error);
    if (status == HR_OK)
        status = body_check_seams(d, b, error);
    if (status == HR_OK)
        status = body_orient(d, b, error);
    if (status == HR_OK)
        status = sample(b);
    free(cuts);
    if (status != HR_OK) {
        b->surfaces = NULL; /* still the draft's */
        return status;
    }
    d->surfaces = NULL;
    d->surface_count = 0;
    return HR_OK;
}

hr_status body_build(body_draft *d, parametric_body *out, hr_error *error)
{
    parametric_body b = {0};
    memcpy(b.name, d->name, sizeof b.name);
    hr_status status;
    if (d->is_planar)
        status = body_build_planar(d, &b, error);
    else if (d->surface_count == 0)
        status = error_set(error, HR_ERR_FORMAT, "%s: expected surfaces, found none", d->file);
    else
        status = build_surfaces(d, &b, error);
    if (status == HR_ERR_MEMORY)
        error_set(error, status, "%s: expected memory for %d patches", d->file, d->surface_count);
    if (status != HR_OK) {
        parametric_body_free(&b);
        return status;
    }
    parametric_body_fill_fans(&b);
    *out = b;
    return HR_OK;
}
