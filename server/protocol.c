#include "server/protocol.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/parameters.h"

static hr_status refuse(hr_error *error, const char *expected, const char *found)
{
    return error_set(error, HR_ERR_FORMAT, "expected %s, got %s", expected, found);
}

static const char *type_name(const json_t *value)
{
    if (!value)
        return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    default:
        return "true, false or null";
    }
}

static hr_status take_number(json_t *object, const char *key, double low, double high, double *out,
                             hr_error *error)
{
    char expected[96];
    snprintf(expected, sizeof expected, "\"%s\": a number from %g to %g", key, low, high);
    json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        return refuse(error, expected, type_name(value));
    double number = json_number_value(value);
    if (!(number >= low && number <= high)) {
        char found[32];
        snprintf(found, sizeof found, "%g", number);
        return refuse(error, expected, found);
    }
    *out = number;
    return HR_OK;
}

static hr_status take_text(json_t *object, const char *key, char *out, size_t size, hr_error *error)
{
    char expected[96];
    snprintf(expected, sizeof expected, "\"%s\": a text of 1 to %zu bytes", key, size - 1);
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return refuse(error, expected, type_name(value));
    size_t length = json_string_length(value);
    if (length == 0 || length >= size)
        return refuse(error, expected, length == 0 ? "an empty one" : "a longer one");
    if (memchr(json_string_value(value), '\0', length))
        return refuse(error, expected, "one with a zero byte");
    memset(out, 0, size);
    memcpy(out, json_string_value(value), length);
    return HR_OK;
}

/* --- one function per operation --------------------------------------------------------------- */

static hr_status read_watch(json_t *object, protocol_request *out, hr_error *error)
{
    out->rate_hz = 10;
    if (!json_object_get(object, "rate_hz"))
        return HR_OK;
    return take_number(object, "rate_hz", 0.1, PROTOCOL_RATE_MAX, &out->rate_hz, error);
}

static hr_status read_set(json_t *object, protocol_request *out, hr_error *error)
{
    char key[64];
    hr_status status = take_text(object, "key", key, sizeof key, error);
    if (status != HR_OK)
        return status;
    const parameter *p = parameter_find(key);
    if (!p || !p->is_public)
        return error_set(error, HR_ERR_FORMAT,
                         "expected \"key\": a parameter that can be set, got \"%s\"", key);
    out->command.kind = COMMAND_SET;
    out->command.key = (uint32_t)p->key;
    return take_number(object, "value", p->low, p->high, &out->command.values[0], error);
}

static hr_status read_mark(json_t *object, protocol_request *out, hr_error *error)
{
    out->command.kind = COMMAND_MARK;
    return take_text(object, "text", out->command.text, sizeof out->command.text, error);
}

static hr_status read_trial(json_t *object, protocol_request *out, hr_error *error)
{
    out->command.kind = COMMAND_TRIAL;
    return take_text(object, "text", out->command.text, sizeof out->command.text, error);
}

static hr_status read_lease(json_t *object, protocol_request *out, hr_error *error)
{
    out->command.kind = COMMAND_LEASE;
    out->command.values[0] = 1;
    out->seconds = 1;
    if (!json_object_get(object, "seconds"))
        return HR_OK;
    return take_number(object, "seconds", 0.05, 60, &out->seconds, error);
}

static hr_status read_force(json_t *object, protocol_request *out, hr_error *error)
{
    const char *expected = "\"force_n\": three numbers from -100 to 100";
    json_t *force = json_object_get(object, "force_n");
    if (!json_is_array(force) || json_array_size(force) != 3)
        return refuse(error, expected, json_is_array(force) ? "another count" : type_name(force));
    out->command.kind = COMMAND_CLIENT_FORCE;
    for (size_t i = 0; i < 3; i++) {
        json_t *value = json_array_get(force, i);
        double number = json_number_value(value);
        if (!json_is_number(value) || !(fabs(number) <= 100.0))
            return refuse(error, expected,
                          json_is_number(value) ? "a larger one" : type_name(value));
        out->command.values[i] = number;
    }
    return HR_OK;
}

typedef struct operation {
    const char *name;
    protocol_op op;
    command_kind kind;
    hr_status (*read)(json_t *object, protocol_request *out, hr_error *error); /* or NULL */
    const char *members[3]; /* besides op, id and hand */
} operation;

