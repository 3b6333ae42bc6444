#include "server/trace_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCHEMAS_MAX = 64,
    CHANNELS_KNOWN_MAX = 64,
    BLOBS_MAX = 256,
    NOTES_MAX = 256,
    KIND_UNKNOWN = -1,
    KIND_OTHER_VERSION = -2
};

struct trace_reader {
    mcap_reader *file;
    bool is_ours;
    bool is_other_version, has_said_so;
    mcap_bytes schema_texts[TRACE_KIND_COUNT]; /* what this program writes */
    int schema_kinds[SCHEMAS_MAX];             /* by id: trace_kind, or KIND_* */
    int channel_kinds[CHANNELS_KNOWN_MAX];     /* by id */
    int channel_hands[CHANNELS_KNOWN_MAX];
    trace_problem problems[TRACE_PROBLEMS_MAX];
    uint64_t problem_count;
    trace_blob blobs[BLOBS_MAX];
    int blob_count;
    trace_note notes[NOTES_MAX];
    int note_count;
    char problem[192]; /* of the item just returned */
    trace_message message;
};

static char *copy_text(mcap_text t)
{
    char *copy = malloc(t.size + 1);
    if (copy)
        mcap_text_copy(t, copy, t.size + 1);
    return copy;
}

static void note_problem(trace_reader *r, const mcap_item *item)
{
    if (r->problem_count < TRACE_PROBLEMS_MAX) {
        trace_problem *p = &r->problems[r->problem_count];
        p->offset = item->offset;
        p->size = item->size;
        snprintf(p->text, sizeof p->text, "%s", item->problem);
    }
    r->problem_count++;
}

static mcap_item refuse(trace_reader *r, const mcap_item *item, const char *what)
{
    snprintf(r->problem, sizeof r->problem, "%s", what);
    mcap_item damage = *item;
    damage.kind = MCAP_ITEM_DAMAGE;
    damage.data = NULL;
    damage.size = item->size + MCAP_RECORD_HEAD;
    damage.problem = r->problem;
    return damage;
}

static void keep_attachment(trace_reader *r, const mcap_item *item)
{
    mcap_attachment a;
    if (r->blob_count == BLOBS_MAX || !mcap_read_attachment(item, &a) ||
        a.size > TRACE_ATTACHMENT_MAX)
        return;
    trace_blob *b = &r->blobs[r->blob_count++];
    b->name = copy_text(a.name);
    b->media_type = copy_text(a.media_type);
    b->data = copy_text((mcap_text){(const char *)a.data, a.size});
    b->size = b->data ? a.size : 0;
    b->log_time = a.log_time;
}

static void keep_metadata(trace_reader *r, const mcap_item *item)
{
    mcap_metadata meta;
    if (r->note_count == NOTES_MAX || !mcap_read_metadata(item, &meta))
        return;
    size_t count = 0;
    mcap_text key, value;
    for (mcap_cursor c = meta.pairs; mcap_read_pair(&c, &key, &value);)
        count++;
    trace_note *n = &r->notes[r->note_count];
    n->pairs = calloc(2 * count + 1, sizeof *n->pairs);
    if (!n->pairs)
        return;
    n->name = copy_text(meta.name);
    n->count = 0;
    while (n->count < count && mcap_read_pair(&meta.pairs, &key, &value)) {
        n->pairs[2 * n->count] = copy_text(key);
        n->pairs[2 * n->count + 1] = copy_text(value);
        n->count++;
    }
    r->note_count++;
}

/* A schema is one of ours when both its name and its text are what this program writes. */
static void learn_schema(trace_reader *r, const mcap_item *item)
{
    mcap_schema s;
    if (!mcap_read_schema(item, &s) || s.id >= SCHEMAS_MAX)
        return;
    r->schema_kinds[s.id] = KIND_UNKNOWN;
    for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        const mcap_bytes *text = &r->schema_texts[kind];
        if (!mcap_text_is(s.name, trace_schema_name((trace_kind)kind)))
            continue;
        bool is_same =
            text->size == s.text.size && memcmp(text->data, s.text.data, s.text.size) == 0;
        r->schema_kinds[s.id] = is_same ? kind : KIND_OTHER_VERSION;
        r->is_ours = true; /* whatever became of the header */
        r->is_other_version |= !is_same;
    }
}

