#include "devices/falcon/protocol.h"

#include "devices/falcon/kinematics.h"

HR_RT static void put_value(int16_t value, uint8_t *out)
{
    uint16_t bits = (uint16_t)value;
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)('A' + ((bits >> (4 * i)) & 15));
}

HR_RT static bool take_value(const uint8_t *in, int16_t *value)
{
    unsigned bits = 0;
    for (int i = 0; i < 4; i++) {
        if (in[i] < 'A' || in[i] > 'P')
            return false;
        bits |= (unsigned)(in[i] - 'A') << (4 * i);
    }
    *value = (int16_t)(bits >= 0x8000 ? (int)bits - 0x10000 : (int)bits);
    return true;
}

HR_RT static void encode(const int16_t values[3], uint8_t flags, uint8_t out[FALCON_PACKET])
{
    out[0] = '<';
    for (size_t i = 0; i < 3; i++)
        put_value(values[i], out + 1 + 4 * i);
    out[13] = (uint8_t)('A' + flags);
    out[14] = 'A';
    out[15] = '>';
}

HR_RT static bool decode(const uint8_t in[FALCON_PACKET], int16_t values[3], uint8_t *flags)
{
    if (in[0] != '<' || in[15] != '>' || in[14] < 'A' || in[14] > 'P')
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!take_value(in + 1 + 4 * i, &values[i]))
            return false;
    *flags = (uint8_t)(in[13] - 'A');
    return true;
}

HR_RT void falcon_encode_command(const int16_t values[3], uint8_t flags, uint8_t out[FALCON_PACKET])
{
    int16_t cut[3];
    for (int i = 0; i < 3; i++) {
        cut[i] = values[i];
        if (cut[i] > FALCON_MOTOR_MAX)
            cut[i] = FALCON_MOTOR_MAX;
        if (cut[i] < -FALCON_MOTOR_MAX)
            cut[i] = -FALCON_MOTOR_MAX;
    }
    encode(cut, flags, out);
}

HR_RT bool falcon_decode_command(const uint8_t in[FALCON_PACKET], int16_t values[3], uint8_t *flags)
{
    return decode(in, values, flags);
}

HR_RT void falcon_encode_report(const falcon_report *report, uint8_t out[FALCON_PACKET])
{
    encode(report->counts, (uint8_t)((report->buttons & 15) | (report->homed & 7) << 4), out);
}

HR_RT bool falcon_decode_report(const uint8_t in[FALCON_PACKET], falcon_report *out)
{
    falcon_report report;
    uint8_t flags;
    if (!decode(in, report.counts, &flags))
        return false;
    report.buttons = flags & 15;
    report.homed = (flags >> 4) & 7;
    *out = report;
    return true;
}

/* Drops the first byte and what follows it up to the next '<'. */
HR_RT static void resynchronise(falcon_parser *p)
{
    int next = 1;
    while (next < p->count && p->bytes[next] != '<')
        next++;
    p->garbage += (uint64_t)next;
    for (int i = next; i < p->count; i++)
        p->bytes[i - next] = p->bytes[i];
    p->count -= next;
}

HR_RT bool falcon_parser_add(falcon_parser *p, uint8_t byte, falcon_report *out)
{
    p->bytes[p->count++] = byte;
    if (p->bytes[0] != '<') {
        resynchronise(p);
        return false;
    }
    if (p->count < FALCON_PACKET)
        return false;
    if (!falcon_decode_report(p->bytes, out)) {
        resynchronise(p);
        return false;
    }
    p->count = 0;
    p->reports++;
    return true;
}

HR_RT size_t ftdi_strip(const uint8_t *in, size_t length, uint8_t *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++)
        if (i % FALCON_USB_PACKET >= 2)
            out[written++] = in[i];
    return written;
}

HR_RT uint8_t falcon_debounce_add(falcon_debounce *d, uint8_t buttons)
{
    if (buttons != d->candidate) {
        d->candidate = buttons;
        d->same = 0;
    }
    if (++d->same >= d->hold)
        d->state = buttons;
    return d->state;
}
