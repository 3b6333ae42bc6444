/* The upload: greeting, speed, image with echo. One step of the link's state machine at a time. */
#include <string.h>

#include "devices/falcon/link.h"

static const int64_t ms = 1000000;

static const uint8_t hello[] = {0x0a, 0x43, 0x0d};
static const uint8_t welcome[] = {0x0a, 0x44, 0x2c, 0x0d};
static const uint8_t autobaud = 0x41;

/* Requests in order; false (and the link has failed) at the first that is refused. */
static bool controls(falcon_link *link, const int (*requests)[2], int count)
{
    for (int i = 0; i < count; i++) {
        hr_status status =
            link->transport->calls->control(link->transport, requests[i][0], requests[i][1]);
        if (status != HR_OK) {
            falcon_link_fail(link, status, "request %d with value 0x%04x failed: %s",
                             requests[i][0], (unsigned)requests[i][1], status_text(status));
            return false;
        }
    }
    return true;
}

/* Collects what came; false when the device is gone. Old bytes make room for new ones. */
static bool collect(falcon_link *link)
{
    uint8_t bytes[128];
    int count = link->transport->calls->read(link->transport, bytes, sizeof bytes);
    if (count < 0) {
        falcon_link_fail(link, (hr_status)count, "the device was unplugged or lost power");
        return false;
    }
    int capacity = (int)sizeof link->collected;
    int overflow = link->collected_count + count - capacity;
    if (overflow > 0) {
        memmove(link->collected, link->collected + overflow,
                (size_t)(link->collected_count - overflow));
        link->collected_count -= overflow;
    }
    memcpy(link->collected + link->collected_count, bytes, (size_t)count);
    link->collected_count += count;
    return true;
}

static bool send_bytes(falcon_link *link, const uint8_t *bytes, size_t size)
{
    hr_status status = link->transport->calls->write(link->transport, bytes, size);
    if (status != HR_OK && status != HR_ERR_BUSY)
        falcon_link_fail_sending(link, status);
    return status == HR_OK;
}

/* Every IN transfer that is still pending must be reaped before the greeting, or it swallows the
 * answer. The DTR pulse puts the processor into its loader. */
static void reset(falcon_link *link, int64_t now_ns)
{
    const int before[][2] = {{FTDI_RESET, FTDI_PURGE_ONE},
                             {FTDI_RESET, FTDI_PURGE_OTHER},
                             {FTDI_LATENCY, link->settings.latency_upload_ms},
                             {FTDI_DIVISOR, FTDI_DIVISOR_9600},
                             {FTDI_FORMAT, FTDI_FORMAT_8N1},
                             {FTDI_FLOW, 0},
                             {FTDI_MODEM, FTDI_RTS_LOW},
                             {FTDI_MODEM, FTDI_DTR_LOW},
                             {FTDI_MODEM, FTDI_DTR_HIGH}};
    link->counts.uploads++;
    if (!controls(link, before, HR_COUNT(before)))
        return;
    if (link->transport->calls->drain(link->transport) != HR_OK) {
        falcon_link_fail(link, HR_ERR_IO, "old transfers could not be ended before the upload");
        return;
    }
    falcon_link_enter(link, FALCON_GREETING);
    link->next_ns = now_ns;
}

static bool contains(const uint8_t *bytes, int count, const uint8_t *wanted, int length)
{
    for (int i = 0; i + length <= count; i++)
        if (memcmp(bytes + i, wanted, (size_t)length) == 0)
            return true;
    return false;
}

static void greet(falcon_link *link, int64_t now_ns)
{
    static const int speed[][2] = {{FTDI_MODEM, FTDI_DTR_LOW}, {FTDI_DIVISOR, FTDI_DIVISOR_LOADER}};
    if (!collect(link))
        return;
    if (contains(link->collected, link->collected_count, welcome, sizeof welcome)) {
        if (!controls(link, speed, HR_COUNT(speed)))
            return;
        falcon_link_enter(link, FALCON_SETTING_SPEED);
        return;
    }
    if (now_ns < link->next_ns)
        return;
    if (link->tries++ >= link->settings.greetings) {
        falcon_link_fail(link, HR_ERR_PROTOCOL,
                         "the loader does not answer the greeting; is the wall supply connected?");
        return;
    }
    if (send_bytes(link, hello, sizeof hello))
        link->next_ns = now_ns + 60 * ms;
    else if (link->state == FALCON_GREETING)
        link->next_ns = now_ns + ms;
}

