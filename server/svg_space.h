/* Things in space on paper: pieces of surface, lines, arrows and dots in world coordinates, seen
 * from far away (parallel projection) and written as SVG. Pieces are painted from the back to the
 * front; a picture of depths tells which pieces, and which parts of lines, are hidden.
 *
 * What is added stays independent of the view, so one collection can be looked at from several
 * sides. A failed allocation makes every later call do nothing, and space_has_failed says so. */
#ifndef SERVER_SVG_SPACE_H
#define SERVER_SVG_SPACE_H

#include <stdio.h>

#include "geometry/vec3.h"

/* Where the paper's axes are in the world; unit vectors. */
typedef struct space_view {
    vec3 right, up, toward; /* toward: to the eye */
} space_view;

/* Azimuth 0 looks from the operator (along -x, y to the right), 90 from the right; elevation 90
 * from above. Degrees. */
space_view space_view_from(double azimuth, double elevation);

/* The part of the paper that is drawn on, and what is in its middle. */
typedef struct space_window {
    double left, top, width, height; /* px */
    double x, y;                     /* m, along right and up, in the middle */
    double scale;                    /* px per m */
} space_window;

typedef struct space_color {
    double r, g, b; /* 0..1 */
} space_color;

typedef struct space space;
space *space_create(void);    /* NULL when out of memory */
void space_destroy(space *s); /* accepts NULL */
bool space_has_failed(const space *s);

/* What a piece belongs to and looks like. */
typedef struct space_paint {
    space_color color;
    int body;       /* an outline is drawn where one body ends in front of another */
    bool is_ground; /* evenly lit, shows its borders, does not count for the fit */
} space_paint;

/* A flat convex piece of 3 or 4 corners. A zero normal: it has two sides. */
void space_add_piece(space *s, const vec3 *corners, int count, vec3 normal, space_paint paint);

typedef struct space_pen {
    const char *color; /* CSS; must outlive the space */
    double width;      /* px */
    double hidden;     /* 0..1, opacity of what is behind something */
    double slack;      /* m: so far behind a surface it still counts as on it */
    bool is_aside;     /* does not count for the fit */
} space_pen;

/* A break where a point is not finite. Copied. */
void space_add_line(space *s, const vec3 *points, int count, space_pen pen);

/* Arrows and dots are on top of everything. */
void space_add_arrow(space *s, vec3 from, vec3 to, space_pen pen);
void space_add_dot(space *s, vec3 at, double radius_m, double radius_px, const char *fill,
                   const char *border);

/* The window in which everything of all the spaces (but ground) has room; `margin` px are left free
 * around it. */
void space_fit(const space *const *spaces, int count, const space_view *view, double margin,
               space_window *w);

/* How many of the points (with this slack, m) can be seen. */
int space_count_visible(const space *s, const space_view *view, const space_window *w,
                        const vec3 *points, int count, double slack);

void space_write(const space *s, const space_view *view, const space_window *w, FILE *out);

/* Where a point is on the paper, px. */
void space_project(const space_view *view, const space_window *w, vec3 point, double *x, double *y);

#endif
