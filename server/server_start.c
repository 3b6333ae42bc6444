/* From valid to powered, and back: threads, recording, the safe stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/server.h"

enum {
    NS_PER_S = 1000000000,
    WARM_UP_TICKS = 200,
    WORLD_NICE = -10,
    WATCHDOG_ROUND_NS = 10000000,
    /* The loop itself faults after 10 ms; this layer is for a loop that does not come back. A
     * virtual machine loses 20 ms now and then, which is not that. */
    WATCHDOG_LIMIT_NS = 100000000
};

/* --- threads ------------------------------------------------------------------------------------
 */

static int64_t faults_of_this_thread(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return 0;
    return usage.ru_minflt + usage.ru_majflt;
}

static void *run_servo(void *argument)
{
    server *s = argument;
    realtime_touch_stack();
    while (sem_wait(&s->gate) != 0)
        ;
    servo_loop(&s->servo, WARM_UP_TICKS);
    int64_t before = faults_of_this_thread();
    servo_loop(&s->servo, 0);
    int64_t faults = faults_of_this_thread() - before;
    atomic_store_explicit(&s->page_faults, faults, memory_order_relaxed);
    servo_release(&s->servo);
    atomic_store_explicit(&s->is_done, true, memory_order_release);
    return NULL;
}

static void *run_world(void *argument)
{
    server *s = argument;
    /* ahead of other programs where that is permitted, but never real-time: a world that computes
     * too long must not keep the control thread from an emergency stop */
    setpriority(PRIO_PROCESS, (id_t)gettid(), WORLD_NICE);
    world_loop_run(&s->loop);
    return NULL;
}

/* Second and third watchdog layer. Waits on the same clock as the servo; a trip becomes a command,
 * so that a replay sees it at the same tick. */
static void *run_watchdog(void *argument)
{
    server *s = argument;
    servo_clock clock = s->servo.clock;
    uint64_t armed = 0;
    watchdog_init(&s->watchdog, WATCHDOG_LIMIT_NS);
    while (!atomic_load_explicit(&s->watchdog_is_stopping, memory_order_acquire)) {
        int64_t now = servo_clock_wait(&clock, servo_clock_now(&clock) + WATCHDOG_ROUND_NS);
        uint64_t requests = atomic_load_explicit(&s->servo.counts.arms, memory_order_relaxed);
        if (requests != armed)
            watchdog_arm(&s->watchdog, now);
        armed = requests;
        if (server_is_running(s) && watchdog_check(&s->watchdog, servo_heartbeat(&s->servo), now)) {
            servo_command trip = {.kind = COMMAND_SET,
                                  .hand = HANDS_MAX,
                                  .key = PARAMETER_WATCHDOG,
                                  .values = {1},
                                  .text = "watchdog"};
            door_send(&s->watchdog_door, &trip);
        }
        atomic_store_explicit(&s->watchdog_is_tripped, s->watchdog.is_tripped,
                              memory_order_relaxed);
        notifier_feed(&s->notifier, !s->watchdog.is_tripped && server_is_running(s), now);
    }
    return NULL;
}

static hr_status start_threads(server *s, hr_error *error)
{
    const config_servo *c = &s->options.settings.servo;
    realtime_lock_memory(&s->realtime);
    realtime_choose_cpu(&s->realtime, c->cpu);
    realtime_hold_latency(&s->realtime);
    hr_status status = realtime_start(&s->realtime, c->priority, run_servo, s, &s->servo_thread);
    s->has_servo_thread = status == HR_OK;
    if (status == HR_OK)
        status = realtime_start_normal(run_world, s, &s->world_thread);
    s->has_world_thread = status == HR_OK;
    if (status == HR_OK) {
        /* above the servo: it has to see a servo that spins */
        realtime_state own = {.cpu = -1, .latency_fd = -1};
        int priority = c->priority < 99 ? c->priority + 1 : 99;
        status = realtime_start(&own, priority, run_watchdog, s, &s->watchdog_thread);
    }
    s->has_watchdog_thread = status == HR_OK;
    realtime_describe(&s->realtime, s->scheduling, sizeof s->scheduling);
    return status == HR_OK ? HR_OK : error_set(error, status, "cannot start the server's threads");
}

/* --- recording ----------------------------------------------------------------------------------
 */

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    char block[4096];
    size_t n;
    while (copy && (n = fread(block, 1, sizeof block, file)) > 0)
        fwrite(block, 1, n, copy);
    fclose(file);
    if (copy)
        fclose(copy);
    return text;
}

static int collect_files(const scene *from, trace_attachment *out, int room)
{
    int count = 0;
    for (int i = 0; i < from->body_count && count < room; i++)
        if (scene_body_has_file(&from->bodies[i]))
            out[count++] = (trace_attachment){from->bodies[i].file, from->bodies[i].file};
    return count;
}

static void describe_run(const server *s, trace_meta *meta)
{
    const config *c = &s->options.settings;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    servo_clock clock = s->servo.clock;
    meta->config_text = s->config_text;
    meta->scene_path = s->options.scene.file;
    meta->scene_text = s->scene_text ? s->scene_text : "";
    meta->hand_count = s->device_count;
    meta->rate_hz = c->servo.rate_hz;
    meta->world_rate_hz = c->world.rate_hz;
    meta->chunk_s = c->trace.chunk_s;
    meta->is_lockstep = s->options.is_lockstep;
    meta->is_degraded = !s->options.is_lockstep && realtime_is_degraded(&s->realtime);
    meta->scheduling = s->scheduling;
    meta->start_ns = servo_clock_now(&clock);
    /* virtual time has no wall clock: two runs give the same bytes */
    meta->unix_ns = s->options.is_lockstep ? 0 : (int64_t)wall.tv_sec * NS_PER_S + wall.tv_nsec;
}

