/* `haptic closest`: nearest points of a body or mesh to points from standard input. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/mesh_closest.h"
#include "geometry/body_closest.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic closest BODY [--from U V [--from-patch N]] [--patch] [--json] < points.csv\n"
    "\n"
    "Nearest points. Each input line is x,y,z; each output line u,v,px,py,pz,distance: the\n"
    "globally nearest point of BODY (JSON body, free-form OBJ, or mesh: STL, OBJ, DAE, PLY).\n"
    "The distance is negative inside a closed body. On a mesh u and v are the barycentric\n"
    "weights of the triangle's second and third corner.\n"
    "\n"
    "  --from U V         track instead: follow the surface downhill from (U, V), then each\n"
    "                     point from the foot of the one before\n"
    "  --from-patch N     the patch in which (U, V) lies (default 0)\n"
    "  --patch            append the number of the patch (of the triangle, for a mesh)\n"
    "  --json             one JSON object per point instead of a CSV line\n"
    "  --help             this text\n";

typedef struct options {
    bool tracks, wants_patch, wants_json, wants_help;
    double from[2];
    int from_patch;
} options;

typedef struct points {
    int count, room;
    vec3 *items;
} points;

typedef struct answer {
    double u, v, distance;
    vec3 p;
    int patch;
} answer;

/* --- options ------------------------------------------------------------------------------------
 */

static const struct option names[] = {
    {"from", required_argument, NULL, 'f'}, {"from-patch", required_argument, NULL, 'n'},
    {"patch", no_argument, NULL, 'p'},      {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
};

static bool read_number(const char *text, double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    return text && end != text && !*end && isfinite(*out);
}

static int read_option(int letter, int argc, char **argv, options *o)
{
    double n = 0;
    switch (letter) {
    case 'f':
        if (!read_number(optarg, &o->from[0]) || optind >= argc ||
            !read_number(argv[optind], &o->from[1]))
            return command_usage_error("closest", "--from: expected two numbers, u and v");
        optind++;
        o->tracks = true;
        return COMMAND_OK;
    case 'n':
        if (!read_number(optarg, &n) || n < 0 || n > 1e6 || n != floor(n))
            return command_usage_error(
                "closest", "--from-patch: expected a patch number, found \"%s\"", optarg);
        o->from_patch = (int)n;
        return COMMAND_OK;
    case 'p':
        o->wants_patch = true;
        return COMMAND_OK;
    case 'j':
        o->wants_json = true;
        return COMMAND_OK;
    case 'h':
        o->wants_help = true;
        return COMMAND_OK;
    default:
        return command_usage_error("closest", "unknown or incomplete option");
    }
}

/* --- points -------------------------------------------------------------------------------------
 */

/* x,y,z with blanks allowed around each; *column tells where it goes wrong. */
static bool parse_line(const char *line, vec3 *out, int *column)
{
    double x[3];
    const char *p = line;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        p += strspn(p, " \t");
        *column = (int)(p - line) + 1;
        x[i] = strtod(p, &end);
        if (end == p || !isfinite(x[i]) || fabs(x[i]) > 1e150)
            return false;
        p = end + strspn(end, " \t\r");
        *column = (int)(p - line) + 1;
        if (*p != (i < 2 ? ',' : '\0'))
            return false;
        p += i < 2;
    }
    *out = (vec3){x[0], x[1], x[2]};
    return true;
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

static hr_status add_point(points *list, vec3 p)
{
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 1024;
        vec3 *bigger = realloc(list->items, (size_t)room * sizeof *bigger);
        if (!bigger)
            return HR_ERR_MEMORY;
        list->items = bigger;
        list->room = room;
    }
    list->items[list->count++] = p;
    return HR_OK;
}

/* All points, before anything is computed: a bad line means no output at all. */
static hr_status read_points(FILE *in, points *out, hr_error *error)
{
    char *line = NULL;
    size_t size = 0;
    hr_status status = HR_OK;
    for (int number = 1; status == HR_OK && getline(&line, &size, in) >= 0; number++) {
        vec3 p;
        int column;
        line[strcspn(line, "\n")] = '\0';
        if (is_blank(line))
            continue;
        if (!parse_line(line, &p, &column)) {
            line[strcspn(line, "\r")] = '\0';
            status = error_set(error, HR_ERR_FORMAT,
                               "stdin:%d:%d: expected x,y,z as three finite numbers, found "
                               "\"%.80s\"",
                               number, column, line);
        } else if (add_point(out, p) != HR_OK) {
            status =
                error_set(error, HR_ERR_MEMORY, "stdin:%d: expected memory for the points", number);
        }
    }
    free(line);
    if (status == HR_OK && ferror(in))
        status = error_set(error, HR_ERR_IO, "stdin: expected points, could not read: %s",
                           strerror(errno));
    return status;
}

/* --- answers ------------------------------------------------------------------------------------
 */

