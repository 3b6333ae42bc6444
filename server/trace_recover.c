#include "server/trace_recover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/version.h"

enum {
    /* content of the largest message: head, encapsulation, frame with all bodies, CRC */
    MESSAGE_MAX = MCAP_MESSAGE_HEAD + 4 + 8 + sizeof(contact_frame) + 4,
    MESSAGE_MIN = MCAP_MESSAGE_HEAD + 4 + 4,
    BLOCK = 1 << 20,
    CHUNK_NS = 250000000,
    CHUNK_BYTES = 4 << 20
};

typedef struct rescue {
    trace_rescue *out;
    trace_reader *reader;
    mcap_writer *file;
    uint8_t *block;
    uint64_t chunk_start;
    histogram lateness, compute, device_time;
    uint64_t counts[TRACE_KIND_COUNT];
    bool has_counts; /* the old file had its own */
    trace_message scratch;
} rescue;

/* The message as it stands, and the chunk ended after a quarter of a second. */
static void keep(rescue *s, const mcap_message *m, const trace_message *decoded)
{
    size_t size = mcap_chunk_size(s->file);
    if (size > 0 && (m->log_time > s->chunk_start + CHUNK_NS || size > CHUNK_BYTES))
        mcap_end_chunk(s->file, false);
    if (mcap_chunk_size(s->file) == 0)
        s->chunk_start = m->log_time;
    mcap_bytes *out =
        mcap_begin_message(s->file, m->channel, m->sequence, m->log_time, m->publish_time);
    mcap_put_raw(out, m->data, m->size);
    mcap_end_message(s->file);
    s->out->messages++;
    s->counts[decoded->kind]++;
    if (decoded->kind != TRACE_TICK)
        return;
    s->out->ticks++;
    histogram_add(&s->lateness, decoded->tick.lateness_ns);
    histogram_add(&s->compute, decoded->tick.compute_ns);
    histogram_add(&s->device_time, decoded->tick.device_ns);
}

/* A whole message at these bytes, its own CRC right; returns its length with the head, or 0. */
static size_t try_message(rescue *s, const uint8_t *at, size_t left, mcap_message *m)
{
    mcap_cursor c = {at + 1, left - 1, false};
    uint64_t length = mcap_get_u64(&c);
    if (c.is_bad || length < MESSAGE_MIN || length > MESSAGE_MAX || length > c.left)
        return 0;
    mcap_item item = {.kind = MCAP_ITEM_RECORD, .data = c.data, .size = length};
    if (!mcap_read_message(&item, m) ||
        !trace_channel_meaning(m->channel, &s->scratch.kind, &s->scratch.hand) ||
        !trace_decode(m->data, m->size, &s->scratch))
        return 0;
    return MCAP_RECORD_HEAD + (size_t)length;
}

/* Every byte of the block before `stop` may be the start of a message that is whole; returns where
 * the search ended. */
static size_t search_block(rescue *s, size_t stop, size_t size)
{
    size_t at = 0;
    while (at < stop) {
        mcap_message m;
        size_t length = 0;
        if (s->block[at] == MCAP_MESSAGE)
            length = try_message(s, s->block + at, size - at, &m);
        if (length > 0) {
            keep(s, &m, &s->scratch);
            s->out->salvaged++;
        }
        at += length > 0 ? length : 1;
    }
    return at;
}

static void search(rescue *s, uint64_t offset, uint64_t end)
{
    while (offset < end) {
        uint64_t wanted = end - offset < BLOCK ? end - offset : BLOCK;
        size_t n = mcap_reader_bytes(trace_mcap(s->reader), offset, s->block, (size_t)wanted);
        if (n < BLOCK || offset + n >= end) {
            search_block(s, n, n);
            return;
        }
        /* near the end of a block a message may be cut: the next block begins with it */
        offset += search_block(s, n - (MCAP_RECORD_HEAD + MESSAGE_MAX), n);
    }
}

static void copy_metadata(rescue *s)
{
    int count;
    const trace_note *n = trace_notes(s->reader, &count);
    if (count == 0)
        return;
    n += count - 1; /* the one just read */
    if (n->name) {
        s->has_counts |= strcmp(n->name, TRACE_COUNTS) == 0;
        mcap_add_metadata(s->file, n->name, (const char *const *)n->pairs, (int)n->count);
    }
}

static void copy_attachment(rescue *s, const mcap_item *item)
{
    mcap_attachment a;
    if (!mcap_read_attachment(item, &a))
        return;
    int count;
    const trace_blob *b = trace_blobs(s->reader, &count);
    if (count > 0 && b[count - 1].name && b[count - 1].media_type && b[count - 1].size == a.size)
        mcap_add_attachment(s->file, a.log_time, b[count - 1].name, b[count - 1].media_type, a.data,
                            a.size);
}

