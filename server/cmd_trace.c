#include "server/cmd_trace.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static const struct option names[] = {
    {"output", required_argument, NULL, 'o'},
    {"to", required_argument, NULL, 't'},
    {"scene", required_argument, NULL, 's'},
    {"from", required_argument, NULL, 'f'},
    {"until", required_argument, NULL, 'u'},
    {"json", no_argument, NULL, 'j'},
    {"verify", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A whole word of the list. */
static bool is_allowed(const char *allowed, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = allowed; (at = strstr(at, word)); at += length)
        if ((at == allowed || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return strcmp(word, "help") == 0;
}

static const char *name_of(int letter)
{
    for (int i = 0; names[i].name; i++)
        if (names[i].val == letter)
            return names[i].name;
    return NULL;
}

static void keep(int letter, cmd_trace_options *o)
{
    switch (letter) {
    case 'o':
        o->output = optarg;
        return;
    case 't':
        o->format = optarg;
        return;
    case 's':
        o->scene = optarg;
        return;
    case 'f':
        o->from = optarg;
        return;
    case 'u':
        o->until = optarg;
        return;
    case 'j':
        o->wants_json = true;
        return;
    default:
        o->wants_verify = true;
        return;
    }
}

bool cmd_trace_read(int argc, char **argv, const char *usage, const char *allowed,
                    cmd_trace_options *out, int *code)
{
    int letter;
    opterr = 0;
    *out = (cmd_trace_options){0};
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        const char *name = name_of(letter);
        if (letter == 'h') {
            fputs(usage, stdout);
            *code = COMMAND_OK;
            return false;
        }
        if (!name || !is_allowed(allowed, name)) {
            *code = command_usage_error(argv[0], "unknown or incomplete option \"%s\"",
                                        argv[optind - 1]);
            return false;
        }
        keep(letter, out);
    }
    if (argc - optind != 1) {
        *code = command_usage_error(argv[0], "expected one file, found %d", argc - optind);
        return false;
    }
    out->file = argv[optind];
    return true;
}

FILE *cmd_trace_output(const cmd_trace_options *o, hr_error *error)
{
    if (!o->output || strcmp(o->output, "-") == 0)
        return stdout;
    FILE *f = fopen(o->output, "we");
    if (!f)
        error_set(error, HR_ERR_IO, "%s: expected a file that can be written: %s", o->output,
                  strerror(errno));
    return f;
}
