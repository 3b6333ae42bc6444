#include "config/fields.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/vec3.h"

enum { SEEN_MAX = 8192 };

/* What the callbacks of libconfuse need; it hands them no pointer of ours. */
static _Thread_local struct parse_context {
    const char *name;
    const field_table *const *tables;
    hr_error *error;
    const cfg_opt_t *seen[SEEN_MAX];
    int seen_count;
    const cfg_opt_t *last; /* a vector comes value by value: complete once something else comes */
    int last_line;
} context;

/* The first message stands; what libconfuse says after it is a consequence. */
static void refuse(int line, const char *format, va_list values)
{
    if (!context.error || context.error->text[0])
        return;
    char text[400];
    vsnprintf(text, sizeof(text), format, values);
    error_set(context.error, HR_ERR_FORMAT, "%s:%d: %s", context.name, line, text);
}

/* Puts the library's own messages into our words. */
static void hear_error(cfg_t *cfg, const char *format, va_list values)
{
    bool is_unknown = strcmp(format, "no such option '%s'") == 0;
    if (is_unknown && (cfg->flags & CFGF_KEYSTRVAL))
        return; /* said before it adds a free-form key, which is no error */
    if (is_unknown)
        format = "expected a known key, found \"%s\"";
    refuse(cfg->line, format, values);
}

static int fail_at(cfg_t *cfg, const char *format, ...) HR_PRINTF(2, 3);
static int fail_at(cfg_t *cfg, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    refuse(cfg->line, format, values);
    va_end(values);
    return -1;
}

static const field *find_field(const char *section, const char *key)
{
    for (const field_table *const *t = context.tables; *t; t++) {
        if (strcmp((*t)->section, section) != 0)
            continue;
        for (int i = 0; i < (*t)->count; i++)
            if (strcmp((*t)->fields[i].key, key) == 0)
                return &(*t)->fields[i];
    }
    return NULL;
}

