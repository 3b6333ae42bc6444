/* What a recording contains. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/command.h"
#include "server/info.h"
#include "server/trace_summary.h"

bool info_trace_accepts(const char *path, const char *head, size_t size)
{
    return (size >= 5 && memcmp(head, mcap_magic, 5) == 0) || info_has_ending(path, ".mcap");
}

static const char *said(const trace_reader *r, const char *key)
{
    const char *value = trace_value(r, TRACE_RUN, key);
    return value ? value : "";
}

/* --- for programs ------------------------------------------------------------------------------
 */

static json_t *timing_object(const histogram *h)
{
    return json_pack("{s:f, s:I, s:I, s:I, s:I}", "mean_ns", histogram_mean(h), "p50_ns",
                     (json_int_t)histogram_quantile(h, 0.5), "p99_ns",
                     (json_int_t)histogram_quantile(h, 0.99), "p999_ns",
                     (json_int_t)histogram_quantile(h, 0.999), "max_ns",
                     (json_int_t)histogram_max(h));
}

static json_t *point(vec3 v)
{
    return json_pack("[f, f, f]", v.x, v.y, v.z);
}

static json_t *hand_object(const trace_reader *r, const trace_summary *s, int hand)
{
    const trace_hand_summary *h = &s->hands[hand];
    char name[24];
    snprintf(name, sizeof name, "%s%d", TRACE_HAND, hand);
    const char *driver = trace_value(r, name, "driver");
    device_description d = {.model = "unknown"};
    if (trace_device(r, hand, &d) != HR_OK)
        d = (device_description){.model = "unknown"};
    json_t *reasons = json_object();
    for (int bit = 0; trace_reason_name(bit); bit++)
        if (h->reason_ticks[bit] > 0)
            json_object_set_new(reasons, trace_reason_name(bit),
                                json_integer((json_int_t)h->reason_ticks[bit]));
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "name", trace_hand_name(r, hand),
                  "driver", driver ? driver : "", "manufacturer", d.manufacturer, "model", d.model,
                  "serial", d.serial, "ticks", (json_int_t)h->ticks, "frames",
                  (json_int_t)h->frames, "lost_ticks", (json_int_t)h->lost);
    json_t *more =
        json_pack("{s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "contact_ticks",
                  (json_int_t)h->contact_ticks, "max_force_n", h->force_max, "max_wanted_force_n",
                  h->wanted_max, "max_depth_m", h->depth_max, "max_speed_m_per_s", h->speed_max,
                  "low_m", point(h->low), "high_m", point(h->high), "reasons", reasons);
    json_object_update_missing_new(o, more);
    return o;
}

static json_t *attachment_list(const trace_reader *r)
{
    json_t *list = json_array();
    int count;
    const trace_blob *blobs = trace_blobs(r, &count);
    for (int i = 0; i < count; i++) {
        const char *hash = blobs[i].name ? trace_value(r, TRACE_HASHES, blobs[i].name) : NULL;
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:s}", "name", blobs[i].name ? blobs[i].name : "", "bytes",
                            (json_int_t)blobs[i].size, "sha256", hash ? hash : ""));
    }
    return list;
}

static json_t *mark_list(const trace_summary *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->mark_count; i++)
        json_array_append_new(list, json_pack("{s:f, s:s}", "time_s",
                                              1e-9 * (double)(s->marks[i].time_ns - s->first_ns),
                                              "text", s->marks[i].text));
    return list;
}

static json_t *problem_list(const trace_reader *r)
{
    json_t *list = json_array();
    int count;
    const trace_problem *problems = trace_problems(r, &count, NULL);
    for (int i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:I, s:s}", "offset", (json_int_t)problems[i].offset,
                                        "found", problems[i].text));
    return list;
}

static void print_json(const trace_reader *r, const trace_summary *s)
{
    char devices[256];
    trace_device_names(r, s->hand_count, devices, sizeof devices);
    json_t *hands = json_array();
    for (int i = 0; i < s->hand_count; i++)
        json_array_append_new(hands, hand_object(r, s, i));
    json_t *o = json_pack("{s:s, s:I, s:f, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "kind",
                          trace_is_ours(r) ? "recording" : "mcap", "ticks", (json_int_t)s->ticks,
                          "duration_s", s->duration_s, "device", devices, "complete",
                          s->is_complete, "bytes", (json_int_t)trace_file_size(r), "tick_records",
                          (json_int_t)s->tick_records, "commands", (json_int_t)s->commands,
                          "events", (json_int_t)s->events, "dropped", (json_int_t)s->dropped,
                          "missed_periods", (json_int_t)s->missed_periods);
    json_t *run = json_object();
    int count;
    const trace_note *notes = trace_notes(r, &count);
    for (int i = 0; i < count; i++)
        for (size_t k = 0;
             notes[i].name && strcmp(notes[i].name, TRACE_RUN) == 0 && k < notes[i].count; k++)
            json_object_set_new(run, notes[i].pairs[2 * k], json_string(notes[i].pairs[2 * k + 1]));
    json_t *timing =
        json_pack("{s:o, s:o, s:o}", "lateness", timing_object(&s->lateness), "compute",
                  timing_object(&s->compute), "device", timing_object(&s->device_time));
    json_object_update_missing_new(o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "hands", hands,
                                                "timing", timing, "run", run, "attachments",
                                                attachment_list(r), "marks", mark_list(s),
                                                "problems", problem_list(r)));
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(o);
}

