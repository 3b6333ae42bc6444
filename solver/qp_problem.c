#include "solver/qp_problem.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *text, *name;
    size_t size;
    hr_error *error;
} reader;

/* The parser forgets lines; the place of a key's first mention is where a person looks. */
static int line_of(const reader *r, const char *key)
{
    char quoted[32];
    int length = snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = memmem(r->text, r->size, quoted, (size_t)length);
    int line = 1;
    for (const char *c = r->text; at && c < at; c++)
        line += *c == '\n';
    return line;
}

static hr_status refuse(const reader *r, const char *key, const char *expected, const char *found)
{
    return error_set(r->error, HR_ERR_FORMAT, "%s:%d: %s: expected %s, found %s", r->name,
                     line_of(r, key), key, expected, found);
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {"an object", "an array", "text",  "an integer",
                                        "a number",  "true",     "false", "null"};
    return value ? names[json_typeof(value)] : "nothing";
}

static hr_status read_size(const reader *r, const json_t *in, const char *key, int least, int most,
                           int *out)
{
    const json_t *value = json_object_get(in, key);
    char expected[80], found[48];
    snprintf(expected, sizeof expected, "a whole number from %d to %d", least, most);
    if (!json_is_integer(value))
        return refuse(r, key, expected, type_name(value));
    json_int_t number = json_integer_value(value);
    if (number < least || number > most) {
        snprintf(found, sizeof found, "%lld", (long long)number);
        return refuse(r, key, expected, found);
    }
    *out = (int)number;
    return HR_OK;
}

/* An array of exactly `count` numbers. A null is `absent` where that is not NaN. */
static hr_status read_numbers(const reader *r, const json_t *in, const char *key, int count,
                              double absent, double **out)
{
    const json_t *array = json_object_get(in, key);
    char expected[80], found[80];
    if (!json_is_array(array) || json_array_size(array) != (size_t)count) {
        snprintf(expected, sizeof expected, "an array of %d numbers", count);
        snprintf(found, sizeof found, "%s of %zu", type_name(array), json_array_size(array));
        return refuse(r, key, expected, json_is_array(array) ? found : type_name(array));
    }
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out)
        return error_set(r->error, HR_ERR_MEMORY, "%s: out of memory", r->name);
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        bool is_absent = json_is_null(value) && !isnan(absent);
        if (!is_absent && !json_is_number(value)) {
            snprintf(expected, sizeof expected, "a number at place %d", i);
            return refuse(r, key, expected, type_name(value));
        }
        (*out)[i] = is_absent ? absent : json_number_value(value);
    }
    return HR_OK;
}

static hr_status read_indices(const reader *r, const json_t *in, const char *key,
                              const char *matrix, int count, int below, int **out)
{
    const json_t *array = json_object_get(in, key);
    char expected[96], found[48];
    if (!json_is_array(array) || json_array_size(array) != (size_t)count) {
        snprintf(expected, sizeof expected, "\"%s\" to be an array as long as \"v\" (%d)", key,
                 count);
        return refuse(r, matrix, expected, type_name(array));
    }
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out)
        return error_set(r->error, HR_ERR_MEMORY, "%s: out of memory", r->name);
    for (int k = 0; k < count; k++) {
        const json_t *value = json_array_get(array, (size_t)k);
        json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
        if (number < 0 || number >= below) {
            snprintf(expected, sizeof expected, "\"%s\"[%d] from 0 to %d", key, k, below - 1);
            snprintf(found, sizeof found, "%lld", (long long)number);
            return refuse(r, matrix, expected, json_is_integer(value) ? found : type_name(value));
        }
        (*out)[k] = (int)number;
    }
    return HR_OK;
}

