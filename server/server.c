#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/registry.h"
#include "devices/replay.h"
#include "server/trace_track.h"

enum {
    NS_PER_S = 1000000000,
    FRAMES_MAX = 16, /* on their way to one hand */
    TOOLS_MAX = 64   /* 16 ms of samples at 4 kHz */
};

/* --- opening ------------------------------------------------------------------------------------
 */

/* The driver's settings as it wants them. A simulated device without a script of its own follows
 * the scene's. */
static int collect_settings(const server_options *o, const config_device *d, device_setting *out,
                            int room)
{
    int count = 0;
    bool has_script = false;
    for (int i = 0; i < d->setting_count && count < room; i++) {
        const config_setting *from = &d->settings[i];
        out[count++] = (device_setting){from->key, from->value, from->place};
        has_script |= strcmp(from->key, "script") == 0 || strcmp(from->key, "script_file") == 0;
    }
    if (!has_script && strcmp(d->driver, "sim") == 0 && o->scene.hand_script[0] && count < room)
        out[count++] = (device_setting){"script", o->scene.hand_script, o->scene.file};
    return count;
}

static hr_status open_device(server *s, int index, hr_error *error)
{
    const config_device *d = &s->options.settings.devices[index];
    server_device *own = &s->devices[index];
    hr_status status = registry_find(d->driver, &own->driver, error);
    if (status != HR_OK)
        return status;
    device_setting items[CONFIG_SETTINGS_MAX + 1];
    device_settings settings = {items, 0};
    settings.count = collect_settings(&s->options, d, items, HR_COUNT(items));
    status = own->driver->open(d->address, &settings, &own->dev, error);
    if (status != HR_OK)
        return status;
    own->driver->describe(own->dev, &own->description);
    int shape_count;
    const shape *shapes = world_shapes(s->world, &shape_count);
    own->hand = hand_create(&s->options.settings, index, &own->description, shapes, shape_count);
    if (!own->hand)
        return error_set(error, HR_ERR_MEMORY, "no memory for a hand");
    status = ring_init(&own->frames, FRAMES_MAX, sizeof(contact_frame));
    if (status == HR_OK)
        status = ring_init(&own->tools, TOOLS_MAX, sizeof(tool_sample));
    return status == HR_OK ? HR_OK : error_set(error, status, "no memory for the rings");
}

static hr_status open_doors(server *s, hr_error *error)
{
    hr_status status = door_init(&s->main_door, true);
    if (status == HR_OK)
        status = door_init(&s->watchdog_door, false);
    if (status == HR_OK)
        status = door_init(&s->control_door, true);
    return status == HR_OK ? HR_OK : error_set(error, status, "no memory for the doors");
}

static void connect_servo(server *s)
{
    const config *c = &s->options.settings;
    servo_clock clock = s->options.is_lockstep ? servo_clock_lockstep(0) : servo_clock_live();
    servo_init(&s->servo, clock, c->servo.rate_hz);
    world_loop_init(&s->loop, s->world, clock, c->world.rate_hz, s->device_count);
    s->servo.hand_count = s->device_count;
    for (int i = 0; i < s->device_count; i++) {
        server_device *d = &s->devices[i];
        s->servo.hands[i] = (servo_hand){.driver = d->driver,
                                         .dev = d->dev,
                                         .hand = d->hand,
                                         .frames = &d->frames,
                                         .tools = &d->tools};
        s->loop.frames[i] = &d->frames;
        s->loop.tools[i] = &d->tools;
    }
    s->servo.doors[0] = &s->main_door;
    s->servo.doors[1] = &s->watchdog_door;
    s->servo.doors[2] = &s->control_door;
    s->servo.door_count = 3;
}

/* Memory that clients share with the servo, beside the control socket. */
static hr_status open_board(server *s, const char *socket_path, hr_error *error)
{
    hr_status status = board_open(&s->board, socket_path, s->servo.period_ns, error);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < s->device_count; i++)
        board_add_device(&s->board, i, s->options.settings.devices[i].name,
                         &s->devices[i].description);
    s->servo.client_hold_ns = (int64_t)(s->options.settings.safety.client_hold_s * NS_PER_S);
    s->servo.board = &s->board;
    return HR_OK;
}