static void rescue_item(rescue *s, const mcap_item *item, const trace_message *decoded)
{
    mcap_message m;
    if (item->kind == MCAP_ITEM_DAMAGE) {
        s->out->damages++;
        s->out->damaged_bytes += item->size;
        search(s, item->offset, item->offset + item->size);
        return;
    }
    if (item->is_in_summary)
        return; /* made anew */
    if (item->opcode == MCAP_MESSAGE && decoded && mcap_read_message(item, &m))
        keep(s, &m, decoded);
    else if (item->opcode == MCAP_METADATA)
        copy_metadata(s);
    else if (item->opcode == MCAP_ATTACHMENT)
        copy_attachment(s, item);
}

static void say_how(rescue *s, const char *from)
{
    static const char *const names[] = {"ticks", "frames", "commands", "events"};
    char values[6][24];
    const char *pairs[2 * 6];
    for (size_t i = 0; i < TRACE_KIND_COUNT; i++) {
        snprintf(values[i], sizeof values[i], "%" PRIu64, s->counts[i]);
        pairs[2 * i] = names[i];
        pairs[2 * i + 1] = values[i];
    }
    mcap_end_chunk(s->file, false);
    if (!s->has_counts) {
        mcap_add_metadata(s->file, TRACE_COUNTS, pairs, TRACE_KIND_COUNT);
        trace_write_timing(s->file, "lateness", &s->lateness);
        trace_write_timing(s->file, "compute", &s->compute);
        trace_write_timing(s->file, "device", &s->device_time);
    }
    snprintf(values[0], sizeof values[0], "%" PRIu64, s->out->damages);
    snprintf(values[1], sizeof values[1], "%" PRIu64, s->out->damaged_bytes);
    snprintf(values[2], sizeof values[2], "%" PRIu64, s->out->salvaged);
    const char *how[] = {"from",          from,      "damages",           values[0],
                         "damaged_bytes", values[1], "salvaged_messages", values[2]};
    mcap_add_metadata(s->file, "recovered", how, 4);
}

/* Nothing may overwrite the only copy of what is to be saved. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static hr_status rescue_all(rescue *s, const char *from, const char *to, hr_error *error)
{
    /* a first look: how many hands there are, and whether it is ours at all */
    trace_reader *look;
    hr_status status = trace_reader_open(from, &look, error);
    if (status != HR_OK)
        return status;
    int hands = trace_hand_count(look), problems = 0;
    trace_next_message(look); /* what stands before it defines it */
    trace_problems(look, &problems, NULL);
    const char *found = NULL;
    if (trace_is_other_version(look))
        found = "one whose messages another version defines; that version can recover it";
    else if (!trace_is_ours(look) && problems == 0)
        found = "another MCAP file";
    if (found) {
        trace_reader_close(look);
        return error_set(error, HR_ERR_FORMAT, "%s: expected a recording of this hapticd, found %s",
                         from, found);
    }
    const char *hand_names[HANDS_MAX];
    for (int i = 0; i < HANDS_MAX; i++)
        hand_names[i] = trace_hand_name(look, i);
    status = mcap_writer_open(to, "hapticd", "hapticd " HR_VERSION, &s->file, error);
    if (status == HR_OK)
        trace_write_channels(s->file, hands > 0 ? hands : HANDS_MAX, hand_names);
    trace_reader_close(look);
    if (status != HR_OK)
        return status;

    const trace_message *m;
    mcap_item item;
    while ((item = trace_next(s->reader, &m)).kind != MCAP_ITEM_END)
        rescue_item(s, &item, m);
    say_how(s, from);
    return mcap_writer_close(s->file, error);
}

hr_status trace_recover(const char *from, const char *to, trace_rescue *out, hr_error *error)
{
    *out = (trace_rescue){0};
    if (is_same_file(from, to))
        return error_set(error, HR_ERR_ARGUMENT, "%s: expected another file to write to", to);
    rescue *s = calloc(1, sizeof *s);
    if (s)
        s->block = malloc(BLOCK);
    hr_status status = HR_ERR_MEMORY;
    if (!s || !s->block)
        error_set(error, status, "%s: no memory to recover it", from);
    else
        status = trace_reader_open_bare(from, &s->reader, error);
    if (status == HR_OK) {
        s->out = out;
        status = rescue_all(s, from, to, error);
    }
    if (s) {
        trace_reader_close(s->reader);
        free(s->block);
    }
    free(s);
    return status;
}
