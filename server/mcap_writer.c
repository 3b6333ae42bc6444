#include "server/mcap_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef struct channel_state {
    mcap_bytes index; /* of the open chunk: log time and offset of each message */
    uint64_t messages;
} channel_state;

struct mcap_writer {
    int fd;
    char path[512];
    uint64_t position;   /* bytes in the file */
    uint32_t crc;        /* of all bytes so far, of the summary once it has begun */
    int error;           /* errno of the first failure; 0 while all is well */
    mcap_bytes schemas;  /* whole records */
    mcap_bytes channels; /* whole records */
    uint16_t schema_count, channel_count;
    channel_state states[MCAP_CHANNELS_MAX + 1]; /* by channel id; 0 is not used */
    mcap_bytes chunk;                            /* records of the open chunk */
    size_t message_begin;
    uint64_t chunk_messages, chunk_first, chunk_last; /* log times */
    mcap_bytes out;                                   /* what is about to be written */
    mcap_bytes chunk_indices, attachment_indices, metadata_indices; /* whole records */
    uint32_t chunk_count, attachment_count, metadata_count;
    uint64_t messages, first, last;
};

/* Sends w->out to the file and empties it. A part that the disk took before it refused is cut off
 * again. */
static void send_out(mcap_writer *w)
{
    if (w->out.has_failed && !w->error)
        w->error = ENOMEM;
    size_t sent = 0;
    while (!w->error && sent < w->out.size) {
        ssize_t n = write(w->fd, w->out.data + sent, w->out.size - sent);
        if (n > 0)
            sent += (size_t)n;
        else if (n == 0 || errno != EINTR)
            w->error = n == 0 ? ENOSPC : errno;
    }
    if (w->error) {
        /* where even this fails nothing more can be done; the reader copes with half a record */
        (void)!ftruncate(w->fd, (off_t)w->position);
    } else {
        w->crc = (uint32_t)crc32_z(w->crc, w->out.data, w->out.size);
        w->position += w->out.size;
    }
    w->out.size = 0;
}

hr_status mcap_writer_open(const char *path, const char *profile, const char *library,
                           mcap_writer **out, hr_error *error)
{
    mcap_writer *w = calloc(1, sizeof *w);
    if (!w)
        return error_set(error, HR_ERR_MEMORY, "%s: no memory for the recording", path);
    w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (w->fd < 0) {
        hr_status status = error_set(
            error, HR_ERR_IO, "%s: expected a file that can be written: %s", path, strerror(errno));
        free(w);
        return status;
    }
    strncpy(w->path, path, sizeof w->path - 1);
    mcap_put_raw(&w->out, mcap_magic, MCAP_MAGIC_SIZE);
    size_t begin = mcap_begin_record(&w->out, MCAP_HEADER);
    mcap_put_text(&w->out, profile);
    mcap_put_text(&w->out, library);
    mcap_end_record(&w->out, begin);
    send_out(w);
    *out = w;
    return HR_OK;
}

uint16_t mcap_add_schema(mcap_writer *w, const char *name, const char *encoding, const char *text)
{
    uint16_t id = ++w->schema_count;
    size_t begin = mcap_begin_record(&w->schemas, MCAP_SCHEMA);
    mcap_put_u16(&w->schemas, id);
    mcap_put_text(&w->schemas, name);
    mcap_put_text(&w->schemas, encoding);
    mcap_put_text(&w->schemas, text);
    mcap_end_record(&w->schemas, begin);
    return id;
}

uint16_t mcap_add_channel(mcap_writer *w, uint16_t schema, const char *topic, const char *encoding,
                          const char *const *pairs, int pair_count)
{
    if (w->channel_count == MCAP_CHANNELS_MAX) {
        w->error = ENOBUFS;
        return MCAP_CHANNELS_MAX;
    }
    uint16_t id = ++w->channel_count;
    size_t begin = mcap_begin_record(&w->channels, MCAP_CHANNEL);
    mcap_put_u16(&w->channels, id);
    mcap_put_u16(&w->channels, schema);
    mcap_put_text(&w->channels, topic);
    mcap_put_text(&w->channels, encoding);
    mcap_put_map(&w->channels, pairs, pair_count);
    mcap_end_record(&w->channels, begin);
    return id;
}

