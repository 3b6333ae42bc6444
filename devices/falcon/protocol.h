/* The bytes that go to a Falcon and come from it, as pure functions. No transfer, no clock.
 *
 * Every IN packet of its FTDI chip starts with two status bytes; after them comes a stream of
 * 16-byte reports "<" ... ">". Values are three signed 16-bit numbers, least significant nibble
 * first, each nibble plus 'A'. */
#ifndef DEVICES_FALCON_PROTOCOL_H
#define DEVICES_FALCON_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry/base.h"

enum {
    FALCON_VENDOR = 0x0403,
    FALCON_PRODUCT = 0xcb48,
    FALCON_ENDPOINT_OUT = 0x02,
    FALCON_ENDPOINT_IN = 0x81,
    FALCON_USB_PACKET = 64, /* bytes of a full-speed bulk packet */
    FALCON_PACKET = 16      /* bytes of a command or a report */
};

/* FTDI requests: bmRequestType 0x40, wIndex 0, no data stage. */
enum {
    FTDI_REQUEST_TYPE = 0x40,
    FTDI_RESET = 0,
    FTDI_MODEM = 1,
    FTDI_FLOW = 2,
    FTDI_DIVISOR = 3,
    FTDI_FORMAT = 4,
    FTDI_EVENT_CHARACTER = 6,
    FTDI_LATENCY = 9
};
enum {
    FTDI_PURGE_ONE = 1,
    FTDI_PURGE_OTHER = 2,
    FTDI_DTR_LOW = 0x0100,
    FTDI_DTR_HIGH = 0x0101,
    FTDI_RTS_LOW = 0x0200,
    FTDI_FORMAT_8N1 = 0x0008,
    FTDI_DIVISOR_9600 = 0x4138,
    FTDI_DIVISOR_LOADER = 0x0015, /* 142 857 baud */
    FTDI_DIVISOR_RUN = 0x0002     /* 1.5 Mbaud */
};

/* Flags byte of a command. Sources disagree on the lights; these are the defaults. */
enum {
    FALCON_HOMING = 0x01,
    FALCON_LED_GREEN = 0x02,
    FALCON_LED_BLUE = 0x04,
    FALCON_LED_RED = 0x08
};

/* values beyond +-4095 are cut: the field would wrap round and push the other way. */
HR_RT void falcon_encode_command(const int16_t values[3], uint8_t flags,
                                 uint8_t out[FALCON_PACKET]);

typedef struct falcon_report {
    int16_t counts[3]; /* since power-up; after homing since the index marks */
    uint8_t buttons;   /* bits 0..3: right (plus), forward, centre, left (minus) */
    uint8_t homed;     /* bits 0..2: arms 1 to 3 */
} falcon_report;

/* False where the 16 bytes are no report. The flags byte may be anything. */
HR_RT bool falcon_decode_report(const uint8_t in[FALCON_PACKET], falcon_report *out);

/* The device's side, for emulators. */
HR_RT void falcon_encode_report(const falcon_report *report, uint8_t out[FALCON_PACKET]);
HR_RT bool falcon_decode_command(const uint8_t in[FALCON_PACKET], int16_t values[3],
                                 uint8_t *flags);

/* Finds reports in a stream that may be cut anywhere. */
typedef struct falcon_parser {
    uint8_t bytes[FALCON_PACKET];
    int count;
    uint64_t reports;
    uint64_t garbage; /* bytes thrown away, runts included */
} falcon_parser;

/* Takes one byte; true when it completes a report. */
HR_RT bool falcon_parser_add(falcon_parser *p, uint8_t byte, falcon_report *out);

/* Copies the data of an IN transfer of any length without the status bytes of each 64-byte packet.
 * Returns the number of bytes written, at most `length`; out may be the same memory as in. */
HR_RT size_t ftdi_strip(const uint8_t *in, size_t length, uint8_t *out);

/* A button counts as changed when it was the same for `hold` reports in a row. */
typedef struct falcon_debounce {
    uint8_t state, candidate;
    int same, hold;
} falcon_debounce;

HR_RT uint8_t falcon_debounce_add(falcon_debounce *d, uint8_t buttons);

#endif
