/* Bodies in our own format, JSON (haptic-body(5)). */
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_draft.h"
#include "geometry/nurbs_shapes.h"

typedef struct reader {
    const char *text, *file;
    body_draft draft;
    hr_error *error;
} reader;

/* --- places in the text: jansson tells lines only of syntax errors ------------------------------
 */

static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* Just behind `"key":` at the top level of the object, or NULL. */
static const char *find_key(const char *text, const char *key)
{
    size_t length = strlen(key);
    int depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '"') {
            const char *end = skip_string(p);
            const char *colon = end + strspn(end, " \t\r\n");
            if (depth == 1 && *colon == ':' && (size_t)(end - p) == length + 2 &&
                strncmp(p + 1, key, length) == 0)
                return colon + 1;
            p = end;
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    }
    return NULL;
}

/* Line of item `index` of the top-level array `key`; 1 where it cannot be told. */
static int line_of(const char *text, const char *key, int index)
{
    const char *start = find_key(text, key);
    int depth = 0, item = -1, line = 1;
    const char *found = text;
    for (const char *p = start; p && *p && item < index;) {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        bool opens = *p == '{' || *p == '[';
        if (opens && depth++ == 1 && ++item == index)
            found = p;
        if ((*p == '}' || *p == ']') && --depth == 0)
            break;
        p++;
    }
    for (const char *p = text; p < found; p++)
        line += *p == '\n';
    return line;
}

/* --- numbers ------------------------------------------------------------------------------------
 */

static hr_status expected(reader *r, const char *where, const char *what)
{
    return error_set(r->error, HR_ERR_FORMAT, "%s: expected %s", where, what);
}

static bool read_row(const json_t *array, int count, double *out)
{
    if (!json_is_array(array) || (int)json_array_size(array) != count)
        return false;
    for (int i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, (size_t)i);
        if (!json_is_number(item))
            return false;
        out[i] = json_number_value(item);
    }
    return true;
}

static bool read_integer(const json_t *value, int low, int high, int *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < low ||
        json_integer_value(value) > high)
        return false;
    *out = (int)json_integer_value(value);
    return true;
}

/* One homogeneous point from its place (2 or 3 numbers) and its weight (NULL: 1). */
static hr_status read_point(reader *r, const char *where, const json_t *place, int dimension,
                            const json_t *weight, double *out)
{
    double p[3] = {0};
    if (!read_row(place, dimension, p))
        return expected(r, where, dimension == 3 ? "points of three numbers" : "points x, y");
    if (weight && !json_is_number(weight))
        return expected(r, where, "weights that are numbers");
    double w = weight ? json_number_value(weight) : 1.0;
    if (!(w > 0))
        return error_set(r->error, HR_ERR_FORMAT, "%s: expected positive weights, found %g", where,
                         w);
    for (int c = 0; c < 3; c++)
        out[c] = w * p[c];
    out[3] = w;
    return HR_OK;
}

/* Knots as stated, or those of one Bezier piece. *out is allocated. */
static hr_status read_knots(reader *r, const char *where, const json_t *stated, int degree,
                            int count, double **out, int *knot_count)
{
    if (stated && !json_is_array(stated))
        return expected(r, where, "knots as a list of numbers");
    *knot_count = stated ? (int)json_array_size(stated) : 2 * (degree + 1);
    *out = malloc(((size_t)*knot_count + 1) * sizeof(double));
    if (!*out)
        return error_set(r->error, HR_ERR_MEMORY, "%s: expected memory for %d knots", where,
                         *knot_count);
    if (stated && !read_row(stated, *knot_count, *out))
        return expected(r, where, "knots that are numbers");
    for (int i = 0; !stated && i < *knot_count; i++)
        (*out)[i] = i <= degree ? 0.0 : 1.0;
    if (!stated && count != degree + 1)
        return error_set(r->error, HR_ERR_FORMAT,
                         "%s: expected %d points for degree %d (or knots), found %d", where,
                         degree + 1, degree, count);
    return HR_OK;
}

/* --- patches ------------------------------------------------------------------------------------
 */

typedef struct raw_patch {
    int degree[2], count[2], knot_count[2];
    double *knots[2], *points;
} raw_patch;

