/* Random play: one or two simulated hands go after the bodies of a scene by a random script (or a
 * recorded hand does), in lockstep, recorded; then the recording is judged.
 *
 *   play SCENE SEED SECONDS [options]
 *     --hand FILE     a recording of a hand instead of a script
 *     --keep FILE     keep the recording
 *     --depth MM      how deep the proxy may be in a body, 0.05 unless given
 *     --plain         settings as shipped: no random world rate, grip and tool
 *
 * Prints one line "ok ..." or "not ok ..." and the faults; exits 1 with faults. */
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/mechanics.h"
#include "server/server.h"
#include "tests/support/judge.h"
#include "tests/support/random_hand.h"

typedef struct play {
    const char *scene_name, *hand, *keep;
    uint64_t seed;
    double seconds;
    double depth; /* m */
    bool is_plain;
    test_random random;
    server_options options;
    char folder[64], recording[128], script[128];
    char about[256];                          /* the random settings, in words */
    uint64_t steps, steps_cut, stopped_short; /* of the world */
} play;

static int complain(const char *text)
{
    printf("not ok %s\n", text);
    return 1;
}

static int choose(play *p, int count)
{
    return (int)(test_random_u64(&p->random) % (uint64_t)count);
}

static void set(config_device *d, const char *key, const char *format, ...) HR_PRINTF(3, 4);
static void set(config_device *d, const char *key, const char *format, ...)
{
    config_setting *s = &d->settings[d->setting_count++];
    va_list values;
    snprintf(s->key, sizeof s->key, "%s", key);
    va_start(values, format);
    vsnprintf(s->value, sizeof s->value, format, values);
    va_end(values);
}

/* World rate, tool and grip that a user may have; the scene's own tool stays. */
static void choose_settings(play *p)
{
    static const int rates[] = {1000, 500, 250, 100, 60};
    static const double radii[] = {0, 0.0004, 0.002};
    config *c = &p->options.settings;
    config_device *d = &c->devices[0];
    const scene *s = &p->options.scene;
    double firm = test_random_between(&p->random, 0, 1);
    int rate = rates[choose(p, HR_COUNT(rates))];
    double radius = radii[choose(p, HR_COUNT(radii))];
    if (p->is_plain)
        return;
    c->world.rate_hz = rate;
    if (!(s->tool_radius_m >= 0) && !s->tool_file[0])
        c->coupling.tool_radius_m = radius;
    if (strcmp(d->driver, "sim") == 0) {
        /* from a light grip to a firm one */
        set(d, "grip_mass_kg", "%.3f", 0.1 + 0.4 * firm);
        set(d, "grip_damping_n_s_per_m", "%.2f", 2 + 6 * firm);
        set(d, "grip_stiffness_n_per_m", "%.0f", 50 + 450 * firm);
        set(d, "tremor_m", "%.5f", 0.0002 * test_random_between(&p->random, 0, 1));
    }
    double shown = s->tool_radius_m >= 0 ? s->tool_radius_m : c->coupling.tool_radius_m;
    snprintf(p->about, sizeof p->about, "world %d Hz, tool %g mm, grip %.2f", rate, 1e3 * shown,
             firm);
}

