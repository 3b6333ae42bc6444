/* The messages of a recording: which fields each has, where they stand in our structs and how any
 * MCAP reader decodes them (CDR, little-endian, with ROS 2 message definitions). The structs have
 * no padding, so the CDR body of a tick or frame is the struct as it stands; every message ends
 * with a CRC of its own, which lets a rescue tell good messages from bad ones in a damaged chunk.
 */
#ifndef SERVER_TRACE_SCHEMA_H
#define SERVER_TRACE_SCHEMA_H

#include "server/frame.h"
#include "server/mcap_format.h"
#include "server/records.h"
#include "server/trace.h"

typedef enum trace_type { TRACE_U32, TRACE_I32, TRACE_U64, TRACE_I64, TRACE_F64 } trace_type;

typedef struct trace_field {
    const char *name;
    trace_type type;
    int count;           /* of equal elements: 3 for a vector; 1 for a number */
    size_t offset;       /* in the struct */
    const char *unit;    /* "m", "N", ...; empty where there is none */
    const char *comment; /* frame, meaning */
} trace_field;

size_t trace_type_size(trace_type type);

/* The fields of a tick record in the order of the struct, and how many come before `timing`, which
 * a replay does not compare. */
extern const trace_field trace_tick_fields[];
extern const int trace_tick_field_count;
extern const int trace_tick_compared_count;

extern const trace_field trace_body_fields[]; /* of frame_body, up to its seed's tracks */
extern const int trace_body_field_count;

/* The device description, as recorded for each hand. */
typedef struct trace_device_field {
    const char *name;
    char kind; /* 's' text of 32 bytes, 'd' double, 'i' int, 'b' bool */
    size_t offset;
} trace_device_field;
extern const trace_device_field trace_device_fields[];
extern const int trace_device_field_count;

/* REASON_* bits in the order of their numbers: "clamp", "slew", ...; NULL past the last. */
const char *trace_reason_name(int bit);

typedef enum trace_kind { TRACE_TICK, TRACE_FRAME, TRACE_COMMAND, TRACE_EVENT } trace_kind;
enum { TRACE_KIND_COUNT = 4 };

/* "hapticd_msgs/msg/Tick" and the text of its definition; the text belongs to the caller. */
const char *trace_schema_name(trace_kind kind);
void trace_schema_text(trace_kind kind, mcap_bytes *out);

/* Channels are numbered by law, so that a lone message can be told: commands 1, events 2, ticks of
 * hand i 3 + 2 i, its frames 4 + 2 i. */
uint16_t trace_channel(trace_kind kind, int hand);
bool trace_channel_meaning(uint16_t channel, trace_kind *kind, int *hand);

/* One message, decoded. */
typedef struct trace_message {
    trace_kind kind;
    int hand;              /* of a tick or frame; -1 otherwise */
    uint32_t sequence;     /* counts all that were pushed on its channel, lost ones included */
    int64_t time_ns;       /* log time */
    uint64_t arrival_tick; /* of a frame */
    union {
        tick_record tick;
        contact_frame frame;
        servo_command command;
        trace_event event;
    };
} trace_message;

/* The content of the MCAP message, CRC included. */
void trace_encode(const trace_message *m, mcap_bytes *out);

/* kind, hand, sequence and time are filled in already. False when the size or the CRC is wrong;
 * what is in *m then means nothing. Unused bodies of a frame are left as they are. */
bool trace_decode(const uint8_t *data, size_t size, trace_message *m);

#endif