static hr_status read_grid(reader *r, const char *where, const json_t *patch, raw_patch *raw)
{
    const json_t *rows = json_object_get(patch, "points");
    const json_t *weights = json_object_get(patch, "weights");
    const json_t *first = json_array_get(rows, 0);
    if (!json_is_array(first) || json_array_size(first) == 0)
        return expected(r, where, "points as rows of points");
    if (json_array_size(rows) > NURBS_POINTS_MAX || json_array_size(first) > NURBS_POINTS_MAX)
        return expected(r, where, "at most 4096 points each way");
    raw->count[0] = (int)json_array_size(rows);
    raw->count[1] = (int)json_array_size(first);
    if (weights && (!json_is_array(weights) || (int)json_array_size(weights) != raw->count[0]))
        return expected(r, where, "one row of weights per row of points");
    raw->points = malloc((size_t)raw->count[0] * (size_t)raw->count[1] * 4 * sizeof(double));
    if (!raw->points)
        return expected(r, where, "memory for the points");
    for (int i = 0; i < raw->count[0]; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        const json_t *weight_row = json_array_get(weights, (size_t)i);
        if (!json_is_array(row) || (int)json_array_size(row) != raw->count[1])
            return error_set(r->error, HR_ERR_FORMAT,
                             "%s: expected %d points in row %d, as in row 0, found %d", where,
                             raw->count[1], i, (int)json_array_size(row));
        if (weights && (int)json_array_size(weight_row) != raw->count[1])
            return error_set(r->error, HR_ERR_FORMAT, "%s: expected %d weights in row %d, found %d",
                             where, raw->count[1], i, (int)json_array_size(weight_row));
        for (int k = 0; k < raw->count[1]; k++) {
            char place[360];
            snprintf(place, sizeof place, "%s: point [%d][%d]", where, i, k);
            hr_status status = read_point(r, place, json_array_get(row, (size_t)k), 3,
                                          weights ? json_array_get(weight_row, (size_t)k) : NULL,
                                          raw->points + (ptrdiff_t)4 * (i * raw->count[1] + k));
            if (status != HR_OK)
                return status;
        }
    }
    return HR_OK;
}

static hr_status read_raw_patch(reader *r, const char *where, const json_t *patch, raw_patch *raw)
{
    double degree[2];
    if (!read_row(json_object_get(patch, "degree"), 2, degree) || degree[0] != floor(degree[0]) ||
        degree[1] != floor(degree[1]) || fabs(degree[0]) > 100 || fabs(degree[1]) > 100)
        return expected(r, where, "degree as two whole numbers from 1 to 7");
    hr_status status = read_grid(r, where, patch, raw);
    const json_t *knots = json_object_get(patch, "knots");
    if (status == HR_OK && knots && (!json_is_array(knots) || json_array_size(knots) != 2))
        status = expected(r, where, "knots as two lists, of u and of v");
    for (int d = 0; d < 2 && status == HR_OK; d++) {
        raw->degree[d] = (int)degree[d];
        status = read_knots(r, where, json_array_get(knots, (size_t)d), raw->degree[d],
                            raw->count[d], &raw->knots[d], &raw->knot_count[d]);
    }
    return status;
}

/* A plane, quadric or torus by its measures. */
static hr_status read_shape(reader *r, const char *where, const json_t *patch, nurbs_surface *out)
{
    hr_error inner = {""};
    nurbs_shape shape = {0};
    const char *name = json_string_value(json_object_get(patch, "shape"));
    hr_status status = nurbs_shape_named(name, &shape.kind);
    if (status != HR_OK)
        return error_set(r->error, status,
                         "%s: expected shape plane, sphere, ellipsoid, cylinder, cone or torus, "
                         "found \"%s\"",
                         where, name ? name : "(no text)");
    for (int i = 0; i < nurbs_shape_measure_count(shape.kind); i++) {
        const char *measure = nurbs_shape_measure_name(shape.kind, i);
        const json_t *value = json_object_get(patch, measure);
        if (!json_is_number(value))
            return error_set(r->error, HR_ERR_FORMAT, "%s: expected a number for \"%s\" of a %s",
                             where, measure, name);
        shape.measures[i] = json_number_value(value);
    }
    double origin[3] = {0}, turn[3] = {0};
    const json_t *stated = json_object_get(patch, "origin");
    const json_t *rotation = json_object_get(patch, "rotation_vector");
    if ((stated && !read_row(stated, 3, origin)) || (rotation && !read_row(rotation, 3, turn)))
        return expected(r, where, "origin and rotation_vector as three numbers");
    pose place = {quat_from_rotation_vector((vec3){turn[0], turn[1], turn[2]}),
                  {origin[0], origin[1], origin[2]}};
    status = nurbs_shape_make(&shape, place, out, &inner);
    return status == HR_OK ? HR_OK : error_set(r->error, status, "%s: %s", where, inner.text);
}

