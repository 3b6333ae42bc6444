/* `haptic recover`: rescue a recording. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "server/cmd_trace.h"
#include "server/trace_recover.h"

static const char usage[] =
    "usage: haptic recover TRACE -o NEW [--json]\n"
    "\n"
    "Writes everything that is whole in a damaged or cut-off recording to a new file, with the\n"
    "index and the end that it should have. The old file stays as it is.\n"
    "\n"
    "  -o NEW   the new file\n"
    "  --json   print one object\n"
    "  --help   this text\n";

int cmd_recover(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "output json", &o, &code))
        return code;
    if (!o.output)
        return command_usage_error("recover", "expected -o NEW");
    trace_rescue r;
    hr_error error;
    if (trace_recover(o.file, o.output, &r, &error) != HR_OK)
        return command_input_error(&error);
    if (o.wants_json) {
        json_t *j = json_pack("{s:I, s:I, s:I, s:I, s:I}", "messages", (json_int_t)r.messages,
                              "tick_records", (json_int_t)r.ticks, "salvaged",
                              (json_int_t)r.salvaged, "damages", (json_int_t)r.damages,
                              "damaged_bytes", (json_int_t)r.damaged_bytes);
        json_dumpf(j, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(j);
        return COMMAND_OK;
    }
    printf("%s: %" PRIu64 " messages, %" PRIu64 " of them tick records", o.output, r.messages,
           r.ticks);
    if (r.damages > 0)
        printf("; %" PRIu64 " damaged places of %" PRIu64 " bytes, %" PRIu64
               " messages picked out of them",
               r.damages, r.damaged_bytes, r.salvaged);
    putchar('\n');
    return COMMAND_OK;
}
