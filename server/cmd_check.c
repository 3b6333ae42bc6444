/* `haptic check`: prove a recording. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/cmd_trace.h"
#include "server/trace_check.h"

static const char usage[] =
    "usage: haptic check TRACE [--json]\n"
    "\n"
    "Proves a recording: every CRC, index entry, count and hash, and that no record is missing\n"
    "in between. Exits 1 and says what is wrong and where when it is damaged or not complete.\n"
    "\n"
    "  --json   print one object\n"
    "  --help   this text\n";

static void print_json(const trace_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->kept_count; i++)
        json_array_append_new(list, json_pack("{s:I, s:s}", "offset", (json_int_t)r->kept[i].offset,
                                              "found", r->kept[i].text));
    json_t *o = json_pack(
        "{s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "good", r->findings == 0,
        "complete", r->is_complete, "chunks", (json_int_t)r->chunks, "messages",
        (json_int_t)r->messages, "tick_records", (json_int_t)r->ticks, "frames",
        (json_int_t)r->frames, "commands", (json_int_t)r->commands, "events", (json_int_t)r->events,
        "lost", (json_int_t)r->lost, "findings", (json_int_t)r->findings, "list", list);
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}

static void print_text(const char *path, const trace_report *r)
{
    for (int i = 0; i < r->kept_count; i++)
        printf("%s: at byte %" PRIu64 ": %s\n", path, r->kept[i].offset, r->kept[i].text);
    if (r->findings > (uint64_t)r->kept_count)
        printf("%s: and %" PRIu64 " more\n", path, r->findings - (uint64_t)r->kept_count);
    printf("%s: %" PRIu64 " chunks, %" PRIu64 " tick records, %" PRIu64 " frames, %" PRIu64
           " commands, %" PRIu64 " events",
           path, r->chunks, r->ticks, r->frames, r->commands, r->events);
    if (r->lost > 0)
        printf(", %" PRIu64 " records lost in between", r->lost);
    printf(": %s\n", r->findings == 0 ? "good" : "DAMAGED; 'haptic recover' saves what is there");
}

int cmd_check(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "json", &o, &code))
        return code;
    trace_report *r;
    hr_error error;
    if (trace_check(o.file, &r, &error) != HR_OK)
        return command_input_error(&error);
    if (o.wants_json)
        print_json(r);
    else
        print_text(o.file, r);
    code = r->findings == 0 ? COMMAND_OK : COMMAND_FAILED;
    free(r);
    return code;
}
