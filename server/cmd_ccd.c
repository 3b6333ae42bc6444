/* `haptic ccd`: continuous collision detection on files. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cmd_ccd.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic ccd --kind vf|ee [--tolerance M] [--json] FILE.csv\n"
    "       haptic ccd --model A.urdf [--base X,Y,Z[,RX,RY,RZ]] [--model B.urdf ...]\n"
    "                  --from STATE --to STATE [--separation M] [--tolerance M] [--json]\n"
    "\n"
    "First time of contact. With --kind, of moving features: each query of FILE.csv is\n"
    "eight rows of x, y, z as numerator,denominator pairs: a vertex and three face corners\n"
    "(vf) or two edges (ee) at t = 0, then at t = 1. Prints hit,toc per query.\n"
    "With --model, of whole articulated bodies that move from one state to the other.\n"
    "Prints status,toc, then link,link,x,y,z,distance per contact.\n"
    "\n"
    "  --kind vf|ee       vertex and face, or edge and edge\n"
    "  --model FILE       an articulated body; up to eight, links within a body count too\n"
    "  --base X,Y,Z,...   where the base of the last --model stands (m, rotation vector in rad)\n"
    "  --from, --to       coordinates of all movable joints in file order, model after model:\n"
    "                     a file, or the numbers with commas between\n"
    "  --separation M     closer than this is contact, m (default 0)\n"
    "  --tolerance M      distance at which contact may be reported, m (default 1e-6)\n"
    "  --json             print only a summary (--kind), or everything as JSON (--model)\n"
    "  --help             this text\n";

typedef struct options {
    int kind; /* -1 until given */
    ccd_models_job job;
    bool wants_help;
} options;

static const struct option names[] = {
    {"kind", required_argument, NULL, 'k'},
    {"model", required_argument, NULL, 'm'},
    {"base", required_argument, NULL, 'b'},
    {"from", required_argument, NULL, 'f'},
    {"to", required_argument, NULL, 'o'},
    {"separation", required_argument, NULL, 's'},
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

static int read_kind(options *o)
{
    o->kind = strcmp(optarg, "vf") == 0   ? FEATURE_VERTEX_FACE
              : strcmp(optarg, "ee") == 0 ? FEATURE_EDGE_EDGE
                                          : -1;
    return o->kind >= 0
               ? COMMAND_OK
               : command_usage_error("ccd", "--kind: expected vf or ee, found \"%s\"", optarg);
}

static int read_model(options *o)
{
    if (o->job.model_count == CCD_MODELS_MAX)
        return command_usage_error("ccd", "--model: expected at most %d", CCD_MODELS_MAX);
    o->job.bases[o->job.model_count] = pose_identity();
    o->job.models[o->job.model_count++] = optarg;
    return COMMAND_OK;
}

static int read_base(options *o)
{
    double v[6] = {0};
    char *p = optarg;
    int count = 0;
    for (; count < 6 && *p; count++) {
        v[count] = strtod(p, &p);
        if (*p == ',')
            p++;
    }
    bool is_good = !*p && (count == 3 || count == 6) && o->job.model_count > 0;
    for (int i = 0; i < 6; i++)
        is_good = is_good && isfinite(v[i]);
    if (!is_good)
        return command_usage_error(
            "ccd", "--base: expected X,Y,Z or X,Y,Z,RX,RY,RZ after a --model, found \"%s\"",
            optarg);
    o->job.bases[o->job.model_count - 1] =
        (pose){quat_from_rotation_vector((vec3){v[3], v[4], v[5]}), {v[0], v[1], v[2]}};
    return COMMAND_OK;
}

static int read_length(const char *option, bool may_be_zero, double *out)
{
    *out = positive(optarg);
    if (*out == 0 && !(may_be_zero && strcmp(optarg, "0") == 0))
        return command_usage_error(
            "ccd", "--%s: expected a positive number of metres, found \"%s\"", option, optarg);
    return COMMAND_OK;
}

static int read_option(int letter, options *o)
{
    switch (letter) {
    case 'k':
        return read_kind(o);
    case 'm':
        return read_model(o);
    case 'b':
        return read_base(o);
    case 'f':
        o->job.from = optarg;
        return COMMAND_OK;
    case 'o':
        o->job.to = optarg;
        return COMMAND_OK;
    case 's':
        return read_length("separation", true, &o->job.separation);
    case 't':
        return read_length("tolerance", false, &o->job.tolerance);
    case 'j':
        o->job.wants_json = true;
        return COMMAND_OK;
    case 'h':
        o->wants_help = true;
        return COMMAND_OK;
    default:
        return command_usage_error("ccd", "unknown or incomplete option");
    }
}

static int run(const options *o, int file_count, char **files)
{
    if (o->kind >= 0 && o->job.model_count > 0)
        return command_usage_error("ccd", "expected --kind or --model, found both");
    if (o->job.model_count > 0) {
        if (file_count > 0 || !o->job.from || !o->job.to)
            return command_usage_error("ccd", "expected --from STATE and --to STATE");
        return cmd_ccd_models(&o->job);
    }
    if (o->kind < 0)
        return command_usage_error("ccd", "expected --kind vf, --kind ee or --model FILE");
    if (file_count != 1)
        return command_usage_error("ccd", "expected one query file, found %d", file_count);
    return cmd_ccd_features(files[0], (feature_kind)o->kind, o->job.tolerance, o->job.wants_json);
}

int cmd_ccd(int argc, char **argv)
{
    options o = {.kind = -1, .job = {.tolerance = 1e-6}};
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
    return run(&o, argc - optind, argv + optind);
}
