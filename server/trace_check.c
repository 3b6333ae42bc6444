#include "server/trace_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace_hash.h"

/* One message of the chunk at hand, as its index should name it. */
typedef struct entry {
    uint16_t channel;
    uint64_t time, offset;
} entry;

typedef struct chunk_place {
    uint64_t offset, length;
} chunk_place;

enum { CHANNELS = 64 };

typedef struct check {
    trace_report *report;
    trace_reader *reader;
    /* the chunk at hand */
    uint64_t records_offset; /* in the file */
    uint64_t first_time, last_time, stated_first, stated_last, chunk_offset;
    entry *entries;
    size_t entry_count, entry_room;
    bool has_chunk;
    /* all chunks */
    chunk_place *chunks;
    size_t chunk_room;
    size_t indexed_chunks;
    /* per channel */
    uint64_t counts[CHANNELS];
    uint32_t next[CHANNELS];
    uint64_t last_tick[HANDS_MAX];
    uint64_t attachments, metadata;
    bool has_statistics, has_no_memory;
} check;

static void find(check *c, uint64_t offset, const char *format, ...) HR_PRINTF(3, 4);

static void find(check *c, uint64_t offset, const char *format, ...)
{
    trace_report *r = c->report;
    r->findings++;
    if (r->kept_count == TRACE_FINDINGS_MAX)
        return;
    trace_finding *f = &r->kept[r->kept_count++];
    f->offset = offset;
    va_list values;
    va_start(values, format);
    vsnprintf(f->text, sizeof f->text, format, values);
    va_end(values);
}