static hr_status read_patch(reader *r, const json_t *patch, int line)
{
    char where[300];
    nurbs_surface *s = body_draft_add_surface(&r->draft, line);
    if (!s)
        return error_set(r->error, HR_ERR_MEMORY, "%s: expected memory for patches", r->file);
    body_where(&r->draft, r->draft.surface_count - 1, where, sizeof where);
    if (!json_is_object(patch))
        return expected(r, where, "an object with degree and points");
    if (json_object_get(patch, "shape"))
        return read_shape(r, where, patch, s);
    raw_patch raw = {0};
    hr_error inner = {""};
    hr_status status = read_raw_patch(r, where, patch, &raw);
    if (status == HR_OK) {
        status = nurbs_surface_make(raw.degree, raw.count, raw.knots[0], raw.knot_count[0],
                                    raw.knots[1], raw.knot_count[1], raw.points, s, &inner);
        if (status != HR_OK)
            error_set(r->error, status, "%s: %s", where, inner.text);
    }
    free(raw.knots[0]);
    free(raw.knots[1]);
    free(raw.points);
    return status;
}

/* --- bodies -------------------------------------------------------------------------------------
 */

static hr_status read_curve(reader *r, const json_t *curve, int line)
{
    char where[300];
    hr_error inner = {""};
    nurbs_curve *c = body_draft_add_curve(&r->draft, line);
    if (!c)
        return error_set(r->error, HR_ERR_MEMORY, "%s: expected memory for curves", r->file);
    body_where(&r->draft, r->draft.curve_count - 1, where, sizeof where);
    const json_t *points = json_object_get(curve, "points");
    const json_t *weights = json_object_get(curve, "weights");
    int degree, count = (int)json_array_size(points), knot_count = 0;
    if (!read_integer(json_object_get(curve, "degree"), 1, NURBS_DEGREE_MAX, &degree))
        return expected(r, where, "degree as a whole number from 1 to 7");
    if (count < 1 || count > NURBS_POINTS_MAX)
        return expected(r, where, "a list of points");
    if (weights && (int)json_array_size(weights) != count)
        return expected(r, where, "one weight per point");
    double *knots = NULL, *homogeneous = malloc((size_t)count * 4 * sizeof(double));
    hr_status status = homogeneous ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < count && status == HR_OK; i++)
        status = read_point(r, where, json_array_get(points, (size_t)i), 2,
                            weights ? json_array_get(weights, (size_t)i) : NULL,
                            homogeneous + (ptrdiff_t)4 * i);
    if (status == HR_OK)
        status = read_knots(r, where, json_object_get(curve, "knots"), degree, count, &knots,
                            &knot_count);
    if (status == HR_OK) {
        status = nurbs_curve_make(degree, count, knots, knot_count, homogeneous, c, &inner);
        if (status != HR_OK)
            error_set(r->error, status, "%s: %s", where, inner.text);
    }
    free(knots);
    free(homogeneous);
    return status;
}

static hr_status read_vertices(reader *r, const json_t *list, int dimension)
{
    if (!list)
        return HR_OK;
    if (!json_is_array(list) || json_array_size(list) > 1000000)
        return expected(r, r->file, "vertices as a list of points");
    int count = (int)json_array_size(list);
    r->draft.vertices = calloc((size_t)count + 1, sizeof *r->draft.vertices);
    if (!r->draft.vertices)
        return error_set(r->error, HR_ERR_MEMORY, "%s: expected memory", r->file);
    for (int i = 0; i < count; i++) {
        double p[3] = {0};
        if (!read_row(json_array_get(list, (size_t)i), dimension, p))
            return error_set(r->error, HR_ERR_FORMAT,
                             "%s:%d: vertex %d: expected a list of %d numbers", r->file,
                             line_of(r->text, "vertices", i), i, dimension);
        r->draft.vertices[i] = (vec3){p[0], p[1], p[2]};
    }
    r->draft.vertex_count = count;
    return HR_OK;
}

static int side_named(const char *name)
{
    for (int i = 0; name && i < 4; i++)
        if (strcmp(name, body_side_names[i]) == 0)
            return i;
    return -1;
}

static hr_status read_edges(reader *r, const json_t *list)
{
    if (!list)
        return HR_OK;
    if (!json_is_array(list) || json_array_size(list) > 1000000)
        return expected(r, r->file, "edges as a list");
    int count = (int)json_array_size(list), patches = r->draft.surface_count;
    r->draft.edges = calloc((size_t)count + 1, sizeof *r->draft.edges);
    if (!r->draft.edges)
        return error_set(r->error, HR_ERR_MEMORY, "%s: expected memory", r->file);
    for (int i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        draft_edge *e = &r->draft.edges[i];
        e->first_side = side_named(json_string_value(json_object_get(item, "first_side")));
        e->second_side = side_named(json_string_value(json_object_get(item, "second_side")));
        bool is_good = read_integer(json_object_get(item, "first"), 0, patches - 1, &e->first) &&
                       read_integer(json_object_get(item, "second"), 0, patches - 1, &e->second) &&
                       e->first_side >= 0 && e->second_side >= 0;
        static const char *const ends[2] = {"start_vertex", "end_vertex"};
        for (int k = 0; k < 2; k++) {
            const json_t *v = json_object_get(item, ends[k]);
            e->vertices[k] = -1;
            is_good =
                is_good && (!v || read_integer(v, 0, r->draft.vertex_count - 1, &e->vertices[k]));
        }
        if (!is_good)
            return error_set(
                r->error, HR_ERR_FORMAT,
                "%s:%d: edge %d: expected first and second (0 to %d), first_side and "
                "second_side (u0, u1, v0 or v1), start_vertex and end_vertex (0 to %d)",
                r->file, line_of(r->text, "edges", i), i, patches - 1, r->draft.vertex_count - 1);
    }
    r->draft.edge_count = count;
    return HR_OK;
}

