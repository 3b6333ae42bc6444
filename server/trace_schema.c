#include "server/trace_schema.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TICK(member, type, count, unit, comment)                                                   \
    {                                                                                              \
#member, type, count, offsetof(tick_record, member), unit, comment                         \
    }
#define SAMPLE(member, type, count, unit, comment)                                                 \
    {                                                                                              \
        "sample_" #member, type, count, offsetof(tick_record, sample.member), unit, comment        \
    }

const trace_field trace_tick_fields[] = {
    TICK(tick, TRACE_U64, 1, "", "count of servo periods since the start"),
    TICK(time_ns, TRACE_I64, 1, "", "planned time of the tick, servo clock"),
    TICK(elapsed_ns, TRACE_I64, 1, "", "true time since the previous tick, capped"),
    TICK(hand, TRACE_U32, 1, "", "index of the device"),
    TICK(missed_periods, TRACE_U32, 1, "", "skipped just before this tick"),
    TICK(read_status, TRACE_I32, 1, "", "of the device read; 0 is good"),
    TICK(write_status, TRACE_I32, 1, "", "of the previous tick's write; 0 is good"),
    SAMPLE(time_ns, TRACE_I64, 1, "", "when the device was read"),
    SAMPLE(sequence, TRACE_U64, 1, "", "rises with every new report of the device"),
    SAMPLE(valid, TRACE_U32, 1, "", "bits: position velocity rotation gripper buttons joints"),
    SAMPLE(flags, TRACE_U32, 1, "", "bits: homed enabled saturated frozen late jumped"),
    SAMPLE(buttons, TRACE_U32, 1, "", "bit i set: switch i pressed"),
    SAMPLE(joint_count, TRACE_U32, 1, "", "of joints that mean something"),
    SAMPLE(position, TRACE_F64, 3, "m", "base frame: x to the operator, y right, z up"),
    SAMPLE(velocity, TRACE_F64, 3, "m/s", "base frame"),
    SAMPLE(rotation, TRACE_F64, 4, "", "base_from_handle: w x y z"),
    SAMPLE(angular_velocity, TRACE_F64, 3, "rad/s", "base frame"),
    SAMPLE(gripper_angle, TRACE_F64, 1, "rad", "0 is closed"),
    SAMPLE(gripper_speed, TRACE_F64, 1, "rad/s", ""),
    SAMPLE(joints, TRACE_F64, DEVICE_JOINTS_MAX, "", "rad, or encoder counts"),
    TICK(tool, TRACE_F64, 3, "m", "world frame: the device position in the scene"),
    TICK(proxy, TRACE_F64, 3, "m", "world frame"),
    TICK(wanted_force, TRACE_F64, 3, "N", "base frame, before the safety layer"),
    TICK(force, TRACE_F64, 3, "N", "base frame, sent to the device"),
    TICK(contact_normal, TRACE_F64, 3, "", "unit, world frame; zero without contact"),
    TICK(gap, TRACE_F64, 1, "m", "signed distance of the tool to the nearest body"),
    TICK(energy, TRACE_F64, 1, "J", "passivity observer: negative is energy put out"),
    TICK(fade, TRACE_F64, 1, "", "0 to 1: start-up, stale and overrun gates together"),
    TICK(contact_key, TRACE_U64, 1, "", "body and feature"),
    TICK(frame_sequence, TRACE_U64, 1, "", "of the contact frame in use"),
    TICK(frame_age_ns, TRACE_I64, 1, "", "of that frame"),
    TICK(reasons, TRACE_U32, 1, "", "why force differs from wanted_force: the REASON bits"),
    TICK(state, TRACE_U32, 1, "", "of the servo"),
    TICK(contact_count, TRACE_U32, 1, "", "surfaces that hold the proxy"),
    TICK(tracker_flags, TRACE_U32, 1, "", "of the nearest-point trackers"),
    TICK(lateness_ns, TRACE_I32, 1, "", "woke up after the planned time"),
    TICK(compute_ns, TRACE_I32, 1, "", "spent computing"),
    TICK(device_ns, TRACE_I32, 1, "", "spent in the device driver"),
    TICK(reserved, TRACE_I32, 1, "", "always 0"),
};
const int trace_tick_field_count = HR_COUNT(trace_tick_fields);
const int trace_tick_compared_count = HR_COUNT(trace_tick_fields) - 4;

_Static_assert(sizeof(tick_record) == 456, "a new field belongs into trace_tick_fields");

#define BODY(name, member, type, count, unit, comment)                                             \
    {                                                                                              \
        name, type, count, offsetof(frame_body, member), unit, comment                             \
    }