/* Room for one more; false when there is no memory. */
static bool make_room(void **items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

/* --- chunks and their indices ------------------------------------------------------------------
 */

static void end_chunk(check *c)
{
    if (!c->has_chunk)
        return;
    if (c->entry_count > 0 && (c->first_time != c->stated_first || c->last_time != c->stated_last))
        find(c, c->chunk_offset, "a chunk whose stated times are not those of its messages");
    for (size_t i = 0; i < c->entry_count; i++)
        if (c->entries[i].channel != 0) {
            find(c, c->chunk_offset, "a chunk with messages on channel %u that no index names",
                 c->entries[i].channel);
            break;
        }
    c->has_chunk = false;
}

static void begin_chunk(check *c, const mcap_item *item)
{
    end_chunk(c);
    mcap_chunk chunk;
    if (!mcap_read_chunk(item, &chunk))
        return;
    c->has_chunk = true;
    c->chunk_offset = item->offset;
    c->records_offset = item->offset + MCAP_RECORD_HEAD + (uint64_t)(chunk.records - item->data);
    c->stated_first = chunk.first_time;
    c->stated_last = chunk.last_time;
    c->entry_count = 0;
    if (!make_room((void **)&c->chunks, &c->chunk_room, c->report->chunks, sizeof *c->chunks)) {
        c->has_no_memory = true;
        return;
    }
    c->chunks[c->report->chunks++] = (chunk_place){item->offset, item->size + MCAP_RECORD_HEAD};
}

static void note_entry(check *c, const mcap_item *item, const mcap_message *m)
{
    if (!make_room((void **)&c->entries, &c->entry_room, c->entry_count, sizeof *c->entries)) {
        c->has_no_memory = true;
        return;
    }
    if (c->entry_count == 0 || m->log_time < c->first_time)
        c->first_time = m->log_time;
    if (c->entry_count == 0 || m->log_time > c->last_time)
        c->last_time = m->log_time;
    c->entries[c->entry_count++] =
        (entry){m->channel, m->log_time, item->offset - c->records_offset};
}

/* Every entry names a message of the chunk before, in order; messages that were named are crossed
 * out by setting their channel to 0. */
static void check_message_index(check *c, const mcap_item *item)
{
    mcap_cursor cursor = {item->data, (size_t)item->size, false};
    uint16_t channel = mcap_get_u16(&cursor);
    mcap_cursor records = mcap_get_map(&cursor);
    size_t at = 0;
    if (!c->has_chunk)
        return; /* the chunk before was damaged: nothing to compare with */
    while (records.left > 0) {
        uint64_t time = mcap_get_u64(&records);
        uint64_t offset = mcap_get_u64(&records);
        while (at < c->entry_count && c->entries[at].channel != channel)
            at++;
        if (records.is_bad || at == c->entry_count || c->entries[at].time != time ||
            c->entries[at].offset != offset) {
            find(c, item->offset, "a message index of channel %u that is not that of its chunk",
                 channel);
            return;
        }
        c->entries[at].channel = 0;
    }
}

/* --- messages ----------------------------------------------------------------------------------
 */

static void check_tick(check *c, const mcap_item *item, const trace_message *m)
{
    c->report->ticks++;
    if ((int)m->tick.hand != m->hand) {
        find(c, item->offset, "a tick of hand %u on the channel of hand %d", m->tick.hand, m->hand);
        return;
    }
    uint64_t *last = &c->last_tick[m->hand];
    if (c->counts[trace_channel(TRACE_TICK, m->hand)] > 0 && m->tick.tick <= *last)
        find(c, item->offset, "tick %" PRIu64 " of hand %d after tick %" PRIu64, m->tick.tick,
             m->hand, *last);
    *last = m->tick.tick;
}

/* Records are numbered as they were pushed, so a lost one leaves a hole. */
static void check_number(check *c, const mcap_item *item, const mcap_message *m)
{
    if (m->channel >= CHANNELS || m->sequence == UINT32_MAX)
        return;
    uint32_t expected = c->next[m->channel];
    c->next[m->channel] = m->sequence + 1;
    if (m->sequence == expected)
        return;
    if (m->sequence > expected)
        c->report->lost += m->sequence - expected;
    find(c, item->offset, "expected record %u of channel %u, found %u", expected, m->channel,
         m->sequence);
}

static void check_content(check *c, const mcap_item *item, const trace_message *m)
{
    switch (m->kind) {
    case TRACE_TICK:
        check_tick(c, item, m);
        return;
    case TRACE_FRAME:
        c->report->frames++;
        return;
    case TRACE_COMMAND:
        c->report->commands++;
        return;
    case TRACE_EVENT:
        c->report->events++;
        return;
    }
}

/* decoded: NULL where another version defined the message. */
static void check_message(check *c, const mcap_item *item, const trace_message *decoded)
{
    mcap_message m;
    if (!mcap_read_message(item, &m))
        return;
    if (item->is_in_chunk)
        note_entry(c, item, &m);
    else
        find(c, item->offset, "a message outside of any chunk");
    check_number(c, item, &m);
    c->report->messages++;
    if (decoded)
        check_content(c, item, decoded);
    if (m.channel < CHANNELS)
        c->counts[m.channel]++;
}
/* --- summary -----------------------------------------------------------------------------------
 */

static void check_chunk_index(check *c, const mcap_item *item)
{
    mcap_cursor cursor = {item->data, (size_t)item->size, false};
    mcap_get_u64(&cursor);
    mcap_get_u64(&cursor);
    uint64_t offset = mcap_get_u64(&cursor);
    uint64_t length = mcap_get_u64(&cursor);
    size_t i = c->indexed_chunks++;
    if (cursor.is_bad || i >= c->report->chunks || c->chunks[i].offset != offset ||
        c->chunks[i].length != length)
        find(c, item->offset, "a chunk index entry for byte %" PRIu64 " where no such chunk begins",
             offset);
}

static void expect_count(check *c, const mcap_item *item, const char *what, uint64_t stated,
                         uint64_t counted)
{
    if (stated != counted)
        find(c, item->offset, "expected %" PRIu64 " %s as the statistics say, found %" PRIu64,
             stated, what, counted);
}

static void check_statistics(check *c, const mcap_item *item)
{
    mcap_cursor cursor = {item->data, (size_t)item->size, false};
    c->has_statistics = true;
    expect_count(c, item, "messages", mcap_get_u64(&cursor), c->report->messages);
    mcap_get_u16(&cursor); /* schemas */
    mcap_get_u32(&cursor); /* channels */
    expect_count(c, item, "attachments", mcap_get_u32(&cursor), c->attachments);
    expect_count(c, item, "metadata records", mcap_get_u32(&cursor), c->metadata);
    expect_count(c, item, "chunks", mcap_get_u32(&cursor), c->report->chunks);
    mcap_get_u64(&cursor);
    mcap_get_u64(&cursor);
    mcap_cursor counts = mcap_get_map(&cursor);
    while (counts.left > 0 && !counts.is_bad) {
        uint16_t channel = mcap_get_u16(&counts);
        uint64_t stated = mcap_get_u64(&counts);
        if (channel < CHANNELS)
            expect_count(c, item, "messages on a channel", stated, c->counts[channel]);
    }
}

/* --- what is attached --------------------------------------------------------------------------
 */

static void check_hashes(check *c)
{
    int count;
    const trace_blob *blobs = trace_blobs(c->reader, &count);
    for (int i = 0; i < count; i++) {
        const char *stated =
            blobs[i].name ? trace_value(c->reader, TRACE_HASHES, blobs[i].name) : NULL;
        trace_hash found = trace_hash_bytes(blobs[i].data, blobs[i].size);
        if (!stated)
            find(c, 0, "attachment \"%s\" without a hash", blobs[i].name);
        else if (strcmp(stated, found.text) != 0)
            find(c, 0, "attachment \"%s\" with SHA-256 %.12s..., expected %.12s...", blobs[i].name,
                 found.text, stated);
    }
    static const char *const needed[] = {TRACE_CONFIG, TRACE_SCENE};
    for (int i = 0; i < HR_COUNT(needed); i++)
        if (!trace_attached(c->reader, needed[i], NULL))
            find(c, 0, "no attachment \"%s\"", needed[i]);
    for (int i = 0; i < trace_hand_count(c->reader); i++) {
        device_description d;
        if (trace_device(c->reader, i, &d) != HR_OK)
            find(c, 0, "no whole description of the device of hand %d", i);
    }
    if (trace_hand_count(c->reader) == 0)
        find(c, 0, "no statement of how many hands there are");
}

static void check_counts(check *c)
{
    double dropped = trace_number(c->reader, TRACE_COUNTS, "dropped", 0);
    if (dropped > 0)
        find(c, 0, "%.0f records that the writer had to drop", dropped);
    double stated = trace_number(c->reader, TRACE_COUNTS, "ticks", -1);
    if (stated >= 0 && stated != (double)c->report->ticks)
        find(c, 0, "expected %.0f tick records as the writer counted, found %" PRIu64, stated,
             c->report->ticks);
}

static void check_item(check *c, const mcap_item *item, const trace_message *m)
{
    switch (item->opcode) {
    case MCAP_CHUNK:
        begin_chunk(c, item);
        return;
    case MCAP_MESSAGE:
        check_message(c, item, m);
        return;
    case MCAP_MESSAGE_INDEX:
        check_message_index(c, item);
        return;
    case MCAP_CHUNK_INDEX:
        check_chunk_index(c, item);
        return;
    case MCAP_STATISTICS:
        check_statistics(c, item);
        return;
    case MCAP_ATTACHMENT:
        c->attachments++;
        return;
    case MCAP_METADATA:
        c->metadata++;
        return;
    case MCAP_DATA_END:
        end_chunk(c);
        return;
    default:
        if (item->opcode > MCAP_OPCODE_LAST)
            find(c, item->offset, "a record of an unknown kind (0x%02x)", item->opcode);
        return;
    }
}

static void check_all(check *c)
{
    const trace_message *m;
    mcap_item item;
    while ((item = trace_next(c->reader, &m)).kind != MCAP_ITEM_END) {
        if (item.kind == MCAP_ITEM_DAMAGE) {
            find(c, item.offset, "%s", item.problem);
            c->has_chunk = c->has_chunk && item.is_in_chunk;
        } else {
            check_item(c, &item, m);
        }
    }
    end_chunk(c);
    check_hashes(c);
    if (trace_is_other_version(c->reader))
        find(c, 0, "messages as another version of hapticd defines them: not looked into");
    else
        check_counts(c);
    if (c->has_statistics && c->indexed_chunks != c->report->chunks)
        find(c, 0, "expected an index entry for each of %" PRIu64 " chunks, found %zu",
             c->report->chunks, c->indexed_chunks);
}

hr_status trace_check(const char *path, trace_report **out, hr_error *error)
{
    check c = {0};
    hr_status status = trace_reader_open_bare(path, &c.reader, error);
    if (status != HR_OK)
        return status;
    c.report = calloc(1, sizeof *c.report);
    if (!c.report)
        c.has_no_memory = true;
    else
        check_all(&c);
    if (!c.has_no_memory && !trace_is_ours(c.reader) && c.report->messages == 0 &&
        mcap_reader_is_complete(trace_mcap(c.reader)))
        status = error_set(error, HR_ERR_FORMAT,
                           "%s: expected a recording of hapticd, found another MCAP file", path);
    if (c.has_no_memory)
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory to check it", path);
    if (status == HR_OK && c.report) {
        c.report->is_complete = trace_is_complete(c.reader);
        *out = c.report;
    } else {
        free(c.report);
    }
    free(c.entries);
    free(c.chunks);
    trace_reader_close(c.reader);
    return status;
}
