/* Reads an MCAP file from front to back, one record at a time, however it ends and whatever was
 * flipped in it: what is whole is handed out, what is not is named with its place, and reading goes
 * on behind it. Memory is bounded by the largest record (MCAP_RECORD_MAX). */
#ifndef SERVER_MCAP_READER_H
#define SERVER_MCAP_READER_H

#include "geometry/error.h"
#include "server/mcap_format.h"

enum { MCAP_RECORD_MAX = 1 << 28 }; /* bytes; a larger one is reported and stepped over */

typedef struct mcap_reader mcap_reader;

typedef enum mcap_item_kind {
    MCAP_ITEM_RECORD,
    MCAP_ITEM_DAMAGE, /* the bytes from offset on, size of them, are not what they should be */
    MCAP_ITEM_END
} mcap_item_kind;

typedef struct mcap_item {
    mcap_item_kind kind;
    uint8_t opcode;
    bool is_in_chunk;
    bool is_in_summary;  /* after DataEnd */
    uint64_t offset;     /* in the file, of the record's first byte */
    const uint8_t *data; /* content; valid until the next call. NULL for MCAP_ITEM_DAMAGE */
    uint64_t size;       /* of the content; MCAP_ITEM_DAMAGE: of the bytes that were left out */
    const char *problem; /* MCAP_ITEM_DAMAGE: what was expected, what was found */
} mcap_item;

/* A file whose first bytes are far from MCAP's is refused; damage among them is reported by the
 * first mcap_next. Memory is borrowed until close. */
HR_MUST_USE hr_status mcap_reader_open(const char *path, mcap_reader **out, hr_error *error);
HR_MUST_USE hr_status mcap_reader_open_memory(const void *data, size_t size, const char *name,
                                              mcap_reader **out, hr_error *error);
void mcap_reader_close(mcap_reader *r); /* accepts NULL */

/* The next record or damage. A chunk comes as its own record, then each record in it; what is in a
 * chunk whose CRC is wrong does not come. After MCAP_ITEM_END it stays there. */
mcap_item mcap_next(mcap_reader *r);

/* True once the end was reached with footer and magic in place and no damage on the way. */
bool mcap_reader_is_complete(const mcap_reader *r);
uint64_t mcap_reader_size(const mcap_reader *r); /* of the file, bytes */

/* Raw bytes of the file, for the rescue of damaged ranges; returns how many there were. */
size_t mcap_reader_bytes(mcap_reader *r, uint64_t offset, void *out, size_t size);

/* The parts of the records; false when the content is too short for its kind. Texts point into the
 * item. Fields at the end that a later version of the format may add are ignored. */
typedef struct mcap_message {
    uint16_t channel;
    uint32_t sequence;
    uint64_t log_time, publish_time; /* ns */
    const uint8_t *data;
    size_t size;
} mcap_message;
bool mcap_read_message(const mcap_item *item, mcap_message *out);

typedef struct mcap_schema {
    uint16_t id;
    mcap_text name, encoding, text;
} mcap_schema;
bool mcap_read_schema(const mcap_item *item, mcap_schema *out);

typedef struct mcap_channel {
    uint16_t id, schema;
    mcap_text topic, encoding;
    mcap_cursor pairs;
} mcap_channel;
bool mcap_read_channel(const mcap_item *item, mcap_channel *out);

typedef struct mcap_chunk {
    uint64_t first_time, last_time, uncompressed_size;
    uint32_t crc;
    mcap_text compression;
    uint64_t size; /* of the records as stored */
    const uint8_t *records;
} mcap_chunk;
bool mcap_read_chunk(const mcap_item *item, mcap_chunk *out);

typedef struct mcap_attachment {
    uint64_t log_time, create_time;
    mcap_text name, media_type;
    const uint8_t *data;
    size_t size;
    uint32_t crc;
} mcap_attachment;
bool mcap_read_attachment(const mcap_item *item, mcap_attachment *out);

typedef struct mcap_metadata {
    mcap_text name;
    mcap_cursor pairs;
} mcap_metadata;
bool mcap_read_metadata(const mcap_item *item, mcap_metadata *out);

/* One pair of a map; false at its end or where it is broken. */
bool mcap_read_pair(mcap_cursor *pairs, mcap_text *key, mcap_text *value);

#endif
