/* Text files of keys and sections (libconfuse syntax) read through tables: each key has a type, a
 * unit in its name, a range, and a place in a plain struct. Configuration and scenes share it.
 * Numbers do not depend on the locale. */
#ifndef CONFIG_FIELDS_H
#define CONFIG_FIELDS_H

#include <confuse.h>
#include <stdbool.h>
#include <stddef.h>

#include "geometry/error.h"

typedef enum field_type {
    FIELD_NUMBER,  /* double */
    FIELD_INTEGER, /* int */
    FIELD_BOOL,    /* bool: true or false */
    FIELD_TEXT,    /* char[size] */
    FIELD_WORD,    /* int: index into words, which a NULL ends */
    FIELD_VECTOR   /* vec3: {x, y, z} */
} field_type;

typedef struct field {
    const char *key;
    field_type type;
    size_t offset;
    double low, high;         /* of a number, an integer, each part of a vector */
    size_t size;              /* of a text, with its NUL */
    const char *const *words; /* of a word */
} field;

/* The keys of one kind of section; "root" is the file itself. */
typedef struct field_table {
    const char *section;
    const field *fields;
    int count;
} field_table;

enum { FIELDS_PER_SECTION_MAX = 32 };

/* Options for libconfuse from a table; `more` (may be NULL, ends with CFG_END) are sections inside.
 * Returns out. */
cfg_opt_t *fields_options(const field_table *table, const cfg_opt_t *more,
                          cfg_opt_t out[FIELDS_PER_SECTION_MAX]);

/* Parses text against the options; every value is checked against its table, every key and every
 * section that is not a list may stand once. NULL on failure, with "name:line: ..." in *error.
 * Release with cfg_free. */
cfg_t *fields_parse(const char *text, const char *name, cfg_opt_t *options,
                    const field_table *const *tables, hr_error *error);

/* Copies what the section states into the struct; what it does not state stays. */
void fields_read(const field_table *table, cfg_t *section, void *out);

/* Is the key stated in the section? */
bool fields_states(cfg_t *section, const char *key);

/* Writes "section {" (none for the root), every key, "}". Returns the length, as snprintf does. */
int fields_print(const field_table *table, const char *title, const void *from, char *out,
                 int size);

/* A quoted string that reads back as `text`. */
int fields_print_quoted(const char *text, char *out, int size);

/* Reads a whole text file of at most 1 MiB without NUL bytes. The caller frees it; NULL with a
 * message otherwise. */
char *fields_read_file(const char *path, hr_error *error);

/* Is every { closed, outside comments and strings? */
bool fields_braces_match(const char *text);

/* The line (from 1) of the next word `word` that is followed by `next` ('=' or '{', or a quoted
 * title and then '{'), outside comments and strings, from *cursor on; moves *cursor behind it. For
 * messages about whole sections. 0 where there is none. */
int fields_find_line(const char *text, const char **cursor, const char *word, char next);

#endif
