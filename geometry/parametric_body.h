/* A body whose skin is made of smooth parametric pieces: faces, the edges between them, the
 * vertices where edges meet. Made once at load, checked, and never changed afterwards: any thread
 * may read it. All numbers are in the body's own frame, in the file's unit.
 *
 * A *face* is a parameter rectangle of a surface: several faces may share one surface (which is
 * then split where it has a crease or where its normals span half a turn or more), so (u, v) always
 * means the surface's own parameters. A *planar body* has no faces: its edges are curves in z = 0
 * that run counter-clockwise around it. */
#ifndef GEOMETRY_PARAMETRIC_BODY_H
#define GEOMETRY_PARAMETRIC_BODY_H

#include "geometry/nurbs_curve.h"
#include "geometry/nurbs_surface.h"

typedef enum body_side { SIDE_U0, SIDE_U1, SIDE_V0, SIDE_V1 } body_side;

/* A side fixes parameter `side / 2` at its low (even) or high (odd) end; the other one is free. */
HR_RT static inline int side_direction(int side)
{
    return side / 2;
}
HR_RT static inline bool side_is_high(int side)
{
    return side % 2 == 1;
}

/* Which side of the surface its tangent planes leave free: the tangent plane of a convex face
 * supports the whole face. "Plus" is the side of f_u x f_v. */
typedef enum face_convexity {
    FACE_NOT_CONVEX,
    FACE_CONVEX_PLUS,  /* the face lies behind its tangent planes with normal +f_u x f_v */
    FACE_CONVEX_MINUS, /* ... with normal -f_u x f_v */
    FACE_FLAT          /* both */
} face_convexity;

typedef struct body_face {
    int surface;            /* index into surfaces: the patch number in the file */
    double low[2], high[2]; /* the rectangle, in the surface's parameters */
    nurbs_span first, last; /* the pieces that it covers, inclusive */
    bool is_periodic[2];    /* that parameter wraps from high to low, smoothly; no edge there */
    int edges[4];           /* by side; -1 on collapsed sides and where the parameter wraps */
    int collapsed[4];       /* by side: the vertex to which the side shrinks, or -1 */
    double outward;         /* +1 or -1: outward normal = outward * (f_u x f_v) */
    face_convexity convexity;
    double normal_span;     /* rad, largest angle between two of its normals (of samples) */
    vec3 box_low, box_high; /* holds the whole face (its control points) */
    double size;            /* diagonal of the box */
} body_face;

/* How one face meets an edge: the face's free parameter is a + b t of the edge's parameter t. Where
 * the two are parametrised differently that is only about right, and `table` holds the parameter at
 * BODY_MAP even steps of t (without wrapping). Use body_edge_to_face and body_face_to_edge. */
enum { BODY_MAP = 33 };
typedef struct body_edge_use {
    int face;
    int side;
    double a, b;
    const double *table; /* NULL: even; owned by the body */
} body_edge_use;

typedef struct body_edge {
    nurbs_curve curve; /* in the parameter of use[0]; its domain may be larger than this: */
    double low, high;  /* the edge's parameter range */
    int vertices[2];   /* at low and at high; -1, -1 for a ring */
    bool is_ring;      /* low and high are the same place and the parameter wraps */
    bool is_smooth;    /* both faces have the same normal all along (within 1e-6 rad) */
    int use_count;     /* 2 between two faces (or two sides of one), 1 on an open border,
                          0 in a planar body */
    body_edge_use use[2];
} body_edge;

typedef struct body_vertex {
    vec3 position;
    int first_edge, edge_count;         /* into vertex_edges */
    int first_collapse, collapse_count; /* into vertex_collapses */
} body_vertex;

typedef struct vertex_edge {
    int edge;
    int end;      /* 0: the vertex is where the edge's parameter is low; 1: high */
    vec3 tangent; /* unit, from the vertex into the edge; zero where the edge has none */
} vertex_edge;

