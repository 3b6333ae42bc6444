/* `haptic latency`: how late this machine wakes a thread at 1 kHz, bare and with the whole servo on
 * a simulated device. */
#include <getopt.h>
#include <linux/capability.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "server/cmd_latency.h"
#include "server/server.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

static const char help[] =
    "usage: haptic latency [--for SECONDS] [--rate HZ] [--priority N] [--cpu N] [--json]\n\n"
    "Measures how late this machine wakes a thread at the servo's rate: first a bare one, then\n"
    "the whole servo with a simulated device and its world, half of the time each.\n\n"
    "  --for SECONDS   both together; 10 unless given\n"
    "  --rate HZ       500 to 4000; 1000 unless given\n"
    "  --priority N    SCHED_FIFO priority, 1 to 99; 80 unless given\n"
    "  --cpu N         bind to this CPU; the highest isolated one unless given\n"
    "  --json          print an object with both histograms\n";

typedef struct wishes {
    double seconds;
    double rate_hz;
    double priority;
    double cpu;
    bool is_json;
} wishes;

/* One measurement. */
typedef struct outcome {
    histogram lateness;
    int64_t period_ns;
    realtime_state realtime;
} outcome;

/* --- the bare thread ----------------------------------------------------------------------------
 */

typedef struct bare {
    outcome *out;
    double seconds;
} bare;

static void *wake_up(void *argument)
{
    const bare *b = argument;
    static servo s;
    realtime_touch_stack();
    servo_init(&s, servo_clock_live(), (int)(1000000000 / b->out->period_ns));
    int64_t end = s.planned_ns + (int64_t)(b->seconds * 1e9);
    while (s.planned_ns < end)
        histogram_add(&b->out->lateness,
                      servo_plan(&s, servo_clock_wait(&s.clock, s.planned_ns)).lateness_ns);
    return NULL;
}

static bool measure_bare(const wishes *w, outcome *out)
{
    pthread_t thread;
    bare b = {out, w->seconds / 2};
    out->realtime = (realtime_state){.latency_fd = -1};
    out->period_ns = (int64_t)(1e9 / w->rate_hz);
    realtime_lock_memory(&out->realtime);
    realtime_choose_cpu(&out->realtime, (int)w->cpu);
    realtime_hold_latency(&out->realtime);
    bool is_good = realtime_start(&out->realtime, (int)w->priority, wake_up, &b, &thread) == HR_OK;
    if (is_good)
        pthread_join(thread, NULL);
    realtime_release(&out->realtime);
    return is_good;
}

/* --- the whole servo ----------------------------------------------------------------------------
 */

static hr_status run_server(const wishes *w, server_options *o, server **out, hr_error *error)
{
    char path[CONFIG_PATH_MAX];
    config_default(&o->settings);
    o->settings.control.enabled = false;
    o->settings.servo.rate_hz = (int)w->rate_hz;
    o->settings.servo.priority = (int)w->priority;
    o->settings.servo.cpu = (int)w->cpu;
    o->run_s = w->seconds / 2;
    hr_status status = scene_find(o->settings.scene, path, (int)sizeof path, error);
    if (status == HR_OK)
        status = scene_load(path, &o->scene, error);
    if (status == HR_OK)
        status = server_open(o, out, error);
    if (status == HR_OK)
        status = server_start(*out, error);
    while (status == HR_OK && server_is_running(*out))
        usleep(20000);
    return status;
}

static hr_status measure_servo(const wishes *w, outcome *out, histogram *compute, hr_error *error)
{
    static server_options options;
    server *s = NULL;
    hr_status status = run_server(w, &options, &s, error);
    if (s && server_finish(s, error) != HR_OK && status == HR_OK)
        status = HR_ERR_IO;
    if (s && status == HR_OK) {
        memcpy(&out->lateness, &s->servo.lateness, sizeof out->lateness);
        memcpy(compute, &s->servo.compute, sizeof *compute);
        out->period_ns = s->servo.period_ns;
        out->realtime = s->realtime;
    }
    server_destroy(s);
    return status;
}

/* --- saying it ----------------------------------------------------------------------------------
 */

static void print_row(const char *name, const histogram *h, int64_t period_ns)
{
    printf("%-18s%9llu%11.1f%11.1f%11.1f%11.1f%9llu\n", name,
           (unsigned long long)histogram_count(h), 1e-3 * (double)histogram_quantile(h, 0.5),
           1e-3 * (double)histogram_quantile(h, 0.99), 1e-3 * (double)histogram_quantile(h, 0.999),
           1e-3 * (double)histogram_max(h), (unsigned long long)histogram_count_from(h, period_ns));
}

/* One line per factor of two, bars on a logarithmic scale. */
static void print_bars(const histogram *a, const histogram *b)
{
    enum { WIDTH = 24, FIRST_NS = 1000 };
    printf("\n%-16s%-34s%s\n", "lateness", "bare thread", "servo");
    int64_t to;
    for (int64_t from = 0; from <= histogram_max(a) || from <= histogram_max(b); from = to) {
        to = from == 0 ? FIRST_NS : 2 * from;
        const histogram *both[] = {a, b};
        if (histogram_count_from(a, to) == histogram_count(a) &&
            histogram_count_from(b, to) == histogram_count(b))
            continue; /* nothing this early */
        printf("%7.0f us ..  ", 1e-3 * (double)from);
        for (int i = 0; i < 2; i++) {
            uint64_t n = histogram_count_from(both[i], from) - histogram_count_from(both[i], to);
            double share = (double)n / fmax(1.0, (double)histogram_count(both[i]));
            /* 1e-6 of all is one mark */
            int marks = n ? (int)fmax(1.0, WIDTH * (log10(share) + 6.0) / 6.0) : 0;
            printf("%8llu %.*s%*s", (unsigned long long)n, marks, "########################",
                   WIDTH - marks + 1, "");
        }
        printf("\n");
    }
}