static void learn_channel(trace_reader *r, const mcap_item *item)
{
    mcap_channel c;
    if (!mcap_read_channel(item, &c) || c.id >= CHANNELS_KNOWN_MAX)
        return;
    int kind = c.schema < SCHEMAS_MAX ? r->schema_kinds[c.schema] : KIND_UNKNOWN;
    trace_kind lawful;
    int hand;
    if (kind >= 0 && (!trace_channel_meaning(c.id, &lawful, &hand) || (int)lawful != kind))
        kind = KIND_UNKNOWN;
    r->channel_kinds[c.id] = kind;
    r->channel_hands[c.id] = kind >= 0 ? hand : -1;
}

static mcap_item decode(trace_reader *r, const mcap_item *item, const trace_message **out)
{
    mcap_message m;
    if (!mcap_read_message(item, &m))
        return refuse(r, item, "a message without its head");
    int kind = m.channel < CHANNELS_KNOWN_MAX ? r->channel_kinds[m.channel] : KIND_UNKNOWN;
    if (kind == KIND_OTHER_VERSION) {
        if (!r->has_said_so) {
            mcap_item said = refuse(r, item, "messages as another version of hapticd defines them");
            note_problem(r, &said);
        }
        r->has_said_so = true;
        return *item;
    }
    if (kind < 0)
        return refuse(r, item, "a message on a channel that was not announced");
    r->message.kind = (trace_kind)kind;
    r->message.hand = r->channel_hands[m.channel];
    r->message.sequence = m.sequence;
    r->message.time_ns = (int64_t)m.log_time;
    if (!trace_decode(m.data, m.size, &r->message))
        return refuse(r, item, "a message whose own CRC or size is wrong");
    *out = &r->message;
    return *item;
}

mcap_item trace_next(trace_reader *r, const trace_message **m)
{
    *m = NULL;
    mcap_item item = mcap_next(r->file);
    if (item.kind == MCAP_ITEM_RECORD) {
        mcap_cursor c = {item.data, (size_t)item.size, false};
        switch (item.opcode) {
        case MCAP_HEADER:
            r->is_ours |= mcap_text_is(mcap_get_text(&c), "hapticd");
            break;
        case MCAP_SCHEMA: /* those of the summary are copies, and no CRC was checked yet */
            if (!item.is_in_summary)
                learn_schema(r, &item);
            break;
        case MCAP_CHANNEL:
            if (!item.is_in_summary)
                learn_channel(r, &item);
            break;
        case MCAP_ATTACHMENT:
            keep_attachment(r, &item);
            break;
        case MCAP_METADATA:
            keep_metadata(r, &item);
            break;
        case MCAP_MESSAGE:
            if (r->is_ours)
                item = decode(r, &item, m);
            break;
        default:
            break;
        }
    }
    if (item.kind == MCAP_ITEM_DAMAGE)
        note_problem(r, &item);
    return item;
}

const trace_message *trace_next_message(trace_reader *r)
{
    const trace_message *m = NULL;
    while (!m && trace_next(r, &m).kind != MCAP_ITEM_END)
        ;
    return m;
}

/* Up to the first chunk, whose records then come next. */
static void read_begin(trace_reader *r)
{
    const trace_message *m = NULL;
    mcap_item item;
    do
        item = trace_next(r, &m);
    while (item.kind != MCAP_ITEM_END &&
           !(item.kind == MCAP_ITEM_RECORD && item.opcode == MCAP_CHUNK));
}

static hr_status start(mcap_reader *file, trace_reader **out, hr_error *error)
{
    trace_reader *r = calloc(1, sizeof *r);
    if (!r) {
        mcap_reader_close(file);
        return error_set(error, HR_ERR_MEMORY, "no memory to read a recording");
    }
    r->file = file;
    for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
        trace_schema_text((trace_kind)kind, &r->schema_texts[kind]);
    for (int i = 0; i < SCHEMAS_MAX; i++)
        r->schema_kinds[i] = KIND_UNKNOWN;
    for (int i = 0; i < CHANNELS_KNOWN_MAX; i++)
        r->channel_kinds[i] = KIND_UNKNOWN;
    *out = r;
    return HR_OK;
}

hr_status trace_reader_open_bare(const char *path, trace_reader **out, hr_error *error)
{
    mcap_reader *file;
    hr_status status = mcap_reader_open(path, &file, error);
    return status == HR_OK ? start(file, out, error) : status;
}

hr_status trace_reader_open(const char *path, trace_reader **out, hr_error *error)
{
    hr_status status = trace_reader_open_bare(path, out, error);
    if (status == HR_OK)
        read_begin(*out);
    return status;
}