static hr_status read_collapse(reader *r, const json_t *object)
{
    size_t used = 0;
    for (int side = 0; side < 4; side++) {
        const json_t *value = json_object_get(object, body_side_names[side]);
        if (!value)
            continue;
        if (!read_integer(value, 0, r->draft.vertex_count - 1, &r->draft.collapse[side]))
            return error_set(r->error, HR_ERR_FORMAT,
                             "%s: collapsed_sides: expected a vertex from 0 to %d for side %s",
                             r->file, r->draft.vertex_count - 1, body_side_names[side]);
        r->draft.states_collapse[side] = true;
        used++;
    }
    if (object && json_object_size(object) != used)
        return expected(r, r->file, "collapsed_sides with names u0, u1, v0, v1");
    return HR_OK;
}

/* Calls read for every item of the top-level list `key`. */
static hr_status read_list(reader *r, const json_t *root, const char *key,
                           hr_status (*read)(reader *, const json_t *, int))
{
    const json_t *list = json_object_get(root, key);
    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > 20000)
        return error_set(r->error, HR_ERR_FORMAT, "%s: expected a list of %s with 1 to 20000 items",
                         r->file, key);
    hr_status status = HR_OK;
    for (size_t i = 0; i < json_array_size(list) && status == HR_OK; i++)
        status = read(r, json_array_get(list, i), line_of(r->text, key, (int)i));
    return status;
}

static hr_status read_promise(reader *r, const json_t *root, const char *key, bool *out)
{
    const json_t *value = json_object_get(root, key);
    if (value && !json_is_boolean(value))
        return error_set(r->error, HR_ERR_FORMAT, "%s: expected true or false for \"%s\"", r->file,
                         key);
    if (value)
        *out = json_is_true(value);
    return HR_OK;
}

static hr_status read_body(reader *r, const json_t *root)
{
    const char *kind = json_string_value(json_object_get(root, "kind"));
    bool is_body = kind && strcmp(kind, "body") == 0;
    bool is_planar = kind && strcmp(kind, "planar_body") == 0;
    bool is_set = kind && strcmp(kind, "patches") == 0;
    bool is_patch = kind && (strcmp(kind, "bezier_patch") == 0 || strcmp(kind, "patch") == 0);
    if (!is_body && !is_planar && !is_set && !is_patch)
        return error_set(r->error, HR_ERR_FORMAT,
                         "%s:1: expected kind body, patches, patch, bezier_patch or planar_body, "
                         "found \"%s\"",
                         r->file, kind ? kind : "(none)");
    const char *name = json_string_value(json_object_get(root, "name"));
    snprintf(r->draft.name, sizeof r->draft.name, "%s", name ? name : "");
    r->draft.is_planar = is_planar;
    r->draft.must_be_convex = is_body || is_planar;
    r->draft.must_be_closed = is_body;
    hr_status status = read_promise(r, root, "convex", &r->draft.must_be_convex);
    if (status == HR_OK)
        status = read_promise(r, root, "closed", &r->draft.must_be_closed);
    if (status == HR_OK)
        status = is_planar  ? read_list(r, root, "curves", read_curve)
                 : is_patch ? read_patch(r, root, 1)
                            : read_list(r, root, "patches", read_patch);
    if (status == HR_OK && !is_patch)
        status = read_vertices(r, json_object_get(root, "vertices"), is_planar ? 2 : 3);
    if (status == HR_OK && (is_body || is_set))
        status = read_edges(r, json_object_get(root, "edges"));
    if (status == HR_OK && (is_body || is_set))
        status = read_collapse(r, json_object_get(root, "collapsed_sides"));
    return status;
}

hr_status body_parse_json(const char *text, const char *name, parametric_body *out, hr_error *error)
{
    json_error_t syntax;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &syntax);
    if (!root)
        return error_set(error, HR_ERR_FORMAT, "%s:%d:%d: expected JSON, found an error: %s", name,
                         syntax.line, syntax.column, syntax.text);
    reader r = {.text = text, .file = name, .error = error, .draft = {.file = name}};
    hr_status status = read_body(&r, root);
    if (status == HR_OK)
        status = body_build(&r.draft, out, error);
    body_draft_free(&r.draft);
    json_decref(root);
    return status;
}
