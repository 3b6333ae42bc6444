/* The whole recording as HDF5. Rows are gathered in blocks, so memory stays small. */
#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace_export.h"

enum { BLOCK_ROWS = 2048, COLUMNS_MAX = 48, TEXT_SIZE = 96, DEFLATE = 4 };

/* One dataset: rows of `width` elements. */
typedef struct column {
    hid_t set, type;
    size_t row_size; /* bytes */
    int width;
    size_t offset;  /* of the elements in the source struct */
    uint8_t *block; /* rows that wait */
} column;

/* A group of datasets of equal length, filled row by row from one struct. */
typedef struct table {
    hid_t group;
    column columns[COLUMNS_MAX];
    int column_count;
    hsize_t rows; /* written */
    int waiting;
    bool has_failed;
} table;

static void add_text(hid_t object, const char *name, const char *text)
{
    size_t length = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        H5Awrite(attribute, type, text);
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static hid_t native(trace_type type)
{
    switch (type) {
    case TRACE_U32:
        return H5T_NATIVE_UINT32;
    case TRACE_I32:
        return H5T_NATIVE_INT32;
    case TRACE_U64:
        return H5T_NATIVE_UINT64;
    case TRACE_I64:
        return H5T_NATIVE_INT64;
    default:
        return H5T_NATIVE_DOUBLE;
    }
}

/* type is taken over. width 0: single numbers, one dimension. */
static void add_column(table *t, const char *name, hid_t type, int width, size_t offset,
                       const char *unit, const char *comment)
{
    if (t->column_count == COLUMNS_MAX) {
        t->has_failed = true;
        return;
    }
    column *c = &t->columns[t->column_count++];
    int rank = width > 0 ? 2 : 1;
    hsize_t size[2] = {0, (hsize_t)width}, most[2] = {H5S_UNLIMITED, (hsize_t)width};
    hsize_t chunk[2] = {BLOCK_ROWS, (hsize_t)width};
    hid_t space = H5Screate_simple(rank, size, most);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, DEFLATE);
    c->type = type;
    c->width = width;
    c->offset = offset;
    c->row_size = H5Tget_size(type) * (size_t)(width > 0 ? width : 1);
    c->block = calloc(BLOCK_ROWS, c->row_size);
    c->set = H5Dcreate2(t->group, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    t->has_failed |= c->set < 0 || !c->block;
    if (c->set >= 0 && unit[0])
        add_text(c->set, "unit", unit);
    if (c->set >= 0 && comment[0])
        add_text(c->set, "meaning", comment);
    H5Pclose(how);
    H5Sclose(space);
}

static void add_fields(table *t, const trace_field *fields, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(fields[i].name, "reserved") != 0)
            add_column(t, fields[i].name, H5Tcopy(native(fields[i].type)),
                       fields[i].count > 1 ? fields[i].count : 0, fields[i].offset, fields[i].unit,
                       fields[i].comment);
}

static void add_text_column(table *t, const char *name, size_t size, size_t offset)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    add_column(t, name, type, 0, offset, "", "");
}