static hr_status open_control(server *s, hr_error *error)
{
    const config *c = &s->options.settings;
    if (!c->control.enabled || s->options.is_lockstep)
        return HR_OK;
    char path[CONFIG_PATH_MAX];
    hr_status status = control_path(c->control.socket, path, sizeof path, error);
    if (status != HR_OK)
        return status;
    session_hub *hub = calloc(1, sizeof *hub);
    if (!hub)
        return error_set(error, HR_ERR_MEMORY, "no memory for the control socket");
    hub->door = &s->control_door;
    hub->desk = &s->desk;
    hub->hand_count = s->device_count;
    hub->hold_ns = (int64_t)(c->safety.client_hold_s * NS_PER_S);
    hub->status = server_status;
    hub->context = s;
    status = control_open(path, hub, s->servo.clock, &s->control, error);
    free(hub);
    return status == HR_OK ? open_board(s, path, error) : status;
}

static hr_status open_all(server *s, hr_error *error)
{
    hr_status status = world_create(&s->options.scene, &s->options.settings, &s->world, error);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < s->options.settings.device_count; i++) {
        s->device_count = i + 1;
        status = open_device(s, i, error);
        if (status != HR_OK)
            return status;
    }
    status = open_doors(s, error);
    if (status != HR_OK)
        return status;
    connect_servo(s);
    return open_control(s, error);
}

hr_status server_open(const server_options *options, server **out, hr_error *error)
{
    *out = NULL;
    server *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(error, HR_ERR_MEMORY, "no memory for the server");
    s->options = *options;
    replay_set_loader(trace_load_track);
    if (s->options.scene.tool_radius_m >= 0)
        s->options.settings.coupling.tool_radius_m = s->options.scene.tool_radius_m;
    s->realtime = (realtime_state){.cpu = -1, .latency_fd = -1};
    atomic_store_explicit(&s->page_faults, -1, memory_order_relaxed);
    lease_desk_init(&s->desk);
    sem_init(&s->gate, 0, 0);
    s->notifier.fd = -1;
    hr_status status = open_all(s, error);
    if (status != HR_OK) {
        server_destroy(s);
        return status;
    }
    *out = s;
    return HR_OK;
}

void server_destroy(server *s)
{
    if (!s)
        return;
    control_close(s->control);
    board_close(&s->board);
    for (int i = 0; i < s->device_count; i++) {
        server_device *d = &s->devices[i];
        if (d->dev)
            d->driver->close(d->dev);
        hand_destroy(d->hand);
        ring_destroy(&d->frames);
        ring_destroy(&d->tools);
    }
    world_destroy(s->world);
    door_destroy(&s->main_door);
    door_destroy(&s->watchdog_door);
    door_destroy(&s->control_door);
    lease_desk_destroy(&s->desk);
    sem_destroy(&s->gate);
    free(s->config_text);
    free(s->scene_text);
    free(s);
}

/* --- running ------------------------------------------------------------------------------------
 */

bool server_step(server *s, uint64_t ticks)
{
    for (uint64_t i = 0; i < ticks; i++) {
        bool is_stopping = atomic_load_explicit(&s->servo.is_stopping, memory_order_acquire);
        if (is_stopping || (s->servo.end_ns != 0 && s->servo.planned_ns > s->servo.end_ns))
            return false;
        while (s->loop.planned_ns <= s->servo.planned_ns) {
            world_loop_step(&s->loop, s->loop.planned_ns);
            s->loop.planned_ns += s->loop.period_ns;
        }
        servo_tick(&s->servo);
        if (s->recording)
            trace_drain(s->recording);
    }
    return true;
}

bool server_is_running(const server *s)
{
    return !atomic_load_explicit(&s->is_done, memory_order_acquire);
}

void server_stop(server *s)
{
    servo_stop(&s->servo);
}

uint32_t server_lost_hands(const server *s)
{
    return atomic_load_explicit(&s->servo.counts.lost_hands, memory_order_relaxed);
}
