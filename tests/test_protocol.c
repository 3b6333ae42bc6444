#include "tests/test.h"

#include <string.h>

#include "server/protocol.h"

static hr_status parse(const char *line, protocol_request *out, hr_error *error)
{
    return protocol_parse(line, strlen(line), 2, out, error);
}

static void requests_become_commands(void **state)
{
    (void)state;
    protocol_request r;
    hr_error error;

    assert_int_equal(parse("{\"op\":\"estop\",\"id\":7}", &r, &error), HR_OK);
    assert_int_equal(r.op, PROTOCOL_COMMAND);
    assert_int_equal(r.command.kind, COMMAND_ESTOP);
    assert_int_equal(r.command.hand, HANDS_MAX);
    assert_true(r.has_id);
    assert_int_equal(r.id, 7);

    assert_int_equal(
        parse("{\"op\":\"set\",\"key\":\"coupling.stiffness_n_per_m\",\"value\":800,\"hand\":1}",
              &r, &error),
        HR_OK);
    assert_int_equal(r.command.kind, COMMAND_SET);
    assert_int_equal(r.command.key, PARAMETER_STIFFNESS);
    assert_int_equal(r.command.hand, 1);
    assert_near(r.command.values[0], 800.0, 0.0);

    assert_int_equal(parse(" {\"op\":\"mark\", \"text\":\"h\\u00e9\"} ", &r, &error), HR_OK);
    assert_int_equal(r.command.kind, COMMAND_MARK);
    assert_string_equal(r.command.text, "h\xc3\xa9");

    assert_int_equal(parse("{\"op\":\"force\",\"force_n\":[1,-2.5,3]}", &r, &error), HR_OK);
    assert_int_equal(r.op, PROTOCOL_FORCE);
    assert_near(r.command.values[1], -2.5, 0.0);

    assert_int_equal(parse("{\"op\":\"watch\"}", &r, &error), HR_OK);
    assert_near(r.rate_hz, 10.0, 0.0);
    assert_int_equal(parse("{\"op\":\"lease\",\"seconds\":0.5}", &r, &error), HR_OK);
    assert_near(r.seconds, 0.5, 0.0);
}

/* What is refused, and a piece of what the client is told. */
static const struct {
    const char *line, *told;
} bad_lines[] = {
    {"", "expected one JSON object"},
    {"estop", "expected one JSON object"},
    {"[1,2]", "expected a JSON object, got an array"},
    {"{\"op\":\"estop\"} {\"op\":\"arm\"}", "expected one JSON object"},
    {"{\"op\":\"estop\",\"op\":\"arm\"}", "duplicate"},
    {"{}", "expected \"op\""},
    {"{\"op\":5}", "got a number"},
    {"{\"op\":\"explode\"}", "got \"explode\""},
    {"{\"op\":\"estop\",\"id\":\"x\"}", "\"id\": an integer"},
    {"{\"op\":\"estop\",\"now\":true}", "no member \"now\""},
    {"{\"op\":\"arm\",\"hand\":2}", "an index from 0 to 1"},
    {"{\"op\":\"arm\",\"hand\":-1}", "an index from 0 to 1"},
    {"{\"op\":\"arm\",\"hand\":\"left\"}", "got a string"},
    {"{\"op\":\"set\",\"key\":\"coupling.stiffness_n_per_m\"}", "got nothing"},
    {"{\"op\":\"set\",\"key\":\"coupling.stiffness_n_per_m\",\"value\":-1}", "got -1"},
    {"{\"op\":\"set\",\"key\":\"coupling.stiffness_n_per_m\",\"value\":1e300}", "from 0 to"},
    {"{\"op\":\"set\",\"key\":\"coupling.stiffness_n_per_m\",\"value\":\"5\"}", "got a string"},
    {"{\"op\":\"set\",\"key\":\"no.such\",\"value\":1}", "got \"no.such\""},
    {"{\"op\":\"set\",\"key\":\"servo.watchdog\",\"value\":0}", "got \"servo.watchdog\""},
    {"{\"op\":\"mark\"}", "\"text\""},
    {"{\"op\":\"mark\",\"text\":\"\"}", "got an empty one"},
    {"{\"op\":\"mark\",\"text\":\"a\\u0000b\"}", "column"}, /* the reader refuses it itself */
    {"{\"op\":\"mark\",\"text\":\"0123456789012345678901234567890123456789012345678901234567890123"
     "\"}",
     "got a longer one"},
    {"{\"op\":\"watch\",\"rate_hz\":0}", "from 0.1 to 100"},
    {"{\"op\":\"watch\",\"rate_hz\":1e9}", "from 0.1 to 100"},
    {"{\"op\":\"lease\",\"seconds\":3600}", "from 0.05 to 60"},
    {"{\"op\":\"force\",\"force_n\":[1,2]}", "three numbers"},
    {"{\"op\":\"force\",\"force_n\":[1,2,1000]}", "a larger one"},
    {"{\"op\":\"force\",\"force_n\":[1,2,null]}", "three numbers"},
    {"{\"op\":\"force\",\"force_n\":7}", "got a number"},
    {"{\"op\":\"status\",\"x\":1e999}", "column"},
};

