/* The parts of MCAP records. */
#include "server/mcap_reader.h"

static mcap_cursor cursor(const mcap_item *item)
{
    return (mcap_cursor){item->data, (size_t)item->size, item->data == NULL};
}

bool mcap_read_message(const mcap_item *item, mcap_message *out)
{
    mcap_cursor c = cursor(item);
    out->channel = mcap_get_u16(&c);
    out->sequence = mcap_get_u32(&c);
    out->log_time = mcap_get_u64(&c);
    out->publish_time = mcap_get_u64(&c);
    out->data = c.data;
    out->size = c.left;
    return !c.is_bad;
}

bool mcap_read_schema(const mcap_item *item, mcap_schema *out)
{
    mcap_cursor c = cursor(item);
    out->id = mcap_get_u16(&c);
    out->name = mcap_get_text(&c);
    out->encoding = mcap_get_text(&c);
    out->text = mcap_get_text(&c);
    return !c.is_bad;
}

bool mcap_read_channel(const mcap_item *item, mcap_channel *out)
{
    mcap_cursor c = cursor(item);
    out->id = mcap_get_u16(&c);
    out->schema = mcap_get_u16(&c);
    out->topic = mcap_get_text(&c);
    out->encoding = mcap_get_text(&c);
    out->pairs = mcap_get_map(&c);
    return !c.is_bad;
}

bool mcap_read_chunk(const mcap_item *item, mcap_chunk *out)
{
    mcap_cursor c = cursor(item);
    out->first_time = mcap_get_u64(&c);
    out->last_time = mcap_get_u64(&c);
    out->uncompressed_size = mcap_get_u64(&c);
    out->crc = mcap_get_u32(&c);
    out->compression = mcap_get_text(&c);
    out->size = mcap_get_u64(&c);
    out->records = mcap_get_raw(&c, (size_t)out->size);
    return !c.is_bad;
}

bool mcap_read_attachment(const mcap_item *item, mcap_attachment *out)
{
    mcap_cursor c = cursor(item);
    out->log_time = mcap_get_u64(&c);
    out->create_time = mcap_get_u64(&c);
    out->name = mcap_get_text(&c);
    out->media_type = mcap_get_text(&c);
    out->size = (size_t)mcap_get_u64(&c);
    out->data = mcap_get_raw(&c, out->size);
    out->crc = mcap_get_u32(&c);
    return !c.is_bad;
}

bool mcap_read_metadata(const mcap_item *item, mcap_metadata *out)
{
    mcap_cursor c = cursor(item);
    out->name = mcap_get_text(&c);
    out->pairs = mcap_get_map(&c);
    return !c.is_bad;
}

bool mcap_read_pair(mcap_cursor *pairs, mcap_text *key, mcap_text *value)
{
    if (pairs->left == 0)
        return false;
    *key = mcap_get_text(pairs);
    *value = mcap_get_text(pairs);
    return !pairs->is_bad;
}