/* The fan of directions in which a face leaves the vertex to which its side shrinks. */
enum { BODY_FAN = 17 };
typedef struct vertex_collapse {
    int face;
    int side;
    vec3 fan[BODY_FAN]; /* unit, at equal steps of the parameter along the side, ends included */
    double reach;       /* sine of half the largest angle between two neighbours in the fan */
} vertex_collapse;

/* Seeds: a coarse grid of points on every face (or every edge of a planar body). */
enum { BODY_GRID = 9 }; /* points each way per face, borders included */
typedef struct body_sample {
    vec3 p;
    int face; /* or edge, in a planar body */
    double u, v;
} body_sample;

typedef struct parametric_body {
    bool is_planar; /* curves in the plane z = 0, no faces */
    bool is_convex; /* as a whole: every tangent plane supports every sample of the body */
    bool is_closed; /* every edge has two uses: there is an inside */
    int surface_count;
    nurbs_surface *surfaces;
    int face_count;
    body_face *faces;
    int edge_count;
    body_edge *edges;
    int vertex_count;
    body_vertex *vertices;
    int vertex_edge_count;
    vertex_edge *vertex_edges;
    int vertex_collapse_count;
    vertex_collapse *vertex_collapses;
    int sample_count;
    body_sample *samples;
    int map_count;
    double (*maps)[BODY_MAP]; /* the tables of unevenly parametrised seams */
    vec3 box_low, box_high;   /* of everything */
    double size;              /* diagonal of that box; tolerances are fractions of it */
    char name[64];            /* from the file, may be empty */
} parametric_body;

/* Reads a body: JSON in our format, or a Wavefront OBJ with free-form surfaces, told apart by
 * content. On failure *out is untouched and the message reads "file:line: ...". Release with
 * parametric_body_free, which accepts an empty body. */
HR_MUST_USE hr_status parametric_body_load(const char *path, parametric_body *out, hr_error *error);
void parametric_body_free(parametric_body *b);

/* Fills the tangents and fans at the vertices; body_build does it last. */
void parametric_body_fill_fans(parametric_body *b);

/* Multiplies every length: a file in millimetres becomes metres with 0.001. factor > 0. */
void parametric_body_scale(parametric_body *b, double factor);

/* True if the file can be read and looks like a body (JSON or free-form OBJ) rather than a mesh. */
bool parametric_body_is_file(const char *path);

/* Position and derivatives of a face at (u, v), taken from the face's own side where a knot line
 * is its border. Parameters outside the rectangle are clamped, periodic ones wrapped. span: the
 * pieces used last; may be NULL. */
HR_RT void body_face_jet(const parametric_body *b, int face, double u, double v, nurbs_span *span,
                         jet *out);

/* d1[0] and d2[0] only. */
HR_RT void body_edge_jet(const parametric_body *b, int edge, double t, nurbs_span *span, jet *out);

/* The parameters in face use[which].face of the edge's point at t. */
HR_RT void body_edge_to_face(const parametric_body *b, int edge, int which, double t, double uv[2]);

/* The edge's parameter for a point on side `side` of a face, given the face's parameters; the edge
 * is faces[face].edges[side], which must not be -1. */
HR_RT double body_face_to_edge(const parametric_body *b, int face, int side, const double uv[2]);

/* Outward unit normal of a face from its jet; zero where the face has none (collapsed side). */
HR_RT static inline vec3 body_face_normal(const body_face *f, const jet *j)
{
    vec3 n = vec3_scale(f->outward, vec3_cross(j->d1[0], j->d1[1]));
    return vec3_normalize_or(n, (vec3){0, 0, 0});
}

/* Brings a parameter of a face back into its range: wraps where periodic, clamps elsewhere. */
HR_RT static inline double body_face_wrap(const body_face *f, int direction, double x)
{
    double low = f->low[direction], high = f->high[direction];
    if (f->is_periodic[direction] && (x < low || x > high))
        x -= (high - low) * floor((x - low) / (high - low));
    return x < low ? low : x > high ? high : x;
}

#endif