const trace_field trace_body_fields[] = {
    BODY("key", key, TRACE_U32, 1, "", "names the body"),
    BODY("shape", shape, TRACE_U32, 1, "", "index into the world's shapes"),
    BODY("flags", flags, TRACE_U32, 1, "", "bits: moved by hand, teleported"),
    BODY("reserved", reserved, TRACE_U32, 1, "", "always 0"),
    BODY("rotation", world_from_body.rotation, TRACE_F64, 4, "", "world_from_body: w x y z"),
    BODY("origin", world_from_body.origin, TRACE_F64, 3, "m", "world frame"),
    BODY("linear_velocity", velocity.linear, TRACE_F64, 3, "m/s", "world axes"),
    BODY("angular_velocity", velocity.angular, TRACE_F64, 3, "rad/s", "world axes"),
    BODY("linear_acceleration", acceleration.linear, TRACE_F64, 3, "m/s^2", "world axes"),
    BODY("angular_acceleration", acceleration.angular, TRACE_F64, 3, "rad/s^2", "world axes"),
    BODY("stiffness", material.stiffness, TRACE_F64, 1, "N/m", ""),
    BODY("damping", material.damping, TRACE_F64, 1, "N s/m", ""),
    BODY("static_friction", material.static_friction, TRACE_F64, 1, "", "coefficient"),
    BODY("kinetic_friction", material.kinetic_friction, TRACE_F64, 1, "", "coefficient"),
    BODY("inverse_mass", inverse_mass, TRACE_F64, 9, "1/kg", "world axes, row by row"),
    BODY("track_count", seed.track_count, TRACE_U32, 1, "", "of tracks that mean something"),
    BODY("track_flags", seed.flags, TRACE_U32, 1, "", "of all tracks together"),
    BODY("searched_at", seed.searched_at, TRACE_F64, 3, "m", "shape frame"),
    BODY("search_room", seed.search_room, TRACE_F64, 1, "m", "how far from there"),
};
const int trace_body_field_count = HR_COUNT(trace_body_fields);

static const trace_field track_fields[] = {
    {"feature", TRACE_U32, 1, offsetof(shape_track, feature), "", "face, edge or vertex"},
    {"flags", TRACE_U32, 1, offsetof(shape_track, flags), "", "of this track"},
    {"u", TRACE_F64, 1, offsetof(shape_track, u), "", "parameter"},
    {"v", TRACE_F64, 1, offsetof(shape_track, v), "", "parameter"},
};

_Static_assert(sizeof(shape_track) == 24, "a new field belongs into track_fields");
_Static_assert(offsetof(frame_body, seed.tracks) == 312 &&
                   sizeof(frame_body) == 312 + sizeof(shape_track) * SHAPE_TRACKS_MAX,
               "a new field belongs into trace_body_fields");

#define DEVICE(member, kind)                                                                       \
    {                                                                                              \
#member, kind, offsetof(device_description, member)                                        \
    }

const trace_device_field trace_device_fields[] = {
    DEVICE(model, 's'),
    DEVICE(manufacturer, 's'),
    DEVICE(serial, 's'),
    DEVICE(max_force, 'd'),
    DEVICE(peak_force, 'd'),
    DEVICE(max_torque, 'd'),
    DEVICE(max_gripper_force, 'd'),
    DEVICE(max_stiffness, 'd'),
    DEVICE(max_angular_stiffness, 'd'),
    DEVICE(max_damping, 'd'),
    DEVICE(workspace_radius, 'd'),
    DEVICE(workspace_centre.x, 'd'),
    DEVICE(workspace_centre.y, 'd'),
    DEVICE(workspace_centre.z, 'd'),
    DEVICE(position_resolution, 'd'),
    DEVICE(latency, 'd'),
    DEVICE(watchdog, 'd'),
    DEVICE(native_rate_hz, 'i'),
    DEVICE(button_count, 'i'),
    DEVICE(senses_position, 'b'),
    DEVICE(senses_rotation, 'b'),
    DEVICE(senses_gripper, 'b'),
    DEVICE(actuates_position, 'b'),
    DEVICE(actuates_rotation, 'b'),
    DEVICE(actuates_gripper, 'b'),
    DEVICE(fits_left_hand, 'b'),
    DEVICE(fits_right_hand, 'b'),
    DEVICE(has_motors, 'b'),
};
const int trace_device_field_count = HR_COUNT(trace_device_fields);

_Static_assert(sizeof(device_description) == 232, "a new field belongs into trace_device_fields");

const char *trace_reason_name(int bit)
{
    static const char *const names[] = {
        "not_finite", "clamp",       "slew",         "overspeed", "workspace", "passivity",
        "startup",    "stale_world", "stale_device", "estop",     "fault",     "overrun",
        "jump",       "frozen",      "stale_client", "disarmed",  "teleport",  "degraded",
    };
    return bit >= 0 && bit < HR_COUNT(names) ? names[bit] : NULL;
}

size_t trace_type_size(trace_type type)
{
    return type == TRACE_U32 || type == TRACE_I32 ? 4 : 8;
}

/* --- definitions ------------------------------------------------------------------------------ */

static void print(mcap_bytes *out, const char *format, ...) HR_PRINTF(2, 3);

/* One line of a definition. */
static void print(mcap_bytes *out, const char *format, ...)
{
    char line[256];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    assert(n > 0 && n < (int)sizeof line);
    mcap_put_raw(out, line, (size_t)n);
}

