#include <stdlib.h>
#include <string.h>

#include "devices/replay_track.h"

enum { COLUMN_TIME, COLUMN_X, COLUMN_Y, COLUMN_Z, COLUMN_BUTTONS, COLUMNS };

enum { ROWS_MAX = 50000000 };

static const char *const names[COLUMNS] = {"time_s", "x_m", "y_m", "z_m", "buttons"};

typedef struct reader {
    const char *at, *end;
    const char *name;
    int line;
    int place[COLUMNS]; /* which column of the file; -1: none */
    hr_error *error;
} reader;

/* A piece of a line, blanks and quotes around it removed. */
typedef struct field {
    const char *text;
    size_t length;
} field;

hr_status replay_track_add(replay_track *t, replay_point point)
{
    if (t->count == t->capacity) {
        if (t->count >= ROWS_MAX)
            return HR_ERR_CAPACITY;
        int capacity = t->capacity ? 2 * t->capacity : 1024;
        replay_point *larger = realloc(t->points, (size_t)capacity * sizeof *larger);
        if (!larger)
            return HR_ERR_MEMORY;
        t->points = larger;
        t->capacity = capacity;
    }
    t->points[t->count++] = point;
    return HR_OK;
}

void replay_track_free(replay_track *t)
{
    free(t->points);
    *t = (replay_track){0};
}

static field trimmed(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || *text == '\t' || *text == '"')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t' ||
                          text[length - 1] == '\r' || text[length - 1] == '"'))
        length--;
    return (field){text, length};
}

/* The next line that says something; false at the end. */
static bool next_line(reader *r, field *out)
{
    while (r->at < r->end) {
        const char *start = r->at;
        const char *newline = memchr(start, '\n', (size_t)(r->end - start));
        const char *stop = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        field line = trimmed(start, (size_t)(stop - start));
        if (line.length > 0 && line.text[0] != '#') {
            *out = (field){start, (size_t)(stop - start)};
            return true;
        }
    }
    return false;
}

/* Column number `index` of a line; false where the line is shorter. */
static bool column(field line, int index, field *out)
{
    const char *start = line.text;
    const char *end = line.text + line.length;
    for (int i = 0;; i++) {
        const char *comma = memchr(start, ',', (size_t)(end - start));
        const char *stop = comma ? comma : end;
        if (i == index) {
            *out = trimmed(start, (size_t)(stop - start));
            return true;
        }
        if (!comma)
            return false;
        start = comma + 1;
    }
}

static hr_status refuse(const reader *r, int index, const char *expected, field found)
{
    int length = found.length > 40 ? 40 : (int)found.length;
    return error_set(r->error, HR_ERR_FORMAT, "%s:%d:%d: expected %s, found %s%.*s%s", r->name,
                     r->line, index + 1, expected, length ? "\"" : "nothing", length,
                     length ? found.text : "", length ? "\"" : "");
}

/* The whole field as a number. */
static bool number(field f, double *out)
{
    char copy[64];
    if (f.length == 0 || f.length >= sizeof copy)
        return false;
    memcpy(copy, f.text, f.length);
    copy[f.length] = '\0';
    char *end = NULL;
    *out = strtod(copy, &end);
    return end == copy + f.length;
}

static bool is_name(field f, const char *name)
{
    size_t length = strlen(name);
    if (f.length == length && memcmp(f.text, name, length) == 0)
        return true;
    /* "position_x_m" with anything before it */
    static const char prefix[] = "position_";
    size_t whole = sizeof prefix - 1 + length;
    return length == 3 && f.length >= whole &&
           memcmp(f.text + f.length - whole, prefix, sizeof prefix - 1) == 0 &&
           memcmp(f.text + f.length - length, name, length) == 0;
}