hr_status trace_reader_open_memory(const void *data, size_t size, const char *name,
                                   trace_reader **out, hr_error *error)
{
    mcap_reader *file;
    hr_status status = mcap_reader_open_memory(data, size, name, &file, error);
    if (status == HR_OK)
        status = start(file, out, error);
    if (status == HR_OK)
        read_begin(*out);
    return status;
}

void trace_reader_close(trace_reader *r)
{
    if (!r)
        return;
    for (int i = 0; i < TRACE_KIND_COUNT; i++)
        mcap_bytes_free(&r->schema_texts[i]);
    for (int i = 0; i < r->blob_count; i++) {
        free(r->blobs[i].name);
        free(r->blobs[i].media_type);
        free(r->blobs[i].data);
    }
    for (int i = 0; i < r->note_count; i++) {
        for (size_t k = 0; k < 2 * r->notes[i].count; k++)
            free(r->notes[i].pairs[k]);
        free(r->notes[i].pairs);
        free(r->notes[i].name);
    }
    mcap_reader_close(r->file);
    free(r);
}

const trace_problem *trace_problems(const trace_reader *r, int *kept, uint64_t *all)
{
    *kept = r->problem_count < TRACE_PROBLEMS_MAX ? (int)r->problem_count : TRACE_PROBLEMS_MAX;
    if (all)
        *all = r->problem_count;
    return r->problems;
}

bool trace_is_ours(const trace_reader *r)
{
    return r->is_ours;
}

bool trace_is_other_version(const trace_reader *r)
{
    return r->is_other_version;
}

bool trace_is_complete(const trace_reader *r)
{
    return mcap_reader_is_complete(r->file) && r->problem_count == 0;
}

uint64_t trace_file_size(const trace_reader *r)
{
    return mcap_reader_size(r->file);
}

mcap_reader *trace_mcap(trace_reader *r)
{
    return r->file;
}

const char *trace_value(const trace_reader *r, const char *metadata, const char *key)
{
    for (int i = 0; i < r->note_count; i++) {
        const trace_note *n = &r->notes[i];
        if (!n->name || strcmp(n->name, metadata) != 0)
            continue;
        for (size_t k = 0; k < n->count; k++)
            if (n->pairs[2 * k] && strcmp(n->pairs[2 * k], key) == 0)
                return n->pairs[2 * k + 1];
    }
    return NULL;
}

double trace_number(const trace_reader *r, const char *metadata, const char *key, double missing)
{
    const char *text = trace_value(r, metadata, key);
    char *end = NULL;
    double value = text ? strtod(text, &end) : missing;
    return text && (end == text || *end) ? missing : value;
}

int trace_hand_count(const trace_reader *r)
{
    double count = trace_number(r, TRACE_RUN, "hands", 0);
    return count >= 1 && count <= HANDS_MAX ? (int)count : 0;
}

static const char *hand_value(const trace_reader *r, int hand, const char *key)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", TRACE_HAND, hand);
    return trace_value(r, name, key);
}

const char *trace_hand_name(const trace_reader *r, int hand)
{
    const char *name = hand_value(r, hand, "name");
    return name ? name : "";
}

hr_status trace_device(const trace_reader *r, int hand, device_description *out)
{
    if (!hand_value(r, hand, "name"))
        return HR_ERR_NOT_FOUND;
    *out = (device_description){0};
    for (int i = 0; i < trace_device_field_count; i++) {
        const trace_device_field *f = &trace_device_fields[i];
        const char *text = hand_value(r, hand, f->name);
        char *at = (char *)out + f->offset;
        if (!text)
            return HR_ERR_FORMAT;
        if (f->kind == 's') {
            snprintf(at, sizeof out->model, "%s", text);
        } else if (f->kind == 'd') {
            double value = strtod(text, NULL);
            memcpy(at, &value, sizeof value);
        } else if (f->kind == 'i') {
            int value = (int)strtol(text, NULL, 10);
            memcpy(at, &value, sizeof value);
        } else {
            bool value = strcmp(text, "true") == 0;
            memcpy(at, &value, sizeof value);
        }
    }
    return HR_OK;
}

const char *trace_attached(const trace_reader *r, const char *name, size_t *size)
{
    for (int i = 0; i < r->blob_count; i++) {
        if (!r->blobs[i].name || strcmp(r->blobs[i].name, name) != 0)
            continue;
        if (size)
            *size = r->blobs[i].size;
        return r->blobs[i].data;
    }
    return NULL;
}

const trace_blob *trace_blobs(const trace_reader *r, int *count)
{
    *count = r->blob_count;
    return r->blobs;
}

const trace_note *trace_notes(const trace_reader *r, int *count)
{
    *count = r->note_count;
    return r->notes;
}
