/* Free-form surfaces of Wavefront OBJ: Bezier and B-spline, rational or not, untrimmed. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_draft.h"

enum { WORDS_MAX = 1 << 20 };

typedef struct numbers {
    int count, room;
    double *items;
} numbers;

typedef struct reader {
    const char *file;
    int line;         /* of the statement being read */
    int surface_line; /* of the open `surf`; 0: none is open */
    hr_error *error;
    body_draft draft;
    numbers vertices;   /* x, y, z, w */
    numbers knots[2];   /* `parm u`, `parm v` of the open surface */
    numbers corners;    /* vertex numbers of the open surface, from 0 */
    double range[2][2]; /* s0 s1 t0 t1 */
    int degree[2];
    bool is_rational, is_bezier, has_type;
} reader;

static hr_status fail(const reader *r, const char *expected, const char *found)
{
    return error_set(r->error, HR_ERR_FORMAT, "%s:%d: expected %s, found \"%.60s\"", r->file,
                     r->line, expected, found);
}

static bool append(numbers *n, double x)
{
    if (n->count == n->room) {
        int room = n->room ? 2 * n->room : 64;
        double *bigger = realloc(n->items, (size_t)room * sizeof *bigger);
        if (!bigger)
            return false;
        n->items = bigger;
        n->room = room;
    }
    n->items[n->count++] = x;
    return true;
}

/* The next word of a statement, or NULL; words end at blanks. */
static char *next_word(char **rest)
{
    char *p = *rest;
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    if (!*p)
        return NULL;
    char *word = p;
    while (*p && *p != ' ' && *p != '\t' && *p != '\r')
        p++;
    if (*p)
        *p++ = '\0';
    *rest = p;
    return word;
}

static hr_status read_number(const reader *r, const char *word, double *out)
{
    char *end = NULL;
    double x = word ? strtod(word, &end) : 0.0;
    if (!word || end == word || *end || !isfinite(x))
        return fail(r, "a finite number", word ? word : "end of line");
    *out = x;
    return HR_OK;
}

static hr_status read_vertex(reader *r, char *rest)
{
    double p[4] = {0, 0, 0, 1};
    for (int i = 0; i < 4; i++) {
        char *word = next_word(&rest);
        if (!word && i == 3)
            break;
        hr_status status = read_number(r, word, &p[i]);
        if (status != HR_OK)
            return status;
    }
    for (int i = 0; i < 4; i++)
        if (!append(&r->vertices, p[i]))
            return HR_ERR_MEMORY;
    return HR_OK;
}

static hr_status read_type(reader *r, char *rest)
{
    char *word = next_word(&rest);
    r->is_rational = word && strcmp(word, "rat") == 0;
    if (r->is_rational)
        word = next_word(&rest);
    r->is_bezier = word && strcmp(word, "bezier") == 0;
    r->has_type = r->is_bezier || (word && strcmp(word, "bspline") == 0);
    return r->has_type ? HR_OK : fail(r, "cstype [rat] bezier or bspline", word ? word : "nothing");
}

static hr_status read_degree(reader *r, char *rest)
{
    for (int d = 0; d < 2; d++) {
        char *word = next_word(&rest);
        double x = 0;
        if (!word && d == 1) {
            r->degree[1] = 0; /* a curve's degree */
            return HR_OK;
        }
        hr_status status = read_number(r, word, &x);
        if (status != HR_OK)
            return status;
        if (x != floor(x) || x < 1 || x > NURBS_DEGREE_MAX)
            return fail(r, "degrees from 1 to 7", word);
        r->degree[d] = (int)x;
    }
    return HR_OK;
}

/* "7/2/3" names vertex 7, "-1" the last one. */
static hr_status read_corner(reader *r, const char *word)
{
    char *end = NULL;
    long n = strtol(word, &end, 10), have = r->vertices.count / 4;
    if (end == word || (*end && *end != '/') || n == 0 || n > have || n < -have)
        return fail(r, "the number of a vertex above", word);
    return append(&r->corners, (double)(n > 0 ? n - 1 : have + n)) ? HR_OK : HR_ERR_MEMORY;
}