/* The header, or no header where the first field is a number. */
static hr_status read_header(reader *r, field line)
{
    field f;
    double value;
    for (int c = 0; c < COLUMNS; c++)
        r->place[c] = c < COLUMN_BUTTONS ? c : -1;
    if (column(line, 0, &f) && number(f, &value)) {
        r->at = line.text; /* read it again as a row */
        r->line--;
        return HR_OK;
    }
    for (int c = 0; c < COLUMNS; c++)
        r->place[c] = -1;
    for (int i = 0; column(line, i, &f); i++)
        for (int c = 0; c < COLUMNS; c++)
            if (r->place[c] < 0 && is_name(f, names[c]))
                r->place[c] = i;
    for (int c = 0; c < COLUMN_BUTTONS; c++)
        if (r->place[c] < 0) {
            char expected[48] = "a column ";
            strncat(expected, names[c], sizeof expected - strlen(expected) - 1);
            return refuse(r, 0, expected, trimmed(line.text, line.length));
        }
    return HR_OK;
}

static bool is_missing(field f)
{
    return f.length == 0 || (f.length == 3 && (f.text[0] | 32) == 'n' && (f.text[1] | 32) == 'a' &&
                             (f.text[2] | 32) == 'n');
}

static hr_status read_row(const reader *r, field line, replay_track *t)
{
    double values[COLUMNS] = {0};
    bool lacks_position = false;
    for (int c = 0; c < COLUMNS; c++) {
        field f = {"", 0};
        if (r->place[c] < 0)
            continue;
        bool is_there = column(line, r->place[c], &f);
        bool is_position = c >= COLUMN_X && c <= COLUMN_Z;
        if (is_there && is_position && is_missing(f)) {
            lacks_position = true;
            continue;
        }
        double limit = c == COLUMN_TIME ? 1e12 : c == COLUMN_BUTTONS ? 4294967295.0 : 1e6;
        if (!is_there || !number(f, &values[c]) || !(fabs(values[c]) <= limit))
            return refuse(r, r->place[c], c == COLUMN_TIME ? "a time in s" : "a finite number", f);
        if (c == COLUMN_BUTTONS && values[c] < 0)
            return refuse(r, r->place[c], "a mask of buttons", f);
    }
    if (lacks_position) {
        t->missing++;
        return HR_OK;
    }
    if (t->count > 0 && values[COLUMN_TIME] <= t->points[t->count - 1].time) {
        t->out_of_order++;
        return HR_OK;
    }
    replay_point point = {.time = values[COLUMN_TIME],
                          .position = {values[COLUMN_X], values[COLUMN_Y], values[COLUMN_Z]},
                          .buttons = (uint32_t)values[COLUMN_BUTTONS]};
    hr_status status = replay_track_add(t, point);
    return status ? error_set(r->error, status, "%s:%d: %s", r->name, r->line, status_text(status))
                  : HR_OK;
}

hr_status replay_track_parse(const char *text, size_t size, const char *name, replay_track *out,
                             hr_error *error)
{
    reader r = {.at = text, .end = text + size, .name = name, .error = error};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.at += 3;
    replay_track track = {0};
    field line;
    hr_status status = HR_OK;
    if (!next_line(&r, &line))
        return error_set(error, HR_ERR_FORMAT,
                         "%s:1: expected a line time_s,x_m,y_m,z_m, found an empty file", name);
    status = read_header(&r, line);
    while (status == HR_OK && next_line(&r, &line))
        status = read_row(&r, line, &track);
    if (status == HR_OK && track.count == 0)
        status = error_set(error, HR_ERR_FORMAT, "%s:%d: expected at least one sample, found none",
                           name, r.line);
    if (status == HR_OK && track.out_of_order > track.count)
        status = error_set(error, HR_ERR_FORMAT,
                           "%s: expected times that rise, found %d rows of %d that do not", name,
                           track.out_of_order, track.out_of_order + track.count);
    if (status != HR_OK) {
        replay_track_free(&track);
        return status;
    }
    *out = track;
    return HR_OK;
}