void mcap_add_attachment(mcap_writer *w, uint64_t log_time, const char *name,
                         const char *media_type, const void *data, size_t size)
{
    uint64_t offset = w->position;
    size_t begin = mcap_begin_record(&w->out, MCAP_ATTACHMENT);
    mcap_put_u64(&w->out, log_time);
    mcap_put_u64(&w->out, 0); /* time of creation: not known */
    mcap_put_text(&w->out, name);
    mcap_put_text(&w->out, media_type);
    mcap_put_u64(&w->out, size);
    mcap_put_raw(&w->out, data, size);
    size_t content = begin + MCAP_RECORD_HEAD;
    if (!w->out.has_failed)
        mcap_put_u32(&w->out, (uint32_t)crc32_z(0, w->out.data + content, w->out.size - content));
    mcap_end_record(&w->out, begin);
    send_out(w);
    if (w->error)
        return;
    begin = mcap_begin_record(&w->attachment_indices, MCAP_ATTACHMENT_INDEX);
    mcap_put_u64(&w->attachment_indices, offset);
    mcap_put_u64(&w->attachment_indices, w->position - offset);
    mcap_put_u64(&w->attachment_indices, log_time);
    mcap_put_u64(&w->attachment_indices, 0);
    mcap_put_u64(&w->attachment_indices, size);
    mcap_put_text(&w->attachment_indices, name);
    mcap_put_text(&w->attachment_indices, media_type);
    mcap_end_record(&w->attachment_indices, begin);
    w->attachment_count++;
}

void mcap_add_metadata(mcap_writer *w, const char *name, const char *const *pairs, int count)
{
    uint64_t offset = w->position;
    size_t begin = mcap_begin_record(&w->out, MCAP_METADATA);
    mcap_put_text(&w->out, name);
    mcap_put_map(&w->out, pairs, count);
    mcap_end_record(&w->out, begin);
    send_out(w);
    if (w->error)
        return;
    begin = mcap_begin_record(&w->metadata_indices, MCAP_METADATA_INDEX);
    mcap_put_u64(&w->metadata_indices, offset);
    mcap_put_u64(&w->metadata_indices, w->position - offset);
    mcap_put_text(&w->metadata_indices, name);
    mcap_end_record(&w->metadata_indices, begin);
    w->metadata_count++;
}

mcap_bytes *mcap_begin_message(mcap_writer *w, uint16_t channel, uint32_t sequence,
                               uint64_t log_time, uint64_t publish_time)
{
    if (w->chunk.size == 0) {
        mcap_put_raw(&w->chunk, w->schemas.data, w->schemas.size);
        mcap_put_raw(&w->chunk, w->channels.data, w->channels.size);
    }
    channel_state *state = &w->states[channel <= MCAP_CHANNELS_MAX ? channel : 0];
    mcap_put_u64(&state->index, log_time);
    mcap_put_u64(&state->index, w->chunk.size);
    state->messages++;
    if (w->chunk_messages == 0 || log_time < w->chunk_first)
        w->chunk_first = log_time;
    if (w->chunk_messages == 0 || log_time > w->chunk_last)
        w->chunk_last = log_time;
    w->chunk_messages++;
    w->message_begin = mcap_begin_record(&w->chunk, MCAP_MESSAGE);
    mcap_put_u16(&w->chunk, channel);
    mcap_put_u32(&w->chunk, sequence);
    mcap_put_u64(&w->chunk, log_time);
    mcap_put_u64(&w->chunk, publish_time);
    return &w->chunk;
}

void mcap_end_message(mcap_writer *w)
{
    mcap_end_record(&w->chunk, w->message_begin);
}

