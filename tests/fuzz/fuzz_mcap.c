/* Any bytes as a recording: read, summed up, taken apart. Nothing may crash, hang or grow beyond
 * the input. A first byte below 0x80 means that the CRCs are made right first, so that the fuzzer
 * gets behind them. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/trace_read.h"
#include "server/trace_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static void put_crc(uint8_t *at, uint32_t crc)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> 8 * i);
}

/* The CRC of every message, then of every chunk, in a walk over the records. */
static void mend(uint8_t *data, size_t size, size_t at)
{
    while (at + MCAP_RECORD_HEAD <= size) {
        uint64_t length = get(data + at + 1, 8);
        uint8_t *content = data + at + MCAP_RECORD_HEAD;
        if (length > size - at - MCAP_RECORD_HEAD)
            return;
        if (data[at] == MCAP_MESSAGE && length >= MCAP_MESSAGE_HEAD + 8)
            put_crc(content + length - 4, (uint32_t)crc32_z(0, content + MCAP_MESSAGE_HEAD + 4,
                                                            length - MCAP_MESSAGE_HEAD - 8));
        if (data[at] == MCAP_CHUNK && length >= MCAP_CHUNK_HEAD) {
            mend(content + MCAP_CHUNK_HEAD, length - MCAP_CHUNK_HEAD, 0);
            put_crc(content + 24,
                    (uint32_t)crc32_z(0, content + MCAP_CHUNK_HEAD, length - MCAP_CHUNK_HEAD));
        }
        at += MCAP_RECORD_HEAD + (size_t)length;
    }
}

static void read_trace(const uint8_t *data, size_t size)
{
    trace_reader *r;
    if (trace_reader_open_memory(data, size, "fuzz", &r, NULL) != HR_OK)
        return;
    free(trace_summarize(r));
    for (int hand = 0; hand < HANDS_MAX; hand++) {
        device_description d;
        if (trace_device(r, hand, &d) != HR_OK)
            break;
    }
    trace_reader_close(r);
}

/* Every record taken apart as what it says it is. */
static void read_records(const uint8_t *data, size_t size)
{
    mcap_reader *r;
    if (mcap_reader_open_memory(data, size, "fuzz", &r, NULL) != HR_OK)
        return;
    mcap_item item;
    while ((item = mcap_next(r)).kind != MCAP_ITEM_END) {
        mcap_schema schema;
        mcap_channel channel;
        mcap_metadata metadata;
        if (item.kind != MCAP_ITEM_RECORD)
            continue;
        mcap_read_schema(&item, &schema);
        if (mcap_read_channel(&item, &channel)) {
            mcap_text key, value;
            while (mcap_read_pair(&channel.pairs, &key, &value))
                ;
        }
        mcap_read_metadata(&item, &metadata);
    }
    mcap_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 20)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    if (data[0] < 0x80)
        mend(copy, size - 1, MCAP_MAGIC_SIZE);
    read_trace(copy, size - 1);
    read_records(copy, size - 1);
    free(copy);
    return 0;
}
