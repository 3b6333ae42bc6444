/* `haptic make-model`: writes one of the program's own mechanisms as URDF and STL. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/model_make.h"
#include "geometry/urdf_write.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic make-model wooden-man|pendulum -o DIR [options]\n"
    "\n"
    "Writes DIR/NAME.urdf and the meshes of its links in DIR/meshes.\n"
    "wooden-man: 29 links, 16008 triangles. pendulum: 30 balls, 16000 triangles.\n"
    "\n"
    "  -o DIR             where to write; made where it is missing\n"
    "  --floating         wooden-man: the pelvis hangs free instead of on its pin\n"
    "  --balls N          pendulum: so many balls (default 30)\n"
    "  --joints KIND      pendulum: plane (default), alternating or spherical\n"
    "  --damping D        of every joint, N m s/rad (default 0)\n"
    "  --help             this text\n";

enum { BALLS_MAX = 20000 };

typedef struct options {
    const char *folder;
    wooden_man_options man;
    pendulum_options pendulum;
    bool wants_help;
} options;

static const struct option names[] = {
    {"output", required_argument, NULL, 'o'},
    {"floating", no_argument, NULL, 'f'},
    {"balls", required_argument, NULL, 'b'},
    {"joints", required_argument, NULL, 'j'},
    {"damping", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int read_joints(options *o)
{
    static const char *const kinds[] = {"plane", "alternating", "spherical"};
    for (int i = 0; i < HR_COUNT(kinds); i++)
        if (strcmp(optarg, kinds[i]) == 0) {
            o->pendulum.joints = (pendulum_joints)i;
            return COMMAND_OK;
        }
    return command_usage_error(
        "make-model", "--joints: expected plane, alternating or spherical, found \"%s\"", optarg);
}

static int read_option(int letter, options *o)
{
    char *end = NULL;
    switch (letter) {
    case 'o':
        o->folder = optarg;
        return COMMAND_OK;
    case 'f':
        o->man.is_floating = true;
        return COMMAND_OK;
    case 'b': {
        long balls = strtol(optarg, &end, 10);
        if (*end || balls < 1 || balls > BALLS_MAX)
            return command_usage_error("make-model", "--balls: expected 1 to %d, found \"%s\"",
                                       BALLS_MAX, optarg);
        o->pendulum.balls = (int)balls;
        return COMMAND_OK;
    }
    case 'j':
        return read_joints(o);
    case 'd':
        o->man.damping = o->pendulum.damping = strtod(optarg, &end);
        if (end == optarg || *end || !isfinite(o->man.damping) || o->man.damping < 0)
            return command_usage_error(
                "make-model", "--damping: expected a number of at least 0, found \"%s\"", optarg);
        return COMMAND_OK;
    case 'h':
        o->wants_help = true;
        return COMMAND_OK;
    default:
        return command_usage_error("make-model", "unknown or incomplete option");
    }
}

static int make(const char *name, const options *o)
{
    model m = {0};
    hr_status status;
    if (strcmp(name, "wooden-man") == 0)
        status = model_make_wooden_man(o->man, &m);
    else if (strcmp(name, "pendulum") == 0)
        status = model_make_pendulum(o->pendulum, &m);
    else
        return command_usage_error("make-model", "expected wooden-man or pendulum, found \"%s\"",
                                   name);
    hr_error error = {""};
    if (status == HR_OK)
        status = urdf_save(&m, o->folder, name, &error);
    else
        (void)error_set(&error, status, "haptic make-model: %s", status_text(status));
    model_free(&m);
    if (status == HR_OK)
        return COMMAND_OK;
    fprintf(stderr, "%s\n", error.text);
    return COMMAND_FAILED;
}

int cmd_make_model(int argc, char **argv)
{
    options o = {0};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        int code = read_option(letter, &o);
        if (code != COMMAND_OK)
            return code;
    }
    if (o.wants_help) {
        fputs(usage, stdout);
        return COMMAND_OK;
    }
    if (argc - optind != 1)
        return command_usage_error("make-model", "expected wooden-man or pendulum");
    if (!o.folder)
        return command_usage_error("make-model", "expected -o DIR");
    return make(argv[optind], &o);
}
