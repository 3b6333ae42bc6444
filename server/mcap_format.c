#include "server/mcap_format.h"

#include <stdlib.h>
#include <string.h>

const uint8_t mcap_magic[MCAP_MAGIC_SIZE] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

const char *mcap_opcode_name(uint8_t opcode)
{
    static const char *const names[] = {
        "invalid record", "Header",        "Footer",          "Schema",
        "Channel",        "Message",       "Chunk",           "MessageIndex",
        "ChunkIndex",     "Attachment",    "AttachmentIndex", "Statistics",
        "Metadata",       "MetadataIndex", "SummaryOffset",   "DataEnd",
    };
    return opcode <= MCAP_OPCODE_LAST ? names[opcode] : "private record";
}

void mcap_bytes_free(mcap_bytes *b)
{
    free(b->data);
    *b = (mcap_bytes){0};
}

/* Where the next `size` bytes go; NULL when there is no memory. */
static uint8_t *grow(mcap_bytes *b, size_t size)
{
    if (b->has_failed)
        return NULL;
    if (b->room - b->size < size) {
        size_t room = b->room < 256 ? 256 : b->room;
        while (room - b->size < size)
            room *= 2;
        uint8_t *data = realloc(b->data, room);
        if (!data) {
            b->has_failed = true;
            return NULL;
        }
        b->data = data;
        b->room = room;
    }
    uint8_t *at = b->data + b->size;
    b->size += size;
    return at;
}

static void store(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put(mcap_bytes *b, uint64_t value, int bytes)
{
    uint8_t *at = grow(b, (size_t)bytes);
    if (at)
        store(at, value, bytes);
}

void mcap_put_u8(mcap_bytes *b, uint8_t value)
{
    put(b, value, 1);
}

void mcap_put_u16(mcap_bytes *b, uint16_t value)
{
    put(b, value, 2);
}

void mcap_put_u32(mcap_bytes *b, uint32_t value)
{
    put(b, value, 4);
}

void mcap_put_u64(mcap_bytes *b, uint64_t value)
{
    put(b, value, 8);
}

void mcap_put_raw(mcap_bytes *b, const void *data, size_t size)
{
    uint8_t *at = size ? grow(b, size) : NULL;
    if (at)
        memcpy(at, data, size);
}

void mcap_put_text(mcap_bytes *b, const char *text)
{
    size_t size = strlen(text);
    mcap_put_u32(b, (uint32_t)size);
    mcap_put_raw(b, text, size);
}

void mcap_put_map(mcap_bytes *b, const char *const *pairs, int count)
{
    size_t begin = b->size;
    mcap_put_u32(b, 0);
    for (int i = 0; i < 2 * count; i++)
        mcap_put_text(b, pairs[i]);
    if (!b->has_failed)
        store(b->data + begin, b->size - begin - 4, 4);
}

size_t mcap_begin_record(mcap_bytes *b, uint8_t opcode)
{
    size_t begin = b->size;
    mcap_put_u8(b, opcode);
    mcap_put_u64(b, 0);
    return begin;
}

void mcap_end_record(mcap_bytes *b, size_t begin)
{
    if (!b->has_failed)
        store(b->data + begin + 1, b->size - begin - MCAP_RECORD_HEAD, 8);
}

const uint8_t *mcap_get_raw(mcap_cursor *c, size_t size)
{
    if (c->is_bad || size > c->left) {
        c->is_bad = true;
        return NULL;
    }
    const uint8_t *at = c->data;
    c->data += size;
    c->left -= size;
    return at;
}

static uint64_t get(mcap_cursor *c, int bytes)
{
    const uint8_t *at = mcap_get_raw(c, (size_t)bytes);
    uint64_t value = 0;
    for (int i = 0; at && i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

uint8_t mcap_get_u8(mcap_cursor *c)
{
    return (uint8_t)get(c, 1);
}

uint16_t mcap_get_u16(mcap_cursor *c)
{
    return (uint16_t)get(c, 2);
}

uint32_t mcap_get_u32(mcap_cursor *c)
{
    return (uint32_t)get(c, 4);
}

uint64_t mcap_get_u64(mcap_cursor *c)
{
    return get(c, 8);
}

mcap_text mcap_get_text(mcap_cursor *c)
{
    uint32_t size = mcap_get_u32(c);
    const uint8_t *at = mcap_get_raw(c, size);
    return at ? (mcap_text){(const char *)at, size} : (mcap_text){"", 0};
}

mcap_cursor mcap_get_map(mcap_cursor *c)
{
    uint32_t size = mcap_get_u32(c);
    const uint8_t *at = mcap_get_raw(c, size);
    return (mcap_cursor){at, at ? size : 0, !at};
}

bool mcap_text_is(mcap_text t, const char *expected)
{
    return t.size == strlen(expected) && memcmp(t.data, expected, t.size) == 0;
}

void mcap_text_copy(mcap_text t, char *out, size_t size)
{
    size_t length = t.size < size - 1 ? t.size : size - 1;
    memcpy(out, t.data, length);
    out[length] = '\0';
}