size_t mcap_chunk_size(const mcap_writer *w)
{
    return w->chunk.size;
}

/* The message index records of the open chunk into out, and their places into the chunk's index
 * record; the chunk's own bytes are in out already. */
static void put_message_indices(mcap_writer *w, uint64_t chunk_offset)
{
    size_t chunk_length = w->out.size;
    mcap_bytes places = {0};
    for (int id = 1; id <= w->channel_count; id++) {
        channel_state *state = &w->states[id];
        if (state->index.size == 0)
            continue;
        mcap_put_u16(&places, (uint16_t)id);
        mcap_put_u64(&places, chunk_offset + w->out.size);
        size_t begin = mcap_begin_record(&w->out, MCAP_MESSAGE_INDEX);
        mcap_put_u16(&w->out, (uint16_t)id);
        mcap_put_u32(&w->out, (uint32_t)state->index.size);
        mcap_put_raw(&w->out, state->index.data, state->index.size);
        mcap_end_record(&w->out, begin);
        w->out.has_failed |= state->index.has_failed;
    }
    mcap_bytes *b = &w->chunk_indices;
    size_t begin = mcap_begin_record(b, MCAP_CHUNK_INDEX);
    mcap_put_u64(b, w->chunk_first);
    mcap_put_u64(b, w->chunk_last);
    mcap_put_u64(b, chunk_offset);
    mcap_put_u64(b, chunk_length);
    mcap_put_u32(b, (uint32_t)places.size);
    mcap_put_raw(b, places.data, places.size);
    mcap_put_u64(b, w->out.size - chunk_length);
    mcap_put_text(b, ""); /* no compression */
    mcap_put_u64(b, w->chunk.size);
    mcap_put_u64(b, w->chunk.size);
    mcap_end_record(b, begin);
    w->out.has_failed |= places.has_failed || b->has_failed;
    mcap_bytes_free(&places);
}

void mcap_end_chunk(mcap_writer *w, bool wait_for_disk)
{
    if (w->chunk_messages == 0)
        return;
    if (w->chunk.has_failed)
        w->error = ENOMEM;
    if (!w->error) {
        size_t begin = mcap_begin_record(&w->out, MCAP_CHUNK);
        mcap_put_u64(&w->out, w->chunk_first);
        mcap_put_u64(&w->out, w->chunk_last);
        mcap_put_u64(&w->out, w->chunk.size);
        mcap_put_u32(&w->out, (uint32_t)crc32_z(0, w->chunk.data, w->chunk.size));
        mcap_put_text(&w->out, ""); /* no compression */
        mcap_put_u64(&w->out, w->chunk.size);
        mcap_put_raw(&w->out, w->chunk.data, w->chunk.size);
        mcap_end_record(&w->out, begin);
        put_message_indices(w, w->position);
        send_out(w);
    }
    if (!w->error && wait_for_disk && fdatasync(w->fd) != 0 && errno != EINVAL && errno != EROFS)
        w->error = errno; /* EINVAL, EROFS: a pipe or a special file, which cannot be synced */
    if (w->messages == 0 || w->chunk_first < w->first)
        w->first = w->chunk_first;
    if (w->messages == 0 || w->chunk_last > w->last)
        w->last = w->chunk_last;
    w->messages += w->chunk_messages;
    w->chunk_count++;
    w->chunk_messages = 0;
    w->chunk.size = 0;
    for (int id = 0; id <= w->channel_count; id++)
        w->states[id].index.size = 0;
}

uint64_t mcap_writer_bytes(const mcap_writer *w)
{
    return w->position;
}

bool mcap_writer_failed(const mcap_writer *w)
{
    return w->error != 0;
}

