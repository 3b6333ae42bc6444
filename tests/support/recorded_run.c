#include "tests/support/recorded_run.h"

#include <string.h>

#include "config/config.h"
#include "config/scene.h"
#include "server/hand.h"
#include "server/trace.h"
#include "server/trace_hash.h"
#include "server/world.h"

typedef struct stage {
    config settings;
    scene scene;
    world *world;
    hand *hands[HANDS_MAX];
    device_description devices[HANDS_MAX];
    tool_sample tools[HANDS_MAX];
    contact_frame frames[HANDS_MAX];
    bool has_frame[HANDS_MAX];
    trace *recording;
    char *config_text, *scene_text;
} stage;

static void build(stage *s, const char *path, recorded_run run)
{
    hr_error error = {""};
    char file[CONFIG_PATH_MAX];
    size_t size;
    config_default(&s->settings);
    s->settings.device_count = run.hands;
    for (int i = 0; i < run.hands; i++) {
        config_device *d = &s->settings.devices[i];
        snprintf(d->name, sizeof d->name, i ? "left%d" : "right", i);
        snprintf(d->driver, sizeof d->driver, "sim");
        d->scene_offset_m = (vec3){0.001 * i, -0.003 * i, 0};
        s->devices[i] = (device_description){.model = "imposed path",
                                             .max_force = 8,
                                             .peak_force = 10,
                                             .max_stiffness = 3000,
                                             .max_damping = 20,
                                             .workspace_radius = 0.05 + 1e-17 * i,
                                             .position_resolution = 1e-7,
                                             .native_rate_hz = 1000,
                                             .senses_position = true};
    }
    snprintf(s->settings.scene, sizeof s->settings.scene, "%s", run.scene);
    assert_int_equal(scene_find(run.scene, file, sizeof file, &error), HR_OK);
    assert_int_equal(scene_load(file, &s->scene, &error), HR_OK);
    assert_int_equal(trace_read_file(file, 1 << 20, &s->scene_text, &size, &error), HR_OK);
    assert_int_equal(world_create(&s->scene, &s->settings, &s->world, &error), HR_OK);
    int count;
    const shape *shapes = world_shapes(s->world, &count);
    int length = config_print(&s->settings, NULL, 0);
    s->config_text = malloc((size_t)length + 1);
    config_print(&s->settings, s->config_text, length + 1);
    trace_meta meta = {.config_text = s->config_text,
                       .scene_path = file,
                       .scene_text = s->scene_text,
                       .hand_count = run.hands,
                       .rate_hz = 1000,
                       .world_rate_hz = 500,
                       .is_lockstep = true};
    for (int i = 0; i < run.hands; i++) {
        s->hands[i] = hand_create(&s->settings, i, &s->devices[i], shapes, count);
        meta.hand_names[i] = s->settings.devices[i].name;
        meta.drivers[i] = "sim";
        meta.devices[i] = s->devices[i];
    }
    if (trace_open(path, &meta, &s->recording, &error) != HR_OK)
        fail_msg("%s", error.text);
}

/* Clear of everything for 0.3 s, then in and out of the bodies. */
static vec3 place(int index, double t)
{
    double in = t < 0.3 ? 0 : fmin(1.0, 2 * (t - 0.3));
    double phase = 2 * M_PI * t + index;
    return (vec3){0.006 * sin(0.31 * phase), in * 0.020 * sin(0.17 * phase),
                  0.03 - in * (0.034 + 0.012 * sin(0.9 * phase))};
}

static void run_tick(stage *s, test_random *r, uint64_t tick, int index, int64_t now_ns)
{
    if (s->has_frame[index]) {
        hand_frame(s->hands[index], &s->frames[index]);
        trace_push_frame(s->recording, tick, &s->frames[index]);
        s->has_frame[index] = false;
    }
    vec3 shake = test_random_vec3(r, 2e-5);
    tick_record record = {.tick = tick,
                          .time_ns = now_ns,
                          .elapsed_ns = 1000000 + test_random_index(r, 20000),
                          .hand = (uint32_t)index,
                          .lateness_ns = test_random_index(r, 20000),
                          .compute_ns = 1500 + test_random_index(r, 2000),
                          .device_ns = 300};
    record.sample =
        (device_sample){.time_ns = now_ns,
                        .sequence = tick,
                        .valid = DEVICE_HAS_POSITION,
                        .flags = DEVICE_IS_HOMED | DEVICE_IS_ENABLED,
                        .position = vec3_add(place(index, 1e-9 * (double)now_ns), shake),
                        .rotation = quat_identity()};
    hand_tick(s->hands[index], &record);
    hand_tool(s->hands[index], &record, &s->tools[index]);
    trace_push_tick(s->recording, &record);
}

void recorded_run_write(const char *path, recorded_run run)
{
    test_random r = {run.seed};
    stage *s = calloc(1, sizeof *s);
    build(s, path, run);
    int64_t world_ns = 0;
    for (uint64_t tick = 1; tick <= (uint64_t)run.ticks; tick++) {
        int64_t now_ns = (int64_t)tick * 1000000;
        if (tick % 1000 == 500) {
            servo_command set = {.tick = tick,
                                 .kind = COMMAND_SET,
                                 .hand = tick % 2000 == 500 ? HANDS_MAX : 0,
                                 .key = PARAMETER_STIFFNESS,
                                 .values = {test_random_between(&r, 500, 2500)}};
            for (int i = 0; i < run.hands; i++)
                if (set.hand == (uint32_t)i || set.hand >= HANDS_MAX)
                    hand_command(s->hands[i], &set);
            trace_push_command(s->recording, &set);
        }
        if (test_random_index(&r, 3) == 0) { /* 333 steps a second on average */
            world_step(s->world, s->tools, run.hands, world_ns, 1e-9 * (double)(now_ns - world_ns));
            world_ns = now_ns;
            for (int i = 0; i < run.hands; i++) {
                world_frame(s->world, i, &s->frames[i]);
                s->has_frame[i] = true;
            }
        }
        for (int i = 0; i < run.hands; i++)
            run_tick(s, &r, tick, i, now_ns);
        trace_drain(s->recording);
    }
    hr_error error = {""};
    assert_int_equal(trace_close(s->recording, &error), HR_OK);
    for (int i = 0; i < run.hands; i++)
        hand_destroy(s->hands[i]);
    world_destroy(s->world);
    free(s->config_text);
    free(s->scene_text);
    free(s);
}
