/* The server's state as a JSON object, for `haptic status` and every other door. */
#include <string.h>

#include "server/mechanics.h"
#include "server/server.h"
#include "server/version.h"

static json_t *histogram_object(const histogram *h)
{
    return json_pack("{s:I,s:f,s:I,s:I,s:I,s:I}", "count", (json_int_t)histogram_count(h),
                     "mean_ns", histogram_mean(h), "p50_ns", (json_int_t)histogram_quantile(h, 0.5),
                     "p99_ns", (json_int_t)histogram_quantile(h, 0.99), "p999_ns",
                     (json_int_t)histogram_quantile(h, 0.999), "max_ns",
                     (json_int_t)histogram_max(h));
}

static json_int_t count_of(const _Atomic uint64_t *counter)
{
    return (json_int_t)atomic_load_explicit(counter, memory_order_relaxed);
}

static json_t *servo_object(const server *s)
{
    const servo_counts *c = &s->servo.counts;
    json_t *object = json_object();
    json_object_set_new(object, "rate_hz", json_integer(s->options.settings.servo.rate_hz));
    json_object_set_new(object, "ticks", json_integer(count_of(&c->ticks)));
    json_object_set_new(object, "missed_periods", json_integer(count_of(&c->missed_periods)));
    json_object_set_new(object, "overruns", json_integer(count_of(&c->overruns)));
    json_object_set_new(object, "read_failures", json_integer(count_of(&c->read_failures)));
    json_object_set_new(object, "write_failures", json_integer(count_of(&c->write_failures)));
    json_object_set_new(object, "scheduling", json_string(s->scheduling));
    bool is_degraded = !s->options.is_lockstep && realtime_is_degraded(&s->realtime);
    json_object_set_new(object, "is_degraded", json_boolean(is_degraded));
    bool is_tripped = atomic_load_explicit(&s->watchdog_is_tripped, memory_order_relaxed);
    json_object_set_new(object, "watchdog_is_tripped", json_boolean(is_tripped));
    json_object_set_new(object, "lateness", histogram_object(&s->servo.lateness));
    json_object_set_new(object, "compute", histogram_object(&s->servo.compute));
    json_object_set_new(object, "exchange", histogram_object(&s->servo.exchange));
    return object;
}

/* Of the bodies that move together: p50 and p99 of each stage of a step. */
static json_t *stages_object(const world_loop *l)
{
    json_t *stages = json_object();
    for (int i = 0; i < WORLD_STAGES; i++)
        json_object_set_new(stages, mechanics_stage_name((enum mechanics_stage)i),
                            json_pack("{s:I,s:I}", "p50_ns",
                                      (json_int_t)histogram_quantile(&l->stages[i], 0.5), "p99_ns",
                                      (json_int_t)histogram_quantile(&l->stages[i], 0.99)));
    return stages;
}

/* What the bodies of the world did together, and what was cut short; null where nothing can be
 * pushed. */
static json_t *mechanics_object(const server *s)
{
    const world_loop *l = &s->loop;
    if (!world_mechanics(s->world))
        return json_null();
    return json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "steps", count_of(&l->mechanics.steps), "rounds",
        count_of(&l->mechanics.rounds), "rows_cut", count_of(&l->mechanics.rows_cut), "solves_cut",
        count_of(&l->mechanics.solves_cut), "proofs_cut", count_of(&l->mechanics.proofs_cut),
        "stopped_short", count_of(&l->mechanics.stopped_short), "contacts",
        count_of(&l->mechanics.contacts), "awake", count_of(&l->mechanics.awake), "stages",
        stages_object(l));
}

static json_t *world_object(const server *s)
{
    json_t *object = json_object();
    json_object_set_new(object, "rate_hz", json_integer(s->options.settings.world.rate_hz));
    json_object_set_new(object, "steps", json_integer(count_of(&s->loop.steps)));
    json_object_set_new(object, "missed_steps", json_integer(count_of(&s->loop.missed_steps)));
    json_object_set_new(object, "compute", histogram_object(&s->loop.compute));
    json_object_set_new(object, "frames", histogram_object(&s->loop.framing));
    json_object_set_new(object, "scene", json_string(s->options.scene.name));
    json_object_set_new(object, "mechanics", mechanics_object(s));
    return object;
}

static json_t *devices_array(const server *s)
{
    json_t *array = json_array();
    uint32_t lost = server_lost_hands(s);
    for (int i = 0; i < s->device_count; i++) {
        const server_device *d = &s->devices[i];
        const char *name = s->options.settings.devices[i].name;
        const char *words = d->description.has_motors ? d->driver->last_error(d->dev) : "";
        json_array_append_new(
            array,
            json_pack("{s:s,s:s,s:s,s:s,s:f,s:b,s:b,s:s}", "name", name, "driver", d->driver->name,
                      "model", d->description.model, "serial", d->description.serial, "max_force_n",
                      d->description.max_force, "has_motors", d->description.has_motors, "is_lost",
                      lost >> i & 1, "message", words));
    }
    return array;
}

static json_t *recording_object(const server *s)
{
    if (!s->recording)
        return json_null();
    trace_state t;
    trace_status(s->recording, &t);
    return json_pack("{s:s,s:I,s:I,s:I,s:b}", "file", s->options.settings.trace.record, "ticks",
                     (json_int_t)t.ticks, "bytes", (json_int_t)t.bytes, "dropped",
                     (json_int_t)t.dropped, "has_failed", t.has_failed);
}

json_t *server_status(void *server_pointer, const servo_report *newest)
{
    const server *s = server_pointer;
    json_t *object = json_object();
    json_object_set_new(object, "version", json_string(HR_VERSION));
    json_object_set_new(object, "servo", servo_object(s));
    json_object_set_new(object, "world", world_object(s));
    json_object_set_new(object, "devices", devices_array(s));
    json_object_set_new(object, "recording", recording_object(s));
    json_object_set_new(object, "state", newest ? protocol_state_object(newest) : json_null());
    return object;
}
