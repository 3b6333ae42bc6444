#include "server/mcap_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct mcap_reader {
    int fd;                /* -1: from memory */
    const uint8_t *memory; /* borrowed */
    uint64_t size;         /* of the file */
    uint64_t position;     /* of the next record outside chunks */
    mcap_bytes record;     /* content of the current one */
    mcap_cursor chunk;     /* what is left of the current chunk */
    uint64_t chunk_next;   /* place in the file of the next record of the chunk */
    uint32_t crc;          /* of everything since the start, or since DataEnd */
    bool is_crc_known;     /* nothing was left out since then */
    uint64_t suspect;      /* the last record whose length nothing has confirmed; 0: none */
    uint64_t summary_start;
    bool is_in_summary, has_footer, is_damaged, has_ended;
    char problem[192];
};

size_t mcap_reader_bytes(mcap_reader *r, uint64_t offset, void *out, size_t size)
{
    if (offset >= r->size || size == 0) /* an empty record has no place to go to */
        return 0;
    if (size > r->size - offset)
        size = (size_t)(r->size - offset);
    if (r->fd < 0) {
        memcpy(out, r->memory + offset, size);
        return size;
    }
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(r->fd, (uint8_t *)out + done, size - done, (off_t)(offset + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return done;
}

/* Far enough from the magic to be something else altogether. */
static bool is_foreign(mcap_reader *r)
{
    uint8_t head[MCAP_MAGIC_SIZE];
    size_t n = mcap_reader_bytes(r, 0, head, sizeof head);
    size_t same = 0;
    for (size_t i = 0; i < n; i++)
        same += head[i] == mcap_magic[i];
    return n == 0 || same < n - n / 4; /* one byte in four may be hurt */
}

static hr_status start(mcap_reader *r, const char *name, mcap_reader **out, hr_error *error)
{
    if (is_foreign(r)) {
        const char *found = r->size ? "other bytes at its start" : "an empty file";
        mcap_reader_close(r);
        return error_set(error, HR_ERR_FORMAT, "%s: expected an MCAP recording, found %s", name,
                         found);
    }
    r->is_crc_known = true;
    *out = r;
    return HR_OK;
}

hr_status mcap_reader_open(const char *path, mcap_reader **out, hr_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        hr_status status =
            error_set(error, HR_ERR_NOT_FOUND, "%s: expected a file that can be read: %s", path,
                      fd < 0 ? strerror(errno) : "not a regular file");
        if (fd >= 0)
            close(fd);
        return status;
    }
    mcap_reader *r = calloc(1, sizeof *r);
    if (!r) {
        close(fd);
        return error_set(error, HR_ERR_MEMORY, "%s: no memory to read it", path);
    }
    r->fd = fd;
    r->size = (uint64_t)about.st_size;
    return start(r, path, out, error);
}

hr_status mcap_reader_open_memory(const void *data, size_t size, const char *name,
                                  mcap_reader **out, hr_error *error)
{
    mcap_reader *r = calloc(1, sizeof *r);
    if (!r)
        return error_set(error, HR_ERR_MEMORY, "%s: no memory to read it", name);
    r->fd = -1;
    r->memory = data;
    r->size = size;
    return start(r, name, out, error);
}

void mcap_reader_close(mcap_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    mcap_bytes_free(&r->record);
    free(r);
}

bool mcap_reader_is_complete(const mcap_reader *r)
{
    return r->has_ended && r->has_footer && !r->is_damaged;
}

uint64_t mcap_reader_size(const mcap_reader *r)
{
    return r->size;
}

static mcap_item damage(mcap_reader *r, uint64_t offset, uint64_t size, const char *format, ...)
    HR_PRINTF(4, 5);

static mcap_item damage(mcap_reader *r, uint64_t offset, uint64_t size, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(r->problem, sizeof r->problem, format, values);
    va_end(values);
    r->is_damaged = true;
    return (mcap_item){.kind = MCAP_ITEM_DAMAGE,
                       .is_in_summary = r->is_in_summary,
                       .offset = offset,
                       .size = size,
                       .problem = r->problem};
}

/* A chunk without compression says its length three times; where they agree and the file is long
 * enough, a chunk begins here. */
static bool looks_like_chunk(const uint8_t *at, uint64_t room)
{
    mcap_cursor c = {at + 1, MCAP_RECORD_HEAD - 1 + MCAP_CHUNK_HEAD, false};
    uint64_t length = mcap_get_u64(&c);
    if (at[0] != MCAP_CHUNK || length < MCAP_CHUNK_HEAD || length > room)
        return false;
    mcap_get_raw(&c, 16); /* times */
    uint64_t uncompressed = mcap_get_u64(&c);
    mcap_get_u32(&c); /* CRC */
    uint32_t compression = mcap_get_u32(&c);
    uint64_t stored = mcap_get_u64(&c);
    return compression == 0 && stored == uncompressed && length - MCAP_CHUNK_HEAD == stored;
}

/* Where the footer stands if the file is whole; the file's size if it is not there. */
static uint64_t footer_place(mcap_reader *r)
{
    enum { TAIL = MCAP_RECORD_HEAD + MCAP_FOOTER_SIZE + MCAP_MAGIC_SIZE };
    uint8_t tail[TAIL];
    if (r->size < TAIL || mcap_reader_bytes(r, r->size - TAIL, tail, TAIL) != TAIL)
        return r->size;
    mcap_cursor c = {tail + 1, TAIL - 1, false};
    bool is_footer = tail[0] == MCAP_FOOTER && mcap_get_u64(&c) == MCAP_FOOTER_SIZE;
    return is_footer ? r->size - TAIL : r->size;
}

/* The next place from `from` on where a chunk or the footer begins; the file's size if none. */
static uint64_t find_again(mcap_reader *r, uint64_t from)
{
    enum { WINDOW = 1 << 16, NEEDED = MCAP_RECORD_HEAD + MCAP_CHUNK_HEAD };
    uint8_t window[WINDOW];
    uint64_t footer = footer_place(r);
    while (from + NEEDED <= r->size) {
        size_t n = mcap_reader_bytes(r, from, window, WINDOW);
        if (n < NEEDED)
            break;
        for (size_t i = 0; i + NEEDED <= n; i++) {
            uint64_t room = r->size - (from + i) - MCAP_RECORD_HEAD;
            if (looks_like_chunk(window + i, room))
                return from + i;
        }
        from += n - NEEDED + 1;
    }
    return footer;
}

/* The structure is lost at the current position: go on at the next chunk or the footer. A chunk may
 * hide inside a record before, whose length was believed without proof. */
static mcap_item lose(mcap_reader *r, const char *what)
{
    uint64_t begin = r->position;
    uint64_t from = r->suspect ? r->suspect : begin;
    r->position = find_again(r, from + 1);
    r->suspect = 0;
    r->is_crc_known = false;
    if (r->position < begin)
        begin = from;
    if (r->position >= r->size)
        r->has_ended = true;
    return damage(r, begin, r->position - begin, "%s", what);
}

static mcap_item next_in_chunk(mcap_reader *r)
{
    uint64_t offset = r->chunk_next;
    mcap_cursor c = r->chunk;
    uint8_t opcode = mcap_get_u8(&c);
    uint64_t length = mcap_get_u64(&c);
    const uint8_t *data = c.is_bad || length > c.left ? NULL : mcap_get_raw(&c, (size_t)length);
    if (!data || opcode == 0) {
        uint64_t left = r->chunk.left;
        r->chunk.left = 0;
        return damage(r, offset, left, "a record that does not fit into its chunk");
    }
    r->chunk = c;
    r->chunk_next = offset + MCAP_RECORD_HEAD + length;
    return (mcap_item){.kind = MCAP_ITEM_RECORD,
                       .opcode = opcode,
                       .is_in_chunk = true,
                       .is_in_summary = r->is_in_summary,
                       .offset = offset,
                       .data = data,
                       .size = length};
}

/* A chunk whose content is in r->record: its CRC decides whether the records in it come. */
static mcap_item open_chunk(mcap_reader *r, mcap_item item)
{
    mcap_chunk chunk;
    uint64_t whole = item.size + MCAP_RECORD_HEAD;
    if (!mcap_read_chunk(&item, &chunk))
        return damage(r, item.offset, whole, "a chunk whose parts do not fit into it");
    if (chunk.compression.size != 0) {
        char name[16];
        mcap_text_copy(chunk.compression, name, sizeof name);
        return damage(r, item.offset, whole,
                      "a chunk compressed with \"%s\"; only chunks without compression are read",
                      name);
    }
    if (chunk.uncompressed_size != chunk.size)
        return damage(r, item.offset, whole, "a chunk that states two different sizes");
    if (item.size == MCAP_CHUNK_HEAD + chunk.size)
        r->suspect = 0; /* three statements of the length agree */
    uint32_t crc = (uint32_t)crc32_z(0, chunk.records, (size_t)chunk.size);
    if (chunk.crc != 0 && crc != chunk.crc)
        return damage(r, item.offset, whole, "a chunk with CRC %08x, expected %08x", crc,
                      chunk.crc);
    r->chunk = (mcap_cursor){chunk.records, (size_t)chunk.size, false};
    r->chunk_next = item.offset + whole - chunk.size;
    return item;
}

static mcap_item check_attachment(mcap_reader *r, mcap_item item)
{
    mcap_attachment a;
    uint64_t whole = item.size + MCAP_RECORD_HEAD;
    if (!mcap_read_attachment(&item, &a))
        return damage(r, item.offset, whole, "an attachment whose parts do not fit into it");
    uint32_t crc = (uint32_t)crc32_z(0, item.data, (size_t)(a.data + a.size - item.data));
    if (a.crc != 0 && crc != a.crc)
        return damage(r, item.offset, whole, "an attachment with CRC %08x, expected %08x", crc,
                      a.crc);
    r->suspect = 0;
    return item;
}

/* crc: of all bytes before this record. */
static mcap_item end_data(mcap_reader *r, mcap_item item, uint32_t crc)
{
    mcap_cursor c = {item.data, (size_t)item.size, false};
    uint32_t stated = mcap_get_u32(&c);
    bool was_known = r->is_crc_known;
    r->is_in_summary = true;
    r->summary_start = r->position;
    r->crc = 0;
    r->is_crc_known = true;
    if (was_known && stated != 0 && stated != crc)
        return damage(r, 0, 0, "a data section with CRC %08x, expected %08x", crc, stated);
    return item;
}

/* crc: of the summary up to this record. */
static mcap_item end_file(mcap_reader *r, mcap_item item, uint32_t crc)
{
    r->has_ended = true;
    mcap_cursor c = {item.data, (size_t)item.size, false};
    uint64_t summary_start = mcap_get_u64(&c);
    mcap_get_u64(&c);
    uint32_t stated = mcap_get_u32(&c);
    uint8_t head[MCAP_RECORD_HEAD] = {MCAP_FOOTER, MCAP_FOOTER_SIZE};
    crc = (uint32_t)crc32_z(crc, head, sizeof head);
    crc = (uint32_t)crc32_z(crc, item.data, MCAP_FOOTER_SIZE - 4);
    uint8_t magic[MCAP_MAGIC_SIZE];
    if (mcap_reader_bytes(r, r->position, magic, sizeof magic) != sizeof magic ||
        memcmp(magic, mcap_magic, sizeof magic) != 0)
        return damage(r, r->position, MCAP_MAGIC_SIZE, "other bytes than the closing magic");
    if (r->is_crc_known && summary_start != 0 && summary_start != r->summary_start)
        return damage(r, item.offset, 0, "a footer that points elsewhere than to the summary");
    if (r->is_in_summary && r->is_crc_known && stated != 0 && stated != crc)
        return damage(r, r->summary_start, r->size - r->summary_start,
                      "a summary with CRC %08x, expected %08x", crc, stated);
    r->has_footer = true;
    return item;
}

static bool is_known_opcode(uint8_t opcode)
{
    return (opcode > 0 && opcode <= MCAP_OPCODE_LAST) || opcode >= 0x80;
}

/* The content into r->record and the CRC on; false when there is no memory or the disk fails. */
static bool load(mcap_reader *r, const uint8_t *head, uint64_t length)
{
    if (r->record.room < length) {
        mcap_bytes_free(&r->record);
        r->record.data = malloc((size_t)length);
        r->record.room = r->record.data ? (size_t)length : 0;
    }
    if (length > 0 && !r->record.data)
        return false;
    uint64_t content = r->position + MCAP_RECORD_HEAD;
    if (mcap_reader_bytes(r, content, r->record.data, (size_t)length) != length)
        return false;
    r->crc = (uint32_t)crc32_z(r->crc, head, MCAP_RECORD_HEAD);
    if (length > 0)
        r->crc = (uint32_t)crc32_z(r->crc, r->record.data, (size_t)length);
    return true;
}

static mcap_item next_outside(mcap_reader *r)
{
    static const uint8_t nothing[1];
    uint8_t head[MCAP_RECORD_HEAD];
    uint64_t left = r->size - r->position;
    if (left < sizeof head || mcap_reader_bytes(r, r->position, head, sizeof head) != sizeof head)
        return lose(r, left ? "the file's end within the head of a record"
                            : "the file's end before the footer");
    mcap_cursor c = {head + 1, sizeof head - 1, false};
    uint64_t length = mcap_get_u64(&c);
    if (!is_known_opcode(head[0]))
        return lose(r, "bytes that are no record");
    char what[96];
    snprintf(what, sizeof what, "a %s of %llu bytes where %llu are left", mcap_opcode_name(head[0]),
             (unsigned long long)length, (unsigned long long)(left - sizeof head));
    if (length > left - sizeof head || length > MCAP_RECORD_MAX)
        return lose(r, what);
    if (head[0] == MCAP_FOOTER && r->position != footer_place(r))
        return lose(r, "a footer before the end");

    uint32_t crc_before = r->crc;
    if (!load(r, head, length))
        return lose(r, "a record that cannot be read");
    mcap_item item = {.kind = MCAP_ITEM_RECORD,
                      .opcode = head[0],
                      .is_in_summary = r->is_in_summary,
                      .offset = r->position,
                      .data = length ? r->record.data : nothing,
                      .size = length};
    r->suspect = r->position;
    r->position += MCAP_RECORD_HEAD + length;
    switch (head[0]) {
    case MCAP_CHUNK:
        return open_chunk(r, item);
    case MCAP_ATTACHMENT:
        return check_attachment(r, item);
    case MCAP_DATA_END:
        return end_data(r, item, crc_before);
    case MCAP_FOOTER:
        return end_file(r, item, crc_before);
    default:
        return item;
    }
}

/* The magic at the start. */
static mcap_item begin_file(mcap_reader *r)
{
    uint8_t head[MCAP_MAGIC_SIZE];
    size_t n = mcap_reader_bytes(r, 0, head, sizeof head);
    r->position = n;
    r->crc = (uint32_t)crc32_z(0, head, n);
    if (n == sizeof head && memcmp(head, mcap_magic, sizeof head) == 0)
        return next_outside(r);
    if (n < sizeof head)
        r->has_ended = true;
    return damage(r, 0, n, "other bytes than the opening magic");
}

mcap_item mcap_next(mcap_reader *r)
{
    if (r->chunk.left > 0)
        return next_in_chunk(r);
    if (r->has_ended)
        return (mcap_item){.kind = MCAP_ITEM_END, .offset = r->size};
    return r->position == 0 ? begin_file(r) : next_outside(r);
}
