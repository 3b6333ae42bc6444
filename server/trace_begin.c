#include "server/trace_begin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "config/config.h"
#include "server/trace_hash.h"
#include "server/trace_schema.h"
#include "server/version.h"

/* Key and value texts, gathered one by one. */
enum { PAIRS_MAX = 64 };

typedef struct pair_list {
    const char *items[2 * PAIRS_MAX];
    char values[PAIRS_MAX][CONFIG_PATH_MAX + 64];
    size_t count;
} pair_list;

static void add(pair_list *p, const char *key, const char *format, ...) HR_PRINTF(3, 4);

static void add(pair_list *p, const char *key, const char *format, ...)
{
    if (p->count == PAIRS_MAX)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(p->values[p->count], sizeof p->values[0], format, values);
    va_end(values);
    p->items[2 * p->count] = key;
    p->items[2 * p->count + 1] = p->values[p->count];
    p->count++;
}

static void write_run(mcap_writer *w, const trace_meta *meta)
{
    struct utsname machine = {0};
    uname(&machine);
    pair_list p = {.count = 0};
    add(&p, "version", "%s", HR_VERSION);
    add(&p, "compiler", "%s", __VERSION__);
    add(&p, "program_sha256", "%s", trace_hash_file("/proc/self/exe").text);
    add(&p, "machine", "%s %s %s", machine.sysname, machine.release, machine.machine);
    add(&p, "mode", "%s", meta->is_lockstep ? "lockstep" : "live");
    add(&p, "degraded", "%s", meta->is_degraded ? "true" : "false");
    add(&p, "scheduling", "%s", meta->scheduling ? meta->scheduling : "");
    add(&p, "rate_hz", "%.17g", meta->rate_hz);
    add(&p, "world_rate_hz", "%.17g", meta->world_rate_hz);
    add(&p, "hands", "%d", meta->hand_count);
    add(&p, "start_ns", "%" PRId64, meta->start_ns);
    add(&p, "unix_ns", "%" PRId64, meta->unix_ns);
    add(&p, "scene_path", "%s", meta->scene_path ? meta->scene_path : "");
    mcap_add_metadata(w, TRACE_RUN, p.items, (int)p.count);
}

static void write_hand(mcap_writer *w, const trace_meta *meta, int hand)
{
    const char *description = (const char *)&meta->devices[hand];
    pair_list p = {.count = 0};
    char name[32];
    snprintf(name, sizeof name, "%s%d", TRACE_HAND, hand);
    add(&p, "name", "%s", meta->hand_names[hand] ? meta->hand_names[hand] : "");
    add(&p, "driver", "%s", meta->drivers[hand] ? meta->drivers[hand] : "");
    for (int i = 0; i < trace_device_field_count; i++) {
        const trace_device_field *f = &trace_device_fields[i];
        const char *at = description + f->offset;
        if (f->kind == 's') {
            add(&p, f->name, "%.31s", at);
        } else if (f->kind == 'd') {
            double value;
            memcpy(&value, at, sizeof value);
            add(&p, f->name, "%.17g", value);
        } else if (f->kind == 'i') {
            int value;
            memcpy(&value, at, sizeof value);
            add(&p, f->name, "%d", value);
        } else {
            add(&p, f->name, "%s", *(const bool *)at ? "true" : "false");
        }
    }
    mcap_add_metadata(w, name, p.items, (int)p.count);
}

/* In the order that trace_channel states. */
void trace_write_channels(mcap_writer *w, int hand_count, const char *const *hand_names)
{
    uint16_t schemas[TRACE_KIND_COUNT];
    for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        mcap_bytes text = {0};
        trace_schema_text((trace_kind)kind, &text);
        mcap_put_u8(&text, 0);
        schemas[kind] = mcap_add_schema(w, trace_schema_name((trace_kind)kind), "ros2msg",
                                        text.data ? (const char *)text.data : "");
        mcap_bytes_free(&text);
    }
    mcap_add_channel(w, schemas[TRACE_COMMAND], "/command", "cdr", NULL, 0);
    mcap_add_channel(w, schemas[TRACE_EVENT], "/event", "cdr", NULL, 0);
    for (int hand = 0; hand < hand_count; hand++) {
        const char *name = hand_names[hand];
        char topic[128];
        char index[16];
        snprintf(index, sizeof index, "%d", hand);
        const char *pairs[] = {"hand", index, "name", name ? name : ""};
        snprintf(topic, sizeof topic, "/%.64s/tick", name && *name ? name : index);
        mcap_add_channel(w, schemas[TRACE_TICK], topic, "cdr", pairs, 2);
        snprintf(topic, sizeof topic, "/%.64s/frame", name && *name ? name : index);
        mcap_add_channel(w, schemas[TRACE_FRAME], topic, "cdr", pairs, 2);
    }
}

