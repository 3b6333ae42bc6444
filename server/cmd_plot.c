/* `haptic plot`: look at a recording. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/cmd_trace.h"
#include "server/trace_plot.h"

static const char usage[] =
    "usage: haptic plot TRACE -o FILE.svg [--from S] [--until S]\n"
    "\n"
    "Draws where the handle went, the force that was wanted and applied with the reasons for the\n"
    "difference, the gap to the nearest body and how late the ticks were.\n"
    "\n"
    "  -o FILE.svg   the picture\n"
    "  --from S      begin S seconds after the first tick\n"
    "  --until S     end there\n"
    "  --help        this text\n";

static bool read_seconds(const char *text, double *out)
{
    char *end = NULL;
    if (!text)
        return true;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= 0;
}

int cmd_plot(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "output from until", &o, &code))
        return code;
    double from = 0, until = 0;
    if (!o.output)
        return command_usage_error("plot", "expected -o FILE.svg");
    if (!read_seconds(o.from, &from) || !read_seconds(o.until, &until) ||
        (o.until && until <= from))
        return command_usage_error("plot", "expected --from and --until as rising seconds");
    hr_error error;
    if (trace_plot(o.file, from, until, o.output, &error) != HR_OK)
        return command_input_error(&error);
    return COMMAND_OK;
}
