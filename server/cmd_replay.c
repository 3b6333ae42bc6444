/* `haptic replay`: run a recording again. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "server/cmd_trace.h"
#include "server/replay.h"

static const char usage[] =
    "usage: haptic replay TRACE [--verify] [--scene FILE] [-o NEW] [--json]\n"
    "\n"
    "Builds the hands of a recording again, feeds them the recorded samples, frames and\n"
    "commands and compares every tick with what was recorded, bit for bit.\n"
    "\n"
    "  --verify       fail unless every tick is identical\n"
    "  --scene FILE   put the recorded hand into another scene, by name or path\n"
    "  -o NEW         record the new run\n"
    "  --json         print one object\n"
    "  --help         this text\n";

static json_t *difference_object(const replay_result *r)
{
    if (r->different_ticks == 0)
        return json_null();
    const replay_difference *d = &r->first;
    return json_pack("{s:I, s:i, s:s, s:s, s:s}", "tick", (json_int_t)d->tick, "hand", d->hand,
                     "field", d->field, "recorded", d->recorded, "computed", d->computed);
}

static void print_json(const replay_result *r, bool is_identical)
{
    json_t *hands = json_array();
    for (int i = 0; i < r->hand_count; i++) {
        const replay_hand *h = &r->hands[i];
        json_array_append_new(hands, json_pack("{s:f, s:f, s:I, s:I}", "recorded_max_force_n",
                                               h->recorded_force_max, "max_force_n", h->force_max,
                                               "recorded_contact_ticks",
                                               (json_int_t)h->recorded_contact_ticks,
                                               "contact_ticks", (json_int_t)h->contact_ticks));
    }
    json_t *gap = r->has_gap ? json_integer((json_int_t)r->gap_tick) : json_null();
    json_t *o = json_pack("{s:I, s:I, s:f, s:b, s:I, s:o, s:b, s:o, s:o}", "ticks",
                          (json_int_t)r->ticks, "records", (json_int_t)r->records, "duration_s",
                          r->duration_s, "identical", is_identical, "different_ticks",
                          (json_int_t)r->different_ticks, "first_difference", difference_object(r),
                          "complete", r->is_complete, "gap_tick", gap, "hands", hands);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(o);
}

static void print_hands(const replay_result *r)
{
    for (int i = 0; i < r->hand_count; i++) {
        const replay_hand *h = &r->hands[i];
        printf("hand %d: longest force %.3f N (recorded %.3f N), in contact %" PRIu64
               " ticks (recorded %" PRIu64 ")\n",
               i, h->force_max, h->recorded_force_max, h->contact_ticks, h->recorded_contact_ticks);
    }
}

static void print_text(const replay_result *r, bool is_identical, bool has_other_scene)
{
    printf("%" PRIu64 " ticks, %.3f s", r->ticks, r->duration_s);
    if (r->hand_count > 1)
        printf(", %d hands, %" PRIu64 " records", r->hand_count, r->records);
    printf("%s\n", is_identical ? ": identical" : "");
    if (r->different_ticks > 0 && !has_other_scene) {
        const replay_difference *d = &r->first;
        printf("%" PRIu64 " ticks differ; first: tick %" PRIu64
               ", hand %d, %s: recorded %s, computed %s\n",
               r->different_ticks, d->tick, d->hand, d->field, d->recorded, d->computed);
    }
    if (r->has_gap)
        printf("records are missing before tick %" PRIu64 "%s\n", r->gap_tick,
               has_other_scene ? "" : ": what follows cannot be compared");
    if (!r->is_complete && !r->has_gap)
        printf("the recording is not complete; 'haptic check' says why\n");
    if (!is_identical)
        print_hands(r);
}

int cmd_replay(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "verify scene output json", &o, &code))
        return code;
    if (o.wants_verify && o.scene)
        return command_usage_error("replay", "--verify compares with the recorded scene; it does "
                                             "not go with --scene");
    replay_options options = {.scene = o.scene, .output = o.output};
    replay_result r;
    hr_error error;
    if (replay_run(o.file, &options, &r, &error) != HR_OK)
        return command_input_error(&error);
    bool is_identical = r.ticks > 0 && r.different_ticks == 0 && !r.has_gap;
    if (o.wants_json)
        print_json(&r, is_identical);
    else
        print_text(&r, is_identical, o.scene != NULL);
    return o.wants_verify && !is_identical ? COMMAND_FAILED : COMMAND_OK;
}
