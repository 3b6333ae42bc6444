/* `haptic ccd`: continuous collision detection on files. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cmd_ccd.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic ccd --kind vf|ee [--tolerance M] [--json] FILE.csv\n"
    "\n"
    "First time of contact of moving features. Each query of FILE.csv is eight rows\n"
    "of x, y, z as numerator,denominator pairs: a vertex and three face corners (vf) or\n"
    "two edges (ee) at t = 0, then at t = 1. Prints hit,toc per query.\n"
    "\n"
    "  --kind vf|ee       vertex and face, or edge and edge\n"
    "  --tolerance M      distance at which contact is reported, m (default 1e-6)\n"
    "  --json             print only a summary\n"
    "  --help             this text\n";

typedef struct options {
    int kind; /* -1 until given */
    double tolerance;
    bool wants_json, wants_help;
} options;

static const struct option names[] = {
    {"kind", required_argument, NULL, 'k'},
    {"tolerance", required_argument, NULL, 't'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A positive finite number, all of the text; 0 otherwise. */
static double positive(const char *text)
{
    char *end = NULL;
    double value = strtod(text, &end);
    return *text && !*end && isfinite(value) && value > 0 ? value : 0;
}

static int read_option(int letter, options *o)
{
    switch (letter) {
    case 'k':
        o->kind = strcmp(optarg, "vf") == 0   ? FEATURE_VERTEX_FACE
                  : strcmp(optarg, "ee") == 0 ? FEATURE_EDGE_EDGE
                                              : -1;
        if (o->kind < 0)
            return command_usage_error("ccd", "--kind: expected vf or ee, found \"%s\"", optarg);
        return COMMAND_OK;
    case 't':
        o->tolerance = positive(optarg);
        if (o->tolerance == 0)
            return command_usage_error(
                "ccd", "--tolerance: expected a positive number of metres, found \"%s\"", optarg);
        return COMMAND_OK;
    case 'j':
        o->wants_json = true;
        return COMMAND_OK;
    case 'h':
        o->wants_help = true;
        return COMMAND_OK;
    default:
        return command_usage_error("ccd", "unknown or incomplete option");
    }
}

int cmd_ccd(int argc, char **argv)
{
    options o = {.kind = -1, .tolerance = 1e-6};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        int code = read_option(letter, &o);
        if (code != COMMAND_OK)
            return code;
    }
    if (o.wants_help) {
        fputs(usage, stdout);
        return COMMAND_OK;
    }
    if (o.kind < 0)
        return command_usage_error("ccd", "expected --kind vf or --kind ee");
    if (argc - optind != 1)
        return command_usage_error("ccd", "expected one query file, found %d", argc - optind);
    return cmd_ccd_features(argv[optind], (feature_kind)o.kind, o.tolerance, o.wants_json);
}