/* The boot ROM measures the speed on one 'A' and sends it back. */
static void set_speed(falcon_link *link, int64_t now_ns)
{
    if (!collect(link))
        return;
    if (contains(link->collected, link->collected_count, &autobaud, 1)) {
        falcon_link_enter(link, FALCON_SENDING);
        link->position = link->block = 0;
        return;
    }
    if (now_ns < link->next_ns)
        return;
    if (link->tries > 0) {
        falcon_link_fail(link, HR_ERR_PROTOCOL, "the loader does not find its speed");
        return;
    }
    bool is_sent = send_bytes(link, &autobaud, 1);
    if (link->state != FALCON_SETTING_SPEED)
        return;
    link->tries += is_sent;
    link->next_ns = now_ns + (is_sent ? 1000 : 1) * ms;
}

/* Compares what came with what was sent; false after a failure. */
static bool check_echo(falcon_link *link)
{
    const uint8_t *sent = link->firmware->bytes + link->position;
    int count = link->collected_count;
    if (count > (int)link->block) {
        falcon_link_fail(link, HR_ERR_PROTOCOL, "%d bytes more than the echo came at byte %zu",
                         count - (int)link->block, link->position + link->block);
        return false;
    }
    for (int i = 0; i < count; i++)
        if (link->collected[i] != sent[i]) {
            falcon_link_fail(link, HR_ERR_PROTOCOL, "the echo of byte %zu is %02x, expected %02x",
                             link->position + (size_t)i, link->collected[i], sent[i]);
            return false;
        }
    return true;
}

static void finish(falcon_link *link)
{
    const int after[][2] = {{FTDI_LATENCY, link->settings.latency_run_ms},
                            {FTDI_DIVISOR, link->settings.divisor_run},
                            {FTDI_RESET, FTDI_PURGE_ONE},
                            {FTDI_RESET, FTDI_PURGE_OTHER}};
    if (!controls(link, after, HR_COUNT(after)))
        return;
    if (link->transport->calls->drain(link->transport) != HR_OK) {
        falcon_link_fail(link, HR_ERR_IO, "old transfers could not be ended after the upload");
        return;
    }
    memset(&link->parser, 0, sizeof link->parser);
    link->is_uploaded = true;
    falcon_link_enter(link, FALCON_PROBING);
}

static void send_image(falcon_link *link, int64_t now_ns)
{
    if (!collect(link) || !check_echo(link))
        return;
    if (link->block > 0 && link->collected_count == (int)link->block) {
        link->position += link->block;
        link->block = 0;
        link->collected_count = 0;
    }
    if (link->position == link->firmware->size) {
        finish(link);
        return;
    }
    if (link->block > 0) {
        if (now_ns >= link->next_ns)
            falcon_link_fail(link, HR_ERR_PROTOCOL, "no echo of byte %zu within a second",
                             link->position + (size_t)link->collected_count);
        return;
    }
    size_t left = link->firmware->size - link->position;
    size_t size =
        left < (size_t)link->settings.block_size ? left : (size_t)link->settings.block_size;
    bool is_sent = send_bytes(link, link->firmware->bytes + link->position, size);
    if (link->state != FALCON_SENDING)
        return;
    link->block = is_sent ? size : 0;
    link->next_ns = now_ns + (is_sent ? 1000 : 1) * ms;
}

void falcon_boot_step(falcon_link *link, int64_t now_ns)
{
    if (link->state == FALCON_RESETTING)
        reset(link, now_ns);
    else if (link->state == FALCON_GREETING)
        greet(link, now_ns);
    else if (link->state == FALCON_SETTING_SPEED)
        set_speed(link, now_ns);
    else
        send_image(link, now_ns);
}
