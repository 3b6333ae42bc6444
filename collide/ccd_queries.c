/* Reading query files: strict rows, errors with line and column. */
#include "collide/ccd_queries.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 400 };

/* Where the parser stands. */
typedef struct cursor {
    const char *name, *at, *end, *row;
    int line;
    int columns; /* 0 until the first row has shown 6 or 7 */
    hr_error *error;
} cursor;

static hr_status refuse(const cursor *c, const char *where, const char *what)
{
    char found[24];
    size_t n = 0;
    while (where + n < c->end && where[n] != '\n' && where[n] != '\r' && n < sizeof found - 1) {
        found[n] = where[n] >= ' ' && where[n] < 127 ? where[n] : '?';
        n++;
    }
    found[n] = 0;
    int column = (int)(where - c->row) + 1;
    if (n == 0)
        return error_set(c->error, HR_ERR_FORMAT, "%s:%d:%d: expected %s, found the end of the row",
                         c->name, c->line, column, what);
    return error_set(c->error, HR_ERR_FORMAT, "%s:%d:%d: expected %s, found \"%s\"", c->name,
                     c->line, column, what, found);
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

/* One number: an integer of any length up to NUMBER_MAX digits, of which long double holds 64 bits
 * exactly, or a decimal. */
static hr_status read_number(cursor *c, long double *out)
{
    char text[NUMBER_MAX + 1], *end = NULL;
    size_t n = 0;
    skip_blanks(c);
    const char *start = c->at;
    while (c->at < c->end && *c->at && strchr("+-.0123456789eE", *c->at)) {
        if (n == NUMBER_MAX)
            return refuse(c, start, "a number of at most 400 characters");
        text[n++] = *c->at++;
    }
    text[n] = 0;
    *out = strtold(text, &end);
    if (n == 0 || *end)
        return refuse(c, start, "a number");
    skip_blanks(c);
    return HR_OK;
}

static hr_status expect_comma(cursor *c)
{
    if (c->at >= c->end || *c->at != ',')
        return refuse(c, c->at, "a comma");
    c->at++;
    return HR_OK;
}

static hr_status read_rational(cursor *c, double *out)
{
    long double numerator, denominator;
    skip_blanks(c);
    const char *start = c->at;
    hr_status status = read_number(c, &numerator);
    if (status == HR_OK)
        status = expect_comma(c);
    skip_blanks(c);
    const char *below = c->at;
    if (status == HR_OK)
        status = read_number(c, &denominator);
    if (status != HR_OK)
        return status;
    if (denominator == 0)
        return refuse(c, below, "a denominator that is not zero");
    *out = (double)(numerator / denominator);
    return isfinite(*out) ? HR_OK : refuse(c, start, "a coordinate within double range");
}

static hr_status read_verdict(cursor *c, ccd_truth *truth)
{
    if (c->columns == 0)
        c->columns = c->at < c->end && *c->at == ',' ? 7 : 6;
    *truth = CCD_TRUTH_UNKNOWN;
    if (c->columns == 6)
        return HR_OK;
    hr_status status = expect_comma(c);
    if (status != HR_OK)
        return status;
    skip_blanks(c);
    if (c->at >= c->end || (*c->at != '0' && *c->at != '1'))
        return refuse(c, c->at, "a verdict 0 or 1");
    *truth = *c->at++ == '1' ? CCD_TRUTH_CONTACT : CCD_TRUTH_FREE;
    skip_blanks(c);
    return HR_OK;
}

static hr_status end_row(cursor *c)
{
    if (c->at < c->end && *c->at == '\r')
        c->at++;
    if (c->at < c->end && *c->at != '\n')
        return refuse(c, c->at,
                      c->columns == 7 ? "the end of a row of 7 columns"
                                      : "the end of a row of 6 columns");
    if (c->at < c->end)
        c->at++;
    c->line++;
    c->row = c->at;
    return HR_OK;
}

static hr_status read_row(cursor *c, vec3 *point, ccd_truth *truth)
{
    hr_status status = read_rational(c, &point->x);
    if (status == HR_OK)
        status = expect_comma(c);
    if (status == HR_OK)
        status = read_rational(c, &point->y);
    if (status == HR_OK)
        status = expect_comma(c);
    if (status == HR_OK)
        status = read_rational(c, &point->z);
    return status == HR_OK ? read_verdict(c, truth) : status;
}

/* Goes on to the next row that holds something; false at the end of the file. */
static bool find_row(cursor *c)
{
    for (const char *p = c->at; p < c->end; p++) {
        if (!strchr(" \t\r\n", *p) || !*p)
            return true;
        if (*p == '\n') {
            c->line++;
            c->at = c->row = p + 1;
        }
    }
    return false;
}

static hr_status read_query(cursor *c, ccd_query *query)
{
    query->line = c->line;
    for (int row = 0; row < 8; row++) {
        if (!find_row(c))
            return error_set(
                c->error, HR_ERR_FORMAT,
                "%s:%d: expected row %d of the 8 of a query, found the end of the file", c->name,
                c->line, row + 1);
        vec3 *point = row < 4 ? &query->start[row] : &query->end[row - 4];
        ccd_truth truth = CCD_TRUTH_UNKNOWN;
        hr_status status = read_row(c, point, &truth);
        if (status != HR_OK)
            return status;
        if (row == 0)
            query->truth = truth;
        else if (truth != query->truth)
            return refuse(c, c->at - 1, "the same verdict on all 8 rows of a query");
        status = end_row(c);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

static hr_status append(ccd_queries *q, const ccd_query *query)
{
    if (q->count == q->room) {
        int room = q->room ? 2 * q->room : 64;
        ccd_query *items = realloc(q->items, (size_t)room * sizeof *items);
        if (!items)
            return HR_ERR_MEMORY;
        q->items = items;
        q->room = room;
    }
    q->items[q->count++] = *query;
    return HR_OK;
}

hr_status ccd_queries_parse(const char *text, size_t length, const char *name, ccd_queries *out,
                            hr_error *error)
{
    cursor c = {
        .name = name, .at = text, .end = text + length, .row = text, .line = 1, .error = error};
    ccd_queries draft = {0};
    hr_status status = HR_OK;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a mark that some editors leave */
        c.at = c.row = text + 3;
    while (status == HR_OK && find_row(&c)) {
        ccd_query query;
        status = read_query(&c, &query);
        if (status == HR_OK && append(&draft, &query) != HR_OK)
            status = error_set(error, HR_ERR_MEMORY, "%s: out of memory", name);
    }
    if (status != HR_OK)
        ccd_queries_free(&draft);
    *out = draft;
    return status;
}

/* All bytes of a file; NULL with the error set. */
static char *read_all(const char *path, size_t *length, hr_error *error)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        error_set(error, HR_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t room = 1 << 16, n = 0, got = 0;
    char *text = malloc(room);
    while (text && (got = fread(text + n, 1, room - n, f)) > 0) {
        n += got;
        if (n < room)
            continue;
        room *= 2;
        char *grown = realloc(text, room);
        if (!grown)
            free(text);
        text = grown;
    }
    bool has_failed = ferror(f) != 0;
    fclose(f);
    if (!text || has_failed) {
        error_set(error, text ? HR_ERR_IO : HR_ERR_MEMORY, "%s: %s", path,
                  text ? "cannot be read" : "out of memory");
        free(text);
        return NULL;
    }
    *length = n;
    return text;
}

/* NAME.csv -> NAME_truth.json; a file that is not there is not an error. */
static hr_status add_truth(const char *path, ccd_queries *q, hr_error *error)
{
    size_t stem = strlen(path);
    if (stem > 4 && strcmp(path + stem - 4, ".csv") == 0)
        stem -= 4;
    char beside[4096];
    int n = snprintf(beside, sizeof beside, "%.*s_truth.json", (int)stem, path);
    FILE *f = n > 0 && n < (int)sizeof beside ? fopen(beside, "rb") : NULL;
    if (!f)
        return HR_OK;
    json_error_t at;
    json_t *list = json_loadf(f, 0, &at);
    fclose(f);
    hr_status status = HR_OK;
    if (!list)
        status = error_set(error, HR_ERR_FORMAT, "%s:%d:%d: expected a JSON array, found %s",
                           beside, at.line, at.column, at.text);
    else if (!json_is_array(list) || (int)json_array_size(list) != q->count)
        status = error_set(error, HR_ERR_FORMAT,
                           "%s:1: expected an array of %d booleans, found %d elements", beside,
                           q->count, (int)json_array_size(list));
    for (int i = 0; status == HR_OK && i < q->count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        if (!json_is_boolean(value))
            status = error_set(error, HR_ERR_FORMAT,
                               "%s:1: expected true or false for query %d, found something else",
                               beside, i);
        q->items[i].truth = json_is_true(value) ? CCD_TRUTH_CONTACT : CCD_TRUTH_FREE;
    }
    json_decref(list);
    return status;
}

hr_status ccd_queries_load(const char *path, ccd_queries *out, hr_error *error)
{
    *out = (ccd_queries){0};
    size_t length = 0;
    char *text = read_all(path, &length, error);
    if (!text)
        return HR_ERR_IO;
    hr_status status = ccd_queries_parse(text, length, path, out, error);
    free(text);
    if (status == HR_OK && out->count > 0 && out->items[0].truth == CCD_TRUTH_UNKNOWN)
        status = add_truth(path, out, error);
    if (status != HR_OK)
        ccd_queries_free(out);
    return status;
}

void ccd_queries_free(ccd_queries *q)
{
    free(q->items);
    *q = (ccd_queries){0};
}
