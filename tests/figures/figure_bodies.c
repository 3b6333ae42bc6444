/* The shipped bodies, shaded: every face as a grid of quadrilaterals, painted from back to front,
 * patch borders drawn over them. Argument: the folder to write to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "geometry/parametric_body.h"
#include "server/svg_plot.h"

enum { SHADES = 24 };

static const char *const names[] = {"egg",  "quarter-sphere", "cylinder", "roof", "sphere-six",
                                    "tube", "teapot",         "saddle",   "waves"};
static char shades[SHADES][8];

typedef struct quad {
    double x[4], y[4], depth, light;
} quad;

/* Seen from above at three quarters; x to the right, y up, z toward the eye. */
static vec3 seen(vec3 p)
{
    double a = 0.6, e = 0.5;
    double x = cos(a) * p.x + sin(a) * p.y, y = -sin(a) * p.x + cos(a) * p.y;
    return (vec3){x, sin(e) * y + cos(e) * p.z, -cos(e) * y + sin(e) * p.z};
}

static int by_depth(const void *a, const void *b)
{
    double x = ((const quad *)a)->depth, y = ((const quad *)b)->depth;
    return (x > y) - (x < y);
}

static vec3 at(const parametric_body *b, int cells, int face, int i, int k)
{
    const body_face *f = &b->faces[face];
    jet j;
    body_face_jet(b, face, f->low[0] + (f->high[0] - f->low[0]) * i / cells,
                  f->low[1] + (f->high[1] - f->low[1]) * k / cells, NULL, &j);
    return seen(j.p);
}

static quad make_quad(const parametric_body *b, int cells, int face, int i, int k)
{
    quad q = {.depth = 0};
    vec3 p[4] = {at(b, cells, face, i, k), at(b, cells, face, i + 1, k),
                 at(b, cells, face, i + 1, k + 1), at(b, cells, face, i, k + 1)};
    for (int c = 0; c < 4; c++) {
        q.x[c] = p[c].x;
        q.y[c] = p[c].y;
        q.depth += p[c].z;
    }
    vec3 n = vec3_cross(vec3_sub(p[2], p[0]), vec3_sub(p[3], p[1]));
    n = vec3_normalize_or(n, (vec3){0, 0, 1});
    q.light = fabs(vec3_dot(n, (vec3){-0.36, 0.48, 0.8}));
    return q;
}

static void draw(svg_figure *f, const char *name)
{
    char path[200];
    parametric_body b;
    hr_error error = {""};
    snprintf(path, sizeof path, "config/bodies/%s.json", name);
    if (parametric_body_load(path, &b, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    svg_panel *panel = svg_add_panel(f, name, (svg_axis){0}, (svg_axis){0});
    svg_equal_aspect(panel);
    int count = 0, cells = b.face_count > 8 ? 9 : 28; /* each way per face */
    size_t room = (size_t)b.face_count * (size_t)cells * (size_t)cells;
    quad *quads = malloc(room * sizeof *quads);
    for (int face = 0; quads && face < b.face_count; face++)
        for (int k = 0; k < cells * cells; k++)
            quads[count++] = make_quad(&b, cells, face, k / cells, k % cells);
    if (quads)
        qsort(quads, (size_t)count, sizeof *quads, by_depth);
    for (int i = 0; quads && i < count; i++) {
        int shade = (int)(quads[i].light * (SHADES - 1));
        svg_polygon(panel, quads[i].x, quads[i].y, 4, "",
                    (svg_style){.color = shades[shade], .opacity = 1.0, .width = 0.3});
    }
    free(quads);
    parametric_body_free(&b);
}

int main(int argc, char **argv)
{
    char path[512];
    for (int i = 0; i < SHADES; i++)
        snprintf(shades[i], sizeof shades[i], "#%02x%02x%02x", 40 + 8 * i, 60 + 7 * i, 90 + 6 * i);
    snprintf(path, sizeof path, "%s/bodies.svg", argc > 1 ? argv[1] : ".");
    svg_figure *f = svg_create("Shipped bodies, lengths in their own units", 3);
    svg_panel_size(f, 360, 320);
    for (int i = 0; i < HR_COUNT(names); i++)
        draw(f, names[i]);
    hr_error error = {""};
    hr_status status = svg_write(f, path, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    return status == HR_OK ? 0 : 1;
}
