/* `haptic info` of a parametric body: patches, degrees, seams, poles, convexity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/parametric_body.h"
#include "server/command.h"
#include "server/info.h"

typedef struct body_counts {
    int faces, seams, creases, open_edges, poles, periodic, rational;
    int least[2], most[2]; /* degrees */
    double widest;         /* rad, normals of one face */
} body_counts;

bool info_body_accepts(const char *path, const char *head, size_t size)
{
    (void)size;
    bool is_json = head[strspn(head, " \t\r\n")] == '{' && strstr(head, "\"kind\"");
    return is_json || (info_has_ending(path, ".obj") && parametric_body_is_file(path));
}

static void count_edges(const parametric_body *b, body_counts *c)
{
    for (int i = 0; i < b->edge_count; i++) {
        const body_edge *e = &b->edges[i];
        c->seams += e->use_count == 2;
        c->creases += e->use_count == 2 && !e->is_smooth;
        c->open_edges += e->use_count == 1;
    }
    for (int i = 0; i < b->vertex_count; i++)
        c->poles += b->vertices[i].collapse_count > 0;
}

static body_counts count(const parametric_body *b)
{
    body_counts c = {.faces = b->face_count, .least = {99, 99}};
    for (int i = 0; i < b->surface_count; i++) {
        for (int d = 0; d < 2; d++) {
            int degree = b->surfaces[i].degree[d];
            c.least[d] = degree < c.least[d] ? degree : c.least[d];
            c.most[d] = degree > c.most[d] ? degree : c.most[d];
        }
        c.rational += b->surfaces[i].is_rational;
    }
    for (int i = 0; i < b->face_count; i++) {
        c.periodic += b->faces[i].is_periodic[0] + b->faces[i].is_periodic[1];
        c.widest = b->faces[i].normal_span > c.widest ? b->faces[i].normal_span : c.widest;
    }
    count_edges(b, &c);
    return c;
}

/* All faces of a patch together: convex only if each one is, in the same direction. */
static const char *patch_convexity(const parametric_body *b, int patch)
{
    bool is_plus = true, is_minus = true;
    for (int i = 0; i < b->face_count; i++) {
        face_convexity k = b->faces[i].convexity;
        if (b->faces[i].surface != patch)
            continue;
        is_plus = is_plus && (k == FACE_CONVEX_PLUS || k == FACE_FLAT);
        is_minus = is_minus && (k == FACE_CONVEX_MINUS || k == FACE_FLAT);
    }
    return is_plus && is_minus ? "flat" : is_plus ? "convex(+n)" : is_minus ? "convex(-n)" : "no";
}

/* "v0 v1": the sides of a patch that shrink to a point. */
static void patch_poles(const parametric_body *b, int patch, char out[16])
{
    static const char *const names[4] = {"u0", "u1", "v0", "v1"};
    bool has[4] = {false, false, false, false};
    for (int i = 0; i < b->face_count; i++)
        for (int side = 0; side < 4 && b->faces[i].surface == patch; side++)
            has[side] = has[side] || b->faces[i].collapsed[side] >= 0;
    out[0] = '\0';
    for (int side = 0; side < 4; side++)
        if (has[side])
            snprintf(out + strlen(out), 16 - strlen(out), "%s%s", out[0] ? " " : "", names[side]);
}

static void patch_closed(const parametric_body *b, int patch, char out[8])
{
    bool wraps[2] = {false, false};
    for (int i = 0; i < b->face_count; i++)
        for (int d = 0; d < 2 && b->faces[i].surface == patch; d++)
            wraps[d] = wraps[d] || b->faces[i].is_periodic[d];
    snprintf(out, 8, "%s%s", wraps[0] ? "u" : "", wraps[1] ? "v" : "");
}

static int faces_of(const parametric_body *b, int patch)
{
    int n = 0;
    for (int i = 0; i < b->face_count; i++)
        n += b->faces[i].surface == patch;
    return n;
}

static void print_string(const char *text)
{
    putchar('"');
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json(const parametric_body *b)
{
    body_counts c = count(b);
    printf("{\"kind\": \"%s\", \"name\": ", b->is_planar ? "planar_body" : "body");
    print_string(b->name);
    printf(", \"patches\": %d, \"faces\": %d, \"edges\": %d, \"vertices\": %d, \"seams\": %d, "
           "\"creases\": %d, \"open_edges\": %d, \"poles\": %d, \"periodic\": %d, \"closed\": %s, "
           "\"convex\": %s, \"size\": %.17g, \"box\": [[%.17g, %.17g, %.17g], [%.17g, %.17g, "
           "%.17g]], ",
           b->is_planar ? b->edge_count : b->surface_count, c.faces, b->edge_count, b->vertex_count,
           c.seams, c.creases, c.open_edges, c.poles, c.periodic, b->is_closed ? "true" : "false",
           b->is_convex ? "true" : "false", b->size, b->box_low.x, b->box_low.y, b->box_low.z,
           b->box_high.x, b->box_high.y, b->box_high.z);
    printf("\"patch\": [");
    for (int i = 0; i < b->surface_count; i++) {
        const nurbs_surface *s = &b->surfaces[i];
        char poles[16], closed[8];
        patch_poles(b, i, poles);
        patch_closed(b, i, closed);
        printf("%s{\"degree\": [%d, %d], \"points\": [%d, %d], \"rational\": %s, \"poles\": "
               "\"%s\", \"periodic\": \"%s\", \"convex\": \"%s\", \"faces\": %d}",
               i ? ", " : "", s->degree[0], s->degree[1], s->count[0], s->count[1],
               s->is_rational ? "true" : "false", poles, closed, patch_convexity(b, i),
               faces_of(b, i));
    }
    printf("]}\n");
}

static void print_text(const char *path, const parametric_body *b)
{
    body_counts c = count(b);
    printf("%s: %s%s%s\n", path, b->is_planar ? "planar body" : "body", b->name[0] ? " " : "",
           b->name);
    printf("  size        %.6g (diagonal of its box)\n", b->size);
    printf("  solid       %s, %s\n", b->is_closed ? "closed" : "open",
           b->is_convex ? "convex" : "not convex");
    if (b->is_planar) {
        printf("  curves      %d, vertices %d\n", b->edge_count, b->vertex_count);
        return;
    }
    printf("  patches     %d (%d rational), in %d faces\n", b->surface_count, c.rational, c.faces);
    printf("  degrees     u %d to %d, v %d to %d\n", c.least[0], c.most[0], c.least[1], c.most[1]);
    printf("  seams       %d (%d creases), %d open edges, %d closed directions\n", c.seams,
           c.creases, c.open_edges, c.periodic);
    printf("  vertices    %d, of them %d poles\n", b->vertex_count, c.poles);
    printf("  normals     at most %.1f degrees within a face\n", c.widest * 180.0 / M_PI);
    printf("  patch  degree  points  poles  wraps  faces  convex\n");
    for (int i = 0; i < b->surface_count; i++) {
        const nurbs_surface *s = &b->surfaces[i];
        char poles[16], closed[8];
        patch_poles(b, i, poles);
        patch_closed(b, i, closed);
        printf("  %5d  %d x %d   %2d x %-2d  %-5s  %-5s  %5d  %s\n", i, s->degree[0], s->degree[1],
               s->count[0], s->count[1], poles[0] ? poles : "-", closed[0] ? closed : "-",
               faces_of(b, i), patch_convexity(b, i));
    }
}

int info_body_print(const char *path, bool wants_json)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        return command_input_error(&error);
    if (wants_json)
        print_json(&b);
    else
        print_text(path, &b);
    parametric_body_free(&b);
    return COMMAND_OK;
}