static hr_status open_recording(server *s, hr_error *error)
{
    const config *c = &s->options.settings;
    if (!c->trace.record[0])
        return HR_OK;
    int length = config_print(c, NULL, 0);
    s->config_text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!s->config_text)
        return error_set(error, HR_ERR_MEMORY, "no memory for the recording");
    config_print(c, s->config_text, length + 1);
    s->scene_text = s->options.scene.file[0] ? read_whole(s->options.scene.file) : NULL;
    trace_attachment files[SCENE_BODIES_MAX];
    trace_meta meta = {.files = files};
    meta.file_count = collect_files(&s->options.scene, files, HR_COUNT(files));
    describe_run(s, &meta);
    char drivers[HANDS_MAX][sizeof c->devices[0].driver + CONFIG_PATH_MAX + 1];
    for (int i = 0; i < s->device_count; i++) {
        const config_device *d = &c->devices[i];
        snprintf(drivers[i], sizeof drivers[i], "%s%s%s", d->driver, d->address[0] ? ":" : "",
                 d->address);
        meta.drivers[i] = drivers[i];
        meta.hand_names[i] = d->name;
        meta.devices[i] = s->devices[i].description;
    }
    hr_status status = trace_open(c->trace.record, &meta, &s->recording, error);
    s->servo.recording = s->recording;
    return status;
}

/* --- power --------------------------------------------------------------------------------------
 */

static hr_status power_devices(server *s, hr_error *error)
{
    bool is_degraded = !s->options.is_lockstep && realtime_is_degraded(&s->realtime);
    if (is_degraded) {
        servo_command tell = {.kind = COMMAND_SET,
                              .hand = HANDS_MAX,
                              .key = PARAMETER_DEGRADED,
                              .values = {1},
                              .text = "degraded"};
        door_send(&s->main_door, &tell);
    }
    if (s->options.is_disarmed) {
        servo_command wait = {.kind = COMMAND_DISARM, .hand = HANDS_MAX, .text = "start"};
        door_send(&s->main_door, &wait);
    }
    for (int i = 0; i < s->device_count; i++) {
        const server_device *d = &s->devices[i];
        bool is_refused =
            is_degraded && d->description.has_motors && !s->options.settings.servo.allow_degraded;
        hr_status status = d->driver->calibrate(d->dev, false);
        if (status == HR_OK && !is_refused)
            status = d->driver->enable(d->dev, true);
        s->servo.hands[i].is_powered = !is_refused;
        if (status != HR_OK)
            return error_set(error, status, "device \"%s\": %s",
                             s->options.settings.devices[i].name, d->driver->last_error(d->dev));
    }
    return HR_OK;
}

/* The clock has run while things were opened: the first tick is one period from now. */
static void plan_first_tick(server *s)
{
    int64_t now = servo_clock_now(&s->servo.clock);
    s->servo.last_wake_ns = now;
    s->servo.planned_ns = now + s->servo.period_ns;
    double run_s = s->options.run_s;
    s->servo.end_ns = run_s > 0 ? now + (int64_t)(run_s * NS_PER_S) : 0;
}

hr_status server_start(server *s, hr_error *error)
{
    hr_status status = HR_OK;
    notifier_open(&s->notifier);
    if (s->options.is_lockstep)
        snprintf(s->scheduling, sizeof s->scheduling, "lockstep, virtual time");
    else
        status = start_threads(s, error);
    if (status == HR_OK)
        status = open_recording(s, error);
    if (status == HR_OK && s->control)
        status = control_start(s->control, error);
    if (status == HR_OK)
        status = power_devices(s, error);
    if (status != HR_OK)
        server_stop(s);
    plan_first_tick(s);
    if (status == HR_OK)
        notifier_send(&s->notifier, "READY=1");
    sem_post(&s->gate);
    return status;
}

/* --- the end ------------------------------------------------------------------------------------
 */

static void join_threads(server *s)
{
    if (s->has_servo_thread)
        pthread_join(s->servo_thread, NULL);
    world_loop_stop(&s->loop);
    if (s->has_world_thread)
        pthread_join(s->world_thread, NULL);
    atomic_store_explicit(&s->watchdog_is_stopping, true, memory_order_release);
    if (s->has_watchdog_thread)
        pthread_join(s->watchdog_thread, NULL);
    s->has_servo_thread = s->has_world_thread = s->has_watchdog_thread = false;
}

hr_status server_finish(server *s, hr_error *error)
{
    server_stop(s);
    notifier_send(&s->notifier, "STOPPING=1");
    if (s->options.is_lockstep) {
        while (servo_release_step(&s->servo))
            if (s->recording)
                trace_drain(s->recording);
        atomic_store_explicit(&s->is_done, true, memory_order_release);
    }
    join_threads(s);
    for (int i = 0; i < s->device_count; i++) {
        server_device *d = &s->devices[i];
        if (d->dev) {
            d->driver->enable(d->dev, false);
            d->driver->close(d->dev);
        }
        d->dev = NULL;
    }
    control_close(s->control);
    s->control = NULL;
    hr_status status = trace_close(s->recording, error);
    s->recording = NULL;
    notifier_close(&s->notifier);
    realtime_release(&s->realtime);
    return status;
}