/* All of the text is one finite number. */
static bool read_number(const char *text, double *out)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (!*text || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static int word_index(const field *f, const char *text)
{
    for (int i = 0; f->words[i]; i++)
        if (strcmp(f->words[i], text) == 0)
            return i;
    return -1;
}

static int refuse_word(cfg_t *cfg, const field *f, const char *text)
{
    char list[256] = "";
    for (int i = 0; f->words[i]; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", f->words[i]);
    }
    return fail_at(cfg, "%s: expected one of %s, found \"%s\"", f->key, list, text);
}

static bool is_bool(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
}

static int check_number(cfg_t *cfg, const field *f, const char *text)
{
    double value = 0;
    bool is_whole = f->type == FIELD_INTEGER;
    if (!read_number(text, &value) || value < f->low || value > f->high ||
        (is_whole && value != rint(value)))
        return fail_at(cfg, "%s: expected %s from %g to %g, found \"%.80s\"", f->key,
                       is_whole ? "a whole number" : "a number", f->low, f->high, text);
    return 0;
}

static int check_text(cfg_t *cfg, const field *f, const char *text)
{
    switch (f->type) {
    case FIELD_BOOL:
        return is_bool(text)
                   ? 0
                   : fail_at(cfg, "%s: expected true or false, found \"%.80s\"", f->key, text);
    case FIELD_TEXT:
        return strlen(text) < f->size
                   ? 0
                   : fail_at(cfg, "%s: expected at most %zu characters, found %zu", f->key,
                             f->size - 1, strlen(text));
    case FIELD_WORD:
        return word_index(f, text) >= 0 ? 0 : refuse_word(cfg, f, text);
    default:
        return check_number(cfg, f, text);
    }
}

/* The vector that came last has its three parts? */
static int check_last_vector(void)
{
    const cfg_opt_t *last = context.last;
    context.last = NULL;
    if (!last || !(last->flags & CFGF_LIST) || last->nvalues == 3)
        return 0;
    cfg_t place = {.line = context.last_line};
    return fail_at(&place, "%s: expected {x, y, z}, found %u values", last->name, last->nvalues);
}

static int check_once(cfg_t *cfg, const cfg_opt_t *opt)
{
    for (int i = 0; i < context.seen_count; i++)
        if (context.seen[i] == opt)
            return fail_at(cfg, "expected \"%s\" once, found it again", opt->name);
    if (context.seen_count == SEEN_MAX)
        return fail_at(cfg, "expected at most %d values in one file", SEEN_MAX);
    context.seen[context.seen_count++] = opt;
    return 0;
}

/* libconfuse calls this after each value, each part of a vector and each section. */
static int check_option(cfg_t *cfg, cfg_opt_t *opt)
{
    bool is_same_vector = opt == context.last && (opt->flags & CFGF_LIST) && opt->nvalues > 1;
    if (!is_same_vector) {
        bool may_repeat = opt->type == CFGT_SEC && (opt->flags & CFGF_MULTI);
        if (check_last_vector() != 0 || (!may_repeat && check_once(cfg, opt) != 0))
            return -1;
    }
    context.last = opt;
    context.last_line = cfg->line;
    if (opt->type == CFGT_SEC)
        return 0;

    const field *f = find_field(cfg->name, opt->name);
    if (!f)
        return fail_at(cfg, "expected a known key, found \"%s\"", opt->name);
    return opt->nvalues ? check_text(cfg, f, cfg_opt_getnstr(opt, opt->nvalues - 1)) : 0;
}

cfg_opt_t *fields_options(const field_table *table, const cfg_opt_t *more,
                          cfg_opt_t out[FIELDS_PER_SECTION_MAX])
{
    int n = 0;
    for (int i = 0; i < table->count; i++) {
        cfg_opt_t single = CFG_STR(table->fields[i].key, NULL, CFGF_NODEFAULT);
        cfg_opt_t list = CFG_STR_LIST(table->fields[i].key, NULL, CFGF_NODEFAULT);
        out[n] = table->fields[i].type == FIELD_VECTOR ? list : single;
        out[n++].validcb = check_option;
    }
    for (; more && more->name; more++) {
        out[n] = *more;
        out[n++].validcb = check_option;
    }
    out[n] = (cfg_opt_t)CFG_END();
    return out;
}

cfg_t *fields_parse(const char *text, const char *name, cfg_opt_t *options,
                    const field_table *const *tables, hr_error *error)
{
    hr_error unheard = {{0}};
    context.name = name;
    context.tables = tables;
    context.error = error ? error : &unheard;
    context.error->text[0] = 0;
    context.seen_count = 0;
    context.last = NULL;

    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    cfg_t *cfg = cfg_init(options, CFGF_NONE);
    int status = CFG_PARSE_ERROR;
    if (cfg) {
        cfg_set_error_function(cfg, hear_error);
        status = cfg_parse_buf(cfg, text);
    }
    uselocale(before);
    freelocale(plain);

    if (status == CFG_SUCCESS && check_last_vector() == 0 && !fields_braces_match(text))
        error_set(context.error, HR_ERR_FORMAT, "%s:%d: expected }, found the end of the file",
                  name, cfg->line);
    bool is_good = status == CFG_SUCCESS && !context.error->text[0];
    if (!is_good && !context.error->text[0])
        error_set(context.error, HR_ERR_FORMAT,
                  "%s:%d: expected key = value or a section, found "
                  "something else",
                  name, cfg ? cfg->line : 1);
    context.error = NULL;
    if (is_good)
        return cfg;
    cfg_free(cfg);
    return NULL;
}

bool fields_states(cfg_t *section, const char *key)
{
    cfg_opt_t *opt = cfg_getopt(section, key);
    return opt && opt->nvalues > 0 && (opt->flags & CFGF_MODIFIED);
}

static void store(const field *f, cfg_opt_t *opt, char *place)
{
    const char *text = cfg_opt_getnstr(opt, 0);
    double value = 0;
    switch (f->type) {
    case FIELD_NUMBER:
        read_number(text, (double *)(void *)place);
        break;
    case FIELD_INTEGER:
        read_number(text, &value);
        *(int *)(void *)place = (int)value;
        break;
    case FIELD_BOOL:
        *(bool *)(void *)place = strcmp(text, "true") == 0;
        break;
    case FIELD_TEXT:
        memset(place, 0, f->size);
        snprintf(place, f->size, "%s", text);
        break;
    case FIELD_WORD:
        *(int *)(void *)place = word_index(f, text);
        break;
    case FIELD_VECTOR:
        for (unsigned i = 0; i < 3; i++)
            read_number(cfg_opt_getnstr(opt, i), (double *)(void *)place + i);
        break;
    }
}

void fields_read(const field_table *table, cfg_t *section, void *out)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    for (int i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (fields_states(section, f->key))
            store(f, cfg_getopt(section, f->key), (char *)out + f->offset);
    }
    uselocale(before);
    freelocale(plain);
}
