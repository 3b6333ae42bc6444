/* `haptic plot`: look at a recording. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/command.h"
#include "server/trace_plot.h"
#include "server/trace_scene.h"

static const char usage[] =
    "usage: haptic plot TRACE -o FILE.svg [--from S] [--until S]\n"
    "       haptic plot TRACE --scene -o FILE.svg [--at T1,T2,...] [--view VIEW] [--from S] "
    "[--until S]\n"
    "\n"
    "Draws where the handle went, the force that was wanted and applied with the reasons for the\n"
    "difference, the gap to the nearest body and how late the ticks were. With --scene: the "
    "bodies\n"
    "of the scene at chosen times, the ways of tool and proxy, contact normals and forces.\n"
    "\n"
    "  -o, --output FILE.svg   the picture\n"
    "  --from S                begin S seconds after the first tick\n"
    "  --until S               end there\n"
    "  --scene                 draw the bodies in space\n"
    "  --at T1,T2,...          at these seconds after the first tick; else at the strongest "
    "moments\n"
    "                          of the beginning, the middle and the end\n"
    "  --view VIEW             front, side, top, iso or AZIMUTH,ELEVATION in degrees (0,0 is from\n"
    "                          the operator, 90,0 from the right); else one that shows the "
    "contacts\n"
    "  --help                  this text\n";

typedef struct plot_options {
    const char *file, *output, *from, *until, *at, *view;
    bool wants_scene;
} plot_options;

static const struct option names[] = {
    {"output", required_argument, NULL, 'o'}, {"from", required_argument, NULL, 'f'},
    {"until", required_argument, NULL, 'u'},  {"scene", no_argument, NULL, 's'},
    {"at", required_argument, NULL, 'a'},     {"view", required_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

static bool keep(int letter, plot_options *o)
{
    switch (letter) {
    case 'o':
        o->output = optarg;
        return true;
    case 'f':
        o->from = optarg;
        return true;
    case 'u':
        o->until = optarg;
        return true;
    case 's':
        o->wants_scene = true;
        return true;
    case 'a':
        o->at = optarg;
        return true;
    case 'v':
        o->view = optarg;
        return true;
    default:
        return false;
    }
}

static bool read_options(int argc, char **argv, plot_options *o, int *code)
{
    int letter;
    opterr = 0;
    *o = (plot_options){0};
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            *code = COMMAND_OK;
            return false;
        }
        if (!keep(letter, o)) {
            *code = command_usage_error("plot", "unknown or incomplete option \"%s\"",
                                        argv[optind - 1]);
            return false;
        }
    }
    if (argc - optind != 1)
        *code = command_usage_error("plot", "expected one file, found %d", argc - optind);
    else if (!o->output)
        *code = command_usage_error("plot", "expected -o FILE.svg");
    else if (!o->wants_scene && (o->at || o->view))
        *code = command_usage_error("plot", "expected --at and --view together with --scene");
    else
        o->file = argv[optind];
    return o->file != NULL;
}

static bool read_seconds(const char *text, double *out)
{
    char *end = NULL;
    if (!text)
        return true;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= 0;
}

/* "1,2.5,4": rising, at most TRACE_SCENE_TIMES_MAX. */
static bool read_times(const char *text, trace_scene_options *out)
{
    for (const char *at = text; at; at = *at == ',' ? at + 1 : NULL) {
        char *end = NULL;
        double time = strtod(at, &end);
        bool is_good = end != at && (!*end || *end == ',') && isfinite(time) && time >= 0;
        int n = out->time_count;
        if (!is_good || n == TRACE_SCENE_TIMES_MAX || (n > 0 && time <= out->times[n - 1]))
            return false;
        out->times[out->time_count++] = time;
        at = end;
    }
    return true;
}

static int plot_scene(const plot_options *o, double from, double until)
{
    trace_scene_options s = {.from = from, .until = until};
    hr_error error;
    double off = 0;
    if (o->at && !read_times(o->at, &s))
        return command_usage_error("plot", "expected --at with 1 to %d rising times in seconds",
                                   TRACE_SCENE_TIMES_MAX);
    s.has_view = o->view != NULL;
    if (o->view && !trace_scene_view(o->view, &s))
        return command_usage_error(
            "plot", "expected --view front, side, top, iso or AZIMUTH,ELEVATION, found \"%s\"",
            o->view);
    hr_status status = trace_scene_plot(o->file, &s, o->output, &off, &error);
    if (status == HR_ERR_IO) {
        fprintf(stderr, "%s\n", error.text);
        return COMMAND_FAILED;
    }
    if (status != HR_OK)
        return command_input_error(&error);
    if (off > 1e-5)
        fprintf(stderr,
                "haptic plot: bodies far from the hand are drawn where a new run of the world has "
                "them, up to %.2f mm from the recorded one\n",
                1e3 * off);
    return COMMAND_OK;
}

int cmd_plot(int argc, char **argv)
{
    plot_options o;
    int code = COMMAND_OK;
    if (!read_options(argc, argv, &o, &code))
        return code;
    double from = 0, until = 0;
    if (!read_seconds(o.from, &from) || !read_seconds(o.until, &until) ||
        (o.until && until <= from))
        return command_usage_error("plot", "expected --from and --until as rising seconds");
    if (o.wants_scene)
        return plot_scene(&o, from, until);
    hr_error error;
    if (trace_plot(o.file, from, until, o.output, &error) != HR_OK)
        return command_input_error(&error);
    return COMMAND_OK;
}
