/* Motion-BIDS: a table of numbers without a header, a table that names its columns, and a JSON file
 * about both. The standard has no type for forces: they are MISC, in N. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace_export.h"
#include "server/version.h"

typedef struct bids_column {
    const char *name, *component, *type, *unit;
    size_t offset; /* in tick_record, a double */
} bids_column;

static const bids_column columns[] = {
    {"position_x", "x", "POS", "m", offsetof(tick_record, sample.position.x)},
    {"position_y", "y", "POS", "m", offsetof(tick_record, sample.position.y)},
    {"position_z", "z", "POS", "m", offsetof(tick_record, sample.position.z)},
    {"velocity_x", "x", "VEL", "m/s", offsetof(tick_record, sample.velocity.x)},
    {"velocity_y", "y", "VEL", "m/s", offsetof(tick_record, sample.velocity.y)},
    {"velocity_z", "z", "VEL", "m/s", offsetof(tick_record, sample.velocity.z)},
    {"force_x", "x", "MISC", "N", offsetof(tick_record, force.x)},
    {"force_y", "y", "MISC", "N", offsetof(tick_record, force.y)},
    {"force_z", "z", "MISC", "N", offsetof(tick_record, force.z)},
    {"wanted_force_x", "x", "MISC", "N", offsetof(tick_record, wanted_force.x)},
    {"wanted_force_y", "y", "MISC", "N", offsetof(tick_record, wanted_force.y)},
    {"wanted_force_z", "z", "MISC", "N", offsetof(tick_record, wanted_force.z)},
    {"gap", "n/a", "MISC", "m", offsetof(tick_record, gap)},
};

static FILE *open_part(const char *base, const char *ending, hr_error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s", base, ending);
    FILE *f = fopen(path, "we");
    if (!f)
        error_set(error, HR_ERR_IO, "%s: expected a file that can be written: %s", path,
                  strerror(errno));
    return f;
}

static bool close_part(FILE *f)
{
    bool is_good = f && !ferror(f);
    return (f ? fclose(f) == 0 : false) && is_good;
}

static void print_channels(const trace_reader *r, int hand_count, FILE *out)
{
    double rate = trace_number(r, TRACE_RUN, "rate_hz", 0);
    fputs("name\tcomponent\ttype\ttracked_point\tunits\tsampling_frequency\n", out);
    fprintf(out, "time\tn/a\tLATENCY\tn/a\ts\t%.17g\n", rate);
    for (int hand = 0; hand < hand_count; hand++)
        for (int i = 0; i < HR_COUNT(columns); i++)
            fprintf(out, "%s_%s\t%s\t%s\t%s\t%s\t%.17g\n", trace_hand_name(r, hand),
                    columns[i].name, columns[i].component, columns[i].type,
                    trace_hand_name(r, hand), columns[i].unit, rate);
}

static void print_row(const tick_record *records, const bool *has, int hand_count, int64_t first_ns,
                      FILE *out)
{
    int64_t time_ns = 0;
    for (int hand = 0; hand < hand_count; hand++)
        if (has[hand])
            time_ns = records[hand].time_ns;
    fprintf(out, "%.9f", 1e-9 * (double)(time_ns - first_ns));
    for (int hand = 0; hand < hand_count; hand++)
        for (int i = 0; i < HR_COUNT(columns); i++) {
            double value;
            memcpy(&value, (const char *)&records[hand] + columns[i].offset, sizeof value);
            if (has[hand])
                fprintf(out, "\t%.17g", value);
            else
                fputs("\tn/a", out);
        }
    fputc('\n', out);
}

static void print_samples(trace_reader *r, int hand_count, FILE *out)
{
    tick_record records[HANDS_MAX] = {0};
    bool has[HANDS_MAX] = {false};
    bool is_open = false, has_first = false;
    uint64_t tick = 0;
    int64_t first_ns = 0;
    const trace_message *m;
    while ((m = trace_next_message(r))) {
        if (m->kind != TRACE_TICK || m->hand >= hand_count)
            continue;
        if (is_open && (tick != m->tick.tick || has[m->hand])) {
            print_row(records, has, hand_count, first_ns, out);
            memset(has, 0, sizeof has);
        }
        first_ns = has_first ? first_ns : m->tick.time_ns;
        has_first = is_open = true;
        tick = m->tick.tick;
        has[m->hand] = true;
        records[m->hand] = m->tick;
    }
    if (is_open)
        print_row(records, has, hand_count, first_ns, out);
}

static void print_sidecar(const trace_reader *r, int hand_count, FILE *out)
{
    device_description d = {.model = "unknown"};
    if (trace_device(r, 0, &d) != HR_OK)
        d = (device_description){.model = "unknown"};
    int per_hand = HR_COUNT(columns);
    json_t *o =
        json_pack("{s:s, s:f, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "TaskName", "touch",
                  "SamplingFrequency", trace_number(r, TRACE_RUN, "rate_hz", 0), "Manufacturer",
                  d.manufacturer, "ManufacturersModelName", d.model, "DeviceSerialNumber", d.serial,
                  "SoftwareVersions", "hapticd " HR_VERSION, "MotionChannelCount",
                  1 + hand_count * per_hand, "POSChannelCount", 3 * hand_count, "VELChannelCount",
                  3 * hand_count, "MISCChannelCount", 7 * hand_count, "LATENCYChannelCount", 1);
    json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(o);
}

hr_status trace_export_bids(trace_reader *r, const char *base, hr_error *error)
{
    int hand_count = trace_hand_count(r);
    FILE *samples = open_part(base, "_motion.tsv", error);
    FILE *channels = samples ? open_part(base, "_channels.tsv", error) : NULL;
    FILE *sidecar = channels ? open_part(base, "_motion.json", error) : NULL;
    bool is_open = sidecar != NULL;
    if (is_open) {
        print_channels(r, hand_count, channels);
        print_samples(r, hand_count, samples);
        print_sidecar(r, hand_count, sidecar);
    }
    bool is_good = close_part(samples);
    is_good &= close_part(channels);
    is_good &= close_part(sidecar);
    if (is_open && !is_good)
        error_set(error, HR_ERR_IO, "%s: could not be written", base);
    return is_good ? HR_OK : HR_ERR_IO;
}