static hr_status open_surface(reader *r, char *rest)
{
    if (!r->has_type || r->degree[0] == 0 || r->degree[1] == 0)
        return fail(r, "cstype and deg with two degrees before surf", "surf");
    if (r->surface_line)
        return fail(r, "end before the next surf", "surf");
    r->surface_line = r->line;
    r->knots[0].count = r->knots[1].count = r->corners.count = 0;
    for (int i = 0; i < 4; i++) {
        hr_status status = read_number(r, next_word(&rest), &r->range[i / 2][i % 2]);
        if (status != HR_OK)
            return status;
    }
    for (char *word = next_word(&rest); word; word = next_word(&rest)) {
        hr_status status = read_corner(r, word);
        if (status != HR_OK)
            return status;
        if (r->corners.count > WORDS_MAX)
            return fail(r, "at most a million control points", word);
    }
    return HR_OK;
}

static hr_status read_parameters(reader *r, char *rest)
{
    char *word = next_word(&rest);
    if (!r->surface_line)
        return HR_OK; /* of a curve */
    int d = word && strcmp(word, "u") == 0 ? 0 : word && strcmp(word, "v") == 0 ? 1 : -1;
    if (d < 0)
        return fail(r, "parm u or parm v", word ? word : "nothing");
    r->knots[d].count = 0;
    for (word = next_word(&rest); word; word = next_word(&rest)) {
        double x;
        hr_status status = read_number(r, word, &x);
        if (status != HR_OK)
            return status;
        if (!append(&r->knots[d], x))
            return HR_ERR_MEMORY;
        if (r->knots[d].count > WORDS_MAX)
            return fail(r, "at most a million parameters", word);
    }
    return HR_OK;
}

/* Parameters of a Bezier spline become knots: the ends degree + 1 times, the joints degree times.
 */
static hr_status knots_from_bezier(reader *r, int d)
{
    numbers joints = r->knots[d];
    int segments = joints.count - 1;
    r->knots[d] = (numbers){0};
    bool is_kept = true;
    for (int i = 0; i <= segments && is_kept; i++) {
        int times = r->degree[d] + (i == 0 || i == segments);
        for (int k = 0; k < times; k++)
            is_kept = is_kept && append(&r->knots[d], joints.items[i]);
    }
    free(joints.items);
    return is_kept ? HR_OK : HR_ERR_MEMORY;
}

/* Control points: u runs fastest in the file, v in a surface. */
static double *gather(const reader *r, const int count[2])
{
    double *points = malloc((size_t)count[0] * (size_t)count[1] * 4 * sizeof(double));
    for (int i = 0; points && i < count[0]; i++)
        for (int j = 0; j < count[1]; j++) {
            int corner = (int)r->corners.items[(ptrdiff_t)j * count[0] + i];
            const double *v = r->vertices.items + (ptrdiff_t)4 * corner;
            double *p = points + (ptrdiff_t)4 * (i * count[1] + j);
            p[3] = r->is_rational ? v[3] : 1.0;
            for (int c = 0; c < 3; c++)
                p[c] = p[3] * v[c];
        }
    return points;
}

static hr_status make_surface(reader *r, const int count[2])
{
    hr_error inner = {""};
    nurbs_surface *s = body_draft_add_surface(&r->draft, r->surface_line);
    double *points = gather(r, count);
    if (!s || !points) {
        free(points);
        return HR_ERR_MEMORY;
    }
    hr_status status = nurbs_surface_make(r->degree, count, r->knots[0].items, r->knots[0].count,
                                          r->knots[1].items, r->knots[1].count, points, s, &inner);
    free(points);
    if (status != HR_OK)
        return error_set(r->error, status, "%s:%d: patch %d: %s", r->file, r->surface_line,
                         r->draft.surface_count - 1, inner.text);
    for (int d = 0; d < 2; d++) {
        double low = nurbs_surface_low(s, d), high = nurbs_surface_high(s, d);
        double near = 1e-9 * (high - low);
        if (fabs(r->range[d][0] - low) > near || fabs(r->range[d][1] - high) > near)
            return error_set(r->error, HR_ERR_FORMAT,
                             "%s:%d: patch %d: expected the whole range %g to %g in %s (trimmed "
                             "surfaces cannot be read), found %g to %g",
                             r->file, r->surface_line, r->draft.surface_count - 1, low, high,
                             d ? "v" : "u", r->range[d][0], r->range[d][1]);
    }
    return HR_OK;
}

