#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace_export.h"

void trace_unit_word(const char *unit, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (const char *c = unit; *c && n + 6 < size; c++) {
        if (*c == '/')
            n += (size_t)snprintf(out + n, size - n, "_per_");
        else if (isalnum((unsigned char)*c))
            out[n++] = (char)tolower((unsigned char)*c);
        else if (*c == ' ')
            out[n++] = '_';
        out[n] = '\0';
    }
}

void trace_element_suffix(const trace_field *f, int element, char *out, size_t size)
{
    if (f->count == 1)
        out[0] = '\0';
    else if (f->count == 3)
        snprintf(out, size, "_%c", "xyz"[element]);
    else if (f->count == 4)
        snprintf(out, size, "_%c", "wxyz"[element]);
    else
        snprintf(out, size, "_%d", element);
}

void trace_column_name(const trace_field *f, int element, char *out, size_t size)
{
    char suffix[16], unit[24];
    trace_element_suffix(f, element, suffix, sizeof suffix);
    trace_unit_word(f->unit, unit, sizeof unit);
    snprintf(out, size, "%s%s%s%s", f->name, suffix, unit[0] ? "_" : "", unit);
}

/* Said once per line, or nothing. */
static bool is_column(const trace_field *f)
{
    return strcmp(f->name, "tick") != 0 && strcmp(f->name, "hand") != 0 &&
           strcmp(f->name, "reserved") != 0;
}

/* A hand's name as the beginning of a column's: letters, digits, '_'. */
static void prefix_of(const trace_reader *r, int hand, int hand_count, char *out, size_t size)
{
    out[0] = '\0';
    if (hand_count == 1)
        return;
    snprintf(out, size, "%.40s_", trace_hand_name(r, hand));
    if (out[0] == '_')
        snprintf(out, size, "hand%d_", hand);
    for (char *c = out; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

static void print_names(const char *prefix, FILE *out)
{
    for (int i = 0; i < trace_tick_field_count; i++) {
        const trace_field *f = &trace_tick_fields[i];
        for (int k = 0; is_column(f) && k < f->count; k++) {
            char name[96];
            trace_column_name(f, k, name, sizeof name);
            fprintf(out, ",%s%s", prefix, name);
        }
    }
    fprintf(out, ",%sreason_names", prefix);
}

static void print_header(const trace_reader *r, int hand_count, FILE *out)
{
    fputs("tick,time_s", out);
    for (int hand = 0; hand < hand_count; hand++) {
        char prefix[64];
        prefix_of(r, hand, hand_count, prefix, sizeof prefix);
        print_names(prefix, out);
    }
    fputc('\n', out);
}

static void print_element(const trace_field *f, const uint8_t *at, FILE *out)
{
    uint64_t bits = 0;
    double number;
    memcpy(&bits, at, trace_type_size(f->type));
    switch (f->type) {
    case TRACE_F64:
        memcpy(&number, at, sizeof number);
        fprintf(out, ",%.17g", number);
        return;
    case TRACE_I32:
        fprintf(out, ",%" PRId32, (int32_t)bits);
        return;
    case TRACE_I64:
        fprintf(out, ",%" PRId64, (int64_t)bits);
        return;
    default:
        fprintf(out, ",%" PRIu64, bits);
        return;
    }
}

static void print_reasons(uint32_t reasons, FILE *out)
{
    const char *before = ",";
    for (int bit = 0; trace_reason_name(bit); bit++)
        if (reasons >> bit & 1) {
            fprintf(out, "%s%s", before, trace_reason_name(bit));
            before = "|";
        }
    if (*before == ',')
        fputc(',', out);
}

/* record: NULL for a hand that has no such tick. */
static void print_hand(const tick_record *record, FILE *out)
{
    for (int i = 0; i < trace_tick_field_count; i++) {
        const trace_field *f = &trace_tick_fields[i];
        size_t size = trace_type_size(f->type);
        for (int k = 0; is_column(f) && k < f->count; k++) {
            if (record)
                print_element(f, (const uint8_t *)record + f->offset + (size_t)k * size, out);
            else
                fputc(',', out);
        }
    }
    if (record)
        print_reasons(record->reasons, out);
    else
        fputc(',', out);
}

/* The records of one servo cycle, gathered until the next begins. */
typedef struct csv_row {
    bool has[HANDS_MAX];
    tick_record records[HANDS_MAX];
    uint64_t tick;
    int64_t time_ns, first_ns;
    bool is_open, has_first;
} csv_row;

static void print_row(csv_row *row, int hand_count, FILE *out)
{
    if (!row->is_open)
        return;
    int64_t since = row->time_ns - row->first_ns;
    const char *sign = since < 0 ? "-" : "";
    since = since < 0 ? -since : since;
    fprintf(out, "%" PRIu64 ",%s%" PRId64 ".%09" PRId64, row->tick, sign, since / 1000000000,
            since % 1000000000);
    for (int i = 0; i < hand_count; i++)
        print_hand(row->has[i] ? &row->records[i] : NULL, out);
    fputc('\n', out);
    memset(row->has, 0, sizeof row->has);
    row->is_open = false;
}

static void add_tick(csv_row *row, const tick_record *t, int hand_count, FILE *out)
{
    if ((int)t->hand >= hand_count)
        return;
    if (row->is_open && (row->tick != t->tick || row->has[t->hand]))
        print_row(row, hand_count, out);
    if (!row->has_first) {
        row->first_ns = t->time_ns;
        row->has_first = true;
    }
    row->tick = t->tick;
    row->time_ns = t->time_ns;
    row->records[t->hand] = *t;
    row->has[t->hand] = true;
    row->is_open = true;
}

hr_status trace_export_csv(trace_reader *r, FILE *out, hr_error *error)
{
    int hand_count = trace_hand_count(r);
    if (hand_count == 0)
        hand_count = HANDS_MAX; /* the start of the file is lost: all there may be */
    csv_row row = {0};
    print_header(r, hand_count, out);
    const trace_message *m;
    while ((m = trace_next_message(r)))
        if (m->kind == TRACE_TICK)
            add_tick(&row, &m->tick, hand_count, out);
    print_row(&row, hand_count, out);
    if (fflush(out) != 0 || ferror(out))
        return error_set(error, HR_ERR_IO, "the output could not be written");
    return HR_OK;
}
