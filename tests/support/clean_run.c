#include "tests/support/clean_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/sim.h"

enum { UNTOUCHED = 8 << 20, PAGE = 4096, BIG = 1 << 20, SMALL = 64 };

static offence planted;
static volatile bool is_offending;
static volatile char *untouched; /* one page more in every read */
static size_t next_page;
static void *volatile kept; /* or the compiler deletes the offence */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void offend(void)
{
    switch (planted) {
    case OFFENCE_NONE:
        break;
    case OFFENCE_PRINT: {
        static const char text[] = "";
        ssize_t written = write(STDERR_FILENO, text, 0);
        (void)written;
        break;
    }
    case OFFENCE_MAP:
        kept = malloc(BIG);
        break;
    case OFFENCE_ALLOCATE: {
        char *memory = malloc(SMALL);
        memory[0] = 1;
        kept = memory;
        break;
    }
    case OFFENCE_LOCK:
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        break;
    case OFFENCE_TOUCH_PAGES:
        untouched[next_page] = 1;
        next_page += PAGE;
        break;
    }
}

static hr_status read_badly(device *dev, int64_t now_ns, device_sample *out)
{
    if (is_offending)
        offend();
    return device_sim.read(dev, now_ns, out);
}

static void *run_world(void *argument)
{
    world_loop_run(&((server *)argument)->loop);
    return NULL;
}

static void give_up(const char *what)
{
    fprintf(stderr, "clean_run: %s\n", what);
    _exit(3);
}

static void open_server(clean_run *r)
{
    static server_options options;
    hr_error error = {""};
    char path[CONFIG_PATH_MAX];
    config_default(&options.settings);
    options.settings.control.enabled = false;
    if (scene_find(options.settings.scene, path, (int)sizeof path, &error) != HR_OK ||
        scene_load(path, &options.scene, &error) != HR_OK ||
        server_open(&options, &r->server, &error) != HR_OK)
        give_up(error.text);
    trace_meta meta = {.config_text = "",
                       .scene_path = path,
                       .scene_text = "",
                       .hand_count = 1,
                       .hand_names = {"right"},
                       .drivers = {"sim"},
                       .rate_hz = 1000,
                       .world_rate_hz = 500};
    meta.devices[0] = r->server->devices[0].description;
    snprintf(r->path, sizeof r->path, "/tmp/hapticd-clean-%d.mcap", (int)getpid());
    if (trace_open(r->path, &meta, &r->server->recording, &error) != HR_OK)
        give_up(error.text);
    r->server->servo.recording = r->server->recording;
}

void clean_run_open(clean_run *r, offence wanted)
{
    static device_driver driver;
    open_server(r);
    planted = wanted;
    is_offending = false;
    untouched = mmap(NULL, UNTOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (untouched == MAP_FAILED)
        give_up("no memory");
    madvise((void *)(uintptr_t)untouched, UNTOUCHED, MADV_NOHUGEPAGE);
    /* as the server does; then the one region that is to stay untouched is made so again */
    realtime_lock_memory(&r->server->realtime);
    munlock((void *)(uintptr_t)untouched, UNTOUCHED);
    madvise((void *)(uintptr_t)untouched, UNTOUCHED, MADV_DONTNEED);
    driver = device_sim;
    driver.read = read_badly;
    r->server->servo.hands[0].driver = &driver;
    driver.enable(r->server->devices[0].dev, true);
    if (realtime_start_normal(run_world, r->server, &r->world_thread) != HR_OK)
        give_up("no thread");
}

void clean_run_offend(void)
{
    is_offending = true;
}

void clean_run_ticks(clean_run *r, uint64_t ticks)
{
    servo *s = &r->server->servo;
    servo_loop(s, s->tick + ticks);
}

void clean_run_close(clean_run *r)
{
    hr_error error;
    world_loop_stop(&r->server->loop);
    pthread_join(r->world_thread, NULL);
    if (trace_close(r->server->recording, &error) != HR_OK)
        fprintf(stderr, "clean_run: %s\n", error.text);
    r->server->recording = NULL;
    server_destroy(r->server);
    unlink(r->path);
}