static void write_block(table *t, const column *c)
{
    int rank = c->width > 0 ? 2 : 1;
    hsize_t total[2] = {t->rows + (hsize_t)t->waiting, (hsize_t)c->width};
    hsize_t start[2] = {t->rows, 0}, count[2] = {(hsize_t)t->waiting, (hsize_t)c->width};
    if (H5Dset_extent(c->set, total) < 0) {
        t->has_failed = true;
        return;
    }
    hid_t file_space = H5Dget_space(c->set);
    hid_t memory_space = H5Screate_simple(rank, count, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (H5Dwrite(c->set, c->type, memory_space, file_space, H5P_DEFAULT, c->block) < 0)
        t->has_failed = true;
    H5Sclose(memory_space);
    H5Sclose(file_space);
}

static void flush_table(table *t)
{
    if (t->waiting == 0 || t->has_failed)
        return;
    for (int i = 0; i < t->column_count; i++)
        write_block(t, &t->columns[i]);
    t->rows += (hsize_t)t->waiting;
    t->waiting = 0;
}

static void add_row(table *t, const void *source)
{
    if (t->has_failed)
        return;
    for (int i = 0; i < t->column_count; i++) {
        const column *c = &t->columns[i];
        memcpy(c->block + (size_t)t->waiting * c->row_size, (const uint8_t *)source + c->offset,
               c->row_size);
    }
    if (++t->waiting == BLOCK_ROWS)
        flush_table(t);
}

/* Returns whether all of it was written. */
static bool close_table(table *t)
{
    flush_table(t);
    for (int i = 0; i < t->column_count; i++) {
        H5Tclose(t->columns[i].type);
        if (t->columns[i].set >= 0)
            H5Dclose(t->columns[i].set);
        free(t->columns[i].block);
    }
    if (t->group > 0)
        H5Gclose(t->group);
    return !t->has_failed;
}

static hid_t make_group(hid_t parent, const char *name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* --- the tables of a recording -----------------------------------------------------------------
 */

/* A frame's head, and a body with the number of the frame's row before it. */
typedef struct frame_row {
    uint64_t arrival_tick;
    contact_frame frame;
} frame_row;

typedef struct body_row {
    uint64_t frame;
    frame_body body;
} body_row;

typedef struct export
{
    hid_t file;
    table ticks[HANDS_MAX], frames[HANDS_MAX], bodies[HANDS_MAX], commands, events;
    int hand_count;
    frame_row frame; /* scratch */
}
export;

static void open_frames(table *t)
{
    static const trace_field fields[] = {
        {"arrival_tick", TRACE_U64, 1, offsetof(frame_row, arrival_tick), "",
         "the tick that first used it"},
        {"sequence", TRACE_U64, 1, offsetof(frame_row, frame.sequence), "", ""},
        {"time_ns", TRACE_I64, 1, offsetof(frame_row, frame.time_ns), "", "of the poses"},
        {"tool_tick", TRACE_U64, 1, offsetof(frame_row, frame.tool_tick), "",
         "newest tool sample that the world had seen"},
        {"body_count", TRACE_U32, 1, offsetof(frame_row, frame.body_count), "", ""},
    };
    add_fields(t, fields, HR_COUNT(fields));
}

static void open_bodies(table *t)
{
    add_column(t, "frame_sequence", H5Tcopy(H5T_NATIVE_UINT64), 0, offsetof(body_row, frame), "",
               "of the frame that it belongs to");
    for (int i = 0; i < trace_body_field_count; i++) {
        trace_field f = trace_body_fields[i];
        f.offset += offsetof(body_row, body);
        add_fields(t, &f, 1);
    }
}

static void open_commands(table *t)
{
    static const trace_field fields[] = {
        {"tick", TRACE_U64, 1, offsetof(servo_command, tick), "", "at which it was applied"},
        {"kind", TRACE_U32, 1, offsetof(servo_command, kind), "",
         "1 e-stop, 2 arm, 3 disarm, 4 set, 5 mark, 6 client force, 7 lease, 8 trial"},
        {"hand", TRACE_U32, 1, offsetof(servo_command, hand), "", "index, or 4 for all"},
        {"key", TRACE_U32, 1, offsetof(servo_command, key), "", "of the parameter that is set"},
        {"client", TRACE_U32, 1, offsetof(servo_command, client), "", ""},
        {"deadline_ns", TRACE_I64, 1, offsetof(servo_command, deadline_ns), "", ""},
        {"values", TRACE_F64, 4, offsetof(servo_command, values), "", ""},
    };
    add_fields(t, fields, HR_COUNT(fields));
    add_text_column(t, "text", sizeof((servo_command *)0)->text, offsetof(servo_command, text));
}

static void open_events(table *t)
{
    static const trace_field fields[] = {
        {"tick", TRACE_U64, 1, offsetof(trace_event, tick), "", ""},
        {"time_ns", TRACE_I64, 1, offsetof(trace_event, time_ns), "", ""},
        {"kind", TRACE_U32, 1, offsetof(trace_event, kind), "",
         "0 log, 1 overrun, 2 state, 3 drop, 4 trial"},
        {"hand", TRACE_U32, 1, offsetof(trace_event, hand), "", "index, or 4 for all"},
        {"value", TRACE_F64, 1, offsetof(trace_event, value), "", ""},
    };
    add_fields(t, fields, HR_COUNT(fields));
    add_text_column(t, "text", TEXT_SIZE, offsetof(trace_event, text));
}

_Static_assert(sizeof((trace_event *)0)->text == TEXT_SIZE, "the text column holds all of it");

static void open_tables(export *e, const trace_reader *r)
{
    hid_t hands = make_group(e->file, "hands");
    for (int i = 0; i < e->hand_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.48s", trace_hand_name(r, i));
        if (!name[0] || strchr(name, '/') || H5Lexists(hands, name, H5P_DEFAULT) > 0)
            snprintf(name, sizeof name, "hand%d", i);
        hid_t group = make_group(hands, name);
        e->ticks[i].group = make_group(group, "tick");
        e->frames[i].group = make_group(group, "frame");
        e->bodies[i].group = make_group(group, "body");
        add_fields(&e->ticks[i], trace_tick_fields, trace_tick_field_count);
        open_frames(&e->frames[i]);
        open_bodies(&e->bodies[i]);
        H5Gclose(group);
    }
    H5Gclose(hands);
    e->commands.group = make_group(e->file, "commands");
    e->events.group = make_group(e->file, "events");
    open_commands(&e->commands);
    open_events(&e->events);
}

static void add_frame(export *e, const trace_message *m)
{
    e->frame.arrival_tick = m->arrival_tick;
    memcpy(&e->frame.frame, &m->frame, contact_frame_used(&m->frame));
    add_row(&e->frames[m->hand], &e->frame);
    for (uint32_t i = 0; i < m->frame.body_count; i++) {
        body_row row = {m->frame.sequence, m->frame.bodies[i]};
        add_row(&e->bodies[m->hand], &row);
    }
}

static void add_message(export *e, const trace_message *m)
{
    switch (m->kind) {
    case TRACE_TICK:
        if (m->hand < e->hand_count)
            add_row(&e->ticks[m->hand], &m->tick);
        return;
    case TRACE_FRAME:
        if (m->hand < e->hand_count)
            add_frame(e, m);
        return;
    case TRACE_COMMAND:
        add_row(&e->commands, &m->command);
        return;
    case TRACE_EVENT:
        add_row(&e->events, &m->event);
        return;
    }
}

/* Metadata "run" as attributes of the root, the others as groups of attributes; attachments as
 * bytes. */
static void add_notes(export *e, const trace_reader *r)
{
    int count;
    const trace_note *notes = trace_notes(r, &count);
    hid_t metadata = make_group(e->file, "metadata");
    for (int i = 0; i < count; i++) {
        const trace_note *n = &notes[i];
        if (!n->name || strchr(n->name, '/') || H5Lexists(metadata, n->name, H5P_DEFAULT) > 0)
            continue;
        hid_t group = make_group(metadata, n->name);
        for (size_t k = 0; k < n->count; k++)
            add_text(group, n->pairs[2 * k], n->pairs[2 * k + 1]);
        H5Gclose(group);
    }
    H5Gclose(metadata);
    hid_t attachments = make_group(e->file, "attachments");
    const trace_blob *blobs = trace_blobs(r, &count);
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d", i);
        hsize_t size = blobs[i].size;
        hid_t space = H5Screate_simple(1, &size, NULL);
        hid_t set = H5Dcreate2(attachments, name, H5T_NATIVE_UINT8, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
        if (set >= 0 && size > 0)
            H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, blobs[i].data);
        if (set >= 0) {
            add_text(set, "name", blobs[i].name ? blobs[i].name : "");
            H5Dclose(set);
        }
        H5Sclose(space);
    }
    H5Gclose(attachments);
}

static bool close_tables(export *e)
{
    bool is_good = true;
    for (int i = 0; i < e->hand_count; i++) {
        is_good &= close_table(&e->ticks[i]);
        is_good &= close_table(&e->frames[i]);
        is_good &= close_table(&e->bodies[i]);
    }
    is_good &= close_table(&e->commands);
    is_good &= close_table(&e->events);
    return is_good;
}

hr_status trace_export_hdf5(trace_reader *r, const char *path, hr_error *error)
{
    export *e = calloc(1, sizeof *e);
    if (!e)
        return error_set(error, HR_ERR_MEMORY, "%s: no memory to export", path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we say ourselves what went wrong */
    e->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (e->file < 0) {
        free(e);
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written", path);
    }
    e->hand_count = trace_hand_count(r);
    open_tables(e, r);
    const trace_message *m;
    while ((m = trace_next_message(r)))
        add_message(e, m);
    add_notes(e, r);
    bool is_good = close_tables(e);
    is_good &= H5Fclose(e->file) >= 0;
    free(e);
    return is_good ? HR_OK : error_set(error, HR_ERR_IO, "%s: could not be written", path);
}
