/* The answers of the control protocol. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/protocol.h"

/* Writes the object and a newline, and lets go of it. */
static int finish(json_t *object, char *out, size_t size)
{
    if (!object || size < 2)
        return 0;
    size_t used = json_dumpb(object, out, size - 1, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(object);
    if (used == 0 || used > size - 2)
        return 0;
    out[used] = '\n';
    out[used + 1] = '\0';
    return (int)used + 1;
}

static json_t *answer(const protocol_request *request, bool is_good)
{
    json_t *object = json_pack("{s:b}", "ok", is_good);
    if (request && request->has_id)
        json_object_set_new(object, "id", json_integer(request->id));
    return object;
}

int protocol_print_done(const protocol_request *request, uint64_t tick, char *out, size_t size)
{
    json_t *object = answer(request, true);
    json_object_set_new(object, "tick", json_integer((json_int_t)tick));
    if (request->op == PROTOCOL_LEASE) /* who to say one is on the shared board */
        json_object_set_new(object, "client", json_integer((json_int_t)request->command.client));
    return finish(object, out, size);
}

int protocol_print_error(const protocol_request *request, const char *message, char *out,
                         size_t size)
{
    json_t *object = answer(request, false);
    json_t *text = json_string(message);
    json_object_set_new(object, "error", text ? text : json_string("bytes that are not UTF-8"));
    return finish(object, out, size);
}

const char *protocol_state_name(uint32_t state)
{
    static const char *const names[] = {"disarmed", "homing", "waiting", "ramping",
                                        "running",  "fading", "estop",   "fault"};
    return state < (uint32_t)HR_COUNT(names) ? names[state] : "unknown";
}

static const char *const reason_names[] = {
    "not-finite", "clamp",       "slew",         "overspeed", "workspace", "passivity",
    "startup",    "stale-world", "stale-device", "estop",     "fault",     "overrun",
    "jump",       "frozen",      "stale-client", "disarmed",  "teleport",  "degraded"};

int protocol_reason_names(uint32_t reasons, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < HR_COUNT(reason_names); i++) {
        if (!(reasons >> i & 1))
            continue;
        int n = snprintf(out + used, size - used, "%s%s", used ? " " : "", reason_names[i]);
        if (n < 0 || used + (size_t)n >= size)
            break;
        used += (size_t)n;
    }
    return (int)used;
}

/* JSON has no NaN: what is not finite becomes null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *vector(vec3 v)
{
    return json_pack("[o,o,o]", number(v.x), number(v.y), number(v.z));
}

static json_t *reasons_array(uint32_t reasons)
{
    json_t *array = json_array();
    for (int i = 0; i < HR_COUNT(reason_names); i++)
        if (reasons >> i & 1)
            json_array_append_new(array, json_string(reason_names[i]));
    return array;
}

static json_t *hand_object(const tick_record *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "hand", json_integer(r->hand));
    json_object_set_new(object, "state", json_string(protocol_state_name(r->state)));
    json_object_set_new(object, "reasons", reasons_array(r->reasons));
    json_object_set_new(object, "position_m", vector(r->sample.position));
    json_object_set_new(object, "velocity_m_per_s", vector(r->sample.velocity));
    json_object_set_new(object, "tool_m", vector(r->tool));
    json_object_set_new(object, "proxy_m", vector(r->proxy));
    json_object_set_new(object, "force_n", vector(r->force));
    json_object_set_new(object, "wanted_force_n", vector(r->wanted_force));
    json_object_set_new(object, "normal", vector(r->contact_normal));
    json_object_set_new(object, "gap_m", number(r->gap));
    json_object_set_new(object, "energy_j", number(r->energy));
    json_object_set_new(object, "fade", number(r->fade));
    json_object_set_new(object, "contacts", json_integer(r->contact_count));
    json_object_set_new(object, "body", json_integer((json_int_t)(r->contact_key >> 32)));
    json_object_set_new(object, "frame_age_ns", json_integer(r->frame_age_ns));
    json_object_set_new(object, "buttons", json_integer(r->sample.buttons));
    json_object_set_new(object, "lateness_ns", json_integer(r->lateness_ns));
    return object;
}

json_t *protocol_state_object(const servo_report *report)
{
    json_t *hands = json_array();
    for (uint32_t i = 0; i < report->hand_count && i < HANDS_MAX; i++)
        json_array_append_new(hands, hand_object(&report->hands[i]));
    return json_pack("{s:I,s:f,s:I,s:o}", "tick", (json_int_t)report->tick, "time_s",
                     (double)report->time_ns * 1e-9, "missed_periods",
                     (json_int_t)report->missed_periods, "hands", hands);
}

int protocol_print_state(const servo_report *report, char *out, size_t size)
{
    return finish(json_pack("{s:o}", "state", protocol_state_object(report)), out, size);
}

int protocol_print_object(const protocol_request *request, const char *name, json_t *content,
                          char *out, size_t size)
{
    json_t *object = answer(request, true);
    json_object_set_new(object, name, content);
    return finish(object, out, size);
}
