/* The text side of fields.h: printing values, reading files, finding lines. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "geometry/vec3.h"

enum { FILE_SIZE_MAX = 1 << 20 };

/* snprintf at offset `used` of out, never beyond size; returns the new length. */
static int append(char *out, int size, int used, const char *format, ...) HR_PRINTF(4, 5);
static int append(char *out, int size, int used, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int room = used < size ? size - used : 0;
    int length = vsnprintf(room ? out + used : NULL, (size_t)room, format, values);
    va_end(values);
    return used + length;
}

int fields_print_quoted(const char *text, char *out, int size)
{
    int used = append(out, size, 0, "\"");
    for (; *text; text++) {
        bool needs_escape = *text == '"' || *text == '\\' || *text == '$';
        used = append(out, size, used, needs_escape ? "\\%c" : "%c", *text);
    }
    return append(out, size, used, "\"");
}

static int print_value(const field *f, const char *place, char *out, int size, int used)
{
    const double *number = (const double *)(const void *)place;
    switch (f->type) {
    case FIELD_NUMBER:
        return append(out, size, used, "%.17g", *number);
    case FIELD_INTEGER:
        return append(out, size, used, "%d", *(const int *)(const void *)place);
    case FIELD_BOOL:
        return append(out, size, used, "%s", *(const bool *)(const void *)place ? "true" : "false");
    case FIELD_TEXT:
        return used + fields_print_quoted(place, used < size ? out + used : out,
                                          used < size ? size - used : 0);
    case FIELD_WORD:
        return append(out, size, used, "%s", f->words[*(const int *)(const void *)place]);
    case FIELD_VECTOR:
        return append(out, size, used, "{%.17g, %.17g, %.17g}", number[0], number[1], number[2]);
    }
    return used;
}

int fields_print(const field_table *table, const char *title, const void *from, char *out, int size)
{
    bool is_root = strcmp(table->section, "root") == 0;
    const char *indent = is_root ? "" : "    ";
    int used = 0;
    if (!is_root && title)
        used = append(out, size, used, "%s \"%s\" {\n", table->section, title);
    else if (!is_root)
        used = append(out, size, used, "%s {\n", table->section);
    for (int i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        used = append(out, size, used, "%s%s = ", indent, f->key);
        used = print_value(f, (const char *)from + f->offset, out, size, used);
        used = append(out, size, used, "\n");
    }
    return is_root ? used : append(out, size, used, "}\n");
}

char *fields_read_file(const char *path, hr_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        error_set(error, HR_ERR_NOT_FOUND, "%s: expected a readable file: %s", path,
                  strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_SIZE_MAX + 1);
    size_t length = text ? fread(text, 1, FILE_SIZE_MAX + 1, file) : 0;
    bool has_failed = ferror(file) != 0;
    fclose(file);
    if (!text || has_failed || length > FILE_SIZE_MAX || memchr(text, 0, length)) {
        error_set(error, HR_ERR_FORMAT, "%s:1: expected a text file of at most 1 MiB, found %s",
                  path, has_failed ? "something that cannot be read" : "something else");
        free(text);
        return NULL;
    }
    text[length] = 0;
    return text;
}

/* Behind a comment or string that begins at p; p itself where none does. */
static const char *skip_opaque(const char *p)
{
    if (*p == '#' || (p[0] == '/' && p[1] == '/'))
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'')
        return p;
    for (const char *q = p + 1; *q; q++) {
        if (*q == '\\' && q[1])
            q++;
        else if (*q == *p)
            return q + 1;
    }
    return p + strlen(p);
}

bool fields_braces_match(const char *text)
{
    int open = 0;
    for (const char *p = text; *p;) {
        const char *behind = skip_opaque(p);
        open += behind == p ? (*p == '{') - (*p == '}') : 0;
        p = behind == p ? p + 1 : behind;
    }
    return open == 0;
}

static const char *skip_blank(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static bool is_word_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static int line_of(const char *text, const char *p)
{
    int line = 1;
    for (; text < p; text++)
        line += *text == '\n';
    return line;
}

static bool is_followed(const char *after, char next)
{
    const char *p = skip_blank(after);
    if (next == '{' && *p != '{') { /* a title, quoted or not */
        const char *title_end = skip_opaque(p);
        while (title_end == p && is_word_part(*p))
            title_end = ++p;
        p = skip_blank(title_end);
    }
    return *p == next || (next == '=' && p[0] == '+' && p[1] == '=');
}

int fields_find_line(const char *text, const char **cursor, const char *word, char next)
{
    size_t length = strlen(word);
    for (const char *p = *cursor; *p;) {
        const char *behind = skip_opaque(p);
        if (behind != p) {
            p = behind;
            continue;
        }
        if (!is_word_part(*p)) {
            p++;
            continue;
        }
        size_t n = 0;
        while (is_word_part(p[n]))
            n++;
        if (n == length && memcmp(p, word, n) == 0 && is_followed(p + n, next)) {
            *cursor = p + n;
            return line_of(text, p);
        }
        p += n;
    }
    return 0;
}
