/* The bytes of MCAP, an open container for recordings (version 0 of the format): opcodes, and
 * little-endian numbers, texts and records put into or taken out of memory.
 *
 *   file    magic, Header, data section, DataEnd, summary, SummaryOffsets, Footer, magic
 *   record  opcode (1 byte), length of the content (8 bytes), content
 *   text    length (4 bytes), UTF-8 bytes;  map: length of all pairs in bytes (4 bytes), pairs */
#ifndef SERVER_MCAP_FORMAT_H
#define SERVER_MCAP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_ATTACHMENT = 0x09,
    MCAP_ATTACHMENT_INDEX = 0x0a,
    MCAP_STATISTICS = 0x0b,
    MCAP_METADATA = 0x0c,
    MCAP_METADATA_INDEX = 0x0d,
    MCAP_SUMMARY_OFFSET = 0x0e,
    MCAP_DATA_END = 0x0f,
    MCAP_OPCODE_LAST = MCAP_DATA_END
};

enum {
    MCAP_MAGIC_SIZE = 8,
    MCAP_RECORD_HEAD = 9,   /* opcode and length */
    MCAP_MESSAGE_HEAD = 22, /* channel, sequence, two times */
    MCAP_CHUNK_HEAD = 40,   /* what stands before the records of a chunk without compression */
    MCAP_FOOTER_SIZE = 20
};

extern const uint8_t mcap_magic[MCAP_MAGIC_SIZE];

/* "Chunk" for MCAP_CHUNK; never NULL. */
const char *mcap_opcode_name(uint8_t opcode);

/* Memory that grows as it is written. {0} is empty. After a failed allocation the writes do nothing
 * and has_failed stays set, so a caller checks once. */
typedef struct mcap_bytes {
    uint8_t *data;
    size_t size, room;
    bool has_failed;
} mcap_bytes;

void mcap_bytes_free(mcap_bytes *b);

void mcap_put_u8(mcap_bytes *b, uint8_t value);
void mcap_put_u16(mcap_bytes *b, uint16_t value);
void mcap_put_u32(mcap_bytes *b, uint32_t value);
void mcap_put_u64(mcap_bytes *b, uint64_t value);
void mcap_put_raw(mcap_bytes *b, const void *data, size_t size);
void mcap_put_text(mcap_bytes *b, const char *text); /* with its length before it */

/* A map of texts: 2 * count texts, key, value, key, value. */
void mcap_put_map(mcap_bytes *b, const char *const *pairs, int count);

/* Opcode and room for the length; returns where the record begins, for mcap_end_record. */
size_t mcap_begin_record(mcap_bytes *b, uint8_t opcode);
void mcap_end_record(mcap_bytes *b, size_t begin);

/* Taking apart: a read past the end yields zero (or an empty text) and sets is_bad. */
typedef struct mcap_cursor {
    const uint8_t *data;
    size_t left;
    bool is_bad;
} mcap_cursor;

/* Not NUL-terminated. */
typedef struct mcap_text {
    const char *data;
    size_t size;
} mcap_text;

uint8_t mcap_get_u8(mcap_cursor *c);
uint16_t mcap_get_u16(mcap_cursor *c);
uint32_t mcap_get_u32(mcap_cursor *c);
uint64_t mcap_get_u64(mcap_cursor *c);
const uint8_t *mcap_get_raw(mcap_cursor *c, size_t size); /* NULL when there is less */
mcap_text mcap_get_text(mcap_cursor *c);
mcap_cursor mcap_get_map(mcap_cursor *c); /* over the bytes of a map or an array */

bool mcap_text_is(mcap_text t, const char *expected);

/* NUL-terminated, cut to size - 1 characters. */
void mcap_text_copy(mcap_text t, char *out, size_t size);

#endif
