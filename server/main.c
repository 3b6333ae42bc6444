/* `hapticd`: the server. Reads everything, then powers; shows a line while it runs and a table at
 * the end. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "devices/registry.h"
#include "server/options.h"
#include "server/status_line.h"
#include "server/version.h"

enum {
    ROUND_MS = 100,       /* the line changes ten times a second */
    LOG_EVERY_S = 1,      /* plain log lines where there is no terminal */
    LOG_SELDOM_S = 60,    /* the same once it has run for a minute */
    LOCKSTEP_TICKS = 1000 /* between two looks at the signals */
};

/* Exit codes, as for every command. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

/* The person's side of the run. */
typedef struct view {
    bool is_terminal;
    double next_log_s;
    bool has_report;
    servo_report newest;
    uint32_t lost_hands; /* already reported */
    bool has_said_tripped;
    uint32_t states[HANDS_MAX]; /* of the last look */
    char said[HANDS_MAX][200];  /* the device's own words, as last said */
} view;

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col - 1;
    return 119;
}

static void clear_line(const view *v)
{
    if (v->is_terminal)
        fprintf(stderr, "\r\033[K");
}

/* A latched stop is easily taken for a scene in which nothing can be felt. */
static void say_latches(view *v, const server *s)
{
    for (int i = 0; i < s->device_count && v->has_report; i++) {
        uint32_t state = v->newest.hands[i].state;
        bool is_latched = state == SERVO_FAULT || state == SERVO_ESTOP;
        if (is_latched && state != v->states[i]) {
            char reasons[256];
            protocol_reason_names(v->newest.hands[i].reasons, reasons, sizeof reasons);
            clear_line(v);
            fprintf(stderr, "hapticd: hand \"%s\": %s latched (%s); 'haptic arm' ends it\n",
                    s->options.settings.devices[i].name, protocol_state_name(state), reasons);
        }
        v->states[i] = state;
    }
}

/* What a real device has to say: how far its homing is, why it went away, what it tries. */
static void say_words(view *v, const server *s)
{
    for (int i = 0; i < s->device_count; i++) {
        const server_device *d = &s->devices[i];
        const char *words = d->description.has_motors ? d->driver->last_error(d->dev) : "";
        if (!words[0] || strcmp(words, v->said[i]) == 0) /* not again when it comes and goes */
            continue;
        snprintf(v->said[i], sizeof v->said[i], "%s", words);
        clear_line(v);
        fprintf(stderr, "hapticd: device \"%s\": %s\n", s->options.settings.devices[i].name, words);
    }
}

static void say_troubles(view *v, const server *s)
{
    say_latches(v, s);
    say_words(v, s);
    uint32_t lost = server_lost_hands(s);
    for (int i = 0; i < s->device_count; i++) {
        if (!((lost ^ v->lost_hands) >> i & 1))
            continue;
        clear_line(v);
        fprintf(stderr, "hapticd: device \"%s\" %s\n", s->options.settings.devices[i].name,
                lost >> i & 1 ? "went away; its force is zero"
                              : "came back; its force stays off until 'haptic arm'");
    }
    v->lost_hands = lost;
    bool is_tripped = atomic_load_explicit(&s->watchdog_is_tripped, memory_order_relaxed);
    if (is_tripped && !v->has_said_tripped) {
        clear_line(v);
        fprintf(stderr, "hapticd: the watchdog tripped; 'haptic arm' when it is safe\n");
    }
    v->has_said_tripped = is_tripped;
}