static void attach(mcap_writer *w, const trace_meta *meta, const char *name, const char *data,
                   size_t size, trace_hash *hash)
{
    uint64_t time = meta->start_ns > 0 ? (uint64_t)meta->start_ns : 0;
    mcap_add_attachment(w, time, name, "text/plain", data, size);
    *hash = trace_hash_bytes(data, size);
}

/* A file that the scene refers to; its hash even where it is too large to carry along. */
static hr_status attach_file(mcap_writer *w, const trace_meta *meta, const trace_attachment *file,
                             const char *name, trace_hash *hash, hr_error *error)
{
    char *data = NULL;
    size_t size = 0;
    hr_status status = trace_read_file(file->path, TRACE_ATTACHMENT_MAX, &data, &size, error);
    if (status == HR_ERR_CAPACITY) {
        *hash = trace_hash_file(file->path);
        return HR_OK;
    }
    if (status == HR_OK)
        attach(w, meta, name, data, size, hash);
    free(data);
    return status;
}

static hr_status attach_all(mcap_writer *w, const trace_meta *meta, hr_error *error)
{
    int count = meta->file_count + 2;
    const char **pairs = calloc(2 * (size_t)count, sizeof *pairs);
    trace_hash *hashes = calloc((size_t)count, sizeof *hashes);
    char(*names)[600] = calloc((size_t)count, sizeof *names);
    hr_status status = HR_ERR_MEMORY;
    if (pairs && hashes && names) {
        const char *settings = meta->config_text ? meta->config_text : "";
        const char *scenery = meta->scene_text ? meta->scene_text : "";
        snprintf(names[0], sizeof names[0], "%s", TRACE_CONFIG);
        snprintf(names[1], sizeof names[1], "%s", TRACE_SCENE);
        attach(w, meta, names[0], settings, strlen(settings), &hashes[0]);
        attach(w, meta, names[1], scenery, strlen(scenery), &hashes[1]);
        status = HR_OK;
        for (int i = 0; i < meta->file_count && status == HR_OK; i++) {
            snprintf(names[i + 2], sizeof names[0], "%s%s", TRACE_FILE, meta->files[i].name);
            status = attach_file(w, meta, &meta->files[i], names[i + 2], &hashes[i + 2], error);
        }
        for (size_t i = 0; i < (size_t)count; i++) {
            pairs[2 * i] = names[i];
            pairs[2 * i + 1] = hashes[i].text;
        }
        mcap_add_metadata(w, TRACE_HASHES, pairs, count);
    }
    free(pairs);
    free(hashes);
    free(names);
    return status;
}

hr_status trace_write_begin(mcap_writer *w, const trace_meta *meta, hr_error *error)
{
    trace_write_channels(w, meta->hand_count, meta->hand_names);
    write_run(w, meta);
    for (int hand = 0; hand < meta->hand_count; hand++)
        write_hand(w, meta, hand);
    return attach_all(w, meta, error);
}

void trace_write_timing(mcap_writer *w, const char *name, const histogram *h)
{
    pair_list p = {.count = 0};
    add(&p, "unit", "ns");
    add(&p, "count", "%" PRIu64, histogram_count(h));
    add(&p, "mean", "%.1f", histogram_mean(h));
    add(&p, "p50", "%" PRId64, histogram_quantile(h, 0.5));
    add(&p, "p99", "%" PRId64, histogram_quantile(h, 0.99));
    add(&p, "p99.9", "%" PRId64, histogram_quantile(h, 0.999));
    add(&p, "max", "%" PRId64, histogram_max(h));
    mcap_bytes buckets = {0};
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint32_t count = atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        char text[48];
        int n = snprintf(text, sizeof text, "%" PRId64 ":%" PRIu32 " ", histogram_bucket_start(i),
                         count);
        if (count > 0)
            mcap_put_raw(&buckets, text, (size_t)n);
    }
    mcap_put_u8(&buckets, 0);
    p.items[2 * p.count] = "buckets";
    p.items[2 * p.count + 1] = buckets.has_failed ? "" : (const char *)buckets.data;
    char full[48];
    snprintf(full, sizeof full, "%s%s", TRACE_TIMING, name);
    mcap_add_metadata(w, full, p.items, (int)p.count + 1);
    mcap_bytes_free(&buckets);
}