static void print_answer(const options *o, const answer *a)
{
    if (o->wants_json)
        printf("{\"u\": %.17g, \"v\": %.17g, \"point\": [%.17g, %.17g, %.17g], \"distance\": "
               "%.17g, \"patch\": %d}\n",
               a->u, a->v, a->p.x, a->p.y, a->p.z, a->distance, a->patch);
    else if (o->wants_patch)
        printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", a->u, a->v, a->p.x, a->p.y, a->p.z,
               a->distance, a->patch);
    else
        printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", a->u, a->v, a->p.x, a->p.y, a->p.z,
               a->distance);
}

static void print_body_answer(const options *o, const body_nearest *n)
{
    answer a = {n->u, n->v, n->distance, n->p, n->patch};
    print_answer(o, &a);
}

/* The face of the patch that holds (u, v), or -1. */
static int starting_face(const parametric_body *b, const options *o)
{
    if (b->is_planar) {
        const body_edge *e = o->from_patch < b->edge_count ? &b->edges[o->from_patch] : NULL;
        return e && o->from[0] >= e->low && o->from[0] <= e->high ? o->from_patch : -1;
    }
    for (int i = 0; i < b->face_count; i++) {
        const body_face *f = &b->faces[i];
        if (f->surface == o->from_patch && o->from[0] >= f->low[0] && o->from[0] <= f->high[0] &&
            o->from[1] >= f->low[1] && o->from[1] <= f->high[1])
            return i;
    }
    return -1;
}

static int track_body(const parametric_body *b, const points *list, const options *o)
{
    int face = starting_face(b, o);
    if (face < 0)
        return command_usage_error("closest",
                                   "--from: expected parameters within patch %d, found "
                                   "%g %g",
                                   o->from_patch, o->from[0], o->from[1]);
    body_nearest n = {.face = face, .u = o->from[0], .v = o->from[1]};
    for (int i = 0; i < list->count; i++) {
        if (body_descend(b, n.face, n.u, n.v, list->items[i], &n) != HR_OK)
            return COMMAND_FAILED;
        print_body_answer(o, &n);
    }
    return COMMAND_OK;
}

static int search_body(const parametric_body *b, const points *list, const options *o)
{
    body_finder *finder = body_finder_create(b);
    hr_status status = finder ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < list->count && status == HR_OK; i++) {
        body_nearest n;
        status = body_find_nearest(finder, list->items[i], &n);
        if (status == HR_ERR_MAX_ITER) {
            fprintf(stderr, "haptic closest: point %d: the nearest found, but not proven\n", i + 1);
            status = HR_OK;
        }
        if (status == HR_OK)
            print_body_answer(o, &n);
    }
    body_finder_destroy(finder);
    if (status != HR_OK)
        fprintf(stderr, "haptic closest: %s\n", status_text(status));
    return status == HR_OK ? COMMAND_OK : COMMAND_FAILED;
}

static int search_mesh(const mesh *m, const points *list, const options *o)
{
    mesh_finder *finder = mesh_finder_create(m);
    hr_status status = finder ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < list->count && status == HR_OK; i++) {
        mesh_nearest n;
        status = mesh_find_nearest(finder, list->items[i], &n);
        answer a = {n.u, n.v, n.distance, n.p, n.triangle};
        if (status == HR_OK)
            print_answer(o, &a);
    }
    mesh_finder_destroy(finder);
    if (status != HR_OK)
        fprintf(stderr, "haptic closest: %s\n", status_text(status));
    return status == HR_OK ? COMMAND_OK : COMMAND_FAILED;
}

static int run_body(const char *path, const options *o)
{
    parametric_body b;
    hr_error error = {""};
    points list = {0};
    if (parametric_body_load(path, &b, &error) != HR_OK)
        return command_input_error(&error);
    int code = read_points(stdin, &list, &error) != HR_OK ? command_input_error(&error)
               : o->tracks                                ? track_body(&b, &list, o)
                                                          : search_body(&b, &list, o);
    free(list.items);
    parametric_body_free(&b);
    return code;
}

static int run_mesh(const char *path, const options *o)
{
    mesh m = {0};
    hr_error error = {""};
    points list = {0};
    if (o->tracks)
        return command_usage_error("closest", "--from: expected a parametric body, %s is a mesh",
                                   path);
    if (mesh_load(path, &m, &error) != HR_OK)
        return command_input_error(&error);
    int code = read_points(stdin, &list, &error) != HR_OK ? command_input_error(&error)
                                                          : search_mesh(&m, &list, o);
    free(list.items);
    mesh_free(&m);
    return code;
}

int cmd_closest(int argc, char **argv)
{
    options o = {0};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        int code = read_option(letter, argc, argv, &o);
        if (code != COMMAND_OK)
            return code;
    }
    if (o.wants_help) {
        fputs(usage, stdout);
        return COMMAND_OK;
    }
    if (argc - optind != 1)
        return command_usage_error("closest", "expected one body file, found %d", argc - optind);
    const char *path = argv[optind];
    return parametric_body_is_file(path) ? run_body(path, &o) : run_mesh(path, &o);
}
