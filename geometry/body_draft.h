/* A body as a file states it, before it is checked and joined: what loaders fill and body_build
 * consumes. */
#ifndef GEOMETRY_BODY_DRAFT_H
#define GEOMETRY_BODY_DRAFT_H

#include "geometry/parametric_body.h"

/* "Side first_side of patch first is side second_side of patch second." */
typedef struct draft_edge {
    int first, first_side;
    int second, second_side;
    int vertices[2]; /* start, end; -1 where not stated */
} draft_edge;

/* Everything but `file` is owned; {0} is empty. */
typedef struct body_draft {
    const char *file; /* for messages; borrowed */
    char name[64];
    bool must_be_convex, must_be_closed; /* what the file promises */
    bool is_planar;                      /* curves, no surfaces */
    int surface_count;
    nurbs_surface *surfaces;
    int *surface_lines; /* where each starts in the file; 0: not known */
    int curve_count;
    nurbs_curve *curves;
    int *curve_lines;
    int vertex_count;
    vec3 *vertices; /* stated ones keep their numbers in the body */
    int edge_count;
    draft_edge *edges; /* stated ones keep their numbers in the body */
    bool states_collapse[4];
    int collapse[4]; /* by side, for every patch: the vertex to which it shrinks */
} body_draft;

void body_draft_free(body_draft *d);

/* Room for one more surface or curve (zeroed), or NULL. */
nurbs_surface *body_draft_add_surface(body_draft *d, int line);
nurbs_curve *body_draft_add_curve(body_draft *d, int line);

/* Checks, splits and joins. Takes the surfaces and curves out of the draft on success (free the
 * draft in any case). Messages name the file, the line where known, the patch and the parameter. */
HR_MUST_USE hr_status body_build(body_draft *d, parametric_body *out, hr_error *error);

/* The two readers, on text that ends with a zero byte; `name` is the file's name in messages. */
HR_MUST_USE hr_status body_parse_json(const char *text, const char *name, parametric_body *out,
                                      hr_error *error);
HR_MUST_USE hr_status body_parse_obj(const char *text, const char *name, parametric_body *out,
                                     hr_error *error);

/* True for OBJ text that holds free-form surfaces (a `surf` statement). */
bool body_is_freeform_obj(const char *text);

/* --- steps of body_build, in this order; each in its own file -------------------------------- */

/* "file:line: patch 3" (line left out where not known). */
void body_where(const body_draft *d, int surface, char *text, int size);

/* Where a surface is cut into faces, both ends included, rising. */
enum { BODY_CUTS_MAX = 32 };
typedef struct surface_cuts {
    int count[2];
    double at[2][BODY_CUTS_MAX];
} surface_cuts;

/* Adds a cut unless there is one (within 1e-9 of the range) or no room; true if it was added. */
bool surface_cuts_add(surface_cuts *c, int direction, double x);

/* Cuts at knot lines across which the normal jumps. */
bool body_cut_creases(const parametric_body *b, surface_cuts *cuts);

/* Cuts faces whose normals span half a turn or more, in the middle. */
bool body_cut_wide_faces(const parametric_body *b, surface_cuts *cuts);

/* Carries every cut across the seams (the edges of the uncut surfaces), so that no face ever meets
 * the middle of another's side. */
void body_spread_cuts(const parametric_body *b, const body_edge *seams, int seam_count,
                      surface_cuts *cuts);

/* Edges and vertices: every side is joined to the side that runs along it. Seams closer than this
 * fraction of the body's size are watertight. */
#define BODY_SEAM_TOLERANCE 1e-6
hr_status body_join(const body_draft *d, parametric_body *b, hr_error *error);
void body_unjoin(parametric_body *b);

/* Stated edges and collapsed sides are what the file says they are; with the promise of a closed
 * body, that no side is left alone. */
hr_status body_check_seams(const body_draft *d, const parametric_body *b, hr_error *error);

enum { SIDE_SAMPLES = 33 };
/* Points of a face along one side, in the order of the free parameter. */
void body_sample_side(const parametric_body *b, int face, int side, vec3 out[SIDE_SAMPLES]);
/* The face's parameters of sample i. */
void body_side_parameters(const body_face *f, int side, int i, double uv[2]);
/* Unit vector along f_u x f_v; zero where rounding decides it (a pole). */
vec3 body_regular_normal(const parametric_body *b, int face, const jet *j);
extern const char *const body_side_names[4];

/* Which way is out, which faces are convex, is the whole. */
hr_status body_orient(const body_draft *d, parametric_body *b, hr_error *error);

hr_status body_build_planar(body_draft *d, parametric_body *b, hr_error *error);

#endif
