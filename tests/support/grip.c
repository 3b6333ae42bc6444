#include "tests/support/grip.h"

#include <stdio.h>
#include <stdlib.h>

const grip grips[GRIPS] = {
    {"light", 0.1, 2, 50},     {"relaxed", 0.2, 3.5, 160}, {"usual", 0.3, 5, 275},
    {"steady", 0.4, 6.5, 390}, {"firm", 0.5, 8, 500},
};

static void number_text(char *out, int size, double value)
{
    snprintf(out, (size_t)size, "%.9g", value);
}

void grip_start(grip_rig *g, const grip *how, const char *script, double tremor,
                const char *const *settings)
{
    char mass[32], damping[32], stiffness[32], shake[32];
    number_text(mass, sizeof mass, how->mass);
    number_text(damping, sizeof damping, how->damping);
    number_text(stiffness, sizeof stiffness, how->stiffness);
    number_text(shake, sizeof shake, tremor);
    device_setting items[32] = {
        {"grip_mass_kg", mass, "grip"},
        {"grip_damping_n_s_per_m", damping, "grip"},
        {"grip_stiffness_n_per_m", stiffness, "grip"},
        {"tremor_m", shake, "grip"},
        {"script", script, "grip"},
    };
    int count = 5;
    for (; settings && settings[0] && count < 32; settings += 2)
        items[count++] = (device_setting){settings[0], settings[1], "grip"};
    hr_error error = {{0}};
    if (device_sim.open("grip", &(device_settings){items, count}, &g->dev, &error) != HR_OK ||
        device_sim.enable(g->dev, true) != HR_OK) {
        fprintf(stderr, "grip: %s\n", error.text);
        exit(1);
    }
    device_sim.describe(g->dev, &g->rig.device);
    rig_start(&g->rig);
    g->sent = (vec3){0, 0, 0};
    g->put = 0;
}

void grip_stop(grip_rig *g)
{
    device_sim.close(g->dev);
    g->dev = NULL;
    rig_stop(&g->rig);
}

void grip_read(grip_rig *g)
{
    rig *r = &g->rig;
    tick_record *t = &r->record;
    device_sample sample = t->sample;
    hr_status status = device_sim.read(g->dev, t->time_ns + r->period_ns, &sample);
    uint64_t sequence = sample.sequence;
    rig_prepare(r, sample.position);
    t->sample = sample;
    t->sample.sequence = sequence;
    t->read_status = status;
    g->put = sim_energy(g->dev);
}

void grip_write(grip_rig *g)
{
    rig *r = &g->rig;
    rig_run(r);
    g->sent = r->record.force;
    device_command command = {.sequence = r->record.tick,
                              .deadline_ns = r->record.time_ns + 20000000,
                              .force = r->record.force};
    r->record.write_status = device_sim.write(g->dev, r->record.time_ns, &command);
}

void grip_tick(grip_rig *g)
{
    grip_read(g);
    grip_write(g);
}
