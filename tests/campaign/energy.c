/* Two simulated hands push, drop and grab articulated bodies for a minute; the energy that their
 * motors give them never exceeds what they put in plus what the scene had stored.
 *
 *   energy SCENE SEED SECONDS
 *
 * The motors' work on the grips is exact: torque times turn, summed by the simulation. With W the
 * sum over both hands (positive: given) and E the energy of all that moves, the line is W(t) <=
 * E(0) - min E(s), s <= t, up to what the encoders cannot tell: half a step of the handle, 30 um,
 * against the largest force, once for every time that a contact begins or ends. */
#include <string.h>
#include <unistd.h>

#include "devices/sim.h"
#include "server/server.h"
#include "tests/support/random_hand.h"

enum { HANDS = 2 };

static const double STEP_M = 30e-6; /* half of the Falcon's step of the handle */

typedef struct account {
    double start, least;  /* J, of the scene */
    double given, excess; /* J: largest W, largest W beyond what was stored */
    double put_in;        /* J: largest -W */
    double whole;         /* J: largest W + E - E(0): no energy is made anywhere */
    double force_max;
    uint64_t contact_ticks, ticks;
} account;

static void set(config_device *d, const char *key, const char *value)
{
    config_setting *s = &d->settings[d->setting_count++];
    snprintf(s->key, sizeof s->key, "%s", key);
    snprintf(s->value, sizeof s->value, "%s", value);
}

/* Each hand from its own side, with its own script. */
static hr_status prepare(server_options *o, test_random *r, double seconds, char files[HANDS][64],
                         hr_error *error)
{
    world *w = NULL;
    static char text[16384];
    hr_status status = world_create(&o->scene, &o->settings, &w, error);
    o->settings.device_count = HANDS;
    for (int i = 0; i < HANDS && status == HR_OK; i++) {
        config_device *d = &o->settings.devices[i];
        const char *name = i == 0 ? "right" : "left";
        *d = (config_device){.driver = "sim"};
        snprintf(d->name, sizeof d->name, "%s", name);
        snprintf(d->address, sizeof d->address, "%s", name);
        d->scene_offset_m = (vec3){0, i == 0 ? 0.004 : -0.004, 0};
        random_hand_script(r, w, d->scene_offset_m, 0.036, seconds, true, text, sizeof text);
        snprintf(files[i], sizeof files[i], "/tmp/hapticd-energy-%d-%d", (int)getpid(), i);
        FILE *f = fopen(files[i], "we");
        if (!f || fputs(text, f) < 0 || fclose(f) != 0)
            status = error_set(error, HR_ERR_IO, "%s: cannot write", files[i]);
        set(d, "script_file", files[i]);
    }
    world_destroy(w);
    return status;
}

static void look(account *a, const server *s)
{
    double given = 0, energy = world_energy(s->world);
    for (int i = 0; i < HANDS; i++) {
        tool_sample tool = s->loop.newest[i];
        given += sim_energy(s->devices[i].dev);
        a->contact_ticks += tool.is_touching != 0;
        a->force_max = fmax(a->force_max, vec3_length(tool.force));
    }
    a->ticks++;
    a->least = fmin(a->least, energy);
    a->given = fmax(a->given, given);
    a->put_in = fmax(a->put_in, -given);
    a->excess = fmax(a->excess, given - (a->start - a->least));
    a->whole = fmax(a->whole, given + energy - a->start);
}

static hr_status run(const server_options *o, account *a, hr_error *error)
{
    server *s;
    hr_status status = server_open(o, &s, error);
    if (status != HR_OK)
        return status;
    status = server_start(s, error);
    a->start = a->least = world_energy(s->world);
    while (status == HR_OK && server_step(s, 1))
        look(a, s);
    hr_status finished = server_finish(s, status == HR_OK ? error : NULL);
    server_destroy(s);
    return status == HR_OK ? finished : status;
}

int main(int argc, char **argv)
{
    static server_options o;
    static char files[HANDS][64];
    char path[CONFIG_PATH_MAX];
    hr_error error = {""};
    account a = {0};
    if (argc != 4) {
        printf("not ok usage: energy SCENE SEED SECONDS\n");
        return 1;
    }
    double seconds = strtod(argv[3], NULL);
    test_random r = {strtoull(argv[2], NULL, 10)};
    config_default(&o.settings);
    o.settings.control.enabled = false;
    o.is_lockstep = true;
    o.run_s = seconds;
    hr_status status = scene_find(argv[1], path, sizeof path, &error);
    if (status == HR_OK)
        status = scene_load(path, &o.scene, &error);
    if (status == HR_OK)
        status = prepare(&o, &r, seconds, files, &error);
    if (status == HR_OK)
        status = run(&o, &a, &error);
    for (int i = 0; i < HANDS; i++)
        unlink(files[i]);
    if (status != HR_OK) {
        printf("not ok %s seed %s: %s\n", argv[1], argv[2], error.text);
        return 1;
    }
    double bound = STEP_M * a.force_max;
    bool is_good = a.excess <= bound && a.contact_ticks > a.ticks / 50;
    printf(
        "%s %s seed %s, %g s, two hands: contact %.1f %%, the hands put in %.2f mJ, were given at "
        "most %.2f mJ, beyond the stored %.3f mJ (bound %.3f mJ); made anywhere %.3f mJ\n",
        is_good ? "ok" : "not ok", argv[1], argv[2], seconds,
        50.0 * (double)a.contact_ticks / (double)(a.ticks ? a.ticks : 1), 1e3 * a.put_in,
        1e3 * a.given, 1e3 * a.excess, 1e3 * bound, 1e3 * a.whole);
    return is_good ? 0 : 1;
}