static void put_statistics(mcap_writer *w)
{
    size_t begin = mcap_begin_record(&w->out, MCAP_STATISTICS);
    mcap_put_u64(&w->out, w->messages);
    mcap_put_u16(&w->out, w->schema_count);
    mcap_put_u32(&w->out, w->channel_count);
    mcap_put_u32(&w->out, w->attachment_count);
    mcap_put_u32(&w->out, w->metadata_count);
    mcap_put_u32(&w->out, w->chunk_count);
    mcap_put_u64(&w->out, w->first);
    mcap_put_u64(&w->out, w->last);
    mcap_put_u32(&w->out, (uint32_t)(10 * w->channel_count));
    for (int id = 1; id <= w->channel_count; id++) {
        mcap_put_u16(&w->out, (uint16_t)id);
        mcap_put_u64(&w->out, w->states[id].messages);
    }
    mcap_end_record(&w->out, begin);
}

/* Everything after the data section. The CRC of the summary covers all bytes from its start to
 * just before the CRC itself. */
static void put_summary(mcap_writer *w)
{
    size_t begin = mcap_begin_record(&w->out, MCAP_DATA_END);
    mcap_put_u32(&w->out, w->crc);
    mcap_end_record(&w->out, begin);
    send_out(w);

    uint64_t summary_start = w->position;
    w->crc = 0;
    const mcap_bytes *groups[] = {&w->schemas,       &w->channels,           NULL,
                                  &w->chunk_indices, &w->attachment_indices, &w->metadata_indices};
    static const uint8_t opcodes[] = {MCAP_SCHEMA,      MCAP_CHANNEL,          MCAP_STATISTICS,
                                      MCAP_CHUNK_INDEX, MCAP_ATTACHMENT_INDEX, MCAP_METADATA_INDEX};
    mcap_bytes offsets = {0};
    for (size_t i = 0; i < sizeof opcodes; i++) {
        size_t before = w->out.size;
        if (groups[i])
            mcap_put_raw(&w->out, groups[i]->data, groups[i]->size);
        else
            put_statistics(w);
        if (w->out.size == before)
            continue;
        begin = mcap_begin_record(&offsets, MCAP_SUMMARY_OFFSET);
        mcap_put_u8(&offsets, opcodes[i]);
        mcap_put_u64(&offsets, summary_start + before);
        mcap_put_u64(&offsets, w->out.size - before);
        mcap_end_record(&offsets, begin);
    }
    uint64_t offsets_start = summary_start + w->out.size;
    mcap_put_raw(&w->out, offsets.data, offsets.size);
    w->out.has_failed |= offsets.has_failed;
    mcap_bytes_free(&offsets);

    mcap_put_u8(&w->out, MCAP_FOOTER);
    mcap_put_u64(&w->out, MCAP_FOOTER_SIZE);
    mcap_put_u64(&w->out, summary_start);
    mcap_put_u64(&w->out, offsets_start);
    send_out(w);
    mcap_put_u32(&w->out, w->crc);
    mcap_put_raw(&w->out, mcap_magic, MCAP_MAGIC_SIZE);
    send_out(w);
}

static void release(mcap_writer *w)
{
    for (int id = 0; id <= MCAP_CHANNELS_MAX; id++)
        mcap_bytes_free(&w->states[id].index);
    mcap_bytes_free(&w->schemas);
    mcap_bytes_free(&w->channels);
    mcap_bytes_free(&w->chunk);
    mcap_bytes_free(&w->out);
    mcap_bytes_free(&w->chunk_indices);
    mcap_bytes_free(&w->attachment_indices);
    mcap_bytes_free(&w->metadata_indices);
    free(w);
}

hr_status mcap_writer_close(mcap_writer *w, hr_error *error)
{
    if (!w)
        return HR_OK;
    mcap_end_chunk(w, false);
    if (!w->error)
        put_summary(w);
    if (!w->error && fsync(w->fd) != 0 && errno != EINVAL && errno != EROFS)
        w->error = errno;
    if (close(w->fd) != 0 && !w->error)
        w->error = errno;
    hr_status status = HR_OK;
    if (w->error)
        status = error_set(error, HR_ERR_IO, "%s: the recording stopped after %llu bytes: %s",
                           w->path, (unsigned long long)w->position, strerror(w->error));
    release(w);
    return status;
}
