/* Messages to bytes and back. A body is: the struct as it stands, then for commands and events the
 * text as a CDR string, then the CRC of the body so far. */
#include <string.h>
#include <zlib.h>

#include "server/trace_schema.h"

/* What stands before every CDR body: plain CDR, little-endian, no options. */
static const uint8_t encapsulation[4] = {0, 1, 0, 0};

enum {
    COMMAND_FIXED = offsetof(servo_command, text),
    EVENT_FIXED = offsetof(trace_event, text),
    FRAME_FIXED = 8 + offsetof(contact_frame, bodies), /* arrival tick, head of the frame */
    MINIMUM = sizeof encapsulation + 4                 /* and the CRC */
};

/* length with its NUL, characters, NUL, and zeros up to the CRC's alignment */
static void put_text(mcap_bytes *out, size_t body, const char *text, size_t room)
{
    size_t length = strnlen(text, room - 1);
    mcap_put_u32(out, (uint32_t)length + 1);
    mcap_put_raw(out, text, length);
    mcap_put_u8(out, 0);
    while ((out->size - body) % 4)
        mcap_put_u8(out, 0);
}

void trace_encode(const trace_message *m, mcap_bytes *out)
{
    mcap_put_raw(out, encapsulation, sizeof encapsulation);
    size_t body = out->size;
    switch (m->kind) {
    case TRACE_TICK:
        mcap_put_raw(out, &m->tick, sizeof m->tick);
        break;
    case TRACE_FRAME:
        mcap_put_u64(out, m->arrival_tick);
        mcap_put_raw(out, &m->frame, contact_frame_used(&m->frame));
        break;
    case TRACE_COMMAND:
        mcap_put_raw(out, &m->command, COMMAND_FIXED);
        put_text(out, body, m->command.text, sizeof m->command.text);
        break;
    case TRACE_EVENT:
        mcap_put_raw(out, &m->event, EVENT_FIXED);
        put_text(out, body, m->event.text, sizeof m->event.text);
        break;
    }
    if (!out->has_failed)
        mcap_put_u32(out, (uint32_t)crc32_z(0, out->data + body, out->size - body));
}

/* The text at the end of a body; the rest of `text` becomes zeros. */
static bool get_text(mcap_cursor *c, char *text, size_t room)
{
    uint32_t length = mcap_get_u32(c);
    const uint8_t *at = mcap_get_raw(c, length);
    if (!at || length == 0 || length > room || at[length - 1] != 0 || c->left > 3)
        return false;
    memset(text, 0, room);
    memcpy(text, at, length);
    return true;
}

static bool decode_frame(mcap_cursor *c, trace_message *m)
{
    m->arrival_tick = mcap_get_u64(c);
    const uint8_t *at = mcap_get_raw(c, FRAME_FIXED - 8);
    if (!at)
        return false;
    memcpy(&m->frame, at, FRAME_FIXED - 8);
    if (m->frame.body_count > FRAME_BODIES_MAX ||
        c->left != m->frame.body_count * sizeof(frame_body))
        return false;
    memcpy(m->frame.bodies, c->data, c->left);
    return true;
}

bool trace_decode(const uint8_t *data, size_t size, trace_message *m)
{
    if (size < MINIMUM || memcmp(data, encapsulation, sizeof encapsulation) != 0)
        return false;
    mcap_cursor c = {data + sizeof encapsulation, size - MINIMUM, false};
    mcap_cursor end = {data + size - 4, 4, false};
    if ((uint32_t)crc32_z(0, c.data, c.left) != mcap_get_u32(&end))
        return false;
    const uint8_t *fixed = NULL;
    switch (m->kind) {
    case TRACE_TICK:
        fixed = mcap_get_raw(&c, sizeof m->tick);
        if (fixed)
            memcpy(&m->tick, fixed, sizeof m->tick);
        return fixed && c.left == 0;
    case TRACE_FRAME:
        return decode_frame(&c, m);
    case TRACE_COMMAND:
        fixed = mcap_get_raw(&c, COMMAND_FIXED);
        if (fixed)
            memcpy(&m->command, fixed, COMMAND_FIXED);
        return fixed && get_text(&c, m->command.text, sizeof m->command.text);
    case TRACE_EVENT:
        fixed = mcap_get_raw(&c, EVENT_FIXED);
        if (fixed)
            memcpy(&m->event, fixed, EVENT_FIXED);
        return fixed && get_text(&c, m->event.text, sizeof m->event.text);
    }
    return false;
}