static int compare_places(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static hr_status refuse_twice(const reader *r, const char *key, const qp_triplets *t)
{
    int64_t *place = calloc((size_t)t->count + 1, sizeof *place);
    if (!place)
        return error_set(r->error, HR_ERR_MEMORY, "%s: out of memory", r->name);
    for (int k = 0; k < t->count; k++)
        place[k] = (int64_t)t->i[k] * t->cols + t->j[k];
    qsort(place, (size_t)t->count, sizeof *place, compare_places);
    hr_status status = HR_OK;
    for (int k = 1; k < t->count && status == HR_OK; k++) {
        if (place[k] != place[k - 1])
            continue;
        char found[64];
        snprintf(found, sizeof found, "(%d, %d) twice", (int)(place[k] / t->cols),
                 (int)(place[k] % t->cols));
        status = refuse(r, key, "every entry once", found);
    }
    free(place);
    return status;
}

static hr_status read_matrix(const reader *r, const json_t *root, const char *key, int rows,
                             int cols, qp_triplets *out)
{
    const json_t *matrix = json_object_get(root, key);
    if (!json_is_object(matrix))
        return refuse(r, key, "an object with rows, cols, i, j and v", type_name(matrix));
    hr_status status = read_size(r, matrix, "rows", 0, QP_PROBLEM_SIZE_MAX, &out->rows);
    if (status == HR_OK)
        status = read_size(r, matrix, "cols", 0, QP_PROBLEM_SIZE_MAX, &out->cols);
    if (status != HR_OK)
        return status;
    if (out->rows != rows || out->cols != cols) {
        char expected[64], found[64];
        snprintf(expected, sizeof expected, "a matrix of %d x %d", rows, cols);
        snprintf(found, sizeof found, "%d x %d", out->rows, out->cols);
        return refuse(r, key, expected, found);
    }
    const json_t *values = json_object_get(matrix, "v");
    if (!json_is_array(values) || json_array_size(values) > QP_PROBLEM_ENTRIES_MAX)
        return refuse(r, key, "\"v\" to be an array of at most 20000000 numbers",
                      type_name(values));
    out->count = (int)json_array_size(values);
    status = read_numbers(r, matrix, "v", out->count, (double)NAN, &out->v);
    if (status == HR_OK)
        status = read_indices(r, matrix, "i", key, out->count, rows, &out->i);
    if (status == HR_OK)
        status = read_indices(r, matrix, "j", key, out->count, cols, &out->j);
    return status == HR_OK ? refuse_twice(r, key, out) : status;
}

/* A bound of 1e20 and beyond is how some collections write infinity. */
static hr_status check_bounds(const reader *r, qp_problem *p)
{
    for (int k = 0; k < p->m; k++) {
        if (p->low[k] <= -1e20)
            p->low[k] = -(double)INFINITY;
        if (p->high[k] >= 1e20)
            p->high[k] = (double)INFINITY;
        if (p->low[k] >= 1e20 || p->high[k] <= -1e20) {
            char found[80];
            snprintf(found, sizeof found, "%g .. %g in row %d", p->low[k], p->high[k], k);
            return refuse(r, "l", "a finite number between the bounds", found);
        }
    }
    return HR_OK;
}

static hr_status read_program(const reader *r, const json_t *root, qp_problem *p)
{
    hr_status status = read_size(r, root, "n", 1, QP_PROBLEM_SIZE_MAX, &p->n);
    if (status == HR_OK)
        status = read_size(r, root, "m", 0, QP_PROBLEM_SIZE_MAX, &p->m);
    if (status == HR_OK)
        status = read_matrix(r, root, "P", p->n, p->n, &p->p);
    if (status == HR_OK)
        status = read_matrix(r, root, "A", p->m, p->n, &p->a);
    if (status == HR_OK)
        status = read_numbers(r, root, "q", p->n, (double)NAN, &p->q);
    if (status == HR_OK)
        status = read_numbers(r, root, "l", p->m, -(double)INFINITY, &p->low);
    if (status == HR_OK)
        status = read_numbers(r, root, "u", p->m, (double)INFINITY, &p->high);
    if (status == HR_OK)
        status = check_bounds(r, p);
    if (status != HR_OK)
        return status;
    const json_t *constant = json_object_get(root, "r");
    if (constant && !json_is_number(constant))
        return refuse(r, "r", "a number", type_name(constant));
    p->constant = constant ? json_number_value(constant) : 0.0;
    return HR_OK;
}

static hr_status read_contacts(const reader *r, const json_t *root, qp_problem *p)
{
    hr_status status = read_size(r, root, "d", 2, 3, &p->dimension);
    if (status == HR_OK)
        status = read_size(r, root, "nc", 0, QP_PROBLEM_SIZE_MAX / 3, &p->contacts);
    if (status == HR_OK)
        status = read_numbers(r, root, "mu", p->contacts, (double)NAN, &p->mu);
    for (int k = 0; k < p->contacts && status == HR_OK; k++)
        if (p->mu[k] < 0)
            status = refuse(r, "mu", "coefficients of friction >= 0", "a negative one");
    if (status != HR_OK)
        return status;
    int size = p->dimension * p->contacts;
    if (p->kind == QP_PROBLEM_LOCAL) {
        status = read_matrix(r, root, "W", size, size, &p->p);
        return status == HR_OK ? read_numbers(r, root, "q", size, (double)NAN, &p->q) : status;
    }
    const json_t *mass = json_object_get(root, "M");
    if (!json_is_object(mass))
        return refuse(r, "M", "an object with rows, cols, i, j and v", type_name(mass));
    status = read_size(r, mass, "rows", 1, QP_PROBLEM_SIZE_MAX, &p->n);
    if (status == HR_OK)
        status = read_matrix(r, root, "M", p->n, p->n, &p->p);
    if (status == HR_OK)
        status = read_matrix(r, root, "H", p->n, size, &p->a);
    if (status == HR_OK)
        status = read_numbers(r, root, "f", p->n, (double)NAN, &p->q);
    if (status == HR_OK)
        status = read_numbers(r, root, "w", size, (double)NAN, &p->w);
    return status;
}

static hr_status read_root(const reader *r, const json_t *root, qp_problem *p)
{
    static const char *const formats[] = {"hrs-qp-1", "hrs-fc-local-1", "hrs-fc-global-1"};
    if (!json_is_object(root))
        return error_set(r->error, HR_ERR_FORMAT, "%s:1: expected an object, found %s", r->name,
                         type_name(root));
    const char *format = json_string_value(json_object_get(root, "format"));
    for (int i = 0; i < 3 && format; i++) {
        if (strcmp(format, formats[i]) != 0)
            continue;
        p->kind = (qp_problem_kind)i;
        return i == 0 ? read_program(r, root, p) : read_contacts(r, root, p);
    }
    char found[64];
    snprintf(found, sizeof found, "\"%.40s\"", format ? format : "");
    return refuse(r, "format", "\"hrs-qp-1\", \"hrs-fc-local-1\" or \"hrs-fc-global-1\"",
                  format ? found : "nothing");
}

hr_status qp_problem_parse(const char *text, size_t size, const char *name, qp_problem *out,
                           hr_error *error)
{
    *out = (qp_problem){0};
    reader r = {text, name, size, error};
    json_error_t where;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return error_set(error, HR_ERR_FORMAT, "%s:%d:%d: expected JSON, found: %s", name,
                         where.line, where.column, where.text);
    hr_status status = read_root(&r, root, out);
    json_decref(root);
    if (status != HR_OK)
        qp_problem_free(out);
    return status;
}

static char *read_file(const char *path, size_t *size, hr_status *status)
{
    FILE *file = fopen(path, "rb");
    *status = file ? HR_OK : HR_ERR_NOT_FOUND;
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    while (file && *status == HR_OK) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            char *more = room > ((size_t)1 << 30) ? NULL : realloc(text, room);
            *status = more ? HR_OK : HR_ERR_CAPACITY;
            text = more ? more : text;
            continue;
        }
        size_t got = fread(text + *size, 1, room - *size, file);
        *size += got;
        if (got == 0)
            break;
    }
    if (file && ferror(file))
        *status = HR_ERR_IO;
    if (file)
        fclose(file);
    return text;
}

hr_status qp_problem_load(const char *path, qp_problem *out, hr_error *error)
{
    *out = (qp_problem){0};
    size_t size;
    hr_status status;
    char *text = read_file(path, &size, &status);
    if (status == HR_OK)
        status = qp_problem_parse(text ? text : "", size, path, out, error);
    else
        error_set(error, status, "%s:0: expected a readable problem file, found: %s", path,
                  status_text(status));
    free(text);
    return status;
}

void qp_problem_free(qp_problem *p)
{
    void *memory[] = {p->p.i, p->p.j, p->p.v, p->a.i,  p->a.j, p->a.v,
                      p->q,   p->low, p->w,   p->high, p->mu};
    for (int i = 0; i < HR_COUNT(memory); i++)
        free(memory[i]);
    *p = (qp_problem){0};
}