/* --- for people --------------------------------------------------------------------------------
 */

static void print_reasons(const trace_hand_summary *h)
{
    const char *before = "  less force because of ";
    for (int bit = 0; trace_reason_name(bit); bit++) {
        if (h->reason_ticks[bit] == 0)
            continue;
        printf("%s%s (%" PRIu64 ")", before, trace_reason_name(bit), h->reason_ticks[bit]);
        before = ", ";
    }
    if (*before == ',')
        putchar('\n');
}

static void print_hand(const trace_reader *r, const trace_summary *s, int hand)
{
    const trace_hand_summary *h = &s->hands[hand];
    device_description d;
    bool is_known = trace_device(r, hand, &d) == HR_OK;
    double share = h->ticks ? 100.0 * (double)h->contact_ticks / (double)h->ticks : 0;
    printf("\nhand %d \"%s\": %s\n", hand, trace_hand_name(r, hand),
           is_known ? d.model : "unknown");
    printf("  %" PRIu64 " ticks, %" PRIu64 " contact frames", h->ticks, h->frames);
    if (h->lost > 0)
        printf(", %" PRIu64 " ticks LOST", h->lost);
    printf("\n  in contact %.1f %% of the time, deepest %.3f mm, fastest %.3f m/s\n", share,
           1e3 * h->depth_max, h->speed_max);
    printf("  longest force %.3f N (wanted %.3f N)\n", h->force_max, h->wanted_max);
    printf("  handle within x %.1f..%.1f, y %.1f..%.1f, z %.1f..%.1f mm\n", 1e3 * h->low.x,
           1e3 * h->high.x, 1e3 * h->low.y, 1e3 * h->high.y, 1e3 * h->low.z, 1e3 * h->high.z);
    print_reasons(h);
}

static void print_timing(const char *name, const histogram *h)
{
    printf("  %-14s %9.1f %9.1f %9.1f %9.1f\n", name, 1e-3 * (double)histogram_quantile(h, 0.5),
           1e-3 * (double)histogram_quantile(h, 0.99), 1e-3 * (double)histogram_quantile(h, 0.999),
           1e-3 * (double)histogram_max(h));
}

static void print_text(const char *path, const trace_reader *r, const trace_summary *s)
{
    printf("%s: %s, %.1f MB, %s\n", path,
           trace_is_ours(r) ? "recording" : "MCAP file of another kind",
           1e-6 * (double)trace_file_size(r), s->is_complete ? "complete" : "NOT COMPLETE");
    if (!trace_is_ours(r))
        return;
    const char *mode = said(r, "mode"), *scheduling = said(r, "scheduling");
    bool says_it = strncmp(scheduling, mode, strlen(mode)) == 0; /* "lockstep, virtual time" */
    printf("%" PRIu64 " ticks, %.3f s, %s%s%s%s\n", s->ticks, s->duration_s, says_it ? "" : mode,
           says_it ? "" : ", ", scheduling,
           strcmp(said(r, "degraded"), "true") == 0 ? ", degraded" : "");
    printf("hapticd %s, scene %s\n", said(r, "version"), said(r, "scene_path"));
    printf("%" PRIu64 " commands, %" PRIu64 " events, %" PRIu64 " missed periods, %" PRIu64
           " records dropped\n",
           s->commands, s->events, s->missed_periods, s->dropped);
    for (int i = 0; i < s->hand_count; i++)
        print_hand(r, s, i);
    if (s->tick_records > 0) {
        printf("\n  us                   p50       p99     p99.9       max\n");
        print_timing("lateness", &s->lateness);
        print_timing("compute", &s->compute);
        print_timing("device", &s->device_time);
    }
    int count;
    const trace_blob *blobs = trace_blobs(r, &count);
    printf("\nattached:");
    for (int i = 0; i < count; i++)
        printf(" %s (%zu bytes)", blobs[i].name ? blobs[i].name : "", blobs[i].size);
    printf("\n");
    for (int i = 0; i < s->mark_count; i++)
        printf("mark at %.3f s: %s\n", 1e-9 * (double)(s->marks[i].time_ns - s->first_ns),
               s->marks[i].text);
    const trace_problem *problems = trace_problems(r, &count, NULL);
    for (int i = 0; i < count; i++)
        printf("at byte %" PRIu64 ": %s\n", problems[i].offset, problems[i].text);
}

int info_trace_print(const char *path, bool wants_json)
{
    trace_reader *r;
    hr_error error;
    if (trace_reader_open(path, &r, &error) != HR_OK)
        return command_input_error(&error);
    trace_summary *s = trace_summarize(r);
    if (s && wants_json)
        print_json(r, s);
    else if (s)
        print_text(path, r, s);
    free(s);
    trace_reader_close(r);
    return s ? COMMAND_OK : COMMAND_FAILED;
}
