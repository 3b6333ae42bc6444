/* `haptic status` and `haptic watch`: how a running server is. */
#include <stdio.h>
#include <string.h>

#include "server/command.h"
#include "server/control_client.h"

enum { ANSWER_MS = 3000 };

static double number_at(const json_t *object, const char *outer, const char *inner)
{
    return json_number_value(json_object_get(json_object_get(object, outer), inner));
}

static double vector_length(const json_t *array)
{
    double x = json_number_value(json_array_get(array, 0));
    double y = json_number_value(json_array_get(array, 1));
    double z = json_number_value(json_array_get(array, 2));
    return __builtin_sqrt(x * x + y * y + z * z);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void print_hand(const json_t *hand, const json_t *owner)
{
    const json_t *position = json_object_get(hand, "position_m");
    printf("%s: %s %s, %s, force %.2f N, %s, at (%.1f, %.1f, %.1f) mm", text_at(owner, "name"),
           text_at(owner, "model"), text_at(owner, "serial"), text_at(hand, "state"),
           vector_length(json_object_get(hand, "force_n")),
           json_integer_value(json_object_get(hand, "contacts")) ? "touching" : "free",
           1e3 * json_number_value(json_array_get(position, 0)),
           1e3 * json_number_value(json_array_get(position, 1)),
           1e3 * json_number_value(json_array_get(position, 2)));
    const json_t *reasons = json_object_get(hand, "reasons");
    for (size_t i = 0; i < json_array_size(reasons); i++)
        printf("%s%s", i ? " " : ", ", json_string_value(json_array_get(reasons, i)));
    printf("\n");
    if (text_at(owner, "message")[0]) /* homing, why it is away, a link that grew bad */
        printf("  %s\n", text_at(owner, "message"));
}

/* How long the world's steps take, and what of them was cut short. */
static void print_world(const json_t *about)
{
    const json_t *mechanics = json_object_get(about, "mechanics");
    json_t *stages = json_object_get(mechanics, "stages"), *stage;
    const char *name;
    printf("scene: %s\n", text_at(about, "scene"));
    printf(
        "world: %.0f Hz, %.0f steps, %.0f missed, step p50 %.0f us, p99 %.0f us, of it "
        "frames %.0f us, %.0f us\n",
        json_number_value(json_object_get(about, "rate_hz")),
        json_number_value(json_object_get(about, "steps")),
        json_number_value(json_object_get(about, "missed_steps")),
        1e-3 * number_at(about, "compute", "p50_ns"), 1e-3 * number_at(about, "compute", "p99_ns"),
        1e-3 * number_at(about, "frames", "p50_ns"), 1e-3 * number_at(about, "frames", "p99_ns"));
    if (!json_is_object(mechanics))
        return;
    printf("  stages p99 us:");
    json_object_foreach(stages, name, stage)
    {
        printf(" %s %.0f", name, 1e-3 * json_number_value(json_object_get(stage, "p99_ns")));
    }
    printf("\n  %.0f contacts, %.0f bodies awake; cut short: rows %.0f, solves %.0f, proofs %.0f; "
           "bodies stopped short %.0f\n",
           json_number_value(json_object_get(mechanics, "contacts")),
           json_number_value(json_object_get(mechanics, "awake")),
           json_number_value(json_object_get(mechanics, "rows_cut")),
           json_number_value(json_object_get(mechanics, "solves_cut")),
           json_number_value(json_object_get(mechanics, "proofs_cut")),
           json_number_value(json_object_get(mechanics, "stopped_short")));
}

static void print_status(const json_t *status)
{
    const json_t *servo = json_object_get(status, "servo");
    const json_t *recording = json_object_get(status, "recording");
    printf("hapticd %s: %s%s\n", text_at(status, "version"), text_at(servo, "scheduling"),
           json_is_true(json_object_get(servo, "is_degraded")) ? " (DEGRADED)" : "");
    printf("servo: %.0f Hz, %.0f ticks, %.0f periods missed, lateness p99 %.1f us, max %.1f us\n",
           json_number_value(json_object_get(servo, "rate_hz")),
           json_number_value(json_object_get(servo, "ticks")),
           json_number_value(json_object_get(servo, "missed_periods")),
           1e-3 * number_at(servo, "lateness", "p99_ns"),
           1e-3 * number_at(servo, "lateness", "max_ns"));
    if (json_is_true(json_object_get(servo, "watchdog_is_tripped")))
        printf("WATCHDOG TRIPPED: 'haptic arm' when it is safe\n");
    print_world(json_object_get(status, "world"));
    const json_t *hands = json_object_get(json_object_get(status, "state"), "hands");
    const json_t *devices = json_object_get(status, "devices");
    for (size_t i = 0; i < json_array_size(hands); i++)
        print_hand(json_array_get(hands, i), json_array_get(devices, i));
    if (json_is_object(recording))
        printf("recording: %s, %.1f MB, %.0f records lost\n", text_at(recording, "file"),
               1e-6 * json_number_value(json_object_get(recording, "bytes")),
               json_number_value(json_object_get(recording, "dropped")));
    else
        printf("not recording\n");
}

int cmd_status(int argc, char **argv)
{
    static control_client c;
    control_arguments a;
    int code;
    hr_error error = {""};
    const char *help = "usage: haptic status [--socket PATH] [--json]\n\n"
                       "How a running server is: timing, devices, forces, recording.\n"
                       "Exits 1 where no server answers.\n";
    if (!control_arguments_read(argc, argv, "j", help, &a, &code))
        return code;
    if (a.argc != 0)
        return command_usage_error(argv[0], "expected no argument, got \"%s\"", a.argv[0]);
    json_t *answer = NULL;
    if (control_client_open(&c, a.socket, &error) == HR_OK &&
        control_client_send(&c, json_pack("{s:s}", "op", "status"), &error) == HR_OK)
        answer = control_client_receive(&c, ANSWER_MS, &error);
    control_client_close(&c);
    const json_t *status = json_object_get(answer, "status");
    if (!status) {
        fprintf(stderr, "haptic status: %s\n", error.text);
        json_decref(answer);
        return COMMAND_FAILED;
    }
    if (a.is_json) {
        json_dumpf(status, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("\n");
    } else {
        print_status(status);
    }
    json_decref(answer);
    return COMMAND_OK;
}

static void print_state(const json_t *state)
{
    const json_t *hands = json_object_get(state, "hands");
    printf("%10.3f s", json_number_value(json_object_get(state, "time_s")));
    for (size_t i = 0; i < json_array_size(hands); i++) {
        const json_t *h = json_array_get(hands, i);
        const json_t *p = json_object_get(h, "position_m");
        printf("  | %-8s (%6.1f %6.1f %6.1f) mm %5.2f N %s", text_at(h, "state"),
               1e3 * json_number_value(json_array_get(p, 0)),
               1e3 * json_number_value(json_array_get(p, 1)),
               1e3 * json_number_value(json_array_get(p, 2)),
               vector_length(json_object_get(h, "force_n")),
               json_integer_value(json_object_get(h, "contacts")) ? "touching" : "free");
    }
    printf("\n");
}

/* Prints states until the count is reached or the server ends; false on trouble. */
static bool stream(control_client *c, const control_arguments *a, hr_error *error)
{
    for (long i = 0; a->count == 0 || i < a->count;) {
        json_t *line = control_client_receive(c, ANSWER_MS, error);
        if (!line)
            return false;
        const json_t *state = json_object_get(line, "state");
        if (state && a->is_json) {
            json_dumpf(state, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
            printf("\n");
        } else if (state) {
            print_state(state);
        }
        i += state != NULL;
        json_decref(line);
        if (fflush(stdout) != 0)
            return true; /* nobody reads any more */
    }
    return true;
}

int cmd_watch(int argc, char **argv)
{
    static control_client c;
    control_arguments a;
    int code;
    hr_error error = {""};
    const char *help = "usage: haptic watch [--rate HZ] [--count N] [--socket PATH] [--json]\n\n"
                       "Prints the state of a running server again and again, until it ends.\n\n"
                       "  --rate HZ       0.1 to 100; 10 unless given\n"
                       "  --count N       stop after N lines\n"
                       "  --json          one object per line\n";
    if (!control_arguments_read(argc, argv, "jrc", help, &a, &code))
        return code;
    if (a.argc != 0)
        return command_usage_error(argv[0], "expected no argument, got \"%s\"", a.argv[0]);
    double rate = a.rate_hz > 0 ? a.rate_hz : 10.0;
    json_t *request = json_pack("{s:s,s:f}", "op", "watch", "rate_hz", rate);
    bool is_good = control_client_open(&c, a.socket, &error) == HR_OK;
    if (is_good)
        is_good = control_client_send(&c, request, &error) == HR_OK && stream(&c, &a, &error);
    else
        json_decref(request);
    control_client_close(&c);
    if (!is_good)
        fprintf(stderr, "haptic watch: %s\n", error.text);
    return is_good ? COMMAND_OK : COMMAND_FAILED;
}