static void print_text(const outcome *thread, const outcome *servo_outcome,
                       const histogram *compute)
{
    struct utsname kernel;
    double load[3] = {0};
    char text[2048];
    uname(&kernel);
    if (getloadavg(load, 3) < 1)
        load[0] = 0;
    realtime_describe(&thread->realtime, text, sizeof text);
    printf("kernel %s %s, load %.2f\n", kernel.release, kernel.version, load[0]);
    printf("%s; CAP_SYS_NICE %s, CAP_IPC_LOCK %s\n", text,
           realtime_has_capability(CAP_SYS_NICE) ? "yes" : "no",
           realtime_has_capability(CAP_IPC_LOCK) ? "yes" : "no");
    realtime_explain(&thread->realtime, "hapticd", text, sizeof text);
    fputs(text, stdout);
    printf("\n%-18s%9s%11s%11s%11s%11s%9s\n", "microseconds", "count", "p50", "p99", "p99.9", "max",
           "missed");
    print_row("bare thread late", &thread->lateness, thread->period_ns);
    print_row("servo late", &servo_outcome->lateness, servo_outcome->period_ns);
    print_row("servo tick", compute, servo_outcome->period_ns);
    print_bars(&thread->lateness, &servo_outcome->lateness);
}

static json_t *histogram_object(const histogram *h)
{
    json_t *buckets = json_array();
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint32_t n = atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        if (n)
            json_array_append_new(
                buckets, json_pack("[I,I]", (json_int_t)histogram_bucket_start(i), (json_int_t)n));
    }
    return json_pack("{s:I,s:f,s:I,s:I,s:I,s:I,s:o}", "count", (json_int_t)histogram_count(h),
                     "mean_ns", histogram_mean(h), "p50_ns", (json_int_t)histogram_quantile(h, 0.5),
                     "p99_ns", (json_int_t)histogram_quantile(h, 0.99), "p999_ns",
                     (json_int_t)histogram_quantile(h, 0.999), "max_ns",
                     (json_int_t)histogram_max(h), "buckets", buckets);
}

static void print_json(const outcome *thread, const outcome *servo_outcome,
                       const histogram *compute)
{
    char text[256];
    struct utsname kernel;
    uname(&kernel);
    realtime_describe(&thread->realtime, text, sizeof text);
    json_t *object = json_pack(
        "{s:s,s:s,s:b,s:o,s:o,s:o}", "kernel", kernel.release, "scheduling", text, "is_degraded",
        realtime_is_degraded(&thread->realtime), "thread", histogram_object(&thread->lateness),
        "servo", histogram_object(&servo_outcome->lateness), "tick", histogram_object(compute));
    json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(object);
}

/* --- the command line ---------------------------------------------------------------------------
 */

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "haptic latency: %s, got \"%s\"\nTry 'haptic latency --help'.\n", what, value);
    return EXIT_BAD_INPUT;
}

static bool take(const char *text, double low, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= low && *out <= high;
}

/* Returns -1 to go on, or the exit code. */
static int read_wishes(int argc, char **argv, wishes *w)
{
    static const struct option options[] = {{"for", required_argument, NULL, 'f'},
                                            {"rate", required_argument, NULL, 'r'},
                                            {"priority", required_argument, NULL, 'p'},
                                            {"cpu", required_argument, NULL, 'c'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    optind = 1;
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (option == '?')
            return usage("expected one of its options", argv[optind - 1]);
        if (option == 'f' && !take(optarg, 0.1, 86400, &w->seconds))
            return usage("--for: expected 0.1 to 86400 seconds", optarg);
        if (option == 'r' && !take(optarg, 500, 4000, &w->rate_hz))
            return usage("--rate: expected 500 to 4000 Hz", optarg);
        if (option == 'p' && !take(optarg, 1, 99, &w->priority))
            return usage("--priority: expected 1 to 99", optarg);
        if (option == 'c' && !take(optarg, 0, 1023, &w->cpu))
            return usage("--cpu: expected the number of a CPU", optarg);
        w->is_json |= option == 'j';
    }
    return optind < argc ? usage("expected options only", argv[optind]) : -1;
}

int cmd_latency(int argc, char **argv)
{
    static outcome thread;
    static outcome whole;
    static histogram compute;
    wishes w = {.seconds = 10, .rate_hz = 1000, .priority = 80, .cpu = -1};
    hr_error error = {""};
    int code = read_wishes(argc, argv, &w);
    if (code >= 0)
        return code;
    if (!w.is_json)
        fprintf(stderr, "measuring for %g s ...\n", w.seconds);
    if (!measure_bare(&w, &thread)) {
        fprintf(stderr, "haptic latency: cannot start a thread\n");
        return EXIT_FAILED;
    }
    if (measure_servo(&w, &whole, &compute, &error) != HR_OK) {
        fprintf(stderr, "haptic latency: %s\n", error.text);
        return EXIT_FAILED;
    }
    if (w.is_json)
        print_json(&thread, &whole, &compute);
    else
        print_text(&thread, &whole, &compute);
    return EXIT_GOOD;
}