static const operation operations[] = {
    {"status", PROTOCOL_STATUS, COMMAND_NONE, NULL, {NULL}},
    {"watch", PROTOCOL_WATCH, COMMAND_NONE, read_watch, {"rate_hz", NULL}},
    {"unwatch", PROTOCOL_UNWATCH, COMMAND_NONE, NULL, {NULL}},
    {"estop", PROTOCOL_COMMAND, COMMAND_ESTOP, NULL, {NULL}},
    {"arm", PROTOCOL_COMMAND, COMMAND_ARM, NULL, {NULL}},
    {"disarm", PROTOCOL_COMMAND, COMMAND_DISARM, NULL, {NULL}},
    {"set", PROTOCOL_COMMAND, COMMAND_SET, read_set, {"key", "value", NULL}},
    {"mark", PROTOCOL_COMMAND, COMMAND_MARK, read_mark, {"text", NULL}},
    {"trial", PROTOCOL_COMMAND, COMMAND_TRIAL, read_trial, {"text", NULL}},
    {"lease", PROTOCOL_LEASE, COMMAND_LEASE, read_lease, {"seconds", NULL}},
    {"release", PROTOCOL_RELEASE, COMMAND_LEASE, NULL, {NULL}},
    {"force", PROTOCOL_FORCE, COMMAND_CLIENT_FORCE, read_force, {"force_n", NULL}},
};

static const operation *find_operation(const char *name)
{
    for (int i = 0; i < HR_COUNT(operations); i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

static bool is_member(const operation *o, const char *key)
{
    if (strcmp(key, "op") == 0 || strcmp(key, "id") == 0 || strcmp(key, "hand") == 0)
        return true;
    for (int i = 0; i < HR_COUNT(o->members) && o->members[i]; i++)
        if (strcmp(o->members[i], key) == 0)
            return true;
    return false;
}

static hr_status read_id(json_t *object, protocol_request *out, hr_error *error)
{
    json_t *id = json_object_get(object, "id");
    if (!id)
        return HR_OK;
    if (!json_is_integer(id))
        return refuse(error, "\"id\": an integer", type_name(id));
    out->has_id = true;
    out->id = json_integer_value(id);
    return HR_OK;
}

static hr_status read_hand(json_t *object, int hand_count, protocol_request *out, hr_error *error)
{
    json_t *hand = json_object_get(object, "hand");
    out->command.hand = HANDS_MAX;
    if (!hand)
        return HR_OK;
    char expected[64];
    snprintf(expected, sizeof expected, "\"hand\": an index from 0 to %d", hand_count - 1);
    if (!json_is_integer(hand))
        return refuse(error, expected, type_name(hand));
    if (json_integer_value(hand) < 0 || json_integer_value(hand) >= hand_count)
        return refuse(error, expected, "another number");
    out->command.hand = (uint32_t)json_integer_value(hand);
    return HR_OK;
}

static hr_status read_object(json_t *object, int hand_count, protocol_request *out, hr_error *error)
{
    if (!json_is_object(object))
        return refuse(error, "a JSON object", type_name(object));
    hr_status status = read_id(object, out, error);
    if (status != HR_OK)
        return status;
    json_t *name = json_object_get(object, "op");
    if (!json_is_string(name))
        return refuse(error, "\"op\": the name of an operation", type_name(name));
    const operation *o = find_operation(json_string_value(name));
    if (!o)
        return error_set(error, HR_ERR_FORMAT,
                         "expected \"op\": status, watch, unwatch, estop, arm, disarm, set, mark, "
                         "trial, lease, release or force, got \"%.40s\"",
                         json_string_value(name));
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i))
        if (!is_member(o, json_object_iter_key(i)))
            return error_set(error, HR_ERR_FORMAT, "\"%s\" has no member \"%.40s\"", o->name,
                             json_object_iter_key(i));
    out->op = o->op;
    out->command.kind = o->kind;
    status = read_hand(object, hand_count, out, error);
    if (status == HR_OK && o->read)
        status = o->read(object, out, error);
    return status;
}

hr_status protocol_parse(const char *line, size_t length, int hand_count, protocol_request *out,
                         hr_error *error)
{
    protocol_request request = {.op = PROTOCOL_STATUS};
    *out = request;
    if (length > PROTOCOL_LINE_MAX)
        return error_set(error, HR_ERR_FORMAT, "expected a line of at most %d bytes, got %zu",
                         PROTOCOL_LINE_MAX, length);
    json_error_t where;
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &where);
    if (!object)
        return error_set(error, HR_ERR_FORMAT, "expected one JSON object, got at column %d: %.200s",
                         where.column, where.text);
    hr_status status = read_object(object, hand_count, &request, error);
    json_decref(object);
    if (status == HR_OK) {
        *out = request;
        return HR_OK;
    }
    out->has_id = request.has_id;
    out->id = request.id;
    return status;
}
