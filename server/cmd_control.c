/* `haptic estop|arm|disarm|set|mark|trial`: one command to a running server, applied at a tick. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/command.h"
#include "server/control_client.h"
#include "server/parameters.h"

#define COMMON_OPTIONS                                                                             \
    "  --hand N        only this hand, counted from 0; all unless given\n"                         \
    "  --socket PATH   of a server that is not in the usual place\n"                               \
    "  --json          print the answer as it came\n"

static int simple(int argc, char **argv, const char *help)
{
    control_arguments a;
    int code;
    if (!control_arguments_read(argc, argv, "jh", help, &a, &code))
        return code;
    if (a.argc != 0)
        return command_usage_error(argv[0], "expected no argument, got \"%s\"", a.argv[0]);
    return control_ask(argv[0], &a, json_pack("{s:s}", "op", argv[0]));
}

int cmd_estop(int argc, char **argv)
{
    return simple(argc, argv,
                  "usage: haptic estop [--hand N] [--socket PATH] [--json]\n\n"
                  "Emergency stop: forces go to zero and stay there until 'haptic arm'. A\n"
                  "convenience; keep a hardware means of cutting the power.\n\n" COMMON_OPTIONS);
}

int cmd_arm(int argc, char **argv)
{
    return simple(argc, argv,
                  "usage: haptic arm [--hand N] [--socket PATH] [--json]\n\n"
                  "Lets forces come back after an emergency stop, a fault or 'haptic disarm': the\n"
                  "force rises again once the tool is clear of every body.\n\n" COMMON_OPTIONS);
}

int cmd_disarm(int argc, char **argv)
{
    return simple(argc, argv,
                  "usage: haptic disarm [--hand N] [--socket PATH] [--json]\n\n"
                  "Switches forces off.\n\n" COMMON_OPTIONS);
}

static int list_parameters(void)
{
    int count;
    const parameter *p = parameter_list(&count);
    for (int i = 0; i < count; i++)
        if (p[i].is_public)
            printf("%-28s %6g to %-6g  %s\n", p[i].name, p[i].low, p[i].high, p[i].help);
    return COMMAND_OK;
}

int cmd_set(int argc, char **argv)
{
    control_arguments a;
    int code;
    const char *help = "usage: haptic set [--hand N] [--socket PATH] [--json] KEY VALUE\n"
                       "       haptic set --list\n\n"
                       "Changes a parameter of a running server, at a tick that is recorded.\n\n"
                       "  --list          the keys with their ranges\n" COMMON_OPTIONS;
    if (!control_arguments_read(argc, argv, "jhl", help, &a, &code))
        return code;
    if (a.is_list && a.argc == 0)
        return list_parameters();
    if (a.argc != 2)
        return command_usage_error(argv[0], "expected KEY and VALUE");
    const parameter *p = parameter_find(a.argv[0]);
    if (!p || !p->is_public)
        return command_usage_error(argv[0], "expected a key of 'haptic set --list', got \"%s\"",
                                   a.argv[0]);
    char *end;
    double value = strtod(a.argv[1], &end);
    if (end == a.argv[1] || *end || !(value >= p->low && value <= p->high))
        return command_usage_error(argv[0], "%s: expected a number from %g to %g, got \"%s\"",
                                   p->name, p->low, p->high, a.argv[1]);
    return control_ask(argv[0], &a,
                       json_pack("{s:s,s:s,s:f}", "op", "set", "key", p->name, "value", value));
}

static int send_text(int argc, char **argv, const char *help)
{
    control_arguments a;
    int code;
    if (!control_arguments_read(argc, argv, "jh", help, &a, &code))
        return code;
    enum { TEXT_MAX = 63 };
    if (a.argc != 1 || !a.argv[0][0] || strlen(a.argv[0]) > TEXT_MAX)
        return command_usage_error(argv[0], "expected one text of 1 to %d bytes", TEXT_MAX);
    json_t *request = json_pack("{s:s,s:s}", "op", argv[0], "text", a.argv[0]);
    if (!request)
        return command_usage_error(argv[0], "expected text in UTF-8");
    return control_ask(argv[0], &a, request);
}

int cmd_mark(int argc, char **argv)
{
    return send_text(argc, argv,
                     "usage: haptic mark [--hand N] [--socket PATH] [--json] TEXT\n\n"
                     "Puts a marker into the recording, at the tick at which it is "
                     "applied.\n\n" COMMON_OPTIONS);
}

int cmd_trial(int argc, char **argv)
{
    return send_text(argc, argv,
                     "usage: haptic trial [--hand N] [--socket PATH] [--json] TEXT\n\n"
                     "Names the trial that begins (subject, session, block, condition) in the "
                     "recording.\n\n" COMMON_OPTIONS);
}