static void put(mcap_bytes *out, const char *text)
{
    mcap_put_raw(out, text, strlen(text));
}

static void print_fields(mcap_bytes *out, const trace_field *fields, int count)
{
    static const char *const types[] = {"uint32", "int32", "uint64", "int64", "float64"};
    for (int i = 0; i < count; i++) {
        const trace_field *f = &fields[i];
        const char *comma = f->unit[0] && f->comment[0] ? ", " : "";
        if (f->count == 1)
            print(out, "%s %s", types[f->type], f->name);
        else
            print(out, "%s[%d] %s", types[f->type], f->count, f->name);
        print(out, "  # %s%s%s\n", f->unit, comma, f->comment);
    }
}

static void print_reasons(mcap_bytes *out)
{
    for (int bit = 0; trace_reason_name(bit); bit++) {
        char name[32];
        snprintf(name, sizeof name, "%s", trace_reason_name(bit));
        for (char *c = name; *c; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        print(out, "uint32 REASON_%s=%u\n", name, 1u << bit);
    }
}

static const char separator[] =
    "================================================================================\n";
static const char crc_line[] = "uint32 crc32  # of the body's bytes before it\n";

const char *trace_schema_name(trace_kind kind)
{
    static const char *const names[] = {"hapticd_msgs/msg/Tick", "hapticd_msgs/msg/Frame",
                                        "hapticd_msgs/msg/Command", "hapticd_msgs/msg/Event"};
    return names[kind];
}

static void print_frame(mcap_bytes *out)
{
    put(out, "uint64 arrival_tick  # the tick that first used it\n"
             "uint64 sequence  # rises by one per frame\n"
             "int64 time_ns  # of the poses, servo clock\n"
             "uint64 tool_tick  # newest tool sample that the world had seen\n"
             "uint32 hand  # index of the device\n"
             "hapticd_msgs/FrameBody[] bodies  # near the tool\n");
    put(out, crc_line);
    put(out, separator);
    put(out, "MSG: hapticd_msgs/FrameBody\n");
    print_fields(out, trace_body_fields, trace_body_field_count);
    print(out, "hapticd_msgs/ShapeTrack[%d] tracks  # seeds of the trackers\n", SHAPE_TRACKS_MAX);
    put(out, separator);
    put(out, "MSG: hapticd_msgs/ShapeTrack\n");
    print_fields(out, track_fields, HR_COUNT(track_fields));
}

void trace_schema_text(trace_kind kind, mcap_bytes *out)
{
    switch (kind) {
    case TRACE_TICK:
        print_reasons(out);
        print_fields(out, trace_tick_fields, trace_tick_field_count);
        put(out, crc_line);
        return;
    case TRACE_FRAME:
        print_frame(out);
        return;
    case TRACE_COMMAND:
        put(out, "uint64 tick  # at which it was applied\n"
                 "uint32 kind  # 1 e-stop, 2 arm, 3 disarm, 4 set, 5 mark, 6 client force, 7 "
                 "lease, 8 trial\n"
                 "uint32 hand  # index, or 4 for all\n"
                 "uint32 key  # of the parameter that is set\n"
                 "uint32 client\n"
                 "int64 deadline_ns\n"
                 "float64[4] values\n"
                 "string text\n");
        put(out, crc_line);
        return;
    case TRACE_EVENT:
        put(out, "uint64 tick\n"
                 "int64 time_ns\n"
                 "uint32 kind  # 0 log, 1 overrun, 2 state, 3 drop, 4 trial\n"
                 "uint32 hand  # index, or 4 for all\n"
                 "float64 value\n"
                 "string text\n");
        put(out, crc_line);
        return;
    }
}

_Static_assert(HANDS_MAX == 4, "the definitions above say 4 for all hands");

enum { CHANNEL_COMMAND = 1, CHANNEL_EVENT = 2, CHANNEL_HANDS = 3 };

uint16_t trace_channel(trace_kind kind, int hand)
{
    switch (kind) {
    case TRACE_COMMAND:
        return CHANNEL_COMMAND;
    case TRACE_EVENT:
        return CHANNEL_EVENT;
    default:
        return (uint16_t)(CHANNEL_HANDS + 2 * hand + (kind == TRACE_FRAME));
    }
}

bool trace_channel_meaning(uint16_t channel, trace_kind *kind, int *hand)
{
    *hand = -1;
    if (channel < CHANNEL_COMMAND || channel >= CHANNEL_HANDS + 2 * HANDS_MAX)
        return false;
    if (channel < CHANNEL_HANDS) {
        *kind = channel == CHANNEL_COMMAND ? TRACE_COMMAND : TRACE_EVENT;
        return true;
    }
    *kind = (channel - CHANNEL_HANDS) % 2 ? TRACE_FRAME : TRACE_TICK;
    *hand = (channel - CHANNEL_HANDS) / 2;
    return true;
}