static void what_is_no_request_is_refused_with_a_reason(void **state)
{
    (void)state;
    for (int i = 0; i < HR_COUNT(bad_lines); i++) {
        protocol_request r;
        hr_error error = {""};
        assert_int_equal(parse(bad_lines[i].line, &r, &error), HR_ERR_FORMAT);
        if (!strstr(error.text, bad_lines[i].told))
            fail_msg("%s: told \"%s\", expected \"%s\"", bad_lines[i].line, error.text,
                     bad_lines[i].told);
    }
}

static void a_refused_request_still_has_its_id(void **state)
{
    (void)state;
    protocol_request r;
    hr_error error;
    assert_int_equal(parse("{\"op\":\"explode\",\"id\":-12}", &r, &error), HR_ERR_FORMAT);

    char text[512];
    assert_true(protocol_print_error(&r, error.text, text, sizeof text) > 0);

    json_t *answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    assert_true(json_is_false(json_object_get(answer, "ok")));
    assert_int_equal(json_integer_value(json_object_get(answer, "id")), -12);
    assert_non_null(strstr(json_string_value(json_object_get(answer, "error")), "explode"));
    json_decref(answer);
}

static void a_state_is_one_line_of_json_even_with_nan(void **state)
{
    (void)state;
    servo_report report = {.tick = 41, .time_ns = 41000000, .hand_count = 2};
    report.hands[0].state = SERVO_RUNNING;
    report.hands[0].force = (vec3){0, 0, 1.5};
    report.hands[1].hand = 1;
    report.hands[1].reasons = REASON_CLAMP | REASON_DEGRADED;
    report.hands[1].tool = (vec3){(double)NAN, (double)INFINITY, 0};
    char text[PROTOCOL_REPLY_MAX];

    int length = protocol_print_state(&report, text, sizeof text);

    assert_int_equal(length, strlen(text));
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    json_t *answer = json_loads(text, 0, NULL);
    json_t *content = json_object_get(answer, "state");
    assert_int_equal(json_integer_value(json_object_get(content, "tick")), 41);
    json_t *first = json_array_get(json_object_get(content, "hands"), 0);
    json_t *second = json_array_get(json_object_get(content, "hands"), 1);
    assert_string_equal(json_string_value(json_object_get(first, "state")), "running");
    json_t *force = json_object_get(first, "force_n");
    assert_near(json_number_value(json_array_get(force, 2)), 1.5, 0.0);
    assert_true(json_is_null(json_array_get(json_object_get(second, "tool_m"), 0)));
    json_t *reasons = json_object_get(second, "reasons");
    assert_int_equal(json_array_size(reasons), 2);
    assert_string_equal(json_string_value(json_array_get(reasons, 1)), "degraded");
    json_decref(answer);

    char small[20];
    assert_int_equal(protocol_print_state(&report, small, sizeof small), 0);
}

static void reasons_have_names(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(protocol_reason_names(0, text, sizeof text), 0);
    assert_string_equal(text, "");
    protocol_reason_names(REASON_CLAMP | REASON_TELEPORT, text, sizeof text);
    assert_string_equal(text, "clamp teleport");
    char small[8];
    protocol_reason_names(UINT32_MAX, small, sizeof small);
    assert_true(strlen(small) < sizeof small);
    assert_string_equal(protocol_state_name(SERVO_FAULT), "fault");
    assert_string_equal(protocol_state_name(1000), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_become_commands),
        cmocka_unit_test(what_is_no_request_is_refused_with_a_reason),
        cmocka_unit_test(a_refused_request_still_has_its_id),
        cmocka_unit_test(a_state_is_one_line_of_json_even_with_nan),
        cmocka_unit_test(reasons_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