static hr_status write_script(play *p, hr_error *error)
{
    world *w = NULL;
    char text[16384];
    hr_status status = world_create(&p->options.scene, &p->options.settings, &w, error);
    if (status != HR_OK)
        return status;
    random_hand_script(&p->random, w, p->options.settings.coupling.scene_from_base_m, 0.036,
                       p->seconds, true, text, sizeof text);
    world_destroy(w);
    FILE *f = fopen(p->script, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        return error_set(error, HR_ERR_IO, "%s: cannot write", p->script);
    set(&p->options.settings.devices[0], "script_file", "%s", p->script);
    return HR_OK;
}

static hr_status prepare(play *p, hr_error *error)
{
    char path[CONFIG_PATH_MAX];
    server_options *o = &p->options;
    config_device *d = &o->settings.devices[0];
    config_default(&o->settings);
    hr_status status = scene_find(p->scene_name, path, sizeof path, error);
    if (status == HR_OK)
        status = scene_load(path, &o->scene, error);
    if (status != HR_OK)
        return status;
    snprintf(o->settings.scene, sizeof o->settings.scene, "%s", path);
    snprintf(o->settings.trace.record, sizeof o->settings.trace.record, "%s", p->recording);
    o->settings.control.enabled = false;
    o->is_lockstep = true;
    o->run_s = p->seconds;
    if (p->hand) {
        snprintf(d->driver, sizeof d->driver, "replay");
        snprintf(d->address, sizeof d->address, "%s", p->hand);
        /* its path around a body of the scene, else it would meet nothing */
        d->scene_offset_m = o->scene.bodies[choose(p, o->scene.body_count)].world_from_body.origin;
    }
    choose_settings(p);
    return p->hand ? HR_OK : write_script(p, error);
}

static void count_steps(play *p, const server *s)
{
    const mechanics *m = world_mechanics(s->world);
    if (!m)
        return;
    const mechanics_counts *c = mechanics_counted(m);
    p->steps = c->steps;
    p->steps_cut = c->rows_cut + c->solves_cut + c->proofs_cut;
    p->stopped_short = c->stopped_short;
}

static hr_status run(play *p, hr_error *error)
{
    server *s;
    hr_status status = server_open(&p->options, &s, error);
    if (status != HR_OK)
        return status;
    status = server_start(s, error);
    while (status == HR_OK && server_step(s, 1000))
        ;
    count_steps(p, s);
    hr_status finished = server_finish(s, status == HR_OK ? error : NULL);
    server_destroy(s);
    return status == HR_OK ? finished : status;
}

static int report(const play *p, const verdict *v)
{
    bool is_good = v->fault_count == 0;
    printf("%s %s seed %llu%s%s, %g s: contact %.1f %%, force %.2f N, step %.3f N, depth %.4f mm, "
           "crossed %.4f mm, fallbacks %llu, infeasible %llu, world cut %llu of %llu steps, "
           "stopped %llu, "
           "looked at %llu; %s\n",
           is_good ? "ok" : "not ok", p->scene_name, (unsigned long long)p->seed,
           p->hand ? " " : "", p->hand ? p->hand : "", p->seconds,
           100.0 * (double)v->contact_ticks / (double)(v->ticks ? v->ticks : 1), v->force_max,
           v->force_step_max, 1e3 * v->depth_max, 1e3 * v->crossed_max,
           (unsigned long long)v->fallback_ticks, (unsigned long long)v->infeasible_ticks,
           (unsigned long long)p->steps_cut, (unsigned long long)p->steps,
           (unsigned long long)p->stopped_short, (unsigned long long)v->samples,
           p->about[0] ? p->about : "as shipped");
    for (int i = 0; i < v->fault_count && i < JUDGE_FAULTS_MAX; i++)
        printf("    %s\n", v->faults[i]);
    if (v->fault_count > JUDGE_FAULTS_MAX)
        printf("    and %d more\n", v->fault_count - JUDGE_FAULTS_MAX);
    return is_good ? 0 : 1;
}

static bool read_arguments(int argc, char **argv, play *p)
{
    static const struct option names[] = {{"hand", required_argument, NULL, 'h'},
                                          {"keep", required_argument, NULL, 'k'},
                                          {"depth", required_argument, NULL, 'd'},
                                          {"plain", no_argument, NULL, 'p'},
                                          {NULL, 0, NULL, 0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (letter == 'h')
            p->hand = optarg;
        else if (letter == 'k')
            p->keep = optarg;
        else if (letter == 'd')
            p->depth = 1e-3 * strtod(optarg, NULL);
        else if (letter == 'p')
            p->is_plain = true;
        else
            return false;
    }
    if (argc - optind != 3)
        return false;
    p->scene_name = argv[optind];
    p->seed = strtoull(argv[optind + 1], NULL, 10);
    p->seconds = strtod(argv[optind + 2], NULL);
    return p->seconds > 0;
}

int main(int argc, char **argv)
{
    static play p = {.depth = 0.05e-3}; /* too large for the stack */
    hr_error error = {""};
    if (!read_arguments(argc, argv, &p))
        return complain(
            "usage: play SCENE SEED SECONDS [--hand FILE] [--keep FILE] [--depth MM] [--plain]");
    p.random = (test_random){p.seed};
    for (const char *c = p.scene_name; *c; c++) /* other scenes, other settings */
        p.random.state = 31 * p.random.state + (unsigned char)*c;
    snprintf(p.folder, sizeof p.folder, "/tmp/hapticd-play-XXXXXX");
    if (!mkdtemp(p.folder))
        return complain("no folder in /tmp");
    snprintf(p.recording, sizeof p.recording, "%s/play.mcap", p.folder);
    snprintf(p.script, sizeof p.script, "%s/script", p.folder);

    judge_limits limits = {.depth = p.depth, .fallback = 1, .every = 10};
    verdict v;
    int code = 1;
    hr_status status = prepare(&p, &error);
    if (status == HR_OK)
        status = run(&p, &error);
    if (status == HR_OK)
        status = judge_recording(p.recording, &limits, &v, &error);
    if (status == HR_OK)
        code = report(&p, &v);
    else
        printf("not ok %s seed %llu: %s\n", p.scene_name, (unsigned long long)p.seed, error.text);
    if (p.keep && rename(p.recording, p.keep) != 0)
        code = complain(p.keep);
    unlink(p.recording);
    unlink(p.script);
    rmdir(p.folder);
    return code;
}