static hr_status close_surface(reader *r)
{
    if (!r->surface_line)
        return HR_OK; /* of a curve */
    int count[2];
    for (int d = 0; d < 2; d++) {
        if (r->knots[d].count < 2)
            return error_set(r->error, HR_ERR_FORMAT, "%s:%d: expected parm %s before end", r->file,
                             r->line, d ? "v" : "u");
        hr_status status = r->is_bezier ? knots_from_bezier(r, d) : HR_OK;
        if (status != HR_OK)
            return status;
        count[d] = r->knots[d].count - r->degree[d] - 1;
    }
    if (count[0] < 1 || count[1] < 1 || (long)count[0] * count[1] != r->corners.count)
        return error_set(r->error, HR_ERR_FORMAT,
                         "%s:%d: patch %d: expected %d x %d control points (degrees %d, %d; %d and "
                         "%d knots), found %d",
                         r->file, r->surface_line, r->draft.surface_count, count[0], count[1],
                         r->degree[0], r->degree[1], r->knots[0].count, r->knots[1].count,
                         r->corners.count);
    hr_status status = make_surface(r, count);
    r->surface_line = 0;
    return status;
}

static hr_status read_statement(reader *r, char *text)
{
    char *rest = text, *word = next_word(&rest);
    if (!word)
        return HR_OK;
    if (strcmp(word, "v") == 0)
        return read_vertex(r, rest);
    if (strcmp(word, "cstype") == 0)
        return read_type(r, rest);
    if (strcmp(word, "deg") == 0)
        return read_degree(r, rest);
    if (strcmp(word, "surf") == 0)
        return open_surface(r, rest);
    if (strcmp(word, "parm") == 0)
        return read_parameters(r, rest);
    if (strcmp(word, "end") == 0)
        return close_surface(r);
    if (strcmp(word, "trim") == 0 || strcmp(word, "hole") == 0)
        return fail(r, "untrimmed surfaces", word);
    if (strcmp(word, "f") == 0)
        return fail(r, "free-form surfaces without polygons beside them", word);
    return HR_OK; /* names, materials, texture points, special curves */
}

/* Copies one statement (lines joined where they end in a backslash), without its comment. */
static const char *take_statement(const char *text, char *out, int *lines)
{
    bool is_comment = false;
    *lines = 0;
    while (*text) {
        size_t turn = *text == '\\' ? 1 + (text[1] == '\r') : 0;
        if (turn && text[turn] == '\n') {
            text += turn + 1;
            *out++ = ' ';
            (*lines)++;
            continue;
        }
        if (*text == '\n') {
            text++;
            (*lines)++;
            break;
        }
        is_comment = is_comment || *text == '#';
        if (!is_comment)
            *out++ = *text;
        text++;
    }
    *out = '\0';
    return text;
}

static void release(reader *r)
{
    free(r->vertices.items);
    free(r->knots[0].items);
    free(r->knots[1].items);
    free(r->corners.items);
    body_draft_free(&r->draft);
}

hr_status body_parse_obj(const char *text, const char *name, parametric_body *out, hr_error *error)
{
    reader r = {.file = name, .line = 1, .error = error, .draft = {.file = name}};
    char *statement = malloc(strlen(text) + 1);
    hr_status status = statement ? HR_OK : HR_ERR_MEMORY;
    while (status == HR_OK && *text) {
        int lines;
        text = take_statement(text, statement, &lines);
        status = read_statement(&r, statement);
        r.line += lines;
    }
    if (status == HR_OK && r.surface_line)
        status = error_set(error, HR_ERR_FORMAT, "%s:%d: expected end after surf, found none", name,
                           r.surface_line);
    if (status == HR_OK)
        status = body_build(&r.draft, out, error);
    if (status == HR_ERR_MEMORY)
        error_set(error, status, "%s:%d: expected memory for the surfaces", name, r.line);
    free(statement);
    release(&r);
    return status;
}

bool body_is_freeform_obj(const char *text)
{
    for (const char *p = text; (p = strstr(p, "surf")) != NULL; p += 4) {
        const char *start = p;
        while (start > text && (start[-1] == ' ' || start[-1] == '\t'))
            start--;
        bool starts_line = start == text || start[-1] == '\n';
        if (starts_line && isspace((unsigned char)p[4]))
            return true;
    }
    return false;
}
