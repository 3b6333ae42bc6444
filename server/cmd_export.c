/* `haptic export`: a recording for other programs. */
#include <stdio.h>
#include <string.h>

#include "server/cmd_trace.h"
#include "server/trace_export.h"

static const char usage[] =
    "usage: haptic export TRACE --to csv|hdf5|bids [-o FILE]\n"
    "\n"
    "  --to csv    one line per servo cycle, all fields; to standard output without -o\n"
    "  --to hdf5   ticks, frames, bodies, commands, events, metadata; default TRACE.h5\n"
    "  --to bids   Motion-BIDS: FILE_motion.tsv, FILE_channels.tsv, FILE_motion.json\n"
    "  -o FILE     where to\n"
    "  --help      this text\n";

/* TRACE without its ending, and another one. */
static void default_name(const char *trace_path, const char *ending, char *out, size_t size)
{
    const char *slash = strrchr(trace_path, '/');
    const char *dot = strrchr(trace_path, '.');
    int length =
        dot && (!slash || dot > slash + 1) ? (int)(dot - trace_path) : (int)strlen(trace_path);
    snprintf(out, size, "%.*s%s", length, trace_path, ending);
}

static hr_status export_csv(trace_reader *r, const cmd_trace_options *o, hr_error *error)
{
    FILE *out = cmd_trace_output(o, error);
    if (!out)
        return HR_ERR_IO;
    hr_status status = trace_export_csv(r, out, error);
    if (out != stdout && fclose(out) != 0 && status == HR_OK)
        status = error_set(error, HR_ERR_IO, "%s: could not be written", o->output);
    return status;
}

static hr_status export_as(trace_reader *r, const cmd_trace_options *o, hr_error *error)
{
    char name[1024];
    if (strcmp(o->format, "csv") == 0)
        return export_csv(r, o, error);
    bool is_hdf5 = strcmp(o->format, "hdf5") == 0;
    default_name(o->file, is_hdf5 ? ".h5" : "", name, sizeof name);
    const char *output = o->output ? o->output : name;
    return is_hdf5 ? trace_export_hdf5(r, output, error) : trace_export_bids(r, output, error);
}

int cmd_export(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "to output", &o, &code))
        return code;
    if (!o.format || (strcmp(o.format, "csv") != 0 && strcmp(o.format, "hdf5") != 0 &&
                      strcmp(o.format, "bids") != 0))
        return command_usage_error("export", "expected --to csv, --to hdf5 or --to bids");
    trace_reader *r;
    hr_error error;
    if (trace_reader_open(o.file, &r, &error) != HR_OK)
        return command_input_error(&error);
    hr_status status = HR_OK;
    if (!trace_is_ours(r))
        status = error_set(&error, HR_ERR_FORMAT,
                           "%s: expected a recording of hapticd, found another MCAP file", o.file);
    else
        status = export_as(r, &o, &error);
    uint64_t problems = 0;
    int kept;
    trace_problems(r, &kept, &problems);
    if (status == HR_OK && problems > 0)
        fprintf(stderr, "%s: not complete; what is whole was exported\n", o.file);
    trace_reader_close(r);
    return status == HR_OK ? COMMAND_OK : command_input_error(&error);
}