static void show(view *v, server *s)
{
    char line[1024];
    v->has_report |= ring_take_latest(&s->main_door.reports, &v->newest);
    servo_command ignored;
    while (ring_pop(&s->main_door.applied, &ignored))
        ;
    say_troubles(v, s);
    status_figures f = status_figures_of(s, v->has_report ? &v->newest : NULL);
    if (v->is_terminal) {
        status_line_print(&f, terminal_width(), line, sizeof line);
        fprintf(stderr, "\r%s\033[K", line);
    } else if (f.time_s >= v->next_log_s) {
        status_line_print(&f, 0, line, sizeof line);
        fprintf(stderr, "%s\n", line);
        v->next_log_s += v->next_log_s < LOG_SELDOM_S ? LOG_EVERY_S : LOG_SELDOM_S;
    }
}

/* --- signals ------------------------------------------------------------------------------------
 */

/* Signals that ask for something come through a descriptor; no thread is ever interrupted. A
 * terminal stop (^Z) would freeze the loop with a force on the device: ignored. */
static int open_signals(void)
{
    const int ignored[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
    for (int i = 0; i < HR_COUNT(ignored); i++)
        signal(ignored[i], SIG_IGN);
    const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < HR_COUNT(wanted); i++)
        sigaddset(&set, wanted[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void take_signals(int fd, server *s, view *v)
{
    struct signalfd_siginfo got;
    while (read(fd, &got, sizeof got) == sizeof got) {
        if (got.ssi_signo == SIGUSR1) {
            servo_command stop = {.kind = COMMAND_ESTOP, .hand = HANDS_MAX, .text = "signal"};
            door_send(&s->main_door, &stop);
            continue;
        }
        clear_line(v);
        fprintf(stderr, "hapticd: stopping\n");
        server_stop(s);
    }
}

/* --- the run ------------------------------------------------------------------------------------
 */

/* A real device may be plugged in again: then waiting makes sense. */
static bool all_devices_lost(const server *s)
{
    for (int i = 0; i < s->device_count; i++)
        if (s->devices[i].description.has_motors)
            return false;
    return server_lost_hands(s) == (1u << s->device_count) - 1;
}

static void run_live(server *s, int signals, view *v)
{
    while (server_is_running(s)) {
        struct pollfd watched = {.fd = signals, .events = POLLIN};
        poll(&watched, 1, ROUND_MS);
        take_signals(signals, s, v);
        show(v, s);
        if (all_devices_lost(s))
            server_stop(s);
    }
}

static void run_lockstep(server *s, int signals, view *v)
{
    bool goes_on = true;
    while (goes_on) {
        goes_on = server_step(s, LOCKSTEP_TICKS) && !all_devices_lost(s);
        take_signals(signals, s, v);
        show(v, s);
    }
}

static int exit_code(hr_status status)
{
    switch (status) {
    case HR_OK:
        return EXIT_GOOD;
    case HR_ERR_ARGUMENT:
    case HR_ERR_FORMAT:
    case HR_ERR_CAPACITY:
    case HR_ERR_NOT_FINITE:
        return EXIT_BAD_INPUT;
    default:
        return EXIT_FAILED;
    }
}

static int finish(server *s, view *v, hr_status status, hr_error *error)
{
    static char table[8192];
    /* figures of the recording are taken before it is closed */
    status_figures before = status_figures_of(s, NULL);
    hr_error trouble = {""};
    hr_status end = server_finish(s, &trouble);
    v->has_report |= ring_take_latest(&s->main_door.reports, &v->newest);
    status_figures f = status_figures_of(s, v->has_report ? &v->newest : NULL);
    f.is_recording = before.is_recording;
    f.recording_has_failed = before.recording_has_failed;
    f.recorded_bytes = before.recorded_bytes;
    f.dropped = before.dropped;
    clear_line(v);
    if (status != HR_OK) {
        fprintf(stderr, "hapticd: %s\n", error->text);
    } else {
        status_table_print(s, &f, table, sizeof table);
        fputs(table, stdout);
    }
    if (end != HR_OK)
        fprintf(stderr, "hapticd: %s\n", trouble.text);
    bool has_failed = end != HR_OK || f.recording_has_failed || all_devices_lost(s);
    return status != HR_OK ? exit_code(status) : has_failed ? EXIT_FAILED : EXIT_GOOD;
}

static void say_start(const server *s)
{
    char text[2048];
    realtime_explain(&s->realtime, s->options.program, text, sizeof text);
    if (!s->options.is_lockstep && text[0])
        fputs(text, stderr);
    if (!s->options.is_lockstep && s->realtime.cpu < 0)
        fprintf(stderr, "hapticd: no isolated CPU: other programs can delay the servo\n");
    fprintf(stderr, "hapticd %s: %d Hz, %s, scene \"%s\"", HR_VERSION,
            s->options.settings.servo.rate_hz, s->scheduling, s->options.scene.name);
    for (int i = 0; i < s->device_count; i++)
        fprintf(stderr, ", %s \"%s\"", s->devices[i].description.model,
                s->options.settings.devices[i].name);
    fprintf(stderr, "\n");
}

static int run_server(const server_options *options)
{
    static view v;
    hr_error error = {""};
    server *s;
    int signals = open_signals();
    for (int i = 0; i < options->settings.device_count; i++)
        if (strcmp(options->settings.devices[i].driver, "falcon") == 0)
            fprintf(stderr, "hapticd: opening Falcon %s\n", options->settings.devices[i].address);
    hr_status status = server_open(options, &s, &error);
    if (status != HR_OK) {
        fprintf(stderr, "hapticd: %s\n", error.text);
        return exit_code(status);
    }
    v.is_terminal = isatty(STDERR_FILENO);
    server_guard_signals(s);
    status = server_start(s, &error);
    if (status == HR_OK) {
        say_start(s);
        if (options->is_lockstep)
            run_lockstep(s, signals, &v);
        else
            run_live(s, signals, &v);
    }
    int code = finish(s, &v, status, &error);
    server_guard_signals(NULL);
    server_destroy(s);
    close(signals);
    return code;
}

/* --- the other actions --------------------------------------------------------------------------
 */

/* Everything short of a device: the world is built as well, because only that reads its files. */
static int check(const server_options *o)
{
    hr_error error = {""};
    world *w;
    hr_status status = world_create(&o->scene, &o->settings, &w, &error);
    if (status != HR_OK) {
        fprintf(stderr, "hapticd: %s\n", error.text);
        return EXIT_BAD_INPUT;
    }
    world_destroy(w);
    printf("%s: valid\n", o->settings.file[0] ? o->settings.file : "default settings");
    printf("%s: valid, %d bodies\n", o->scene.file, o->scene.body_count);
    return EXIT_GOOD;
}

static int print_config(const server_options *o)
{
    int length = config_print(&o->settings, NULL, 0);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!text)
        return EXIT_FAILED;
    config_print(&o->settings, text, length + 1);
    fputs(text, stdout);
    free(text);
    return EXIT_GOOD;
}

static int list_devices(void)
{
    for (int i = 0; device_drivers[i]; i++)
        printf("%-10s %3d present   %s\n", device_drivers[i]->name, device_drivers[i]->count(),
               device_drivers[i]->help);
    return EXIT_GOOD;
}

static int act(options_action action, const server_options *o)
{
    switch (action) {
    case OPTIONS_HELP:
        fputs(options_help, stdout);
        return EXIT_GOOD;
    case OPTIONS_VERSION:
        printf("hapticd %s\n", HR_VERSION);
        return EXIT_GOOD;
    case OPTIONS_LIST_DEVICES:
        return list_devices();
    case OPTIONS_CHECK:
        return check(o);
    case OPTIONS_PRINT_CONFIG:
        return print_config(o);
    case OPTIONS_RUN:
        break;
    }
    return run_server(o);
}

int main(int argc, char **argv)
{
    static server_options options; /* too big for the stack */
    options_action action;
    hr_error error = {""};
    if (options_read(argc, argv, &action, &options, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_BAD_INPUT;
    }
    return act(action, &options);
}
